#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# test_daemon.sh - a daemon whose disk is full, whose files are garbage, or directories, or
# that is not the only one: it protects, says what is wrong, and ends well. It has /run, the
# BPF file system and the network to itself.
#
# lane: beside, 30 s: it has all that to itself, and waits more than it works.
# stubs: all
set -u

cd "$(dirname "$0")/../.." || exit 1
if [ "$(id -u)" != 0 ]; then
	echo "skip daemon: needs root, for programs in the kernel"
	exit 0
fi
[ -n "${DAEMON_INSIDE-}" ] || DAEMON_INSIDE=1 exec unshare --mount --net --pid --fork \
	--kill-child --mount-proc "$0" "$@"
SHIELD=$(realpath "${BUILD:-build}")/quakeshield
mount -t tmpfs run /run && mount -t bpf bpf /sys/fs/bpf || exit 1
# shellcheck source=tests/cmd/cli.sh
. tests/cmd/cli.sh
work=/run/work
mkdir $work
ip link set lo up
ip link add one type veth peer name two
ip link set one up
ip link set two up

# configure LINE...: service "ffa" on interface one, and these lines.
configure()
{
	printf '%s\n' 'interface = "one"' 'mode = skb' 'metrics { listen = off }' \
		'service "ffa" { protocol = quake3 port = 27960 }' "$@" >"$work/conf"
}

# A fresh directory for what the daemon keeps.
state()
{
	export STATE_DIRECTORY=$work/state.$1
	mkdir "$STATE_DIRECTORY"
}

start() # ARGUMENT...
{
	: >"$work/log"
	"$SHIELD" run -c "$work/conf" "$@" >"$work/log" 2>&1 &
	daemon=$!
	until_true 40 decided
	grep -q ': ready' "$work/log" && return
	cat "$work/log"
	return 1
}

# Ready, or ended.
decided()
{
	grep -q ': ready' "$work/log" || ! kill -0 "$daemon" 2>/dev/null
}

# until_true SECONDS COMMAND...: try again ten times a second.
until_true()
{
	local until=$((SECONDS + $1))

	shift
	while ! "$@"; do
		[ "$SECONDS" -lt "$until" ] || return 1
		sleep 0.1
	done
}

# has_said TEXT: the daemon, by now or within a while.
has_said()
{
	until_true 20 grep -qF -- "$1" "$work/log"
}

# stops TEXT: well, having said TEXT ("": no matter what).
stops()
{
	kill "$daemon"
	wait "$daemon"
	echo "exit status $?" >>"$work/log"
	cat "$work/log"
	grep -q 'exit status 0' "$work/log" && grep -qF -- "$1" "$work/log"
}

# Who is known is written down, though the tables that he is in are taken down.
detaches()
{
	state detach
	configure 'on-exit = detach'
	echo "192.0.2.77 60 $(date +%s)" >"$STATE_DIRECTORY/known-clients.txt"
	start && stops 'the shield is down' && grep '^192.0.2.77 60 ' "$STATE_DIRECTORY/known-clients.txt" &&
		[ "$(stat -c %a "$STATE_DIRECTORY/known-clients.txt")" = 640 ] &&
		[ -z "$(find /sys/fs/bpf -mindepth 2 -type f)" ]
}

full_disk()
{
	state full
	mount -t tmpfs -o size=16k full "$STATE_DIRECTORY"
	dd if=/dev/zero of="$STATE_DIRECTORY/fill" bs=1k count=64 2>/dev/null
	configure 'sample {}' "output { json = $STATE_DIRECTORY/j pcapng = $STATE_DIRECTORY/p }"
	start && has_said 'No space left' && sleep 1.2 && "$SHIELD" status &&
		stops "cannot write to '$STATE_DIRECTORY/p': No space left" &&
		[ "$(grep -c 'No space left' "$work/log")" = 1 ] &&
		[ ! -s "$STATE_DIRECTORY/p" ]
}

