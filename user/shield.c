// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield.c - programs, links and pins: everything whose lifetime is the kernel's.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/if_link.h>
#include <linux/magic.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "shield.skel.h"

#include "log.h"
#include "names.h"
#include "shield_internal.h"
#include "util.h"

#define ABI_VERSION   1
#define CAPACITY_MIN  32 /* services: below it the counters cost next to nothing */
#define KERNEL_NEEDED "6.1 (Debian 12)"

/* --- the name of our tables
 * ------------------------------------------------------------- */

static void hash_text(__u32 *hash, const char *text)
{
	for (; *text; text++)
		*hash = (*hash ^ (__u8)*text) * 16777619u; /* FNV-1a */
}

static void hash_size(__u32 *hash, size_t size)
{
	char text[32];

	snprintf(text, sizeof(text), "/%zu", size);
	hash_text(hash, text);
}

const char *shield_abi(void)
{
	static char abi[16];
	__u32 hash = 2166136261u;

	if (abi[0])
		return abi;
	for (int i = 0; i < KIND_COUNT; i++)
		hash_text(&hash, kind_name(i));
	for (int i = 0; i < REASON_COUNT; i++)
		hash_text(&hash, reason_name(i));
	for (int i = 0; i < CLASS_COUNT; i++)
		hash_text(&hash, class_name(i));
	for (int i = 0; i < FAMILY_COUNT; i++)
		hash_text(&hash, family_name(i));
	for (int i = 0; i < OTHER_COUNT; i++)
		hash_text(&hash, other_name(i));
	hash_size(&hash, sizeof(struct live));
	hash_size(&hash, sizeof(struct service));
	hash_size(&hash, sizeof(struct tallies));
	hash_size(&hash, SOURCE_BITS * 64 + PREFIX_BITS);
	snprintf(abi, sizeof(abi), "v%d-%08x", ABI_VERSION, hash);
	return abi;
}

/* --- directories and pins
 * --------------------------------------------------------------- */

static int mount_bpffs(void)
{
	struct statfs fs;

	if (!statfs("/sys/fs/bpf", &fs) && fs.f_type == BPF_FS_MAGIC)
		return 0;
	if (!mount("bpf", "/sys/fs/bpf", "bpf", 0, "mode=0700"))
		return 0;
	log_error("cannot mount the BPF file system on /sys/fs/bpf: %s", strerror(errno));
	return -errno;
}

/* Create @path and its parents below the BPF file system. */
static int make_dirs(const char *path)
{
	char part[PATH_MAX];
	struct statfs fs;

	for (const char *slash = path; slash; slash = strchr(slash + 1, '/')) {
		if (slash == path)
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		if (mkdir(part, 0700) && errno != EEXIST)
			goto fail;
	}
	if (mkdir(path, 0700) && errno != EEXIST)
		goto fail;
	if (statfs(path, &fs) || fs.f_type != BPF_FS_MAGIC) {
		log_error(
			"'%s' is not on a BPF file system: choose a directory below /sys/fs/bpf",
			path);
		return -EINVAL;
	}
	return 0;

fail:
	log_error("cannot create '%s': %s", path, strerror(errno));
	return -errno;
}

static int pin_path(char *ret, size_t size, const char *dir, const char *name)
{
	if ((size_t)snprintf(ret, size, "%s/%s", dir, name) < size)
		return 0;
	log_error("'%s' is too long a directory name", dir);
	return -ENAMETOOLONG;
}

static int default_dir(const char *pin_dir, char *ret, size_t size)
{
	if (pin_dir)
		return (size_t)snprintf(ret, size, "%s", pin_dir) < size ? 0
									 : -ENAMETOOLONG;
	return pin_path(ret, size, PIN_ROOT, shield_abi());
}

