# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# player.sh - a real client in a game, and what it gets from its server while that is
# flooded; sourced after server.sh by the tests that start one.
#
# shellcheck disable=SC2034,SC2154 # shared with those who source this
# Who sources this sets SEQUENCE to how the game's datagrams count: `little` (Quake III:
# the first 4 bytes) or `big` (NetQuake: unreliable datagrams have a count of their own).
# FIGURES=1 adds the runs that no check needs, for who compares: no flood, no shield.

EACH=${EACH:-6}
DISPLAY_NUMBER=:77
OPENARENA_CLIENT=${CLIENT:-/usr/games/openarena}
NEXUIZ_CLIENT=${NEXUIZ_CLIENT:-/usr/games/nexuiz}
OWN_SEQUENCE=7 # of forged datagrams: see floodgen's netchan
PLAYER=alice       # who plays,
PLAYER_HOME=client # and where below $work that one has a home, and a log with .log

# A screen that nobody sees, in a directory of our own; its socket is a file, so that
# clients in other networks can use it.
player_screen()
{
	mkdir -p /tmp/.X11-unix
	mount -t tmpfs screens /tmp/.X11-unix
	Xvfb $DISPLAY_NUMBER -screen 0 640x480x24 -nolisten tcp -nolock -ac \
		>"$work/xvfb.log" 2>&1 &
	net_until 10 test -e /tmp/.X11-unix/X77
}

# player_run COMMAND...: as the one who plays; its console is a pipe that stays open.
player_run()
{
	mkdir -p "$work/$PLAYER_HOME"
	chown nobody "$work/$PLAYER_HOME"
	[ -p "$work/keys" ] || mkfifo "$work/keys"
	exec 8<>"$work/keys"
	# shellcheck disable=SC2086
	nsenter --net=/run/netns/client $PIN setpriv --reuid=nobody --regid=nogroup --clear-groups \
		env HOME="$work/$PLAYER_HOME" DISPLAY=$DISPLAY_NUMBER LIBGL_ALWAYS_SOFTWARE=1 \
		"$@" <&8 >"$work/$PLAYER_HOME.log" 2>&1 &
	client_pid=$!
}

player_openarena()
{
	player_run "$OPENARENA_CLIENT" +set r_fullscreen 0 +set r_mode -1 \
		+set r_customwidth 160 +set r_customheight 120 +set com_maxfps 30 \
		+set com_introplayed 1 +set s_initsound 0 +set in_nograb 1 \
		+set net_enabled 1 +set name "$PLAYER" +connect "$NET_SERVER:$NET_PORT"
}

player_nexuiz()
{
	player_run "$NEXUIZ_CLIENT" -userdir "$work/$PLAYER_HOME" -nosound +vid_width 160 \
		+vid_height 120 +vid_fullscreen 0 +cl_maxfps 30 +_cl_name "$PLAYER" \
		+connect "$NET_SERVER:$NET_PORT"
}

# to_compare COMMAND...: only for who wants all figures.
to_compare()
{
	[ -z "${FIGURES-}" ] || "$@"
}

# Servers send 20 or 30 snapshots a second to who is in the game.
player_in_game()
{
	snapshots 1 >"$work/now"
	[ "$(cut -d' ' -f1 "$work/now")" -ge 15 ]
}

# sequences FILE: of the game's datagrams in a capture, as counts say: how many whole
# messages there are, how many between the first and the last are missing, to which port,
# and how many came in 100 seconds. Forged ones have a count of long ago.
sequences()
{
	tshark -n -r "$1" -T fields -e udp.dstport -e udp.payload -e frame.time_epoch \
		2>/dev/null | awk -v order="$SEQUENCE" -v forged=$OWN_SEQUENCE '
		function byte(at) {
			return (index(hex, substr($2, at, 1)) - 1) * 16 + \
				index(hex, substr($2, at + 1, 1)) - 1
		}
		function little() {
			return byte(1) + 256 * (byte(3) + 256 * (byte(5) + 256 * (byte(7) % 128)))
		}
		function big() {
			return byte(15) + 256 * (byte(13) + 256 * (byte(11) + 256 * byte(9)))
		}
		BEGIN { hex = "0123456789abcdef" }
		substr($2, 1, 8) == "ffffffff" { next }
		order == "big" && substr($2, 1, 4) != "0010" { next }
		{
			sequence = order == "big" ? big() : little()
			if (sequence == forged)
				next
			port = $1
			if (!count)
				start = $3
			end = $3
			if (sequence in seen)
				next
			seen[sequence] = 1
			if (!count++ || sequence < first)
				first = sequence
			if (sequence > last)
				last = sequence
		}
		END {
			rate = end > start ? (count - 1) / (end - start) : 0
			print count + 0, count ? last - first + 1 - count : 0, port + 0, int(rate * 100)
		}'
}

