#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_heal.sh - what becomes of a shield whose interfaces come and go: one that vanishes and
# comes back is attached within a second, both halves; one that is not there at start is
# waited for; a half that is taken off is put back; a start that fails leaves nothing.
#
# lane: beside, 45 s: it waits for the daemon to attach.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
PINS=/sys/fs/bpf/quakeshield
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

heal_config() # INTERFACE...
{
	local list

	list=$(printf '"%s", ' "$@")
	echo "interface = {${list%, }}"
	shield_config
}

# In the background, of the interfaces of the configuration.
heal_start() # ARGUMENTS...
{
	: >"$work/shield.log"
	nsenter --net=/run/netns/server "$SHIELD" run -c "$work/shield.conf" "$@" \
		>"$work/shield.log" 2>&1 &
	shield_pid=$!
	net_until 40 grep -q 'quakeshield: ready' "$work/shield.log"
}

program_on() # DEVICE
{
	net_in server ip -json link show "$1" | jq -r '.[0].xdp.prog.id // 0'
}

link_of() # DEVICE JQ-FILTER
{
	net_in server "$SHIELD" stats --json |
		jq -e --arg name "$1" ".interfaces[] | select(.interface == \$name) | $2"
}

protected() # DEVICE
{
	[ "$(program_on "$1")" != 0 ] && link_of "$1" '.protected and .ingress and .egress'
}

healthy() # CODE
{
	[ "$(net_in server curl -s -o "$work/body" -w '%{http_code}' \
		http://127.0.0.1:9127/health)" = "$1" ]
}

egress_on() # DEVICE
{
	net_in server bpftool net show dev "$1" | grep -q shield_out
}

pair() # DEVICE: with an end in the server's namespace
{
	net_in server ip link add "$1" type veth peer name "$1-peer"
	net_in server ip link set "$1" up
	net_in server ip link set "$1-peer" up
}

failed_says() # PATTERN: of start_fails
{
	grep -q "$@" "$work/failed.log"
}

said() # PATTERN
{
	grep -q "$1" "$work/shield.log"
}

test_comes_back()
{
	net_in server ip link del heal0
	net_check "gone: is said by name" net_until 2 said "'heal0' is gone"
	net_check "gone: status fails" fails net_in server "$SHIELD" status
	net_check "gone: health says which" healthy_says 503 '^heal0: not protected: there is no'
	pair heal0
	net_check "back: attached within a second" net_until 1 protected heal0
	net_check "back: is said" said 'protecting heal0 again'
	net_check "back: healthy" net_until 3 healthy 200
	net_check "back: the other was let alone" [ "$(program_on heal1)" = "$before" ]
}

# One is named no more, another one is new: both at the next reload.
test_reload()
{
	heal_config heal0 srv0 >"$work/shield.conf"
	net_in server "$SHIELD" reload
	net_check "reload: what is new is attached" net_until 2 protected srv0
	net_check "reload: what is named no more is free" [ "$(program_on heal1)" = 0 ]
	net_check "reload: at egress too" fails egress_on heal1
	net_in server ip link set heal1 xdp obj "$BUILD/tests/lab/foreign.bpf.o" sec xdp
	heal_config heal0 heal1 >"$work/shield.conf"
	net_in server "$SHIELD" reload 2>"$work/failed.log"
	net_check "reload: a foreign program is left alone" failed_says "'heal1' already carries"
	net_check "reload: then nothing changes" protected srv0
	net_in server ip link set heal1 xdp off
	net_check "reload: when it is gone" net_in server "$SHIELD" reload
	net_check "reload: as at first" net_until 2 protected heal1
}

# A file that is not good is refused by its line, at once; nobody is signalled.
test_reload_bad()
{
	local began=$EPOCHREALTIME

	{
		heal_config heal0 heal1
		echo 'no_such_word = 1'
	} >"$work/shield.conf"
	net_check "bad file: reload fails" fails net_in server "$SHIELD" reload 2>"$work/failed.log"
	net_check "bad file: at once" awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { exit b - a > 2 }'
	net_check "bad file: its line is named" \
		failed_says "shield.conf:$(wc -l <"$work/shield.conf"): .*no_such_word"
	net_check "bad file: the daemon was not asked" fails said 'stays in force'
	heal_config heal0 heal1 >"$work/shield.conf"
}

