/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_status_world.h - stand-ins for the shield, the daemon and the files that `status`
 * reads. Included once, by test_cmd_status.c.
 */
#ifndef CMD_STATUS_WORLD_H
#define CMD_STATUS_WORLD_H

#include <arpa/inet.h>
#include <jansson.h>

#include "cmd/commands.h"
#include "cmd/fake_in_force.h"
#include "daemon/pidfile.h"
#include "stats/self_test.h"
#include "stats/stats.h"

static struct {
	int open_status, opened, closed; /* status of call_open(); how often */
	struct shield_link links[2 * CONFIG_INTERFACES];
	size_t link_count;
	struct service services[SERVICES_MAX];
	__u64 misspoken[SERVICES_MAX];
	__u32 user[SERVICES_MAX]; /* as uid + 1 */
	__u64 other_sockets[SERVICES_MAX];
	const char *veth;
	bool fallback;
	enum judged tested; /* of service 9; JUDGED_UNKNOWN: nothing is */
	size_t ports; /* of each service; 0: 1 */
	bool stale; /* responses are too old */
	pid_t daemon;
} now;

static struct {
	char pin[64]; /* of the pid that was asked for */
} seen;

int call_open(const struct call *call, struct shield **ret)
{
	(void)call;
	*ret = NULL;
	now.opened += !now.open_status;
	return now.open_status;
}

void shield_close(struct shield *shield)
{
	(void)shield;
	now.closed++;
}

size_t shield_links(const struct shield *shield, struct shield_link *ret, size_t max)
{
	(void)shield;
	for (size_t i = 0; i < max && i < now.link_count; i++)
		ret[i] = now.links[i];
	return now.link_count;
}

bool shield_return_path_unavailable(const struct shield *shield,
				    char ret_interface[IF_NAMESIZE])
{
	(void)shield;
	strcpy(ret_interface, now.veth);
	return *now.veth;
}

size_t shield_ports(const struct shield *shield, __u32 slot)
{
	(void)shield;
	(void)slot;
	return now.ports ? now.ports : 1;
}

size_t shield_cached_responses(const struct shield *shield, __u32 slot,
			       struct cached_response ret[CACHE_FORMS])
{
	(void)shield;
	(void)slot;
	ret[0].fresh = !now.stale;
	return 1;
}

bool shield_service(const struct shield *shield, __u32 slot, struct service *ret)
{
	(void)shield;
	if (now.services[slot].active)
		*ret = now.services[slot];
	return now.services[slot].active;
}

__u64 shield_other_sockets(const struct shield *shield, __u32 slot, __u32 *ret_user)
{
	(void)shield;
	*ret_user = now.user[slot];
	return now.other_sockets[slot];
}

__u64 shield_protocol_mismatch(const struct shield *shield, __u32 slot,
			       __u32 *ret_families)
{
	(void)shield;
	*ret_families = now.misspoken[slot] == 1 ? 1 << FAMILY_QUAKE3
			: now.misspoken[slot] ? 1 << FAMILY_QUAKE3 | 1 << FAMILY_NETQUAKE
					      : 0;
	assert_true(now.services[slot].active);
	return now.misspoken[slot];
}

/* One for each service, of which 9 is not judged and the last is not known to be. */
size_t self_test_run(const struct shield *shield, struct self_test ret[SERVICES_MAX])
{
	size_t n = 0;

	(void)shield;
	for (__u32 slot = 0; now.tested && slot < SERVICES_MAX; slot++) {
		struct self_test *t = &ret[n];

		if (!now.services[slot].active)
			continue;
		n++;
		memset(t, 0, sizeof(*t));
		memcpy(t->service, now.services[slot].name, NAME_MAX_LEN);
		t->received = slot;
		t->sent = 2ull * slot;
		t->judged = JUDGED_YES;
		t->port = 27960;
		t->socket = t->here = KNOWN_YES;
		if (slot == 9) {
			t->judged = now.tested;
			strcpy(t->unjudged_by, "gre1");
			t->socket = KNOWN_NOT;
		} else if (slot == SERVICES_MAX - 1) {
			t->judged = JUDGED_UNKNOWN;
			t->socket = t->here = KNOWN_NO;
			t->received = t->sent = 0;
			t->address[2] = htonl(0xffff);
			t->address[3] = htonl(0xcb007109);
		}
	}
	return n;
}

bool shield_fallback(const struct shield *shield)
{
	(void)shield;
	return now.fallback;
}

__u32 shield_generation(const struct shield *shield)
{
	(void)shield;
	return 41;
}

pid_t pidfile_pid(const char *pin_dir)
{
	snprintf(seen.pin, sizeof(seen.pin), "%s", pin_dir ? pin_dir : "(default)");
	return now.daemon;
}

const char *mode_name(enum attach_mode mode)
{
	return mode == MODE_SKB ? "skb" : mode == MODE_NATIVE ? "native" : "auto";
}

void time_format(time_t time, char ret[TIME_TEXT])
{
	snprintf(ret, TIME_TEXT, "second %lld", (long long)time);
}

json_t *stats_json_link(const struct shield_link *link)
{
	return json_string(link->interface);
}

#endif
