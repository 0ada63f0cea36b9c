// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pins.c - paths and objects below the BPF file system.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <linux/magic.h>
#include <bpf/bpf.h>

#include "lib/log.h"
#include "shield/shield_internal.h"

const char *pins_hint(int err)
{
	return (err == -EACCES || err == -EPERM) && geteuid() ? ": run it as root" : "";
}

int pins_mount(void)
{
	struct statfs fs;
	int err;

	if (!statfs("/sys/fs/bpf", &fs) && fs.f_type == BPF_FS_MAGIC)
		return 0;
	if (!mount("bpf", "/sys/fs/bpf", "bpf", 0, "mode=0700"))
		return 0;
	err = -errno;
	log_error("cannot mount the BPF file system on /sys/fs/bpf: %s%s", strerror(-err),
		  pins_hint(err));
	return err;
}

/*
 * Return when process 1 of this PID namespace began, in seconds since 1970; 0: not known.
 * In the line of /proc/1/stat, which may have spaces in its second field, field 22 says
 * it in ticks since boot. Called by shield_pins_life().
 */
static double first_process_began(void)
{
	FILE *file = fopen("/proc/1/stat", "re");
	struct timespec real, boot;
	unsigned long long ticks;
	char line[1024], *at;

	if (!file)
		return 0;
	at = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	if (!at || sscanf(at + 1,
			  " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
			  "%*d %*d %*d %*d %llu",
			  &ticks) != 1)
		return 0;
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (double)(real.tv_sec - boot.tv_sec) +
	       (double)(real.tv_nsec - boot.tv_nsec) / 1e9 +
	       (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

/*
 * Is @path there, and was it last written, read and changed from @began on? True too if
 * it is not there.
 */
static bool all_since(const char *path, double began)
{
	struct stat st;

	if (stat(path, &st))
		return true;
	for (int i = 0; i < 3; i++) {
		const struct timespec *t = i == 0   ? &st.st_atim
					   : i == 1 ? &st.st_mtim
						    : &st.st_ctim;

		if ((double)t->tv_sec + (double)t->tv_nsec / 1e9 < began)
			return false;
	}
	return true;
}

#define PID_NAMESPACE_INITIAL 0xeffffffc /* its inode, in every Linux */
#define CLOCKS_APART_S	      0.02 /* by two ticks of 100 Hz: times of files are coarse */

/*
 * From inside a container the machine's mounts are not to be seen. But process 1 of a
 * container begins before anything is mounted for it, and a file system that has times
 * before that was made outside. The machine's may have none left: then this errs, and
 * only a warning is wrong.
 */
enum pins_life shield_pins_life(void)
{
	struct stat ours, machine, namespace;
	double began;

	if (!stat("/sys/fs/bpf", &ours) && !stat("/proc/1/root/sys/fs/bpf", &machine) &&
	    ours.st_dev != machine.st_dev)
		return PINS_PROCESS;
	if (stat("/proc/self/ns/pid", &namespace) ||
	    namespace.st_ino == PID_NAMESPACE_INITIAL)
		return PINS_MACHINE;
	began = first_process_began() - CLOCKS_APART_S;
	return began > 0 && all_since("/sys/fs/bpf", began) && all_since(PIN_ROOT, began)
		       ? PINS_CONTAINER
		       : PINS_MACHINE;
}

#define INODE_ROOT 1 /* of a BPF file system, in every Linux */

/*
 * Check a directory that is there already: its owner, or a user that may write to it, can
 * move away what is pinned in it. Where the BPF file system itself is open to all, as a
 * plain mount(8) leaves it, any user could have made it before. A mount point that is not
 * the root of the file system is a directory of it, elsewhere: it is checked too. A link
 * into it is refused, too, since nothing above its target is looked at. 0, or -EACCES or
 * -errno after a message. Called for each directory on the way to pins that are made,
 * opened, detached or taken over: another user's maps would show what that user likes,
 * and a `deny add` into them would deny nothing.
 */
static int pins_check_dir(const char *path)
{
	struct stat st;
	struct statfs fs;
	bool link, theirs, root;
	mode_t others;
	int err;

	if (lstat(path, &st))
		goto unseen;
	link = S_ISLNK(st.st_mode);
	/* The owner of a link chooses its target. */
	if (link && st.st_uid && st.st_uid != geteuid())
		goto refused;
	if (stat(path, &st) || statfs(path, &fs))
		goto unseen;
	if (fs.f_type != BPF_FS_MAGIC)
		return 0; /* above it */
	root = st.st_ino == INODE_ROOT;
	theirs = st.st_uid && st.st_uid != geteuid();
	others = st.st_gid ? S_IWGRP | S_IWOTH : S_IWOTH;
	if (!theirs &&
	    (root || (!link && (!(st.st_mode & others) || st.st_mode & S_ISVTX))))
		return 0;
refused:
	log_error(
		"'%s' was made by another user, others may write to it, or it is a link: "
		"what is pinned there could be moved away; if it is yours, `chown 0:0` and "
		"`chmod 700` it, else remove it",
		path);
	return -EACCES;
unseen:
	err = -errno;
	log_error("cannot look at '%s': %s%s", path, strerror(-err), pins_hint(err));
	return err;
}

/*
 * Return 0 if @path, with all above it on the BPF file system, belongs to root or this
 * user and is not writable to others, or is not there; otherwise -EACCES, or
 * another -errno. Called by pins_open_dir() and pins_check_all().
 */
static int pins_check(const char *path)
{
	char part[PATH_MAX];
	struct stat st;
	int err = 0;

	for (size_t n = 1; !err && n <= strlen(path); n++) {
		if (path[n] && path[n] != '/')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		if (lstat(part, &st) && errno == ENOENT)
			return 0;
		err = pins_check_dir(part);
	}
	return err;
}

int pins_open_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = -errno;

	if (fd >= 0) {
		err = pins_check(path);
		if (!err)
			return fd;
		close(fd);
	} else if (err != -ENOENT) {
		log_error("cannot open '%s': %s%s", path, strerror(-err), pins_hint(err));
	}
	return err;
}

/*
 * @path is @ret_new, or was there and is ours; or -errno after a message. Called by
 * pins_make_dir(), from the root down.
 */
static int pins_make_part(const char *path, bool *ret_new)
{
	int err;

	*ret_new = !mkdir(path, 0700);
	if (*ret_new)
		return 0;
	if (errno == EEXIST)
		return pins_check_dir(path);
	err = -errno;
	log_error("cannot create '%s': %s%s", path, strerror(-err), pins_hint(err));
	return err;
}

/* Create @path and its parents below the BPF file system. */
int pins_make_dir(const char *path, bool *ret_new)
{
	char part[PATH_MAX];
	struct statfs fs;
	int err;

	for (const char *slash = strchr(path + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		err = pins_make_part(part, ret_new);
		if (err)
			return err;
	}
	err = pins_make_part(path, ret_new);
	if (!err && (statfs(path, &fs) || fs.f_type != BPF_FS_MAGIC)) {
		log_error(
			"'%s' is not on a BPF file system: choose a directory below /sys/fs/bpf",
			path);
		if (*ret_new)
			rmdir(path);
		return -EINVAL;
	}
	return err;
}

int pin_path(char *ret, size_t size, const char *dir, const char *name)
{
	if ((size_t)snprintf(ret, size, "%s/%s", dir, name) < size)
		return 0;
	log_error("'%s' is too long a directory name", dir);
	return -ENAMETOOLONG;
}

int pins_default_dir(const char *pin_dir, char *ret, size_t size)
{
	if (pin_dir)
		return (size_t)snprintf(ret, size, "%s", pin_dir) < size ? 0
									 : -ENAMETOOLONG;
	return pin_path(ret, size, PIN_ROOT, shield_abi());
}

/* Pin @fd as @dir/@name, in place of what is pinned there, in one step. */
int pin_replace(int fd, const char *dir, const char *name)
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

int pin_open(const char *dir, const char *name)
{
	char path[PATH_MAX];
	int fd;

	if (pin_path(path, sizeof(path), dir, name))
		return -ENAMETOOLONG;
	fd = bpf_obj_get(path);
	return fd >= 0 ? fd : -errno;
}

/*
 * Do what pins_each_dir() does. *@ret_refused: true if a directory was left out, which is
 * logged, since it is another user's; else as it was. @each may be NULL. Called by
 * pins_each_dir() and pins_check_all().
 */
static int walk_dirs(int (*each)(const char *dir, void *context), void *context,
		     bool *ret_refused)
{
	char dir[PATH_MAX];
	struct dirent *entry;
	DIR *root = opendir(PIN_ROOT);
	int err = 0;

	if (!root)
		return errno == ENOENT ? 0 : -errno;
	if (pins_check_dir(PIN_ROOT)) {
		*ret_refused = true;
		closedir(root);
		return 0;
	}
	while (!err && (entry = readdir(root))) {
		if (!abi_is_name(entry->d_name) ||
		    pin_path(dir, sizeof(dir), PIN_ROOT, entry->d_name))
			continue;
		if (pins_check_dir(dir))
			*ret_refused = true;
		else if (each)
			err = each(dir, context);
	}
	closedir(root);
	return err;
}

int pins_each_dir(int (*each)(const char *dir, void *context), void *context)
{
	bool refused;

	return walk_dirs(each, context, &refused);
}

int pins_check_all(const char *pin_dir)
{
	bool refused = false;
	int err = pins_check(pin_dir ? pin_dir : PIN_ROOT);

	if (err || pin_dir)
		return err;
	err = walk_dirs(NULL, NULL, &refused);
	if (err)
		log_error("cannot open '%s': %s%s", PIN_ROOT, strerror(-err),
			  pins_hint(err));
	return refused ? -EACCES : err;
}

bool pins_none(const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *entry;
	bool ret = d != NULL;

	while (ret && (entry = readdir(d)))
		ret = entry->d_name[0] == '.' || !strcmp(entry->d_name, SERVE_DIR);
	if (d)
		closedir(d);
	return ret;
}

void pins_remove_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent *entry;
	struct statfs fs;
	DIR *d;

	if (fd < 0)
		return;
	/* Pins and nothing else, whatever is there by that name. */
	d = !fstatfs(fd, &fs) && fs.f_type == BPF_FS_MAGIC ? fdopendir(fd) : NULL;
	if (!d) {
		close(fd);
		return;
	}
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.')
			unlinkat(fd, entry->d_name, 0);
	unlinkat(fd, SERVE_DIR, AT_REMOVEDIR);
	closedir(d);
	rmdir(dir);
}

int map_open(const char *dir, const struct map_row *row)
{
	struct bpf_map_info info = { 0 };
	__u32 size = sizeof(info);
	int fd = pin_open(dir, row->name);
	int err = 0;

	if (fd < 0)
		return fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		err = -errno;
	else if (!map_fits(row, &info))
		err = -EMEDIUMTYPE;
	if (!err)
		return fd;
	close(fd);
	return err;
}

void map_explain(const char *dir, const struct map_row *row, int err)
{
	if (err == -EMEDIUMTYPE)
		log_error(
			"'%s/%s' was made by another version: choose an empty directory, or run "
			"`quakeshield detach --pin %s`",
			dir, row->name, dir);
	else
		log_error("cannot open '%s/%s': %s%s", dir, row->name, strerror(-err),
			  err == -EPERM ? ": CAP_BPF is needed: run it as root"
					: pins_hint(err));
}

/* --- the links that are pinned --------------------------------------------------- */

/* The callback of each_link(), for each directory. */
struct link_walk {
	int (*each)(const char *dir, const char *name, int fd,
		    const struct bpf_link_info *info, void *context);
	void *context;
};

/*
 * Call walk->each with every link pinned in @dir, until it returns non-zero. Called by
 * each_link() and each_link_here(). A prefix that attach_xdp.c or attach_tc.c
 * pins under must be here, or detach misses it.
 */
static int each_link_in(const char *dir, void *context)
{
	const struct link_walk *walk = context;
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
		    strncmp(entry->d_name, "out-", 4) != 0 &&
		    strncmp(entry->d_name, "in-", 3) != 0)
			continue;
		fd = pin_open(dir, entry->d_name);
		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &size))
			err = walk->each(dir, entry->d_name, fd, &info, walk->context);
		close(fd);
	}
	closedir(d);
	return err;
}

