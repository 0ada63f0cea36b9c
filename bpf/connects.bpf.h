/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * connects.bpf.h - remember the qport that a client names in `connect`, until the server
 * accepts the client.
 *
 * QuakeWorld and Quake II: `connect PROTOCOL QPORT CHALLENGE ...` in plain text. Quake
 * III: in compressed userinfo (userinfo.h). A client that also names a challenge sent to
 * its address, by the server or by the shield, is at that address: its qport counts from
 * its first datagram on. Otherwise the qport is a hint, since any source could send it in
 * another's name, and AGREED_CONNECT datagrams must agree with it. Quake II's protocol
 * number tells how many bits the qport has.
 *
 * connect_note() is called for each connect that goes on to the server, connect_recall()
 * when the server accepts. A cell holds one note; a newer one takes it, also another
 * client's. Only a note with the right challenge stays when the same client, or an
 * attacker in its name, sends a connect without.
 *
 * Each function is called for a connect that passes or at an acceptance, never for a
 * refused datagram. A note is a hint until CONNECT_SURE is set; no function may set
 * CONNECT_SURE for a challenge that was not sent to that address.
 */
#ifndef CONNECTS_BPF_H
#define CONNECTS_BPF_H

#include "server_challenge.bpf.h"

#define CONNECT_READS	 36 /* characters read after the word */
#define CONNECT_USERINFO 12 /* offset of the userinfo in Quake III's */

/*
 * How many Quake III connects are read per second, all services together: one of a
 * thousand random characters takes 0.2 ms. Beyond that, nothing is noted.
 */
const volatile struct limit connect_limit = { 1000000000ull / 200,
					      10 * (1000000000ull / 200) };

/*
 * The fields of a connect, and the state of reading. In memory, of which the verifier
 * knows nothing, so it analyses one character and not each number.
 */
struct connect_fields {
	__u32 protocol, qport, challenge;
	__u32 read; /* 1: all fields were read */
	__u64 number;
	__u32 words, minus;
};

/*
 * Store a number that is complete: the first, second or third. Called by connect_read()
 * alone, at a space, and no more after the third.
 */
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
 * Read the three numbers of the payload at @offset, which begins with the marker and
 * "connect", into *@ret, which is zero. False: it is not spelled as clients do, or a
 * space does not follow the third; then *@ret counts for nothing. Called by
 * connect_note() alone, for QuakeWorld and Quake II. connect_number_at() must find the
 * same third number, which it takes for a cookie. The loop's bound CONNECT_READS and the
 * comparison of each number with its bits must stay: the first for the verifier, the
 * second against overflow.
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
		/* QuakeWorld challenges may be below 0. */
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

/*
 * One step of reading a Quake III userinfo, for bpf_loop(). Returns 1 when it is
 * complete. Called by bpf_loop() in connect_read_q3() alone, after userinfo_begin(). It
 * must stay short: the verifier analyses one step, and the CPU takes up to
 * USERINFO_STEPS.
 */
static long connect_step(__u32 index, void *context)
{
	__u32 zero = 0;
	struct userinfo *u = bpf_map_lookup_elem(&userinfos, &zero);

	(void)index;
	(void)context;
	return !u || !userinfo_step(u);
}

/*
 * Read the qport and the challenge of a Quake III connect of @length bytes into *@ret.
 * False: not both were found, it has more than USERINFO_IN bytes of userinfo, or
 * connect_limit is exceeded. Called by connect_note() alone, after
 * connect_was_challenged() returned true, so that a spoofed connect costs no more than a
 * look-up. connect_limit must be taken before bpf_loop(): the loop is the most expensive
 * work that a datagram can cause.
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
 * A note, from bit 0: the qport; the protocol (Quake II's; 255 for higher ones); whether
 * its sender returned a challenge; the time; and 23 bits of a hash of the client.
 * The index of the cell has CONNECT_BITS more of it. 0: none. Notes are pinned: if their
 * bits, the hash or the cell change, raise ABI_VERSION (user/shield/shield_abi.c).
 */
#define CONNECT_PROTOCOL(fields) ((__u64)((fields) < 255 ? (fields) : 255) << 16)
#define CONNECT_SURE_AT		 24
#define CONNECT_SURE		 (1ull << CONNECT_SURE_AT)
#define CONNECT_WHEN		 25
#define CONNECT_TAG(hash)	 ((hash) << CONNECT_BITS >> 41 << 41)
#define CONNECT_FRESH_S                                                               \
	16 /* units of 2^30 ns in which a note counts; clients repeat a connect every \
	      few seconds */

/*
 * Return the time of a note. Called by connect_keep() alone; connect_is() reads the same
 * 16 bits.
 */
static __always_inline __u64 connect_when(__u32 now_s)
{
	return (__u64)(now_s & 0xffff) << CONNECT_WHEN;
}

