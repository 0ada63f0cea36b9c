#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# figures.sh - `make figures`: measure what README cites, and draw its pictures.
#
#   BUILD=build RUNS=3 figures.sh
#
# Writes docs/measurements/figures.md (machine, date, spread), README's rows between its two
# marks, and docs/pictures/. Takes ten minutes; nothing else should run on the machine.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
export BUILD
PAGE=docs/measurements/figures.md
RUNS=${RUNS:-3}

die()
{
	echo "figures.sh: $*" >&2
	exit 1
}

# spread CELL FORMAT: the median of the lab's runs of "run,row", and "lowest..highest".
spread()
{
	sed -n "s/^$1 \([0-9.]*\).*/\1/p" "$work"/lab.* | sort -n | awk -v runs="$RUNS" -v format="$2" '
		{ v[NR] = $1 }
		END {
			if (NR != runs) exit 1
			printf format " " format ".." format "\n", v[int((NR + 1) / 2)], v[1], v[NR]
		}'
}

# row WORDS ROW FORMAT [UNIT]: a row of README: without the shield, with it, and how far runs differ.
row()
{
	local off on

	off=$(spread "off-crowd,$2" "$3") && on=$(spread "on-crowd,$2" "$3") || return
	printf '| %s | %s%s | %s%s | %s, %s |\n' "$1" "${off% *}" "${4-}" "${on% *}" "${4-}" \
		"${off#* }" "${on#* }"
}

# Print the cost of one dropped packet, and that of the least program that finds the port, counts
# and drops.
dropped()
{
	awk '
		/^floor, 4M / { least = $4; around = $5 }
		/^getstatus flood, 4M sources / {
			printf "| processor time per dropped packet; without: of the least program that finds the port and drops | %s ns | %s ns | %s, %s |\n",
				least, $6, around, $7
			found = 1 }
		END { exit !found }' "$work/bench"
}

rows()
{
	echo '| under a flood of status queries from 4 million spoofed addresses | without the shield | with it | spread |'
	echo '| --- | --- | --- | --- |'
	row 'queries of new clients that return the challenge, answered' echoes %.0f \
		"$(sed -n 's/^on-crowd,echoes [0-9]*//p' "$work/lab.1")" &&
		row 'bytes sent to the spoofed addresses, per byte of the flood' wire %.2f &&
		row "the game server's processor time" cpu %.0f ' %' &&
		dropped
}

machine()
{
	printf '%s, on %s processors of %s%s, kernel %s, load %s at the start.\n' "$(date +'%-d %B %Y')" \
		"$(nproc)" "$(sed -n 's/^model name.*: //p; T; q' /proc/cpuinfo)" \
		"$(grep -qw hypervisor /proc/cpuinfo && echo ', a virtual machine')" \
		"$(uname -r)" "$(cut -d' ' -f1 /proc/loadavg)"
}

block() # HEADING COMMAND WORDS FILE
{
	printf "\n## %s\n\n\`%s\`: %s\n\n" "$1" "$2" "$3"
	sed 's/^/    /; s/ *$//' "$4"
}

page()
{
	cat <<-WORDS
	# The figures that README cites

	Measurement page, written by \`make figures\` (tests/bench/figures.sh).
	$(cat "$work/machine")
	WORDS
	printf '\n%s\n' "$(cat "$work/rows")"
	block "A server under flood" "make run" "the last of $RUNS runs; the spread above is of all." \
		"$work/table"
	block "Filters in turns" "tests/bench/veth.sh" \
		"median of rounds, of which the lowest and the highest stand beside it." "$work/veth"
	block "Each path" "build/bench/bench" "median and quartiles of 9 rounds." "$work/bench"
}

# README's rows, between the marks.
into_readme()
{
	[ "$(grep -cE '^<!-- /?figures -->$' README.md)" = 2 ] ||
		die "README.md has lost its marks"
	awk -v rows="$work/rows" '
		/^<!-- figures -->$/ { print; while ((getline row <rows) > 0) print row; on = 1 }
		/^<!-- \/figures -->$/ { on = 0 }
		!on && !/^<!-- figures -->$/ { print }' README.md >"$work/readme"
	cat "$work/readme" >README.md
}

measure()
{
	local i

	machine >"$work/machine"
	for i in $(seq "$RUNS"); do
		RESULT=$work/lab.$i tests/lab/lab.sh >"$work/lab" 2>&1 || die "$(tail -n 3 "$work/lab")"
	done
	sed -n '/^The server: /,$p' "$work/lab" >"$work/table"
	tests/bench/veth.sh >"$work/veth" || die "veth.sh"
	"$BUILD/bench/bench" --search 0 --rounds 9 >"$work/bench" || die "bench"
	rows >"$work/rows" || die "a row is missing: $(cat "$work/rows")"
	page >"$work/page" && cat "$work/page" >"$PAGE"
	into_readme
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
measure
tests/lab/pictures.sh docs/pictures