# The same garbage each time: a failure can be had again.
garbage() # SEED COUNT
{
	openssl enc -aes-128-ctr -nosalt -K "$(printf '%032x' "$1")" -iv 00 </dev/zero 2>/dev/null |
		head -c "$2"
}

garbage_files()
{
	local file seed=0

	state garbage
	configure 'sample {}'
	for file in "$STATE_DIRECTORY"/{known-clients.txt,attacks.jsonl,history.jsonl} \
		/run/quakeshield/{players.json,attacks.json,daemon-0.pid}; do
		garbage $((seed += 1)) 100000 >"$file"
	done
	start && sleep 1.2 && "$SHIELD" status && "$SHIELD" attacks | grep 'no attacks' &&
		"$SHIELD" stats --history | grep '^minute' && "$SHIELD" top --once | grep ffa &&
		stops 'known-clients.txt:1: not an address, its hops and a time'
}

directories()
{
	state directories
	configure 'sample {}'
	rm -f /run/quakeshield/*.json
	mkdir "$STATE_DIRECTORY"/{known-clients.txt,attacks.jsonl,history.jsonl} \
		/run/quakeshield/{players,attacks}.json
	start && has_said "cannot write '/run/quakeshield/players.json'" && "$SHIELD" status || return 1
	"$SHIELD" attacks 2>"$work/err"
	[ $? = 1 ] && grep "attacks: cannot read '$STATE_DIRECTORY/attacks.jsonl'" "$work/err" &&
		stops "cannot write '/run/quakeshield/players.json': Is a directory" &&
		rmdir /run/quakeshield/*.json
}

# Two with one state: the second is refused. Two with one spool: it has one command.
two_daemons()
{
	local first

	state two
	mkdir -p /run/systemd/system
	configure
	start || return 1
	first=$daemon
	"$SHIELD" run -c "$work/conf" 2>"$work/err"
	[ $? = 1 ] && grep "another daemon is running (process $first)" "$work/err" || return 1
	configure 'on-attack = /bin/true'
	start -i two --pin /sys/fs/bpf/other &&
		stops "on-attack '/bin/true' is not run: not for a shield of --pin" || return 1
	kill "$first"
	wait "$first"
}

# A container shares the BPF file system, but neither /run nor the pid file in it.
two_with_a_run_each() # DIRECTORY [--pin DIRECTORY]
{
	local directory=$1 status

	shift
	state "each$#"
	configure
	start "$@" || return 1
	# shellcheck disable=SC2016 # for the inner shell
	timeout 40 unshare --mount sh -c 'cp "$2" /tmp/conf.$$ && mount -t tmpfs run /run &&
		shield=$1 && shift 2 && "$shield" run -c /tmp/conf.$$ "$@"; status=$?
		rm /tmp/conf.$$; exit $status' \
		- "$SHIELD" "$work/conf" "$@" 2>"$work/err"
	status=$?
	# shellcheck disable=SC2016 # for the inner shell
	! unshare --mount sh -c 'mount -t tmpfs run /run && shield=$1 && shift && "$shield" detach "$@"' \
		- "$SHIELD" "$@" 2>>"$work/err" &&
		grep 'a daemon that has no pid file here' "$work/err" && "$SHIELD" status "$@" &&
		[ "$status" = 1 ] &&
		grep "another quakeshield, perhaps in a container, serves the shield of '$directory'" "$work/err" &&
		stops '' && start "$@" && stops '' && "$SHIELD" detach "$@" && [ ! -e "$directory" ]
}

# in_another ARGUMENT...: `run` where an interface has the number of `one`.
in_another()
{
	local number

	number=$(ip -o link show one | cut -d: -f1)

	# shellcheck disable=SC2016 # for the inner shell
	timeout 40 unshare --net sh -c 'ip link add one index "$1" type veth peer name two &&
		ip link set one up && ip link set two up && shift && exec "$@"' - \
		"$number" "$SHIELD" run -c "$work/conf" "$@" 2>"$work/err"
}

# The links of the default directory: number, program and interface of each.
links()
{
	local pin

	for pin in /sys/fs/bpf/quakeshield/*/*-one; do
		bpftool -j link show pinned "$pin" | jq -c '[.id, .prog_id, .ifindex, .devname]'
	done
}

