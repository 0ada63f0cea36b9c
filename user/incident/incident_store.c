// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * incident_store.c - see incident_store.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "incident/incident_json.h"
#include "incident/incident_store.h"
#include "lib/old_names.h"
#include "lib/pin_words.h"

#define CAPTURE_ENDING ".pcapng"

#define FLAGS	       (JSON_COMPACT | JSON_REAL_PRECISION(12))

int incident_path(const char *pin_dir, const char *name, char ret[INCIDENT_PATH])
{
	const char *state = getenv("STATE_DIRECTORY"), *ending = strrchr(name, '.');
	char words[NAME_MAX];
	int before, n;

	*ret = '\0';
	if (!ending)
		ending = name + strlen(name);
	if (!pin_words(pin_dir, words, sizeof(words)) ||
	    strlen(name) + strlen(words) + strlen(INCIDENT_FRESH) > NAME_MAX)
		return -ENAMETOOLONG;
	if (!state || *state != '/')
		state = INCIDENT_STATE;
	/* The first, where systemd gives several. */
	before = (int)strcspn(state, ":");
	n = snprintf(ret, INCIDENT_PATH, "%.*s/%.*s%s%s", before, state,
		     (int)(ending - name), name, words, ending);
	if (n >= 0 && n < INCIDENT_PATH)
		return 0;
	*ret = '\0';
	return -ENAMETOOLONG;
}

/* One file more, if it is there. *count is the number of files, or -errno from then on.
 */
static void state_file(const char *path, bool remove, int *count)
{
	if (remove ? unlink(path) : access(path, F_OK)) {
		if (errno != ENOENT && errno != ENOTDIR && *count >= 0)
			*count = -errno;
	} else if (*count >= 0) {
		++*count;
	}
}

/*
 * The captures. Their directory belongs to the daemon, and root removes: a link in its
 * place is not followed, and no other file is touched.
 */
static void state_captures(const char *path, bool remove, int *count)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		size_t n = strlen(entry->d_name), ending = strlen(CAPTURE_ENDING);

		if (n <= ending ||
		    strcmp(entry->d_name + n - ending, CAPTURE_ENDING) != 0)
			continue;
		if (remove && unlinkat(fd, entry->d_name, 0))
			*count = *count < 0 ? *count : -errno;
		else if (*count >= 0)
			++*count;
	}
	if (directory)
		closedir(directory);
	else if (fd >= 0)
		close(fd);
	if (directory && remove)
		rmdir(path);
}

int incident_state(const char *pin_dir, bool remove)
{
	static const char *const names[] = { "attacks.jsonl", "known-clients.txt",
					     OLD_CLIENTS_FILE, "history.jsonl" };
	char path[INCIDENT_PATH], fresh[INCIDENT_PATH + sizeof(INCIDENT_FRESH)];
	int count = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (incident_path(pin_dir, names[i], path))
			continue;
		state_file(path, remove, &count);
		snprintf(fresh, sizeof(fresh), "%s" INCIDENT_FRESH, path);
		state_file(fresh, remove, &count);
	}
	if (!incident_path(pin_dir, "captures", path))
		state_captures(path, remove, &count);
	return count;
}

int incident_directory(const char *path)
{
	char directory[INCIDENT_PATH];
	char *slash;

	snprintf(directory, sizeof(directory), "%s", path);
	slash = strrchr(directory, '/');
	if (!slash || slash == directory)
		return 0;
	*slash = 0;
	return mkdir(directory, 0755) && errno != EEXIST ? -errno : 0;
}

/* --- reading -------------------------------------------------------------------- */

/* Exchange the text @key of @object, if it is one of before. */
static void rename_word(json_t *object, const char *key)
{
	const char *old = json_string_value(json_object_get(object, key));
	const char *now = old ? old_attack_word(old) : NULL;

	if (now != old)
		json_object_set_new(object, key, json_string(now));
}

/* Exchange the reasons that are keys of the counts @key in @object. */
static void rename_counts(json_t *object, const char *key)
{
	json_t *counts = json_object_get(object, key), *fresh = json_object(), *count;
	const char *reason;

	json_object_foreach (counts, reason, count) {
		json_object_set(fresh, old_attack_word(reason), count);
	}
	if (json_is_object(counts))
		json_object_set(object, key, fresh);
	json_decref(fresh);
}

static void rename_reasons(json_t *list)
{
	json_t *one;
	size_t i;

	json_array_foreach (list, i, one) {
		rename_word(one, "reason");
	}
}

