#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# test_cli.sh - the manners of the command line: one way to ask any command for help, exit
# statuses as the manual has them, completions that offer what there is, and an uninstall
# that leaves nothing of what install put.
#
# lane: beside, 20 s: it asks the program, and installs into a directory of its own.
# stubs: all
set -u

cd "$(dirname "$0")/../.." || exit 1
# What is mounted on the machine's /sys/fs/bpf, and what is pinned there, must not matter.
if [ -z "${TEST_WORLD-}" ] && tests/world.sh true 2>/dev/null; then
	exec tests/world.sh "$0" "$@"
fi
OUTPUT=${BUILD:-build}
BUILD=$(realpath "$OUTPUT")
SHIELD=$BUILD/quakeshield
# shellcheck source=tests/cmd/cli.sh
. tests/cmd/cli.sh
work=$(mktemp -d)
trap 'rm -rf "$work" "$CLI_LOG"' EXIT

# exits STATUS TEXT ARGUMENT...: that status, and TEXT on stderr ("": nothing there).
exits()
{
	local expected=$1 text=$2 status

	shift 2
	"$SHIELD" "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	echo "exit status $status: $*"
	cat "$work/err"
	[ "$status" = "$expected" ] || return 1
	if [ -n "$text" ]; then
		grep -qF -- "$text" "$work/err"
	else
		[ ! -s "$work/err" ]
	fi
}

# A full disk: a message and status 1, of short output as of long.
full_disk()
{
	local command

	echo 'service "ffa" { protocol = quake3 port = 27960 }' >"$work/full.conf"
	for command in "check -c $work/full.conf" "check --print -c $work/full.conf" \
		"completion bash" "completion zsh" "completion fish" attacks "probe -i lo" \
		"explain --help" help --version; do
		# shellcheck disable=SC2086
		"$SHIELD" $command >/dev/full 2>"$work/err" && return 1
		cat "$work/err"
		grep -q "^quakeshield: ${command%% *}: cannot write: No space left" "$work/err" ||
			return 1
	done
}

commands()
{
	"$SHIELD" --help | awk '$1 == "quakeshield" && $2 ~ /^[a-z-]+$/ { print $2 }'
}

# -h, --help and `help` say the same of every command, and -V the version.
same_help()
{
	local command

	[ "$(commands | wc -l)" -gt 10 ] || return 1
	for command in $(commands); do
		echo "$command"
		"$SHIELD" "$command" -h >"$work/h" || return 1
		grep -q "^usage: quakeshield $command " "$work/h" || return 1
		[ "$("$SHIELD" "$command" --help)" = "$(cat "$work/h")" ] || return 1
		[ "$("$SHIELD" help "$command")" = "$(cat "$work/h")" ] || return 1
		[ "$("$SHIELD" "$command" -V)" = "$("$SHIELD" --version)" ] || return 1
	done
	[ "$("$SHIELD" -h)" = "$("$SHIELD" help)" ] &&
		[ "$("$SHIELD" -V)" = "$("$SHIELD" --version)" ]
}

# Every option that a command's help names is in the manual, and takes what it says.
options_in_the_manual()
{
	local option

	for option in $(for c in $(commands); do "$SHIELD" help "$c"; done |
		grep -oE '^  (-.,|   ) --[a-z-]+' | grep -oE -- '--[a-z-]+$' | sort -u); do
		echo "$option"
		grep -qE -- "\\\\-${option#--}( |\$)" docs/quakeshield.8 || return 1
	done
}

wrong_command_lines()
{
	local command

	for command in $(commands); do
		exits 2 "$command: no such option: '--nonsense'" "$command" --nonsense || return 1
		exits 2 "no such option: '-Z'" "$command" -Z || return 1
	done
	exits 2 "an XDP shield" || return 1
	exits 2 "no such command: 'nonsense'" nonsense &&
		exits 2 "did you mean status" sttus &&
		exits 2 "did you mean --observe" run --obserev &&
		exits 2 "takes no value" run --observe=yes &&
		exits 2 "'--mode' needs a value" run --mode &&
		exits 2 "'turbo'" run --mode turbo &&
		exits 2 "unexpected argument: 'eth0'" run eth0 &&
		exits 2 "--pin DIR says where" load &&
		exits 2 "no such verb: 'remove'" deny remove 192.0.2.1 &&
		exits 2 "needs an address" deny add &&
		exits 2 "'192.0.2.300'" deny add 192.0.2.300 &&
		exits 2 "unexpected argument: 'x'" allow list x &&
		exits 2 "no such option: '--unlimited'" deny add --unlimited 192.0.2.1 &&
		exits 2 "--unlimited goes with" allow del --unlimited 192.0.2.1 &&
		exits 2 "something is missing behind 'decode'" decode &&
		exits 2 "no such shell: 'csh'" completion csh
}

