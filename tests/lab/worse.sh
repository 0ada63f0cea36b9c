# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# worse.sh - the rows of lab.sh's table, and for each cell that is worse with the shield the
# reason and what an operator can do. Sourced by lab.sh and test_worse.sh.
#
# All figures stand in the array `result` of the caller, as "off-FLOOD,ROW" and "on-FLOOD,ROW".
# FLOOD is one of FLOODS. PROTOCOL is the caller's, too. The runs with the shield have facts in
# addition to the rows:
#
#   seconds       the length of the flood
#   recurring     responses to sources that repeated a query (cached-recurring)
#   game_refused  datagrams of the game that the shield did not pass
#   join_refused  requests to join that it dropped, and join_reason the most frequent reason
#
# A reason may be a number from this run or a rule from docs/explain/, and it must be true
# for the cell. The rows are compared as they are printed.
#
# shellcheck disable=SC2154 # result is the caller's
declare -A ROW_WORDS=(
	[tracker]='queries of known trackers, answered'
	[echoes]='queries of new clients that echo, answered'
	[silent]='queries of other new clients, answered'
	[join]='seconds until a new client has joined'
	[lost]='snapshots that a player lost'
	[in_rate]='packets of the flood per second'
	[out]='responses to spoofed addresses'
	[challenges]='challenges to spoofed addresses'
	[wire]='bytes to them per byte of the flood'
	[cpu]='processor time of the server'
)
declare -A FLOOD_WORDS=(
	[victim]='one victim'
	[crowd]='4 million sources'
	[fresh]='no source twice'
)
FLOODS='victim fresh crowd'
# The rows with a better and a worse, in the table's order.
WORSE_ROWS='tracker echoes silent join lost out challenges wire cpu'
MARKED=70000 # new sources per second that a processor can remember: docs/explain/response-cache.md

# badness ROW FIGURE: a number that is higher where the figure is worse; nothing: no figure.
badness()
{
	case $1,$2 in
	*,- | *, | join,none) ;;
	join,[!0-9]* | lost,[!0-9]*) echo 1000000 ;;
	tracker,* | echoes,* | silent,*)
		awk '{ print $3 ? ($3 - $1) / $3 : 0 }' <<<"$2" ;;
	lost,*)	awk '{ print $3 ? $1 / $3 : 1 }' <<<"$2" ;; # of 0: the player got none
	*)	echo "${2%% *}" ;;
	esac
}

# Return true if the figure of ROW with the shield is worse than the one without.
worse() # ROW FLOOD
{
	local off on

	off=$(badness "$1" "${result[off-$2,$1]-}") on=$(badness "$1" "${result[on-$2,$1]-}")
	[ -n "$off" ] && [ -n "$on" ] && awk -v off="$off" -v on="$on" 'BEGIN { exit !(on > off) }'
}

fact() # FLOOD NAME
{
	echo "${result[on-$1,$2]:-0}"
}

lost_in_lab()
{
	echo "A full queue of the lab's links lost a packet, or a client waited too long for one of the" \
		"$(nproc) processors that the flood, the server, the shield and the clients share. Run it" \
		"again on a machine that does nothing else."
}

why_silent() # FLOOD
{
	local rate

	rate=$(fact "$1" in_rate)
	if [ "$1" = victim ]; then
		echo "Such a client depends on the limits of \`query\` until it has repeated its query" \
			"for three seconds. \`quakeshield allow add ADDRESS\` exempts a tool of yours."
	elif [ "$rate" -le "$MARKED" ]; then
		echo "The cache serves such a client from its third query in three seconds on." \
			"\`quakeshield allow add ADDRESS\` exempts a tool of yours."
	else
		echo "Only its repeated query tells such a client from the flood. At $rate packets per" \
			"second on one processor the cache serves it after up to $((4 * rate / MARKED))" \
			"seconds, later after a stronger flood. This lab watches for" \
			"$(($(fact "$1" seconds) - 1)) seconds. \`quakeshield allow add ADDRESS\` exempts a" \
			"tool of yours. A client that queries on quiet days becomes known and does not wait."
	fi
}

