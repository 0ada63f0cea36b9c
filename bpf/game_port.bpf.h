/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * game_port.bpf.h - what else the server's words tell: NetQuake's ports of games.
 */
#ifndef GAME_PORT_BPF_H
#define GAME_PORT_BPF_H

#include "conntrack_egress.bpf.h"
#include "amplification.bpf.h"

#define NAMED_PORT_S 10 /* a game's port is spoken from within so many (of 2^30 ns) */

/*
 * An id engine moves the game to a port of its own: CCREP_ACCEPT, little-endian i32. The
 * port is noted, and no service's until its socket speaks NetQuake (game_port_begins()),
 * so that no server takes the port of another program by naming it.
 */
static __always_inline void game_port_learn(const struct live *l, struct tables *t,
					    __u32 slot, const struct packet *p)
{
	struct cursor c = packet_payload(p);
	const __u8 *accept = cursor_take(&c, 9);
	struct port *port;
	__u32 number;

	if (!accept)
		return;
	number = load_u16(accept + 5);
	if (!number || number == p->server_port || accept[7] | accept[8])
		return;
	port = &t->ports[number];
	/* Never over a service of the configuration, nor over a game that goes on. */
	if ((port->any && !(port->flags & (PORT_LEARNED | PORT_NAMED))) ||
	    port->flags & PORT_EXACT)
		return;
	if (port->flags & PORT_LEARNED &&
	    (__u32)(clock_s(l) - port->seen_s) <= LEARNED_PORT_S)
		return;
	port->any = slot + 1;
	port->seen_s = clock_s(l);
	port->flags = PORT_NAMED;
}

/*
 * Does the payload at @offset, of @length octets, begin a game that CCREP_ACCEPT has
 * named its port @number for? NetQuake's header with the very length: no other
 * protocol's. Walked once by the verifier.
 */
__noinline int game_port_begins(struct __sk_buff *ctx, __u32 number, __u32 offset,
				__u32 length)
{
	struct live *l = &live;
	const struct port *port = &tables_now(l)->ports[number & 0xffff];
	struct cursor c = {
		.pos = (void *)(long)ctx->data,
		.end = (void *)(long)ctx->data_end,
	};

	if ((__u32)(clock_s(l) - port->seen_s) > NAMED_PORT_S ||
	    !cursor_take(&c, offset & OFFSET_MASK))
		return 0;
	length &= 0xffff;
	return kind_is_netquake(
		classify_netquake(FAMILY_NETQUAKE, take_u64(&c, length), length));
}

/* A game goes on: what is none of NetQuake's datagrams does not keep the port. */
static __always_inline void game_port_refresh(const struct live *l, struct tables *t,
					      enum wire_kind kind, const struct packet *p)
{
	struct port *port = &t->ports[p->server_port];

	if (port->flags & PORT_LEARNED && kind_is_netquake(kind))
		port->seen_s = clock_s(l);
}

#endif /* GAME_PORT_BPF_H */
