#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_metrics.sh - what the daemon tells over HTTP, during a game and a flood: to curl, to
# a real Prometheus, to the queries of our alerts and dashboard, and to a browser.
#
# lane: beside, 40 s: nothing in it is compared with a time or a rate.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
SCHEMA=$(realpath tests/json_schema.py)
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
SERVICE_MORE='validation = off' # a query of the flood is dropped, not challenged
DOCS=$(realpath docs) DATA=$(realpath tests/data)
URL=http://127.0.0.1:9127
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

fetch() # PATH
{
	net_in server curl -sS --max-time 5 "$URL$1"
}

status() # CODE CURL-ARGUMENTS...
{
	local code=$1

	shift
	[ "$(net_in server curl -sS --max-time 5 -o "$work/body" -w '%{http_code}' "$@")" = "$code" ]
}

# The same drops as the kernel counted, as metrics and as JSON.
metrics_agree()
{
	local drops

	drops=$(stats_sum 'select(.verdict == "drop")')
	[ "$drops" -gt 10000 ] || return
	fetch /metrics | awk -v drops="$drops" '
		/^quakeshield_received_packets_total.*verdict="drop"/ { n += $NF }
		END { exit n != drops }' || return
	[ "$(fetch /stats.json | jq '[.services[].counters[] |
		select(.direction == "in" and .verdict == "drop") | .packets] | add')" = "$drops" ]
}

# What was decoded, by what it is: in the metrics, and through the file in `stats --json`.
decoded_agree()
{
	fetch /metrics | grep '^quakeshield_records_total' |
		grep 'protocol="quake3",kind="getstatus",status="decoded",sampler="statistic"' |
		awk '{ exit $NF < 10 }' || return
	net_in server "$SHIELD" stats --json | jq -e '[.services[0].decoded.records[] |
		select(.kind == "getstatus" and .protocol == "quake3" and .sampler == "statistic" and
			.status == "decoded") | .records] | add > 10'
}

# As the lab has it, and the daemon looks at some of it.
watched_config()
{
	shield_config
	echo 'sample { one-in = 64 rate = 500 } follow { first = 4 rate = 2000 }'
}

content_type()
{
	net_in server curl -sSI "$URL/metrics" | tr -d '\r' |
		grep -qix 'content-type: application/openmetrics-text; version=1.0.0; charset=utf-8'
}

# Prometheus' own linter reads the older format, and finds nothing.
promtool_is_content()
{
	net_in server curl -sS -H 'Accept: text/plain' "$URL/metrics" >"$work/text"
	grep -q '^quakeshield_rate_limited_packets_total{' "$work/text" &&
		promtool check metrics <"$work/text" >"$work/promtool.log" 2>&1 &&
		[ ! -s "$work/promtool.log" ]
}

# Joining is refused, by class, as often as by kind.
refusals_agree()
{
	fetch /metrics | awk '
		/^quakeshield_rate_limited_packets_total/ { a += $NF }
		/^quakeshield_received_packets_total.*"(source|prefix|service)-limit"/ { b += $NF }
		END { exit !(a > 10000 && a == b) }'
}

whole()
{
	[ "$(fetch /metrics | tail -n 1)" = '# EOF' ]
}

loopback_only()
{
	net_in server ss -ltnH >"$work/listening"
	[ "$(awk '/:9127 / { print $4 }' "$work/listening")" = 127.0.0.1:9127 ]
}

history_moves()
{
	fetch /history.json | jq -e '(.columns | index("dropped")) as $d |
		(.points | length > 2) and ([.points[][$d]] | max > 1000) and
		([.points[] | length] | unique == [10])'
}

# as_schema NAME PATH,... COMMAND...: its JSON has all keys of the schema, but those of PATH.
as_schema()
{
	local name=$1 unseen=$2

	shift 2
	"$@" | "$SCHEMA" "$name" --all "$unseen" >&2
}

# The server and the client are stand-ins, without cached responses and players' figures.
json_is_as_listed()
{
	net_check "/stats.json: its schema" as_schema stats \
		'services[].cached_responses,services[].decoded.players,services[].decoded' fetch /stats.json
	net_check "stats --json: its schema" as_schema stats \
		'services[].cached_responses,services[].decoded.players' net_in server "$SHIELD" stats --json
	net_check "status --json: its schema" as_schema status \
		protocol_mismatch,owners net_in server "$SHIELD" status --json
	for page in history day; do
		net_check "/$page.json: its schema" as_schema history '' fetch "/$page.json"
	done
	net_check "stats --history --json: its schema" as_schema history '' \
		net_in server "$SHIELD" stats --history --json
	net_check "/players.json: its schema" as_schema players 'players,decoded_by_service' \
		fetch /players.json
}

