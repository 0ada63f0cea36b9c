/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conntrack.bpf.h - datagrams from peers that the server itself has accepted.
 *
 * Entries are made by the egress program, never here, so no flood of strangers can fill
 * the table. A datagram that claims to be a player's must also fit what only that player
 * knows: its qport, where its sequence stands, what it was sent last, and for Quake III's
 * protocol 71 the checksum made from the challenge (sequence.bpf.h). One that does not is
 * forged, and never let in.
 */
#ifndef CONNTRACK_BPF_H
#define CONNTRACK_BPF_H

#include "classify.h"
#include "service.bpf.h"
#include "sequence.bpf.h"
#include "players.h"

#define AGREED_QPORT	8 /* agreeing datagrams before a learned qport is enforced */
#define AGREED_CONNECT	2 /* and before one that was in the player's connect */
#define AGREED_CHECKSUM 16

/*
 * More than any client sends: packetdup and 250 frames a second together. A constant to
 * the programs; the benchmark, which sends more, sets another before it loads them.
 */
const volatile struct limit player_limit = { 1000000000ull / 800,
					     400 * (1000000000ull / 800) };

/* Quake II: the qport has 16 bits, 8 or none, and there may be nothing behind it. */
static __always_inline bool netchan_read_q2(struct cursor c, struct netchan *ret)
{
	const __u8 *head = cursor_take(&c, 10);

	if (head) {
		netchan_head(FAMILY_QUAKE2, head, ret);
		return true;
	}
	head = cursor_take(&c, 8);
	if (!head)
		return false;
	ret->sequence = load_u32(head) & 0x3fffffff;
	ret->ack = load_u32(head + 4) & 0x3fffffff;
	head = cursor_take(&c, 1);
	ret->qport = head ? *head : 0;
	return true;
}

/* Where only structure tells what it is: DTLS, or a sequence with whatever flags. */
static __always_inline bool netchan_read_auto(enum wire_kind kind, struct cursor c,
					      struct netchan *ret)
{
	const __u8 *head;

	if (kind != KIND_DTLS_DATA) {
		head = cursor_take(&c, 4);
		if (head)
			ret->sequence = load_u32(head) & 0x3fffffff;
		return head;
	}
	/* type, version 2, epoch 2, number 6: of which the lower 4 */
	head = cursor_take(&c, 11);
	if (!head)
		return false;
	ret->qport = load_be16(head + 3);
	ret->sequence = bpf_ntohl(load_u32(head + 7));
	return true;
}

/* Of a payload that may be too short; @family: match_family(). */
static __always_inline bool netchan_read(enum wire_family family, enum wire_kind kind,
					 struct cursor c, struct netchan *ret)
{
	const __u8 *head;

	/* Apart, since the verifier of Linux 6.1 forgets which family goes with which. */
	if (family == FAMILY_QUAKE2)
		return netchan_read_q2(c, ret);
	if (family == FAMILY_NETQUAKE) {
		head = cursor_take(&c, 8);
		if (head)
			netchan_head(FAMILY_NETQUAKE, head, ret);
		return head;
	}
	if (!family_is_little(family))
		return netchan_read_auto(kind, c, ret);
	head = cursor_take(&c, 10);
	if (head)
		netchan_head(family, head, ret);
	return head;
}

/* --- learning ---------------------------------------------------------------- */

/* A qport is believed after a row of datagrams in sequence that agree on it. */
static __always_inline void qport_learn(struct player *player, const struct netchan *n)
{
	if (player->qport != n->qport) {
		player->qport = n->qport;
		player->proofs = 0;
	} else if (n->sequence == player->heard_sequence) {
		return;
	} else if (n->sequence - player->heard_sequence >= 64) {
		player->proofs = 0;
	} else if (++player->proofs >= AGREED_QPORT) {
		player->flags |= PLAYER_QPORT;
		player->proofs = 0;
	}
}

/*
 * OpenArena announces protocol 71 and sends no checksum: believe that there is one only
 * after a row of datagrams that fit (chance: 2^-32 each), then demand it.
 */
