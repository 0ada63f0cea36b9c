#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# test_alertmanager.sh - docs/examples/alertmanager-discord.yml with the real Alertmanager:
# one alert of an attack goes in, and what Discord would be sent comes out.
#
# lane: beside, 10 s: it waits for a request on loopback.
set -u

cd "$(dirname "$0")/.." || exit 1
if ! command -v prometheus-alertmanager >/dev/null; then
	echo "skip the example for Alertmanager: no prometheus-alertmanager"
	exit 0
fi
work=$(mktemp -d)
pids=()
# shellcheck disable=SC2317 # the trap calls it
cleanup()
{
	[ ${#pids[@]} -eq 0 ] || { kill "${pids[@]}"; wait; } 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT

verdict()
{
	if [ "$1" -eq 0 ]; then echo "ok $2"; else echo "not ok $2"; failed=1; fi
}
failed=0

amtool check-config docs/examples/alertmanager-discord.yml >"$work/check" 2>&1
status=$?
[ $status -eq 0 ] || cat "$work/check"
verdict $status "amtool accepts the example"

# Takes the first request, writes its body, and names its own port before.
cat >"$work/discord.py" <<'END'
import http.server, sys
class Discord(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()
        print(body.decode(), flush=True)
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Discord)
print(server.server_port, flush=True)
server.handle_request()
END
python3 "$work/discord.py" >"$work/sent" 2>"$work/discord.log" &
pids+=($!)

# wait_for SECONDS COMMAND...
wait_for()
{
	local until=$((SECONDS + $1))

	shift
	until "$@"; do
		[ "$SECONDS" -lt "$until" ] || return 1
		sleep 0.1
	done
}

lines_sent() { [ "$(wc -l <"$work/sent")" -ge "$1" ]; }
wait_for 10 lines_sent 1 || { echo "not ok the receiver starts"; exit 1; }
sed "s|https://discord.com/api/webhooks/ID/TOKEN|http://127.0.0.1:$(head -n 1 "$work/sent")/hook|" \
	docs/examples/alertmanager-discord.yml >"$work/alertmanager.yml"
at=http://127.0.0.1:19093
prometheus-alertmanager --config.file="$work/alertmanager.yml" --storage.path="$work/data" \
	--web.listen-address="${at#http://}" --cluster.listen-address= >"$work/log" 2>&1 &
pids+=($!)

alert_added()
{
	amtool --alertmanager.url="$at" alert add alertname=QuakeshieldUnderAttack \
		instance=lab service=ffa --annotation=summary="ffa is under attack" \
		--annotation=description="getstatus, 1000 packets a second" 2>>"$work/log"
}
wait_for 20 alert_added || { tail -n 5 "$work/log"; echo "not ok Alertmanager starts"; exit 1; }
wait_for 20 lines_sent 2 || tail -n 5 "$work/log"
tail -n +2 "$work/sent" | python3 -c '
import json, sys
embed = json.load(sys.stdin)["embeds"][0]
assert embed["title"] == "Attack: ffa", embed
assert "ffa is under attack. getstatus, 1000 packets a second" in embed["description"], embed
' 2>"$work/python.log"
status=$?
[ $status -eq 0 ] || tail -n 2 "$work/python.log"
verdict $status "Discord is sent the attack, its service and what it is"
exit $failed
