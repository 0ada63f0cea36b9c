/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rows.h - what is measured, and what each is compared with.
 */
#ifndef ROWS_H
#define ROWS_H

#include "frame.h"
#include "wire.h"

#define COUNT(a)	      (sizeof(a) / sizeof(*(a)))
#define FOUR_M		      0x3fffff /* sources, as a mask */
#define SIXTEEN_M	      0xffffff
#define PORT		      27960
#define PORT_FIRST	      30000 /* of the further services */
#define PLAYER_PORT	      4242

#define PAYLOAD_AT	      (14 + 20 + 8) /* in players' frames */
#define PAYLOAD6_AT	      (14 + 40 + 8)
#define PLAYER_ADDRESS	      "::ffff:10.0.0.1" /* as wrap() leaves them */
#define PLAYER_ADDRESS4	      "10.0.0.1"
#define PLAYER_ADDRESS6	      "2001:db8:a00:1::1"
#define PLAYER_ACKED	      0x1234 /* in SEQUENCED */
#define PLAYER_SEQUENCE_FIRST 4
#define PLAYER_QPORT_KNOWN    0x1234 /* in SEQUENCED */

enum program {
	DROP,
	FLOOR,
	FLOOR_AGAIN, /* each frame is written anew, as for what answers */
	BARE,
	BARE_ANSWER,
	SHIELD,
	SHIELD_16,
	SHIELD_256,
	SHIELD_QUAKEWORLD,
	SHIELD_QUAKE2,
	SHIELD_FAMILIES,
	SHIELD_SHIPPED, /* as SHIELD_FAMILIES, with proof and answers under load */
	SHIELD_SHIPPED_4M, /* with the mark window of 4 million a second */
	SHIELD_SAMPLED,
	SHIELD_FOLLOWED,
	SHIELD_SPENT, /* strangers have to prove themselves, and no more are asked */
	SHIELD_ASKS, /* each is asked */
	SHIELD_ANSWERS, /* who asks is answered */
	OUT, /* from here on at TC egress */
	OUT_PASS = OUT,
	OUT_BARE,
	OUT_SHIELD,
	OUT_AMPLIFICATION, /* strangers may have nothing more */
	PROGRAMS
};

#define OOB(word) .payload = "\xff\xff\xff\xff" word, .n = 4 + sizeof(word) - 1
/* A sequence, the qport of Quake III, an acknowledgement, the qport of QuakeWorld. */
#define SEQUENCED                                 \
	.payload = "\5\0\0\0\x34\x12\0\0\x34\x12" \
		   "a player moves",              \
	.n = 24
#define FORGED_MOVE                               \
	.payload = "\5\0\0\0\x35\x12\0\0\x34\x12" \
		   "a player moves",              \
	.n = 24

/* Nobody's, and as short as what is sent to that port: the head of a question. */
#define DNS .payload = "\x12\x34\1\0\0\1\0\0\0\0\0", .n = 12

/* What the search found dearest of what begins no text: a block of NetQuake's, elsewhere.
 */
#define BLOCK                              \
	.payload = "\0\2\0\x18"            \
		   "twenty octets of it.", \
	.n = 24

/* What asks to join: NetQuake, and Quake Enhanced, a ClientHello that is one record. */
#define CCREQ .payload = "\x80\0\0\x0c\1QUAKE\0\3", .n = 12
#define HELLO                                             \
	.payload = "\x16\xfe\xfd\0\0\0\0\0\0\0\0\0\x36"   \
		   "\1\0\0\x2a\0\0\0\0\0\0\0\x2a\xfe\xfd" \
		   "thirty-two octets of randomness!"     \
		   "\0\0\0\2\0\0\1\0",                    \
	.n = 67

#define TWO_TAGS    .tags = { ETH_P_8021AD, ETH_P_8021Q }
#define SIX_HEADERS .ipv6 = true, .exts = { 0, 60, 43, 60, 0, 60 }, .ext_count = 6

#define SERVER_SAYS .sport = PORT, OOB("statusResponse\n\\a\\b")

struct row {
	const char *name;
	enum program program;
	__u32 sources; /* mask; 0: one. On the way out: receivers */
	int against; /* the row that it is compared with; -1: none */
	double goal; /* ratio; 0: none */
	struct frame_spec frame;
	long most; /* steps: see kern_steps.c; 0: it is no shield's */
};

