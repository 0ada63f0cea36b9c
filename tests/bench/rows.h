/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rows.h - what is measured, and what each is compared with.
 */
#ifndef ROWS_H
#define ROWS_H

#include "frame.h"

#define COUNT(a)	      (sizeof(a) / sizeof(*(a)))
#define FOUR_M		      0x3fffff /* sources, as a mask */
#define PORT		      27960
#define PORT_FIRST	      30000 /* of the further services */
#define PLAYER_PORT	      4242

#define PAYLOAD_AT	      (14 + 20 + 8) /* in players' frames */
#define PAYLOAD6_AT	      (14 + 40 + 8)
#define PLAYER_ADDRESS	      "::ffff:10.0.0.1" /* as wrap() leaves them */
#define PLAYER_ADDRESS6	      "2001:db8:a00:1::1"
#define PLAYER_ACKED	      0x1234 /* in NETCHAN */
#define PLAYER_SEQUENCE_FIRST 4
#define PLAYER_QPORT_KNOWN    0x1234 /* in NETCHAN */

enum program {
	DROP,
	FLOOR,
	BARE,
	SHIELD,
	SHIELD_16,
	SHIELD_256,
	SHIELD_QUAKEWORLD,
	SHIELD_QUAKE2,
	SHIELD_FAMILIES,
	SHIELD_SAMPLED,
	SHIELD_FOLLOWED,
	SHIELD_SPENT, /* strangers have to prove themselves, and no more are asked */
	SHIELD_ASKS, /* each is asked */
	OUT, /* from here on at TC egress */
	OUT_PASS = OUT,
	OUT_BARE,
	OUT_SHIELD,
	OUT_LEDGER, /* strangers may have nothing more */
	PROGRAMS
};

#define OOB(word) .payload = "\xff\xff\xff\xff" word, .n = 4 + sizeof(word) - 1
/* A sequence, the qport of Quake III, an acknowledgement, the qport of QuakeWorld. */
#define NETCHAN                                   \
	.payload = "\5\0\0\0\x34\x12\0\0\x34\x12" \
		   "a player moves",              \
	.n = 24
#define FORGED_MOVE                               \
	.payload = "\5\0\0\0\x35\x12\0\0\x34\x12" \
		   "a player moves",              \
	.n = 24

/* Nobody's, and as short as what is sent to that port: the head of a question. */
#define DNS	    .payload = "\x12\x34\1\0\0\1\0\0\0\0\0", .n = 12

#define SERVER_SAYS .sport = PORT, OOB("statusResponse\n\\a\\b")

struct row {
	const char *name;
	enum program program;
	__u32 sources; /* mask; 0: one. On the way out: receivers */
	int against; /* the row that it is compared with; -1: none */
	double goal; /* ratio; 0: none */
	struct frame_spec frame;
	bool stepped; /* not timed: what is answered is another frame afterwards */
};

/* By number, so that rows can name each other. */
enum {
	R_DROP,
	R_DROP_4M,
	R_FLOOR,
	R_FLOOR_4M,
	R_FLOOR6,
	R_FLOOR_TAGS,
	R_BARE,
	R_BARE_TCP,
	R_BARE6,
	R_OUT,
	R_OUT_4M,
	R_FIRST,
};

