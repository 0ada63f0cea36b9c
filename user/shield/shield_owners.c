// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_owners.c - whose socket speaks for each service: the user that has the service's
 * port on this host.
 *
 * The egress program takes what leaves from a service's port for the server's word. But
 * any user may bind [::]:PORT beside a server on 0.0.0.0:PORT, or another address at that
 * port. So the daemon reads the kernel's list of UDP sockets, and tells the program one
 * user for each service: the one that has the port, and of several the one that was seen
 * there first; root, where several were there at the start. The user that was first loses
 * that claim after a day in which only others had the port. Sockets of other network
 * namespaces (containers) are in no list here: their services have no owner, and nothing
 * is judged. A service of several ports or addresses, or at whose port several users have
 * an address each, may be several servers of several users: it has no owner either. A
 * socket that is bound to loopback sends nothing by a protected interface, and counts for
 * nothing.
 *
 * shield_owners() uses static buffers: one thread may call it. Called by
 * shield_maintain() and by shield_load(). The egress program reads owners[].user alone.
 */
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "lib/address.h"
#include "lib/log.h"
#include "lib/udp_sockets.h"
#include "shield/shield_internal.h"

#define HOME_ABSENT_S 86400 /* of 2^30 ns: then another user is at home */

void users_note_at(struct users *users, const __be32 address[4], __u32 user)
{
	if (address_is_any(address))
		return;
	users->spread |= users->at_user && users->at_user != user &&
			 memcmp(users->at, address, sizeof(users->at)) != 0;
	memcpy(users->at, address, sizeof(users->at));
	users->at_user = user;
}

void users_note(struct users *users, const struct owner *o, __u32 user)
{
	users->some = true;
	users->home |= o->home == user;
	users->kept |= o->user == user;
	users->root |= user == 1;
	users->several |= users->one && users->one != user;
	users->one = user;
}

struct owner owner_choose(const struct owner *was, const struct users *users, __u32 now_s)
{
	struct owner now = *was;

	if (!users->some)
		return now; /* it is being started again, perhaps */
	if (users->spread)
		return (struct owner){ 0 };
	if (users->home)
		now.user = was->home;
	else if (!users->kept)
		now.user = !users->several ? users->one : users->root ? 1 : 0;
	if (users->home || now.user != was->user || !now.user)
		now.away_s = 0;
	if (now.user != now.home && !now.away_s)
		now.away_s = now_s;
	if (!now.home || (now.away_s && now_s - now.away_s > HOME_ABSENT_S)) {
		now.home = now.user;
		now.away_s = 0;
	}
	return now;
}

/* State of one look at the sockets. */
struct look {
	const struct shield *shield;
	struct endpoint exact[2 * SERVICES_MAX];
	__u32 slots[2 * SERVICES_MAX]; /* of each of these */
	size_t count;
	struct users users[SERVICES_MAX]; /* by slot */
	__u32 places[SERVICES_MAX]; /* see places_count() */
};

/*
 * Note the user of @socket for each service at its port and address. The callback of
 * udp_sockets_each(); @context: struct look. Learned ports are left out: any server may
 * have named them.
 */
static void socket_note(const struct udp_socket *socket, void *context)
{
	struct look *k = context;
	const struct live *l = k->shield->shared;
	const struct tables *t = &l->tables[shield_generation(k->shield) & 1];
	const struct port *port = &t->ports[socket->port];

	if (port->flags & (PORT_LEARNED | PORT_NAMED) ||
	    address_is_loopback(socket->address))
		return;
	if (port->any && port->any <= SERVICES_MAX) {
		users_note(&k->users[port->any - 1], &l->owners[port->any - 1],
			   socket->user);
		users_note_at(&k->users[port->any - 1], socket->address, socket->user);
	}
	for (size_t i = 0; i < k->count && port->flags & PORT_EXACT; i++)
		if (k->exact[i].port == socket->port &&
		    (address_is_any(socket->address) ||
		     !memcmp(k->exact[i].addr, socket->address, sizeof(socket->address))))
			users_note(&k->users[k->slots[i]], &l->owners[k->slots[i]],
				   socket->user);
}

