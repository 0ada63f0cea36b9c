/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * game_port.bpf.h - learn the ports of NetQuake games: an id Software engine gives each
 * game a port of its own and names it in CCREP_ACCEPT.
 *
 * The port is noted when it is named (PORT_NAMED), and belongs to the service when its
 * socket first sends NetQuake (PORT_LEARNED): so no server takes over the port of another
 * program by naming it. It is forgotten after LEARNED_PORT_S of silence.
 *
 * Called by shield_out() alone. It writes struct port of the current tables; the daemon
 * copies learned ports when it fills the others (keep_learned() in
 * user/shield/shield_apply.c; an upgrade: shield_migrate.c). port_lookup() decides
 * whether such a port counts. The daemon leaves a port with one of these flags out where
 * it counts or shows configured ports (shield_owners.c, shield_gauges.c, shield_maps.c):
 * a further flag belongs there too.
 */
#ifndef GAME_PORT_BPF_H
#define GAME_PORT_BPF_H

#include "conntrack_egress.bpf.h"
#include "amplification.bpf.h"

#define NAMED_PORT_S 10 /* units of 2^30 ns in which a named port must be used first */

/*
 * Note the port that the CCREP_ACCEPT in @p names (bytes 5 to 8, little-endian). Called
 * by shield_out() alone, for a KIND_CCREP_ACCEPT of a NetQuake service from a socket of
 * its own user. It must not take over a port of the configuration, since another program
 * of the host would lose its traffic, nor a port with a game that goes on.
 */
static __always_inline void game_port_learn(const struct live *l, struct tables *t,
					    __u32 slot, const struct packet *p)
{
	struct cursor c = packet_payload(p);
	const __u8 *accept = cursor_take(&c, 9);
	struct port named = { .flags = PORT_NAMED }, *port;
	__u32 number;

	if (!accept)
		return;
	number = load_u16(accept + 5);
	if (!number || number == p->server_port || accept[7] | accept[8])
		return;
	port = &t->ports[number];
	if ((port->any && !(port->flags & (PORT_LEARNED | PORT_NAMED))) ||
	    port->flags & PORT_EXACT)
		return;
	if (port->flags & PORT_LEARNED &&
	    (__u32)(clock_s(l) - port->seen_s) <= LEARNED_PORT_S)
		return;
	named.any = slot + 1;
	named.seen_s = clock_s(l);
	/* One store: no other CPU may see the service without the flag, or the reverse.
	 */
	*(volatile __u64 *)port = *(__u64 *)&named;
}

/*
 * Return true if the payload at @offset, of @length bytes, begins a game on port @number,
 * which CCREP_ACCEPT has named lately: it has NetQuake's header with the very length, as
 * no other protocol's. Analysed once by the verifier. Called by shield_out() alone, for a
 * port with PORT_NAMED, before service_find(): on true it sets PORT_LEARNED, unless
 * other_socket() says that the socket is another user's.
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

/*
 * Keep a game port for as long as NetQuake leaves from it. Called by shield_out() alone,
 * for each datagram of the server's own user that game_port_learn() does not get, with
 * the @marks of its kind: it must write only for a learned port.
 */
static __always_inline void game_port_refresh(const struct live *l, struct tables *t,
					      __u32 marks, const struct packet *p)
{
	struct port *port = &t->ports[p->server_port];

	if (port->flags & PORT_LEARNED && marks & KIND_NETQUAKE)
		port->seen_s = clock_s(l);
}

#endif /* GAME_PORT_BPF_H */