/* Pin @fd as @dir/@name, in place of what is pinned there, in one step. */
static int pin_replace(int fd, const char *dir, const char *name)
{
	char path[PATH_MAX], fresh[PATH_MAX + 8];
	int err;

	err = pin_path(path, sizeof(path), dir, name);
	if (err)
		return err;
	snprintf(fresh, sizeof(fresh), "%s-new", path);
	unlink(fresh);
	if (bpf_obj_pin(fd, fresh) || rename(fresh, path)) {
		err = -errno;
		log_error("cannot pin '%s': %s", path, strerror(errno));
		unlink(fresh);
	}
	return err;
}

/* --- open and load
 * ---------------------------------------------------------------------- */

static struct shield *shield_new(void)
{
	struct shield *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->lock = -1;
	s->program = -1;
	s->egress = -1;
#define UNSET(name) s->name = -1;
	SHIELD_MAPS(UNSET)
#undef UNSET
	return s;
}

void shield_close(struct shield *s)
{
	if (!s)
		return;
	shield_unmap_live(s);
#define CLOSE(name)       \
	if (s->name >= 0) \
		close(s->name);
	SHIELD_MAPS(CLOSE)
	CLOSE(program)
	CLOSE(egress)
	CLOSE(lock)
#undef CLOSE
	free(s);
}

static int open_pinned(const char *dir, const char *name)
{
	char path[PATH_MAX];
	int fd;

	if (pin_path(path, sizeof(path), dir, name))
		return -ENAMETOOLONG;
	fd = bpf_obj_get(path);
	return fd >= 0 ? fd : -errno;
}

static int read_capacity(struct shield *s)
{
	struct bpf_map_info info = { 0 };
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(s->tallies, &info, &size))
		return -errno;
	s->capacity = info.max_entries;
	return 0;
}

int shield_open(const char *pin_dir, struct shield **ret)
{
	struct shield *s = shield_new();
	int err;

	if (!s)
		return -ENOMEM;
	err = default_dir(pin_dir, s->dir, sizeof(s->dir));
	if (err)
		goto fail;
	s->lock = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->lock < 0) {
		err = -errno;
		if (err != -ENOENT)
			log_error("cannot open '%s': %s", s->dir, strerror(errno));
		goto fail;
	}
#define OPEN(name)                            \
	s->name = open_pinned(s->dir, #name); \
	if (s->name < 0) {                    \
		err = s->name;                \
		goto missing;                 \
	}
	SHIELD_MAPS(OPEN)
#undef OPEN
	err = read_capacity(s);
	if (!err)
		err = shield_map_live(s);
	if (err)
		goto fail;
	*ret = s;
	return 0;

missing:
	if (err != -ENOENT)
		log_error("cannot open the maps in '%s': %s%s", s->dir, strerror(-err),
			  err == -EPERM ? " (CAP_BPF is needed: run as root)" : "");
fail:
	shield_close(s);
	return err;
}

/* Let @map be the one pinned in @dir, if there is one and it fits. */
static int reuse_pinned(struct bpf_map *map, const char *dir)
{
	struct bpf_map_info info = { 0 };
	__u32 size = sizeof(info);
	int err, fd;

	fd = open_pinned(dir, bpf_map__name(map));
	if (fd == -ENOENT)
		return 0;
	if (fd < 0) {
		log_error("cannot open '%s/%s': %s", dir, bpf_map__name(map),
			  strerror(-fd));
		return fd;
	}
	err = bpf_obj_get_info_by_fd(fd, &info, &size);
	if (!err &&
	    (info.type != bpf_map__type(map) || info.key_size != bpf_map__key_size(map) ||
	     info.value_size != bpf_map__value_size(map))) {
		log_error(
			"'%s/%s' was made by another version: choose an empty directory, or run "
			"`quakeshield detach`",
			dir, bpf_map__name(map));
		err = -EEXIST;
	}
	if (!err)
		err = bpf_map__reuse_fd(map, fd);
	close(fd);
	return err;
}

