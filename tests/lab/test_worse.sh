#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# test_worse.sh - which cells of lab.sh's table are worse with the shield, and what is said of
# them (tests/lab/worse.sh).
#
# lane: beside, 1 s: it starts no server.
set -u

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/verdict.sh
. tests/verdict.sh
# shellcheck source=tests/lab/worse.sh
. tests/lab/worse.sh
declare -A result

# figures ROW OFF ON [NAME=FACT]...: of the flood from 4 million sources, nothing else.
figures()
{
	local fact

	result=([off-crowd,$1]=$2 [on-crowd,$1]=$3)
	shift 3
	for fact; do
		result[on-crowd,${fact%%=*}]=${fact#*=}
	done
}

# says NAME PATTERN ROW OFF ON [NAME=FACT]...: one paragraph, for that cell, that fits PATTERN.
says()
{
	local name=$1 pattern=$2 said

	shift 2
	figures "$@"
	said=$(worse_words | grep . || echo nothing)
	# shellcheck disable=SC2053 # a pattern
	[[ $said != "- ${ROW_WORDS[$1]} (4 million sources): "$pattern ]] || said=''
	verdict "$name" "$said"
}

silent() # NAME ROW OFF ON
{
	local name=$1

	shift
	figures "$@"
	verdict "$name" "$(worse_words)"
}

silent equal_figures_get_no_sentence tracker '9 of 10' '9 of 10'
silent more_answers_are_better silent '0 of 10' '1 of 10'
silent a_higher_share_of_answers_is_better tracker '9 of 12' '8 of 10'
silent a_join_is_better_than_none join failed 0.1
silent no_join_twice_is_no_worse join refused failed
silent a_refused_join_is_no_worse_than_a_failed_one join failed refused
silent a_protocol_without_joins_has_no_sentence join none failed
silent fewer_bytes_are_better wire 1.26 0.35
silent a_row_without_figure_has_no_sentence wire - 0.35
silent a_stronger_flood_is_no_worse in_rate 1000 2000

says known_client_is_within_its_limit 'Each tracker *' tracker '10 of 10' '9 of 10'
says lower_share_of_answers_is_worse 'Each tracker *' tracker '8 of 10' '9 of 12'
says mark_window_says_how_long '*after up to 40 seconds*watches for 6 seconds.*allow add*' \
	silent '5 of 10' '1 of 10' in_rate=700000 seconds=7
says slow_flood_is_marked_whole 'The cache serves such a client from its third *' \
	silent '5 of 10' '1 of 10' in_rate=70000 seconds=7
says share_of_challenges_is_counted '*one request in 3,*about 3 tries.*rate*' \
	echoes '10 of 10' '9 of 10' in_rate=600000 seconds=7 challenges=1400000
says none_challenged_is_said 'The shield challenged no request of the flood. A full queue *' \
	echoes '10 of 10' '9 of 10' in_rate=100000 seconds=7 challenges=0
says all_challenged_leaves_the_lab 'The shield challenged each request. A full queue *' \
	echoes '10 of 10' '9 of 10' in_rate=100000 seconds=7 challenges=700000
says refused_join_names_the_reason '*dropped 2 of its *(greylisted)*' \
	join 0.0 3.0 join_refused=2 join_reason=greylisted
says join_that_was_not_refused_leaves_the_lab '*dropped none of its requests*' join 0.0 failed
says refused_game_names_the_page '*refused 4 datagrams *player-lags.md*' \
	lost '0 of 100' '1 of 100' game_refused=4
says lost_snapshot_leaves_the_lab '*refused no datagram*' lost '0 of 100' '1 of 100'
says player_without_snapshots_is_worse '*refused no datagram*' lost '0 of 100' '0 of 0'
says player_that_did_not_join_is_worse 'The player had not joined *' lost '9 of 10' 'no game'
says recurring_responses_are_the_caches 'Most are cached *bytes-per-second*' \
	out 20 1000 recurring=990 silent='2 of 10'
# shellcheck disable=SC2016 # backquotes of the words
says responses_to_new_clients_do_not_count 'The limits of `query` *' \
	out 10 12 recurring=11 silent='10 of 10'
says less_than_one_is_no_amplification '*Less than 1 is no amplification.*' wire 0.00 0.99
says challenges_are_explained '*has proved its address*' challenges 0 100000
# shellcheck disable=SC2016 # likewise
says cpu_names_the_queries '*`cache = off`*' cpu '0 %' '2 %'

PROTOCOL=quake-enhanced
says a_hello_has_no_cached_response 'No response to a ClientHello *' tracker '10 of 10' '9 of 10'
PROTOCOL=quake3

figures wire 0.00 1.00
verdict one_is_not_less_than_one "$(worse_words | grep 'no amplification')"

# Floods with one reason share a paragraph, others have their own.
result=([off-victim,silent]='9 of 10' [on-victim,silent]='8 of 10'
	[off-victim,wire]=0.00 [on-victim,wire]=0.40 [off-crowd,wire]=0.00 [on-crowd,wire]=0.30
	[off-fresh,wire]=0.50 [on-fresh,wire]=0.30)
verdict equal_reasons_share_a_paragraph "$(worse_words | grep -c . | grep -vx 2
	worse_words | grep -qF "${ROW_WORDS[wire]} (one victim, 4 million sources): " || worse_words)"
verdict victim_has_its_own_reason "$(worse_words |
	grep -qF 'queries of other new clients, answered (one victim): Such a client' || worse_words)"

# A row that is compared without a reason would leave a cell without a word.
result=()
for row in $WORSE_ROWS; do
	[ -n "$(why "$row" crowd)" ] && [ -n "${ROW_WORDS[$row]}" ] || lacking+=" $row"
done
verdict each_row_has_a_reason "${lacking-}"
exit "$status"