# snapshots SECONDS [tcpdump arguments]: what came from the server to the client.
snapshots()
{
	net_in client timeout "$1" tcpdump --immediate-mode -U -n -i cli0 -w "$work/client.pcap" -B 8192 \
		"${@:2}" "udp and src host $NET_SERVER and src port $NET_PORT" 2>/dev/null
	sequences "$work/client.pcap"
}

# moves_start: capture what comes from the client to the server, behind any shield, until
# $ears is killed.
moves_start()
{
	rm -f "$work/server.pcap"
	nsenter --net=/run/netns/server tcpdump --immediate-mode -U -n -i srv0 \
		-w "$work/server.pcap" -B 8192 \
		"udp and src host $NET_CLIENT and dst port $NET_PORT" 2>/dev/null &
	ears=$!
	net_until 10 test -s "$work/server.pcap"
}

# Count what the server's sockets send to the client, before any shield has seen it.
player_counter()
{
	net_in server nft -f - <<-RULES
	table ip player {
		counter sent { }
		chain out {
			type filter hook output priority 0;
			ip daddr $NET_CLIENT udp sport $NET_PORT counter name sent
		}
	}
	RULES
}

player_sent()
{
	net_in server nft list counter ip player sent | awk '/packets/ { print $2 }'
}

# Count those that have not come out of the server's link: at least so many, and at most. The
# two are equal at a moment at which it sends none.
player_missing()
{
	local sent out after _

	after=$(player_sent)
	for _ in {1..5}; do
		sent=$after
		out=$(net_count client packets)
		after=$(player_sent)
		[ "$sent" != "$after" ] || break
	done
	echo $((sent - out)) $((after - out))
}

link_packets()
{
	net_in server ip -s -json link show srv0 | jq '.[0].stats64.rx.packets'
}

link_busy() # PACKETS
{
	[ "$(link_packets)" -gt "$1" ]
}

# flood_start [floodgen arguments]: in the background until flood_end, or for two minutes;
# returns when it arrives. $flood is its process.
flood_start()
{
	local before

	before=$(link_packets)
	# shellcheck disable=SC2086
	net_flood_start "$work/flood.json" $PIN_FLOOD --seconds 120 "$@"
	net_until 10 link_busy $((before + 20000))
}

# flood_end NAME: its report goes to $work/NAME.flood.
flood_end()
{
	kill "$flood" 2>/dev/null
	wait "$flood"
	cp "$work/flood.json" "$work/$1.flood"
}

# What the server's sockets were given so far, and what found them full.
socket_counts()
{
	net_in server cat /proc/net/snmp | awk '/^Udp: [0-9]/ { print $2, $6 }'
}

# measure NAME [floodgen arguments]: one run, of 20 snapshots for each of EACH seconds, however
# long they take to come. The line of sequences is in $work/NAME, that of moves in
# $work/NAME.moves, and $work/NAME.missing has how many datagrams of the server's have not left
# its link, at least. A server whose socket is full does not hear its players: in the same
# proportion as everybody else.
measure()
{
	local name=$1 flood='' ears before missing least most _
	local EACH=${EACH:-2}

	shift
	[ $# = 0 ] || flood_start "$@"
	before=$(socket_counts)
	moves_start
	read -r _ most < <(player_missing)
	snapshots $((EACH * 6)) -c $((EACH * 20)) >"$work/$name"
	read -r least _ < <(player_missing)
	missing=$((least > most ? least - most : 0))
	echo "$missing" >"$work/$name.missing"
	kill "$ears"
	wait "$ears"
	sequences "$work/server.pcap" >"$work/$name.moves"
	[ -z "$flood" ] || flood_end "$name"
	paste -d' ' "$work/$name" "$work/$name.moves" - - <<<"$before"$'\n'"$(socket_counts)" |
		awk -v name="$name" '{
			heard = $11 - $9
			missed = $12 - $10
			printf "# %-12s %d snapshots, %d lost, %.2f a second; %d moves, %d lost",
				name, $1, $2, $4 / 100, $5, $6
			printf ", %.1f %% at a full socket",
				heard + missed ? 100 * missed / (heard + missed) : 0
		}'
	printf ', %d not out' "$missing"
	[ -z "$flood" ] || printf ', flood %s/s' "$(jq .pps "$work/flood.json")"
	echo
}

