// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * in_force.c - see in_force.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/in_force.h"
#include "lib/log.h"
#include "lib/pin_words.h"

#define RUN_DIR "/run/quakeshield"

void in_force_path(const char *pin_dir, enum in_force which, char ret[PATH_MAX])
{
	struct stat st = { 0 };
	char words[NAME_MAX];

	/* As the pid file: each BPF file system and each directory has its own daemon. */
	if (stat("/sys/fs/bpf", &st))
		st.st_dev = 0;
	pin_words(pin_dir, words, sizeof(words));
	snprintf(ret, PATH_MAX, RUN_DIR "/%s-%llx%s.conf",
		 which == IN_FORCE ? "in-force" : "previous",
		 (unsigned long long)st.st_dev, words);
}

/* Is this what the file at @path has? False if it cannot be read. */
static bool file_is(const char *path, const char *text, size_t n)
{
	char part[4096];
	bool same = true;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return false;
	while (same && (got = read(fd, part, sizeof(part))) > 0) {
		same = (size_t)got <= n && !memcmp(part, text, (size_t)got);
		text += got;
		n -= same ? (size_t)got : 0;
	}
	close(fd);
	return same && !n;
}

/*
 * Write @text, @n bytes, to the file @path, which only root may read. 0 or -errno; then
 * the file may be there in part. Called by put() for a name that no reader knows.
 */
static int file_write(const char *path, const char *text, size_t n)
{
	int err = 0,
	    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return -errno;
	while (!err && n) {
		ssize_t wrote = write(fd, text, n);

		if (wrote <= 0)
			err = wrote ? -errno : -EIO;
		else
			text += wrote, n -= (size_t)wrote;
	}
	if (close(fd) && !err)
		err = -errno;
	return err;
}

/*
 * Into a new file first, so that no reader sees half of it. Called by config_put(). 0, or
 * -errno after a warning. If the text is the same or @corrected, the one before stays;
 * else it is what was in force, also after an error, and then what is in force is not
 * known.
 */
static int put(const char *pin_dir, const char *text, size_t n, bool corrected)
{
	char now[PATH_MAX], before[PATH_MAX], fresh[PATH_MAX + 8];
	bool same;
	int err;

	in_force_path(pin_dir, IN_FORCE, now);
	in_force_path(pin_dir, IN_FORCE_PREVIOUS, before);
	same = corrected || file_is(now, text, n);
	mkdir(RUN_DIR, 0755); /* it is there where a daemon has run */
	snprintf(fresh, sizeof(fresh), "%s.new", now);
	err = file_write(fresh, text, n);
	/* If what was in force is not known, there is nothing to go back to. */
	if (!same && rename(now, before)) {
		if (errno == ENOENT)
			unlink(before);
		else if (!err)
			err = -errno;
	}
	if (!err && rename(fresh, now))
		err = -errno;
	if (err) {
		unlink(fresh);
		log_warn("cannot write '%s': %s: `reload` cannot say what it changes",
			 now, strerror(-err));
	}
	return err;
}

/* Before the key and the number of a service, in a line of its own. */
#define BY_DEFAULT "# by default: "

/*
 * Note behind the configuration which values config_resolve() has chosen, as comments. A
 * reader of the file would take them for given.
 */
static void print_defaults(const struct config *config, FILE *file)
{
	for (size_t i = 0; i < config->service_count; i++) {
		if (!config->services[i].validation_given)
			fprintf(file, BY_DEFAULT "validation of service %zu\n", i);
		if (!config->services[i].cache_given)
			fprintf(file, BY_DEFAULT "cache of service %zu\n", i);
	}
}

/* Read back what print_defaults() has written to @path. */
static void read_defaults(const char *path, struct config *ret)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0, i;

	while (file && getline(&line, &room, file) > 0) {
		if (sscanf(line, BY_DEFAULT "validation of service %zu", &i) == 1 &&
		    i < ret->service_count)
			ret->services[i].validation_given = false;
		if (sscanf(line, BY_DEFAULT "cache of service %zu", &i) == 1 &&
		    i < ret->service_count)
			ret->services[i].cache_given = false;
	}
	free(line);
	if (file)
		fclose(file);
}

/* Write @config as put() does. */
static int config_put(const char *pin_dir, const struct config *config, bool corrected)
{
	char *text = NULL;
	size_t n;
	FILE *file = open_memstream(&text, &n);
	int err = -ENOMEM;

	if (!file)
		return err;
	config_print(config, file);
	print_defaults(config, file);
	if (!fclose(file))
		err = put(pin_dir, text, n, corrected);
	free(text);
	return err;
}

int in_force_write(const char *pin_dir, const struct config *config)
{
	return config_put(pin_dir, config, false);
}

int in_force_correct(const char *pin_dir, const struct config *config)
{
	return config_put(pin_dir, config, true);
}

/* The operator has seen the warnings when the configuration was applied. */
static void errors_alone(const struct config_complaint *complaint, void *context)
{
	(void)context;
	if (!complaint->warning)
		log_at(complaint->path, complaint->line, false, complaint->message);
}

int in_force_read(const char *pin_dir, enum in_force which, struct config *ret)
{
	char path[PATH_MAX];
	int err;

	in_force_path(pin_dir, which, path);
	if (access(path, R_OK))
		return errno == ENOENT ? -ENOENT : -errno;
	config_listen(errors_alone, NULL);
	err = config_load(path, ret);
	config_listen(NULL, NULL);
	if (!err)
		read_defaults(path, ret);
	return err;
}

__u64 in_force_written(const char *pin_dir)
{
	char path[PATH_MAX];
	struct stat st;

	in_force_path(pin_dir, IN_FORCE, path);
	return stat(path, &st) ? 0
			       : (__u64)st.st_mtim.tv_sec * 1000000000 +
					 (__u64)st.st_mtim.tv_nsec;
}

void in_force_remove(const char *pin_dir)
{
	char path[PATH_MAX];

	in_force_path(pin_dir, IN_FORCE, path);
	unlink(path);
	in_force_path(pin_dir, IN_FORCE_PREVIOUS, path);
	unlink(path);
	rmdir(RUN_DIR); /* it stays if anything else is in it */
}