/* Do that, where the links in @dir are of this network namespace, or of none known. */
static int each_link_here(const char *dir, void *context)
{
	return netns_is_other(dir) ? 0 : each_link_in(dir, context);
}

int each_link(const char *pin_dir,
	      int (*each)(const char *dir, const char *name, int fd,
			  const struct bpf_link_info *info, void *context),
	      void *context)
{
	struct link_walk walk = { each, context };

	return pin_dir ? each_link_in(pin_dir, &walk)
		       : pins_each_dir(each_link_here, &walk);
}

/*
 * Return the ifindex of the link pinned as @path; 0: there is none, or its interface is
 * gone. Called by rename_link().
 */
static __u32 link_ifindex(const char *path)
{
	struct bpf_link_info info = { 0 };
	__u32 size = sizeof(info);
	int fd = bpf_obj_get(path);

	if (fd < 0)
		return 0;
	/* tcx is newer than our headers; its ifindex is where XDP's is. */
	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		info.xdp.ifindex = 0;
	close(fd);
	return info.xdp.ifindex;
}

/*
 * Give the link the name of its interface, as link_name() and pin_of() write it. A link
 * that has the name, of another interface, gets this one's in the same step. Called back
 * by links_rename(). 0: it stays; 1: it was renamed, which ends the walk; or -errno.
 */
