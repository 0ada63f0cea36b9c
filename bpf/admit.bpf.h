/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * admit.bpf.h - lists, then budgets: may this datagram reach the server?
 *
 * Order matters for cost. The global budget of a class is one hot word: while it is
 * spent, the flood's cold source cells are never touched. It is read first and paid
 * last, so that a refused source cannot spend it for the others.
 */
#ifndef ADMIT_BPF_H
#define ADMIT_BPF_H

#include "maps.bpf.h"
#include "packet.bpf.h"

/* Nanoseconds per tick of bpf_jiffies64(), measured by the loader; 0: time is
 * live.clock_ns. */
const volatile __u64 tick_ns = 4000000;

static __always_inline __u64 clock_now(const struct live *l)
{
	return tick_ns ? bpf_jiffies64() * tick_ns : l->clock_ns;
}

static __always_inline void packet_cidr(const struct packet *p, const __be32 *addr,
					struct cidr *ret)
{
	ret->length = 128;
	if (p->ipv6) {
		__builtin_memcpy(ret->addr, addr, 16);
		return;
	}
	ret->addr[0] = 0;
	ret->addr[1] = 0;
	ret->addr[2] = bpf_htonl(0xffff);
	ret->addr[3] = *addr;
}

/* The source as limits see it: an IPv4 address, or the upper half of an IPv6 one. */
static __always_inline __u64 source_net(const struct packet *p)
{
	if (!p->ipv6)
		return bpf_ntohl(*p->saddr);
	return (__u64)bpf_ntohl(p->saddr[0]) << 32 | bpf_ntohl(p->saddr[1]);
}

/* Charge one request of @class. */
static __always_inline enum reason admit_budget(const struct live *l, __u32 slot,
						const struct budget *b,
						enum wire_class class,
						const struct packet *p)
{
	__u32 index = slot * CLASS_BUDGETS + class;
	/* IPv4 and IPv6 keep apart, and so does each class of each service. */
	__u64 tag = index << 1 | p->ipv6;
	__u64 now = clock_now(l);
	__u64 *global, *source, *prefix;
	__u64 net;

	global = bpf_map_lookup_elem(&globals, &index);
	if (!global || !limit_peek(&b->global, *global, now))
		return REASON_GLOBAL_BUDGET;

	net = source_net(p);
	index = limit_cell(l->keys, net, tag, SOURCE_BITS);
	source = bpf_map_lookup_elem(&sources, &index);
	if (!source || !limit_peek(&b->source, *source, now))
		return REASON_SOURCE_BUDGET;

	index = limit_cell(l->keys, net >> 8, tag, PREFIX_BITS);
	prefix = bpf_map_lookup_elem(&prefixes, &index);
	if (!prefix || !limit_peek(&b->prefix, *prefix, now))
		return REASON_PREFIX_BUDGET;

	if (!limit_take(&b->source, source, now) ||
	    !limit_take(&b->prefix, prefix, now) || !limit_take(&b->global, global, now))
		return REASON_CONTENDED;
	return REASON_WITHIN_BUDGET;
}

static __always_inline enum reason policy_reason(enum wire_class class)
{
	switch (class) {
	case CLASS_REPLY:
		return REASON_REPLY_TO_SERVER;
	case CLASS_FRAGMENT:
		return REASON_FRAGMENT;
	default:
		return REASON_MALFORMED;
	}
}

static __always_inline enum reason admit(const struct live *l, __u32 slot,
					 const struct service *s, enum wire_kind kind,
					 const struct packet *p)
{
	enum wire_class class = wire_class(s->family, kind);
	struct cidr from;

	if (l->allow_used | l->deny_used) {
		packet_cidr(p, p->saddr, &from);
		if (l->allow_used && bpf_map_lookup_elem(&allow, &from))
			return REASON_ALLOW_LIST;
		if (l->deny_used && bpf_map_lookup_elem(&deny, &from))
			return REASON_DENY_LIST;
	}
	if (class >= CLASS_BUDGETS) {
		__u8 policy = POLICY_DROP;

		if (class < CLASS_COUNT)
			policy = s->policy[class - CLASS_BUDGETS];
		if (policy == POLICY_PASS)
			return REASON_POLICY;
		if (policy != POLICY_LIMIT)
			return policy_reason(class);
		class = CLASS_UNKNOWN;
	}
	return admit_budget(l, slot, &s->budget[class], class, p);
}

#endif /* ADMIT_BPF_H */
