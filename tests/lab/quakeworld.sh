# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# quakeworld.sh - mvdsv with ktx, a real QuakeWorld server, and ezquake, a real client of
# it; sourced after player.sh by the tests that start them.
#
# The server needs one map, GAMEDATA/id1/maps/lqdm11.bsp (LibreQuake). The client wants a
# whole game, of which it gets that map, and placeholders made here: a grey palette,
# pictures of one colour, and a triangle for every model. It has no sound. What it says to
# a server, and what it is told, is the same for that.
#
# shellcheck disable=SC2034,SC2154 # shared with those who source this
GAMEDATA=$(realpath -m "${GAMEDATA:-../shared/gamedata}")
MVDSV=${MVDSV:-/usr/games/mvdsv}
KTX=${KTX:-/usr/lib/quakeworld/ktx/qwprogs.so}
EZQUAKE=${EZQUAKE:-/usr/lib/games/ezquake/ezquake} # not the wrapper, which has data of its own
QUAKEWORLD_MAP=$GAMEDATA/id1/maps/lqdm11.bsp

# mvdsv_lacks: what there is not, if it cannot be started.
mvdsv_lacks()
{
	if [ ! -x "$MVDSV" ] || [ ! -e "$KTX" ]; then
		echo "no mvdsv and ktx"
	elif [ ! -e "$QUAKEWORLD_MAP" ]; then
		echo "no map in $GAMEDATA"
	else
		return 1
	fi
}

mvdsv_start()
{
	local data=$work/data

	mkdir -p "$data/id1/maps" "$data/ktx"
	cp "$QUAKEWORLD_MAP" "$data/id1/maps/"
	ln -s "$KTX" "$data/ktx/qwprogs.so"
	printf '%s\n' 'hostname test' 'maxclients 16' 'deathmatch 1' 'map lqdm11' \
		>"$data/ktx/server.cfg"
	chown -R nobody "$data"
	server_run --chdir="$data" "$MVDSV" -basedir "$data" -port "$NET_PORT" -mem 64 \
		-game ktx +sv_progtype 1
	net_until 20 server_answers
}

# Placeholders ---------------------------------------------------------------------------

# words NUMBER...: little-endian, 32 bits each.
words()
{
	local n

	for n in "$@"; do
		# shellcheck disable=SC2059 # that is the point
		printf "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' \
			$((n & 255)) $((n >> 8 & 255)) $((n >> 16 & 255)) $((n >> 24 & 255)))"
	done
}

bytes() # COUNT VALUE
{
	head -c "$1" /dev/zero | tr '\0' "\\$(printf '%o' "$2")"
}

picture() # WIDTH HEIGHT
{
	words "$1" "$2"
	bytes $(($1 * $2)) 64
}

# gfx.wad: the letters, all blank, and every picture of the status bar.
placeholder_wad()
{
	local inv=(shotgun sshotgun nailgun snailgun rlaunch srlaunch lightng)
	local names=(disc backtile ram net turtle {,a}num_{{0..9},minus} num_{colon,slash}
		sb_{shells,nails,rocket,cells,armor{1..3},key{1,2},invis,invuln,suit,quad}
		sb_sigil{1..4} face{,_p}{1..5} face_{invis,invul2,inv2,quad} sbar scorebar)
	local prefix name small=$((8 + 8 * 8)) wide=$((8 + 320 * 24)) letters=$((128 * 128))
	local at=$((12 + letters + wide)) count

	for prefix in inv inv2 inva{1..5}; do
		names+=("${inv[@]/#/${prefix}_}")
	done
	count=${#names[@]}
	printf WAD2
	words $((count + 2)) $((at + count * small))
	bytes "$letters" 0
	picture 320 24 # ibar: parts of it are cut out
	for name in "${names[@]}"; do
		picture 8 8
	done
	entry conchars 12 "$letters" 68
	entry ibar $((12 + letters)) "$wide" 66
	for name in "${names[@]}"; do
		entry "$name" "$at" "$small" 66
		at=$((at + small))
	done
}

entry() # NAME OFFSET SIZE TYPE: one line of a wad's table.
{
	words "$2" "$3" "$3" "$4"
	printf %s "$1"
	bytes $((16 - ${#1})) 0
}

# One triangle with a skin of 8 by 8, in one frame. Floats are written as words.
placeholder_model()
{
	local one=0x3f800000 eight=0x41000000

	printf IDPO
	words 6 $one $one $one 0 0 0 $eight 0 0 0 1 8 8 3 1 1 0 0 $one
	words 0
	bytes 64 64
	words 0 0 0 0 7 0 0 0 7 # where the corners are on the skin
	words 1 0 1 2
	words 0 0 0x080808
	printf 'triangle\0\0\0\0\0\0\0\0'
	words 0 0x08 0x0800
}

# placeholders DIRECTORY: what ezquake wants in id1 before it starts, and for the models
# that the game's program names.
placeholders()
{
	local name grey=''

	mkdir -p "$1/gfx" "$1/maps" "$1/progs"
	for name in {0..255}; do
		grey+=$(printf '\\x%02x\\x%02x\\x%02x' "$name" "$name" "$name")
	done
	printf %b "$grey" >"$1/gfx/palette.lmp"
	bytes $((64 * 256 + 1)) 0 >"$1/gfx/colormap.lmp"
	picture 320 200 >"$1/gfx/conback.lmp"
	for name in pause loading box_{t,m,b}{l,m,r} box_mm2 ttl_{main,sgl} mainmenu menudot{1..6} \
		qplaque sp_menu p_{load,save,multi} ranking complete inter finale; do
		picture 8 8 >"$1/gfx/$name.lmp"
	done
	placeholder_wad >"$1/gfx.wad"
	placeholder_model >"$1/progs/player.mdl"
	# It is content that says what a file is: triangles do for boxes and sprites too.
	grep -aoE '(progs|maps)/[a-z0-9_]+\.(mdl|bsp|spr)' "$KTX" | sort -u |
		while read -r name; do
			[ -e "$1/$name" ] || cp "$1/progs/player.mdl" "$1/$name"
		done
	cp "$QUAKEWORLD_MAP" "$1/maps/"
}

# Before the placeholders: player_screen.
player_ezquake()
{
	local home=$work/$PLAYER_HOME

	placeholders "$home/id1"
	mkdir -p "$home/ktx"
	chown -R nobody "$home"
	player_run "$EZQUAKE" -basedir "$home" -nosound -window -width 160 -height 120 \
		-condebug +name "$PLAYER" +cl_maxfps 30 +cl_independentPhysics 0 \
		+connect "$NET_SERVER:$NET_PORT"
}

quakeworld_in_game()
{
	grep -q 'alice entered the game' "$work/server.log" && player_in_game
}
