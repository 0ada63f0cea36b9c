/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kern_maps.h - maps like those of a shield, without its programs, which take seconds to
 * load: for what the daemon alone does in them. Included once by a program.
 */
#ifndef KERN_MAPS_H
#define KERN_MAPS_H

#include <sys/mman.h>
#include <unistd.h>

#include "kern/kern_game.h"
#include "shield/shield_internal.h"

static inline int map_make(const char *name)
{
	const struct map_row *row = map_row(name);
	LIBBPF_OPTS(bpf_map_create_opts, opts);

	assert_non_null(row);
	if (row->type == BPF_MAP_TYPE_ARRAY)
		opts.map_flags = BPF_F_MMAPABLE;
	else if (row->type != BPF_MAP_TYPE_PERCPU_ARRAY)
		opts.map_flags = BPF_F_NO_PREALLOC;
	return bpf_map_create((enum bpf_map_type)row->type, name, row->key_size,
			      row->value_size,
			      row->entries ? row->entries : KERN_SLOTS * COUNTER_ROWS,
			      &opts);
}

/* Those that a daemon tends; struct live is in *@s->shared. False: not allowed to. */
static inline bool maps_open(struct shield *s)
{
	static const __u64 keys[] = { 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f,
				      0x165667b19e3779f9 };

	*s = (struct shield){ .capacity = KERN_SLOTS, .live = map_make("live") };
	if (s->live < 0) {
		assert_int_equal(errno, EPERM);
		return false;
	}
	s->allow = map_make("allow");
	s->deny = map_make("deny");
	s->follow = map_make("follow");
	s->qports = map_make("qports");
	assert_true(s->allow >= 0 && s->deny >= 0 && s->follow >= 0 && s->qports >= 0);
	s->shared = mmap(NULL, sizeof(*s->shared), PROT_READ | PROT_WRITE, MAP_SHARED,
			 s->live, 0);
	assert_true(s->shared != MAP_FAILED);
	memcpy(s->shared->keys, keys, sizeof(keys));
	return true;
}

static inline void maps_close(struct shield *s)
{
	const int maps[] = { s->live, s->allow, s->deny, s->follow, s->qports };

	munmap(s->shared, sizeof(*s->shared));
	for (size_t i = 0; i < COUNT(maps); i++)
		close(maps[i]);
}

static void maps_refused(void **state)
{
	(void)state;
	print_message("not allowed to make maps: skipped\n");
	skip();
}

/* In place of all tests of a program that may not. */
static inline int maps_skip(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(maps_refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif /* KERN_MAPS_H */