static __always_inline void checksum_learn(struct player *player, const struct netchan *n)
{
	if (n->sequence > 1 && ++player->proofs >= AGREED_CHECKSUM) {
		player->flags |= PLAYER_CHECKSUM;
		player->proofs = 0;
	}
}

/*
 * Far from the line: the first such is noted, the second that goes on from it counts. If
 * that is behind, the line begins anew there; ahead, player_record() takes it there.
 */
static __always_inline bool gap_learn(struct player *player, __u32 sequence)
{
	if (!player->jumped || sequence - player->jumped - 1 >= SEQUENCE_NEAR) {
		player->jumped = sequence;
		return false;
	}
	player->jumped = 0;
	if (sequence_ahead(player, sequence) < 0)
		player->heard_sequence = sequence;
	return true;
}

/*
 * What player_match() found that there is to be learned from @n: MATCH_LEARNS. False: it
 * is not to be let in.
 */
static __always_inline bool player_learn(struct player *player, const struct netchan *n)
{
	if (!(player->flags & PLAYER_QPORT))
		qport_learn(player, n);
	else if (!sequence_near(sequence_ahead(player, n->sequence)))
		return gap_learn(player, n->sequence);
	else
		checksum_learn(player, n);
	return true;
}

/*
 * One more datagram, if the budget allows it. Without compare-and-swap: what one peer
 * sends from one port comes to one processor, and where it does not, two at the very same
 * moment count as one.
 */
static __always_inline bool player_take(__u64 *due_ns, __u64 cost_ns, __u64 burst_ns,
					__u64 now)
{
	__u64 due = *(volatile __u64 *)due_ns;

	due = (due > now ? due : now) + cost_ns;
	if (due > now + burst_ns)
		return false;
	*(volatile __u64 *)due_ns = due;
	return true;
}

/*
 * @settled: @sequence is one of the player's line; else, anybody could have sent it. One
 * that is a few ahead costs as much as those that it passed by, so that nobody carries
 * the line away faster than the budget allows.
 */
static __always_inline enum reason player_record(struct player *player, __u32 sequence,
						 bool settled, __u64 now)
{
	__s32 ahead = sequence_ahead(player, sequence);
	__u64 cost = player_limit.cost_ns;

	if (unlikely((__u32)(ahead - 2) <= SEQUENCE_NEAR - 2))
		cost *= ahead;
	if (!player_take(&player->due_ns, cost, player_limit.burst_ns, now))
		return REASON_PLAYER_LIMIT;
	if (!settled || ahead > 0)
		player->heard_sequence = sequence;
	player->heard_ns = now;
	player->packets++;
	return REASON_PLAYER;
}

/* --- the table --------------------------------------------------------------- */

/* All cells of the bucket; walked once by the verifier. */
__noinline int player_search(__u64 first, __u64 second, __u64 third)
{
	struct player_id id = { { first, second, third } };

	return players_find(&live.players, &id, live.keys);
}

/* NULL: @at is none, so not below PLAYERS_MAX. */
static __always_inline struct player_cell *player_cell(struct live *l, __u32 at)
{
	struct player_cell *cell;

	if (!index_below(&at, PLAYERS_MAX))
		return NULL;
	cell = &l->players.cells[at];
	once_here(cell);
	__builtin_assume(cell);
	return cell;
}

/*
 * The first cell whose tag is that of @id: seldom are there two, so it is the one, if
 * cell_is(). NULL: @id is not in the table.
 */
static __always_inline struct player_cell *player_first(struct live *l,
							const struct player_id *id)
{
	__u64 hash = players_hash(id, l->keys);
	__u32 at = players_bucket(hash);
	__u64 flags = tags_like(l->players.tags[at], players_tag(hash));

	if (!flags)
		return NULL;
	return player_cell(l, at * PLAYER_WAYS + lowest_byte(flags));
}