# More connections than there is room for, all silent: who comes after them is served.
survives_silence()
{
	local silent served

	# shellcheck disable=SC2016 # for the other shell
	net_in server bash -c 'for i in {1..60}; do exec {fd}<>/dev/tcp/127.0.0.1/9127; done
		exec sleep 20' 2>"$work/silence.log" &
	silent=$!
	sleep 1
	net_until 16 status 200 "$URL/health"
	served=$?
	kill "$silent"
	return "$served"
}

test_pages()
{
	net_check "OpenMetrics by name" content_type
	net_check "the last line is # EOF" whole
	net_check "refusals by class" refusals_agree
	if command -v promtool >/dev/null; then
		net_check "promtool check metrics" promtool_is_content
	fi
	net_check "kernel, metrics and JSON count the same drops" net_until 5 metrics_agree
	net_check "metrics and JSON tell what was decoded" net_until 5 decoded_agree
	net_check "healthy" status 200 "$URL/health"
	net_check "ten minutes of history" history_moves
	net_check "the page" status 200 "$URL/"
	net_check "who plays, on loopback only" people_stay_here
	net_check "HEAD" status 200 -I "$URL/metrics"
	net_check "no other page" status 404 "$URL/etc/passwd"
	net_check "no writing" status 405 -X POST -d x=1 "$URL/metrics"
	net_check "no name but a loopback one" status 403 -H 'Host: evil.example' "$URL/metrics"
	net_check "listens on loopback only" loopback_only
	net_check "survives silent connections" survives_silence
}

prometheus_start()
{
	cat >"$work/prometheus.yml" <<-CONFIG
	global: {scrape_interval: 1s, evaluation_interval: 1s}
	rule_files: ["$DOCS/alerts.yml"]
	scrape_configs:
	  - job_name: quakeshield
	    static_configs: [{targets: ["127.0.0.1:9127"]}]
	CONFIG
	promtool check config "$work/prometheus.yml" >"$work/promtool.log" 2>&1 || {
		cat "$work/promtool.log" >&2
		return 1
	}
	nsenter --net=/run/netns/server prometheus --config.file="$work/prometheus.yml" \
		--storage.tsdb.path="$work/prometheus" --web.listen-address=127.0.0.1:9090 \
		>"$work/prometheus.log" 2>&1 &
	prometheus_pid=$!
	net_until 15 query 'sum(up) == 1'
}

# query PROMQL: as JSON; fails if it is wrong or has no result.
query()
{
	net_in server curl -sS --max-time 5 --data-urlencode "query=$1" \
		http://127.0.0.1:9090/api/v1/query >"$work/query.json" || return
	jq -e '.status == "success" and (.data.result | length > 0)' "$work/query.json"
}

# Every query of every panel, with what Grafana would put in. The stand-in's player draws
# nothing, so what is told of players need only be right.
dashboard_queries()
{
	local expr failed=0 count=0

	jq -r '.panels[].targets[].expr' "$DOCS/grafana-dashboard.json" >"$work/queries"
	while read -r expr; do
		# shellcheck disable=SC2016
		expr=$(sed 's/\$instance/.*/g; s/\$service/.*/g; s/\$__rate_interval/10s/g' <<<"$expr")
		count=$((count + 1))
		query "$expr" >/dev/null || {
			[[ $expr == *quakeshield_player_* ]] &&
				jq -e '.status == "success"' "$work/query.json" >/dev/null && continue
			echo "# no result: $expr" >&2
			failed=1
		}
	done <"$work/queries"
	[ "$count" -ge 15 ] && [ "$failed" = 0 ]
}

rules_are_healthy()
{
	net_in server curl -sS http://127.0.0.1:9090/api/v1/rules |
		jq -e '[.data.groups[].rules[]] | length == 13 and all(.health == "ok")'
}

alerts_tried()
{
	mkdir -p "$work/rules"
	cp "$DOCS/alerts.yml" "$DATA/alerts_test.yml" "$work/rules/"
	(cd "$work/rules" && promtool test rules alerts_test.yml) >"$work/promtool.log" 2>&1 || {
		cat "$work/promtool.log" >&2
		return 1
	}
}

