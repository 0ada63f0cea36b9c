#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# attack_local.sh - somebody with an account on the machine, and no privilege, against the
# daemon: its files, pins, locks and sockets, its pages over HTTP, and whoever reads with
# its commands what came over the wire. The daemon is started as carelessly as can be:
# without an umask, on a BPF file system that anybody may write to.
set -u

SERVER=standin PROTOCOL=quake3
# shellcheck source=tests/attack/common.sh
. "$(dirname "$0")/common.sh"

RUN=/run/quakeshield
PINS=/sys/fs/bpf/quakeshield
PORT=9127
SLOW=200
PASSWORD=hunter2
# What a terminal obeys, or reads backwards: C0, DEL, U+009B, 9Bh itself, bidi controls,
# separators of lines, a byte order mark.
EVIL=1b5b324a07087f0dc29b324a9b324ae280aee281a6d89ce2808fe280a8efbbbf

as_user()
{
	net_in server setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

# The same in the background, so that $! is what runs there.
USER_RUNS='nsenter --net=/run/netns/server setpriv --reuid 65534 --regid 65534 --clear-groups'

# Of the commands on the input, one a line, how many the user gets done.
done_by_user()
{
	local line count=0

	while read -r line; do
		as_user timeout 5 sh -c "$line" </dev/null >/dev/null 2>&1 || continue
		echo "# done: $line" >&2
		count=$((count + 1))
	done
	echo "$count"
}

# Hex of a text in which @ stands for EVIL, and # for the password.
evil()
{
	printf '%b' "${1//#/$PASSWORD}" | xxd -p | tr -d '\n' | sed "s/40/$EVIL/g"
}

# Datagrams as somebody sends them who knows that they will be read.
evil_datagrams()
{
	local text port=6000

	for text in 'statusResponse\n\\sv_hostname\\@\\@\\x\n1 2 "@"\n' 'print\n@' 'print\n@\n' \
		'infoResponse\n\\hostname\\@' 'rcon # say @' 'rcon "#" @' 'getinfo @' \
		'getchallenge @' 'connect 28 1 2 "\\name\\@\\password\\#"\n' 'n@' '@' 'l@' \
		'connect 34 1 2 "\\name\\@\\password\\#\\rcon_password\\#"\n' \
		'connect "\\name\\@"' 'info\n@' 'connectResponse @'; do
		port=$((port + 1))
		echo "$NET_CLIENT $port ffffffff$(evil "$text")"
	done
	# NetQuake: CCREQ_RCON, CCREP_SERVER_INFO, and a message that prints.
	control 6101 "05$(evil '#\0@\0')"
	control 6102 "83$(evil '10.0.0.1:1\0@\0@\0')010803"
	echo "$NET_CLIENT 6103 $(printf '0009%04x00000000' $((10 + ${#EVIL} / 2)))08${EVIL}00"
}

# control PORT HEX: of NetQuake, its length in front.
control()
{
	echo "$NET_CLIENT $1 8000$(printf %04x $((4 + ${#2} / 2)))$2"
}

# How many characters in the files a terminal would obey.
obeyed()
{
	cat "$@" | LC_ALL=C grep -aoP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|(?<![\x80-\xff])[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xef\xbb\xbf' |
		wc -l
}

# How often the password stands in the files, as text or in hex.
told()
{
	cat "$@" | LC_ALL=C grep -aoi "$PASSWORD\|$(printf %s $PASSWORD | xxd -p)" | wc -l
}

config()
{
	SERVICE_MORE='cache = under-load' shield_config
	cat <<-CONFIG
	sample { one-in = 1 rate = 1000 }
	follow { first = 4 psk-identity = "lab" psk-file = "$work/key" }
	output { json = "$work/log/live.jsonl" pcapng = "$1" }
	CONFIG
}

# Before the daemon has ever run: who makes the directory of its pins could move them away.
before()
{
	keeps "directory for pins that the user has made first" \
		"$(done_by_user <<<"mkdir -m 777 $PINS")" -ge 1
	umask 0
	SHIELD_WAIT=5 shield_start >/dev/null 2>&1 && shield_stop TERM
	umask 022
	keeps "refusals that say why" \
		"$(grep -c "'$PINS' was made by another user" "$work/shield.log")" -ge 1
	keeps "directories of pins in one of the user's" \
		"$(find $PINS -mindepth 1 -maxdepth 1 | wc -l)" -le 0
	net_in server "$SHIELD" detach >/dev/null 2>&1
	rm -rf $PINS
	# Its page is the user's then; the daemon protects all the same.
	$USER_RUNS timeout 20 socat TCP-LISTEN:$PORT,bind=127.0.0.1,reuseaddr,fork /dev/null &
	squatter=$!
	net_until 5 as_user sh -c "ss -Hltn 'sport = :$PORT' | grep -q ."
	umask 0
	shield_start >/dev/null || exit 1
	umask 022
	keeps "protected, while the user has the daemon's port" "$(protected)" -ge 1
	kill "$squatter"
	wait "$squatter" 2>/dev/null
	kill -HUP "$shield_pid"
	net_until 5 page
}

protected()
{
	net_in server "$SHIELD" status --json | jq 'if .protected then 1 else 0 end'
}

page()
{
	net_in server curl -sf --max-time 1 -o /dev/null "http://127.0.0.1:$PORT/health"
}

# Samples, an attack, its capture, and what is kept of it.
fill()
{
	evil_datagrams >"$work/evil"
	tcpdump --immediate-mode -U -n -i up0 -w "$work/evil.pcap" \
		"udp and src host $NET_CLIENT" 2>/dev/null &
	dump=$!
	net_until 5 test -s "$work/evil.pcap"
	forge 20 <"$work/evil"
	sleep 0.3
	kill "$dump"
	wait "$dump"
	net_flood --payload getstatus --from "$NET_FLOOD" --sources 1000 --rate 2000 --seconds 3 \
		>/dev/null
	net_until 8 test -e "$RUN/attacks.json"
}

reading()
{
	keeps "of two pages that everybody may read, read" "$(done_by_user <<-TRIES
		cat $RUN/players.json
		curl -sf http://127.0.0.1:$PORT/health
	TRIES
	)" -ge 2
	keeps "captures of the attack" "$(find "$STATE_DIRECTORY/captures" -name '*.pcapng' | wc -l)" -ge 1
	keeps "secrets that the user reads" "$(done_by_user <<-TRIES
		cat $work/key
		cat $RUN/daemon-*.pid
		cat $STATE_DIRECTORY/attacks.jsonl
		cat $STATE_DIRECTORY/known-clients.txt
		ls $STATE_DIRECTORY/captures
		cat $STATE_DIRECTORY/captures/*
		cat $work/log/live.jsonl
		cat $work/log/live.pcapng
		ls $RUN/on-attack
		timeout 1 socat -u UNIX-CONNECT:$work/log/live.sock - | grep -q .
		cat /proc/$shield_pid/mem
		cat /proc/$shield_pid/maps
		cat /proc/$shield_pid/environ
		ls /proc/$shield_pid/fd/
		ls /proc/$shield_pid/root/
		curl -sf -H 'Host: evil.example' http://127.0.0.1:$PORT/stats.json
		$work/quakeshield stats
		$work/quakeshield status
		$work/quakeshield allow list
		$work/quakeshield attacks
		$work/quakeshield top --once
	TRIES
	)" -le 0
}

writing()
{
	local name

	keeps "files that the user makes, moves, replaces or removes" "$({
		for name in $RUN/players.json $RUN/attacks.json $RUN/players.json.new \
			$RUN/on-attack $RUN/on-attack/x.json $RUN/daemon-x.pid \
			"$STATE_DIRECTORY/known-clients.txt" "$STATE_DIRECTORY/known-clients.txt.new" \
			"$STATE_DIRECTORY/attacks.jsonl" "$STATE_DIRECTORY/history.jsonl" \
			"$STATE_DIRECTORY/captures/x.pcapng" "$work/log/live.jsonl" \
			"$work/log/live.sock"; do
			echo "ln -sfn $work/key $name"
			echo "rm -f $name && mkfifo $name"
			echo "mv $name $name.away"
			echo "echo >>$name"
			echo "chmod 666 $name"
		done
	} | done_by_user)" -le 0
	keeps "files of the daemon's that others may write to" \
		"$(find $RUN "$STATE_DIRECTORY" "$work/log" ! -type l ! -type s -perm /022 | wc -l)" -le 0
}

kernel()
{
	local before after

	before=$(net_in server "$SHIELD" status --json | jq -c '.interfaces')
	keeps "pins, programs and links that the user reads, changes or takes off" "$(done_by_user <<-TRIES
		ls $PINS
		ls $PINS/*
		mv $PINS $PINS.away
		rm -r $PINS
		mkdir $PINS/x
		bpftool map dump pinned \$(echo $PINS/*/players)
		bpftool map show
		bpftool prog show
		bpftool link show
		bpftool net detach xdp dev srv0
		ip link set dev srv0 xdp off
		ip link set dev srv0 xdpgeneric off
		ip link set dev srv0 down
		tc qdisc del dev srv0 clsact
		unshare -Ur ls $PINS
		unshare -Ur bpftool prog show
		unshare -Ur ip link set dev srv0 xdp off
		$work/quakeshield allow add 10.9.9.9
		$work/quakeshield deny add $NET_CLIENT
		$work/quakeshield detach
		$work/quakeshield reload -c $work/shield.conf
		$work/quakeshield run -c $work/own.conf -i srv0 --pin /sys/fs/bpf/own --take-over
		$work/quakeshield load -c $work/own.conf --pin /sys/fs/bpf/own
		kill -HUP $shield_pid
		kill -KILL $shield_pid
	TRIES
	)" -le 0
	after=$(net_in server "$SHIELD" status --json | jq -c '.interfaces')
	keeps "interfaces whose shield is another now" "$([ "$before" = "$after" ]; echo $?)" -le 0
	rm -rf /sys/fs/bpf/own
}

