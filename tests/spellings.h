/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spellings.h - what attackers write behind the marker, and what we call it.
 */
#ifndef SPELLINGS_H
#define SPELLINGS_H

#include <stddef.h>

#include "wire.h"

/* All that a tokeniser of some engine reads as getstatus, status, or rcon, and more. */
#define SPELT(s) s, sizeof(s) - 1
static const struct {
	const char *text;
	size_t n;
	enum wire_kind
		kind; /* in all families, toward the server, unless said otherwise */
} spellings[] = {
	{ SPELT(""), KIND_OOB_EMPTY },
	{ SPELT("\0"), KIND_OOB_EMPTY },
	{ SPELT("\n"), KIND_OOB_EMPTY },
	{ SPELT("\0getstatus"), KIND_OOB_EMPTY },
	{ SPELT("\ngetstatus"), KIND_OOB_EMPTY },
	{ SPELT(" "), KIND_OOB_UNUSUAL },
	{ SPELT(" getstatus"), KIND_OOB_UNUSUAL },
	{ SPELT("\tgetstatus"), KIND_OOB_UNUSUAL },
	{ SPELT("\rgetstatus"), KIND_OOB_UNUSUAL },
	{ SPELT("\x01getstatus"), KIND_OOB_UNUSUAL },
	{ SPELT(" \t \"status\""), KIND_OOB_UNUSUAL },
	{ SPELT("\"getstatus\""), KIND_OOB_UNUSUAL },
	{ SPELT("\"getstatus"), KIND_OOB_UNUSUAL },
	{ SPELT("/**/getstatus"), KIND_OOB_UNUSUAL },
	{ SPELT("//x\ngetstatus"), KIND_OOB_UNUSUAL },
	{ SPELT("\x80getstatus"), KIND_OOB_UNUSUAL },
	{ SPELT("\xffgetstatus"), KIND_OOB_UNUSUAL },
	{ SPELT("\xff\xff\xff\xffgetstatus"), KIND_OOB_UNUSUAL },
	{ SPELT("\x02getstatus"), KIND_OOB_UNUSUAL }, /* MOHAA */
	{ SPELT("\\getstatus"), KIND_OOB_UNUSUAL },
	{ SPELT("1"), KIND_OOB_UNUSUAL },
	{ SPELT("getstatus\"x\""), KIND_OOB_UNKNOWN },
	{ SPELT("getstatus/*x*/"), KIND_OOB_UNKNOWN },
	{ SPELT("getstatus//x"), KIND_OOB_UNKNOWN },
	{ SPELT("getstatus\x80"), KIND_OOB_UNKNOWN },
	{ SPELT("getstatus\xff"), KIND_OOB_UNKNOWN },
	{ SPELT("getstatusX"), KIND_OOB_UNKNOWN },
	{ SPELT("getstatu\xf3"), KIND_OOB_UNKNOWN },
	{ SPELT("rcon\"secret\" x"), KIND_OOB_UNKNOWN },
	{ SPELT("connect\"28\""), KIND_OOB_UNKNOWN },
	{ SPELT("connect28"), KIND_OOB_UNKNOWN },
	{ SPELT("connect\\protocol\\darkplaces 3\\name\\x"), KIND_CONNECT },
	{ SPELT("connect\\"), KIND_CONNECT },
	{ SPELT("connect\\ "), KIND_CONNECT },
	{ SPELT("connect|"), KIND_OOB_UNKNOWN }, /* not `\` */
	{ SPELT("connect|protocol\\darkplaces 3"), KIND_OOB_UNKNOWN },
	{ SPELT("n|chunk\1\0\0\0"), KIND_OOB_UNKNOWN },
	{ SPELT("connect \0\0\1"), KIND_CONNECT },
	{ SPELT("CONNECT 34 1 2 \"\\name\\x\"\n"), KIND_CONNECT },
	{ SPELT("getserversResponse\\\1\2\3\4\5\6\\EOT\0\0\0"), KIND_OOB_UNKNOWN },
	{ SPELT("getBlockedServersResponse"), KIND_GETBLOCKEDRESPONSE },
	{ SPELT("thirtytwoletterswordthirtytwolet"), KIND_OOB_UNKNOWN },
	{ SPELT("thirtytwoletterswordthirtytwoletters"), KIND_OOB_UNKNOWN },
	{ SPELT("TSource Engine Query\0"), KIND_A2S_INFO },
	{ SPELT("TSource Engine Query\0\1\2\3\4"), KIND_A2S_INFO },
	{ SPELT("Tsourcery"), KIND_OOB_UNKNOWN },
	{ SPELT("U\1\2\3\4"), KIND_A2S_PLAYER },
	{ SPELT("V\1\2\3\4"), KIND_A2S_RULES },
	{ SPELT("U\1\2\3"), KIND_OOB_UNKNOWN },
	{ SPELT("W"), KIND_A2S_CHALLENGE },
	{ SPELT("i"), KIND_A2S_PING },
	{ SPELT("I\x11hostname"), KIND_A2S_REPLY },
	{ SPELT("A\1\2\3\4"), KIND_A2S_REPLY },
	{ SPELT("D\1\0"), KIND_A2S_REPLY },
	{ SPELT("E\1\0"), KIND_A2S_REPLY },
};
#undef SPELT

#endif /* SPELLINGS_H */
