// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_trial.c - see trial.h.
 *
 * A trial has private tables, and one thread uses it. Its clock stands still (tick_ns 0).
 * Each entry that a program looks up by address must be in copy_cells(), or the trial
 * decides otherwise than the shield (tests/kern/kern_explain_trial.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/log.h"
#include "lib/util.h"
#include "shield/shield_cells.h"
#include "shield/shield_clock.h"
#include "shield/shield_internal.h"
#include "shield/trial_internal.h"

/*
 * The longest frame that the XDP program gets in one piece: 4096 bytes, without 256
 * before the frame and 320 after it, which the kernel keeps. Linux 5.18 and newer put the
 * rest of a longer frame into fragments, and the program would call the packet unparsed.
 */
#define WHOLE_MOST 3520

/* --- what it knows ----------------------------------------------------------- */

/* One cell of an array of u64 or u32. */
static void cell_copy(int from, int to, __u32 index)
{
	__u64 value = 0;

	if (!bpf_map_lookup_elem(from, &index, &value))
		bpf_map_update_elem(to, &index, &value, BPF_ANY);
}

/* Copy line @index of the amplification accounts. */
static void line_copy(int from, int to, __u32 index)
{
	struct amplification_line line;

	if (!bpf_map_lookup_elem(from, &index, &line))
		bpf_map_update_elem(to, &index, &line, BPF_ANY);
}

/* Copy the entry of @list that covers the host, if there is one. */
static void list_copy(const struct trial *t, enum list list, int to)
{
	struct list_entry entry;
	struct cidr network;

	if (about_listed(t->of, list, &t->host, &network, &entry))
		bpf_map_update_elem(to, &network, &entry, BPF_ANY);
}

/*
 * Copy a hash by address: the host's entries, or all (@every). @to must be empty of what
 * @from no longer has: keys_delete().
 */
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
 * accounts and limits. Called by trial_reset(), after struct live is copied.
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
		for (int set = 0; set < BUDGET_SETS; set++)
			for (int wide = 0; wide < 2; wide++)
				cell_copy(t->of->prefixes, t->copy->prefixes,
					  cell_prefix(l, &service.budget[class], &t->host,
						      wide, (enum budget_set)set));
}

void trial_show_all(struct live *l)
{
	l->sampling = (struct sampling){ .every = 1, .any = 1, .phase = REFUSED_EVERY };
}

void trial_reset(struct trial *t, const struct about_host *host, __u32 slot)
{
	struct live *l = t->copy->shared;

	t->host = *host;
	memcpy(l, t->of->shared, sizeof(*l));
	l->clock_ns = about_clock(t->of);
	l->tick_ns = 0;
	trial_show_all(l);
	/* A frame of the trial comes from no socket. */
	memset(l->owners, 0, sizeof(l->owners));
	copy_cells(t, slot);
}

/* --- opening ----------------------------------------------------------------- */

/* Return the bytes of a page, by which the ring's parts are mapped. */
static size_t page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * Map the ring of samples @map. 0, or -errno after a message; ring_close() is then called
 * by trial_close(). The mapping is the kernel's: one page to write, one to read, the
 * records twice.
 */
