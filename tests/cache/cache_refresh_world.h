/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cache_refresh_world.h - what an refresh sees of a shield, a clock and a loop, which are
 * the test's own. Included once by a program, after cmocka.h.
 */
#ifndef CACHE_REFRESH_WORLD_H
#define CACHE_REFRESH_WORLD_H

#include <errno.h>
#include <string.h>

#include "cache/cache_refresh.h"
#include "cache/known_clients.h"
#include "incident/incident_store.h"
#include "lib/log.h"
#include "lib/loop.h"

#define MS     1000000ull
#define SECOND (1000 * MS)
#define FORMS  4 /* of Quake III */

static __u64 clock_ns, once_ns, every_ns, every_step_ns;
static void (*once)(void *), (*every)(void *);
static void *context_once, *context_every;
static bool pressed;
static __u64 turned_ns; /* when shield_recent_update() was called last */
static __u32 mtu; /* of the shield's interfaces */
static unsigned int steps_, told_, said_; /* of the refresh; warnings, notes */
static struct cache_entry held[CACHE_FORMS];
static struct reputation_table table;
static __u32 known_; /* how many are in it */
static unsigned int kept_; /* how often that was to be written down */
static const __u64 keys[3] = { 1, 2, 3 };

/* --- what the refresh sees of a shield ---------------------------------------- */

__u64 shield_clock(void)
{
	return clock_ns;
}

bool shield_service(const struct shield *shield, __u32 slot, struct service *ret)
{
	(void)shield;
	memset(ret, 0, sizeof(*ret));
	strcpy(ret->name, "lab");
	return !slot;
}

bool shield_under_load(const struct shield *shield, __u32 slot)
{
	(void)shield;
	(void)slot;
	return pressed;
}

__u32 shield_mtu(const struct shield *shield)
{
	(void)shield;
	return mtu;
}

bool shield_fallback(const struct shield *shield)
{
	(void)shield;
	return false;
}

__u32 shield_generation(const struct shield *shield)
{
	(void)shield;
	return 1;
}

bool shield_cache_put_for(struct shield *shield, const char *name, __u32 slot, __u32 form,
			  const struct cache_entry *t)
{
	(void)shield;
	assert_string_equal(name, "lab");
	assert_int_equal(slot, 0);
	assert_in_range(form, 0, FORMS - 1);
	held[form] = *t;
	return true;
}

void shield_recent_update(struct shield *shield, __u64 now)
{
	(void)shield;
	turned_ns = now;
}

struct reputation_table *shield_reputation(struct shield *shield, const __u64 **ret_keys)
{
	(void)shield;
	*ret_keys = keys;
	return &table;
}

__u32 shield_known_count(const struct shield *shield)
{
	(void)shield;
	return known_;
}

int incident_path(const char *pin, const char *name, char ret[INCIDENT_PATH])
{
	(void)pin;
	(void)name;
	strcpy(ret, "/nonexistent/known-clients.txt");
	return 0;
}

int incident_directory(const char *path)
{
	(void)path;
	kept_++;
	return known_ ? -EROFS : 0;
}

bool loop_every(int ms, void (*tick)(void *), void *context)
{
	every = tick;
	context_every = context;
	every_step_ns = (__u64)ms * MS;
	every_ns = clock_ns + every_step_ns;
	return true;
}

bool loop_once(int ms, void (*tick)(void *), void *context)
{
	if (once)
		return true;
	once = tick;
	context_once = context;
	once_ns = clock_ns + (__u64)ms * MS;
	return true;
}

void log_warn(const char *format, ...)
{
	(void)format;
	told_++;
}

void log_info(const char *format, ...)
{
	(void)format;
	said_++;
}

void log_error(const char *format, ...)
{
	if (!known_) /* which cannot be kept here */
		fail_msg("%s", format);
}

#endif /* CACHE_REFRESH_WORLD_H */
