#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_live_status.sh - two real QuakeWorld clients in a game on mvdsv, and a Nexuiz client
# in a game of NetQuake's own protocol: what players.json, the daemon's page, `top`, the
# JSON lines and `decode --lagometer` say of them is what the servers' own `status` says.
#
#   LIVE_S=60 tests/net/net_live_status.sh     how long; docs/SAMPLES.md has such a minute
#
# First over a line that loses nothing, then over one that loses one in twenty of what
# the players send: both servers say how much that was, as far as they have noticed.
#
# lane: beside, 45 s: it compares what several places say of the same game.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
SCHEMA=$(realpath tests/json_schema.py)
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=mvdsv PROTOCOL=quakeworld
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh
# shellcheck source=tests/lab/player.sh
. tests/lab/player.sh
# shellcheck source=tests/lab/quakeworld.sh
. tests/lab/quakeworld.sh

LIVE_S=${LIVE_S:-3}
LOST_EACH=20
PING_SLACK=60 # ms, and half of the larger: a starved client has few
players=/run/quakeshield/players.json
http=http://127.0.0.1:9127/players.json

live_config()
{
	cat <<-CONFIG
	service "quakeworld" { protocol = quakeworld port = 27500 }
	service "netquake" { protocol = netquake port = 26000 }
	follow { first = 8 }
	output {
	    json   = "$work/live.jsonl"
	    pcapng = "$work/live.pcapng"
	}
	CONFIG
}

# Two servers, whose consoles are 7 and 9 here; each has its log.
servers_start()
{
	mvdsv_start || { tail -5 "$work/server.log" >&2; net_die "mvdsv does not answer"; }
	exec 7>&9
	mv "$work/console" "$work/mvdsv.console"
	mv "$work/server.log" "$work/mvdsv.log"
	PROTOCOL=netquake SERVER=nexuiz
	server_defaults
	server_start +sv_protocolname QUAKE
}

# join_game NAME: the screen is there.
join_game()
{
	PLAYER=$1 PLAYER_HOME=$1
	case $1 in
	carol) NET_PORT=26000 && player_nexuiz ;;
	*) NET_PORT=27500 && player_ezquake ;;
	esac
}

# Each is named on the right map, with a ping of its own: by us, and by its server.
all_play()
{
	jq -e '[.players[] | select(.ping_ms and .ping_ms < 400 and .packets_per_s > 0)
		| [.service, .name, .map]] | sort == [["netquake", "carol", "bloodprison"],
		["quakeworld", "alice", "lqdm11"], ["quakeworld", "bob", "lqdm11"]]' "$players" &&
		status_read && [ "$(awk '$2 > 0 && $2 < 400' "$work/status" | wc -l)" = 3 ]
}

# NAME PING MAP, a line each, into $work/status: what the servers say on their consoles.
# mvdsv knows a map only where browsers ask.
status_read()
{
	local qw nq

	qw=$(($(wc -l <"$work/mvdsv.log") + 1)) nq=$(($(wc -l <"$work/server.log") + 1))
	echo status >&7
	echo status 1 >&9
	net_until 3 status_is_whole "$qw" "$nq" || return
	{
		tail -n "+$qw" "$work/mvdsv.log" | awk -v map="$(map_told)" '
			$3 ~ /^(alice|bob)$/ { print $3, $4, map }'
		tail -n "+$nq" "$work/server.log" | sed 's/\x1b\[[0-9;]*m//g' | awk '
			$1 == "map:" { map = $2 }
			$NF == "carol" && $1 ~ /:/ { print "carol", $3, map, $2 }'
	} >"$work/status"
}

status_is_whole() # LINE OF mvdsv LINE OF nexuiz
{
	[ "$(tail -n "+$1" "$work/mvdsv.log" | grep -cE '] (alice|bob) ')" = 2 ] &&
		tail -n "+$2" "$work/server.log" | grep -q '#1 .*carol'
}

map_told()
{
	# shellcheck disable=SC2016 # for the other shell
	net_in server timeout 2 bash -c 'exec 3<>/dev/udp/127.0.0.1/27500
		printf "\xff\xff\xff\xffstatus 1\n" >&3; dd bs=4096 count=1 <&3 2>/dev/null' |
		tr -d '\377\0' | sed -n 's/.*\\map\\\([^\]*\).*/\1/p'
}

# NAME PING MAP of FILE.
rows() # FILE
{
	jq -r '.players[] | "\(.name) \(.ping_ms // 9999) \(.map)"' "$1"
}