/*
 * Return true if @note is of the client with @hash and less than CONNECT_FRESH_S old.
 * Called by connect_keep() and connect_recall(), with the cell that connect_hash()
 * chooses. The age is compared modulo 2^16 units.
 */
static __always_inline bool connect_is(__u64 note, __u64 hash, __u32 now_s)
{
	__u16 since = now_s - (__u32)(note >> CONNECT_WHEN);

	return note && !((note ^ CONNECT_TAG(hash)) >> 41) && since < CONNECT_FRESH_S;
}

/*
 * Return the hash of a client: the upper CONNECT_BITS choose the cell. Called by
 * connect_keep() and connect_recall(), which must agree.
 */
static __always_inline __u64 connect_hash(const struct live *l,
					  const struct player_id *id)
{
	return players_hash(id, l->keys);
}

/*
 * Return the cell with the challenges of @id, of the server (VALIDATED_CHALLENGE) or the
 * shield (VALIDATED_NUMBER), if it was used in the last minute, or NULL. Called by
 * connect_was_challenged() and connect_keep(). @id must have been made by
 * packet_player(): packet_peer() uses the same words.
 */
static __always_inline struct validated_cell *
connect_challenged(struct live *l, const struct player_id *id, __u64 now)
{
	struct cookie_peer peer = { { id->word[0], id->word[1], (__u32)id->word[2] } };
	struct validated_cell *cell =
		validated_find(&l->validation.validated, &peer, l->keys, now);

	return cell && cell->flags & (VALIDATED_CHALLENGE | VALIDATED_NUMBER) ? cell
									      : NULL;
}

/*
 * Return whether connect_challenged() of these words finds any. Analysed once by the
 * verifier. Called by connect_note() alone. Changes nothing.
 */
__noinline int connect_was_challenged(__u64 first, __u64 second, __u64 third)
{
	struct player_id id = { { first, second, third } };
	struct live *l = &live;

	return connect_challenged(l, &id, clock_now(l)) != NULL;
}

/*
 * Return 1 if @challenge is one that was sent to the client of @cell, or 0. The server's
 * last five count, since other sources may request challenges in the client's name.
 * Called by connect_keep() alone. @challenge is of connect_word() or userinfo_pair(),
 * those of @cell are of decimal_at() or the shield: all must make the same 32 bits of the
 * same text. It must stay branch-free (hints.bpf.h), and must count a number only with
 * its flag.
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
 * Keep @fields of a connect that goes on to the server, for the client of these words.
 * Called by connect_note() alone, also for a connect that was not read: that clears the
 * note in the cell. A fresh note of this client with CONNECT_SURE must not be replaced by
 * one without, or a connect in its name could clear it. A note of another client in the
 * same cell is replaced.
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
	/* A note that another CPU writes at this moment stays too. */
	if (note & CONNECT_SURE || !(was & CONNECT_SURE) ||
	    !connect_is(was, hash, now >> 30))
		__sync_val_compare_and_swap(place, was, note);
	return 0;
}

/*
 * Read and keep the connect in @p, which goes on to the server of @slot. Called by
 * decision_passed() alone, for KIND_CONNECT if family_is_little(), before
 * rewrite_request() changes the frame. Its datagram must have passed all limits: reading
 * costs more than refusing.
 */
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

/*
 * Return the mask of the qport bits that a Quake II client of @protocol sends; 0: none.
 * @protocol: of CONNECT_PROTOCOL(). Called by connect_recall() alone. The masks must be
 * those that player_match() and player_qport() know: 0xffff, 0xff, 0.
 */
static __always_inline __u32 qport_mask(__u32 protocol, __u16 qport)
{
	if (protocol == 34)
		return 0xffff;
	return (protocol == 35 || protocol == 36) && qport && qport <= 0xff ? 0xff : 0;
}

/*
 * Give the player of these words, just accepted by the server, the qport of its connect,
 * and forget the note. Called by player_accept() alone, once player_new() has entered the
 * player. The note is removed before it is applied, so that it counts for one acceptance.
 * Set PLAYER_QPORT only for CONNECT_SURE: otherwise a spoofed connect would lock the
 * player out. qport_learn() learns a qport that is only noted.
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
	/* The server repeats its acceptance: keep what was learned since. */
	if (cell->player.flags & PLAYER_QPORT || cell->player.proofs)
		return 0;
	if (family == FAMILY_QUAKE2) {
		cell->player.qport_mask = qport_mask(note >> 16 & 0xff, qport);
		qport &= cell->player.qport_mask;
	}
	cell->player.qport = qport;
	if (note & CONNECT_SURE) {
		cell->player.flags |= PLAYER_QPORT;
		/* Its stream begins here, at 0: no datagram is far ahead of that yet. */
		cell->player.heard_ns = clock_now(l);
		player_index(l, &id, family, &cell->player);
	} else {
		cell->player.proofs = AGREED_QPORT - AGREED_CONNECT;
	}
	return 0;
}

#endif /* CONNECTS_BPF_H */
