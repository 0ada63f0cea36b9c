# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# askers.sh - who is answered under a flood, layer by layer, in figures; sourced after
# net.sh and server.sh by net_answers.sh, whose arguments are described there.
#
# People ask once a second each, from sockets of their own: trackers who are known from
# before, their neighbours, a monitor that is allowed, newcomers whose browser answers
# `echo` (Urban Terror's, OpenJK's, old ioquake3's do), and newcomers who answer nothing
# but ask again (quakestat, OpenArena's own browser, newer ioquake3's). Nobody plays, so that
# what the server says is always the same and each reply can be held against it.
#
# shellcheck disable=SC2154 # of those who source this

# Of four addresses each: the number in 10.79.N.2, or 10.79.N.3 for a neighbour.
ASKERS_KNOWN='1 2 3 4' ASKERS_ALLOWED='5 6 7 8'
ASKERS_ECHOES='10 11 12 13' ASKERS_SILENT='14 15 16 17'

# After net_up.
askers_up()
{
	local i

	for i in $ASKERS_ECHOES $ASKERS_SILENT; do
		net_in client ip address add "10.79.$i.2/32" dev lo
		ip route add "10.79.$i.0/24" via "$NET_CLIENT"
	done
	for i in $ASKERS_KNOWN; do
		net_in client ip address add "10.79.$i.3/32" dev lo
	done
	# What leaves for anybody but the people: net.sh counts a part of these pools.
	nft -f - <<-RULES
	table netdev figures {
		counter flood { }
		counter asked { }
		chain from_server {
			type filter hook ingress device up0 priority -10;
			ip daddr { 10.77.0.0/16, 10.78.0.0/16, 10.79.0.0/16 } accept
			ip6 daddr { fd00:77::/32, fd00:78::/32 } accept
			meta protocol ip @th,64,64 0xffffffff6563686f counter name asked drop
			meta protocol ip6 @th,64,64 0xffffffff6563686f counter name asked drop
			meta protocol { ip, ip6 } counter name flood drop
		}
	}
	RULES
}

askers_config()
{
	local i

	printf 'allow = {'
	for i in $ASKERS_ALLOWED; do
		printf '"10.79.%s.2", ' "$i"
	done | sed 's/, $//'
	echo '}'
	shield_config
}

# They have asked on quiet days, and are one router away.
askers_known()
{
	local i

	mkdir -p "$STATE_DIRECTORY"
	for i in $ASKERS_KNOWN; do
		echo "10.79.$i.2 63 $(date +%s)"
	done >"$STATE_DIRECTORY/known-clients.txt"
}

# asker NAME SECONDS HOST "N..." CLIENT-ARGUMENTS
asker()
{
	local name=$1 seconds=$2 host=$3 from='' i

	for i in $4; do
		from="$from --from 10.79.$i.$host"
	done
	shift 4
	# shellcheck disable=SC2086
	nsenter --net=/run/netns/client $PIN "$LAB/client" --protocol "$DIALECT" \
		--to "$NET_SERVER" --port "$NET_PORT" --seconds $((seconds + 1)) --poll 4 \
		--json --log "$work/$name.log" $from "$@" >"$work/$name.json" &
	people="$people $!"
}

# Part of one processor, in per cent, that the server took since it had taken TICKS.
server_share() # TICKS SECONDS
{
	awk -v t=$(($(server_cpu) - $1)) -v s="$2" -v hz="$(getconf CLK_TCK)" \
		'BEGIN { printf "%.1f", 100 * t / hz / s }'
}

# flood_half PAYLOAD NAME: half of the rate, from the pool.
flood_half()
{
	local from to=$NET_SERVER sources

	case $POOL in
	v6) from=fd00:80::1 to=$NET_SERVER6 sources=$((1 << 24)) ;;
	24) from=10.0.0.0 sources=$((1 << 24)) ;;
	*)  from=10.128.0.0 sources=$((1 << POOL)) ;;
	esac
	# shellcheck disable=SC2086
	net_flood $PIN_FLOOD --payload "$1" --rate $((RATE / 2)) --to "$to" --from "$from" \
		--sources "$sources" --seconds "$SECONDS_EACH" >"$work/$2.json" 2>"$work/$2.err" &
	floods="$floods $!"
}

