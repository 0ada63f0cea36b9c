// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield.c - opening and loading the programs and maps, and reading samples.
 *
 * libbpf_words is static, so only one thread may load. load_object() and what it calls
 * run under the lock of the tables, or for private tables.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "abi.h"
/* It has variables of types that are in abi.h. */
#include "shield.skel.h"

#include "lib/log.h"
#include "shield/tail_calls.h"
#include "shield/shield_internal.h"
#include "lib/util.h"

#define CAPACITY_MIN  32 /* services: below it the counters cost next to nothing */
#define KERNEL_NEEDED "6.1 (Debian 12)"

/* --- open and load ----------------------------------------------------------- */

/*
 * Return a shield, each descriptor -1: shield_close() frees it in any state. NULL: no
 * memory.
 */
static struct shield *shield_new(void)
{
	struct shield *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->lock = -1;
	s->program = -1;
	s->egress = -1;
	s->joined = -1;
#define UNSET(name, ...) s->name = -1;
	SHIELD_MAPS(UNSET)
#undef UNSET
	return s;
}

void shield_close(struct shield *s)
{
	if (!s)
		return;
	ring_buffer__free(s->ring);
	shield_unmap_shared(s);
#define CLOSE(name, ...)  \
	if (s->name >= 0) \
		close(s->name);
	SHIELD_MAPS(CLOSE)
	CLOSE(program)
	CLOSE(egress)
	CLOSE(joined)
	CLOSE(lock)
#undef CLOSE
	free(s);
}

/* Set @s->capacity: the size of the map decides, not the configuration. 0 or -errno. */
static int read_capacity(struct shield *s)
{
	struct bpf_map_info info = { 0 };
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(s->counters, &info, &size))
		return -errno;
	s->capacity = info.max_entries / COUNTER_ROWS;
	return 0;
}

