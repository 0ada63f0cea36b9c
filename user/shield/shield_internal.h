/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shield_internal.h - shared by shield.c (programs and links), its parts, and
 * shield_maps.c (what is in the maps). Nobody else includes it.
 */
#ifndef SHIELD_INTERNAL_H
#define SHIELD_INTERNAL_H

#include <limits.h>

#include "shield/shield.h"

/* Every pinned map, by its name in bpf/maps.bpf.h. */
/* clang-format off */
#define SHIELD_MAPS(X)	\
	X(live)		\
	X(endpoints)	\
	X(allow)	\
	X(deny)		\
	X(prefixes)	\
	X(tallies)	\
	X(others)	\
	X(qports)	\
	X(ledgers)	\
	X(pending)	\
	X(answers)	\
	X(costs)	\
	X(fragments)	\
	X(follow)	\
	X(samples)	\
	X(sampled)	\
	X(sample_dues)
/* clang-format on */

struct ring_buffer;

struct shield {
	char dir[PATH_MAX];
	int lock; /* the directory, for flock() */
	int program; /* at the interface's ingress; -1: opened to read only */
	int egress; /* the program at its egress */
#define AS_FD(name) int name;
	SHIELD_MAPS(AS_FD)
#undef AS_FD
	__u32 capacity; /* services that tallies has room for */
	struct live *shared; /* the live map, in our memory */
	struct ring_buffer *ring; /* while samples are read */
	void (*each_sample)(const struct sample *sample, const void *frame,
			    void *context);
	void *sample_context;
};

/* Map live into our memory; fill in its keys if nobody did yet. */
int shield_map_shared(struct shield *shield);
void shield_unmap_shared(struct shield *shield);

/* --- pins.c: 0 or -errno after a message ------------------------------------ */

/* See to it that /sys/fs/bpf is a BPF file system. */
int pins_mount(void);
/* Create @path and its parents; it must be on a BPF file system. */
int pins_make_dir(const char *path);
/* @pin_dir, or the default directory of this ABI. */
int pins_default_dir(const char *pin_dir, char *ret, size_t size);
int pin_path(char *ret, size_t size, const char *dir, const char *name);
/* Pin @fd as @dir/@name, in place of what is pinned there, in one step. */
int pin_replace(int fd, const char *dir, const char *name);
/* A descriptor of @dir/@name, or -errno without a message. */
int pin_open(const char *dir, const char *name);

/* Attach, exchange or remove the program at @ifindex's egress: user/shield/attach_tc.c.
 */
int egress_attach(struct shield *shield, const char *interface, __u32 ifindex);
void egress_detach(__u32 ifindex);
/* The id of our program at @ifindex's egress as clsact filter; 0: none. */
__u32 egress_clsact_id(__u32 ifindex);

/* shield_apply() for a caller that holds the lock. */
int shield_apply_locked(struct shield *shield, const struct config *config);
/* The entries of @list that the configuration owns become those of @want, no others. The
 * caller holds the lock. */
int shield_list_apply(struct shield *shield, enum list list, const struct cidr *want,
		      size_t count);

#endif /* SHIELD_INTERNAL_H */
