# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# enhanced.sh - Quake Enhanced's messages, each from an encoder of its own, written from the
# rules and beside the decoder; sourced after dtls.sh. All prints hex.

# le BYTES VALUE: little-endian.
le()
{
	local i

	for ((i = 0; i < $1; i++)); do
		printf '%02x' $(($2 >> 8 * i & 255))
	done
}

f32()
{
	awk -v v="$1" 'BEGIN {
		sign = v < 0
		v = sign ? -v : v
		for (e = v ? 127 : 0; v >= 2; e++)
			v /= 2
		for (; v && v < 1; e--)
			v *= 2
		m = v ? int((v - 1) * 8388608 + 0.5) : 0
		printf "%02x%02x%02x%02x", m % 256, int(m / 256) % 256,
			int(m / 65536) + e % 2 * 128, sign * 128 + int(e / 2)
	}'
}

# Seven bits a byte, the low ones first; the highest bit: there are more.
uleb()
{
	local v=$1

	while [ "$v" -gt 127 ]; do
		printf '%02x' $((v & 127 | 128))
		v=$((v >> 7))
	done
	printf '%02x' "$v"
}

zigzag()
{
	uleb $(($1 >= 0 ? $1 * 2 : (-1 - $1) * 2 + 1))
}

str()
{
	printf '%s\0' "$1" | xxd -p | tr -d '\n'
}

# texts TEXT...: how many, and each.
texts()
{
	le 2 $#
	for text; do
		str "$text"
	done
}

coords()
{
	for at; do
		le 2 $((at * 8))
	done
}

# angles BYTES DEGREES...
angles()
{
	local bytes=$1

	shift
	for degrees; do
		le "$bytes" $((degrees * (1 << 8 * bytes) / 360))
	done
}

# update BITS NUMBER DATA: flag bytes as far as there are bits, the entity, its fields.
update()
{
	local bits=$(($1))

	[ $((bits >> 24)) = 0 ] || bits=$((bits | 1 << 23))
	[ $((bits >> 16)) = 0 ] || bits=$((bits | 1 << 15))
	[ $((bits >> 8)) = 0 ] || bits=$((bits | 1))
	le 1 $((bits & 127 | 128))
	[ $((bits >> 8)) = 0 ] || le 1 $((bits >> 8))
	[ $((bits >> 16)) = 0 ] || le 1 $((bits >> 16))
	[ $((bits >> 24)) = 0 ] || le 1 $((bits >> 24))
	le 1 "$2"
	printf '%s' "$3"
}

# serverinfo PROTOCOL [FLAGS]
serverinfo()
{
	printf '0b%s%s04%s01%s%s00%s00' "$(le 4 "$1")" "${2:+$(le 4 "$2")}" "$(str id1)" \
		"$(str Hi)" "$(str maps/lab.bsp)" "$(str w.wav)"
}

serverinfo_is()
{
	printf '{"op":"serverinfo","protocol":%d,%s"maxclients":4,"gamedir":"id1","gametype":1,' \
		"$1" "${2:+\"flags\":$2,}"
	printf '"levelname":"Hi","models":["maps/lab.bsp"],"sounds":["w.wav"]}'
}

# of SIDE STATUS HEX OP: one message, and what it is to be read as.
of()
{
	printf '%s %s %s %s\n' "$@"
}

