// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_trial.c - see trial.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/log.h"
#include "shield/shield_cells.h"
#include "shield/shield_internal.h"
#include "shield/trial.h"

struct trial {
	const struct shield *of;
	struct shield *copy;
	struct about_host host;
	struct counter others[OTHER_COUNT];
	/* While it runs: what the program has shown of the datagram. */
	enum direction direction;
	struct sample seen;
	bool has_seen;
};

/* --- what it knows ----------------------------------------------------------- */

/* One cell of an array of u64 or u32. */
static void cell_copy(int from, int to, __u32 index)
{
	__u64 value = 0;

	if (!bpf_map_lookup_elem(from, &index, &value))
		bpf_map_update_elem(to, &index, &value, BPF_ANY);
}

static void line_copy(int from, int to, __u32 index)
{
	struct amplification_line line;

	if (!bpf_map_lookup_elem(from, &index, &line))
		bpf_map_update_elem(to, &index, &line, BPF_ANY);
}

static void list_copy(const struct trial *t, enum list list, int to)
{
	struct list_entry entry;
	struct cidr network;

	if (about_listed(t->of, list, &t->host, &network, &entry))
		bpf_map_update_elem(to, &network, &entry, BPF_ANY);
}

/* Copy a hash by address: the host's entries, or all (@every). */
static void hash_copy(const struct trial *t, int from, int to, bool every)
{
	__u8 key[32], value[8] = { 0 };
	void *previous = NULL;

	_Static_assert(sizeof(struct endpoint) <= sizeof(key) &&
			       sizeof(struct qport_key) <= sizeof(key),
		       "a key has room");
	for (int i = 0; i < PLAYERS_MAX && !bpf_map_get_next_key(from, previous, key);
	     i++) {
		previous = key;
		if ((every || !memcmp(key, t->host.address, sizeof(t->host.address))) &&
		    !bpf_map_lookup_elem(from, key, value))
			bpf_map_update_elem(to, key, value, BPF_ANY);
	}
}

/* No key is left in a map that has few. */
static void keys_delete(int map)
{
	__u8 key[32];

	while (!bpf_map_get_next_key(map, NULL, key) && !bpf_map_delete_elem(map, key))
		continue;
}

/* Copy the tables that the programs do not write. */
static void copy_once(const struct trial *t)
{
	hash_copy(t, t->of->endpoints, t->copy->endpoints, true);
}

/*
 * Copy what the tables have for the host, and of the service in @slot: lists, ports,
 * accounts and limits.
 */
static void copy_cells(const struct trial *t, __u32 slot)
{
	const struct live *l = t->copy->shared;
	struct service service;

	keys_delete(t->copy->allow);
	keys_delete(t->copy->deny);
	keys_delete(t->copy->qports);
	list_copy(t, LIST_ALLOW, t->copy->allow);
	list_copy(t, LIST_DENY, t->copy->deny);
	hash_copy(t, t->of->qports, t->copy->qports, false);
	for (int i = 0; i < CELL_AMPLIFICATIONS; i++)
		line_copy(t->of->amplification, t->copy->amplification,
			  cell_amplification(l, &t->host, i) >> AMPLIFICATION_TAG_BITS);
	if (!shield_service(t->copy, slot, &service))
		return;
	for (int class = 0; class < CLASS_BUDGETS; class ++)
		for (__u64 apart = 0; apart <= 4; apart += 2)
			for (int wide = 0; wide < 2; wide++)
				cell_copy(t->of->prefixes, t->copy->prefixes,
					  cell_prefix(l, &service.budget[class], &t->host,
						      wide, apart));
}