control_on()
{
	net_in server ip link set srv0 xdp obj "$BUILD/tests/lab/control.bpf.o" sec xdp
}

control_off()
{
	net_in server ip link set srv0 xdp off
}

# as_good NAME: no more lost than under control, give or take one in a hundred or one, and no
# more that the server has sent have stayed behind. How many it sends in a second is its
# processor's affair. The floods were strong.
as_good()
{
	local count lost base_count base_lost missing base_missing some

	read -r count lost _ <"$work/$1"
	read -r base_count base_lost _ <"$work/control"
	read -r missing <"$work/$1.missing"
	read -r base_missing <"$work/control.missing"
	some=$((count < 100 ? 1 : count / 100))
	{ [ ! -e "$work/$1.flood" ] || net_strong "$work/$1.flood"; } &&
		net_strong "$work/control.flood" &&
		[ "$count" -gt "$EACH" ] && [ "$base_count" -gt "$EACH" ] &&
		[ "$lost" -le $((base_lost + some)) ] &&
		[ "$missing" -le $((base_missing + some)) ]
}

# moves_as_good NAME: of the moves that the client numbered, a tenth more than in the control
# run may be missing, and one. How many it sends is its processor's affair.
moves_as_good()
{
	local count lost base_lost

	read -r count lost _ <"$work/$1.moves"
	read -r _ base_lost _ <"$work/control.moves"
	[ "$count" -gt $((EACH / 2)) ] && [ "$lost" -le $((base_lost + count / 10 + 1)) ]
}

kept_in_game()
{
	kill -0 "$client_pid" && [ "$(net_in server "$SHIELD" stats --json | jq '.services[0].players')" -ge 1 ]
}

four_million() # NAME PAYLOAD [floodgen arguments]
{
	measure "$1" --payload "$2" --from "$NET_FLOOD" --sources "$NET_SOURCES" "${@:3}"
}

# The flood that a bare XDP_DROP drops.
control() # PAYLOAD
{
	control_on
	four_million control "$1" --port 9
	control_off
}

# under NAME CHECK PAYLOAD [floodgen arguments]: one flood behind the shield, judged by the
# control run. On a machine that has got busier since, both are run once more.
under()
{
	local name=$1 check=$2 payload=$3

	shift 3
	measure "$name" "$@"
	if ! as_good "$name"; then
		echo "# once more, with its control"
		shield_away TERM
		control "$payload"
		shield_start || return
		[ "$name" = attached ] || sleep "$EACH"
		measure "$name" "$@"
	fi
	net_check "$check: as good as control" as_good "$name"
}

# player_floods PAYLOAD FORGED...: a client is in the game, no shield is up. Without a
# flood, briefly unless to compare; with one that a bare XDP_DROP drops; then behind the shield, attached in the
# middle of the game with no state: by 4 million sources, in the player's own name from a
# port that is not its, and from its own. FORGED: floodgen's words for the latter two.
player_floods()
{
	local payload=$1 port

	shift
	player_counter
	EACH=${FIGURES:+$EACH} measure none
	port=$(cut -d' ' -f3 "$work/none")
	control "$payload"
	shield_start || return
	under attached "attached in the game" "$payload"
	under millions "4 million sources" "$payload" --payload "$payload" \
		--from "$NET_FLOOD" --sources "$NET_SOURCES"
	under own-address "own address, guessed port" "$payload" "$@" \
		--victim "$NET_CLIENT" --source-port $((port ^ 1))
	under own-port "own address and port" "$payload" "$@" \
		--victim "$NET_CLIENT" --source-port "$port"
	net_check "the player is known" kept_in_game
}

shield_away() # SIGNAL
{
	shield_stop "$1"
	net_in server "$SHIELD" detach >/dev/null
}
