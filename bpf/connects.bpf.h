/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * connects.bpf.h - the qport that a client names when it connects, until it is accepted.
 *
 * QuakeWorld and Quake II: `connect PROTOCOL QPORT CHALLENGE ...`, in plain text. It is a
 * hint, no more: anybody can say it in another's name, so the player's datagrams must
 * agree with it. What it is good for is that few have to, and that Quake II's protocol
 * tells how many bits there are.
 */
#ifndef CONNECTS_BPF_H
#define CONNECTS_BPF_H

#include "players.bpf.h"

#define CONNECT_READS  24 /* letters, behind the word */
#define CONNECT_UNREAD (-1)

/*
 * Of the payload at @offset, which begins with the marker and "connect": the protocol in
 * the upper half, the qport in the lower. CONNECT_UNREAD: not in the spelling of clients.
 */
__noinline int connect_read(struct xdp_md *ctx, __u32 offset)
{
	struct cursor c = {
		.pos = (void *)(long)ctx->data,
		.end = (void *)(long)ctx->data_end,
	};
	__u32 protocol = 0, number = 0;
	int words = 0;

	if (!cursor_take(&c, offset & OFFSET_MASK) || !cursor_take(&c, 12))
		return CONNECT_UNREAD;
	for (int i = 0; i < CONNECT_READS; i++) {
		const __u8 *letter = cursor_take(&c, 1);

		if (!letter)
			break;
		if (*letter == ' ') {
			if (words++)
				break;
			protocol = number;
			number = 0;
			continue;
		}
		if (!is_digit(*letter))
			return CONNECT_UNREAD;
		number = number * 10 + (*letter - '0');
		if (number > 0xffff)
			return CONNECT_UNREAD;
	}
	return words == 2 && protocol < 0x8000 ? (int)(protocol << 16 | number)
					       : CONNECT_UNREAD;
}

/* Two numbers of 16 bits: where a connect of @id is kept, and by what it is known. */
static __always_inline __u64 connect_hash(const struct live *l,
					  const struct player_id *id)
{
	return players_hash(id, l->keys);
}

#define CONNECT_TAG(hash) ((__u64)(__u32)((hash) >> 8) << 32)

/* @id connects, and this goes on to the server. */
static __always_inline void connect_note(struct xdp_md *ctx, struct live *l, __u32 slot,
					 const struct packet *p)
{
	struct player_id id;
	int said = connect_read(ctx, p->payload);
	__u64 hash;

	packet_player(p, SENDER, slot, &id);
	hash = connect_hash(l, &id);
	l->connects[hash >> (64 - CONNECT_BITS)] =
		said == CONNECT_UNREAD ? 0 : CONNECT_TAG(hash) | (__u32)said;
}

/* How many bits of a qport a client of Quake II's @protocol sends, as a mask. */
static __always_inline __u32 qport_mask(__u32 protocol, __u16 qport)
{
	if (protocol == 34)
		return 0xffff;
	return (protocol == 35 || protocol == 36) && qport && qport <= 0xff ? 0xff : 0;
}

/* Who is of this struct player_id, and accepted by the server, has said a qport before.
 */
__noinline int connect_recall(__u64 first, __u64 second, __u64 third, __u32 family)
{
	struct player_id id = { { first, second, third } };
	struct live *l = &live;
	__u64 hash = connect_hash(l, &id);
	__u64 note = l->connects[hash >> (64 - CONNECT_BITS)];
	struct player_cell *cell;
	__u16 qport = note;

	if (!note || (note ^ CONNECT_TAG(hash)) >> 32)
		return 0;
	cell = player_cell(l, players_find(&l->players, &id, l->keys));
	if (!cell || cell->player.flags & PLAYER_QPORT || cell->player.proofs)
		return 0;
	if (family == FAMILY_QUAKE2) {
		cell->player.qport_mask = qport_mask((__u32)note >> 16, qport);
		qport &= cell->player.qport_mask;
	}
	cell->player.qport = qport;
	cell->player.proofs = PROOFS_QPORT - PROOFS_NOTED;
	return 1;
}

#endif /* CONNECTS_BPF_H */
