#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_tutorial.sh - run the blocks of docs/tutorial.md in the lab, in their order. A block
# `sh server` runs on the server and `sh client` on the client; `text shows` must be in the
# output of the block before it; `sh install` is left out (test_cli.sh installs). sudo and
# systemctl are stand-ins, eth0 is the lab's srv0, and 203.0.113.5 the lab's server.
# Afterwards each command of README, of docs/questions.md and of docs/howto/ runs once.
#
# lane: beside, 40 s: it starts the daemon twice.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

# The stand-ins, first in PATH, and an /etc of our own above the machine's.
stand_ins()
{
	mkdir "$work/bin" /run/etc /run/etc.work # on net_up's own file system
	mount -t overlay etc -o lowerdir=/etc,upperdir=/run/etc,workdir=/run/etc.work /etc ||
		net_die "no overlay over /etc"
	rm -f /etc/quakeshield.conf
	ln -s "$SHIELD" "$work/bin/quakeshield"
	printf '#!/bin/sh\nexec "$@"\n' >"$work/bin/sudo"
	cat >"$work/bin/systemctl" <<-'END'
	#!/bin/bash
	case $1 in
	enable)
		setsid quakeshield run >/run/daemon.log 2>&1 </dev/null &
		echo $! >/run/daemon.pid
		for _ in {1..100}; do
			quakeshield status >/dev/null 2>&1 && exit
			sleep 0.1
		done
		cat /run/daemon.log >&2
		exit 1 ;;
	disable)
		kill "$(</run/daemon.pid)" ;;
	esac
	END
	chmod +x "$work/bin/sudo" "$work/bin/systemctl"
	PATH=$work/bin:$PATH
}

# Write the blocks to $work/block.N, and print "N INFO" of each.
blocks()
{
	awk -v to="$work/block." '
		/^```./ { info = substr($0, 4); n++; print n, info; next }
		/^```/ { info = ""; next }
		info { print >(to n) }' docs/tutorial.md
	sed -i "s/eth0/srv0/g; s/203\.0\.113\.5/$NET_SERVER/g" "$work"/block.*
}

block_runs() # N WHERE
{
	before=$(net_received)
	net_in "$2" bash -eu "$work/block.$1" >"$work/output" 2>&1 </dev/null || {
		sed 's/^/# /' "$work/output" >&2
		return 1
	}
}

block_shows() # N
{
	grep -qFf "$work/block.$1" "$work/output" || {
		sed 's/^/# /' "$work/output" >&2
		return 1
	}
}

# Print the commands of the other pages, each once, in their order, those that end the shield last.
# Left out are another daemon beside this one, and what lacks a file or has optional words.
commands()
{
	local pages='README.md docs/questions.md docs/howto/*.md'

	# shellcheck disable=SC2016,SC2086
	grep -ohP '(^ +(sudo |# )?|`)\Kquakeshield [a-z][^`#]*' $pages |
		sed "s/ *$//; s/ADDRESS/10.79.1.2/; s/eth1/srv0/; s/dm_68/urtdemo/" |
		awk '/\[|\\$|^quakeshield (on-attack|run|load)|^quakeshield (decode|replay)$/ || seen[$0]++ { next }
			/ detach/ { last = last $0 "\n"; next }
			{ print }
			END { printf "%s", last }'
}

# On a terminal, by bash (script takes $SHELL, or sh, which has no pipefail), with one Enter as input.
# Exit status 5 is an answer, and 124 the end of a command that goes on until interrupted. A trial is
# given two seconds.
command_runs() # COMMAND
{
	local status seconds=40 command=$1

	case $1 in
	*' watch '* | *' top') seconds=3 ;;
	*' reload --trial '*) command="${1%% --for *} --for 2s" ;;
	esac
	(cd "$work/pages" && SHELL=/bin/bash TERM=xterm net_in server timeout "$seconds" \
		script -qec "set -o pipefail; $command" /dev/null) >"$work/output" 2>&1 <<<''
	status=$?
	case $seconds:$status in
	*:0 | *:5 | 3:124) return ;;
	esac
	sed 's/^/# /' "$work/output" | cut -c1-160 | tail -n 5 >&2
	echo "# status $status" >&2
	return 1
}

# The files that the commands name.
pages_directory()
{
	mkdir "$work/pages"
	cp tests/data/q3/quake3-session-71.pcap "$work/pages/evening.pcap"
	cp "$work/pages/evening.pcap" "$work/pages/game.pcap"
	cp tests/data/q3/urbanterror.urtdemo "$work/pages/demo.urtdemo"
	cp /etc/quakeshield.conf "$work/pages/stricter.conf"
}

net_test_begin "$@"
server_start
stand_ins
floods=0
blocks >"$work/blocks"
while read -r n info; do
	case $info in
	'sh server')
		net_check "block $n runs on the server" block_runs "$n" server ;;
	'sh client')
		net_check "block $n runs on the client" block_runs "$n" client
		floods=$((floods + 1))
		if [ "$floods" = 1 ]; then
			net_check "observed: all of the flood arrives" \
				net_until 5 net_has_received $((before + 60))
		else
			sleep 0.5 # what the server has not read yet
			net_check "enforced: little of it does" [ $(($(net_received) - before)) -le 20 ]
		fi ;;
	'text shows')
		net_check "block $n is in the output before it" block_shows "$n" ;;
	esac
done <"$work/blocks"
net_check "two floods were tried" [ "$floods" = 2 ]
net_check "no program is left" [ "$(net_in server ip -json link show srv0 | jq '.[0].xdp')" = null ]

pages_directory
net_in server systemctl enable >"$work/output" 2>&1
echo 'deny = {"198.51.100.0/24"}' >>/etc/quakeshield.conf # for reload, to list and to undo
ran=0
while read -r command <&3; do
	net_check "$command" command_runs "$command"
	ran=$((ran + 1))
done 3< <(commands)
net_check "30 commands were tried or more" [ "$ran" -ge 30 ]
exit "$net_failed"
