#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# net_ledger.sh - whatever is asked, of whatever server, however it is spread: no prefix
# is sent more than it sent, and the allowance.
#
# Budgets are unlimited here, so that only the amplification limit is at work. Every request and every
# way to send it has a network of its own, so all run at once: without the shield, with
# it, and with it in strict mode. nftables counts what passes, outside of the shield: in
# behind it, out on the far side of the link.
#
# lane: beside, 50 s: it counts octets, of slow requests.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
LAB=$BUILD/lab SHIELD=$BUILD/quakeshield SERVER=standin PROTOCOL=quake3
# shellcheck source=tests/lab/net.sh
. tests/lab/net.sh
# shellcheck source=tests/lab/server.sh
. tests/lab/server.sh

SECONDS_EACH=${SECONDS_EACH:-4}
ALLOWANCE=8192 WINDOW=20
# name, port, what floodgen sends
REQUESTS='getstatus 27960 --payload getstatus
qw-status 27500 --payload qw-status
qw-lastscores 27500 --hex ffffffff6c61737473636f7265730a
q2-status 27910 --payload q2-status
ccreq-server-info 26000 --payload ccreq-server-info
ccreq-connect 26000 --payload ccreq-connect --source-port 5555
dtls-hello 26001 --payload dtls-hello'
WAYS='steady bursty slow /24 /16'

servers_start()
{
	local protocol port

	while read -r protocol port; do
		net_in server "$LAB/standin" "$protocol" "$port" >/dev/null &
	done <<-LIST
	quake3 27960
	quakeworld 27500
	quake2 27910
	netquake 26000
	quake-enhanced 26001
	LIST
	net_until 10 server_answers
}

service()
{
	cat <<-CONFIG
	service "$1" {
	    protocol = $1
	    port     = $2
	$(for class in query challenge connect rcon unknown netchan; do
		echo "    $class { source = unlimited prefix = unlimited service = unlimited }"
	done)
	}
	CONFIG
}

# ledger_config MODE
ledger_config()
{
	cat <<-CONFIG
	allow = {"10.190.0.0/24"}
	amplification { allowance = $ALLOWANCE refill = $WINDOW mode = $1 }
	$(service quake3 27960)
	$(service quakeworld 27500)
	$(service quake2 27910)
	$(service netquake 26000)
	$(service quake-enhanced 26001)
	CONFIG
}

# Every request and way has a /16 and a /48 of its own: a line in $work/groups.
groups()
{
	local name way group=0

	while read -r name _; do
		for way in $WAYS; do
			echo "$name $way $((128 + group)) $(printf '%x' $((256 + group)))"
			group=$((group + 1))
		done
	done <<<"$REQUESTS" >"$work/groups"
}

# The elements of a table's sets: all /24 and /56 that are asked from. The kernel would make
# them as packets come, too, but for want of memory of that kind it may then count nothing
# ("percpu: allocation failed, ... atomic=1"): a prefix seemed to be sent more than it had sent.
prefixes() # TABLE
{
	awk -v table="$1" '{
		for (i = 0; i < ($2 == "/16" ? 256 : 1); i++) {
			four = four sprintf("10.%d.%d.0 counter, ", $3, i)
			six = six sprintf("fd00:80:%s:%x00:: counter, ", $4, i)
		}
	} END {
		printf "add element netdev %s four { %s10.190.0.0 counter }\n", table, four
		printf "add element netdev %s six { %sfd00:80:ffff:: counter }\n", table, six
	}' "$work/groups"
}

# A counter for each /24 and /56; and one for each sort of fragment.
counters()
{
	local set='flags dynamic; size 65535; counter;'

	net_in server nft -f - <<-RULES
	table netdev in {
		set four { type ipv4_addr; $set }
		set six { type ipv6_addr; $set }
		chain in {
			type filter hook ingress device srv0 priority -10;
			update @four { ip saddr & 255.255.255.0 counter }
			update @six { ip6 saddr & ffff:ffff:ffff:ff00:: counter }
		}
	}
	$(prefixes in)
	RULES
	nft -f - <<-RULES
	table netdev out {
		set four { type ipv4_addr; $set }
		set six { type ipv6_addr; $set }
		counter first { }
		counter later { }
		counter first6 { }
		counter later6 { }
		chain out {
			type filter hook ingress device up0 priority -10;
			ip frag-off & 0x3fff == 0x2000 counter name first
			ip frag-off & 0x1fff != 0 counter name later
			frag frag-off 0 counter name first6
			frag frag-off != 0 counter name later6
			update @four { ip daddr & 255.255.255.0 counter }
			update @six { ip6 daddr & ffff:ffff:ffff:ff00:: counter }
		}
	}
	$(prefixes out)
	RULES
}

counters_off()
{
	net_in server nft delete table netdev in
	nft delete table netdev out
}