test_prometheus()
{
	if ! command -v prometheus >/dev/null || ! command -v promtool >/dev/null; then
		echo "skip prometheus: not installed"
		return
	fi
	net_check "alerts pass promtool" promtool check rules "$DOCS/alerts.yml"
	net_check "alerts go off when they should, and only then" alerts_tried
	net_check "Prometheus scrapes" prometheus_start
	net_flood --payload getstatus --seconds 12 --rate 20000 --victim "$NET_VICTIM" \
		>"$work/flood.json"
	net_check "no scrape failed" query 'min_over_time(up[15s]) == 1 and count_over_time(up[15s]) > 10'
	net_check "every query of the dashboard has a result" dashboard_queries
	net_check "every rule can be evaluated" rules_are_healthy
	net_check "Prometheus had nothing to complain of" \
		awk '/level=(warn|error)/ { print; bad = 1 } END { exit bad }' "$work/prometheus.log"
	kill "$prometheus_pid"
	wait "$prometheus_pid" 2>/dev/null
}

# What a browser makes of the page: the service, its counters, and lines in the plot.
browsed()
{
	local profile=$work/chromium

	timeout 60 nsenter --net=/run/netns/server chromium --headless --no-sandbox \
		--disable-gpu --no-first-run --disable-background-networking \
		--disable-component-update --disable-sync --user-data-dir="$profile" \
		--window-size=1100,1500 --virtual-time-budget=4000 --dump-dom "$URL/" \
		>"$work/dom" 2>"$work/chromium.log" || return
	grep -q 'srv0 (native) protected\|srv0 (skb) protected' "$work/dom" &&
		grep -q '<td class="drop">drop</td>' "$work/dom" &&
		grep -q 'dropped [0-9.]' "$work/dom" &&
		grep -q '<h2>Attacks' "$work/dom" &&
		! grep -q '<span class="bad">srv0' "$work/dom" &&
		! grep -q 'Uncaught\|Refused to' "$work/chromium.log"
}

test_page()
{
	if command -v chromium >/dev/null; then
		net_check "a browser shows the page" browsed
	else
		echo "skip the page in a browser: no chromium"
	fi
}

# People's names and addresses stay on loopback, wherever the rest is told.
people_stay_here()
{
	{
		watched_config
		echo "metrics { listen = $NET_SERVER:9127 public = yes }"
	} >"$work/shield.conf"
	kill -HUP "$shield_pid"
	net_until 5 status 200 "http://$NET_SERVER:9127/stats.json" &&
		status 403 "http://$NET_SERVER:9127/players.json" || return
	watched_config >"$work/shield.conf"
	kill -HUP "$shield_pid"
	net_until 5 status 200 "$URL/players.json"
}

# No interface is said to be ours.
lost_in_metrics()
{
	fetch /metrics >"$work/metrics" && whole &&
		! grep -q '^quakeshield_interface_protected.* 1$' "$work/metrics"
}

# Once the daemon has noticed it is back before anybody else can take its place.
take_its_place()
{
	# By its pin, which is ours alone: link ids are the whole machine's.
	bpftool link detach pinned /sys/fs/bpf/quakeshield/v*/link-srv0
	net_in server ip link set srv0 xdp obj "$BUILD/tests/lab/foreign.bpf.o" sec xdp
}

# Another program takes our place, so that we may not come back: health says so, metrics
# say so.
test_lost()
{
	net_check "another program takes our place" net_until 3 take_its_place
	net_check "not healthy once detached" net_until 3 status 503 "$URL/health"
	net_check "and says why" grep -q 'not protected' "$work/body"
	net_check "metrics say so" lost_in_metrics
}

playing()
{
	net_in server "$SHIELD" stats --json | jq -e '.services[0].players == 1'
}

game()
{
	watched_config >"$work/shield.conf"
	server_start || exit 1
	shield_start || exit 1
	client_start 90 >"$work/client.json" &
	net_until 10 playing
	net_flood --payload getstatus --seconds 5 --rate 20000 --victim "$NET_VICTIM" \
		>"$work/flood.json"
	net_flood --payload getinfo --seconds 5 --rate 20000 --from "$NET_FLOOD" --sources 100000 \
		>"$work/flood.json"
}

net_test_begin "$@"
game
test_pages
json_is_as_listed
test_prometheus
test_page
test_lost
exit "$net_failed"
