// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * config_diff.c - see config_diff.h. Both configurations are compared as config_print()
 * writes them, so that a key which is added there is compared as well.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_diff.h"

#define DEPTH_MAX 4 /* sections inside sections: config_print() has two */

/* Between the parts of a path, since a service's name may have dots and spaces. It sorts
 * before all printable characters, so that a section is followed by what is in it. */
#define PART '\x1f'

/* A configuration as its keys, each with its value, sorted. */
struct keys {
	char *text; /* as printed, cut into words in place */
	size_t text_size;
	struct key {
		char *path; /* allocated */
		const char *value; /* in text */
	} * keys;
	size_t count, room;
};

static bool keys_add(struct keys *k, const char *section, const char *name,
		     const char *value)
{
	struct key *key;

	if (k->count == k->room) {
		size_t room = k->room ? 2 * k->room : 1024;
		struct key *more = realloc(k->keys, room * sizeof(*more));

		if (!more)
			return false;
		k->keys = more;
		k->room = room;
	}
	key = &k->keys[k->count];
	if (*section ? asprintf(&key->path, "%s%c%s", section, PART, name) < 0
		     : asprintf(&key->path, "%s", name) < 0)
		return false;
	key->value = value;
	k->count++;
	return true;
}

/* Cut a trailing comma, and quotes around all of @text. */
static char *bare(char *text)
{
	size_t n = strlen(text);

	if (n && text[n - 1] == ',')
		text[--n] = '\0';
	if (n > 1 && *text == '"' && text[n - 1] == '"') {
		text[n - 1] = '\0';
		text++;
	}
	return text;
}

/* `service "ffa"` becomes the parts `service` and `ffa` of the path @section. */
static bool section_open(struct keys *k, char *section, size_t size, char *name)
{
	size_t n = strlen(section);
	char *title = strchr(name, ' ');

	if (title)
		*title++ = '\0';
	if (n && n + 1 < size)
		section[n++] = PART;
	if (title)
		snprintf(section + n, size - n, "%s%c%s", name, PART, bare(title));
	else
		snprintf(section + n, size - n, "%s", name);
	/* A section with a title may be there or not; the others always are. */
	return !title || keys_add(k, "", section, "");
}

/* The lines of config_print(): `key = value`, `section {`, `list = {`, `}`, and in a list
 * one network each. */
static bool keys_parse(struct keys *k)
{
	char section[CONFIG_CHANGE] = "", *list = NULL, *rest = NULL;
	size_t ends[DEPTH_MAX], depth = 0;

	for (char *line = strtok_r(k->text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *value, *end;

		line += strspn(line, "\t");
		end = line + strlen(line);
		value = strstr(line, " = ");
		if (list && !strcmp(line, "}")) {
			list = NULL;
		} else if (list) {
			/* The value is in the path as well: a list is a set. */
			if (!keys_add(k, section, list, bare(line)))
				return false;
		} else if (!strcmp(line, "}")) {
			section[depth ? ends[--depth] : 0] = '\0';
		} else if (value && !strcmp(value, " = {")) {
			*value = '\0';
			list = line;
		} else if (value) {
			*value = '\0';
			if (!keys_add(k, section, line, bare(value + 3)))
				return false;
		} else if (end - line > 2 && !strcmp(end - 2, " {") &&
			   depth < DEPTH_MAX) {
			end[-2] = '\0';
			ends[depth++] = strlen(section);
			if (!section_open(k, section, sizeof(section), line))
				return false;
		}
	}
	return true;
}

static int key_order(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	return order ? order : strcmp(x->value, y->value);
}

static void keys_free(struct keys *k)
{
	for (size_t i = 0; i < k->count; i++)
		free(k->keys[i].path);
	free(k->keys);
	free(k->text);
}

static bool keys_of(const struct config *config, struct keys *ret)
{
	FILE *file;

	memset(ret, 0, sizeof(*ret));
	file = open_memstream(&ret->text, &ret->text_size);
	if (!file)
		return false;
	config_print(config, file);
	if (fclose(file) || !keys_parse(ret))
		return false;
	qsort(ret->keys, ret->count, sizeof(*ret->keys), key_order);
	return true;
}

/* Is it in the list more than once, with other values: `allow`, `deny`, `addresses`? */
static bool is_list(const struct key *key)
{
	const char *name = strrchr(key->path, PART);

	name = name ? name + 1 : key->path;
	return !strcmp(name, "allow") || !strcmp(name, "deny") ||
	       !strcmp(name, "addresses");
}

/* Is @key below the section @path? */
static bool is_below(const struct key *key, const char *path)
{
	size_t n = strlen(path);

	return !strncmp(key->path, path, n) && key->path[n] == PART;
}

/* The keys of a service that is new or gone are no changes of their own. */
static size_t skip_below(const struct keys *k, size_t i)
{
	const char *path = k->keys[i].path;

	for (i++; i < k->count && is_below(&k->keys[i], path); i++)
		;
	return i;
}

/* A path as --set has it. It is compared no more. */
static const char *key_given(const struct key *key)
{
	for (char *c = key->path; *c; c++)
		if (*c == PART)
			*c = '.';
	return key->path;
}

int config_diff(const struct config *before, const struct config *after,
		void (*each)(const struct config_change *change, void *context),
		void *context)
{
	struct keys a = { 0 }, b = { 0 };
	size_t i = 0, j = 0;
	int count = -ENOMEM;

	if (!keys_of(before, &a) || !keys_of(after, &b))
		goto out;
	for (count = 0; i < a.count || j < b.count;) {
		const struct key *x = i < a.count ? &a.keys[i] : NULL;
		const struct key *y = j < b.count ? &b.keys[j] : NULL;
		struct config_change change = { 0 };
		int order = !x ? 1 : !y ? -1 : strcmp(x->path, y->path);

		if (!order && is_list(x))
			order = strcmp(x->value, y->value);
		if (order < 0) {
			i = skip_below(&a, i);
			change = (struct config_change){ key_given(x), x->value, NULL };
		} else if (order > 0) {
			j = skip_below(&b, j);
			change = (struct config_change){ key_given(y), NULL, y->value };
		} else {
			i++;
			j++;
			if (!strcmp(x->value, y->value))
				continue;
			change = (struct config_change){ key_given(x), x->value,
							 y->value };
		}
		each(&change, context);
		count++;
	}
out:
	keys_free(&a);
	keys_free(&b);
	return count;
}

void config_change_format(const struct config_change *change, char ret[CONFIG_CHANGE])
{
	const char *value = change->before ? change->before : change->after;

	if (change->before && change->after)
		snprintf(ret, CONFIG_CHANGE, "%s: %s -> %s", change->key, change->before,
			 change->after);
	else
		snprintf(ret, CONFIG_CHANGE, "%s: %s%s%s", change->key,
			 change->before ? "removed" : "added", *value ? " " : "", value);
}
