// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_fork.c - trial_fork() of trial.h: two trials that begin where a running shield
 * is, one of them with another configuration.
 *
 * The tables of the running shield are read while packets, the daemon and commands write
 * them: no lock is taken, so nothing waits for a trial, which has a low priority. A cell
 * that is half written is as wrong in both trials. A reload meanwhile changes the
 * generation, which ends the trial (beside.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "lib/log.h"
#include "shield/shield_cells.h"
#include "shield/shield_clock.h"
#include "shield/shield_internal.h"
#include "shield/trial_internal.h"

/*
 * Copy all entries of a hash or a list to an empty one of the same shape. If the entry
 * before is deleted meanwhile, the walk begins anew: so up to twice @most steps.
 */
static void entries_copy(int from, int to, __u32 most)
{
	__u8 key[32], value[sizeof(struct list_entry)];
	void *previous = NULL;

	_Static_assert(sizeof(struct endpoint) <= sizeof(key) &&
			       sizeof(struct qport_key) <= sizeof(key) &&
			       sizeof(struct cidr) <= sizeof(key) &&
			       sizeof(__u32) <= sizeof(value),
		       "a key and a value have room");
	for (__u32 i = 0; i < 2 * most && !bpf_map_get_next_key(from, previous, key);
	     i++) {
		previous = key;
		if (!bpf_map_lookup_elem(from, key, value))
			bpf_map_update_elem(to, key, value, BPF_ANY);
	}
}

/* Copy an array of @n values of @size bytes. 0, or -errno after a message. */
static int array_copy(int from, int to, __u32 n, size_t size)
{
	void *values = calloc(n, size);
	__u32 *keys = calloc(n, sizeof(*keys)), next, got = n;
	int err = values && keys ? 0 : -ENOMEM;

	/* The end of the array is told by ENOENT. */
	if (!err && bpf_map_lookup_batch(from, NULL, &next, keys, values, &got, NULL) &&
	    errno != ENOENT)
		err = -errno;
	if (!err && bpf_map_update_batch(to, keys, values, &got, NULL))
		err = -errno;
	if (err)
		log_error("cannot copy the tables of the shield: %s", strerror(-err));
	free(values);
	free(keys);
	return err;
}

/*
 * Copy all tables of @from by which the programs decide, as they are at @now_ns, to those
 * of @t, which are empty. Recent askers and fragments of datagrams are left out: they are
 * of the last second. 0, or -errno after a message.
 */
static int tables_copy(const struct shield *from, struct trial *t, __u64 now_ns)
{
	const struct shield *to = t->copy;
	struct live *l = to->shared;
	int err;

	/* Players first: their numbers change with each datagram. */
	memcpy(l, from->shared, sizeof(*l));
	l->fallback = to->fallback;
	l->clock_ns = now_ns;
	l->tick_ns = 0;
	/* A frame of the trial comes from no socket. */
	memset(l->owners, 0, sizeof(l->owners));
	trial_show_all(l);
	t->second_ns = t->sweep_ns = now_ns;
	entries_copy(from->endpoints, to->endpoints, 2 * SERVICES_MAX);
	entries_copy(from->allow, to->allow, LIST_MAX);
	entries_copy(from->deny, to->deny, LIST_MAX);
	entries_copy(from->qports, to->qports, PLAYERS_MAX);
	err = array_copy(from->prefixes, to->prefixes, 1 << PREFIX_BITS, sizeof(__u64));
	if (!err)
		err = array_copy(from->amplification, to->amplification,
				 1 << AMPLIFICATION_BITS,
				 sizeof(struct amplification_line));
	return err;
}

/* Fill both trials, and apply @config to the second one. 0, or -errno after a message. */
static int fork_fill(const struct shield *of, const struct config *config,
		     int (*begin)(void *context), void *context, struct trial *t[2],
		     __u64 *ret_now_ns)
{
	int err;

	err = begin(context);
	*ret_now_ns = about_clock(of);
	if (!err)
		err = tables_copy(of, t[0], *ret_now_ns);
	if (!err)
		err = tables_copy(t[0]->copy, t[1], *ret_now_ns);
	if (err)
		return err;
	shield_clock_stand(&t[1]->copy->shared->clock_ns);
	err = shield_apply_locked(t[1]->copy, config);
	shield_clock_stand(NULL);
	trial_show_all(t[1]->copy->shared);
	return err;
}

int trial_fork(const struct shield *of, const struct config *config,
	       int (*begin)(void *context), void *context, struct trial *ret[2],
	       __u64 *ret_now_ns)
{
	struct trial *t[2] = { NULL, NULL };
	int err = trial_load(NULL, of->capacity, &t[0]);

	if (!err)
		err = trial_load(NULL, of->capacity, &t[1]);
	if (!err)
		err = fork_fill(of, config, begin, context, t, ret_now_ns);
	for (int i = 0; i < 2; i++)
		if (err)
			trial_close(t[i]);
		else
			ret[i] = t[i];
	return err;
}

bool trial_catch_up(struct trial *t, const struct shield *of, __u32 slot,
		    const struct trial_client *client)
{
	struct live *l = t->copy->shared;
	struct cookie_peer peer = cell_peer(client->address, client->port, slot);
	const struct validated_cell *known = validated_find(
		&of->shared->validation.validated, &peer, l->keys, about_clock(of));
	struct validated_cell *cell;

	if (!known)
		return false;
	cell = validated_enter(&l->validation.validated, &peer, l->keys, l->clock_ns);
	if (!cell)
		return false;
	cell->cookie = known->cookie;
	cell->challenge = known->challenge;
	memcpy(cell->earlier, known->earlier, sizeof(cell->earlier));
	cell->flags |= known->flags;
	return true;
}

void trial_validate(struct trial *t, __u32 slot, const struct trial_client *client)
{
	struct live *l = t->copy->shared;
	struct cookie_peer peer = cell_peer(client->address, client->port, slot);
	struct validated_cell *cell =
		validated_enter(&l->validation.validated, &peer, l->keys, l->clock_ns);

	if (cell)
		cell->flags |= VALIDATED_COOKIE;
}
