/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kern_apply.h - a shield of maps that no interface looks at, and a configuration that is
 * put into them. Included once by a program.
 */
#ifndef KERN_APPLY_H
#define KERN_APPLY_H

#include <unistd.h>

#include "kern/kern_game.h"
#include "own_lock.h"
#include "shield/shield_internal.h"

static struct shield shield;
static struct config *config;

static inline int begin(void **state)
{
	enter(state);
	config = calloc(1, sizeof(*config));
	assert_non_null(config);
	config_empty(config);
	shield = (struct shield){ .capacity = KERN_SLOTS, .shared = kern.live };
	shield.lock = own_lock();
	assert_true(shield.lock >= 0);
#define AS_MAP(name, ...) \
	shield.name = bpf_object__find_map_fd_by_name(kern.skel->obj, #name);
	SHIELD_MAPS(AS_MAP)
#undef AS_MAP
	return 0;
}

static inline int end(void **state)
{
	close(shield.lock);
	free(config);
	return leave(state);
}

/* A service of the configuration, on a port of its own. */
static inline struct config_service *add(const char *name, __u16 port)
{
	struct config_service *s = &config->services[config->service_count++];

	memset(s, 0, sizeof(*s));
	s->service.family = FAMILY_QUAKE3;
	config_service_defaults(FAMILY_QUAKE3, &s->service);
	strcpy(s->service.name, name);
	s->service.active = 1;
	s->ports[s->port_count++] = port;
	return s;
}

static inline void apply(void)
{
	__u32 before = shield_generation(&shield);

	assert_int_equal(shield_apply(&shield, config), 0);
	assert_int_equal(shield_generation(&shield), before + 1);
}

#endif /* KERN_APPLY_H */
