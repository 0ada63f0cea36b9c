/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * connects.bpf.h - the qport that a client names when it connects, until it is accepted.
 *
 * QuakeWorld and Quake II: `connect PROTOCOL QPORT CHALLENGE ...`, in plain text; Quake
 * III: in its compressed userinfo (userinfo.h). Who names the challenge too that the
 * server sent there, or the shield, is there: that qport is the player's from its first
 * datagram on. Else it is a hint, no more, for anybody can say it in another's name, so
 * some datagrams must agree with it. Quake II's protocol tells how many bits there are.
 */
#ifndef CONNECTS_BPF_H
#define CONNECTS_BPF_H

#include "server_challenge.bpf.h"

#define CONNECT_READS	 36 /* letters, behind the word */
#define CONNECT_USERINFO 12 /* where it begins in Quake III's */

/*
 * How many of Quake III's are read in a second, whoever lets them pass: one of a thousand
 * letters at random takes 0.2 ms. Beyond that, nothing is noted.
 */
const volatile struct limit connect_limit = { 1000000000ull / 200,
					      10 * (1000000000ull / 200) };

/*
 * What is read, and how far. All of it in memory, of which the verifier knows nothing at
 * each letter, so that it walks one where it would walk each number.
 */
struct connect_fields {
	__u32 protocol, qport, challenge;
	__u32 read; /* 1: in the spelling of clients */
	__u64 number;
	__u32 words, minus;
};

/* One of the three numbers is over. */
static __always_inline void connect_word(struct connect_fields *fields)
{
	if (fields->words == 0)
		fields->protocol = fields->number;
	else if (fields->words == 1)
		fields->qport = fields->number;
	else
		fields->challenge = fields->minus ? -fields->number : fields->number;
	fields->words++;
	fields->number = 0;
}

/*
 * Of the payload at @offset, which begins with the marker and "connect": three numbers
 * into *@ret, which is zero. False: not in the spelling of clients.
 */
__noinline int connect_read(struct xdp_md *ctx, __u32 offset, struct connect_fields *ret)
{
	struct cursor c = {
		.pos = (void *)(long)ctx->data,
		.end = (void *)(long)ctx->data_end,
	};

	if (!ret || !cursor_take(&c, offset & OFFSET_MASK) || !cursor_take(&c, 12))
		return false;
	for (int i = 0; i < CONNECT_READS; i++) {
		const __u8 *letter = cursor_take(&c, 1);

		if (!letter)
			return false;
		if (*letter == ' ') {
			connect_word(ret);
			if (ret->words == 3)
				return true;
			continue;
		}
		/* QuakeWorld's servers send numbers below 0, too. */
		if (*letter == '-' && ret->words == 2 && !ret->number && !ret->minus) {
			ret->minus = 1;
			continue;
		}
		if (!is_digit(*letter))
			return false;
		ret->number = ret->number * 10 + (*letter - '0');
		if (ret->number >> (ret->words == 2 ? 32 : 16))
			return false;
	}
	return false;
}

static long connect_step(__u32 index, void *context)
{
	__u32 zero = 0;
	struct userinfo *u = bpf_map_lookup_elem(&userinfos, &zero);

	(void)index;
	(void)context;
	return !u || !userinfo_step(u);
}

/*
 * Quake III's, of @length octets; its protocol does not matter. Only of who was sent a
 * challenge: no forged one costs more than its look-up.
 */
__noinline int connect_read_q3(struct xdp_md *ctx, __u32 offset, __u32 length,
			       struct connect_fields *ret)
{
	__u32 zero = 0, least = length - CONNECT_USERINFO - 1;
	struct limit limit = { connect_limit.cost_ns, connect_limit.burst_ns };
	struct userinfo *u = bpf_map_lookup_elem(&userinfos, &zero);
	struct live *l = &live;

	same_copy(least);
	if (!u || !ret || length <= CONNECT_USERINFO || least >= USERINFO_IN ||
	    bpf_xdp_load_bytes(ctx, (offset & OFFSET_MASK) + CONNECT_USERINFO, u->in,
			       least + 1) ||
	    !userinfo_begin(u, least + 1) ||
	    !limit_take(&limit, &l->connect_due_ns, clock_now(l)))
		return false;
	bpf_loop(USERINFO_STEPS, connect_step, NULL, 0);
	ret->qport = u->qport;
	ret->challenge = u->challenge;
	return u->has == USERINFO_ALL;
}

/*
 * A note: qport, protocol (Quake II's, 255 for the higher), whether its sender answered a
 * challenge, when, and whose: 23 bits of a hash that has 12 more in the number of the
 * cell.
 */
#define CONNECT_PROTOCOL(fields) ((__u64)((fields) < 255 ? (fields) : 255) << 16)
#define CONNECT_SURE_AT		 24
#define CONNECT_SURE		 (1ull << CONNECT_SURE_AT)
#define CONNECT_WHEN		 25
#define CONNECT_TAG(hash)	 ((hash) << 12 >> 41 << 41)
#define CONNECT_FRESH_S		 16 /* of 2^30 ns: clients repeat it every few seconds */

static __always_inline __u64 connect_when(__u32 now_s)
{
	return (__u64)(now_s & 0xffff) << CONNECT_WHEN;
}

/* Is @note that of who has this @hash, and of the last seconds? */
static __always_inline bool connect_is(__u64 note, __u64 hash, __u32 now_s)
{
	__u16 since = now_s - (__u32)(note >> CONNECT_WHEN);

	return note && !((note ^ CONNECT_TAG(hash)) >> 41) && since < CONNECT_FRESH_S;
}

