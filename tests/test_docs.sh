#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# test_docs.sh - what the documents say is so: paths exist, the reference is what the code
# says, every key, subcommand and option is in its manual, and the examples are good.
#
# lane: beside, 5 s: it reads the documents and asks the program.
set -u

cd "$(dirname "$0")/.." || exit 1
SHIELD=$(realpath "${BUILD:-build}/quakeshield")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/verdict.sh
. tests/verdict.sh

# Paths of the tree, globs allowed, <placeholders> not.
paths_missing()
{
	local path

	grep -ohP '(?<![/\w])(include|bpf|user|tests|docs)/[\w.*<>-]*[\w*]' "$@" |
		grep -v '<' | sort -u | while read -r path; do
		compgen -G "$path" >/dev/null || printf '%s ' "$path"
	done
}

# Names of headers of bpf/ without their directory.
headers_missing()
{
	local name

	grep -oE '\b[a-z_]+\.bpf\.[ch]' "$@" | sort -u | while read -r name; do
		[ -e "bpf/$name" ] || printf '%s ' "$name"
	done
}

# The difference between the tables in the code and docs/reference/ and the manual.
stale()
{
	tests/reference.sh >"$work/stale" 2>&1 && [ ! -s "$work/stale" ] ||
		echo "docs are stale: run make docs: $(head -n 4 "$work/stale" | paste -sd ' ')"
}

# Members of struct live, as live.NAME; of the structures that are tables of their own, their
# members.
live_members()
{
	cat include/*.h | awk '
		{ text = text $0 "\n" }
		function tell(of, before,   n, i, one, part) {
			n = split(members[of], one, " ")
			for (i = 1; i <= n; i++) {
				split(one[i], part, ":")
				if (part[1] ~ /^(tables|[a-z]+_table|[a-z]+_state)$/)
					tell(part[1], before part[2] ".")
				else
					print before part[2]
			}
		}
		END {
			gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", text)
			count = split(text, line, "\n")
			for (i = 1; i <= count; i++) {
				if (line[i] ~ /^struct [a-z_]+ \{$/) {
					split(line[i], word, " ")
					of = word[2]
				} else if (line[i] ~ /^}/) {
					of = ""
				} else if (of != "") {
					member = member " " line[i]
					if (member !~ /;/)
						continue
					sub(/[[;].*/, "", member)
					n = split(member, word, " ")
					type = word[n - 2] == "struct" ? word[n - 1] : ""
					members[of] = members[of] " " type ":" word[n]
					member = ""
				}
			}
			tell("live", "live.")
			tell("recent", "recent.")
		}'
}

# Maps and members of struct live without a row in the tables of docs/ARCHITECTURE.md ("+"), and
# rows of none of them ("-").
tables_wrong()
{
	sed -n '/make docs. writes these tables/,/end of what/s/^| \([a-z][a-z_., ]*\) |.*/\1/p' docs/ARCHITECTURE.md |
		sed 's/, /\n/g' | grep -vx table | sort >"$work/rows"
	{
		sed -n 's/^} \([a-z0-9_]*\) SEC("\.maps").*/\1/p' bpf/maps.bpf.h | grep -vx recent
		live_members
	} | sort >"$work/tables"
	[ "$(wc -l <"$work/tables")" -gt 60 ] || echo "only $(wc -l <"$work/tables") tables found"
	comm -23 "$work/tables" "$work/rows" | sed 's/^/+/'
	comm -13 "$work/tables" "$work/rows" | sed 's/^/-/'
}

# Keys of the configuration, and classes.
keys_missing()
{
	local key

	{
		grep -oP '^\| \x60\K[a-z_-]+' docs/reference/configuration.md
		sed -n 's/^| \([a-z]*\) .*[0-9].*/\1/p' docs/reference/defaults.md
	} | sort -u | while read -r key; do
		grep -qE "^\.It Ic $key No" docs/quakeshield.conf.5 || printf '%s ' "$key"
	done
}