/* Put the endpoints in force, at most 2 * SERVICES_MAX, into @ret. Returns how many. */
static size_t endpoints_read(const struct shield *s, struct endpoint *ret,
			     __u32 *ret_slots)
{
	struct endpoint at;
	void *previous = NULL;
	size_t count = 0;
	__u32 any;

	for (int i = 0;
	     i < 2 * SERVICES_MAX && !bpf_map_get_next_key(s->endpoints, previous, &at);
	     i++) {
		previous = &at;
		if ((at.generation & 1) != (shield_generation(s) & 1) ||
		    bpf_map_lookup_elem(s->endpoints, &at, &any) || !any ||
		    any > SERVICES_MAX)
			continue;
		ret[count] = at;
		ret_slots[count++] = any - 1;
	}
	return count;
}

/*
 * Log that the owner of the service in @slot has changed to @now, or that it has none.
 */
static void say(const struct shield *s, __u32 slot, const struct owner *now,
		const struct users *users)
{
	struct service service;

	if (!shield_service(s, slot, &service))
		return;
	if (now->user)
		log_info(
			"service '%s': its server is of user %u: what other users' sockets "
			"send from its port counts for nothing",
			service.name, now->user - 1);
	else if (users->several)
		log_warn(
			"service '%s': sockets of several users are at its port, and none "
			"is known to be its server's: all of them are believed",
			service.name);
}

/*
 * Ports and pairs of port and address that each service has: one is one server's. @slots:
 * of the @count pairs.
 */
static void places_count(const struct shield *s, const __u32 *slots, size_t count,
			 __u32 *places)
{
	const struct tables *t = &s->shared->tables[shield_generation(s) & 1];

	memset(places, 0, SERVICES_MAX * sizeof(*places));
	for (__u32 number = 0; number < PORTS; number++) {
		const struct port *port = &t->ports[number];

		if (port->any && port->any <= SERVICES_MAX &&
		    !(port->flags & (PORT_LEARNED | PORT_NAMED)))
			places[port->any - 1]++;
	}
	for (size_t i = 0; i < count; i++)
		places[slots[i]]++;
}

void shield_owners(struct shield *s)
{
	static struct look look;
	__u32 now_s = (__u32)(shield_clock() >> 30) | 1;

	memset(&look, 0, sizeof(look));
	look.shield = s;
	look.count = endpoints_read(s, look.exact, look.slots);
	places_count(s, look.slots, look.count, look.places);
	udp_sockets_each(socket_note, &look);
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		struct owner *o = &s->shared->owners[slot];
		const struct users *users = &look.users[slot];
		struct owner now = { 0 };
		bool news;

		if (look.places[slot] <= 1)
			now = owner_choose(o, users, now_s);
		news = now.user != o->user || (users->several && look.places[slot] == 1 &&
					       !now.user && !s->owners_logged[slot]);

		o->home = now.home;
		o->away_s = now.away_s;
		__atomic_store_n(&o->user, now.user, __ATOMIC_RELAXED);
		if (news) {
			s->owners_logged[slot] = true;
			say(s, slot, &now, users);
		}
	}
}

__u64 shield_other_sockets(const struct shield *s, __u32 slot, __u32 *ret_user)
{
	struct counters *t = calloc(2, sizeof(*t));
	__u64 sum = 0;

	*ret_user = s->shared && slot < SERVICES_MAX ? s->shared->owners[slot].user : 0;
	if (t && *ret_user && !shield_counters(s, slot, &t[0], &t[1]))
		for (int kind = 0; kind < KIND_COUNT; kind++)
			sum += t[1].by[kind][REASON_OTHER_SOCKET].packets;
	free(t);
	return sum;
}