# In a directory of the BPF file system in which there is nothing.
not_loaded()
{
	local pin=/sys/fs/bpf/quakeshield-cli-none

	exits 3 "nothing is loaded in '$pin'" status --pin "$pin" &&
		exits 3 "nothing is loaded in '$pin'" stats --pin "$pin" &&
		exits 3 "nothing is loaded in '$pin'" deny list --pin "$pin" &&
		exits 3 "nothing is loaded in '$pin'" deny add 192.0.2.1 --pin "$pin" &&
		exits 3 "nothing is loaded" top --once --pin "$pin" &&
		exits 3 "nothing is loaded in '$pin'" reload --pin "$pin"
}

# In the default directory are the tables of another version: their shield is up.
other_version()
{
	mountpoint -q /sys/fs/bpf || mount -t bpf -o mode=0700 bpf /sys/fs/bpf || return 1
	mkdir -p /sys/fs/bpf/quakeshield/v0-00000000 || return
	exits 3 "of another version of quakeshield: restart its daemon" status &&
		exits 3 "of another version" explain 192.0.2.1 &&
		exits 3 "nothing is loaded in '/sys/fs/bpf/none'" status --pin /sys/fs/bpf/none &&
		rmdir /sys/fs/bpf/quakeshield/v0-00000000 &&
		exits 3 "nothing is loaded in '/sys/fs/bpf/quakeshield'" status &&
		rmdir /sys/fs/bpf/quakeshield
}

# Somebody who is not root is told so.
denied()
{
	local command

	# Where nothing has ever been loaded there is no such file system, and so nothing that
	# only root may see: the answer is 3.
	mountpoint -q /sys/fs/bpf || mount -t bpf -o mode=0700 bpf /sys/fs/bpf || return 1
	cp "$SHIELD" "$work/quakeshield" && chmod 755 "$work"
	for command in status stats "deny list" reload detach; do
		# shellcheck disable=SC2086 # some are two words
		setpriv --reuid 65534 --regid 65534 --clear-groups \
			"$work/quakeshield" $command >"$work/out" 2>"$work/err"
		echo "$command: $?" | tee "$work/status"
		cat "$work/err"
		grep -q ': 4$' "$work/status" || return 1
		grep -q 'root' "$work/err" || return 1
		[ "$(wc -l <"$work/err")" = 1 ] || return 1
	done
}

# says JQ-FILTER STATUS ARGUMENT...: one line of JSON of which that is true.
says()
{
	local filter=$1 expected=$2 status schema=$3

	shift 2
	case $schema in allow | deny) schema=list ;; esac
	"$SHIELD" "$@" >"$work/json" 2>"$work/err"
	status=$?
	cat "$work/json" >>"$work/$schema.json"
	echo "exit status $status: $*: $(cat "$work/err" "$work/json")"
	[ "$status" = "$expected" ] && [ ! -s "$work/err" ] &&
		[ "$(wc -l <"$work/json")" = 1 ] && jq -e "$filter" "$work/json"
}

check_json()
{
	printf 'service a {\nprotocol = quake3\nport = 1\n}\n' >"$work/good.conf"
	printf 'mode = auto\ninterface = nosuch0\n' | cat - "$work/good.conf" >"$work/wait.conf"
	printf '\nmode = turbo\n' >"$work/bad.conf"
	printf 'service "caf\351" { protocol = quake3 port = 1 }\n' >"$work/latin.conf"
	says '.ok and .services == 1 and .messages == []' 0 check --json \
		-c "$work/good.conf" &&
		says '.ok and .messages[0].warning and .messages[0].line == 2' 0 \
			check --json -c "$work/wait.conf" &&
		says '.ok and (.messages[0].message | contains("internet"))' 0 check --json \
			-c "$work/good.conf" --set deny=0.0.0.0/0 &&
		says '(.ok | not) and .services == 0 and (.messages | length) == 1 and
			.messages[0].line == 2 and (.messages[0].warning | not) and
			(.messages[0].file | endswith("bad.conf"))' 1 check --json \
			-c "$work/bad.conf" &&
		says '(.ok | not) and (.messages | length) == 1 and
			(.messages[0].message | contains("caf\\xe9"))' 1 check --json \
			-c "$work/latin.conf" &&
		exits 1 "bad.conf:2: mode 'turbo'" check -c "$work/bad.conf"
}