# Since the last serverinfo counts, those that are written in another way stand behind it.
enhanced_common()
{
	of s2c decoded "26$(le 1 2)$(texts 'My name is {}' bob)" \
		'{"op":"botchat","slot":2,"texts":["My name is {}","bob"]}'
	of s2c partial 270102 '{"op":"spawnedmonster","rest":"0102"}'
	of s2c decoded 28 '{"op":"bonusflash"}'
	of s2c decoded "29$(le 1 255)$(le 1 0)$(le 1 255)$(le 1 0)$(le 2 150)" \
		'{"op":"fog","density":1,"color":[0,255,0],"time":1.5}'
	of s2c decoded "2c$(coords 1 2 -1)$(le 2 300)$(le 1 255)$(le 1 64)" \
		'{"op":"spawnstaticsound2","origin":[1,2,-1],"sound":300,"volume":255,"attenuation":1}'
	of s2c partial 2d0102 '{"op":"setviews","rest":"0102"}'
	of s2c decoded "2e$(le 1 1)$(zigzag 200)" '{"op":"updateping","slot":1,"ping":200}'
	of s2c decoded "2e$(le 1 1)$(zigzag -2)" '{"op":"updateping","slot":1,"ping":-2}'
	of s2c decoded "2f$(le 1 2)$(le 4 -1)$(le 4 0)" \
		'{"op":"updatesocial","slot":2,"values":[-1,0]}'
	of s2c decoded "30$(le 1 3)$(zigzag 100)$(zigzag -5)" \
		'{"op":"updateplinfo","slot":3,"health":100,"armor":-5}'
	# shellcheck disable=SC2016
	of s2c decoded "31$(texts '$qc_entered' bob)" '{"op":"rawprint","texts":["$qc_entered","bob"]}'
	of s2c decoded "32$(uleb 16383)$(le 1 1)$(f32 0.5)$(f32 4)$(f32 2)$(f32 100)$(f32 2000)$(f32 800)$(
		le 1 1)$(f32 320)$(f32 10)$(le 1 1)$(f32 20)$(f32 50)$(le 1 2)" \
		'{"op":"servervars","bits":16383,"deathmatch":1,"idealpitchscale":0.5,"friction":4,"edgefriction":2,"stopspeed":100,"maxvelocity":2000,"gravity":800,"nostep":1,"maxspeed":320,"accelerate":10,"controlleronly":1,"timelimit":20,"fraglimit":50,"teamplay":2}'
	of s2c partial "32$(uleb 16384)07" '{"op":"servervars","bits":16384,"rest":"07"}'
	of s2c decoded "33$(uleb 300)" '{"op":"seq","sequence":300}'
	of s2c decoded "34$(str ACH_X)" '{"op":"achievement","id":"ACH_X"}'
	of s2c decoded "35$(le 1 0)$(le 1 3)$(str bob)$(str hello)" \
		'{"op":"chat","name_color":0,"text_color":3,"name":"bob","text":"hello"}'
	of s2c partial "3600010203040506070809$(str e1m1)" \
		'{"op":"levelcompleted","unknown":"00010203040506070809","text":"e1m1"}'
	of s2c decoded 37 '{"op":"backtolobby"}'
	of s2c decoded "38$(le 1 0)$(le 1 5)" '{"op":"localsound","mask":0,"sound":5}'
	of s2c decoded "38$(le 1 16)$(le 2 261)" '{"op":"localsound","mask":16,"sound":261}'
	of s2c decoded 3900 '{"op":"prompt","count":0}'
	of s2c decoded "39$(le 1 2)$(str Vote)$(str Yes)$(le 1 100)$(str No)$(le 1 101)" \
		'{"op":"prompt","count":2,"title":"Vote","choices":[{"text":"Yes","impulse":100},{"text":"No","impulse":101}]}'
	# shellcheck disable=SC2016
	of s2c decoded "3a$(texts '$map')" '{"op":"loccenterprint","texts":["$map"]}'
	of s2c decoded "1a$(str plain)" '{"op":"centerprint","text":"plain"}'
	of s2c decoded "1a$(texts 'Welcome, {}' bob)" \
		'{"op":"centerprint","texts":["Welcome, {}","bob"]}'
	of s2c decoded "0f$(le 2 $((1 << 5)))$(le 1 2)$(le 4 1)$(le 2 100)010203040506" \
		'{"op":"clientdata","onground":false,"inwater":false,"velocity":[32,null,null],"items":1,"health":100,"ammo":1,"shells":2,"nails":3,"rockets":4,"cells":5,"activeweapon":6}'
	of s2c decoded "0f$(le 2 $((1 << 5 | 1 << 8)))$(f32 2)$(le 4 1)$(le 2 100)010203040506" \
		'{"op":"clientdata","onground":false,"inwater":false,"velocity":[2,null,null],"items":1,"health":100,"ammo":1,"shells":2,"nails":3,"rockets":4,"cells":5,"activeweapon":6}'
	of c2s decoded 01 '{"op":"nop"}'
	of c2s decoded "04$(str 'name bob')" '{"op":"stringcmd","text":"name bob"}'
	of c2s decoded "05$(uleb 400)" '{"op":"sequence","sequence":400}'
	of c2s decoded "06$(uleb 7)$(f32 1)$(f32 2)$(f32 -1)" \
		'{"op":"authoritative_origin","sequence":7,"origin":[1,2,-1]}'
}