# --observe is the daemon's, whatever file is applied to it.
test_observe_stays()
{
	shield_stop TERM
	heal_start --observe
	shield_config >"$work/other.conf"
	net_check "reload -c: is applied" net_in server "$SHIELD" reload -c "$work/other.conf"
	net_check "reload -c: observes still" observes
	net_check "reload: observes still" net_in server "$SHIELD" reload
	net_check "after it, too" observes
	net_check "status says so" status_observed
	net_check "health says so" healthy_says 200 'attached, observing only: nothing is dropped'
}

status_observed()
{
	net_in server "$SHIELD" status | grep -q '^heal0: observed, native mode.*: nothing is dropped$'
}

observes()
{
	net_in server "$SHIELD" stats --json | jq -e '.services | length > 0 and all(.observe)'
}

# The daemon ends too: it would do nothing, or attach again.
test_detach()
{
	net_check "detach" net_in server "$SHIELD" detach
	net_check "detach ends the daemon" net_until 10 fails test -e "/proc/$shield_pid"
	net_check "nothing comes back" nothing_left 0
}

# In a mount namespace of its own pins die with the last process: that is said.
test_private_pins()
{
	nsenter --net=/run/netns/server unshare --mount --propagation private sh -c \
		'mount -t bpf bpf /sys/fs/bpf && exec "$@"' - "$SHIELD" run \
		-c "$work/shield.conf" >"$work/failed.log" 2>&1 &
	net_check "private pins: is said" net_until 30 failed_says 'will not outlive this process'
	kill $!
	wait $!
	net_check "else it is not" fails said 'will not outlive this process'
}

listed() # LIST NETWORK
{
	net_in server "$SHIELD" "$1" list | grep -q "^$2 "
}

# Several at once, from a file, and none if one is wrong; what would shut all out is asked
# for twice.
test_lists()
{
	printf '\xef\xbb\xbf198.51.100.0/24 # a lab\r\n\n  2001:db8::/32\n' >"$work/networks"
	net_check "lists: from a file and several" net_in server "$SHIELD" deny add 192.0.2.7 - <"$work/networks"
	net_check "lists: the word" listed deny 192.0.2.7
	net_check "lists: the first line" listed deny 198.51.100.0/24
	net_check "lists: the last line" listed deny 2001:db8::/32
	net_check "lists: all go" net_in server "$SHIELD" deny del 192.0.2.7 198.51.100.0/24 2001:db8::/32
	net_check "lists: none is left" [ -z "$(net_in server "$SHIELD" deny list)" ]
	net_check "lists: one is wrong" fails net_in server "$SHIELD" deny add 192.0.2.8 192.0.2.x 2>"$work/failed.log"
	net_check "lists: is quoted" failed_says "'192.0.2.x'"
	net_check "lists: then none is added" fails listed deny 192.0.2.8
	net_check "lists: all of IPv4" fails net_in server "$SHIELD" deny add 0.0.0.0/0 2>"$work/failed.log"
	net_check "lists: needs --force" failed_says -e --force
	net_check "lists: all of IPv6, too" fails net_in server "$SHIELD" allow add ::/0 2>/dev/null
	net_check "lists: with --force" net_in server "$SHIELD" allow add --force 0.0.0.0/0
	net_check "lists: it is there" listed allow 0.0.0.0/0
	net_check "lists: and goes without" net_in server "$SHIELD" allow del 0.0.0.0/0
	net_in server "$SHIELD" allow add 203.0.113.7/24 2>"$work/failed.log"
	net_check "lists: what is meant is said" failed_says "taken as 203.0.113.0/24"
}

# A daemon that was killed leaves its file, which the next one sweeps away.
test_pid_files()
{
	: >/run/quakeshield/daemon-dead.pid
	heal_start
	net_check "stale pid files are gone" fails test -e /run/quakeshield/daemon-dead.pid
	net_check "one is there" [ "$(find /run/quakeshield -name '*.pid' | wc -l)" = 1 ]
	net_check "its first line is the process" [ "$(head -n 1 /run/quakeshield/daemon-*.pid)" = "$shield_pid" ]
}

