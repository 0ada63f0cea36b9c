#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# test_on_attack.sh - what `on-attack` hands to systemd-run, word by word, and what it does
# about files that are not the daemon's, commands that hang or are missing, and a start and
# an end of one attack. systemd-run is a stand-in, in a mount namespace in which /run is
# empty and looks as if systemd had started the machine.
#
# lane: beside, 12 s: it has a /run of its own, and waits more than it works.
set -u

cd "$(dirname "$0")/../.." || exit 1
if [ "$(id -u)" != 0 ]; then
	echo "skip on_attack: needs root, for a /run of its own"
	exit 0
fi
[ -n "${ON_ATTACK_INSIDE-}" ] ||
	ON_ATTACK_INSIDE=1 exec unshare --mount --pid --fork --kill-child --mount-proc "$0" "$@"
SHIELD=$(realpath "${BUILD:-build}")/quakeshield
SPOOL=/run/quakeshield/on-attack
# shellcheck source=tests/cmd/cli.sh
. tests/cmd/cli.sh
work=$(mktemp -d)
trap 'rm -rf "$work" "$CLI_LOG"' EXIT
mount -t tmpfs run /run || exit 1
mkdir -p /run/systemd/system "$SPOOL" "$work/bin"
export WORK=$work

# What it is called with, a word a line; what it is told, as a line; when it came and went.
cat >"$work/bin/systemd-run" <<'SCRIPT'
#!/bin/bash
unit=$(printf '%s\n' "$@" | sed -n 's/^--unit=quakeshield-attack-//p')
printf '%s\n' systemd-run "$@" >"$WORK/argv.$unit"
cat >"$WORK/stdin.$unit"
echo "+$unit" >>"$WORK/order"
# Until another attack's command is there as well.
for ((i = 0; i < 100; i++)); do
	if [ ! -e "$WORK/slow" ] || [[ $unit != *-0-start ]] || grep -q 1-start "$WORK/order"; then
		break
	fi
	sleep 0.1
done
[ ! -e "$WORK/slow" ] || sleep 0.3
echo "-$unit" >>"$WORK/order"
[ ! -e "$WORK/fails" ]
SCRIPT
chmod +x "$work/bin/systemd-run"
PATH=$work/bin:$PATH

configure() # COMMAND
{
	printf 'service "ffa" { protocol = quake3 port = 27960 }\non-attack = "%s"\n' "$1" \
		>"$work/conf"
}

# event ID EVENT [TARGET]: as the daemon leaves it.
event()
{
	printf '{"id":"%s","event":"%s","target":%s,"peak":{"packets_per_s":1234.5}}\n' \
		"$1" "$2" "${3:-null}" >"$SPOOL/$1.$2.json"
}

