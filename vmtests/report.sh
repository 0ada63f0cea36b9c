# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# report.sh - what the guests said, in short: shown, counted, and in a table.
#
# shellcheck disable=SC2154 # job, work and so on are run.sh's
# Sourced by run.sh. record() runs in the process of one kernel and leaves files in its
# directory; add_up() reads them in the one that has the table.

passed=0 failed=0 skipped=0
rows=() # of kernels that were not run

# skip_kernel NAME WAY REASON: not run at all.
skip_kernel()
{
	rows+=("$1|$2|-|-|-|-|-|-|-|-|-|-|skipped: $3")
	skipped=$((skipped + 1))
	echo "skip $1 ($2): $3"
}

# cpu_seconds FILE: what `times` has written there, in seconds: of the process that called
# it and of all that it had waited for.
cpu_seconds()
{
	tr 'ms' '  ' <"$1" | awk '{ sum += 60 * ($1 + $3) + $2 + $4 } END { printf "%.0f", sum }'
}

output()
{
	tr -d '\r' <"$job/output"
}

# What the guest counted: the closing line, or nothing.
counts()
{
	output | sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' |
		tail -n 1
}

said() # KEYWORD: the last value that the guest gave for it
{
	output | awk -v key="$1" '
		$1 == "#" && $2 == key { value = $3 } END { print value == "" ? "-" : value }'
}

# Why a kernel failed, in a line: the first bad test, or how the guest ended.
why() # STATUS
{
	local line

	line=$(output | grep -aE '^(not ok|\[  FAILED  \])' | head -n 1)
	case $1 in
	124)	line="no end after $LIMIT_S s${line:+; $line}" ;;
	125)	line="the guest died${line:+; $line}" ;;
	esac
	echo "${line:-ended with status $1}"
}

# What the kernel had against the program, if that is what went wrong: the verifier's
# last words before its statistics, or what libbpf did not find.
objection()
{
	output | awk '
		/^processed [0-9]+ insns/ { found = last }
		/^libbpf: .*(not found|unknown|invalid func)/ { found = $0 }
		/^(unknown|invalid) func/ { found = $0 }
		{ last = $0 }
		END { if (found != "") print found }'
}

show_output() # STATUS
{
	if [ "$1" != 0 ] || [ "${V:-0}" = 1 ]; then
		output
		[ "$1" -lt 124 ] || cat "$job/qemu.log" <(tail -n 40 "$job/klog")
	else
		output | grep -aE '^(not ok|skip |#)'
	fi
}

# record NAME WAY LEVEL STATUS RELEASE ACCEL SECONDS: a row of the table, and the sums.
record()
{
	local name=$1 way=$2 level=$3 status=$4 ok=0 bad=0 skip=0 result=passed line

	read -r ok bad skip <<<"$(counts)"
	ok=${ok:-0} bad=${bad:-0} skip=${skip:-0}
	# The two channels must agree; an early end is a failure even if all was well.
	[ "$status" = 0 ] && [ "$ok" -eq 0 ] && status=125
	[ "$status" = 0 ] || [ "$bad" -gt 0 ] || bad=1
	if [ "$bad" -gt 0 ]; then
		line=$(objection)
		{
			echo "failed: $name ($way): $(why "$status")"
			[ -z "$line" ] || echo "failed: $name ($way): the kernel says: $line"
		} >"$job/notes"
	fi
	if [ "$bad" -gt 0 ] && [ "$level" = advisory ]; then
		result="advisory, $bad failed"
		skip=$((skip + bad)) bad=0
	elif [ "$bad" -gt 0 ]; then
		result="FAILED"
	fi
	output | sed -n "s/^skip /skipped: $name ($way): /p" >>"$job/notes"
	times >"$job/times"
	echo "$ok $bad $skip" >"$job/sums"
	echo "$5|$way|$6|$(said boot)|$7|$(cpu_seconds "$job/times")|$ok|$bad|$skip|$(said verified)|$(
		said egress)|$(said flood)|$result" >"$job/row"
}

add_up() # DIRECTORY
{
	local ok bad skip

	if ! read -r ok bad skip <"$1/sums"; then # run_one itself has died
		ok=0 bad=1 skip=0
		echo "${plan[${1##*/}]%% *}|-|-|-|-|-|0|1|0|-|-|-|FAILED: no result" >"$1/row"
		: >"$1/notes"
	fi
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
}

# In the order of the plan, not in that of the ends.
table()
{
	local heads='kernel|way|accel|boot s|all s|cpu s|passed|failed|skipped' index

	printf '\n%s\n' "$heads|verified in/out/proof/answer|egress|flood|result" | cat - <(
		for index in "${!plan[@]}"; do
			cat "$work/$index/row"
		done
		printf '%s\n' "${rows[@]}"
	) | column -t -s '|'
	echo
	for index in "${!plan[@]}"; do
		cat "$work/$index/notes"
	done
	echo
}
