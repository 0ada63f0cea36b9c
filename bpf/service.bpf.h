/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service.bpf.h - what both directions share: the clock, addresses as keys, the service.
 */
#ifndef SERVICE_BPF_H
#define SERVICE_BPF_H

#include "maps.bpf.h"
#include "parse.bpf.h"

static __always_inline __u64 clock_at(const struct live *l, __u64 jiffies)
{
	return jiffies * l->tick_ns + l->clock_ns;
}

static __always_inline __u64 clock_now(const struct live *l)
{
	return clock_at(l, bpf_jiffies64());
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

/* Those tables that are valid as the packet comes, and stay so until it is gone. */
static __always_inline struct tables *tables_now(struct live *l)
{
	struct tables *t = &l->tables[l->generation & 1];

	once_here(t);
	return t;
}

/* The port's any, and its flags in the upper half; 0: no service there. */
static __always_inline __u32 port_word(const struct tables *t, const struct packet *p)
{
	__u32 word;

	__builtin_memcpy(&word, &t->ports[p->server_port], sizeof(word));
	return word;
}

/* By address, or learned and perhaps forgotten again: the slot + 1, or 0. */
static __always_inline __u32 port_lookup(const struct live *l, const struct tables *t,
					 const struct packet *p, enum side side)
{
	const struct port *port = &t->ports[p->server_port];
	struct endpoint at = { .port = p->server_port, .generation = t->generation & 1 };
	struct cidr to;
	__u32 *exact;

	if (port->flags & PORT_EXACT) {
		packet_cidr(p, side, &to);
		__builtin_memcpy(at.addr, to.addr, sizeof(at.addr));
		exact = bpf_map_lookup_elem(&endpoints, &at);
		if (exact)
			return *exact;
	}
	if (port->flags & PORT_NAMED ||
	    (port->flags & PORT_LEARNED &&
	     (__u32)(clock_s(l) - port->seen_s) > LEARNED_PORT_S))
		return 0;
	return port->any;
}

/* NULL: not below SERVICES_MAX, so none. */
static __always_inline const struct service *service_at(const struct tables *t,
							__u32 *slot)
{
	const struct service *service;

	if (!index_below(slot, SERVICES_MAX))
		return NULL;
	/* Or 6.1 is shown what was spilled before it was compared. */
	same_copy(*slot);
	service = &t->services[*slot];
	once_here(service);
	__builtin_assume(service);
	return service;
}

/*
 * The service that the address on @side and the server's port belong to. Its number is
 * in *@ret_slot.
 */
static __always_inline const struct service *service_find(const struct live *l,
							  const struct tables *t,
							  const struct packet *p,
							  enum side side, __u32 *ret_slot)
{
	*ret_slot = port_word(t, p);
	if (*ret_slot > 0xffff)
		*ret_slot = port_lookup(l, t, p, side);
	--*ret_slot;
	return service_at(t, ret_slot);
}

/* What @kind is to a server like @s, perhaps with CLASS_VALIDATION, CLASS_CACHED. */
static __always_inline __u32 service_class_of(const struct service *s, __u64 kind)
{
	same_copy(kind);
	return kind < sizeof(s->class_of) ? s->class_of[kind] : CLASS_MALFORMED;
}

/* And without. */
static __always_inline enum wire_class service_class(const struct service *s,
						     enum wire_kind kind)
{
	return service_class_of(s, kind) & CLASS_MASK;
}

/* The counter of @slot's with that @number, and the row that it is in. NULL: none. */
static __always_inline struct counter *counter_at(__u32 slot, __u32 number,
						  struct counter_row **ret_row)
{
	__u32 key = slot * COUNTER_ROWS + number / COUNTER_CELLS;

	*ret_row = bpf_map_lookup_elem(&counters, &key);
	return *ret_row ? &(*ret_row)->cells[number % COUNTER_CELLS] : NULL;
}

/* The one that counter_number() says, or NULL. */
static __always_inline struct counter *counter_find(__u32 slot, enum direction direction,
						    enum wire_kind kind,
						    enum reason reason,
						    struct counter_row **ret_row)
{
	__u32 number = counter_number(direction, kind, reason);

	return number < COUNTERS ? counter_at(slot, number, ret_row) : NULL;
}

/* Returns how many there had been of this kind and reason on this CPU. */
static __always_inline __u64 count(struct counter *counter, __u64 bytes)
{
	counter->bytes += bytes;
	return counter->packets++;
}

/* Toward the server. The rest of wire follows from the other counters. */
static __always_inline void count_unverified(struct counter_row *row, __u64 payload,
					     __u64 bytes)
{
	row->unverified.payload += payload;
	if (bytes < WIRE_LEAST)
		row->unverified.wire += WIRE_LEAST - bytes;
}

/* From the server. */
static __always_inline void count_unverified_out(struct counter_row *row, __u64 payload,
						 __u64 bytes)
{
	row->unverified.payload += payload;
	row->unverified.wire += wire_bytes(bytes);
}

#endif /* SERVICE_BPF_H */