# Whose server cannot be asked has no answers: named, and a warning where they are written.
check_unasked()
{
	local two='{ protocol = quake3 port = {1, 2} '

	echo "service a { protocol = quake3 port = 3 } service b $two }" >"$work/two.conf"
	echo "service b $two cache = under-load }" >"$work/written.conf"
	echo "service b $two cache = off }" >"$work/off.conf"
	says '.ok and .cache_unavailable == 1 and .messages == []' 0 check --json \
		-c "$work/two.conf" &&
		[ "$("$SHIELD" check -c "$work/two.conf" | grep -c 'cache = off')" = 1 ] &&
		"$SHIELD" check -c "$work/two.conf" |
		grep -q "^service 'b': cache = off; they take one port" &&
		says '.ok and .cache_unavailable == 0 and (.messages | length) == 1 and
			.messages[0].warning and
			(.messages[0].message | test("'"'b'"'.*cannot be asked.*one port"))' \
			0 check --json -c "$work/written.conf" &&
		says '.ok and .cache_unavailable == 0 and .messages == []' 0 check --json \
			-c "$work/off.conf" &&
		! "$SHIELD" check -c "$work/off.conf" | grep -q answers
}

# as_schema NAME PATH,...: what says() has seen of it has all keys of its schema, but those.
as_schema()
{
	tests/json_schema.py "$1" --all "$2" <"$work/$1.json"
}

# warned TEXT COMMAND: a command that would not run is told of by `check`, the file is good.
warned()
{
	"$SHIELD" check -c "$work/good.conf" --set "on-attack=$2" >"$work/out" 2>"$work/err" || return
	cat "$work/err"
	if [ -n "$1" ]; then grep -qF "$1" "$work/err"; else [ ! -s "$work/err" ]; fi
}

check_command()
{
	printf '#!/bin/sh\n' | tee "$work/script" >"$work/mine"
	chmod 755 "$work/script"
	chmod 750 "$work/mine"
	warned '' '/bin/true --loud' &&
		warned "cannot run '/nonexistent/x': No such file" '/nonexistent/x y' &&
		warned "'/etc' cannot be run" /etc &&
		warned "'$work/mine' cannot be run by every user" "$work/mine" &&
		warned "'$work/script' is run where /home, /root and /tmp are not" "$work/script"
}

# read_from STATUS TEXT INPUT: `deny add -` of that input (for printf) has that status, TEXT
# on stderr, and adds nothing if it fails.
read_from()
{
	local status

	# shellcheck disable=SC2059 # the input is a format
	printf "$3" | "$SHIELD" deny add - --pin "$pin" 2>"$work/err"
	status=$?
	cat -v "$work/err"
	[ "$status" = "$1" ] || return 1
	if [ -n "$2" ]; then grep -qF -- "$2" "$work/err"; else [ ! -s "$work/err" ]; fi || return 1
	[ "$status" = 0 ] || [ -z "$("$SHIELD" deny list --pin "$pin")" ]
}

# What is read is quoted where it is wrong, with its line, and nothing of it is lost.
lists_read()
{
	local pin=$1

	read_from 2 "line 2: '198.51.100.7 203.0.113.9' is not" \
		'192.0.2.1\n198.51.100.7 203.0.113.9\n' &&
		read_from 2 "line 1: there is a NUL behind '192.0.2.1'" '192.0.2.1\0007\n' &&
		read_from 2 "line 3: '0.0.0.0/0' is a large part" '192.0.2.1\n\n0.0.0.0/0' &&
		read_from 2 "line 1" '\xff\xfe1\0009\0002\000' &&
		read_from 0 '' '\xef\xbb\xbf \t192.0.2.1 \t# a b\r\n\n# c\n192.0.2.2' &&
		"$SHIELD" deny del 192.0.2.1 192.0.2.2 --pin "$pin" || return 1
	"$SHIELD" deny add - --pin "$pin" <"$work" 2>"$work/err"
	[ $? = 1 ] && grep -q 'cannot read standard input: Is a directory' "$work/err"
}