/* NULL: not in the table. */
static __always_inline struct player *player_find(struct live *l,
						  const struct player_id *id)
{
	struct player_cell *cell = player_first(l, id);

	if (cell && !cell_is(cell, id))
		cell = player_cell(l,
				   player_search(id->word[0], id->word[1], id->word[2]));
	return cell ? &cell->player : NULL;
}

/* The name of who is at @peer's end. @slot: of the service at the other. */
static __always_inline void packet_player(const struct packet *p, enum side peer,
					  __u32 slot, struct player_id *ret)
{
	const __u8 *at = p->start + (p->addresses & OFFSET_MASK);

	ret->word[0] = 0;
	ret->word[1] = PLAYER_WORD_IPV4;
	ret->word[2] = PLAYER_WORD_HERE | slot << 16 | packet_port(p, peer);
	/* They are there, but the verifier does not know. */
	if (p->ipv6) {
		if (at + 32 > p->end)
			return;
		at += peer == SENDER ? 0 : 16;
		ret->word[0] = load_u64(at);
		ret->word[1] = load_u64(at + 8);
	} else {
		if (at + 8 > p->end)
			return;
		ret->word[1] |= (__u64)load_u32(at + (peer == SENDER ? 0 : 4)) << 32;
	}
}

/* --- port changes ------------------------------------------------------------ */

static __always_inline void qport_key(const struct player_id *id, __u16 qport,
				      __u16 narrow, struct qport_key *ret)
{
	__builtin_memcpy(ret->addr, id->word, sizeof(ret->addr));
	ret->qport = qport;
	ret->slot = id->word[2] >> 16 | narrow;
}

/* The number of the cell of who has this @qport at the address of @id, or PLAYERS_MAX. */
static __always_inline __u32 player_by_qport(struct live *l, const struct player_id *id,
					     __u16 qport, __u16 narrow)
{
	struct player_id other = *id;
	struct qport_key by;
	__u16 *port;

	if (!l->moved[qport_cell(id, qport, narrow, l->keys)])
		return PLAYERS_MAX;
	qport_key(id, qport, narrow, &by);
	port = bpf_map_lookup_elem(&qports, &by);
	if (!port)
		return PLAYERS_MAX;
	other.word[2] = (other.word[2] & ~0xffffull) | *port;
	return players_find(&l->players, &other, l->keys);
}

/* Of 16 bits, or else of 8, where @narrow says that it might be. */
__noinline int player_search_qport(__u64 first, __u64 second, __u64 third, __u32 qport,
				   __u32 narrow)
{
	struct player_id id = { { first, second, third } };
	__u32 at = player_by_qport(&live, &id, qport, 0);

	if (at == PLAYERS_MAX && narrow)
		at = player_by_qport(&live, &id, qport & 0xff, QPORT_NARROW);
	return at;
}

/*
 * Somebody at a player's address, but another port. Servers of Quake III, QuakeWorld and
 * Quake II follow a qport to its new port; egress will enter that. NULL: no player has
 * this qport.
 */
static __always_inline struct player *player_moved(struct live *l,
						   const struct player_id *id,
						   enum wire_family family,
						   const struct netchan *n)
{
	struct player_cell *cell;

	cell = player_cell(l, player_search_qport(id->word[0], id->word[1], id->word[2],
						  n->qport, family == FAMILY_QUAKE2));
	return cell ? &cell->player : NULL;
}

/* Remember a proven qport, so that the player can be found by it. */
static __always_inline void player_index(struct live *l, const struct player_id *id,
					 enum wire_family family,
					 const struct player *player)
{
	int narrow = player_qport(family, player);
	__u16 port = id->word[2];
	struct qport_key by;
	__u32 cell;

	if (narrow == QPORT_NONE)
		return;
	qport_key(id, player->qport, narrow, &by);
	cell = qport_cell(id, player->qport, narrow, l->keys);
	if (bpf_map_update_elem(&qports, &by, &port, BPF_NOEXIST))
		bpf_map_update_elem(&qports, &by, &port, BPF_EXIST);
	else
		__sync_fetch_and_add(&l->moved[cell], 1);
}

#endif /* CONNTRACK_BPF_H */