static __u32 capacity_for(size_t services)
{
	__u32 capacity = CAPACITY_MIN;

	while (capacity < SERVICES_MAX && capacity < services + services / 2)
		capacity *= 2;
	return capacity;
}

static int reuse_maps(struct bpf_object *object, const char *dir)
{
	struct bpf_map *map;
	int err;

	bpf_object__for_each_map(map, object)
	{
		if (bpf_map__is_internal(map))
			continue;
		err = reuse_pinned(map, dir);
		if (err)
			return err;
	}
	return 0;
}

/* Pin what is not pinned yet, and keep a descriptor of each. */
static int keep_maps(struct shield *s, struct bpf_object *object)
{
	const struct {
		const char *name;
		int *fd;
	} wanted[] = {
#define AS_ROW(name) { #name, &s->name },
		SHIELD_MAPS(AS_ROW)
#undef AS_ROW
	};
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		int fd = bpf_object__find_map_fd_by_name(object, wanted[i].name);

		if (pin_path(path, sizeof(path), s->dir, wanted[i].name))
			return -ENAMETOOLONG;
		if (bpf_obj_pin(fd, path) && errno != EEXIST) {
			log_error("cannot pin '%s': %s", path, strerror(errno));
			return -errno;
		}
		*wanted[i].fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (*wanted[i].fd < 0)
			return -errno;
	}
	return read_capacity(s);
}

/* The verifier's and libbpf's words, kept for the one case in which they are wanted. */
static char libbpf_words[4096];

static int libbpf_listen(enum libbpf_print_level level, const char *format, va_list args)
{
	size_t used = strlen(libbpf_words);

	if (level == LIBBPF_WARN && used < sizeof(libbpf_words) - 1)
		vsnprintf(libbpf_words + used, sizeof(libbpf_words) - used, format, args);
	return 0;
}

/* Why the kernel did not take our programs, and what to do about it. */
static void explain_load(int err)
{
	struct utsname u;
	unsigned int major = 0, minor = 0;

	uname(&u);
	if (sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	    (major < 6 || (major == 6 && minor < 1))) {
		log_error(
			"kernel %s is too old: quakeshield needs %s or newer, for BPF atomics that "
			"return a value and for what came with them",
			u.release, KERNEL_NEEDED);
		return;
	}
	if (err == -EPERM || err == -EACCES) {
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

static int load_object(struct shield *s, const struct config *config,
		       struct shield_bpf **ret)
{
	struct shield_bpf *object;
	struct timespec tick;
	int err;

	libbpf_words[0] = '\0';
	libbpf_set_print(libbpf_listen);
	object = shield_bpf__open();
	if (!object) {
		log_error("cannot open the embedded BPF object: %s", strerror(errno));
		return -errno;
	}
	/* The coarse clock moves with jiffies: its resolution is one tick. */
	if (!clock_getres(CLOCK_MONOTONIC_COARSE, &tick))
		object->rodata->tick_ns = tick.tv_nsec;
	if (config->replay_clock)
		object->rodata->tick_ns = 0;
	bpf_map__set_max_entries(object->maps.tallies,
				 capacity_for(config->service_count));

	err = s->dir[0] ? reuse_maps(object->obj, s->dir) : 0;
	if (!err) {
		err = shield_bpf__load(object);
		if (err)
			explain_load(err);
	}
	if (err) {
		shield_bpf__destroy(object);
		return err;
	}
	*ret = object;
	return 0;
}

int shield_load(const char *pin_dir, const struct config *config, struct shield **ret)
{
	struct shield_bpf *object = NULL;
	struct shield *s;
	int err;

	err = mount_bpffs();
	if (err)
		return err;
	s = shield_new();
	if (!s)
		return -ENOMEM;
	err = default_dir(pin_dir, s->dir, sizeof(s->dir));
	if (!err)
		err = make_dirs(s->dir);
	if (err)
		goto out;
	s->lock = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->lock < 0 || flock(s->lock, LOCK_EX)) {
		err = -errno;
		log_error("cannot lock '%s': %s", s->dir, strerror(errno));
		goto out;
	}

	err = load_object(s, config, &object);
	if (!err)
		err = keep_maps(s, object->obj);
	if (err)
		goto unlock;
	s->program = fcntl(bpf_program__fd(object->progs.shield), F_DUPFD_CLOEXEC, 3);
	s->egress = fcntl(bpf_program__fd(object->progs.shield_out), F_DUPFD_CLOEXEC, 3);
	if (s->program < 0 || s->egress < 0)
		err = -errno;
	if (!err)
		err = shield_map_live(s);
	if (!err)
		err = shield_apply_locked(s, config);
	if (!err)
		err = pin_replace(s->program, s->dir, "xdp");
	if (!err)
		err = pin_replace(s->egress, s->dir, "egress");
unlock:
	flock(s->lock, LOCK_UN);
out:
	shield_bpf__destroy(object);
	if (err)
		shield_close(s);
	else
		*ret = s;
	return err;
}

/* --- links
 * ------------------------------------------------------------------------------ */

/* Call @each with every pinned link below @root, until it returns non-zero. */
static int each_link_in(const char *dir,
			int (*each)(const char *dir, const char *name, int fd,
				    const struct bpf_link_info *info, void *context),
			void *context)
{
	struct dirent *entry;
	DIR *d = opendir(dir);
	int err = 0;

	if (!d)
		return errno == ENOENT ? 0 : -errno;
	while (!err && (entry = readdir(d))) {
		struct bpf_link_info info = { 0 };
		__u32 size = sizeof(info);
		int fd;

		if (strncmp(entry->d_name, "link-", 5) != 0 &&
		    strncmp(entry->d_name, "out-", 4) != 0)
			continue;
		fd = open_pinned(dir, entry->d_name);
		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &size))
			err = each(dir, entry->d_name, fd, &info, context);
		close(fd);
	}
	closedir(d);
	return err;
}