# As many as there is room for, in one go; it took longer for each the more there were.
lists_full()
{
	local pin=$1 began=$SECONDS

	awk 'BEGIN { for (i = 0; i < 65536; i++) printf "11.%d.%d.1\n", i / 256, i % 256 }' \
		>"$work/networks"
	timeout 60 "$SHIELD" deny add --for 1h - --pin "$pin" <"$work/networks" || return 1
	[ "$("$SHIELD" deny list --pin "$pin" | wc -l)" = 65536 ] &&
		exits 1 "the deny list is full: it holds 65536" deny add 192.0.2.1 --pin "$pin" &&
		timeout 60 "$SHIELD" deny del - --pin "$pin" <"$work/networks" &&
		[ -z "$("$SHIELD" deny list --pin "$pin")" ]
	set -- $?
	echo "$((SECONDS - began)) s"
	return "$1"
}

# Who is allowed is not denied: that is said, and what is wider is.
lists_meet()
{
	exits 0 "" allow add 10.1.0.0/16 --pin "$1" &&
		exits 0 "'10.1.2.3' is not denied as long as '10.1.0.0/16' is allowed" \
			deny add 10.1.2.3 --pin "$1" &&
		exits 0 "'10.1.0.0/16' is allowed (1 more like it)" \
			deny add 10.2.0.0/16 10.1.0.0/16 10.1.9.0/24 --pin "$1" &&
		exits 0 "'10.1.0.0/16' in '10.0.0.0/15' is not denied as long as it is allowed" \
			deny add 10.0.0.0/15 --pin "$1" &&
		exits 0 "" allow del 10.1.0.0/16 --pin "$1" &&
		exits 0 "" deny del 10.1.2.3 10.2.0.0/16 10.1.0.0/16 10.1.9.0/24 10.0.0.0/15 \
			--pin "$1"
}

# Tables of their own, with nothing in them.
lists()
{
	local pin=/sys/fs/bpf/quakeshield-lists-$$

	"$SHIELD" load -c "$work/good.conf" --pin "$pin" || return 1
	"$1" "$pin"
	set -- $?
	"$SHIELD" detach --pin "$pin" >"$work/out"
	return "$1"
}

# What needs tables: loaded, attached to nothing, taken away.
loaded()
{
	local pin=/sys/fs/bpf/quakeshield-cli-$$ good=$work/good.conf

	"$SHIELD" load -c "$good" --set deny=198.51.100.0/24 --pin "$pin" || return 1
	loaded_in "$pin"
	set -- $?
	exits 0 "" detach --pin "$pin" && [ ! -e "$pin" ] && [ "$1" = 0 ]
}

# A screen as text, as wide as it is told; on a wide one names are whole.
top_once() # DIRECTORY
{
	LINES=30 COLUMNS=80 exits 0 "" top --once --pin "$1" || return 1
	grep -q '^>a  *quake3 ' "$work/out" && grep -q '^ *query *\[\.\{10\}\]' "$work/out" ||
		return 1
	awk 'length > 80 { exit 1 }' "$work/out" || return 1
	LINES=30 COLUMNS=140 exits 0 "" top --once --pin "$1" &&
		grep -q '^ *query *\[\.\{30\}\]' "$work/out" &&
		awk 'length > 140 { exit 1 }' "$work/out"
}