begin()
{
	rm -f "$work"/argv.* "$work"/stdin.* "$work/order" "$work/slow" "$work/fails" "$SPOOL"/*
	: >"$work/order"
}

run() # STATUS
{
	"$SHIELD" on-attack -c "$work/conf" 2>"$work/err"
	local status=$?

	cat "$work/err" "$work/order"
	[ "$status" = "$1" ]
}

# Each property is one of systemd 252 (Debian 12): systemd.exec(5), systemd.service(5).
words_are_these()
{
	begin
	event 20261122T144501Z-0 start '"10.77.0.2"'
	run 0 || return
	diff - "$work/argv.20261122T144501Z-0-start" <<-WORDS
	systemd-run
	--quiet
	--collect
	--pipe
	--wait
	--property=DynamicUser=yes
	--property=NoNewPrivileges=yes
	--property=CapabilityBoundingSet=
	--property=ProtectSystem=strict
	--property=ProtectHome=yes
	--property=PrivateTmp=yes
	--property=PrivateDevices=yes
	--property=RuntimeMaxSec=60
	--unit=quakeshield-attack-20261122T144501Z-0-start
	--
	/bin/tell
	--loud
	\$\$(id)
	a\$\$HOME
	10.77.0.2
	incoming
	1234
	ban
	WORDS
}

details_come_on_stdin()
{
	[ "$(jq -r .id "$work/stdin.20261122T144501Z-0-start")" = 20261122T144501Z-0 ]
}

an_end_is_an_unban()
{
	begin
	event 20261122T144501Z-0 end
	run 0 && tail -n 4 "$work"/argv.*-end | paste -sd' ' | grep -qx '0.0.0.0 incoming 1234 unban'
}

# forged TEXT...: a file of each text.
forged()
{
	local text

	count=0
	for text in "$@"; do
		count=$((count + 1))
		printf '%b' "$text" >"$SPOOL/x$count.start.json"
	done
}

# Each is said to be strange, and goes.
forgeries_run_nothing()
{
	local deep i

	begin
	deep=$(printf '[%.0s' {1..7000})
	# shellcheck disable=SC2016 # it is not to be expanded
	forged '' 'no json' '{}' '[]' "$deep" \
		'{"id":"a/../b","event":"start"}' \
		'{"id":"a b","event":"start"}' \
		'{"id":"a\\nb","event":"start"}' \
		'{"id":"","event":"start"}' \
		'{"id":"a","event":"update"}' \
		'{"id":"a","event":"start","target":"-x"}' \
		'{"id":"a","event":"start","target":"1.2.3.4 ; id"}' \
		'{"id":"a","event":"start","target":"$(id)"}' \
		'{"id":"a","event":"start","peak":{"packets_per_s":-1}}' \
		'{"id":"a","event":"start","peak":{"packets_per_s":1e99}}' \
		"{\"id\":\"a\",\"event\":\"start\",\"x\":\"$(printf 'x%.0s' {1..9000})\"}"
	event b start
	run 1 || return
	for ((i = 1; i <= count; i++)); do
		grep -q "'$SPOOL/x$i.start.json' is not the daemon's" "$work/err" || return
	done
	# The good one among them is told of all the same.
	[ "$(wc -l <"$work/order")" = 2 ] && [ -s "$work/argv.b-start" ] && [ -z "$(ls "$SPOOL")" ]
}

# Of one attack the end is not told of while the command still hears of the start; of
# another it is.
one_attack_is_told_in_order()
{
	begin
	: >"$work/slow"
	event 20261122T144501Z-0 start
	event 20261122T144501Z-0 end
	event 20261122T144501Z-1 start
	touch -d '9 seconds ago' "$SPOOL"/*-0.start.json
	touch -d '8 seconds ago' "$SPOOL"/*-0.end.json
	run 0 || return
	diff - <(sed 's/20261122T144501Z-//' "$work/order" | sort -s -k1.2,1.2 | grep 0-) <<-ORDER &&
	+0-start
	-0-start
	+0-end
	-0-end
	ORDER
		# The other one did not wait for the first.
		head -n 2 "$work/order" | sed 's/.*Z-//' | sort | paste -sd' ' | grep -qx '0-start 1-start'
}

# What comes while it is there, or just after, is told of by the same one.
what_comes_late_is_told()
{
	begin
	event 20261122T144501Z-0 start
	(sleep 0.5; event 20261122T144509Z-1 start) &
	run 0 && wait && [ "$(wc -l <"$work/order")" = 4 ]
}

a_failure_is_said()
{
	begin
	: >"$work/fails"
	event 20261122T144501Z-0 start
	run 1 && grep -q "'/bin/tell --loud \$(id) a\$HOME' has failed for attack 20261122T144501Z-0" "$work/err"
}

without_systemd_run()
{
	begin
	event 20261122T144501Z-0 start
	PATH=/nonexistent run 1
	grep -q 'cannot run systemd-run: No such file' "$work/err"
}

# What cannot be told is not left there: systemd would start it again without end.
# discards TEXT ARGUMENT...
discards()
{
	local text=$1 status

	shift
	begin
	event 20261122T144501Z-0 start
	event 20261122T144501Z-0 end
	"$SHIELD" on-attack "$@" 2>"$work/err"
	status=$?
	cat "$work/err"
	[ "$status" = 1 ] && grep -q "$text" "$work/err" &&
		grep -q '2 events discarded, because the command could not be run' "$work/err" && [ -z "$(ls "$SPOOL")" ]
}

a_link_is_not_followed()
{
	begin
	mv "$SPOOL" "$work/other"
	ln -s "$work/other" "$SPOOL"
	event 20261122T144501Z-0 start
	run 1 && [ -e "$work/other/20261122T144501Z-0.start.json" ] && [ ! -s "$work/order" ]
	local status=$?

	rm "$SPOOL"
	mv "$work/other" "$SPOOL"
	return "$status"
}

# shellcheck disable=SC2016 # it is not to be expanded
configure '/bin/tell --loud $(id) a$HOME'
check "the words for systemd-run are these" words_are_these
check "details come on standard input" details_come_on_stdin
check "an end is an unban" an_end_is_an_unban
check "what is forged runs nothing" forgeries_run_nothing
check "one attack is told of in order" one_attack_is_told_in_order
check "what comes late is told of" what_comes_late_is_told
check "a command that fails is named" a_failure_is_said
check "no systemd-run" without_systemd_run
check "a link is not followed" a_link_is_not_followed
echo 'service "ffa" { protocol = quake3 port = 27960 }' >"$work/none"
check "no command: what is there goes" discards 'names no command' -c "$work/none"
echo 'nonsense' >"$work/bad"
check "no configuration: what is there goes" discards 'bad:' -c "$work/bad"
rmdir /run/systemd/system
check "no systemd: what is there goes" discards 'not started by systemd' -c "$work/conf"
exit $failed
