#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# test_docs.sh - what the documents say is so: paths exist, defaults are those of the
# program, every key and every subcommand is in its manual, and the examples are good.
#
# lane: beside, 5 s: it reads the documents and asks the program.
set -u

cd "$(dirname "$0")/.." || exit 1
SHIELD=$(realpath "${BUILD:-build}/quakeshield")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

verdict() # NAME MESSAGE...: good if there is no message
{
	local name=$1

	shift
	if [ -z "$*" ]; then
		echo "ok $name"
	else
		echo "not ok $name: $*"
		status=1
	fi
}

# Paths of the tree, globs allowed, <placeholders> not.
paths_missing()
{
	local path

	grep -ohP '(?<![/\w])(include|bpf|user|tests|docs)/[\w.*<>-]*[\w*]' "$@" |
		grep -v '<' | sort -u | while read -r path; do
		compgen -G "$path" >/dev/null || printf '%s ' "$path"
	done
}

# The budgets of a protocol as the rows that docs/OPERATING.md must have.
default_rows()
{
	echo "service x { protocol = $1 port = 1 }" >"$work/x.conf"
	"$SHIELD" check --print -c "$work/x.conf" | awk '
		/^\t[a-z]+ \{/	{ class = $1 }
		/^\t\t/		{ split($0, q, "\""); rate[$1] = q[2] }
		/^\t}/		{ printf "| %s | %s | %s | %s |\n", class,
				  rate["source"], rate["prefix"], rate["global"] }'
}

defaults_wrong()
{
	local protocol

	for protocol in netquake quakeworld quake2 quake3 quake-enhanced auto; do
		default_rows "$protocol" >"$work/expected"
		[ "$(wc -l <"$work/expected")" -eq 6 ] || echo "$protocol: no rows"
		awk -v head="### $protocol" '$0 == head { on = 1; next } /^##/ { on = 0 }
			on && /^\| [a-z]/ && !/^\| class/' docs/OPERATING.md >"$work/said"
		cmp -s "$work/expected" "$work/said" || echo "$protocol "
	done
}

# Keys from the grammar itself, and the classes.
keys_missing()
{
	local key

	{
		grep -oE 'KEEP(_LIST)?\("[a-z_-]+"\)' user/config/config_grammar.c | cut -d'"' -f2
		default_rows quake3 | cut -d' ' -f2
	} | sort -u | while read -r key; do
		grep -qE "^\.It Ic $key No" docs/quakeshield.conf.5 || printf '%s ' "$key"
	done
}

commands_missing()
{
	local command

	"$SHIELD" --help | awk '$1 == "quakeshield" { print $2 }' | grep '^[a-z]' |
		while read -r command; do
			grep -qE "^\.Cm ($command|[a-z]+ Ns \| Ns Cm $command)( |\$)" \
				docs/quakeshield.8 ||
				grep -qE "^\.Cm $command Ns" docs/quakeshield.8 ||
				printf '%s ' "$command"
		done
}

# Reasons and their verdicts, from the table itself.
reasons_missing()
{
	sed -n '/^#define ABI_REASONS(X)/,/[^\\]$/p' include/abi.h |
		sed -nE 's/.*X\(\w+,[[:blank:]]*"([a-z-]+)",[[:blank:]]*(\w+),.*/\1 \2/p' |
		while read -r reason verdict; do
			grep -q "^\.It $reason Ta ${verdict,,} Ta " docs/quakeshield.8 ||
				printf '%s ' "$reason"
		done
}

# From a document, the lines of the first service section at @indent blanks.
example_of()
{
	awk -v indent="$2" '
		match($0, /^ */) { blanks = RLENGTH }
		!done && blanks == indent && /service "/ { on = 1 }
		on { print }
		on && blanks == indent && /}$/ { on = 0; done = 1 }' "$1"
}

verdict architecture_paths_exist "$(paths_missing docs/ARCHITECTURE.md)"
verdict other_paths_exist "$(paths_missing README.md docs/HACKING.md docs/OPERATING.md)"
verdict defaults_as_argued "$(defaults_wrong)"
verdict every_key_in_the_manual "$(keys_missing)"
verdict every_command_in_the_manual "$(commands_missing)"
verdict every_reason_in_the_manual "$(reasons_missing)"
verdict example_file_is_good "$("$SHIELD" check -c docs/quakeshield.conf 2>&1 >/dev/null)"
example_of README.md 4 >"$work/readme.conf"
example_of docs/quakeshield.conf.5 0 >"$work/manual.conf"
for example in readme manual; do
	verdict "example_of_${example}_is_good" \
		"$("$SHIELD" check -c "$work/$example.conf" 2>&1 >/dev/null)"
done
if command -v mandoc >/dev/null; then
	verdict manuals_are_clean "$(mandoc -Tlint -W warning docs/*.[58] 2>&1)"
else
	echo "skip manuals_are_clean: no mandoc here"
fi
exit "$status"