loaded_in() # DIRECTORY
{
	exits 5 "" status --pin "$1" &&
		says '(.protected | not) and .services == 1 and .daemon == null and
			.interfaces == [] and .cache.under_load == 0' 5 status --json --pin "$1" &&
		exits 2 "'soon' is not a time" deny add 192.0.2.1 --for soon --pin "$1" &&
		exits 2 "longer than 43" deny add 192.0.2.1 --pin "$1" --comment \
			"$(printf '%044d' 0)" &&
		exits 2 "not printable" deny add 192.0.2.1 --comment "$(printf 'a\tb')" \
			--pin "$1" &&
		exits 2 "--for goes with" deny del 192.0.2.1 --for 1h --pin "$1" &&
		exits 1 "'192.0.2.1' was not added" deny del 192.0.2.1 --pin "$1" &&
		exits 0 "" deny add 192.0.2.1 --for 1h30m --comment 'an aimbot' --pin "$1" &&
		exits 0 "" deny add 192.0.2.9 --for 1s --pin "$1" &&
		exits 0 "" allow add 203.0.113.0/24 --unlimited --pin "$1" &&
		exits 0 "" reload -c "$work/good.conf" --set deny=198.51.100.0/24 --pin "$1" &&
		exits 0 "reload -c attaches nothing: 'lo' is not protected" reload \
			-c "$work/good.conf" --set interface=lo --pin "$1" &&
		says '.cache == { under_load: 0, always: 0, off: 1 }' 5 status --json --pin "$1" &&
		exits 0 "" reload -c "$work/good.conf" --set deny=198.51.100.0/24 \
			--set service.a.cache=under-load --pin "$1" &&
		says '.cache.under_load == 1' 5 status --json --pin "$1" &&
		says '.applied_by == "reload" and .daemon == null and .generation > 0' 0 \
			reload --json -c "$work/good.conf" --set deny=198.51.100.0/24 \
			--pin "$1" &&
		says '.services[0].name == "a" and .services[0].decoded == null' 0 stats --json \
			--pin "$1" &&
		says '.list == "allow" and .entries == [{network: "203.0.113.0/24", runtime: true,
			configuration: false, unlimited: true, seconds_left: null,
			comment: null}]' 0 allow list --json --pin "$1" &&
		top_once "$1" &&
		exits 0 "" deny list --pin "$1" || return 1
	cat "$work/out"
	grep -q '^192.0.2.1 *runtime, 1h29m left  # an aimbot$' "$work/out" &&
		grep -q '^198.51.100.0/24 *configuration$' "$work/out" || return 1
	sleep 1.1
	says '[.entries[] | select(.runtime)] | length == 1 and .[0].network == "192.0.2.1" and
		.[0].comment == "an aimbot" and .[0].seconds_left > 5000' 0 deny list --json \
		--pin "$1"
}

# complete WORD...: what bash offers for the last one.
complete_bash()
{
	# shellcheck disable=SC2016 # the inner shell's
	bash -c '. "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_quakeshield; printf "%s\n" "${COMPREPLY[@]}"' _ "$work/bash" "$@" |
		tr '\n' ' '
}

completes_bash()
{
	"$SHIELD" completion bash >"$work/bash" || return 1
	[ "$(complete_bash quakeshield st)" = "stats status " ] || return 1
	[ "$(complete_bash quakeshield run --o)" = "--observe " ] || return 1
	[ "$(complete_bash quakeshield run --mode n)" = "native " ] || return 1
	[ "$(complete_bash quakeshield run -i l)" = "lo " ] || return 1
	[ "$(complete_bash quakeshield decode --protocol quake-)" = "quake-enhanced " ] || return 1
	[ "$(complete_bash quakeshield decode --kind getst)" = "getstatus " ] || return 1
	[ "$(complete_bash quakeshield deny d)" = "del " ] || return 1
	[ "$(complete_bash quakeshield help rel)" = "reload " ] || return 1
	[ "$(complete_bash quakeshield check -c docs/quakeshield.con)" = \
		"docs/quakeshield.conf docs/quakeshield.conf.5 " ]
}

# Each knows every command and option.
names_all()
{
	local word

	"$SHIELD" completion "$1" >"$work/$1" || return 1
	for word in $(commands) $(for c in $(commands); do "$SHIELD" help "$c"; done |
		grep -oE '^  (-.,|   ) --[a-z-]+' | sed 's/.*--//' | sort -u); do
		grep -qw -- "$word" "$work/$1" || { echo "$word"; return 1; }
	done
}