/* The same for every ABI's directory, ours and older ones. */
static int each_link(const char *pin_dir,
		     int (*each)(const char *dir, const char *name, int fd,
				 const struct bpf_link_info *info, void *context),
		     void *context)
{
	char dir[PATH_MAX];
	struct dirent *entry;
	DIR *root;
	int err = 0;

	if (pin_dir)
		return each_link_in(pin_dir, each, context);
	root = opendir(PIN_ROOT);
	if (!root)
		return errno == ENOENT ? 0 : -errno;
	while (!err && (entry = readdir(root))) {
		if (entry->d_name[0] != 'v' ||
		    pin_path(dir, sizeof(dir), PIN_ROOT, entry->d_name))
			continue;
		err = each_link_in(dir, each, context);
	}
	closedir(root);
	return err;
}

/* bpffs takes no dots, VLAN interfaces have them. */
static void link_name(const char *interface, char *ret, size_t size)
{
	snprintf(ret, size, "link-%s", interface);
	for (char *c = ret; *c; c++)
		if (*c == '.')
			*c = ',';
}

struct adoption {
	struct shield *shield;
	const char *interface;
	__u32 ifindex;
	bool done;
};

/* An older or equal quakeshield's link: exchange its program and make it ours. */
static int adopt(const char *dir, const char *name, int fd,
		 const struct bpf_link_info *info, void *context)
{
	char path[PATH_MAX], ours[IF_NAMESIZE + 8];
	struct adoption *a = context;
	int err;

	if (info->type != BPF_LINK_TYPE_XDP || info->xdp.ifindex != a->ifindex)
		return 0;
	if (bpf_link_update(fd, a->shield->program, NULL)) {
		err = -errno;
		log_error("cannot exchange the program on '%s': %s", a->interface,
			  strerror(errno));
		return err;
	}
	a->done = true;
	link_name(a->interface, ours, sizeof(ours));
	if (strcmp(dir, a->shield->dir) != 0 || strcmp(name, ours) != 0) {
		err = pin_replace(fd, a->shield->dir, ours);
		if (err)
			return err;
		if (!pin_path(path, sizeof(path), dir, name))
			unlink(path);
	}
	return 1;
}