why_echoes() # FLOOD
{
	local challenges requests tries

	challenges=$(fact "$1" challenges)
	requests=$(($(fact "$1" in_rate) * $(fact "$1" seconds)))
	tries=$(((requests + challenges / 2) / (challenges ? challenges : 1)))
	if [ "$challenges" -gt 0 ] && [ "$tries" -gt 1 ]; then
		echo "The shield challenged one request in $tries, so a new client is challenged after" \
			"about $tries tries. A higher \`validation { rate }\` challenges more."
	elif [ "$challenges" = 0 ]; then
		echo "The shield challenged no request of the flood. $(lost_in_lab)"
	else
		echo "The shield challenged each request. $(lost_in_lab)"
	fi
}

why_join() # FLOOD
{
	if [ "$(fact "$1" join_refused)" -gt 0 ]; then
		echo "The shield dropped $(fact "$1" join_refused) of its requests to join" \
			"($(fact "$1" join_reason)). docs/reference/reasons.md says what to do."
	else
		echo "The shield dropped none of its requests to join. $(lost_in_lab)"
	fi
}

why_lost() # FLOOD
{
	if [ "$(fact "$1" lost)" = 'no game' ]; then
		echo "The player had not joined when the flood began. \`quakeshield explain ADDRESS\` and" \
			"docs/howto/why-dropped.md say why a client cannot join."
	elif [ "$(fact "$1" game_refused)" -gt 0 ]; then
		echo "The shield refused $(fact "$1" game_refused) datagrams of games." \
			"docs/howto/player-lags.md says how to find the cause."
	else
		echo "The shield refused no datagram of a game. $(lost_in_lab)"
	fi
}

# The responses to new clients that only repeat their query are among the recurring ones.
why_out() # FLOOD
{
	local silent

	silent=$(fact "$1" silent)
	if [ $((2 * ($(fact "$1" recurring) - ${silent%% *}))) -ge "$(fact "$1" out)" ]; then
		echo "Most are cached responses to sources that the shield took for browsers that repeat" \
			"their query. A lower \`cache { bytes-per-second }\` sends fewer."
	else
		echo "The limits of \`query\` admit these queries. A lower \`query { source }\` or" \
			"\`query { service }\` admits fewer."
	fi
}

why_wire() # FLOOD
{
	local words='The spoofed addresses get challenges and cached responses.'

	awk -v on="$(fact "$1" wire)" 'BEGIN { exit !(on < 1) }' &&
		words="$words Less than 1 is no amplification."
	echo "$words A lower \`validation { rate }\` or \`cache { bytes-per-second }\` sends fewer bytes" \
		"and serves fewer new clients."
}

# Print why the cell is worse, and what helps.
why() # ROW FLOOD
{
	case $1,${PROTOCOL-} in
	tracker,quake-enhanced | silent,quake-enhanced)
		echo "No response to a ClientHello can be cached, so it passes within the limits alone, which" \
			"the flood shares. \`validation = under-load\` admits a client that repeats its" \
			"ClientHello; this lab's does not, so the lab turns it off."
		return ;;
	esac
	case $1 in
	tracker)
		echo "Each tracker queries once per second, and the shield serves a known client twice" \
			"per second. $(lost_in_lab)" ;;
	silent | echoes | join | lost | out | wire) "why_$1" "$2" ;;
	challenges)
		echo "A new client that returns the challenge has proved its address and gets in. A lower" \
			"\`validation { rate }\` sends fewer challenges, and lets in new clients later." ;;
	cpu)
		echo "The server works for the clients that get in, and for one or two queries of the" \
			"shield's cache per second. \`cache = off\` ends these queries." ;;
	esac
}

# Print one paragraph for each row and reason; nothing if no cell is worse.
worse_words()
{
	local row flood reason reasons
	local -A floods

	for row in $WORSE_ROWS; do
		reasons=() floods=()
		for flood in $FLOODS; do
			worse "$row" "$flood" || continue
			reason=$(why "$row" "$flood")
			[ -n "${floods[$reason]-}" ] || reasons+=("$reason")
			floods[$reason]+=", ${FLOOD_WORDS[$flood]}"
		done
		for reason in "${reasons[@]}"; do
			echo "- ${ROW_WORDS[$row]} (${floods[$reason]#, }): $reason"
		done
	done
}