/* By number, so that rows can name each other. */
enum {
	R_DROP,
	R_DROP_4M,
	R_FLOOR,
	R_FLOOR_4M,
	R_FLOOR6,
	R_FLOOR_TAGS,
	R_FLOOR_AGAIN,
	R_FLOOR_AGAIN_4M,
	R_BARE,
	R_BARE_TCP,
	R_BARE6,
	R_OUT,
	R_OUT_4M,
	R_FIRST,
};

/* clang-format off */
static const struct row rows_known[] = {
	[R_DROP] = { "bare drop", DROP, 0, -1, 0, { OOB("getstatus") }, 0 },
	[R_DROP_4M] = { "bare drop, 4M sources",
			DROP,
			FOUR_M,
			-1,
			0,
			{ OOB("getstatus") }, 0 },
	[R_FLOOR] = { "floor", FLOOR, 0, -1, 0, { OOB("getstatus") }, 0 },
	[R_FLOOR_4M] = { "floor, 4M", FLOOR, FOUR_M, -1, 0, { OOB("getstatus") }, 0 },
	[R_FLOOR6] = { "floor, IPv6, 4M",
		       FLOOR,
		       FOUR_M,
		       -1,
		       0,
		       { OOB("getstatus"), .ipv6 = true }, 0 },
	[R_FLOOR_TAGS] = { "floor, two tags, 4M",
			   FLOOR,
			   FOUR_M,
			   -1,
			   0,
			   { OOB("getstatus"), .tags = { ETH_P_8021AD, ETH_P_8021Q } }, 0 },
	[R_FLOOR_AGAIN] = { "floor, frame written anew", FLOOR_AGAIN, 0, -1, 0, { OOB("getstatus") }, 0 },
	[R_FLOOR_AGAIN_4M] = { "floor, frame written anew, 4M", FLOOR_AGAIN, FOUR_M, -1, 0, { OOB("getchallenge 123 Quake3Arena") }, 0 },
	[R_BARE] = { "bare parsing", BARE, FOUR_M, -1, 0, { DNS, .dport = 53 }, 0 },
	[R_BARE_TCP] = { "bare parsing, TCP",
			 BARE,
			 FOUR_M,
			 -1,
			 0,
			 { OOB("x"), .protocol = 6 }, 0 },
	[R_BARE6] = { "bare parsing, IPv6",
		      BARE,
		      FOUR_M,
		      -1,
		      0,
		      { DNS, .dport = 53, .ipv6 = true }, 0 },
	[R_OUT] = { "out: bare pass", OUT_PASS, 0, -1, 0, { SERVER_SAYS }, 0 },
	[R_OUT_4M] = { "out: bare pass, 4M receivers",
		       OUT_PASS,
		       FOUR_M,
		       -1,
		       0,
		       { SERVER_SAYS }, 0 },
	{ "getstatus flood, 1 source", SHIELD, 0, R_FLOOR, 1.25, { OOB("getstatus") }, 212 },
	{ "getstatus flood, 4M sources",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_4M,
	  1.25,
	  { OOB("getstatus") }, 184 },
	{ "not ours: UDP", SHIELD, FOUR_M, R_BARE, 1.10, { DNS, .dport = 53 }, 72 },
	{ "not ours: UDP, IPv6",
	  SHIELD,
	  FOUR_M,
	  R_BARE6,
	  1.10,
	  { DNS, .dport = 53, .ipv6 = true }, 72 },
	{ "not ours: TCP",
	  SHIELD,
	  FOUR_M,
	  R_BARE_TCP,
	  1.10,
	  { OOB("x"), .protocol = 6 }, 53 },
	{ "getstatus flood, 16 services",
	  SHIELD_16,
	  FOUR_M,
	  R_FLOOR_4M,
	  1.25,
	  { OOB("getstatus"), .dport = PORT_FIRST + 14 }, 184 },
	{ "getstatus flood, 256 services",
	  SHIELD_256,
	  FOUR_M,
	  R_FLOOR_4M,
	  1.25,
	  { OOB("getstatus"), .dport = PORT_FIRST + 254 }, 184 },
	{ "getinfo flood", SHIELD, FOUR_M, R_FLOOR_4M, 0, { OOB("getinfo xxx") }, 188 },
	{ "getchallenge flood", SHIELD, FOUR_M, R_FLOOR_4M, 0, { OOB("getchallenge") }, 184 },
	{ "connect flood",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB("connect \0\x10"
		"aaaaaaaaaaaaaaaaaaaaaa") }, 189 },
	{ "rcon flood", SHIELD, FOUR_M, R_FLOOR_4M, 0, { OOB("rcon secret status") }, 238 },
	{ "long word flood",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB("getBlockedServersResponse") }, 301 },
	{ "unknown word flood", SHIELD, FOUR_M, R_FLOOR_4M, 0, { OOB("xyzzy") }, 253 },
	{ "odd spelling flood",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB(" \"GetStatus\"") }, 210 },
	{ "short text, IPv6",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR6,
	  0,
	  { OOB("T??"), .ipv6 = true }, 318 },
	{ "unknown word, two tags, 6 headers",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR6,
	  0,
	  { OOB("getchallengewhateverothers"),
	    TWO_TAGS,
	    SIX_HEADERS }, 390 },
	{ "replies to the server",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB("statusResponse\n\\a\\b") }, 269 },
	{ "junk", SHIELD, FOUR_M, R_FLOOR_4M, 0, { .payload = "junk", .n = 4 }, 200 },
	{ "fragments",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB("getstatus"), .more = true }, 285 },
	{ "strangers' game traffic", SHIELD, FOUR_M, R_FLOOR_4M, 0, { SEQUENCED }, 262 },
	{ "getstatus flood, IPv6",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR6,
	  0,
	  { OOB("getstatus"), .ipv6 = true }, 184 },
	{ "getstatus flood, two tags",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_TAGS,
	  0,
	  { OOB("getstatus"), .tags = { ETH_P_8021AD, ETH_P_8021Q } }, 332 },
	{ "a player's game traffic",
	  SHIELD,
	  0,
	  R_FLOOR,
	  1.60,
	  { SEQUENCED, .sport = PLAYER_PORT }, 266 },
	{ "a player's, IPv6", SHIELD, 0, R_FLOOR, 1.60, { SEQUENCED, .sport = PLAYER_PORT, .ipv6 = true }, 262 },
	{ "a player's, QuakeWorld", SHIELD_QUAKEWORLD, 0, R_FLOOR, 1.60, { SEQUENCED, .sport = PLAYER_PORT }, 286 },
	{ "a player's, Quake II", SHIELD_QUAKE2, 0, R_FLOOR, 1.60, { SEQUENCED, .sport = PLAYER_PORT }, 276 },
	{ "forged in a player's name", SHIELD, 0, R_FLOOR, 0, { FORGED_MOVE, .sport = PLAYER_PORT }, 256 },
	/* What a search has found: see search.h. */
	{ "a block to QuakeWorld", SHIELD_FAMILIES, FOUR_M, R_FLOOR_4M, 2.0, { BLOCK, .dport = PORT + FAMILY_QUAKEWORLD }, 366 },
	{ "a block, two tags, 6 headers", SHIELD_FAMILIES, FOUR_M, R_FLOOR6, 3.0, { BLOCK, .dport = PORT + FAMILY_QUAKEWORLD, TWO_TAGS, SIX_HEADERS }, 390 },
	{ "getstatus flood, shipped", SHIELD_SHIPPED_4M, FOUR_M, R_FLOOR_4M, 3.0, { OOB("getstatus"), .dport = PORT + FAMILY_QUAKE3 }, 450 },
	{ "getstatus, shipped, tags, headers", SHIELD_SHIPPED_4M, FOUR_M, R_FLOOR6, 3.5, { OOB("getstatus"), .dport = PORT + FAMILY_QUAKE3, TWO_TAGS, SIX_HEADERS }, 390 },
	{ "connect flood, shipped", SHIELD_SHIPPED, FOUR_M, R_FLOOR_4M, 2.5, { OOB("connect \\protocol\\68"), .dport = PORT + FAMILY_QUAKE3 }, 275 },
	{ "CCREQ_CONNECT, shipped, 16M", SHIELD_SHIPPED, SIXTEEN_M, R_FLOOR_4M, 2.5, { CCREQ, .dport = PORT + FAMILY_NETQUAKE }, 515 },
	{ "ClientHello, shipped, 16M", SHIELD_SHIPPED, SIXTEEN_M, R_FLOOR_4M, 2.5, { HELLO, .dport = PORT + FAMILY_QUAKE_ENHANCED }, 543 },
	{ "getstatus, shipped, 16M", SHIELD_SHIPPED_4M, SIXTEEN_M, R_FLOOR_4M, 3.0, { OOB("getstatus"), .dport = PORT + FAMILY_QUAKE3 }, 450 },
	{ "CCREQ_CONNECT flood, shipped", SHIELD_SHIPPED, FOUR_M, R_FLOOR_4M, 2.5, { CCREQ, .dport = PORT + FAMILY_NETQUAKE }, 515 },
	{ "ClientHello flood, shipped", SHIELD_SHIPPED, FOUR_M, R_FLOOR_4M, 2.5, { HELLO, .dport = PORT + FAMILY_QUAKE_ENHANCED }, 543 },
	{ "getstatus, shipped, IPv6", SHIELD_SHIPPED_4M, FOUR_M, R_FLOOR6, 3.0, { OOB("getstatus"), .dport = PORT + FAMILY_QUAKE3, .ipv6 = true }, 450 },
	{ "getstatus, shipped, two tags", SHIELD_SHIPPED_4M, FOUR_M, R_FLOOR_TAGS, 3.5, { OOB("getstatus"), .dport = PORT + FAMILY_QUAKE3, TWO_TAGS }, 585 },
	{ "getinfo flood, shipped", SHIELD_SHIPPED_4M, FOUR_M, R_FLOOR_4M, 3.0, { OOB("getinfo xxx"), .dport = PORT + FAMILY_QUAKE3 }, 452 },
	{ "status flood, shipped, Quake II", SHIELD_SHIPPED_4M, FOUR_M, R_FLOOR_4M, 3.0, { OOB("status"), .dport = PORT + FAMILY_QUAKE2 }, 448 },
	{ "info flood, shipped, Quake II", SHIELD_SHIPPED_4M, FOUR_M, R_FLOOR_4M, 3.0, { OOB("info 34"), .dport = PORT + FAMILY_QUAKE2 }, 512 },
	{ "made-up proofs, shipped, Quake II", SHIELD_SHIPPED, FOUR_M, R_FLOOR_4M, 0, { OOB("2aaaaaaai"), .dport = PORT + FAMILY_QUAKE2 }, 612 },
	{ "status 23 flood, shipped", SHIELD_SHIPPED_4M, FOUR_M, R_FLOOR_4M, 3.0, { OOB("status 23\n"), .dport = PORT + FAMILY_QUAKEWORLD }, 376 },
	{ "getchallenge flood, shipped", SHIELD_SHIPPED, FOUR_M, R_FLOOR_4M, 2.5, { OOB("getchallenge"), .dport = PORT + FAMILY_QUAKE3 }, 271 },
	{ "getchallenge, shipped, QuakeWorld", SHIELD_SHIPPED, FOUR_M, R_FLOOR_4M, 2.5, { OOB("getchallenge\n"), .dport = PORT + FAMILY_QUAKEWORLD }, 276 },
	{ "getchallenge, shipped, Quake II", SHIELD_SHIPPED, FOUR_M, R_FLOOR_4M, 2.5, { OOB("getchallenge\n"), .dport = PORT + FAMILY_QUAKE2 }, 276 },
	{ "getchallenge, shipped, DarkPlaces", SHIELD_SHIPPED, FOUR_M, R_FLOOR_4M, 2.5, { OOB("getchallenge"), .dport = PORT + FAMILY_NETQUAKE }, 282 },
	{ "k, shipped, IPv6", SHIELD_SHIPPED_4M, FOUR_M, R_FLOOR6, 3.0, { OOB("k\n"), .dport = PORT + FAMILY_QUAKEWORLD, .ipv6 = true }, 480 },
	{ "rcon flood, shipped", SHIELD_SHIPPED, FOUR_M, R_FLOOR_4M, 2.5, { OOB("rcon secret status"), .dport = PORT + FAMILY_QUAKE3 }, 238 },
	{ "unknown word flood, shipped", SHIELD_SHIPPED, FOUR_M, R_FLOOR_4M, 3.0, { OOB("xyzzy"), .dport = PORT + FAMILY_QUAKE3 }, 251 },
	{ "replies, shipped", SHIELD_SHIPPED, FOUR_M, R_FLOOR_4M, 3.0, { OOB("statusResponse\n\\a\\b"), .dport = PORT + FAMILY_QUAKE3 }, 269 },
	{ "junk, shipped", SHIELD_SHIPPED, FOUR_M, R_FLOOR_4M, 2.5, { .payload = "junk", .n = 4, .dport = PORT + FAMILY_QUAKE3 }, 200 },
	{ "fragments, shipped", SHIELD_SHIPPED, FOUR_M, R_FLOOR_4M, 3.0, { OOB("getstatus"), .more = true, .dport = PORT + FAMILY_QUAKE3 }, 285 },
	{ "strangers' game traffic, shipped", SHIELD_SHIPPED, FOUR_M, R_FLOOR_4M, 2.5, { SEQUENCED, .dport = PORT + FAMILY_QUAKE3 }, 262 },
	/* Against the rows above without "sampled" and "followed". */
	{ "getstatus flood, sampled",
	  SHIELD_SAMPLED,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB("getstatus") }, 193 },
	{ "a player's, sampled",
	  SHIELD_SAMPLED,
	  0,
	  R_FLOOR,
	  0,
	  { SEQUENCED, .sport = PLAYER_PORT }, 280 },
	{ "getstatus flood, all followed",
	  SHIELD_FOLLOWED,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB("getstatus") }, 187 },
	{ "a player's, followed",
	  SHIELD_FOLLOWED,
	  0,
	  R_FLOOR,
	  0,
	  { SEQUENCED, .sport = PLAYER_PORT }, 405 },
	/* Proof of address: the rows above are without. */
	{ "getstatus flood, proofs spent", SHIELD_SPENT, FOUR_M, R_FLOOR_4M, 0, { OOB("getstatus") }, 330 },
	{ "getchallenge flood, proofs spent", SHIELD_SPENT, FOUR_M, R_FLOOR_4M, 0, { OOB("getchallenge") }, 271 },
	{ "made-up proofs", SHIELD_SPENT, FOUR_M, R_FLOOR_4M, 0, { OOB("2aaaaaaa123xQuake3Arena") }, 600 },
	{ "getchallenge, answered by echo", SHIELD_ASKS, FOUR_M, R_FLOOR_AGAIN_4M, 3.50, { OOB("getchallenge 123 Quake3Arena") }, 1272 },
	{ "bare getchallenge, answered by echo", SHIELD_ASKS, FOUR_M, R_FLOOR_AGAIN_4M, 0, { OOB("getchallenge") }, 1029 },
	/* Answers: the rows above are without. */
	{ "getstatus, all marked", SHIELD_SHIPPED, FOUR_M, R_FLOOR_4M, 0, { OOB("getstatus"), .dport = PORT + FAMILY_QUAKE3 }, 600 },
	{ "getstatus, all marked, 16M", SHIELD_SHIPPED, SIXTEEN_M, R_FLOOR_4M, 0, { OOB("getstatus"), .dport = PORT + FAMILY_QUAKE3 }, 600 },
	{ "getstatus, all marked, 1 source", SHIELD_SHIPPED, 0, R_FLOOR, 0, { OOB("getstatus"), .dport = PORT + FAMILY_QUAKE3 }, 540 },
	{ "bare answer of 800 octets", BARE_ANSWER, 0, R_FLOOR_AGAIN, 0, { OOB("getstatus") }, 0 },
	{ "getstatus, 800 octets answered", SHIELD_ANSWERS, 0, R_FLOOR_AGAIN, 2.50, { OOB("getstatus") }, 1481 },
	{ "out: bare parsing", OUT_BARE, 0, R_OUT, 0, { SERVER_SAYS }, 0 },
	{ "out: not ours, UDP", OUT_SHIELD, 0, R_OUT, 0, { DNS, .sport = 53 }, 102 },
	{ "out: not ours, TCP", OUT_SHIELD, 0, R_OUT, 0, { OOB("x"), .protocol = 6 }, 29 },
	{ "out: to a player", OUT_SHIELD, 0, R_OUT, 0, { SEQUENCED, .sport = PORT, .dport = PLAYER_PORT }, 650 },
	{ "out: to a stranger", OUT_SHIELD, 0, R_OUT, 2.8, { SERVER_SAYS }, 567 },
	{ "out: to 4M strangers", OUT_SHIELD, FOUR_M, R_OUT_4M, 2.8, { SERVER_SAYS }, 597 },
	{ "out: to 4M strangers, IPv6",
	  OUT_SHIELD,
	  FOUR_M,
	  R_OUT_4M,
	  0,
	  { SERVER_SAYS, .ipv6 = true }, 598 },
	{ "out: withheld from a stranger", OUT_AMPLIFICATION, 0, R_OUT, 0, { SERVER_SAYS }, 587 },
	{ "out: withheld from 4M", OUT_AMPLIFICATION, FOUR_M, R_OUT_4M, 0, { SERVER_SAYS }, 587 },
};
/* clang-format on */

#endif /* ROWS_H */