enhanced_wide() # BYTES of a move's angles
{
	of c2s decoded "03$(f32 1)01$(angles "$1" 90 0 0)$(le 2 400)$(le 2 0)$(le 2 -200)0100" \
		'{"op":"move","time":1,"unknown":1,"angles":[90,0,0],"forwardmove":400,"sidemove":0,"upmove":-200,"buttons":1,"impulse":0}'
}

# What protocol 15 has not.
enhanced_666()
{
	of s2c decoded "2a$(le 2 1)$(le 1 $((4 | 8)))$(le 1 7)010203$(coords 1)00$(coords 2)00$(
		coords -1)00$(le 1 128)$(le 1 2)" \
		'{"op":"spawnbaseline2","number":1,"modelindex":7,"frame":1,"colormap":2,"skinnum":3,"origin":[1,2,-1],"angles":[0,0,0],"alpha":128,"solid":2}'
	of s2c partial "2b$(le 1 $((16 | 32 | 64 | 128)))$(le 1 7)010203$(coords 1)00$(coords 2)00$(
		coords -1)0001020304" \
		'{"op":"spawnstatic2","modelindex":7,"frame":1,"colormap":2,"skinnum":3,"origin":[1,2,-1],"angles":[0,0,0],"unknown0":1,"unknown1":2,"unknown2":3,"unknown3":4}'
	of s2c decoded "$(update "1 << 10 | 1 << 1 | 1 << 3 | 0x3ff0000 & ~(1 << 23)" 9 "$(le 1 7)$(
		f32 2)$(f32 1)0102030405$(le 1 6)$(uleb 129)$(zigzag 100)")" \
		'{"op":"update","number":9,"modelindex":1031,"origin":[2,null,1],"alpha":1,"scale":2,"frame_high":3,"lerpfinish":0.0196078431,"solid":6,"entityflags":129,"health":100}'
	of s2c decoded "$(update "1 << 1 | 1 << 16" 9 "$(coords 2)01")" \
		'{"op":"update","number":9,"origin":[2,null,null],"alpha":1}'
	of s2c partial "$(update "1 << 26 | 1 << 31" 9 0506)" \
		'{"op":"update","number":9,"unknown0":5,"unknown5":6}'
	of s2c decoded "0f$(le 2 $((1 << 15 | 1 << 8 | 1 << 7)))$(le 1 128)$(le 1 6)$(f32 1)$(le 4 1)$(
		le 2 100)010203040506$(le 1 128)$(uleb 129)" \
		'{"op":"clientdata","onground":false,"inwater":false,"velocity":[null,null,1],"items":1,"health":100,"ammo":1,"shells":2,"nails":3,"rockets":4,"cells":5,"activeweapon":6,"weaponalpha":128,"entityflags":129}'
}

# SIDE STATUS HEX OP, a line each.
enhanced_messages()
{
	of s2c decoded "$(serverinfo 15)" "$(serverinfo_is 15)"
	enhanced_common
	enhanced_wide 1
	of s2c decoded "$(serverinfo 666)" "$(serverinfo_is 666)"
	enhanced_666
	enhanced_wide 2
	of s2c decoded "$(serverinfo 999 0)" "$(serverinfo_is 999 0)"
	enhanced_666
	enhanced_wide 2
	of c2s decoded 02 '{"op":"disconnect"}'
}

# enhanced_datagram NUMBER HEX: as an unreliable message, its bytes.
enhanced_datagram()
{
	printf '0010%04x%08x%s' $((8 + ${#2} / 2)) "$1" "$2" | xxd -r -p
}