# A link is found by the number of its interface, which another namespace has as well.
another_network_namespace()
{
	local before status

	state netns
	configure
	start && stops '' || return 1
	before=$(links)
	in_another
	if [ $? != 1 ] || ! grep "protects interfaces of another network namespace" "$work/err" ||
		[ "$(links)" != "$before" ]; then
		return 1
	fi
	# With a directory of its own it attaches there, and takes nothing over.
	in_another --pin /sys/fs/bpf/another --take-over &
	until_true 20 grep -q ': ready' "$work/err"
	status=$?
	"$SHIELD" detach --pin /sys/fs/bpf/another
	wait $!
	echo "$before"
	links
	[ "$status" = 0 ] && [ -n "$before" ] && [ "$(links)" = "$before" ] && start && stops ''
}

# Started by something that has no umask.
without_umask()
{
	local status

	state umask
	configure 'sample {}'
	rm -rf /run/quakeshield
	umask 0
	start
	status=$?
	umask 022
	[ "$status" = 0 ] && only_its_own && stops ''
}

# What it has written by now, nobody else may write to.
only_its_own()
{
	until_true 20 [ -f /run/quakeshield/players.json ] &&
		[ -z "$(find /run/quakeshield "$STATE_DIRECTORY" ! -type l -perm /022)" ]
}

refused() # DIRECTORY ARGUMENT...
{
	local directory=$1

	shift
	timeout 40 "$SHIELD" run -c "$work/conf" "$@" 2>"$work/err"
	[ $? = 4 ] && grep "'$directory' was made by another user, others may write to it, or it is a link" "$work/err"
}

# Whoever owns the directory that pins are in can move them away.
others_directories()
{
	state others
	configure
	"$SHIELD" detach
	rm -rf /sys/fs/bpf/quakeshield
	mkdir -m 777 /sys/fs/bpf/all
	install -d -o 65534 /sys/fs/bpf/quakeshield
	ln -s /tmp /sys/fs/bpf/linked && chown -h 65534 /sys/fs/bpf/linked || return
	ln -s /sys/fs/bpf/quakeshield "$work/link" && install -d -m 775 -g 65534 /sys/fs/bpf/group ||
		return
	refused "$work/link" --pin "$work/link/ours" &&
		refused /sys/fs/bpf/group --pin /sys/fs/bpf/group/ours &&
		rmdir /sys/fs/bpf/group || return
	refused /sys/fs/bpf/linked --pin /sys/fs/bpf/linked/ours && rm /sys/fs/bpf/linked &&
		refused /sys/fs/bpf/quakeshield && refused /sys/fs/bpf/all --pin /sys/fs/bpf/all/ours &&
		[ -z "$(find /sys/fs/bpf/{quakeshield,all} -mindepth 1)" ] && rmdir /sys/fs/bpf/quakeshield &&
		chmod 1777 /sys/fs/bpf/all && start --pin /sys/fs/bpf/all/ours && stops ''
}

# The command fails where others may write to a directory of pins, and the daemon goes on.
shared_directory()
{
	local dir

	state shared
	configure
	"$SHIELD" detach --pin /sys/fs/bpf/all/ours # of the check before
	start || return 1
	dir=$(echo /sys/fs/bpf/quakeshield/v*)
	chgrp 65534 "$dir" && chmod 770 "$dir" || return
	"$SHIELD" detach >"$work/said" 2>&1
	[ $? = 4 ] && grep -F "'$dir' was made by another user, others may write to it" "$work/said" &&
		! grep 'nothing was attached' "$work/said" && kill -0 "$daemon" || return
	chgrp 0 "$dir" && "$SHIELD" status && "$SHIELD" detach && wait "$daemon"
}