figures_count() # COUNTER FIELD
{
	nft --json list counter netdev figures "$1" |
		jq ".nftables[] | select(.counter) | .counter.$2"
}

# row NAME WORDS: asked, answered, of those from the fourth of an address on, alike.
row()
{
	awk -v words="$2" -v status="$own_status" -v info="$own_info" '
		{
			asked++
			late = $1 >= 12
			lates += late
			if ($3 == "-")
				next
			answered++
			answered_late += late
			alike += $3 == ($2 == "getstatus" ? status : info)
		}
		END {
			printf "%-38s %4d of %4d %5.1f %% %5.1f %%  %4d of %4d\n", words,
				answered, asked, asked ? 100 * answered / asked : 0,
				lates ? 100 * answered_late / lates : 0, alike, answered
		}' "$work/$1.log"
}

reasons_line()
{
	net_in server "$SHIELD" stats --json | jq -c '[.services[].counters[] |
		select(.direction == "in" and .verdict == "respond") |
		{key: .reason, value: .packets}] | group_by(.key) |
		map({key: .[0].key, value: (map(.value) | add)}) | from_entries'
}

figures_told()
{
	local sent bytes asked

	bytes=$(figures_count flood bytes) asked=$(figures_count asked bytes)
	# What one delivered is counted at a link that both share.
	sent=$(jq -s '[.[] | .pps] | add | floor' "$work"/flood?.json)
	printf '\n%s: %s, pool %s, %s a second of getstatus and getchallenge, %s s\n' "$GAME" \
		"$([ -n "${BARE-}" ] && echo 'no shield' || echo 'with the shield')" \
		"$POOL" "$sent" "$SECONDS_EACH"
	printf '%-38s %12s %7s %7s  %12s\n' '' answered '' "from 4th" "as the server"
	row known 'known from before'
	row network 'in a network of one'
	row allowed 'allowed'
	row echoes 'new, answers echo'
	row silent 'new, asks again'
	echo "bytes a second to the flood's: $((bytes / SECONDS_EACH)), questions for proof" \
		"that are no echo included (echo: $((asked / SECONDS_EACH)))"
	echo "server's processor: $idle % idle, $busy % under the flood"
	[ -n "${BARE-}" ] || reasons_line
}

# All of it: the server runs, and the shield unless BARE.
figures()
{
	local people='' floods='' ticks idle busy own_status own_info

	own_status=$(said server 127.0.0.1 getstatus)
	sleep 1.2 # DarkPlaces answers an address once a second
	own_info=$(said server 127.0.0.1 "$OTHER")
	sleep 3 # the daemon has begun a second ago, perhaps
	ticks=$(server_cpu)
	sleep 5
	idle=$(server_share "$ticks" 5)
	asker known "$SECONDS_EACH" 2 "$ASKERS_KNOWN" --mute
	asker network "$SECONDS_EACH" 3 "$ASKERS_KNOWN" --mute
	asker allowed "$SECONDS_EACH" 2 "$ASKERS_ALLOWED" --mute
	asker echoes "$SECONDS_EACH" 2 "$ASKERS_ECHOES"
	asker silent "$SECONDS_EACH" 2 "$ASKERS_SILENT" --mute
	ticks=$(server_cpu)
	flood_half "$PAYLOAD" flood1
	flood_half "$CHALLENGE" flood2
	# shellcheck disable=SC2086
	wait $floods
	busy=$(server_share "$ticks" "$SECONDS_EACH")
	# shellcheck disable=SC2086
	wait $people
	figures_told
}
