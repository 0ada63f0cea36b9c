// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * config_tree.c - a file, the files that it includes, and the keys of the command line,
 * as one tree.
 *
 * Files are parsed one after the other into the same tree, so that a key which two of
 * them give is given twice; each value keeps the name of its own. Keys of the command
 * line come last and replace.
 */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/config_parse.h"
#include "config/config_text.h"
#include "lib/old_names.h"
#include "lib/util.h"

#define DEPTH_MAX 8 /* of includes: more are a file that includes itself */
#define FILES_MAX 256 /* included */
#define NAME_ROOM 4096 /* octets of a path */
#define SET_ROOM  256 /* octets of a key, with its sections */
#define SET_NAME  "--set"

struct reading {
	cfg_t *cfg;
	unsigned int depth, files;
};

static int file_take(struct reading *r, const char *path);

static int name_source(cfg_t *cfg, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return -ENOMEM;
	free(cfg->filename);
	cfg->filename = copy;
	return 0;
}

/* libconfuse: 0 or -errno after a message. */
static int text_take(cfg_t *cfg, const char *path, char *text, size_t length)
{
	int err = name_source(cfg, path);
	FILE *file;

	if (err || !length)
		return err;
	file = fmemopen(text, length, "r");
	if (!file)
		return -ENOMEM;
	err = cfg_parse_fp(cfg, file) == CFG_SUCCESS ? 0 : -EINVAL;
	fclose(file);
	return err;
}

/* --- include -------------------------------------------------------------------- */

static bool warn_hidden;

void config_warn_hidden(bool warn)
{
	warn_hidden = warn;
}

bool config_is_hidden(const char *path)
{
	static const char *const hidden[] = { "/home/", "/root/", "/run/user/", "/tmp/",
					      "/var/tmp/" };

	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
		if (!strncmp(path, hidden[i], strlen(hidden[i])))
			return true;
	return false;
}

/* @name as it is seen from the file that names it. */
static int beside(const struct kept *from, char ret[NAME_ROOM])
{
	const char *slash = strrchr(from->path, '/');
	int directory = slash && from->text[0] != '/' ? (int)(slash - from->path) + 1 : 0;
	int n = snprintf(ret, NAME_ROOM, "%.*s%s", directory, from->path, from->text);

	if (n < NAME_ROOM)
		return 0;
	return config_error(from->path, from->line, "include '%s': too long a name",
			    from->text);
}

/* The first place of a pattern that cannot be looked at: glob() has no context. */
static struct {
	int err; /* 0: there is none */
	char path[NAME_ROOM];
} unseen;

/* A directory that is not there holds no file; any other failure may hide some. */
static void unseen_note(const char *path)
{
	if (unseen.err || errno == ENOENT || errno == ENOTDIR)
		return;
	unseen.err = -errno;
	snprintf(unseen.path, sizeof(unseen.path), "%s", path);
}

static void *directory_open(const char *path)
{
	DIR *directory = opendir(path);

	if (!directory)
		unseen_note(path);
	return directory;
}

static struct dirent *directory_read(void *directory)
{
	return readdir(directory);
}

static void directory_close(void *directory)
{
	closedir(directory);
}

static int file_look(const char *path, struct stat *ret)
{
	int err = stat(path, ret);

	if (err)
		unseen_note(path);
	return err;
}

/*
 * Find the files of the pattern @name, in order; none is no error. Files that may be
 * there and cannot be seen are one: their services would be gone without a word.
 */
static int pattern_find(const char *name, glob_t *ret)
{
	ret->gl_opendir = directory_open;
	ret->gl_readdir = directory_read;
	ret->gl_closedir = directory_close;
	ret->gl_lstat = ret->gl_stat = file_look;
	unseen.err = 0;
	if (glob(name, GLOB_ALTDIRFUNC, NULL, ret) == GLOB_NOSPACE)
		return -ENOMEM;
	if (unseen.err)
		config_error(unseen.path, 0, "cannot look at it: %s",
			     strerror(-unseen.err));
	return unseen.err;
}

