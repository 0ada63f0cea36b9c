/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service.bpf.h - the service of a datagram: its number (slot), its settings, the class
 * of a kind, and its counters. Also the shield's clock, and addresses as keys.
 *
 * Shared by both directions. A service belongs to a port, or to an address and port
 * (PORT_EXACT), or to a port that a NetQuake server has named for a game
 * (game_port.bpf.h).
 *
 * There are two generations of the tables. Packets use the one that struct
 * live.generation names; the daemon fills the other, then changes the generation. A
 * packet must use one pointer, from tables_now(), for all look-ups.
 *
 * clock_now(), clock_s(), address_net(), tables_now() and service_at() are shared by all
 * programs. clock_at(), tables_now(), port_word(), service_at(), service_class_of(),
 * counter_at() and count() stand on the path of each datagram of a flood, which pays for
 * each instruction (tests/kern/kern_steps.c).
 */
#ifndef SERVICE_BPF_H
#define SERVICE_BPF_H

#include "maps.bpf.h"
#include "parse.bpf.h"

/*
 * Return the time of @jiffies on the shield's clock, in ns. All limits and ages use it.
 * It moves in ticks of a jiffy (1 to 10 ms). In replay and trials tick_ns is 0, and
 * clock_ns is the time. Otherwise clock_ns must be 0: shield_clock() in userland computes
 * the same time from the jiffies alone. Called by fast_path(), which reads the jiffies
 * early, and clock_now(). All tables hold times of this clock: no other clock may be
 * stored in them.
 */
static __always_inline __u64 clock_at(const struct live *l, __u64 jiffies)
{
	return jiffies * l->tick_ns + l->clock_ns;
}

/*
 * Return the time on the shield's clock, in ns. Called by all programs. It costs a helper
 * call, so fast_path() uses clock_at().
 */
static __always_inline __u64 clock_now(const struct live *l)
{
	return clock_at(l, bpf_jiffies64());
}

/*
 * Return the time in units of 2^30 ns (1.07 s). Called for the ages of named ports,
 * fragments, player addresses and connects. Where 16 bits of it are stored the age must
 * be a difference of 16 bits, since they wrap. Callers that have the time shift it
 * themselves: protocol_mismatch(), detect_reply(), connect_keep(), and all of user/.
 */
static __always_inline __u32 clock_s(const struct live *l)
{
	return clock_now(l) >> 30;
}

/*
 * Write the address of @side as struct cidr and struct endpoint have it: all 128 bits of
 * it, IPv4 as ::ffff:a.b.c.d. All zeros if the frame has no address. Called by
 * port_lookup() alone, with a parsed @p; plan_addresses() writes the same to endpoints.
 */
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

/*
 * Return the address of @side as limits see it: an IPv4 address, or the upper half (/64)
 * of an IPv6 address; host order. 0 if the frame has none. Called with a parsed @p in
 * both directions, for the key of a limit, of reputation or of the log of refused
 * sources. plain_net() must return the same on the fast path, as must about_host(),
 * know_player() and net_parse() (user/cache/known_clients.c) in userland.
 */
static __always_inline __u64 address_net(const struct packet *p, enum side side)
{
	const __be32 *addr = packet_address(p, side);

	if (!addr)
		return 0;
	if (!p->ipv6)
		return bpf_ntohl(*addr);
	return (__u64)bpf_ntohl(addr[0]) << 32 | bpf_ntohl(addr[1]);
}

/*
 * Return the tables of the current generation. They stay valid until the packet is done.
 * Called by all programs, once per program or function that the verifier analyses apart;
 * a second call may return the next generation.
 */
static __always_inline struct tables *tables_now(struct live *l)
{
	struct tables *t = &l->tables[l->generation & 1];

	once_here(t);
	return t;
}

/*
 * Return struct port.any of the server's port, with the flags in the upper half; 0: no
 * service is there. A value above 0xffff needs port_lookup(). Called by plain_path(),
 * target_plain(), target_encapsulated() and service_find(): one load for a datagram of no
 * service, for which `any` must be the first member and `flags` the second.
 */
static __always_inline __u32 port_word(const struct tables *t, const struct packet *p)
{
	__u32 word;

	__builtin_memcpy(&word, &t->ports[p->server_port], sizeof(word));
	return word;
}

/*
 * Return slot + 1 of the service at the address of @side and @p->server_port, or 0. For a
 * port with flags: it belongs to one address (PORT_EXACT), or was named by a server
 * (PORT_NAMED: not in use yet; PORT_LEARNED: in use until LEARNED_PORT_S of silence).
 * Called by service_find() and exact_slot(). An address of PORT_EXACT comes before struct
 * port.any. about_service_at() (user/shield/shield_about.c) follows the same rules:
 * change both.
 */
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

/*
 * Return the service in *@slot, or NULL if *@slot is not below SERVICES_MAX: a port
 * without a service has port_word() 0, and 0 - 1 is out of bounds. Called by all programs
 * with a slot of port_word() or port_lookup(), of a context or of a note. The caller must
 * handle NULL. The service of a note may be gone: compare its `active`, as
 * fragment_follow() does.
 */
static __always_inline const struct service *service_at(const struct tables *t,
							__u32 *slot)
{
	const struct service *service;

	if (!index_below(slot, SERVICES_MAX))
		return NULL;
	/* See same_copy(): the compared value is the one that is used. */
	same_copy(*slot);
	service = &t->services[*slot];
	once_here(service);
	__builtin_assume(service);
	return service;
}