static int rename_link(const char *dir, const char *name, int fd,
		       const struct bpf_link_info *info, void *context)
{
	char from[PATH_MAX], to[PATH_MAX], present[2 * IF_NAMESIZE];
	char interface[IF_NAMESIZE];
	__u32 other;

	(void)fd;
	(void)context;
	if (!info->xdp.ifindex || !if_indextoname(info->xdp.ifindex, interface) ||
	    (info->type == BPF_LINK_TYPE_XDP) != !strncmp(name, "link-", 5))
		return 0;
	for (char *c = interface; *c; c++)
		if (*c == '.')
			*c = ',';
	snprintf(present, sizeof(present), "%.*s-%s", (int)strcspn(name, "-"), name,
		 interface);
	if (!strcmp(name, present) || pin_path(from, sizeof(from), dir, name) ||
	    pin_path(to, sizeof(to), dir, present))
		return 0;
	other = link_ifindex(to);
	if (other == info->xdp.ifindex)
		return 0; /* two of one interface: attaching leaves one */
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, other ? RENAME_EXCHANGE : 0))
		return -errno;
	return 1;
}

int links_rename(const char *dir)
{
	int ret = 1;

	/* Each step gives a link its name for good. */
	for (size_t i = 0; ret == 1 && i < 3 * SHIELD_LINKS; i++)
		ret = each_link(dir, rename_link, NULL);
	if (ret < 0)
		log_error("cannot rename a pin in '%s': %s", dir, strerror(-ret));
	return ret < 0 ? ret : 0;
}

