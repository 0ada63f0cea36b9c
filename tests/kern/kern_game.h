/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kern_game.h - a server and one peer of it, in the kernel's eyes: what the one says and
 * the other is heard to say, in each family's datagrams. Included once by a program.
 */
#ifndef KERN_GAME_H
#define KERN_GAME_H

#include "kern/kern_support.h"
#include "players.h"

#include <linux/pkt_cls.h>

#define BYTES(literal) (literal), sizeof(literal) - 1
#define OOB	       "\xff\xff\xff\xff"
#define PORT	       27960
#define PEER	       "192.0.2.1"
#define STRANGER       "192.0.2.9"
#define HOST	       "198.51.100.1"
#define HERE	       40000 /* the peer's port */

static struct kern kern;
static struct {
	bool ipv6;
	const char *peer;
	__u16 sport; /* the server's */
	__u16 dport; /* the peer's */
} link_;

static inline int enter(void **state)
{
	(void)state;
	if (kern_open(&kern)) {
		print_message("not allowed to load BPF programs: skipped\n");
		skip();
	}
	link_.ipv6 = false;
	link_.peer = PEER;
	link_.sport = PORT;
	link_.dport = HERE;
	return 0;
}

static inline int leave(void **state)
{
	(void)state;
	kern_close(&kern);
	return 0;
}

/* A service whose strangers' game traffic is never let in: what passes is a player's. */
static inline void serve(enum wire_family family)
{
	struct service s = kern_open_service(family);

	s.budget[CLASS_NETCHAN].service = (struct limit){ SECOND, 0 };
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, PORT, 0, false);
}

/* @allowance bytes in @window_s seconds, as apply_amplification() would have it. */
static inline void amplification(__u64 allowance, __u64 window_s)
{
	kern.live->amplification =
		(struct amplification_limit){ .byte_ns = window_s * SECOND / allowance,
					      .window_ns = window_s * SECOND };
}

/* No allowance at all. */
static inline void amplification_strict(void)
{
	kern.live->amplification =
		(struct amplification_limit){ .byte_ns = AMPLIFICATION_GRAIN_NS,
					      .credit_ns = AMPLIFICATION_GRAIN_NS << 20,
					      .strict = 1 };
}

static inline void pass_time(__u64 ns)
{
	kern.live->clock_ns += ns;
}

/* What the last frame_out() made of its frame. */
static __u8 left_[FRAME_MAX];

static inline int frame_out(const void *frame, size_t n)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = (__u32)n,
		    .data_out = left_, .data_size_out = sizeof(left_), .repeat = 1);

	assert_int_equal(bpf_prog_test_run_opts(
				 bpf_program__fd(kern.skel->progs.shield_out), &run),
			 0);
	return (int)run.retval;
}

/* Whether what the server says to the peer leaves. */
static inline bool says(const char *payload, size_t n)
{
	struct frame_spec s = { .payload = payload,
				.n = n,
				.ipv6 = link_.ipv6,
				.sport = link_.sport,
				.dport = link_.dport,
				.from = link_.ipv6 ? "2001:db8:2::1" : HOST,
				.to = link_.peer };
	__u8 frame[FRAME_MAX];
	int action = frame_out(frame, frame_build(&s, frame));

	assert_true(action == TC_ACT_UNSPEC || action == TC_ACT_SHOT);
	return action == TC_ACT_UNSPEC;
}

static inline struct outcome hear_from(const char *peer, __u16 port, const char *payload,
				       size_t n)
{
	struct frame_spec s = { .payload = payload,
				.n = n,
				.ipv6 = link_.ipv6,
				.sport = port,
				.dport = link_.sport,
				.from = peer,
				.to = link_.ipv6 ? "2001:db8:2::1" : HOST };

	return kern_send(&kern, &s);
}

static inline bool is_player(const char *peer, __u16 port, const char *payload, size_t n)
{
	struct outcome o = hear_from(peer, port, payload, n);

	return !o.other && o.reason == REASON_PLAYER && o.action == XDP_PASS;
}

static inline void player_at(const char *peer, __u16 port, struct player_key *ret)
{
	memset(ret, 0, sizeof(*ret));
	kern_address(peer, ret->addr);
	ret->port = htons(port);
}

