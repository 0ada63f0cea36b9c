/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fragments.bpf.h - outgoing IP fragments: the later ones share the fate of the first.
 */
#ifndef FRAGMENTS_BPF_H
#define FRAGMENTS_BPF_H

#include <linux/pkt_cls.h>

#include "common.bpf.h"

#define FRAGMENT_PASS 1
#define FRAGMENT_DROP 2

/* Only the first fragment has ports: the others share its fate, by address and IP id. */
static __always_inline __u64 *fragment_cell(const struct live *l, const struct packet *p,
					    __u64 *ret_tag)
{
	__u64 net = address_net(p, RECEIVER);
	__u32 index = limit_cell(l->keys, net, p->id, FRAGMENT_BITS);

	*ret_tag = (net ^ (__u64)p->id << 24) << 2;
	return bpf_map_lookup_elem(&fragments, &index);
}

static __always_inline void fragment_note(const struct live *l, const struct packet *p,
					  bool dropped)
{
	__u64 tag, *cell = fragment_cell(l, p, &tag);

	if (cell)
		*cell = tag | (dropped ? FRAGMENT_DROP : FRAGMENT_PASS);
}

/* TC_ACT_SHOT if the first fragment of this datagram was dropped. */
static __always_inline int fragment_follow(const struct live *l, const struct packet *p)
{
	__u64 tag, *cell = fragment_cell(l, p, &tag);

	return cell && *cell == (tag | FRAGMENT_DROP) ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}

#endif /* FRAGMENTS_BPF_H */