# reloads TEXT ARGUMENT...: the command says TEXT, and its output is in $work/said.
reloads()
{
	local text=$1

	shift
	"$SHIELD" reload "$@" >"$work/said" 2>&1 && grep -F -- "$text" "$work/said"
}

# typed TEXT SECONDS: reload --confirm 2 in a terminal where TEXT is typed, or hangs up.
typed()
{
	{ sleep 0.7; printf '%b' "$1"; sleep "$2"; } |
		script -qec "'$SHIELD' reload --confirm 2" /dev/null >"$work/said"
}

# meanwhile COMMAND...: the same without a key, and COMMAND while it waits.
meanwhile()
{
	local waits

	typed '' 5 &
	waits=$!
	for _ in {1..50}; do
		sleep 0.1
		! grep -q 'unless you press Enter' "$work/said" || break
	done
	"$@" || return
	wait "$waits" || :
}

observes()
{
	"$SHIELD" status | grep -q 'nothing is dropped'
}

# Forth and back with a daemon: by --undo, by no answer, and by what was never confirmed.
goes_back()
{
	state back
	configure
	"$SHIELD" detach
	start || return 1
	! "$SHIELD" reload --undo 2>"$work/err" && grep 'nothing to go back to' "$work/err" || return
	configure 'observe = true' 'deny = 192.0.2.1'
	reloads 'observe: false -> true' && grep '  deny: added 192.0.2.1' "$work/said" && observes ||
		return
	[ "$(stat -c %a /run/quakeshield/{in-force,previous}-*.conf | uniq)" = 600 ] &&
		reloads 'observe: true -> false' --undo && grep 'undone by the daemon' "$work/said" &&
		! observes || return
	typed '' 3 && grep 'observe: true -> false' "$work/said" && ! observes || return
	typed '\n' 1 && grep 'unless you press Enter' "$work/said" && observes || return
	reloads 'nothing changed' && "$SHIELD" reload --undo && ! observes || return
	# An interface keeps its mode, which is said.
	configure 'observe = true'
	sed -i 's/mode = skb/mode = auto/' "$work/conf"
	reloads "'one' stays attached in skb mode" && grep 'mode: skb -> auto' "$work/said" &&
		has_said "'one' stays attached in skb mode" && "$SHIELD" reload --undo || return
	# A file that names no interface: going back to it takes the shield off none.
	echo 'service "b" { protocol = quake3 port = 27961 }' >"$work/bare"
	"$SHIELD" reload -c "$work/bare" && "$SHIELD" reload -c "$work/bare" --set observe=true &&
		reloads 'observe: true -> false' --undo && sleep 0.5 && "$SHIELD" status &&
		stops '' || return
	# Without the daemon, and after the shield nothing is left.
	reloads 'observe: false -> true' -c "$work/conf" && reloads 'observe: true -> false' --undo &&
		"$SHIELD" detach && ! ls /run/quakeshield/in-force* && ! ls /run/quakeshield/previous*
}

# A start that fails, after all that needs no tables, leaves what is in force.
late_failure()
{
	state late
	configure 'deny = 192.0.2.1' 'service "gone" { protocol = quake3 port = 27961 }'
	"$SHIELD" detach
	start && stops '' || return 1
	configure 'observe = true' 'output { json = "/nonexistent/x" }'
	! start && grep "cannot open '/nonexistent/x'" "$work/log" && ! observes && denies 192.0.2.1 &&
		"$SHIELD" status | grep -qw gone || return
	configure 'observe = true'
	start && observes && ! denies 192.0.2.1 && "$SHIELD" reload --undo && sleep 1 && denies 192.0.2.1 &&
		stops ''
}

# An interface by two of its names is one: what is in force can be read back.
two_names()
{
	state names
	ip link property add dev one altname alt
	configure
	sed -i 's/"one"/{"alt", "one"}/' "$work/conf"
	"$SHIELD" check -c "$work/conf" 2>&1 | tee "$work/checked"
	grep -qF "conf:1: warning: interface 'one' is left out: 'alt' is the same one" \
		"$work/checked" || return 1
	start && has_said "interface 'one' is left out: 'alt' is the same one" || return 1
	echo 'deny = 192.0.2.1' >>"$work/conf"
	reloads 'deny: added 192.0.2.1' && "$SHIELD" reload --undo && "$SHIELD" status && stops ''
}