void trial_reset(struct trial *t, const struct about_host *host, __u32 slot)
{
	struct live *l = t->copy->shared;

	t->host = *host;
	memcpy(l, t->of->shared, sizeof(*l));
	l->clock_ns = about_clock(t->of);
	l->tick_ns = 0;
	/* Each datagram is shown, which tells what it was counted as. */
	l->sampling = (struct sampling){ .every = 1, .any = 1, .phase = REFUSED_EVERY };
	/* A frame of the trial comes from no socket. */
	memset(l->owners, 0, sizeof(l->owners));
	copy_cells(t, slot);
}

/* --- opening ----------------------------------------------------------------- */

static void take_seen(const struct sample *sample, const void *frame, void *context)
{
	struct trial *t = context;

	(void)frame;
	/* A response that the shield makes is counted too, in the other direction. */
	if (sample->direction != t->direction || t->has_seen)
		return;
	t->seen = *sample;
	t->has_seen = true;
}

int trial_open(const struct shield *of, struct trial **ret)
{
	struct trial *t = calloc(1, sizeof(*t));
	int err;

	if (!t) {
		log_error("not enough memory");
		return -ENOMEM;
	}
	t->of = of;
	err = shield_private(of->capacity, &t->copy);
	if (!err)
		err = shield_samples_open(t->copy, take_seen, t);
	if (err) {
		trial_close(t);
		return err;
	}
	copy_once(t);
	*ret = t;
	return 0;
}

void trial_close(struct trial *t)
{
	if (t)
		shield_close(t->copy);
	free(t);
}

static bool program_tag(int fd, __u8 ret[BPF_TAG_SIZE])
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
		return false;
	memcpy(ret, info.tag, BPF_TAG_SIZE);
	return true;
}

bool trial_is_same(const struct trial *t)
{
	__u8 ours[BPF_TAG_SIZE], theirs[BPF_TAG_SIZE];
	int fd = pin_open(t->of->dir, "xdp");
	bool known = program_tag(fd, theirs) && program_tag(t->copy->program, ours);

	if (fd >= 0)
		close(fd);
	return !known || !memcmp(ours, theirs, sizeof(ours));
}

/* --- judging ----------------------------------------------------------------- */

/* The kind of a frame for no service; OTHER_COUNT: none was counted. */
static enum other other_moved(struct trial *t)
{
	struct counter now[OTHER_COUNT];
	int moved = OTHER_COUNT;

	if (shield_others(t->copy, now))
		return OTHER_COUNT;
	for (int i = 0; i < OTHER_COUNT; i++)
		if (now[i].packets != t->others[i].packets)
			moved = i;
	memcpy(t->others, now, sizeof(now));
	return (enum other)moved;
}

int trial_run(struct trial *t, bool out, const void *frame, size_t n,
	      struct trial_verdict *ret)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = (__u32)n,
		    .repeat = 1);

	*ret = (struct trial_verdict){ .other = OTHER_COUNT };
	t->direction = out ? DIRECTION_S2C : DIRECTION_C2S;
	t->has_seen = false;
	if (bpf_prog_test_run_opts(out ? t->copy->egress : t->copy->program, &run))
		return -errno;
	ring_buffer__consume(t->copy->ring);
	ret->passes = out ? run.retval != TC_ACT_SHOT : run.retval == XDP_PASS;
	if (!out && (run.retval == XDP_TX || run.retval == XDP_REDIRECT))
		ret->sent = run.data_size_out;
	ret->judged = t->has_seen;
	if (t->has_seen) {
		ret->slot = t->seen.slot;
		ret->kind = (enum wire_kind)t->seen.kind;
		ret->reason = (enum reason)t->seen.reason;
		return 0;
	}
	ret->other = out ? OTHER_COUNT : other_moved(t);
	return ret->other == OTHER_COUNT ? -ENODATA : 0;
}

void trial_mac(const struct trial *t, __u8 ret[6])
{
	static const __u8 any[6] = { 2, 0, 0, 0, 0, 1 };
	const struct local_macs *here = &t->of->shared->local;

	memcpy(ret, any, sizeof(any));
	if (here->count)
		memcpy(ret, &here->macs[0], sizeof(any));
}