/* Two numbers of 16 bits: where a connect of @id is kept, and by what it is known. */
static __always_inline __u64 connect_hash(const struct live *l,
					  const struct player_id *id)
{
	return players_hash(id, l->keys);
}

/* What was sent to @id in the last minute, by the server or by the shield; or NULL. */
static __always_inline struct validated_cell *
connect_challenged(struct live *l, const struct player_id *id, __u64 now)
{
	struct cookie_peer peer = { { id->word[0], id->word[1], (__u32)id->word[2] } };
	struct validated_cell *cell =
		validated_find(&l->validation.validated, &peer, l->keys, now);

	return cell && cell->flags & (VALIDATED_CHALLENGE | VALIDATED_NUMBER) ? cell
									      : NULL;
}

/* For functions that are told of it in numbers. Walked once by the verifier. */
__noinline int connect_was_challenged(__u64 first, __u64 second, __u64 third)
{
	struct player_id id = { { first, second, third } };
	struct live *l = &live;

	return connect_challenged(l, &id, clock_now(l)) != NULL;
}

/*
 * Is @challenge one of those? The server's last five count: others ask in its name.
 * Without a branch, at each of which the verifier would part.
 */
static __always_inline __u32 connect_answers(const struct validated_cell *cell,
					     __u32 challenge)
{
	__u32 theirs = zero_bit(cell->challenge ^ challenge);

	_Static_assert(VALIDATED_CHALLENGE == 2 && VALIDATED_NUMBER == 4,
		       "bits that are used");
	for (int i = 0; i < 4; i++)
		theirs |= zero_bit(cell->earlier[i] ^ challenge);
	return (theirs & cell->flags >> 1) |
	       (zero_bit(cell->cookie ^ challenge) & cell->flags >> 2);
}

/*
 * What @id says in a connect that goes on to the server, as @fields. What was said with
 * the right challenge is not forgotten for what is said without.
 */
__noinline int connect_keep(__u64 first, __u64 second, __u64 third,
			    const struct connect_fields *fields)
{
	struct player_id id = { { first, second, third } };
	struct live *l = &live;
	__u64 now = clock_now(l), hash = connect_hash(l, &id), note = 0;
	__u64 *place = &l->connects[hash >> (64 - CONNECT_BITS)];
	__u64 was = *(volatile __u64 *)place;
	struct validated_cell *cell = connect_challenged(l, &id, now);

	if (!fields)
		return 0;
	if (fields->read) {
		note = CONNECT_TAG(hash) | connect_when(now >> 30) |
		       CONNECT_PROTOCOL(fields->protocol) | (fields->qport & 0xffff);
		if (cell)
			note |= (__u64)connect_answers(cell, fields->challenge)
				<< CONNECT_SURE_AT;
	}
	/* Nor for what another processor writes there at this moment. */
	if (note & CONNECT_SURE || !(was & CONNECT_SURE) ||
	    !connect_is(was, hash, now >> 30))
		__sync_val_compare_and_swap(place, was, note);
	return 0;
}

/* Who is at the sender's end connects to the service in @slot, and this goes on to it. */
static __always_inline void connect_note(struct xdp_md *ctx, __u32 slot,
					 enum wire_family family, const struct packet *p)
{
	struct connect_fields fields = { 0 };
	struct player_id id;

	packet_player(p, SENDER, slot, &id);
	if (family != FAMILY_QUAKE3)
		fields.read = connect_read(ctx, p->payload, &fields);
	else if (connect_was_challenged(id.word[0], id.word[1], id.word[2]))
		fields.read = connect_read_q3(ctx, p->payload, p->length, &fields);
	connect_keep(id.word[0], id.word[1], id.word[2], &fields);
}

/* How many bits of a qport a client of Quake II's @protocol sends, as a mask. */
static __always_inline __u32 qport_mask(__u32 protocol, __u16 qport)
{
	if (protocol == 34)
		return 0xffff;
	return (protocol == 35 || protocol == 36) && qport && qport <= 0xff ? 0xff : 0;
}

/*
 * Who is of this struct player_id, and accepted by the server, has said a qport before,
 * which is forgotten now.
 */
__noinline int connect_recall(__u64 first, __u64 second, __u64 third, __u32 family)
{
	struct player_id id = { { first, second, third } };
	struct live *l = &live;
	__u64 hash = connect_hash(l, &id);
	__u64 *place = &l->connects[hash >> (64 - CONNECT_BITS)], note = *place;
	struct player_cell *cell;
	__u16 qport = note;

	if (!connect_is(note, hash, clock_s(l)))
		return 0;
	cell = player_cell(l, players_find(&l->players, &id, l->keys));
	if (!cell)
		return 0;
	*place = 0;
	/* The server says it once more. */
	if (cell->player.flags & PLAYER_QPORT || cell->player.proofs)
		return 0;
	if (family == FAMILY_QUAKE2) {
		cell->player.qport_mask = qport_mask(note >> 16 & 0xff, qport);
		qport &= cell->player.qport_mask;
	}
	cell->player.qport = qport;
	if (note & CONNECT_SURE) {
		cell->player.flags |= PLAYER_QPORT;
		/* Its line begins here, at 0: nobody is far ahead of that yet. */
		cell->player.heard_ns = clock_now(l);
		player_index(l, &id, family, &cell->player);
	} else {
		cell->player.proofs = AGREED_QPORT - AGREED_CONNECT;
	}
	return 0;
}

#endif /* CONNECTS_BPF_H */