# Another shield does not take what a running daemon holds, unless it is told to.
test_take_over()
{
	local other=/sys/fs/bpf/other pid

	net_check "--pin: run exits 1" start_fails -i heal0 --pin "$other"
	net_check "--pin: the process is named" failed_says "process $shield_pid"
	net_check "--pin: nothing is left" fails test -e "$other"
	net_check "--pin: the first goes on" protected heal0
	nsenter --net=/run/netns/server "$SHIELD" run -c "$work/shield.conf" -i heal0 \
		--pin "$other" --take-over >"$work/other.log" 2>&1 &
	pid=$!
	net_check "--take-over takes it" net_until 40 test -e "$other/link-heal0"
	sleep 6 # the first looks after its interfaces meanwhile
	net_check "--take-over keeps it" test -e "$other/link-heal0"
	kill "$pid"
	wait "$pid" 2>/dev/null
	net_in server "$SHIELD" detach --pin "$other" >/dev/null
	net_check "when it goes, the first has it again" net_until 7 protected heal0
}

fails()
{
	! "$@"
}

healthy_says() # CODE PATTERN
{
	net_until 3 healthy "$1" && grep -q "$2" "$work/body"
}

# Each half is taken off as somebody with the right to would.
test_halves()
{
	bpftool link detach pinned "$(echo $PINS/v*/link-heal0)"
	net_check "no ingress: attached again" net_until 7 protected heal0
	net_check "no ingress: is said" said "'heal0' does not carry our program"
	if [ -n "$(find $PINS -name out-heal0)" ]; then
		bpftool link detach pinned "$(echo $PINS/v*/out-heal0)"
	else
		net_in server tc qdisc del dev heal0 clsact
	fi
	net_check "no egress: attached again" net_until 7 protected heal0
	net_check "no egress: is said" said 'what leaves by .heal0. is judged no more'
	# The daemon is stopped, so that nobody mends: then it must be seen.
	kill -STOP "$shield_pid"
	if [ -n "$(find $PINS -name out-heal0)" ]; then
		bpftool link detach pinned "$(echo $PINS/v*/out-heal0)"
	else
		net_in server tc qdisc del dev heal0 clsact
	fi
	net_check "no egress: status fails" fails net_in server "$SHIELD" status
	net_check "no egress: status says half" half_said
	net_check "no egress: JSON says so" link_of heal0 '.ingress and (.egress | not) and (.protected | not)'
	kill -CONT "$shield_pid"
	net_check "no egress: mended when the daemon goes on" net_until 7 protected heal0
}

half_said()
{
	net_in server "$SHIELD" status | grep -q '^heal0: half protected'
}

# A program of somebody else's takes our place: it stays, and that is said once.
test_foreign_later()
{
	# The daemon must not attach its own again between the two.
	kill -STOP "$shield_pid"
	bpftool link detach pinned "$(echo $PINS/v*/link-heal0)"
	net_in server ip link set heal0 xdp obj "$BUILD/tests/lab/foreign.bpf.o" sec xdp
	kill -CONT "$shield_pid"
	sleep 6
	net_check "a foreign program stays" fails protected heal0
	net_check "it is said once" [ "$(grep -c 'not ours' "$work/shield.log")" = 1 ]
	net_in server ip link set heal0 xdp off
	net_check "when it goes, we come back" net_until 7 protected heal0
}

test_waits()
{
	net_in server "$SHIELD" detach >/dev/null
	heal_config later0 heal1 >"$work/shield.conf"
	net_check "absent at start: starts" heal_start
	net_check "absent at start: is said" said "'later0' is not there yet"
	net_check "absent at start: the other is protected" protected heal1
	net_check "absent at start: status ends with 5" status_ends 5
	net_check "absent at start: status names it" status_says '^later0: not protected: there is no'
	net_check "absent at start: JSON says so" link_of later0 '.missing and .since == null'
	net_check "absent at start: the metric is 0" protected_metric later0 0
	net_check "absent at start: health says it" healthy_says 503 '^later0: not protected: there is no'
	pair later0
	net_check "attached within a second when it comes" net_until 1 protected later0
	net_check "then status ends with 0" status_ends 0
	net_check "then the metric is 1" net_until 3 protected_metric later0 1
}