/* clang-format off */
static const struct row rows_known[] = {
	[R_DROP] = { "bare drop", DROP, 0, -1, 0, { OOB("getstatus") }, false },
	[R_DROP_4M] = { "bare drop, 4M sources",
			DROP,
			FOUR_M,
			-1,
			0,
			{ OOB("getstatus") }, false },
	[R_FLOOR] = { "floor", FLOOR, 0, -1, 0, { OOB("getstatus") }, false },
	[R_FLOOR_4M] = { "floor, 4M", FLOOR, FOUR_M, -1, 0, { OOB("getstatus") }, false },
	[R_FLOOR6] = { "floor, IPv6, 4M",
		       FLOOR,
		       FOUR_M,
		       -1,
		       0,
		       { OOB("getstatus"), .ipv6 = true }, false },
	[R_FLOOR_TAGS] = { "floor, two tags, 4M",
			   FLOOR,
			   FOUR_M,
			   -1,
			   0,
			   { OOB("getstatus"), .tags = { ETH_P_8021AD, ETH_P_8021Q } }, false },
	[R_BARE] = { "bare parsing", BARE, FOUR_M, -1, 0, { DNS, .dport = 53 }, false },
	[R_BARE_TCP] = { "bare parsing, TCP",
			 BARE,
			 FOUR_M,
			 -1,
			 0,
			 { OOB("x"), .protocol = 6 }, false },
	[R_BARE6] = { "bare parsing, IPv6",
		      BARE,
		      FOUR_M,
		      -1,
		      0,
		      { DNS, .dport = 53, .ipv6 = true }, false },
	[R_OUT] = { "out: bare pass", OUT_PASS, 0, -1, 0, { SERVER_SAYS }, false },
	[R_OUT_4M] = { "out: bare pass, 4M receivers",
		       OUT_PASS,
		       FOUR_M,
		       -1,
		       0,
		       { SERVER_SAYS }, false },
	{ "getstatus flood, 1 source", SHIELD, 0, R_FLOOR, 1.25, { OOB("getstatus") }, false },
	{ "getstatus flood, 4M sources",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_4M,
	  1.25,
	  { OOB("getstatus") }, false },
	{ "not ours: UDP", SHIELD, FOUR_M, R_BARE, 1.10, { DNS, .dport = 53 }, false },
	{ "not ours: UDP, IPv6",
	  SHIELD,
	  FOUR_M,
	  R_BARE6,
	  1.10,
	  { DNS, .dport = 53, .ipv6 = true }, false },
	{ "not ours: TCP",
	  SHIELD,
	  FOUR_M,
	  R_BARE_TCP,
	  1.10,
	  { OOB("x"), .protocol = 6 }, false },
	{ "getstatus flood, 16 services",
	  SHIELD_16,
	  FOUR_M,
	  R_FLOOR_4M,
	  1.25,
	  { OOB("getstatus"), .dport = PORT_FIRST + 14 }, false },
	{ "getstatus flood, 256 services",
	  SHIELD_256,
	  FOUR_M,
	  R_FLOOR_4M,
	  1.25,
	  { OOB("getstatus"), .dport = PORT_FIRST + 254 }, false },
	{ "getinfo flood", SHIELD, FOUR_M, R_FLOOR_4M, 0, { OOB("getinfo xxx") }, false },
	{ "getchallenge flood", SHIELD, FOUR_M, R_FLOOR_4M, 0, { OOB("getchallenge") }, false },
	{ "connect flood",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB("connect \0\x10"
		"aaaaaaaaaaaaaaaaaaaaaa") }, false },
	{ "rcon flood", SHIELD, FOUR_M, R_FLOOR_4M, 0, { OOB("rcon secret status") }, false },
	{ "long word flood",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB("getBlockedServersResponse") }, false },
	{ "unknown word flood", SHIELD, FOUR_M, R_FLOOR_4M, 0, { OOB("xyzzy") }, false },
	{ "odd spelling flood",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB(" \"GetStatus\"") }, false },
	{ "short text, IPv6",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR6,
	  0,
	  { OOB("T??"), .ipv6 = true }, false },
	{ "unknown word, two tags, 6 headers",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR6,
	  0,
	  { OOB("getchallengewhateverothers"),
	    .tags = { ETH_P_8021AD, ETH_P_8021Q },
	    .ipv6 = true,
	    .exts = { 0, 60, 43, 60, 0, 60 },
	    .ext_count = 6 }, false },
	{ "replies to the server",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB("statusResponse\n\\a\\b") }, false },
	{ "junk", SHIELD, FOUR_M, R_FLOOR_4M, 0, { .payload = "junk", .n = 4 }, false },
	{ "fragments",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB("getstatus"), .more = true }, false },
	{ "strangers' game traffic", SHIELD, FOUR_M, R_FLOOR_4M, 0, { NETCHAN }, false },
	{ "getstatus flood, IPv6",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR6,
	  0,
	  { OOB("getstatus"), .ipv6 = true }, false },
	{ "getstatus flood, two tags",
	  SHIELD,
	  FOUR_M,
	  R_FLOOR_TAGS,
	  0,
	  { OOB("getstatus"), .tags = { ETH_P_8021AD, ETH_P_8021Q } }, false },
	{ "a player's game traffic",
	  SHIELD,
	  0,
	  R_FLOOR,
	  1.60,
	  { NETCHAN, .sport = PLAYER_PORT }, false },
	{ "a player's, IPv6", SHIELD, 0, R_FLOOR, 1.60, { NETCHAN, .sport = PLAYER_PORT, .ipv6 = true }, false },
	{ "a player's, QuakeWorld", SHIELD_QUAKEWORLD, 0, R_FLOOR, 1.60, { NETCHAN, .sport = PLAYER_PORT }, false },
	{ "a player's, Quake II", SHIELD_QUAKE2, 0, R_FLOOR, 1.60, { NETCHAN, .sport = PLAYER_PORT }, false },
	{ "forged in a player's name", SHIELD, 0, R_FLOOR, 0, { FORGED_MOVE, .sport = PLAYER_PORT }, false },
	/* Against the rows above without "sampled" and "followed". */
	{ "getstatus flood, sampled",
	  SHIELD_SAMPLED,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB("getstatus") }, false },
	{ "a player's, sampled",
	  SHIELD_SAMPLED,
	  0,
	  R_FLOOR,
	  0,
	  { NETCHAN, .sport = PLAYER_PORT }, false },
	{ "getstatus flood, all followed",
	  SHIELD_FOLLOWED,
	  FOUR_M,
	  R_FLOOR_4M,
	  0,
	  { OOB("getstatus") }, false },
	{ "a player's, followed",
	  SHIELD_FOLLOWED,
	  0,
	  R_FLOOR,
	  0,
	  { NETCHAN, .sport = PLAYER_PORT }, false },
	/* Proof of address: the rows above are without. */
	{ "getstatus flood, proofs spent", SHIELD_SPENT, FOUR_M, R_FLOOR_4M, 0, { OOB("getstatus") }, false },
	{ "getchallenge flood, proofs spent", SHIELD_SPENT, FOUR_M, R_FLOOR_4M, 0, { OOB("getchallenge") }, false },
	{ "made-up proofs", SHIELD_SPENT, FOUR_M, R_FLOOR_4M, 0, { OOB("2aaaaaaa123xQuake3Arena") }, false },
	{ "getchallenge, answered by echo", SHIELD_ASKS, FOUR_M, R_FLOOR_4M, 0, { OOB("getchallenge 123 Quake3Arena") }, true },
	{ "out: bare parsing", OUT_BARE, 0, R_OUT, 0, { SERVER_SAYS }, false },
	{ "out: not ours, UDP", OUT_SHIELD, 0, R_OUT, 0, { DNS, .sport = 53 }, false },
	{ "out: not ours, TCP", OUT_SHIELD, 0, R_OUT, 0, { OOB("x"), .protocol = 6 }, false },
	{ "out: to a player", OUT_SHIELD, 0, R_OUT, 0, { NETCHAN, .sport = PORT, .dport = PLAYER_PORT }, false },
	{ "out: to a stranger", OUT_SHIELD, 0, R_OUT, 0, { SERVER_SAYS }, false },
	{ "out: to 4M strangers", OUT_SHIELD, FOUR_M, R_OUT_4M, 0, { SERVER_SAYS }, false },
	{ "out: to 4M strangers, IPv6",
	  OUT_SHIELD,
	  FOUR_M,
	  R_OUT_4M,
	  0,
	  { SERVER_SAYS, .ipv6 = true }, false },
	{ "out: withheld from a stranger", OUT_LEDGER, 0, R_OUT, 0, { SERVER_SAYS }, false },
	{ "out: withheld from 4M", OUT_LEDGER, FOUR_M, R_OUT_4M, 0, { SERVER_SAYS }, false },
};
/* clang-format on */

#endif /* ROWS_H */
