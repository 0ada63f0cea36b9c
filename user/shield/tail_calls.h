/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tail_calls.h - the programs that shield() calls last, into the map that it finds them
 * in. A header, so that tests load the programs as the daemon does. After shield.skel.h.
 */
#ifndef TAIL_CALLS_H
#define TAIL_CALLS_H

#include <errno.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

/*
 * Let shield() call those programs of @object that were loaded, and to no others. 0 or
 * -errno.
 */
static inline int tail_calls_fill(const struct shield_bpf *object)
{
	const struct bpf_program *const programs[TAIL_CALLS] = {
		[TAIL_CALL_VALIDATE] = object->progs.shield_validate,
		[TAIL_CALL_CACHE] = object->progs.shield_cache,
	};
	int map = bpf_map__fd(object->maps.tail_calls);

	for (__u32 call = 0; call < TAIL_CALLS; call++) {
		int fd = bpf_program__fd(programs[call]);

		if (fd < 0)
			bpf_map_delete_elem(map, &call);
		else if (bpf_map_update_elem(map, &call, &fd, BPF_ANY))
			return -errno;
	}
	return 0;
}

#endif /* TAIL_CALLS_H */
