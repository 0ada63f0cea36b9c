#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# test_residue.sh - tests/run.sh gives each script a world of its own: it sees nothing of
# what is here, and what it leaves is named. And which script gets a second try.
#
# beside: it runs two small scripts.
set -u

cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

verdict() # NAME COMMAND...
{
	local name=$1

	shift
	if "$@" >/dev/null; then
		echo "ok $name"
	else
		echo "not ok $name"
		status=1
	fi
}

script() # NAME LINE
{
	printf '#!/bin/bash\n%s\necho ok something\n' "$2" >"$work/$1"
	chmod +x "$work/$1"
}

# run NAME: the script of that name by run.sh; its status, and what it said in $said.
run()
{
	TESTS='' tests/run.sh "$work/$1" >"$work/said" 2>&1
}

# leaves NAME LINE THING: LINE leaves THING, which is named and fails the script.
leaves()
{
	script "net_$1.sh" "$2"
	! run "net_$1.sh" &&
		grep -q "^not ok net_$1.sh leaves nothing behind: .*$3" "$work/said"
}

# What a machine has on which other shields, labs and daemons are: links, pins, files, a
# process. All of it is in the world of this test, unless it was started by hand.
crowd()
{
	ip link add crowd0 type veth peer name crowd1
	ip netns add crowd
	mkdir -p /run/quakeshield /sys/fs/bpf/quakeshield && : >/run/quakeshield/daemon.pid
	sleep 600 &
}

script net_clean.sh 'sleep 0.1'
run net_clean.sh
verdict "a clean test passes" grep -qx '1 passed, 0 failed, 0 skipped' "$work/said"
if ! tests/world.sh true 2>"$work/why"; then
	verdict "that there are no worlds is said" grep -q '^run.sh: tests run on the machine' \
		"$work/said"
	echo "skip worlds: $(head -n 1 "$work/why")"
else
	[ -z "${TEST_WORLD-}" ] || crowd
	# shellcheck disable=SC2016 # for the script
	script net_sees.sh 'cat /proc/[0-9]*/comm | grep -x sleep && echo not ok processes
		[ "$(ls -A /sys/class/net)" = lo ] || echo not ok links
		[ -z "$(find /sys/fs/bpf /run/netns -mindepth 1 -type d)" ] || echo not ok pins
		[ ! -e /run/quakeshield ] || echo not ok files
		[ "$(stat -c %a /sys/fs/bpf)" = 700 ] || echo not ok mode'
	verdict "a test sees nothing of the machine" run net_sees.sh
	[ -z "${TEST_WORLD-}" ] || { kill $! && ip netns del crowd && ip link del crowd0 &&
		rm -r /run/quakeshield /sys/fs/bpf/quakeshield; }
	verdict "a process that is left is named" leaves process 'setsid sleep 60 &' '(sleep)'
	verdict "a link" leaves link 'ip link add left0 type veth peer name left1' 'link left0'
	verdict "a namespace" leaves space 'ip netns add left' /run/netns/left
	verdict "a pin" leaves pin 'mkdir /sys/fs/bpf/left' /sys/fs/bpf/left
	verdict "a file" leaves file 'mkdir /run/quakeshield' /run/quakeshield
	mv "$work/net_link.sh" "$work/attack_link.sh"
	run attack_link.sh
	verdict "a link of an attack" grep -q "^not ok attack_link.sh leaves" "$work/said"
	verdict "nothing of them is here" test -z \
		"$(find /run /sys/fs/bpf /sys/class/net -name 'left*')"
fi

# A test that fails as often as TIMES says, and then no more.
unlucky() # NAME TIMES
{
	printf '%s\n' '#!/bin/bash' "echo >>$work/$1.count" \
		"[ \$(wc -l <$work/$1.count) -gt $2 ] && echo ok luck || echo not ok luck" \
		>"$work/$1"
	chmod +x "$work/$1"
}

unlucky net_once.sh 1
unlucky net_twice.sh 2
unlucky attack_once.sh 1
TESTS='' tests/run.sh "$work/net_once.sh" >"$work/once" 2>&1
verdict "a second try counts" grep -qx '1 passed, 0 failed, 0 skipped' "$work/once"
verdict "it is told" grep -qx 'second try: net_once.sh: luck' "$work/once"
TESTS='' tests/run.sh "$work/net_twice.sh" >"$work/twice" 2>&1
verdict "there is no third" grep -qx '0 passed, 1 failed, 0 skipped' "$work/twice"
TESTS='' tests/run.sh "$work/attack_once.sh" >"$work/attack" 2>&1
verdict "an attack has one try" grep -qx '0 passed, 1 failed, 0 skipped' "$work/attack"
unlucky net_skips.sh 1
sed -i 's/echo ok luck/echo skip luck: none/' "$work/net_skips.sh"
TESTS='' tests/run.sh "$work/net_skips.sh" >"$work/skips" 2>&1
verdict "a second try does not skip what failed" \
	grep -qx '0 passed, 1 failed, 1 skipped' "$work/skips"
unlucky net_ends.sh 1
sed -i 's/echo not ok luck/exit 3/' "$work/net_ends.sh"
TESTS='' tests/run.sh "$work/net_ends.sh" >"$work/ends" 2>&1
verdict "how a silent first try ended is told" \
	grep -qx 'second try: net_ends.sh: ended with status 3' "$work/ends"
rm "$work"/*.count
TESTS='' SECOND_TRIES=0 tests/run.sh "$work/net_once.sh" >"$work/none" 2>&1
verdict "as many as are allowed" grep -qx '0 passed, 1 failed, 0 skipped' "$work/none"
if tests/world.sh true 2>/dev/null; then
	script net_process.sh 'setsid sleep 60 &'
	run net_process.sh
	verdict "a test that leaves something has no second" \
		[ "$(grep -c '^== ' "$work/said")" = 2 ]
fi
exit "$status"