static int ring_open(struct ring *r, int map)
{
	size_t records = page() + 2 * (size_t)SAMPLES_BYTES;
	void *consumer = mmap(NULL, page(), PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	void *producer = mmap(NULL, records, PROT_READ, MAP_SHARED, map, (off_t)page());

	if (consumer != MAP_FAILED)
		r->consumer = consumer;
	if (producer != MAP_FAILED)
		r->producer = producer;
	if (r->consumer && r->producer)
		return 0;
	log_error("cannot map the samples: %s", strerror(errno));
	return -errno;
}

/* Unmap what is mapped. */
static void ring_close(struct ring *r)
{
	if (r->consumer)
		munmap(r->consumer, page());
	if (r->producer)
		munmap((void *)r->producer, page() + 2 * (size_t)SAMPLES_BYTES);
}

/* Keep the first sample of the direction that the trial runs. */
static void take_seen(struct trial *t, const struct sample *sample)
{
	/* A response that the shield makes is counted too, in the other direction. */
	if (sample->direction != t->direction || t->has_seen)
		return;
	t->seen = *sample;
	t->has_seen = true;
}

int trial_load(const struct shield *of, __u32 capacity, struct trial **ret)
{
	struct trial *t = calloc(1, sizeof(*t));
	int err;

	if (!t) {
		log_error("not enough memory");
		return -ENOMEM;
	}
	t->of = of;
	err = shield_private(capacity, of && shield_fallback(of), &t->copy);
	if (!err)
		err = ring_open(&t->ring, t->copy->samples);
	if (err)
		trial_close(t);
	else
		*ret = t;
	return err;
}

/*
 * The program has run on this processor: what it has shown is whole. Called by
 * trial_run(), right after the program.
 */
static void ring_read(struct trial *t)
{
	struct ring *r = &t->ring;
	const __u8 *records = (const __u8 *)r->producer + page();
	__u64 until = __atomic_load_n(r->producer, __ATOMIC_ACQUIRE), last = r->read;

	while (r->read < until) {
		const __u8 *record = records + (r->read & (SAMPLES_BYTES - 1));
		__u32 length;

		memcpy(&length, record, sizeof(length));
		if (!(length & BPF_RINGBUF_DISCARD_BIT))
			take_seen(t,
				  (const struct sample *)(record + BPF_RINGBUF_HDR_SZ));
		last = r->read;
		length &= ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
		r->read += (length + BPF_RINGBUF_HDR_SZ + 7) & ~7u;
	}
	if (r->read - *r->consumer > SAMPLES_BYTES / 2)
		__atomic_store_n(r->consumer, last, __ATOMIC_RELEASE);
}

int trial_open(const struct shield *of, struct trial **ret)
{
	int err = trial_load(of, of->capacity, ret);

	if (!err)
		copy_once(*ret);
	return err;
}

void trial_close(struct trial *t)
{
	if (!t)
		return;
	ring_close(&t->ring);
	shield_close(t->copy);
	free(t);
}

/* Put the tag of the program @fd into @ret. False: it cannot be read. */
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

/* --- of a configuration -------------------------------------------------------- */

#define DAEMON_SECOND_NS 1000000000ull
#define DAEMON_SWEEP_NS	 (5 * DAEMON_SECOND_NS)
/* After so many seconds without a datagram each window is open as wide as it gets. */
#define SECONDS_MOST 64

/*
 * No attacker sees these tables, and what is told of a capture has to be the same twice.
 * Called by trial_begin(), before anything is in the tables.
 */
static void keys_fix(struct live *l)
{
	/* Odd and unrelated: else the cells of one class are those of another, shifted.
	 */
	l->keys[0] = 0x9e3779b97f4a7c15ull;
	l->keys[1] = 0xc2b2ae3d27d4eb4full;
	l->keys[2] = 0x165667b19e3779f9ull;
	for (size_t i = 0; i < ARRAY_SIZE(l->validation.secret.key); i++) {
		l->validation.secret.key[i][0] = 0x165667b19e3779f9ull;
		l->validation.secret.key[i][1] = 0xc2b2ae3d27d4eb4full;
	}
}

int trial_begin(const struct config *config, struct trial **ret)
{
	struct trial *t = NULL;
	struct live *l;
	int err = trial_load(NULL, shield_capacity(config->service_count), &t);

	if (err)
		return err;
	l = t->copy->shared;
	keys_fix(l);
	l->tick_ns = 0;
	l->clock_ns = TRIAL_BEGIN_NS;
	shield_clock_stand(&l->clock_ns);
	err = shield_apply_locked(t->copy, config);
	shield_clock_stand(NULL);
	if (err) {
		trial_close(t);
		return err;
	}
	trial_show_all(l);
	t->second_ns = t->sweep_ns = TRIAL_BEGIN_NS;
	*ret = t;
	return 0;
}

void trial_clock(struct trial *t, __u64 now_ns)
{
	struct live *l = t->copy->shared;

	l->clock_ns = now_ns;
	if (now_ns < t->second_ns)
		return;
	for (int i = 0; i < SECONDS_MOST && t->second_ns <= now_ns; i++) {
		shield_recent_update(t->copy, t->second_ns);
		t->second_ns += DAEMON_SECOND_NS;
	}
	if (t->second_ns <= now_ns)
		t->second_ns = now_ns + DAEMON_SECOND_NS;
	if (now_ns < t->sweep_ns)
		return;
	t->sweep_ns = now_ns + DAEMON_SWEEP_NS;
	shield_clock_stand(&l->clock_ns);
	shield_players_sweep(t->copy);
	shield_lists_expire(t->copy);
	shield_known_add_players(t->copy);
	shield_known_add_networks(t->copy);
	shield_clock_stand(NULL);
}

int trial_slot(const struct trial *t, const __be32 address[4], __u16 port)
{
	__u32 half = shield_generation(t->copy) & 1;
	int slot = about_service_at(t->copy, address, port);

	/* A game port that was named and not used yet counts: its first datagram shows
	 * it.
	 */
	return slot >= 0 ? slot : t->copy->shared->tables[half].ports[port].any - 1;
}

bool trial_service(const struct trial *t, __u32 slot, struct service *ret)
{
	return shield_service(t->copy, slot, ret);
}

void trial_cache_put(struct trial *trial, __u32 slot, __u32 form,
		     const struct cache_entry *t)
{
	shield_cache_put(trial->copy, slot, form, t);
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
	if (!out && n > WHOLE_MOST)
		return -EMSGSIZE;
	t->direction = out ? DIRECTION_S2C : DIRECTION_C2S;
	t->has_seen = false;
	if (out) {
		run.data_out = t->left;
		run.data_size_out = sizeof(t->left);
	}
	if (bpf_prog_test_run_opts(out ? t->copy->egress : t->copy->program, &run))
		return -errno;
	ring_read(t);
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

const __u8 *trial_left(const struct trial *t)
{
	return t->left;
}

void trial_mac(const struct trial *t, __u8 ret[6])
{
	static const __u8 any[6] = { 2, 0, 0, 0, 0, 1 };
	const struct shield *of = t->of ? t->of : t->copy;
	const struct local_macs *here = &of->shared->local;

	memcpy(ret, any, sizeof(any));
	if (here->count)
		memcpy(ret, &here->macs[0], sizeof(any));
}