static void rename_words(json_t *object)
{
	json_t *sources = json_object_get(object, "sources");

	rename_word(sources, "spoofed");
	rename_reasons(json_object_get(sources, "top"));
	rename_reasons(json_object_get(object, "top_prefixes"));
	rename_counts(object, "reasons");
	rename_counts(object, "not_dropped");
}

/* A line of an older build: its keys and words as they are called now. */
static void rename_keys(json_t *object)
{
	for (const struct old_attack_key *k = old_attack_keys; k->old; k++) {
		json_t *in = k->section ? json_object_get(object, k->section) : object;
		json_t *value = json_object_get(in, k->old);

		if (value && !json_object_set(in, k->now, value))
			json_object_del(in, k->old);
	}
	rename_words(object);
}

/* The newest line of an id, where its first one was. */
static bool take(json_t *order, json_t *by_id, json_t *object)
{
	const char *id = json_string_value(json_object_get(object, "id"));
	json_t *old;

	if (!id)
		return true;
	old = json_object_get(by_id, id);
	if (old)
		return !json_object_update(old, object);
	return !json_object_set(by_id, id, object) && !json_array_append(order, object);
}

json_t *incident_store_read(const char *path, int *ret_err)
{
	json_t *order = json_array(), *by_id = json_object();
	FILE *file = fopen(path, "re");
	char line[INCIDENT_LINE];
	bool good = order && by_id;

	if (ret_err)
		*ret_err = file || errno == ENOENT ? 0 : -errno;
	while (good && file && fgets(line, sizeof(line), file)) {
		json_t *object = json_loads(line, 0, NULL);

		/* A piece of a line that is too long does not parse either. */
		if (json_is_object(object)) {
			rename_keys(object);
			good = take(order, by_id, object);
		}
		json_decref(object);
	}
	while (good && json_array_size(order) > INCIDENT_KEPT)
		json_array_remove(order, 0);
	if (file && ferror(file) && ret_err)
		*ret_err = -EIO;
	if (file)
		fclose(file);
	json_decref(by_id);
	if (good)
		return order;
	json_decref(order);
	return NULL;
}

/* --- writing -------------------------------------------------------------------- */

static int line_write(int fd, const json_t *object, bool broken)
{
	char line[INCIDENT_LINE];
	size_t n = broken, size;
	ssize_t written;

	line[0] = '\n';
	size = json_dumpb(object, line + n, sizeof(line) - n - 1, FLAGS);
	if (!size)
		return -ENOMEM;
	if (size > sizeof(line) - n - 1)
		return -EMSGSIZE;
	n += size;
	line[n++] = '\n';
	written = write(fd, line, n);
	if (written < 0)
		return -errno;
	return (size_t)written == n ? 0 : -ENOSPC;
}

/* Return true if the last write did not get to the end of the line. */
static bool is_torn(int fd, off_t size)
{
	char last;

	return size && (pread(fd, &last, 1, size - 1) != 1 || last != '\n');
}

/* Without what later lines repeat: a new file in the old one's place. */
static int rewrite(const char *path)
{
	json_t *all = incident_store_read(path, NULL);
	char fresh[INCIDENT_PATH + sizeof(INCIDENT_FRESH)];
	json_t *object;
	size_t i;
	int err = 0, fd;

	if (!all)
		return -ENOMEM;
	/* Half of them, at the longest, leave room for more: never twice in a row. */
	while (json_array_size(all) > INCIDENT_KEPT / 2)
		json_array_remove(all, 0);
	snprintf(fresh, sizeof(fresh), "%s" INCIDENT_FRESH, path);
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (fd < 0)
		err = -errno;
	json_array_foreach (all, i, object) {
		if (!err)
			err = line_write(fd, object, false);
	}
	json_decref(all);
	if (fd >= 0) {
		close(fd);
	}
	if (!err && rename(fresh, path))
		err = -errno;
	if (err)
		unlink(fresh);
	return err;
}

int incident_store_add(const char *path, const json_t *object)
{
	int err = incident_directory(path);
	struct stat st;
	int fd;

	if (!err && !stat(path, &st) && st.st_size > INCIDENT_BYTES - INCIDENT_LINE)
		err = rewrite(path);
	if (err)
		return err;
	fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) ? -errno : 0;
	if (!err)
		err = line_write(fd, object, is_torn(fd, st.st_size));
	close(fd);
	return err;
}
