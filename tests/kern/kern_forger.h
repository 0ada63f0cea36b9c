/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kern_forger.h - a player of each family in the midst of a game, under the default
 * budgets, and whoever sends in its name. Included once by a program.
 */
#ifndef KERN_FORGER_H
#define KERN_FORGER_H

#include "config/config.h"
#include "kern/kern_game.h"

#define MS	   1000000ull
#define OWN_QPORT  0x9c41
#define OWN_NARROW 0x41
#define HEARD	   36000 /* where the player's sequence stands after settle() */
#define TOLD	   12000 /* and the server's */

enum qports {
	WIDE, /* 16 bits */
	NARROW, /* 8: Quake II, protocols 35 and 36 */
	NONE,
};

/* A player of each way to be known, and the one who plays it here. */
static const struct game {
	const char *name;
	enum wire_family family;
	enum qports qports;
	const char *connect; /* what its client says, if that is read */
} games[] = {
	{ "Quake III", FAMILY_QUAKE3, WIDE, NULL },
	{ "QuakeWorld", FAMILY_QUAKEWORLD, WIDE, "connect 28 40001 77 \"\\name\\x\"\n" },
	{ "QuakeWorld, no connect seen", FAMILY_QUAKEWORLD, WIDE, NULL },
	{ "Quake II, 34", FAMILY_QUAKE2, WIDE, "connect 34 40001 77 \"\\name\\x\"\n" },
	{ "Quake II, 36", FAMILY_QUAKE2, NARROW,
	  "connect 36 65 77 \"\\name\\x\" 1390 1\n" },
	{ "Quake II, 36, no qport", FAMILY_QUAKE2, NONE, "connect 36 0 77 \"\\n\\x\"\n" },
	{ "Quake II, no connect seen", FAMILY_QUAKE2, NONE, NULL },
};

static __u32 own, told; /* where the two sequences stand */

static inline void serve_default(enum wire_family family)
{
	struct service s = { .family = (__u8)family, .active = 1 };
	struct qport_key by;

	config_service_defaults(family, &s);
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, PORT, 0, false);
	memset(&kern.live->players, 0, sizeof(kern.live->players));
	memset(kern.live->player_addresses, 0, sizeof(kern.live->player_addresses));
	memset(kern.live->moved, 0, sizeof(kern.live->moved));
	while (!bpf_map_get_next_key(bpf_map__fd(kern.skel->maps.qports), NULL, &by))
		bpf_map_delete_elem(bpf_map__fd(kern.skel->maps.qports), &by);
	link_.dport = HERE;
	pass_time(600 * SECOND);
}

/* Does it get to the server? No counters are read, so it is fast. */
static inline bool gets_in(__u16 port, const char *payload, size_t n)
{
	struct frame_spec s = { .payload = payload,
				.n = n,
				.sport = port,
				.dport = PORT,
				.from = PEER,
				.to = HOST };
	__u8 frame[FRAME_MAX];

	return kern_action(&kern, frame, frame_build(&s, frame)) == XDP_PASS;
}

/* The same, and why. What came before was not counted. */
static inline enum reason judged(const char *from, __u16 port, const char *payload,
				 size_t n)
{
	kern_sum(&kern, 0, &kern.seen[0]);
	for (__u32 i = 0; i < CLASS_BUDGETS; i++)
		kern.due[0][i] = kern.live->service_due_ns[budget_index(0, i)];
	return hear_from(from, port, payload, n).reason;
}

static inline size_t move_build(const struct game *g, __u32 sequence, __u32 ack,
				__u16 qport, char move[40])
{
	memset(move, 0, 40);
	put32(move, sequence);
	if (g->family == FAMILY_QUAKE3) {
		put16(move + 4, qport);
		return 40;
	}
	put32(move + 4, ack);
	if (g->qports == WIDE) {
		put16(move + 8, qport);
		return 40;
	}
	/* What follows is what the player does, and changes. */
	move[8] = g->qports == NARROW ? (char)qport : (char)(2 + sequence % 3);
	move[9] = (char)(sequence * 7);
	return 40;
}

static inline bool move_in(const struct game *g, __u16 port, __u32 sequence, __u32 ack,
			   __u16 qport)
{
	char move[40];
	size_t n = move_build(g, sequence, ack, qport, move);

	return gets_in(port, move, n);
}

static inline enum reason move_reason(const struct game *g, __u16 port, __u32 sequence,
				      __u32 ack, __u16 qport)
{
	char move[40];
	size_t n = move_build(g, sequence, ack, qport, move);

	return judged(PEER, port, move, n);
}

static inline __u16 qport_of(const struct game *g)
{
	return g->qports == WIDE ? OWN_QPORT : g->qports == NARROW ? OWN_NARROW : 0;
}

static inline bool own_move(const struct game *g, __u16 port)
{
	return move_in(g, port, ++own, told, qport_of(g));
}

static inline void accept_player(const struct game *g)
{
	if (g->connect) {
		char request[200] = OOB;

		strcpy(request + 4, g->connect);
		assert_true(gets_in(link_.dport, request, strlen(request + 4) + 4));
	}
	if (g->family == FAMILY_QUAKE3)
		says(BYTES(OOB "connectResponse"));
	else if (g->family == FAMILY_QUAKE2)
		says(BYTES(OOB "client_connect"));
	else
		says(BYTES(OOB "j"));
}

/* Somebody plays, and has for some minutes: 30 moves a second, 20 updates. */
static inline void settle(const struct game *g)
{
	struct player player;

	serve_default(g->family);
	accept_player(g);
	own = 0;
	told = TOLD - 40;
	for (int i = 0; i < 40; i++) {
		pass_time(33 * MS);
		assert_true(sent(++told));
		assert_true(own_move(g, HERE));
	}
	/* As if they had gone on. */
	own = HEARD;
	assert_true(player_read(HERE, &player));
	assert_true(player.flags & PLAYER_QPORT);
	for (__u32 i = 0; i < COUNT(kern.live->players.cells); i++)
		if (kern.live->players.cells[i].state == PLAYER_HERE)
			kern.live->players.cells[i].player.heard_sequence = HEARD;
	assert_true(own_move(g, HERE));
}

static inline __u32 next_random(void)
{
	static __u64 x = 88172645463325252ull;
	__u64 z = x += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return (__u32)((z ^ (z >> 31)) >> 32);
}

/* A millisecond of the game. Returns how many of the player's moves were lost. */
static inline unsigned int play_ms(const struct game *g, unsigned int ms)
{
	pass_time(MS);
	if (ms % 50 == 0)
		sent(++told);
	return ms % 33 == 0 && !own_move(g, HERE);
}

static inline void nobody_lost(const struct game *g, unsigned int lost,
			       unsigned int let_in)
{
	if (lost || let_in)
		print_error("%s: %u of the player's lost, %u forged let in\n", g->name,
			    lost, let_in);
	assert_int_equal(lost, 0);
	assert_int_equal(let_in, 0);
}

#endif /* KERN_FORGER_H */