/*
 * Let the link @link have the program @program. False: it keeps another one. Called by
 * link_give_back() alone: an exchange that failed leaves links that need no update.
 */
static bool link_set_program(int link, int program)
{
	struct bpf_link_info of = { 0 };
	struct bpf_prog_info wanted = { 0 };
	__u32 of_size = sizeof(of), wanted_size = sizeof(wanted);

	if (!bpf_link_update(link, program, NULL))
		return true;
	return !bpf_obj_get_info_by_fd(link, &of, &of_size) &&
	       !bpf_obj_get_info_by_fd(program, &wanted, &wanted_size) &&
	       of.prog_id == wanted.id;
}

bool link_give_back(const struct shield *s, const char *dir, const char *name,
		    const char *program)
{
	char path[PATH_MAX];
	int link, former;
	bool ret;

	if (pin_path(path, sizeof(path), s->dir, name))
		return false;
	former = pin_open(dir, program);
	link = pin_open(s->dir, name);
	if (link < 0)
		link = pin_open(dir, name); /* exchanged, but not pinned with us */
	ret = link >= 0 && former >= 0 && link_set_program(link, former) &&
	      !pin_replace(link, dir, name);
	if (ret)
		unlink(path);
	ret |= link == -ENOENT; /* there is none */
	if (link >= 0)
		close(link);
	if (former >= 0)
		close(former);
	return ret;
}