int shield_open(const char *pin_dir, struct shield **ret)
{
	struct shield *s = shield_new();
	int err;

	if (!s)
		return -ENOMEM;
	err = pins_default_dir(pin_dir, s->dir, sizeof(s->dir));
	if (err)
		goto fail;
	s->lock = pins_open_dir(s->dir);
	if (s->lock < 0) {
		err = s->lock;
		goto fail;
	}
#define OPEN(name, ...)                                           \
	s->name = map_open(s->dir, map_row(#name));               \
	if (s->name < 0) {                                        \
		err = s->name;                                    \
		if (err != -ENOENT)                               \
			map_explain(s->dir, map_row(#name), err); \
		goto fail;                                        \
	}
	SHIELD_MAPS(OPEN)
#undef OPEN
	err = read_capacity(s);
	if (!err)
		err = shield_map_shared(s);
	if (err)
		goto fail;
	*ret = s;
	return 0;

fail:
	shield_close(s);
	return err;
}

/*
 * Return the name under which @map is pinned. The variables are in libbpf's map with a
 * name that begins with the object's; NULL: the map for constants, which is not pinned.
 */
static const char *pin_name(const struct bpf_map *map)
{
	const char *section;

	if (!bpf_map__is_internal(map))
		return bpf_map__name(map);
	section = strrchr(bpf_map__name(map), '.');
	return section && !strcmp(section, ".bss") ? "live" : NULL;
}

/* Let @map be the one pinned in @dir, if there is one and it fits. */
static int reuse_pinned(struct bpf_map *map, const char *dir)
{
	const struct map_row *row = map_row(pin_name(map));
	int err, fd;

	if (!row) /* scratch, which is not pinned */
		return 0;
	fd = map_open(dir, row);
	if (fd == -ENOENT)
		return 0;
	if (fd < 0) {
		map_explain(dir, row, fd);
		return fd;
	}
	err = bpf_map__reuse_fd(map, fd);
	close(fd);
	return err;
}

__u32 shield_capacity(size_t services)
{
	__u32 capacity = CAPACITY_MIN;

	while (capacity < SERVICES_MAX && capacity < services + services / 2)
		capacity *= 2;
	return capacity;
}

/* So many tables of recent askers that each processor has its own, up to RECENT_TABLES.
 */
static __u32 recent_tables(void)
{
	int cpus = libbpf_num_possible_cpus();
	__u32 tables = 1;

	while (tables < RECENT_TABLES && (int)tables < cpus)
		tables *= 2;
	return tables;
}

/* Let the maps of @object be those that are pinned in @dir: between open and load. */
static int reuse_maps(struct bpf_object *object, const char *dir)
{
	struct bpf_map *map;
	int err;

	bpf_object__for_each_map(map, object)
	{
		if (!pin_name(map))
			continue;
		err = reuse_pinned(map, dir);
		if (err)
			return err;
	}
	return 0;
}

/* Return the descriptor, which stays @object's, of the map that is pinned as @name. */
static int map_fd_of(const struct bpf_object *object, const char *name)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		if (pin_name(map) && !strcmp(pin_name(map), name))
			return bpf_map__fd(map);
	}
	return -ENOENT;
}

/*
 * Keep a descriptor of each map. Where @s has a directory, pin there what is not pinned
 * yet.
 */
static int keep_maps(struct shield *s, struct bpf_object *object)
{
	const struct {
		const char *name;
		int *fd;
	} wanted[] = {
#define AS_ROW(name, ...) { #name, &s->name },
		SHIELD_MAPS(AS_ROW)
#undef AS_ROW
	};
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		int fd = map_fd_of(object, wanted[i].name);

		if (s->dir[0] && pin_path(path, sizeof(path), s->dir, wanted[i].name))
			return -ENAMETOOLONG;
		if (s->dir[0] && bpf_obj_pin(fd, path) && errno != EEXIST) {
			log_error("cannot pin '%s': %s", path, strerror(errno));
			return -errno;
		}
		*wanted[i].fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (*wanted[i].fd < 0)
			return -errno;
	}
	return read_capacity(s);
}

/*
 * The last of libbpf's and the verifier's words, kept for the one case in which they are
 * wanted: what went wrong stands at the end of a log that may have megabytes.
 */
static char libbpf_words[4096];

/* Append @words to libbpf_words; the oldest give way. */
static void keep_words(const char *words, size_t count)
{
	size_t room = sizeof(libbpf_words) - 1, used = strlen(libbpf_words);

	if (count > room) {
		words += count - room;
		count = room;
	}
	if (used > room - count) {
		memmove(libbpf_words, libbpf_words + used - (room - count), room - count);
		used = room - count;
	}
	memcpy(libbpf_words + used, words, count);
	libbpf_words[used + count] = '\0';
}

/* Keep libbpf's warnings. Stays set after load_object(). */
static int libbpf_listen(enum libbpf_print_level level, const char *format, va_list args)
{
	char *words;
	int count;

	if (level != LIBBPF_WARN)
		return 0;
	count = vasprintf(&words, format, args);
	if (count < 0)
		return 0;
	keep_words(words, (size_t)count);
	free(words);
	return 0;
}

/* Return true if the kernel @u is known to be older than KERNEL_NEEDED. */
static bool is_too_old(const struct utsname *u)
{
	unsigned int major = 0, minor = 0;

	return sscanf(u->release, "%u.%u", &major, &minor) == 2 &&
	       (major < 6 || (major == 6 && minor < 1));
}

/* The kernel refused some of the programs, and the shield works without them. */
static void explain_fallback(int refusal)
{
	struct utsname u;

	uname(&u);
	if (!is_too_old(&u))
		fputs(libbpf_words, stderr);
	log_warn(
		"kernel %s refused the programs for address validation and cached "
		"responses (%s), so both are off for all services; limits, lists, players "
		"and counters work. %s",
		u.release, strerror(-refusal),
		is_too_old(&u) ? "Kernel " KERNEL_NEEDED " or newer takes all programs"
			       : "The lines above say why, please report them");
}

/* Why the kernel did not take our programs, and what to do about it. */
static void explain_load(int err)
{
	struct utsname u;

	uname(&u);
	if (is_too_old(&u)) {
		log_error(
			"kernel %s is too old: quakeshield needs %s or newer, for BPF atomics that "
			"return a value and for what came with them",
			u.release, KERNEL_NEEDED);
		return;
	}
	/* Not EACCES: that is what the verifier says of a program that it refuses. */
	if (err == -EPERM) {
		log_error(
			"no permission to load BPF programs: run as root, or with CAP_BPF, "
			"CAP_NET_ADMIN and CAP_PERFMON%s",
			geteuid() ? "" : " (a container? it needs them too)");
		return;
	}
	fputs(libbpf_words, stderr);
	log_error(
		"kernel %s refused the program or a map (%s); the lines above say why, please "
		"report them",
		u.release, strerror(-err));
}

/*
 * All programs, over the maps that are pinned already. -errno after a message. Sizes and
 * constants must be set here: between open and load.
 */
static int open_object(const struct shield *s, __u32 capacity, struct shield_bpf **ret)
{
	struct shield_bpf *object = shield_bpf__open();
	int err;

	if (!object) {
		log_error("cannot open the embedded BPF object: %s", strerror(errno));
		return -errno;
	}
	bpf_map__set_max_entries(object->maps.counters, capacity * COUNTER_ROWS);
	bpf_map__set_max_entries(object->maps.spilled, capacity * COUNTER_ROWS);
	bpf_map__set_max_entries(object->maps.refused, capacity * CLASS_COUNT);
	bpf_map__set_max_entries(object->maps.recent, recent_tables());
	*(__u32 *)&object->rodata->recent_mask = recent_tables() - 1;
	err = s->dir[0] ? reuse_maps(object->obj, s->dir) : 0;
	if (err)
		shield_bpf__destroy(object);
	else
		*ret = object;
	return err;
}

/*
 * After the kernel refused all programs with @refusal, or where s->fallback is set
 * already: those alone that need no other. They have limits, lists, players, the
 * amplification limit and counters, but neither validation nor cache. -errno; without a
 * message, if the kernel refused these, too.
 */
static int load_fallback(struct shield *s, __u32 capacity, int refusal,
			 struct shield_bpf **ret)
{
	struct shield_bpf *object;
	int err = open_object(s, capacity, &object);

	if (err)
		return err;
	bpf_program__set_autoload(object->progs.shield_validate, false);
	bpf_program__set_autoload(object->progs.shield_cache, false);
	err = shield_bpf__load(object);
	if (err) {
		shield_bpf__destroy(object);
		return refusal ? refusal : err;
	}
	if (!s->fallback)
		explain_fallback(refusal);
	s->fallback = true;
	*ret = object;
	return 0;
}

/* Load all programs or, without them, the fallback. 0, or -errno after a message. */
static int load_object(struct shield *s, __u32 capacity, struct shield_bpf **ret)
{
	struct shield_bpf *object;
	int err = 0;

	libbpf_words[0] = '\0';
	libbpf_set_print(libbpf_listen);
	if (!s->fallback) {
		err = open_object(s, capacity, &object);
		if (err)
			return err;
		err = shield_bpf__load(object);
		if (err)
			shield_bpf__destroy(object);
	}
	/* The fallback needs the same permission and nearly as much memory. */
	if (s->fallback || (err && err != -EPERM && err != -ENOMEM))
		err = load_fallback(s, capacity, err, &object);
	if (!err) {
		err = tail_calls_fill(object);
		if (err)
			shield_bpf__destroy(object);
	}
	if (err)
		explain_load(err);
	else
		*ret = object;
	return err;
}

/* Keep a descriptor of each program that an interface gets. */
static int keep_programs(struct shield *s, const struct shield_bpf *object)
{
	s->program = fcntl(bpf_program__fd(object->progs.shield), F_DUPFD_CLOEXEC, 3);
	s->egress = fcntl(bpf_program__fd(object->progs.shield_out), F_DUPFD_CLOEXEC, 3);
	s->joined =
		fcntl(bpf_program__fd(object->progs.shield_joined), F_DUPFD_CLOEXEC, 3);
	return s->program < 0 || s->egress < 0 || s->joined < 0 ? -errno : 0;
}

/* A program that is reached by the map `tail_calls`; the pin is only for looking at it.
 */
static int pin_tail_call(const struct shield *s, const struct bpf_program *program,
			 const char *name)
{
	char path[PATH_MAX];

	if (!s->fallback)
		return pin_replace(bpf_program__fd(program), s->dir, name);
	if (!pin_path(path, sizeof(path), s->dir, name))
		unlink(path);
	return 0;
}

int shield_private(__u32 capacity, bool fallback, struct shield **ret)
{
	struct shield_bpf *object = NULL;
	struct shield *s = shield_new();
	int err;

	if (!s)
		return -ENOMEM;
	s->fallback = fallback;
	err = load_object(s, capacity, &object);
	if (!err)
		err = keep_maps(s, object->obj);
	if (!err)
		err = keep_programs(s, object);
	if (!err)
		err = shield_map_shared(s);
	if (!err)
		s->shared->fallback = s->fallback;
	shield_bpf__destroy(object);
	if (err)
		shield_close(s);
	else
		*ret = s;
	return err;
}

/* The coarse clock moves with jiffies: its resolution is one tick. */
static int set_clock(struct shield *s, const struct config *config)
{
	struct timespec tick;

	if (config->replay_clock) {
		s->shared->tick_ns = 0;
		return 0;
	}
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick)) {
		log_error("cannot read the length of a tick: %s", strerror(errno));
		return -errno;
	}
	s->shared->clock_ns = 0;
	s->shared->tick_ns = (__u64)tick.tv_nsec;
	return 0;
}