static void explain_foreign(const char *interface, __u32 id)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);

	if (fd >= 0) {
		bpf_obj_get_info_by_fd(fd, &info, &size);
		close(fd);
	}
	log_error(
		"interface '%s' already carries an XDP program that is not ours (id %u, name "
		"'%s'): it is left alone. Detach it with its own tool (or `ip link set dev %s xdp "
		"off`), or protect another interface",
		interface, id, info.name[0] ? info.name : "?", interface);
}

static int check_ethernet(const char *interface)
{
	struct ifreq request = { 0 };
	int fd, err = 0;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	if (ioctl(fd, SIOCGIFHWADDR, &request))
		err = -errno;
	close(fd);
	if (err) {
		log_error("cannot query interface '%s': %s", interface, strerror(-err));
		return err;
	}
	if (request.ifr_hwaddr.sa_family == ARPHRD_ETHER ||
	    request.ifr_hwaddr.sa_family == ARPHRD_LOOPBACK)
		return 0;
	log_error(
		"interface '%s' carries no Ethernet frames (type %u): protect the Ethernet "
		"interface below it",
		interface, request.ifr_hwaddr.sa_family);
	return -EOPNOTSUPP;
}

static int create_link(struct shield *s, const char *interface, __u32 ifindex,
		       enum attach_mode mode)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts,
		    .flags = mode == MODE_NATIVE ? XDP_FLAGS_DRV_MODE
						 : XDP_FLAGS_SKB_MODE);
	char name[IF_NAMESIZE + 8], path[PATH_MAX];
	int fd, err;

	fd = bpf_link_create(s->program, (int)ifindex, BPF_XDP, &opts);
	if (fd < 0)
		return -errno;
	link_name(interface, name, sizeof(name));
	/* A pin of this name is of an interface that is gone. */
	if (!pin_path(path, sizeof(path), s->dir, name))
		unlink(path);
	err = pin_replace(fd, s->dir, name);
	close(fd);
	return err;
}

static int attach_new(struct shield *s, const char *interface, __u32 ifindex,
		      enum attach_mode mode, enum attach_mode *ret_mode)
{
	__u32 foreign = 0;
	int err;

	bpf_xdp_query_id((int)ifindex, 0, &foreign);
	if (foreign) {
		explain_foreign(interface, foreign);
		return -EBUSY;
	}
	err = create_link(s, interface, ifindex,
			  mode == MODE_SKB ? MODE_SKB : MODE_NATIVE);
	if (!err) {
		*ret_mode = mode == MODE_SKB ? MODE_SKB : MODE_NATIVE;
		return 0;
	}
	if (mode == MODE_AUTO) {
		log_warn(
			"the driver of '%s' takes no native XDP program (%s): using generic (skb) "
			"mode, which is slower",
			interface, strerror(-err));
		err = create_link(s, interface, ifindex, MODE_SKB);
		*ret_mode = MODE_SKB;
	}
	if (err)
		log_error("cannot attach to '%s' in %s mode: %s%s", interface,
			  mode == MODE_NATIVE ? "native" : "skb", strerror(-err),
			  mode == MODE_NATIVE ? " (try --mode skb)" : "");
	return err;
}

static enum attach_mode mode_on(__u32 ifindex)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, query);

	if (!bpf_xdp_query((int)ifindex, 0, &query) &&
	    query.attach_mode == XDP_ATTACHED_SKB)
		return MODE_SKB;
	return MODE_NATIVE;
}

int shield_attach(struct shield *s, const char *interface, enum attach_mode mode,
		  enum attach_mode *ret_mode)
{
	struct adoption a = { .shield = s, .interface = interface };
	int err;

