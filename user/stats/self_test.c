// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * self_test.c - see self_test.h: collecting.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/address.h"
#include "lib/udp_sockets.h"
#include "lib/util.h"
#include "stats/self_test.h"

#define ENDPOINTS_MAX 2048 /* more are not looked for: their sockets are not known */

struct search {
	struct shield_endpoint all[ENDPOINTS_MAX];
	size_t count;
	bool bound[SERVICES_MAX]; /* by slot */
};

static void socket_look(const struct udp_socket *socket, void *context)
{
	struct search *s = context;

	for (size_t i = 0; i < s->count; i++) {
		const struct shield_endpoint *e = &s->all[i];

		if (e->port == socket->port && e->slot < SERVICES_MAX &&
		    (address_is_any(socket->address) || address_is_any(e->address) ||
		     !memcmp(e->address, socket->address, sizeof(e->address))))
			s->bound[e->slot] = true;
	}
}

static void endpoint_look(const struct shield_endpoint *e, struct self_test *t)
{
	if (!t->port)
		t->port = e->port;
	if (t->here != KNOWN_YES || address_is_any(e->address) ||
	    address_is_here(e->address))
		return;
	t->here = KNOWN_NO;
	memcpy(t->address, e->address, sizeof(t->address));
}

static void service_look(const struct shield *shield, __u32 slot,
			 const struct service *service, const struct search *s,
			 struct self_test *t)
{
	static struct counters in, out;

	memset(t, 0, sizeof(*t));
	memcpy(t->service, service->name, NAME_MAX_LEN);
	t->family = (enum wire_family)service->family;
	t->here = KNOWN_YES;
	t->socket = !s ? KNOWN_NOT : s->bound[slot] ? KNOWN_YES : KNOWN_NO;
	if (!shield_counters(shield, slot, &in, &out)) {
		t->received = counters_packets(&in);
		t->sent = counters_of_server(&out);
	}
	t->judged = shield_judged(shield, slot, t->received, t->unjudged_by);
	shield_protocol_mismatch(shield, slot, &t->speaks);
}

size_t self_test_run(const struct shield *shield, struct self_test ret[SERVICES_MAX])
{
	struct search *s = calloc(1, sizeof(*s));
	bool seen = false;
	size_t n = 0;

	if (s) {
		s->count = shield_endpoints(shield, s->all, ENDPOINTS_MAX);
		seen = udp_sockets_each(socket_look, s) && s->count < ENDPOINTS_MAX;
	}
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		struct service service;

		if (!shield_service(shield, slot, &service))
			continue;
		service_look(shield, slot, &service, seen ? s : NULL, &ret[n]);
		for (size_t i = 0; s && i < s->count; i++)
			if (s->all[i].slot == slot)
				endpoint_look(&s->all[i], &ret[n]);
		n++;
	}
	free(s);
	return n;
}