int shield_load(const char *pin_dir, const struct config *config, struct shield **ret)
{
	struct shield_bpf *object = NULL;
	struct shield *s;
	int err;

	err = pins_mount();
	if (err)
		return err;
	s = shield_new();
	if (!s)
		return -ENOMEM;
	err = pins_default_dir(pin_dir, s->dir, sizeof(s->dir));
	if (!err)
		err = pins_make_dir(s->dir, &s->dir_new);
	if (!err)
		err = shield_lock_dir(s);
	if (err)
		goto out;

	s->dir_new |= pins_none(s->dir);
	err = netns_claim(s);
	if (!err)
		err = load_object(s, shield_capacity(config->service_count), &object);
	if (!err)
		err = keep_maps(s, object->obj);
	if (err)
		goto unlock;
	err = keep_programs(s, object);
	if (!err)
		err = shield_map_shared(s);
	if (!err) {
		s->shared->fallback = s->fallback;
		err = set_clock(s, config);
	}
	if (!err)
		err = migrate_lists(s, bpf_object__btf(object->obj));
	s->unapplied = dir_attached(s->dir);
	if (!err && !s->unapplied)
		err = shield_apply_locked(s, config);
	if (!err)
		err = migrate_games(s, bpf_object__btf(object->obj));
	if (!err && !config->replay_clock)
		shield_owners(s);
	if (!err)
		err = types_pin(s, bpf_object__btf(object->obj));
	if (!err)
		err = pin_replace(s->program, s->dir, "xdp");
	if (!err)
		err = pin_replace(s->egress, s->dir, "egress");
	if (!err)
		err = pin_replace(s->joined, s->dir, "joined");
	/* They are reached by the map `tail_calls`; the pins are for inspection. */
	if (!err)
		err = pin_tail_call(s, object->progs.shield_validate, "proof");
	if (!err)
		err = pin_tail_call(s, object->progs.shield_cache, "answer");
unlock:
	if (err)
		shield_abandon(s); /* before another process pins its tables here */
	shield_unlock(s);
out:
	shield_bpf__destroy(object);
	if (err) {
		shield_abandon(s);
		shield_close(s);
	} else {
		*ret = s;
	}
	return err;
}

/* --- samples ---------------------------------------------------------------- */

/*
 * The callback of ring_buffer__poll(): leaves out a record that is shorter than it says.
 */
static int take_sample(void *context, void *data, size_t size)
{
	struct shield *s = context;
	const struct sample *sample = data;

	if (size >= sizeof(*sample) && sample->kept <= size - sizeof(*sample))
		s->each_sample(sample, sample + 1, s->sample_context);
	return 0;
}

int shield_samples_open(struct shield *s,
			void (*each)(const struct sample *sample, const void *frame,
				     void *context),
			void *context)
{
	s->each_sample = each;
	s->sample_context = context;
	s->ring = ring_buffer__new(s->samples, take_sample, s, NULL);
	if (s->ring)
		return 0;
	log_error("cannot read '%s/samples': %s", s->dir, strerror(errno));
	return -errno;
}

int shield_samples_fd(const struct shield *s)
{
	return ring_buffer__epoll_fd(s->ring);
}

int shield_samples_poll(struct shield *s, int timeout_ms)
{
	return ring_buffer__poll(s->ring, timeout_ms);
}