# One line for each prefix: address, bytes of frames, packets.
elements()
{
	local family

	for family in four six; do
		"${@:2}" nft --json list set netdev "$1" $family | jq -r '
			.nftables[] | select(.set) | .set.elem[]? | .elem |
			"\(.val) \(.counter.bytes + 14 * .counter.packets) \(.counter.packets)"'
	done
}

# Has each that is not a crowd asked to connect? Crowds take all of the server's slots.
first_asked()
{
	local four six _

	while read -r _ _ four six; do
		net_in server nft get element netdev in four "{ 10.$four.0.0 }" |
			grep -q 'packets [1-9]' &&
			net_in server nft get element netdev in six "{ fd00:80:$six:: }" |
			grep -q 'packets [1-9]' || return
	done < <(grep '^ccreq-connect [^/]*$' "$work/groups")
}

# send FROM TO WAY ARGUMENTS: at most SECONDS_EACH seconds of requests.
send()
{
	local from=$1 to=$2 way=$3 second

	shift 3
	case $way in
	steady)	set -- --rate 200 "$@" ;;
	slow)	set -- --rate 2 "$@" ;;
	/24)	net_until 20 test -e "$work/crowds"
		set -- --rate 300 --sources 256 "$@" ;;
	/16)	net_until 20 test -e "$work/crowds"
		set -- --rate 1000 --sources 65536 "$@" ;;
	bursty)
		for ((second = 0; second < SECONDS_EACH; second++)); do
			net_flood --af-packet --from "$from" --to "$to" --seconds 1 "$@" \
				--packets 200
			sleep 1
		done
		return ;;
	esac
	net_flood --from "$from" --to "$to" --seconds "$SECONDS_EACH" "$@"
}

# Who signed on in the run before is sent to from a port that a new shield has not seen
# announced: nothing that it could judge. On a busy machine the last come late.
all_forgotten()
{
	[ -z "$(net_in server ss -Huan 'sport >= :32768')" ]
}

# All at once. Leaves $work/RUN.in and .out: what each prefix sent, and was sent; .time.
run_all()
{
	local run=$1 name port args way group=0 start pids=''

	counters
	rm -f "$work/crowds"
	start=$(date +%s%N)
	while read -r name port args; do
		for way in $WAYS; do
			# shellcheck disable=SC2086
			send "10.$((128 + group)).0.0" "$NET_SERVER" "$way" --port "$port" $args >/dev/null &
			pids="$pids $!"
			# shellcheck disable=SC2086
			send "fd00:80:$(printf '%x' $((256 + group)))::1" "$NET_SERVER6" "$way" \
				--port "$port" $args >/dev/null &
			pids="$pids $!"
			group=$((group + 1))
		done
	done <<<"$REQUESTS"
	send 10.190.0.0 "$NET_SERVER" steady --port 27960 --payload getstatus >/dev/null &
	pids="$pids $!"
	net_until 20 first_asked
	: >"$work/crowds"
	# shellcheck disable=SC2086
	wait $pids
	sleep 4 # sign-on, again and again
	elements out >"$work/$run.out"
	elements in net_in server >"$work/$run.in"
	echo $((($(date +%s%N) - start) / 1000000 + 1)) >"$work/$run.time"
	nft --json list counters table netdev out | jq -r '.nftables[] | select(.counter) |
		.counter | "\(.name) \(.packets)"' >"$work/$run.fragments"
	counters_off
}

# sums RUN: for each request and way, bytes in, bytes out and the prefix that is furthest
# beyond what it may be sent (negative: none is). Rates: milliseconds to stay exact. Each prefix
# that is beyond goes to $work/RUN.over, with what it sent and was sent.
sums()
{
	local allowance=${2:-$ALLOWANCE}

	: >"$work/$1.over"
	awk -v time="$(cat "$work/$1.time")" -v allowance="$allowance" -v window=$WINDOW \
		-v beyond="$work/$1.over" '
		function group(address, part) {
			if (split(address, part, ".") == 4)
				return part[1] == 10 ? "4 " part[2] : ""
			split(address, part, ":")
			return part[1] == "fd00" && part[2] == "80" ? "6 " part[3] : ""
		}
		FILENAME ~ /groups$/ { name["4 " $3] = name["6 " $4] = $1 " " $2; order[++n] = "4 " $3; next }
		!(g = group($1)) || !(g in name) { next }
		FILENAME ~ /in$/ { came[$1] = $2; asked[$1] = $3; in_[g] += $2; next }
		{
			out[g] += $2
			over = $2 - came[$1] - allowance * (1 + time / 1000 / window)
			if (over > 0)
				print "# " name[g], $1 ": sent", came[$1], "bytes in", asked[$1],
					"packets, was sent", $2, "in", $3 >beyond
			if (!(g in worst) || over > worst[g])
				worst[g] = over
		}
		END {
			for (i = 1; i <= n; i++) {
				split(order[i], part, " ")
				six = sprintf("6 %x", 256 + part[2] - 128)
				report(order[i])
				report(six)
			}
		}
		function report(g) {
			printf "%s IPv%s %d %d %d\n", name[g], substr(g, 1, 1), in_[g], out[g],
				g in worst ? worst[g] : -1
		}' "$work/groups" "$work/$1.in" "$work/$1.out"
}

