/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * detect.bpf.h - notice that a server speaks another protocol than its service says.
 *
 * In Quake III and Quake II anything without a marker may be game traffic; in NetQuake,
 * where games may be encrypted, anything at all. A server with the wrong `protocol`
 * answers unvalidated clients in its own shapes, and each such answer would make a player
 * of the address it goes to. So a datagram with the shape of another protocol is no game
 * traffic (KIND_OTHER_PROTOCOL), unless the server has accepted that client by its words.
 *
 * Called by shield_out(). The notes are read by protocol_mismatch() and by the daemon:
 * detect.h.
 */
#ifndef DETECT_BPF_H
#define DETECT_BPF_H

#include "conntrack_egress.bpf.h"

/*
 * Return a mask of the protocols that alone have the shape of the payload at @offset, of
 * @length bytes; 0: it may be @family's. NetQuake's lengths, DTLS records and
 * QuakeWorld's log are unlike what the other protocols send to players: a sequence that
 * looks like one is at least 65536, and must meet the very length. For NetQuake, where
 * encrypted games look like anything, only the log counts. Called by detect_kind() alone,
 * for game traffic of Quake III, Quake II and NetQuake. A shape that @family's own server
 * may send must not count: its players would not be entered.
 */
__noinline int other_protocol_shape(struct __sk_buff *ctx, __u32 family, __u32 offset,
				    __u32 length)
{
	struct cursor c = {
		.pos = (void *)(long)ctx->data,
		.end = (void *)(long)ctx->data_end,
	};
	struct cursor rest;
	__u64 head;

	if (!cursor_take(&c, offset & OFFSET_MASK))
		return false;
	length &= 0xffff;
	rest = c;
	head = take_u64(&rest, length);
	if (classify_raw(FAMILY_QUAKEWORLD, head, length) == KIND_RAW_STDLOG)
		return QW;
	if (family == FAMILY_NETQUAKE)
		return 0;
	if (classify_netquake(FAMILY_QUAKE3, head, length) != KIND_COUNT)
		return NQ;
	return classify_dtls(c, head, length) != KIND_COUNT ? QE : 0;
}

/*
 * Note in struct detected that the server of @slot sends a @kind. @shape: as of
 * other_protocol_shape(). Analysed once by the verifier. Called by detect_look() alone,
 * if detect_tells() is true. detect_note() decides what counts.
 */
__noinline int detect_reply(__u32 slot, __u32 family, __u32 kind, __u32 shape)
{
	struct live *l = &live;

	if (index_below(&slot, SERVICES_MAX))
		detect_note(&l->detected[slot], family, kind, shape,
			    kind_marks_of(kind) & KIND_ACCEPTS, clock_now(l) >> 30);
	return 0;
}

/*
 * Return @kind, or KIND_OTHER_PROTOCOL if the datagram has the shape of another protocol
 * and its receiver is no verified player. *@ret_shape is that shape, also for a verified
 * player; it stays if no shape is looked for, so the caller sets it to 0 before. On the
 * other families classify_unmarked() returns such a kind only for what has no other
 * shape: a family for which it does not must be added here. Called by shield_out() alone,
 * right after classify_out(). The kind of a verified player's datagram must not change.
 */
static __always_inline enum wire_kind
detect_kind(struct __sk_buff *ctx, struct live *l, __u32 slot, enum wire_family family,
	    enum wire_kind kind, const struct packet *p, __u32 *ret_shape)
{
	const struct player *player;
	struct player_id id;

	if (kind != KIND_NETCHAN && kind != KIND_NETCHAN_FRAGMENT &&
	    kind != KIND_NQ_ENCRYPTED)
		return kind;
	if (family != FAMILY_QUAKE3 && family != FAMILY_QUAKE2 &&
	    family != FAMILY_NETQUAKE)
		return kind;
	*ret_shape = other_protocol_shape(ctx, family, p->payload, p->length);
	if (!*ret_shape)
		return kind;
	packet_player(p, RECEIVER, slot, &id);
	player = player_find(l, &id);
	return player && player->flags & PLAYER_VERIFIED &&
			       player_alive(player, clock_now(l))
		       ? kind
		       : KIND_OTHER_PROTOCOL;
}

#endif /* DETECT_BPF_H */
