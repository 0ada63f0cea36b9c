#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# test_residue.sh - tests/run.sh gives each script a world of its own: it sees nothing of
# what is here, and what it leaves is named. And in which order scripts run.
#
# lane: beside, 12 s: it runs small scripts that sleep.
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

# A test that fails once passes at no second try.
script net_once.sh "[ -e $work/tried ] || { : >$work/tried; echo not ok luck; }"
run net_once.sh
verdict "a test has one try" grep -qx '1 passed, 1 failed, 0 skipped' "$work/said"

# in_lane NAME LANE [OTHER]: that script writes down when it begins and ends, and waits for
# OTHER to begin, ten seconds at most.
in_lane()
{
	script "$1" "# lane: $2: a test
		echo +$1 >>$work/order
		for i in {1..100}; do grep -q '+net_${3-${1:4:1}}' $work/order && break; sleep 0.1; done
		echo -$1 >>$work/order"
}

in_lane net_a.sh 'alone, 3 s'
in_lane net_b.sh 'alone, 7 s'
in_lane net_c.sh 'beside, 2 s'
in_lane net_d.sh 'beside, 5 s' e
in_lane net_e.sh 'beside, 4 s' d
(cd "$work" && TESTS='' TEST_BESIDE=2 "$OLDPWD/tests/run.sh" ./net_{a,b,c,d,e}.sh) >"$work/said" 2>&1
verdict "one is alone at a time, the longest first" [ "$(grep 'net_[ab]' "$work/order" | tr -d '\n')" = \
	+net_b.sh-net_b.sh+net_a.sh-net_a.sh ]
verdict "two others are beside it, the longest first" [ "$(grep 'net_[cde]' "$work/order" | head -n 2 |
	sort | tr -d '\n')" = +net_d.sh+net_e.sh ]
verdict "what they say comes in the order of the arguments" [ "$(grep '^== net' "$work/said" |
	tr -d '\n')" = '== net_a.sh== net_b.sh== net_c.sh== net_d.sh== net_e.sh' ]
for how in 1 scripts; do
	rm "$work/order"
	(cd "$work" && TESTS='' TEST_IN_TURN=$how "$OLDPWD/tests/run.sh" ./net_{a,c}.sh) \
		>"$work/said" 2>&1
	verdict "lanes in turn: $how" [ "$(tr -d '\n' <"$work/order")" = \
		+net_c.sh-net_c.sh+net_a.sh-net_a.sh ]
done

# Stubs are for `make quick`, and for a script that asks for them.
mkdir -p "$work/build/lab"
printf 'int unused;' | "${CC:-cc}" -shared -fPIC -x c -o "$work/build/lab/stubs.so" -
for quick in '' 1; do
	for asks in '' '# stubs: shield_out shield_joined'; do
		script net_stubs.sh "$asks
			echo \"<\${TEST_STUBS-}>\" >$work/stubs"
		TEST_QUICK=$quick BUILD=$work/build run net_stubs.sh
		verdict "quick '$quick', '$asks'" [ "$(cat "$work/stubs")" = \
			"<${quick:+${asks#\# stubs: }}>" ]
	done
done
exit "$status"