# No prefix beyond its right; and something was asked of every group.
within()
{
	cat "$work/$1.over" >&2
	[ "$(wc -l <"$work/$1.sums")" = 70 ] &&
		awk '$4 <= 0 || $6 > 0 { print > "/dev/stderr"; bad = 1 } END { exit bad }' "$work/$1.sums"
}

# The unprotected run must be beyond it, or the test would show nothing.
exceeds()
{
	awk -v request="$1" -v way="$2" '$1 == request && $2 == way && $6 > 0 { n++ } END { exit n != 2 }' \
		"$work/off.sums"
}

# A server signs on as many sources as it has places for, and they may all be of one way.
exceeds_somewhere() # REQUEST
{
	awk -v request="$1" '$1 == request && $6 > 0 { n++ } END { exit !n }' "$work/off.sums"
}

# A server answers CCREQ_SERVER_INFO with a third more, or less without a processor for itself.
amplifies()
{
	awk -v request="$1" '$1 == request && $2 == "steady" && $5 > $4 { n++ } END { exit n != 2 }' \
		"$work/off.sums"
}

# The amplification limit would let out one answer in 12; a busy server misses some questions.
tracker_exempt()
{
	local came sent

	came=$(awk '$1 == "10.190.0.0" { print $3 }' "$work/on.in")
	sent=$(awk '$1 == "10.190.0.0" { print $3 }' "$work/on.out")
	echo "# an allowed tracker: $came questions, $sent answers" >&2
	[ "$came" -gt 100 ] && [ "$sent" -gt $((came / 2)) ]
}

# Each datagram here is of two fragments: a later one leaves if and only if the first did.
fragments_whole()
{
	awk -v six="$1" '{ n[$1] = $2 } END {
		exit !(n["first" six] > 0 && n["first" six] == n["later" six]) }' "$work/on.fragments"
}

# Strict has no credit for a first fragment of sign-on: then no later one leaves either.
fragments_paired()
{
	paste -sd, "$work/strict.fragments" | sed 's/^/# strict: fragments /' >&2
	awk '{ n[$1] = $2 } END { exit !(n["first"] == n["later"] && n["first6"] == n["later6"]) }' \
		"$work/strict.fragments"
}

signon_dropped()
{
	net_in server "$SHIELD" stats --json | jq -e '[.services[].counters[] | select(
		.direction == "out" and .kind == "nq-reliable" and .reason == "amplification") |
		.packets] | add > 0'
}

table()
{
	printf '# %-18s %-7s %-5s %10s %10s %7s %10s %7s %10s %7s\n' request way '' 'bytes in' \
		'out, off' x 'shield' x 'strict' x
	paste -d' ' "$work/off.sums" "$work/on.sums" "$work/strict.sums" | awk '
		function times(a, b) { return b ? a / b : 0 }
		{ printf "# %-18s %-7s %-5s %10d %10d %7.2f %10d %7.2f %10d %7.2f\n", $1, $2, $3,
			$10, $5, times($5, $4), $11, times($11, $10), $17, times($17, $16) }'
}

# shield_with MODE: a new shield that remembers nothing.
shield_with()
{
	ledger_config "$1" >"$work/shield.conf"
	shield_start
}

net_test_begin "$@"
groups
servers_start || net_die "the servers do not answer"
run_all off
sums off >"$work/off.sums"
net_until 30 all_forgotten || net_die "the server still sends to somebody"
shield_with limit || exit 1
run_all on
sums on >"$work/on.sums"
net_check "the amplification limit holds for every request, way and family" within on
net_check "an allowed tracker is exempt" tracker_exempt
net_check "sign-on is cut" signon_dropped
net_check "fragments of one fate" fragments_whole ''
net_check "fragments of one fate, IPv6" fragments_whole 6
for request in getstatus qw-status qw-lastscores q2-status; do
	net_check "without it $request amplifies" exceeds "$request" steady
done
net_check "without it ccreq-server-info amplifies" amplifies ccreq-server-info
net_check "without it ccreq-connect amplifies" exceeds_somewhere ccreq-connect
shield_stop KILL
net_in server "$SHIELD" detach >/dev/null
net_until 30 all_forgotten || net_die "the server still sends to somebody"
shield_with strict || exit 1
run_all strict
sums strict 0 >"$work/strict.sums"
net_check "strict: never more out than in" within strict
net_check "strict: fragments of one fate" fragments_paired
table
exit "$net_failed"