# The user holds what it can of locks while the daemon ends and another begins.
locks()
{
	local holder began

	keeps "locks of the daemon's that the user can take" "$(done_by_user <<-TRIES
		flock -n $RUN/daemon-*.pid true
		flock -ns $RUN/daemon-*.pid true
		for i in $PINS/*; do flock -n \$i true || exit 1; done
		flock -n $PINS true
	TRIES
	)" -le 0
	# shellcheck disable=SC2016 # of the user's shell
	$USER_RUNS sh -c 'while :; do for f in '"$RUN/daemon-*.pid $PINS $PINS/*"'; do
		flock -n "$f" sleep 5 & done; sleep 0.05; done' >/dev/null 2>&1 &
	holder=$!
	shield_stop TERM
	config "|$work/log/live.fifo" >"$work/shield.conf"
	began=${EPOCHREALTIME/./}
	SHIELD_WAIT=20 shield_start >/dev/null
	keeps "ms until the next daemon protects" $(((${EPOCHREALTIME/./} - began) / 1000)) -le 20000
	keeps "and it does" "$(protected)" -ge 1
	kill "$holder"
	wait "$holder" 2>/dev/null
	keeps "what the last one has left, and the new one's output, that the user reads" "$(done_by_user <<-TRIES
		cat $STATE_DIRECTORY/known-clients.txt
		timeout 1 cat $work/log/live.fifo
	TRIES
	)" -le 0
	keeps "who is known, kept" "$(wc -l <"$STATE_DIRECTORY/known-clients.txt")" -ge 1
}

# Connections that never finish a request, and come again when they are sent away.
slow()
{
	local slowest=0 ms i crowd

	$USER_RUNS /usr/bin/python3 - $PORT $SLOW 9 <tests/lab/slow.py >"$work/slow" &
	crowd=$!
	sleep 2
	for i in 1 2 3; do
		ms=$(net_in server curl -s --max-time 20 -o /dev/null -w '%{http_code} %{time_total}' \
			"http://127.0.0.1:$PORT/health" | awk '{ print $1 == 200 ? int($2 * 1000) : 99999 }')
		echo "# $i: /health after $ms ms"
		[ "$ms" -le "$slowest" ] || slowest=$ms
	done
	keeps "ms until a page beside $SLOW connections that finish no request" "$slowest" -le 3000
	wait "$crowd"
	keeps "times that one of these was sent away" "$(cat "$work/slow")" -ge 100
}

# What is read by a person, on a terminal: nothing in it moves the cursor.
reads()
{
	local way name=$'evil\e]0;x\a\u009b2J\u202e'

	for way in '' -v --json '--json --hex' '-v --hex' --summary --lagometer '--lagometer --json'; do
		# shellcheck disable=SC2086
		"$SHIELD" decode $way "$work/evil.pcap" >"$work/read.${way// /}" 2>&1
		# shellcheck disable=SC2086
		"$SHIELD" decode $way --show-secrets "$work/evil.pcap" >"$work/secret.${way// /}" 2>&1
	done
	cp "$work/evil.pcap" "$work/$name"
	{
		"$SHIELD" decode "$work/$name" "$work/$name.none" "$work/${name}2"
		"$SHIELD" check -c "$work/$name.none"
		"$SHIELD" decode --protocol "$name" x
		"$SHIELD" "$name"
		"$SHIELD" deny add "$name"
	} >/dev/null 2>"$work/messages"
	net_in server "$SHIELD" top --once >"$work/screen" 2>&1
	net_in server "$SHIELD" attacks >>"$work/screen" 2>&1
	net_in server "$SHIELD" status >>"$work/screen" 2>&1
	keeps "characters of the datagrams that a terminal obeys" "$(obeyed "$work/evil.pcap")" -ge 200
	keeps "of these in what decode shows" "$(obeyed "$work"/read.* "$work"/secret.*)" -le 0
	keeps "there by their numbers" "$(grep -ao 'u202e' "$work"/read.* | wc -l)" -ge 10
	keeps "messages that quote a name" "$(wc -l <"$work/messages")" -ge 5
	keeps "of these in them" "$(obeyed "$work/messages")" -le 0
	keeps "of these in top, attacks, status, log and lines" \
		"$(obeyed "$work/screen" "$work/shield.log" "$work/log/live.jsonl" "$RUN/players.json")" -le 0
	keeps "passwords that decode shows to who asks for them" "$(told "$work"/secret.*)" -ge 10
	keeps "and to who does not" "$(told "$work"/read.*)" -le 0
	keeps "passwords in the daemon's lines, log and state" \
		"$(told "$work/log/live.jsonl" "$work/shield.log" "$RUN"/*.json "$STATE_DIRECTORY"/*.jsonl)" -le 0
	keeps "lines of the daemon's about rcon" "$(grep -c '"kind":"rcon"' "$work/log/live.jsonl")" -ge 1
}

attack_needs socat tcpdump xxd curl bpftool tc unshare flock /usr/bin/python3
net_test_begin "$@"
mkdir -m 755 "$work/log" "$STATE_DIRECTORY"
install -m 755 "$SHIELD" "$work/quakeshield"
(umask 077 && echo 0011223344 >"$work/key")
echo "10.79.1.2 64 $(date +%s)" >"$STATE_DIRECTORY/known-clients.txt"
chmod 600 "$STATE_DIRECTORY/known-clients.txt"
config "unix:$work/log/live.sock" >"$work/shield.conf"
shield_config >"$work/own.conf"
chmod 644 "$work"/*.conf
server_start
before
fill
reading
writing
kernel
locks
slow
reads
exit "$net_failed"