	a.ifindex = if_nametoindex(interface);
	if (!a.ifindex) {
		log_error("no such interface: '%s'", interface);
		return -ENODEV;
	}
	err = check_ethernet(interface);
	if (err)
		return err;
	/* Players first: who is one must be known before anybody is judged. */
	err = egress_attach(s, interface, a.ifindex);
	if (err)
		return err;
	err = each_link(NULL, adopt, &a);
	if (err >= 0 && !a.done)
		err = each_link(s->dir, adopt, &a);
	if (err < 0)
		return err;
	if (!a.done)
		return attach_new(s, interface, a.ifindex, mode, ret_mode);

	*ret_mode = mode_on(a.ifindex);
	if (mode != MODE_AUTO && mode != *ret_mode)
		log_warn(
			"'%s' stays attached in %s mode; to change that without a gap is not "
			"possible: `quakeshield detach` first",
			interface, *ret_mode == MODE_SKB ? "skb" : "native");
	return 0;
}

static int unlink_link(const char *dir, const char *name, int fd,
		       const struct bpf_link_info *info, void *context)
{
	char path[PATH_MAX];
	size_t *count = context;

	bpf_link_detach(fd);
	if (info->type == BPF_LINK_TYPE_XDP)
		egress_detach(info->xdp.ifindex);
	if (!pin_path(path, sizeof(path), dir, name))
		unlink(path);
	*count += info->type == BPF_LINK_TYPE_XDP;
	return 0;
}

/* Unlink every pin in @dir, then @dir. */
static void remove_dir(const char *dir)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *d = opendir(dir);

	if (!d)
		return;
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.' &&
		    !pin_path(path, sizeof(path), dir, entry->d_name))
			unlink(path);
	closedir(d);
	rmdir(dir);
}

int shield_detach(const char *pin_dir, size_t *ret_count)
{
	char dir[PATH_MAX];
	struct dirent *entry;
	DIR *root;
	int err;

	*ret_count = 0;
	err = each_link(pin_dir, unlink_link, ret_count);
	if (err) {
		log_error("cannot read the pins in '%s': %s",
			  pin_dir ? pin_dir : PIN_ROOT, strerror(-err));
		return err;
	}
	if (pin_dir) {
		remove_dir(pin_dir);
		return 0;
	}
	root = opendir(PIN_ROOT);
	if (!root)
		return 0;
	while ((entry = readdir(root)))
		if (entry->d_name[0] == 'v' &&
		    !pin_path(dir, sizeof(dir), PIN_ROOT, entry->d_name))
			remove_dir(dir);
	closedir(root);
	rmdir(PIN_ROOT);
	return 0;
}

struct link_list {
	const struct shield *shield;
	struct shield_link *links;
	size_t max, count;
};

static int list_link(const char *dir, const char *name, int fd,
		     const struct bpf_link_info *info, void *context)
{
	struct link_list *list = context;
	struct shield_link *link;
	char path[PATH_MAX];
	struct stat st;

	(void)fd;
	if (info->type != BPF_LINK_TYPE_XDP || list->count++ >= list->max)
		return 0;
	link = &list->links[list->count - 1];
	memset(link, 0, sizeof(*link));
	if (info->xdp.ifindex && if_indextoname(info->xdp.ifindex, link->interface)) {
		link->mode = mode_on(info->xdp.ifindex);
		bpf_xdp_query_id((int)info->xdp.ifindex, 0, &link->program_id);
		link->ours = link->program_id == info->prog_id;
	}
	if (!pin_path(path, sizeof(path), dir, name) && !stat(path, &st))
		link->since = st.st_mtime;
	return 0;
}

size_t shield_links(const struct shield *s, struct shield_link *ret, size_t max)
{
	struct link_list list = { .shield = s, .links = ret, .max = max };

	each_link_in(s->dir, list_link, &list);
	return list.count;
}
