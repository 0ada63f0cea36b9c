/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * common.bpf.h - what both directions share: the clock, addresses as keys, the service.
 */
#ifndef COMMON_BPF_H
#define COMMON_BPF_H

#include "maps.bpf.h"
#include "packet.bpf.h"

/* Nanoseconds per tick of bpf_jiffies64(), measured by the loader; 0: time is
 * live.clock_ns. */
const volatile __u64 tick_ns = 4000000;

static __always_inline __u64 clock_now(const struct live *l)
{
	return tick_ns ? bpf_jiffies64() * tick_ns : l->clock_ns;
}

/* Seconds, near enough: 2^30 ns. */
static __always_inline __u32 clock_s(const struct live *l)
{
	return clock_now(l) >> 30;
}

static __always_inline void packet_cidr(const struct packet *p, enum side side,
					struct cidr *ret)
{
	const __be32 *addr = packet_address(p, side);

	__builtin_memset(ret, 0, sizeof(*ret));
	ret->length = 128;
	if (!addr)
		return;
	if (p->ipv6) {
		__builtin_memcpy(ret->addr, addr, 16);
		return;
	}
	ret->addr[2] = bpf_htonl(0xffff);
	ret->addr[3] = *addr;
}

/* An address as limits see it: an IPv4 address, or the upper half of an IPv6 one. */
static __always_inline __u64 address_net(const struct packet *p, enum side side)
{
	const __be32 *addr = packet_address(p, side);

	if (!addr)
		return 0;
	if (!p->ipv6)
		return bpf_ntohl(*addr);
	return (__u64)bpf_ntohl(addr[0]) << 32 | bpf_ntohl(addr[1]);
}

#define LEARNED_PORT_S                                                  \
	60 /* a NetQuake game port is forgotten after so long a silence \
	    */

/*
 * The service that the address on @side and @be_port (the server's, whichever way the
 * packet goes) belong to. @ret_slot is untouched unless one is returned.
 */
static __always_inline struct service *service_find(const struct live *l,
						    const struct packet *p,
						    enum side side, __be16 be_port,
						    __u32 *ret_slot)
{
	__u32 half = l->generation & 1;
	__u32 number = bpf_ntohs(be_port);
	__u32 key = half * PORTS + number;
	/* By bytes: fewer steps, and the same bits where the low byte comes first. */
	const __u8 *bits = (const __u8 *)l->port_bits[half];
	struct port *port;
	__u32 slot;

	if (!(bits[number / 8] >> number % 8 & 1))
		return NULL;
	port = bpf_map_lookup_elem(&ports, &key);
	if (!port)
		return NULL;
	slot = port->any;
	if (port->exact) {
		struct endpoint at = { .port = number, .generation = half };
		struct cidr to;
		__u32 *exact;

		packet_cidr(p, side, &to);
		__builtin_memcpy(at.addr, to.addr, sizeof(at.addr));
		exact = bpf_map_lookup_elem(&endpoints, &at);
		if (exact)
			slot = *exact;
	}
	if (port->learned && (__u32)(clock_s(l) - port->seen_s) > LEARNED_PORT_S)
		return NULL;
	if (!slot)
		return NULL;

	slot--;
	*ret_slot = slot;
	key = half * SERVICES_MAX + slot;
	return bpf_map_lookup_elem(&services, &key);
}

/* Returns how many there had been of this kind and reason on this CPU. */
static __always_inline __u64 count(struct tallies *t, enum wire_kind kind,
				   enum reason reason, __u64 bytes)
{
	__u32 index = kind * REASON_COUNT + reason;
	struct tally *tally = &t->by[0][0];

	if (!index_below(&index, KIND_COUNT * REASON_COUNT))
		return 0;
	tally[index].bytes += bytes;
	return tally[index].packets++;
}

/* What a frame of @bytes occupies on Ethernet: padded to 60, checksum, preamble, gap. */
static __always_inline __u64 wire_bytes(__u64 bytes)
{
	return (bytes < 60 ? 60 : bytes) + 24;
}

static __always_inline void count_stranger(struct tallies *t, __u64 payload, __u64 bytes)
{
	t->strangers.payload += payload;
	t->strangers.wire += wire_bytes(bytes);
}

#endif /* COMMON_BPF_H */