static inline bool player_read(__u16 port, struct player *ret)
{
	struct player_table *table = &kern.live->players;
	struct player_key key;
	struct player_id id;
	__u32 at;

	player_at(link_.peer, port, &key);
	id = player_id(&key);
	at = players_find(table, &id, kern.live->keys);
	if (at == PLAYERS_MAX)
		return false;
	*ret = table->cells[at].player;
	return true;
}

/* --- game datagrams ------------------------------------------------------------------
 */

static inline void put32(char *at, __u32 value)
{
	memcpy(at, &value, sizeof(value));
}

static inline void put32be(char *at, __u32 value)
{
	put32(at, htonl(value));
}

static inline void put16(char *at, __u16 value)
{
	memcpy(at, &value, sizeof(value));
}

/* Quake III: sequence, qport, then what is the checksum if there is one. */
static inline bool q3_heard(__u16 port, __u32 sequence, __u16 qport, __u32 checksum)
{
	char move[40] = { 0 };

	put32(move, sequence);
	put16(move + 4, qport);
	put32(move + 6, checksum);
	return is_player(link_.peer, port, move, sizeof(move));
}

/* QuakeWorld; Quake II has the same head, and looks at no qport. */
static inline bool qw_heard(__u16 port, __u32 sequence, __u32 ack, __u16 qport)
{
	char move[40] = { 0 };

	put32(move, sequence);
	put32(move + 4, ack);
	put16(move + 8, qport);
	return is_player(link_.peer, port, move, sizeof(move));
}

static inline bool sent(__u32 sequence)
{
	char snapshot[220] = { 0 };

	put32(snapshot, sequence);
	return says(snapshot, sizeof(snapshot));
}

/* NetQuake: @what is the flags, after it length and sequence. */
static inline void nq_head(char *data, size_t n, __u32 what, __u32 sequence)
{
	memset(data, 0, n);
	put32be(data, what << 16 | (__u32)n);
	put32be(data + 4, sequence);
}

static inline bool nq_block(__u32 sequence, size_t n)
{
	char block[1400];

	nq_head(block, n, 0x0009, sequence);
	return says(block, n);
}

/* The clock in the last update, as it left: with its mark, if any. */
static inline __u32 nq_told(void)
{
	__u32 clock;

	memcpy(&clock, left_ + (link_.ipv6 ? 62 : 42) + 9, sizeof(clock));
	return clock;
}

static inline bool nq_update(__u32 sequence, __u32 clock, size_t n)
{
	char update[1400];

	nq_head(update, n, 0x0010, sequence);
	update[8] = 7;
	put32(update + 9, clock);
	return says(update, n);
}

static inline bool nq_acked(__u32 sequence)
{
	char ack[8];

	nq_head(ack, sizeof(ack), 0x0002, sequence);
	return is_player(link_.peer, link_.dport, ack, sizeof(ack));
}

/* @at: where the clock stands, 9 in NetQuake, 13 in DarkPlaces 7. */
static inline bool nq_moved(__u32 sequence, __u32 clock, int at)
{
	char move[32];

	nq_head(move, sizeof(move), 0x0010, sequence);
	move[8] = 3;
	put32(move + at, clock);
	return is_player(link_.peer, link_.dport, move, sizeof(move));
}

static inline void ask(const char *from, __u16 port)
{
	assert_int_equal(hear_from(from, port, BYTES(OOB "getstatus")).action, XDP_PASS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

#define NQ_PROOFS  24 /* clocks that prove a player, and more */

/*
 * A NetQuake player proves itself by updates from @update on, with clocks 0x41000000 +
 * theirs; its last move is @sequence.
 */
static inline void nq_settle(__u32 update, __u32 sequence)
{
	for (__u32 i = 0; i < NQ_PROOFS; i++) {
		assert_true(nq_update(update + i, 0x41000000 + update + i, 60));
		assert_true(nq_moved(sequence + 1 - NQ_PROOFS + i,
				     0x41000000 + update + i, 9));
	}
}

#endif /* KERN_GAME_H */
