/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * detect.bpf.h - a server of another family than its service says.
 *
 * To Quake III and Quake II anything without a marker may be a game's datagram, and so
 * may be anything at all to NetQuake, where games may be encrypted. A server that was
 * given the wrong `protocol` answers strangers in shapes of its own, and each such answer
 * would make a player of whoever's address it goes to. So what has the shape of another
 * family is no game's, unless the server has accepted that peer by its words.
 */
#ifndef DETECT_BPF_H
#define DETECT_BPF_H

#include "conntrack_egress.bpf.h"

/*
 * NetQuake's lengths, DTLS records and QuakeWorld's log are unlike anything that the
 * other families send to players: a sequence that looks like one is at least 65536, and
 * must meet the very length that goes with it. @offset, @length: of the payload. Returns
 * a mask of the families that have such a shape; 0: it may be @family's.
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
 * Note for detect.h what leaves as a @kind. @shape: as of other_protocol_shape(). Walked
 * once by the verifier.
 */
__noinline int detect_reply(__u32 slot, __u32 family, __u32 kind, __u32 shape)
{
	struct live *l = &live;

	if (index_below(&slot, SERVICES_MAX))
		detect_note(&l->detected[slot], family, kind, shape, kind_accepts(kind),
			    clock_now(l) >> 30);
	return 0;
}

/*
 * Return @kind, or KIND_OTHER_PROTOCOL. QuakeWorld, Quake Enhanced and `auto`
 * know each other's shapes: classify() has said so by now.
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