# One is named no more and another one is gone: the next daemon leaves nothing of them.
test_restart()
{
	shield_stop TERM
	net_in server ip link del later0
	heal_config heal0 >"$work/shield.conf"
	net_check "late failure: run exits 1" start_fails --set output.json=/nonexistent/x
	net_check "late failure: is said" failed_says "cannot open ./nonexistent/x"
	net_check "late failure: what is named no more stays protected" protected heal1
	net_check "restart: what is gone counts until the next daemon" status_ends 5
	heal_start
	net_check "restart: what is named is attached" protected heal0
	net_check "restart: what is named no more is free" [ "$(program_on heal1)" = 0 ]
	net_check "restart: at egress too" fails egress_on heal1
	net_check "restart: it is said" said "'heal1' is protected no more"
	net_check "restart: what is gone counts no more" status_ends 0
	shield_stop TERM
	net_in server ip link property add dev heal0 altname other0
	heal_config other0 >"$work/shield.conf"
	heal_start
	net_check "alternative name: attached by its own" protected heal0
	net_check "alternative name: not let go" fails said 'protected no more'
	net_check "alternative name: status ends with 0" status_ends 0
	shield_stop TERM
	net_in server "$SHIELD" detach >/dev/null
}

status_ends() # STATUS
{
	net_in server "$SHIELD" status >"$work/status"
	[ $? = "$1" ]
}

status_says() # PATTERN
{
	net_in server "$SHIELD" status | grep -q "$1"
}

protected_metric() # DEVICE VALUE
{
	net_in server curl -s http://127.0.0.1:9127/metrics |
		grep -q "^quakeshield_interface_protected{interface=\"$1\"} $2\$"
}

# Nothing of ours on any interface, nothing pinned, no pid file.
nothing_left()
{
	[ "$(program_on heal0)" = "$1" ] && [ "$(program_on heal1)" = 0 ] &&
		[ ! -e "$PINS" ] &&
		! net_in server tc filter show dev heal0 egress | grep -q . &&
		! net_in server bpftool net show | grep -q shield_ &&
		[ -z "$(find /run/quakeshield -name '*.pid')" ]
}

start_fails()
{
	net_in server timeout 40 "$SHIELD" run -c "$work/shield.conf" "$@" 2>"$work/failed.log"
	[ $? = 1 ]
}

# The file is good all the same: the program may be gone when it is run.
foreign_warned()
{
	heal_config heal0 heal1 >"$work/foreign.conf"
	net_in server "$SHIELD" check -c "$work/foreign.conf" 2>"$work/failed.log" &&
		failed_says "foreign.conf:1: warning: run would fail: interface 'heal0' already carries an XDP program that is not ours" &&
		! failed_says "'heal1' already"
}

test_all_or_nothing()
{
	local foreign

	net_check "misspelt: run exits 1" start_fails -i heal1 -i heall0
	net_check "misspelt: is quoted" failed_says "'heall0'"
	net_check "misspelt: nothing is left" nothing_left 0
	net_in server ip link set heal0 xdp obj "$BUILD/tests/lab/foreign.bpf.o" sec xdp
	foreign=$(program_on heal0)
	net_check "foreign: check warns, by its line" foreign_warned
	net_check "foreign: run exits 1" start_fails -i heal1 -i heal0
	net_check "foreign: is named" failed_says "'heal0' already carries"
	net_check "foreign: nothing is left" nothing_left "$foreign"
	net_in server ip link set heal0 xdp off
	# What only attaching finds out, when the other is attached: its frames are too large.
	net_in server ip link set heal0-peer mtu 9000
	net_check "refused by the driver: run exits 1" start_fails --mode native -i heal1 -i heal0
	net_check "refused by the driver: is said" failed_says "cannot attach to 'heal0' in native mode"
	net_check "refused by the driver: nothing is left" nothing_left 0
}

net_test_begin "$@"
pair heal0
pair heal1
heal_config heal0 heal1 >"$work/shield.conf"
heal_start || exit 1
net_check "both are protected" protected heal1
before=$(program_on heal1)
test_comes_back
test_halves
test_foreign_later
test_reload
test_reload_bad
test_take_over
test_observe_stays
test_detach
test_private_pins
test_pid_files
test_lists
shield_stop TERM
test_waits
test_restart
test_all_or_nothing
exit "$net_failed"
