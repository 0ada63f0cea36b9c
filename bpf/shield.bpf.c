// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield.bpf.c - the program at the interface: packet -> service -> classify -> admit ->
 * count. Read this file first.
 *
 * Traffic that is not addressed to a configured service, or that we fail to understand
 * below UDP, is passed unchanged: the shield never breaks a network that it was not asked
 * to protect. The one exception, counted as long-chain, is IPv6 with more extension
 * headers than the standard allows: behind them anything could hide.
 */
#include "maps.bpf.h"
#include "packet.bpf.h"
#include "admit.bpf.h"
#include "classify.h"

#define OFFSET_MASK 0x3fff /* Ethernet, tags, IPv6 and six extension headers: 12 kB */

/* What a frame is to us. @ret_slot is untouched unless a service is returned. */
static __always_inline struct service *
service_find(const struct live *l, const struct packet *p, __u32 *ret_slot)
{
	__u32 half = l->generation & 1;
	__u32 number = bpf_ntohs(p->dport);
	__u32 key = half * PORTS + number;
	struct service *s;
	struct port *port;
	__u32 slot;

	if (!(l->port_bits[half][number / 64] >> number % 64 & 1))
		return NULL;
	port = bpf_map_lookup_elem(&ports, &key);
	if (!port)
		return NULL;
	slot = port->any;
	if (port->exact) {
		struct endpoint at = { .port = number, .generation = half };
		struct cidr to;
		__u32 *exact;

		packet_cidr(p, p->daddr, &to);
		__builtin_memcpy(at.addr, to.addr, sizeof(at.addr));
		exact = bpf_map_lookup_elem(&endpoints, &at);
		if (exact)
			slot = *exact;
	}
	if (!slot)
		return NULL;

	slot--;
	*ret_slot = slot;
	key = half * SERVICES_MAX + slot;
	s = bpf_map_lookup_elem(&services, &key);
	return s;
}

/*
 * The kind of the datagram @length octets long at @offset of the frame. A function of its
 * own, so that the verifier walks its many paths once and not once for each way to wrap
 * a datagram.
 */
__noinline int classify_at(struct xdp_md *ctx, __u32 family, __u32 offset, __u32 length)
{
	struct cursor c = {
		.pos = (void *)(long)ctx->data,
		.end = (void *)(long)ctx->data_end,
	};

	if (!cursor_take(&c, offset & OFFSET_MASK))
		return KIND_MALFORMED;
	return classify(family, DIRECTION_C2S, c, length & 0xffff);
}

static __always_inline void count(__u32 slot, enum wire_kind kind, enum reason reason,
				  __u64 bytes)
{
	struct tallies *t = bpf_map_lookup_elem(&tallies, &slot);

	if (!t || kind >= KIND_COUNT || reason >= REASON_COUNT)
		return;
	t->by[kind][reason].packets++;
	t->by[kind][reason].bytes += bytes;
}

static __always_inline int count_other(enum other other, __u64 bytes)
{
	__u32 key = other;
	struct tally *t = bpf_map_lookup_elem(&others, &key);

	if (t) {
		t->packets++;
		t->bytes += bytes;
	}
	return other == OTHER_LONG_CHAIN ? XDP_DROP : XDP_PASS;
}

SEC("xdp")
int shield(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *data_end = (void *)(long)ctx->data_end;
	__u64 bytes = data_end - data;
	struct packet packet;
	struct service *service;
	enum wire_kind kind;
	enum reason reason;
	enum other other;
	struct live *l;
	__u32 zero = 0;
	__u32 slot = 0;

	other = packet_parse(data, data_end, &packet);
	if (other != PARSED)
		return count_other(other, bytes);
	l = bpf_map_lookup_elem(&live, &zero);
	service = l ? service_find(l, &packet, &slot) : NULL;
	if (!service)
		return count_other(OTHER_NOT_OURS, bytes);

	if (packet.first_fragment)
		kind = KIND_FRAGMENT;
	else if (packet.bad_length)
		kind = KIND_BAD_LENGTH;
	else
		kind = classify_at(ctx, service->family, packet.payload - (__u8 *)data,
				   packet.length);

	reason = admit(l, slot, service, kind, &packet);
	count(slot, kind, reason, bytes);
	if (service->observe || reason_verdict(reason) == VERDICT_PASS)
		return XDP_PASS;
	return XDP_DROP;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