# One look: ours, the page's and theirs, as NAME OURS PAGE THEIRS OUR-MAP THEIR-MAP.
look()
{
	rows "$players" | sort >"$work/ours"
	net_in server curl -sS --max-time 5 "$http" >"$work/page.json"
	rows "$work/page.json" | sort >"$work/page"
	status_read || return
	sort "$work/status" | join - "$work/ours" | join - "$work/page" |
		awk 'NF >= 7 { n = NF; print $1, $(n - 3), $(n - 1), $2, $(n - 2), $3 }'
}

looks()
{
	local i

	for ((i = 0; i < LIVE_S; i++)); do
		look
		sleep 0.4
	done >"$work/looks"
	awk '$2 < 9999 && $3 < 9999 && $4 < 999 {
		ours[$1] += $2; page[$1] += $3; theirs[$1] += $4; n[$1]++
		far = $2 > $4 ? $2 - $4 : $4 - $2
		if (far > most[$1])
			most[$1] = far
	} END {
		for (who in n)
			printf "# %s: %d looks; ping %.1f in players.json, %.1f on the page, %.1f by the server; furthest apart %d\n",
				who, n[who], ours[who] / n[who], page[who] / n[who], theirs[who] / n[who], most[who]
	}' "$work/looks"
}

# In every look all three, on the maps that the servers say.
maps_agree()
{
	awk '$5 != $6 { bad = 1 } { n[$1]++ }
		END { exit bad || length(n) != 3 || n["alice"] < 2 || n["bob"] < 2 || n["carol"] < 2 }' \
		"$work/looks"
}

# pings_agree NAME COLUMN: on an average of the looks that know one; a server's own figure
# is a mean of some of the last messages, as ours is of others.
pings_agree()
{
	awk -v name="$1" -v at="$2" -v slack="$PING_SLACK" '
		$1 == name && $at < 9999 && $4 < 999 { ours += $at; theirs += $4; n++ }
		END {
			far = ours > theirs ? ours - theirs : theirs - ours
			exit !n || far / n > slack + (ours > theirs ? ours : theirs) / n / 2
		}' "$work/looks"
}

top_counts()
{
	net_in server env LINES=24 "$SHIELD" top --once >"$work/top"
	grep -Eq '^[> ]quakeworld +quakeworld +2 ' "$work/top" &&
		grep -Eq '^[> ]netquake +netquake +1 ' "$work/top"
}

# --- a line that loses -------------------------------------------------------------

# One in LOST_EACH, counted: of what the players of each game send, and what they are sent.
losing()
{
	nft -f - <<-RULES
	table netdev losing {
		counter c2s_quakeworld { }
		counter c2s_netquake { }
		counter s2c_quakeworld { }
		chain from_clients {
			type filter hook ingress device hub0 priority 0;
			udp dport 27500 numgen inc mod $LOST_EACH == 7 counter name c2s_quakeworld drop
			udp dport 26000 numgen inc mod $LOST_EACH == 7 counter name c2s_netquake drop
		}
		chain from_servers {
			type filter hook ingress device up0 priority 1;
			udp sport 27500 numgen inc mod $LOST_EACH == 7 counter name s2c_quakeworld drop
		}
	}
	RULES
}

lossless()
{
	nft flush chain netdev losing from_clients
	nft flush chain netdev losing from_servers
}

taken_away() # COUNTER
{
	nft --json list counter netdev losing "$1" | jq '.nftables[] | select(.counter) | .counter.packets'
}

# figures SERVICE JQ: the sum over its players.
figures()
{
	jq --arg service "$1" "[.players[] | select(.service == \$service) | $2] | add" "$players"
}

# Each that was taken away is missed, and no other; a NetQuake client may be on its way out.
c2s_agrees() # SERVICE
{
	local ours theirs

	ours=$(figures "$1" .c2s.lost) theirs=$(taken_away "c2s_$1")
	echo "# $1: of the clients' datagrams $theirs were taken away, $ours are missed" >&2
	[ "$ours" -le "$theirs" ] && [ "$ours" -ge $((theirs - 2)) ]
}

# By acknowledgements alone: who says little leaves some unsure.
s2c_agrees()
{
	local ours theirs unsure

	ours=$(($(figures quakeworld .s2c.lost) - lost_before)) theirs=$(taken_away s2c_quakeworld)
	unsure=$(figures quakeworld .s2c.unknown)
	echo "# quakeworld: of the server's $theirs were taken away, $ours are missed, $unsure unsure" >&2
	[ "$ours" -le $((theirs + 1 + theirs / 5)) ] && [ $((ours + unsure)) -ge $((theirs - 3)) ]
}