/*
 * Return the service at the address of @side and @p->server_port, and its slot in
 * *@ret_slot; NULL if there is none. Called by shield_out() for SENDER and
 * shield_joined() for RECEIVER. target_plain() and target_encapsulated() must find the
 * same at the interface.
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

/*
 * Return the class of @kind on @s with its flags (CLASS_VALIDATION, CLASS_CACHED).
 * CLASS_MALFORMED for a kind that does not exist. Called by refuse() and service_class().
 * Compare the register that indexes: see same_copy().
 */
static __always_inline __u32 service_class_of(const struct service *s, __u64 kind)
{
	same_copy(kind);
	return kind < sizeof(s->class_of) ? s->class_of[kind] : CLASS_MALFORMED;
}

/*
 * Return the class of @kind on @s, without flags. Called by admit_unlisted(),
 * classify_no_player(), count_decision(), plain_refused() and sample_maybe(): both paths.
 */
static __always_inline enum wire_class service_class(const struct service *s,
						     enum wire_kind kind)
{
	return service_class_of(s, kind) & CLASS_MASK;
}

/*
 * Tell the daemon that a counter in @row, of @slot, changes: it reads the counters of no
 * other service. The line that processors share is written once a second for each row of
 * each processor. Called by counter_at() alone. It must mostly read: the line is shared
 * by all processors. The count must follow within two turns, for which
 * shield_counters_changed() (user/shield/shield_maps.c) allows.
 */
static __always_inline void counted_note(struct counter_row *row, __u32 slot)
{
	__u32 turn = live.counters_turn;

	if (likely(row->turn == turn))
		return;
	row->turn = turn;
	live.counted[slot & (SERVICES_MAX - 1)] = turn;
}

/*
 * Return the counter @number of @slot on this CPU, which the caller changes, its row in
 * *@ret_row, and the row's key in *@ret_key; NULL if there is none. Called by the
 * functions that call count(), and by share_take(). On the fast path (drop_for(),
 * not_challenged(), fast_path_player()) the number is mostly a kind added to a constant.
 * That is right for some reasons alone: enum counter_number. The caller must pass the
 * key to count() and may read the row's other members. A number that counter_number() or
 * COUNTER_IN() gave is below COUNTER_ROWS * COUNTER_CELLS.
 */
static __always_inline __u64 *counter_at(__u32 slot, __u32 number,
					 struct counter_row **ret_row, __u32 *ret_key)
{
	*ret_key = slot * COUNTER_ROWS + number / COUNTER_CELLS;
	*ret_row = bpf_map_lookup_elem(&counters, ret_key);
	if (unlikely(!*ret_row))
		return NULL;
	counted_note(*ret_row, slot);
	return &(*ret_row)->cells[number % COUNTER_CELLS];
}

/*
 * Move the contents of the full counters in the row at @key to their sums. They are in
 * neither place for the time of some instructions: shield_counters() reads twice. The
 * loop spares the callers the number of the counter: one register more costs each packet
 * some instructions. Called by count() alone, once per 17 GB of a counter. Packets and
 * bytes of a cell move together.
 */
__noinline int counters_spill(__u32 key)
{
	struct counter_row *row = bpf_map_lookup_elem(&counters, &key);
	struct counter_sums *sums = bpf_map_lookup_elem(&spilled, &key);

	if (!row || !sums)
		return 0;
	for (int i = 0; i < COUNTER_CELLS; i++) {
		struct counter moves = counter_read(row->cells[i]);

		if (!(row->cells[i] & COUNTER_FULL))
			continue;
		row->cells[i] = 0;
		__sync_fetch_and_add(&sums->cells[i].packets, moves.packets);
		__sync_fetch_and_add(&sums->cells[i].bytes, moves.bytes);
	}
	return 0;
}

/*
 * Count a frame of @bytes. @key: of the row that @counter is in. Returns how many were
 * counted on this CPU since the counter was zero: samplers choose by that number. Called
 * once per datagram by the path that decides about it: drop_in(), fast_path_player(),
 * count_decision() or count_challenged() on ingress, shield_out() at egress, and
 * count_sent() for what the shield sends. shield_joined() counts a coalesced buffer once
 * more. The counter is this CPU's own: no atomic operation.
 */
static __always_inline __u64 count(__u64 *counter, const __u32 *key, __u64 bytes)
{
	__u64 was = *counter, now = was + bytes * COUNTER_BYTE + 1;

	*counter = now;
	if (unlikely(now & COUNTER_FULL))
		counters_spill(*key);
	return was % COUNTER_BYTE;
}

/*
 * Add a datagram toward the server, of any reason but REASON_PLAYER, to the volume of
 * @row. The rest of wire follows from the other counters (volume_complete()). Called by
 * drop_in(), count_decision() and count_challenged(), once after each count() of such a
 * datagram; not by shield_joined(), since shield() has counted the frame. @payload: by
 * the UDP length; 0 of a KIND_FRAGMENT. @bytes: of the frame.
 */
static __always_inline void count_unverified(struct counter_row *row, __u64 payload,
					     __u64 bytes)
{
	row->unverified.payload += payload;
	if (bytes < WIRE_LEAST)
		row->unverified.wire += WIRE_LEAST - bytes;
}

/*
 * Add a frame that leaves to a peer that is no verified player to the volume of @row.
 * Called by shield_out() and count_sent(), once after count().
 */
static __always_inline void count_unverified_out(struct counter_row *row, __u64 payload,
						 __u64 bytes)
{
	row->unverified.payload += payload;
	row->unverified.wire += wire_bytes(bytes);
}

#endif /* SERVICE_BPF_H */