# The interface gets the name of the file after the start, and another own name later.
another_name()
{
	state another
	configure
	sed -i 's/"one"/"game0"/' "$work/conf"
	start && has_said "'game0' is not there yet" || return 1
	ip link property add dev one altname game0
	has_said 'protecting one' || return 1
	ip link set one name lan0
	sleep 1
	echo 'deny = 192.0.2.1' >>"$work/conf"
	reloads 'deny: added 192.0.2.1' && "$SHIELD" status | grep '^lan0: protected'
	local ret=$?
	ip link set lan0 name one
	ip link property del dev one altname game0
	has_said "'game0' is gone" && stops '' && [ "$ret" = 0 ] &&
		[ "$(grep -c 'protecting' "$work/log")" = 1 ]
}

denies() # NETWORK
{
	"$SHIELD" deny list | grep -qF "$1 "
}

# A reload that is not confirmed, and what is in force is not what it has changed.
goes_back_alone()
{
	state alone
	configure
	"$SHIELD" detach
	start || return 1
	configure 'deny = 192.0.2.1'
	reloads 'deny: added 192.0.2.1' || return
	# Nothing is changed: the previous configuration stays where it is.
	typed '' 3 && grep 'nothing changed' "$work/said" &&
		! grep 'unless you press Enter' "$work/said" && denies 192.0.2.1 || return
	# Another reload comes.
	configure 'deny = 192.0.2.2'
	meanwhile "$SHIELD" reload -c "$work/conf" --set deny=192.0.2.3 &&
		grep 'not undone: another reload' "$work/said" && denies 192.0.2.3 || return
	# The daemon ends.
	configure 'deny = 192.0.2.4'
	meanwhile stops '' && grep 'deny: added 192.0.2.3' "$work/said" && denies 192.0.2.3 &&
		! denies 192.0.2.4 || return
	rm /run/quakeshield/in-force-*.conf
	typed '' 1
	grep 'nothing is reloaded' "$work/said" && ! denies 192.0.2.4
}

# A reload that is not confirmed is undone, also if the daemon cannot write what is in force.
goes_back_unwritten()
{
	local fresh

	state unwritten
	configure
	"$SHIELD" detach
	start || return 1
	fresh=$(echo /run/quakeshield/in-force-*.conf).new
	mkdir "$fresh" && configure 'deny = 192.0.2.5' || return
	typed '' 6
	grep 'unless you press Enter' "$work/said" && grep 'undone by the daemon' "$work/said" &&
		! denies 192.0.2.5 || return
	rmdir "$fresh" && stops ''
}

check "on-exit = detach ends well, and who is known is kept" detaches
check "a full disk: one complaint, and nothing torn" full_disk
check "garbage in every file" garbage_files
check "directories in the place of files" directories
check "a start that fails leaves what is in force" late_failure
check "two names of one interface" two_names
check "another name of an interface" another_name
check "two daemons" two_daemons
check "two daemons that share no /run" two_with_a_run_each /sys/fs/bpf/quakeshield
check "two daemons that share no /run, with --pin" two_with_a_run_each \
	/sys/fs/bpf/own --pin /sys/fs/bpf/own
check "a daemon of another network namespace" another_network_namespace
check "no umask: nobody else may write to its files" without_umask
if command -v script >/dev/null; then
	check "a reload goes back when told to, and unless confirmed" goes_back
	check "a reload that is not confirmed takes back its own changes alone" goes_back_alone
	check "a reload that cannot be written down goes back" goes_back_unwritten
else
	echo "skip a reload goes back when told to, and unless confirmed: no script(1)"
fi
check "pins in a directory of somebody else's" others_directories
check "detach fails where others may write to the pins" shared_directory
exit $failed