/* One file, or all that a pattern finds, by name; a pattern may find none. */
static int include_one(struct reading *r, const struct kept *from)
{
	char name[NAME_ROOM];
	glob_t found = { 0 };
	int err = beside(from, name);

	if (err)
		return err;
	if (r->depth == DEPTH_MAX)
		return config_error(from->path, from->line,
				    "include '%s': more than %d files deep", from->text,
				    DEPTH_MAX);
	if (warn_hidden && config_is_hidden(from->text))
		config_warn(from->path, from->line,
			    "include '%s': the daemon does not see /home, /root and /tmp "
			    "when systemd starts it",
			    from->text);
	if (!strpbrk(name, "*?["))
		err = file_take(r, name);
	else
		err = pattern_find(name, &found);
	for (size_t i = 0; !err && i < found.gl_pathc; i++)
		err = file_take(r, found.gl_pathv[i]);
	globfree(&found);
	if (err && err != -EINVAL && err != -ENOMEM)
		config_error(from->path, from->line, "include '%s' failed", from->text);
	return err;
}

/*
 * Read the files that the file just parsed includes. Called by file_take() alone. The
 * list is taken out of the tree first, as each file may have its own.
 */
static int include_all(struct reading *r)
{
	cfg_opt_t *option = cfg_getopt(r->cfg, "include");
	unsigned int n = cfg_opt_size(option);
	struct kept **names = calloc(n + 1, sizeof(void *));
	int err = 0;

	if (!names)
		return -ENOMEM;
	for (unsigned int i = 0; !err && i < n; i++) {
		const struct kept *v = cfg_opt_getnptr(option, i);
		size_t text = strlen(v->text) + 1, path = strlen(v->path) + 1;

		names[i] = malloc(sizeof(*v) + text + path);
		if (!names[i]) {
			err = -ENOMEM;
			break;
		}
		memcpy(names[i], v, sizeof(*v) + text + path);
		names[i]->path = names[i]->text + text;
	}
	option_forget(option);
	r->depth++;
	for (unsigned int i = 0; !err && i < n; i++)
		err = include_one(r, names[i]);
	r->depth--;
	for (unsigned int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return err;
}

static int file_take(struct reading *r, const char *path)
{
	size_t length;
	char *text;
	int err;

	if (r->files++ > FILES_MAX) /* the first is not included */
		return config_error(path, 0, "more than %d files are included",
				    FILES_MAX);
	err = config_text_read(path, &text, &length);
	if (err)
		return err;
	err = config_text_clean(path, text, length);
	if (!err)
		err = text_take(r->cfg, path, text, length);
	free(text);
	return err ? err : include_all(r);
}

/* --- --set ---------------------------------------------------------------------- */

/* cfg_getopt() without its complaint, of the first @n octets of @name. */
static cfg_opt_t *option_named(cfg_opt_t *options, const char *name, size_t n)
{
	for (cfg_opt_t *o = options; o->name; o++)
		if (!strncmp(o->name, name, n) && !o->name[n])
			return o;
	return NULL;
}

static bool option_is_key(const cfg_opt_t *option)
{
	return option->type == CFGT_PTR && strcmp(option->name, "include") != 0;
}

/* Does @key lead to one of @options, or of a section among them? */
static bool key_exists(cfg_opt_t *options, const char *key)
{
	for (;;) {
		size_t n = strcspn(key, ".");
		const cfg_opt_t *option = option_named(options, key, n);

		if (!option || !key[n])
			return option && option_is_key(option);
		if (option->type != CFGT_SEC)
			return false;
		options = option->subopts;
		key += n + 1;
	}
}

/*
 * The section that @rest begins with the title of, and in *@rest what is behind it. Dots
 * may be in titles, and one title may begin another: the key has to exist behind it.
 */
static cfg_t *section_titled(cfg_opt_t *option, char **rest)
{
	char *title = *rest;

	for (char *end = strchr(title, '.'); end; end = strchr(end + 1, '.')) {
		cfg_t *section;

		*end = '\0';
		section = cfg_opt_gettsec(option, title);
		if (section && key_exists(option->subopts, end + 1)) {
			*rest = end + 1;
			return section;
		}
		*end = '.';
	}
	return NULL;
}

/* The section @name in @cfg, made if there is none; of services only one that is there.
 */
static cfg_t *section_open(cfg_t *cfg, const char *name, char **rest)
{
	cfg_opt_t *option = option_named(cfg->opts, name, strlen(name));
	cfg_value_t *made;

	if (!option || option->type != CFGT_SEC)
		return NULL;
	if (option->flags & CFGF_TITLE)
		return section_titled(option, rest);
	if (cfg_opt_size(option))
		return cfg_opt_getnsec(option, 0);
	made = cfg_setopt(cfg, option, NULL);
	return made ? made->section : NULL;
}

/* The option that @key names, with its section; NULL: there is none. */
static cfg_opt_t *option_find(cfg_t *cfg, char *key, cfg_t **ret)
{
	char *rest = key;

	for (;;) {
		char *name = rest;
		cfg_opt_t *option;

		rest = strchr(name, '.');
		if (!rest) {
			option = option_named(cfg->opts, name, strlen(name));
			*ret = cfg;
			return option && option_is_key(option) ? option : NULL;
		}
		*rest++ = '\0';
		cfg = section_open(cfg, name, &rest);
		if (!cfg)
			return NULL;
	}
}

/* A list is written with commas. */
static int values_set(cfg_t *section, cfg_opt_t *option, const char *value)
{
	bool list = option->flags & CFGF_LIST;
	char *copy = strdup(value), *word = copy;
	int err = copy ? name_source(section, SET_NAME) : -ENOMEM;

	section->line = 0;
	option_forget(option);
	while (!err && word) {
		char *end = list ? strchr(word, ',') : NULL;

		if (end)
			*end++ = '\0';
		if ((*word || !list) && !cfg_setopt(section, option, word))
			err = -ENOMEM;
		word = end;
	}
	free(copy);
	return err;
}

/* Say in @ret what has become of a part of @key, its first section or its last word;
 * false: nothing. */
static bool key_renamed(char *key, char ret[OLD_HINT])
{
	char *last = strrchr(key, '.'), *section;

	if (last)
		*last = '\0';
	section = strrchr(key, '.');
	/* A class of a service, or the title of one. */
	if (last && section && old_key(section + 1, last + 1, ret))
		return true;
	key[strcspn(key, ".")] = '\0';
	return old_key("root", key, ret) || (last && old_key(key, last + 1, ret));
}

static int set_one(cfg_t *cfg, const char *text)
{
	char key[SET_ROOM];
	size_t n = strcspn(text, "=");
	cfg_opt_t *option = NULL;
	char hint[OLD_HINT];
	cfg_t *section;
	bool old = false;

	if (!text[n])
		return config_error(SET_NAME, 0, "'%s' is not KEY=VALUE", text);
	if (n < sizeof(key)) {
		memcpy(key, text, n);
		key[n] = '\0';
		option = option_find(cfg, key, &section);
		snprintf(key, sizeof(key), "%.*s", (int)n, text);
		old = !option && key_renamed(key, hint);
	}
	if (old)
		return config_error(SET_NAME, 0, "'%.*s': %s", (int)n, text, hint);
	if (!option)
		return config_error(SET_NAME, 0,
				    "no such key: '%.*s' (as in `mode`, "
				    "`metrics.listen`, `service.NAME.port`, of a service "
				    "that the file has)",
				    (int)n, text);
	return values_set(section, option, text + n + 1);
}

/* -------------------------------------------------------------------------------- */

int config_tree(const char *path, const char *const *sets, cfg_t **ret)
{
	struct reading r = { .cfg = config_grammar() };
	int err = r.cfg ? file_take(&r, path) : -ENOMEM;

	for (; !err && sets && *sets; sets++)
		err = set_one(r.cfg, *sets);
	if (err)
		cfg_free(r.cfg);
	else
		*ret = r.cfg;
	return err;
}