# Keys without an entry in the manual that has the default, range and choices of the code's table
# and says when to change the key or to leave it alone. Keys of one name: one of the entries.
keys_incomplete()
{
	awk -F ' *[|] *' '
		FNR == 1 { file++ }
		file == 1 && /^\.(It|El|Sh|Ss)/ { key = "" }
		file == 1 && /^\.It Ic / { split($0, word, " "); key = word[3]; entry[key, ++entries[key]] = $0 }
		file == 1 && key != "" { text = $0; sub(/^\.[A-Z][a-z] /, "", text)
			entry[key, entries[key]] = entry[key, entries[key]] " " text }
		file == 2 && $2 ~ /^`[a-z-]+`$/ {
			key = $2; gsub(/`/, "", key)
			needs = $5 != "" ? $5 : ""
			if (match($3, /[0-9]+ to [0-9]+$/) || match($3, /at most [0-9]+/))
				needs = needs "\n" substr($3, RSTART, RLENGTH)
			sub(/\nat most /, "\n", needs)
			if (sub(/^one of: /, "", $3)) { gsub(/, /, "\n", $3); needs = needs "\n" $3 }
			good = 0
			for (i = 1; i <= entries[key]; i++) {
				has = entry[key, i] ~ /Default|Required/ &&
					entry[key, i] ~ /([Ll]eave|Raise|Lower|Set) (it|out)/
				count = split(needs, need, "\n")
				for (j = 1; j <= count; j++)
					has = has && index(entry[key, i], need[j])
				good = good || has
			}
			if (!good) printf "%s ", key
		}' docs/quakeshield.conf.5 docs/reference/configuration.md
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

# The options that the manual explains for a command: in its section and the common one.
options_explained() # COMMAND
{
	awk -v command="$1" '
		/^\.S[hs] / { on = /COMMON OPTIONS/ || (/^\.Ss / && $0 " " ~ "[ ,]" command "[ ,]") }
		on && /^\.It Fl / { print }' docs/quakeshield.8 | grep -oP '\\-\K[a-z][a-z-]*' | sort -u
}

# The options that the synopsis has for a command.
options_in_synopsis() # COMMAND
{
	awk -v command="$1" '
		/^\.Sh DESCRIPTION/ { exit }
		/^\.Nm/ { head = 1; on = 0; next }
		head { on = $0 " " ~ "^\\.Cm (.* )?" command " "; head = 0 }
		on { print }' docs/quakeshield.8 |
		sed 's/Fl c /Fl \\-config /; s/Fl i /Fl \\-interface /; s/Fl o /Fl \\-output /; s/Fl v$/Fl \\-verbose/' |
		grep -oP '\\-\K[a-z][a-z-]*' | sort -u
}

# Differences between the help of each command and the manual: an option that is not explained
# ("run:+pin"), one that stands on one side of the synopsis only ("run:=pin"), and one that
# is explained though no command has it ("-pin").
options_differ()
{
	local command

	"$SHIELD" --help | awk '$1 == "quakeshield" { print $2 }' | grep '^[a-z]' |
		while read -r command; do
			"$SHIELD" "$command" --help | grep -oP '^  (-.,|   ) --\K[a-z-]+' | sort -u |
				tee -a "$work/options" >"$work/of_command"
			options_explained "$command" | comm -23 "$work/of_command" - | sed "s/^/$command:+/"
			options_in_synopsis "$command" |
				comm -3 - <(grep -vxE 'help|version' "$work/of_command") |
				sed "s/^\t*/$command:=/"
		done
	grep '^\.It Fl ' docs/quakeshield.8 | grep -oP '\\-\K[a-z][a-z-]*' |
		grep -vxF -f "$work/options" | sed 's/^/-/'
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

# The headings of a page, as links name them.
anchors() # PAGE
{
	sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | tr -cd 'a-z0-9 _\n-' | tr ' ' -
}

# Links between pages: the file that each names, seen from the page, and the heading in it.
links_broken()
{
	local page link file

	for page in README.md docs/*.md docs/*/*.md; do
		grep -oP '\]\(\K[^)]+' "$page" | grep -v '^https\?:' | while read -r link; do
			file=$(dirname "$page")/${link%%#*}
			[ -n "${link%%#*}" ] || file=$page
			[ -e "$file" ] || printf '%s:%s ' "$page" "$link"
			[ "$link" = "${link#*#}" ] || anchors "$file" | grep -qxF -- "${link#*#}" ||
				printf '%s:%s ' "$page" "$link"
		done
	done
}

# Rows of README between its marks that the page of `make figures` does not have.
figures_stale()
{
	awk '/^<!-- figures -->$/ { on = 1; next } /^<!-- / { on = 0 } on' README.md >"$work/rows"
	[ "$(wc -l <"$work/rows")" = 6 ] || echo "README.md: not four figures"
	grep -vxFf docs/measurements/figures.md "$work/rows"
	grep -qE '^[0-9]+ [A-Z][a-z]+ 20[0-9]{2}, on .* kernel .* load ' docs/measurements/figures.md ||
		echo "figures.md: neither date nor machine"
}

# Lines of manuals with a date, a processor or a time that was measured: they belong into
# docs/measurements/. Left out are README's figures and the dates that manuals and releases have.
measured_in_manuals()
{
	grep -nE '[0-9] (January|February|March|April|May|June|July|August|September|October|November|December)|EPYC|Xeon|[0-9] (ns|nanoseconds) (per|for|a)|before that was' \
		README.md docs/[!C]*.md docs/explain/*.md docs/howto/*.md docs/reference/*.md docs/*.[58] |
		cut -d: -f 1,2
}

# The questions of the first day: twenty or more, each with an answer and a page.
questions_wrong()
{
	awk -F ' *[|] *' '
		/^\| / && $2 != "question" && !/^\| -/ {
			n++
			if ($2 !~ /\?$/ || $3 == "" || $4 !~ /\]\(/)
				print "line " NR
		}
		END { if (n < 20) print n " questions" }' docs/questions.md
}

# Attacks that the threat model does not name.
attacks_unnamed()
{
	local attack

	for attack in tests/attack/attack_*.sh; do
		attack=${attack##*/}
		grep -qE "${attack%.sh}([^a-z_]|\$)" docs/SECURITY.md docs/measurements/*attacks.md ||
			printf '%s ' "$attack"
	done
}

verdict architecture_paths_exist "$(paths_missing docs/ARCHITECTURE.md)"
verdict headers_of_the_picture_exist "$(headers_missing docs/ARCHITECTURE.md)"
verdict other_paths_exist "$(paths_missing README.md docs/{HACKING,INSTALLING,RELEASING,tutorial,SECURITY}.md \
	docs/howto/*.md docs/explain/*.md)"
verdict links_lead_somewhere "$(links_broken)"
verdict figures_are_measured "$(figures_stale)"
verdict manuals_have_no_measurements "$(measured_in_manuals)"
verdict questions_have_answers "$(questions_wrong)"
verdict every_attack_is_named "$(attacks_unnamed)"
verdict reference_is_as_the_code "$(stale)"
verdict every_table_has_its_row "$(tables_wrong)"
verdict every_key_in_the_manual "$(keys_missing)"
verdict every_key_is_explained_whole "$(keys_incomplete)"
verdict every_command_in_the_manual "$(commands_missing)"
verdict every_option_in_the_manual "$(options_differ)"
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