# A client that gets no time from its machine may lose one itself.
no_loss_yet()
{
	lost_before=$(figures quakeworld .s2c.lost)
	[ "$(figures quakeworld .c2s.lost)" = 0 ] && [ "$(figures netquake .c2s.lost)" = 0 ] &&
		[ $((lost_before * 50)) -le "$(figures quakeworld .snapshots)" ]
}

# --- the same from what was written ---------------------------------------------------

# Of each game, how much was understood to the last bit; why not, where it was not.
decoded()
{
	jq -r 'select(.sampler == "follow" and .sequence) |
		[.service, .status, .reason // empty] | join(" ")' "$work/live.jsonl" | sort |
		uniq -c >"$work/statuses"
	sed 's/^ */# lines: /' "$work/statuses" >&2
	awk '{ all[$2] += $1 } $3 == "decoded" { whole[$2] += $1 } END {
		for (game in all)
			bad += whole[game] < all[game] * 0.99
		exit bad || all["quakeworld"] < 200 || all["netquake"] < 200 }' "$work/statuses"
}

# The capture's account is the daemon's, player by player.
account() # FILE: of players.json, or of `decode --lagometer --json`
{
	jq -S -c 'if .players then .players[] else . end | [.name, .map, .address, .port, .c2s.received,
		.c2s.lost, .snapshots, .s2c.received, .s2c.lost]' "$1" | sort
}

# Frames are Quake III's; nothing is dropped; and dialects are not in doubt.
players_as_schema()
{
	"$SCHEMA" players --all 'top_prefixes,players[].frames,players[].lag,decoded_by_service.*.players[].extrapolation' \
		<"$work/last.json" >&2
}

decoded_as_schema()
{
	"$SCHEMA" stats --all 'services[].cached_responses,services[].decoded.players[].extrapolation' \
		<"$work/stats.json" >&2
}

lines_as_schema()
{
	local unseen=reason,dialect_guess,untested,overflow,file,payload,plaintext,streams,trace

	"$SCHEMA" decode --all "$unseen" \
		<"$work/live.jsonl" >&2
}

capture_agrees()
{
	"$SHIELD" decode --lagometer --json "$work/live.pcapng" >"$work/lagometer.json" &&
		account "$work/last.json" >"$work/a" && account "$work/lagometer.json" >"$work/b" &&
		cmp "$work/a" "$work/b" && [ "$(wc -l <"$work/a")" = 3 ] && return
	diff "$work/a" "$work/b" | sed 's/^/# /' >&2
	return 1
}

lacking=$(mvdsv_lacks) && net_skip net_live_status "$lacking"
for tool in "$EZQUAKE" "$NEXUIZ_CLIENT" "$NEXUIZ" Xvfb curl; do
	command -v "$tool" >/dev/null || net_skip net_live_status "no $tool"
done
net_test_begin "$@"
servers_start
live_config >"$work/shield.conf"
shield_start >/dev/null || exit 1
player_screen
pids=()
for name in carol alice bob; do
	join_game "$name"
	pids+=("$client_pid")
done
net_until 60 all_play || {
	tail -n 3 "$work"/*.log >&2
	jq -c '.players[] | {name, map, ping_ms, packets_per_s}' "$players" >&2
	net_skip net_live_status "the clients did not get into their games"
}
net_check "no loss where there is none" no_loss_yet
looks
net_check "names and maps are the servers'" maps_agree
for name in alice bob carol; do
	net_check "ping of $name in players.json is the server's" pings_agree "$name" 2
	net_check "ping of $name on the page is the server's" pings_agree "$name" 3
done
net_check "top counts the players of each game" net_until 10 top_counts
losing
sleep $((LIVE_S > 3 ? LIVE_S / 2 : 3))
lossless
sleep 1.5 # what comes next shows what is missing, and the file is written each second
net_check "quakeworld: the clients' losses" c2s_agrees quakeworld
net_check "netquake: the client's losses" c2s_agrees netquake
net_check "quakeworld: losses on the way to the clients" s2c_agrees
status_read
echo "# by the servers, at last: $(paste -sd, "$work/status"); by us:" \
	"$(jq -c '[.players[] | [.name, .ping_ms, .c2s.loss, .s2c.loss]]' "$players")"
kill "${pids[@]}"
sleep 2.2 # nothing more is on its way
cp "$players" "$work/last.json"
net_in server "$SHIELD" stats --json >"$work/stats.json"
shield_stop TERM
net_check "players.json: its schema" players_as_schema
net_check "stats --json: its schema, with what was decoded" decoded_as_schema
net_check "lines of JSON: their schema" lines_as_schema
net_check "the games are decoded to the last bit" decoded
net_check "decode --lagometer of the capture has the same account" capture_agrees
exit "$net_failed"