install_uninstall()
{
	local root=$work/root made="make -s O=$OUTPUT SKIP_DEPS=1 DESTDIR=$work/root PREFIX=/usr"

	$made install || return 1
	for file in sbin/quakeshield share/man/man8/quakeshield.8 \
		share/man/man5/quakeshield.conf.5 lib/systemd/system/quakeshield.service \
		share/doc/quakeshield/howto/alerts.md \
		share/doc/quakeshield/tutorial.md share/doc/quakeshield/README.md \
		share/quakeshield/alerts.yml share/quakeshield/grafana-dashboard.json \
		share/bash-completion/completions/quakeshield \
		share/zsh/site-functions/_quakeshield \
		share/fish/vendor_completions.d/quakeshield.fish; do
		[ -s "$root/usr/$file" ] || { echo "missing: $file"; return 1; }
	done
	[ -s "$root/etc/quakeshield.conf" ] || return 1
	$made uninstall || return 1
	find "$root" -type f -o -name '*quakeshield*' | tee "$work/left"
	[ ! -s "$work/left" ]
}

# A configuration that was edited stays, over both.
keeps_configuration()
{
	local made="make -s O=$OUTPUT SKIP_DEPS=1 DESTDIR=$work/root PREFIX=/usr"

	$made install && echo '# mine' >>"$work/root/etc/quakeshield.conf" &&
		$made install && $made uninstall && grep '# mine' "$work/root/etc/quakeshield.conf"
}

# The tarball installs and removes all of its files, and nothing if a library is missing.
tarball()
(
	local root=$work/tarball/root

	mkdir -p "$root" && make -s O="$OUTPUT" SKIP_DEPS=1 dist >"$work/dist" &&
		tar -C "$work/tarball" -xf "$(cat "$work/dist")" && cd "$work"/tarball/quakeshield-* || return
	./install.sh --libraries | grep -E '^  libbpf\.so\.1 +\(libbpf1\) +/.*/libbpf\.so\.1$' || return
	# Unpacked by a user that may not change the program of root.
	[ "$(id -u)" != 0 ] || chown -R 65534 files || return
	DESTDIR=$root ./install.sh && find "$root" ! -user "$(id -u)" | tee "$work/others" &&
		[ ! -s "$work/others" ] && "$root/usr/local/sbin/quakeshield" --version &&
		"$root/usr/local/sbin/quakeshield" check -c "$root/etc/quakeshield.conf" || return
	DESTDIR=$root ./install.sh --remove
	find "$root" -type f -o -name '*quakeshield*' | tee "$work/left"
	[ ! -s "$work/left" ] || return
	echo 'libnone.so.1 libnone1' >>libraries
	! DESTDIR=$root ./install.sh 2>"$work/said" && grep -q 'nothing is installed' "$work/said" &&
		[ -z "$(find "$root" -type f)" ]
)

check "help, -h and -V of every command" same_help
check "every option is in the manual" options_in_the_manual
check "a full disk: 1, and it is said" full_disk
check "a wrong command line: 2, and it is quoted" wrong_command_lines
if [ "$(id -u)" = 0 ]; then
	check "nothing loaded: 3" not_loaded
	check "another version loaded: 3, and it says so" other_version
	check "no permission: 4, and it says root" denied
	check "check --json" check_json
	check "check names who has no answers, and why" check_unasked
	check "check warns of a command that cannot be run" check_command
	check "lists: what is read is quoted, or all taken" lists lists_read
	check "lists: 65536 at once" lists lists_full
	check "lists: denied and allowed" lists lists_meet
	check "loaded: lists with time and comment, reload, status, as JSON" loaded
	check "check --json: its schema" as_schema check ''
	check "stats --json of no traffic and no daemon: its schema" as_schema stats \
		'interfaces,services[].counters,services[].decoded,services[].cached_responses'
	check "reload --json: its schema" as_schema reload ''
	check "allow and deny list --json: their schema" as_schema list ''
	# There is no interface and no server here: tests/net/net_metrics.sh has both.
	check "status --json: its schema" as_schema status \
		interfaces,protocol_mismatch,owners,uncached,self_test
else
	echo "skip statuses 3 and 4, lists, JSON: needs root"
fi
check "bash completes" completes_bash
for shell in bash zsh fish; do
	check "$shell: every command and option" names_all $shell
	if command -v "$shell" >/dev/null; then
		check "$shell: reads it" "$shell" -n "$work/$shell"
	else
		echo "skip $shell: reads it: no $shell here"
	fi
done
check "install, uninstall: nothing is left" install_uninstall
check "install, uninstall: an edited configuration stays" keeps_configuration
check "dist: the tarball installs, removes, and names a missing library" tarball
exit $failed
