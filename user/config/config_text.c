// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * config_text.c - a file into memory, with the line of every byte. See config_text.h.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/config.h"
#include "config/config_text.h"
#include "lib/log.h"

static struct {
	void (*each)(const struct config_complaint *complaint, void *context);
	void *context;
} listener;

void config_listen(void (*each)(const struct config_complaint *complaint, void *context),
		   void *context)
{
	listener.each = each;
	listener.context = context;
}

int config_error_v(const char *path, int line, bool warning, const char *format,
		   va_list args)
{
	struct config_complaint complaint = { .path = path, .line = line };
	char message[512];

	vsnprintf(message, sizeof(message), format, args);
	/* Quoted text must not control the terminal. */
	for (char *c = message; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	complaint.warning = warning;
	complaint.message = message;
	if (listener.each)
		listener.each(&complaint, listener.context);
	else
		log_at(path, line, warning, message);
	return -EINVAL;
}

int config_error(const char *path, int line, const char *format, ...)
{
	va_list args;
	int err;

	va_start(args, format);
	err = config_error_v(path, line, false, format, args);
	va_end(args);
	return err;
}

void config_warn(const char *path, int line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	config_error_v(path, line, true, format, args);
	va_end(args);
}

#define BYTE_ORDER_MARK "\xef\xbb\xbf" /* as some editors leave at the beginning */
#define FIRST_ROOM	4096 /* most files are shorter */

/* Doubles its room until all is read; a NUL goes behind the text. */
static int file_read(FILE *file, char **ret, size_t *ret_length)
{
	size_t n = 0, room = FIRST_ROOM;
	char *text = NULL, *more;

	do {
		room = text ? room * 2 : room;
		more = realloc(text, room + 1);
		if (!more) {
			free(text);
			return -ENOMEM;
		}
		text = more;
		n += fread(text + n, 1, room - n, file);
	} while (n == room && n <= CONFIG_TEXT_MAX);
	if (ferror(file)) {
		int err = errno;

		free(text);
		return -err;
	}
	if (n > CONFIG_TEXT_MAX) {
		free(text);
		return -EFBIG;
	}
	text[n] = 0;
	if (n >= 3 && !memcmp(text, BYTE_ORDER_MARK, 3)) {
		n -= 3;
		memmove(text, text + 3, n + 1);
	}
	*ret = text;
	*ret_length = n;
	return 0;
}

int config_text_read(const char *path, char **ret, size_t *ret_length)
{
	FILE *file = fopen(path, "re");
	int err;

	if (!file) {
		err = -errno;
		config_error(path, 0, "cannot open it: %s", strerror(-err));
		return err;
	}
	err = file_read(file, ret, ret_length);
	if (err == -EFBIG)
		config_error(path, 0, "more than %d octets: not a configuration",
			     CONFIG_TEXT_MAX);
	else if (err)
		config_error(path, 0, "cannot read it: %s", strerror(-err));
	fclose(file);
	return err;
}

#define NESTING_MAX 8 /* sections and lists; the grammar needs 3 */

struct scan {
	const char *path;
	char *at, *end;
	int line;
	int depth;
	int opened[NESTING_MAX]; /* the line of each brace that is open */
};

static void blank(struct scan *s, char *from)
{
	for (; from < s->at; from++)
		if (*from != '\n')
			*from = ' ';
}

static int comment_line(struct scan *s)
{
	char *start = s->at;

	while (s->at < s->end && *s->at != '\n')
		s->at++;
	blank(s, start);
	return 0;
}

static int comment_block(struct scan *s)
{
	char *start = s->at;
	int line = s->line;

	for (s->at += 2; s->end - s->at >= 2; s->at++) {
		if (s->at[0] == '*' && s->at[1] == '/') {
			s->at += 2;
			blank(s, start);
			return 0;
		}
		if (*s->at == '\n')
			s->line++;
	}
	return config_error(s->path, line, "this comment does not end: '/*'");
}

static int string(struct scan *s)
{
	char quote = *s->at++;
	char *start = s->at;
	int line = s->line;

	for (; s->at < s->end && *s->at != quote; s->at++) {
		if (*s->at == '\n')
			s->line++;
		if (*s->at != '\\' || s->end - s->at < 2)
			continue;
		s->at++;
		if (quote == '"' && isdigit((unsigned char)*s->at))
			return config_error(s->path, s->line, "no such escape: '\\%c'",
					    *s->at);
		if (*s->at == '\n')
			s->line++;
	}
	if (s->at == s->end)
		return config_error(s->path, line, "this string does not end: %c%.*s",
				    quote, (int)strcspn(start, "\n"), start);
	s->at++;
	return 0;
}

static int brace(struct scan *s)
{
	if (*s->at++ == '{') {
		if (s->depth == NESTING_MAX)
			return config_error(s->path, s->line, "'{' nested too deeply");
		s->opened[s->depth++] = s->line;
	} else if (s->depth) {
		s->depth--;
	} else {
		return config_error(s->path, s->line, "'}' closes nothing");
	}
	return 0;
}

/* A word up to what ends it for libconfuse too, or for us: a semicolon. */
static int word(struct scan *s)
{
	size_t length = strcspn(s->at, " ;#\"'\t\n\r={}()+,*");

	s->at += length ? length : 1;
	return 0;
}

static int scan_token(struct scan *s)
{
	switch (*s->at) {
	case '\n':
		s->line++;
		s->at++;
		return 0;
	case ';':
		*s->at++ = ' ';
		return 0;
	case '#':
		return comment_line(s);
	case '/':
		if (s->at[1] == '/')
			return comment_line(s);
		if (s->at[1] == '*')
			return comment_block(s);
		return word(s);
	case '"':
	case '\'':
		return string(s);
	case '{':
	case '}':
		return brace(s);
	default:
		return word(s);
	}
}

static int line_of(const char *text, const char *at)
{
	int line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

int config_text_clean(const char *path, char *text, size_t length)
{
	struct scan s = {
		.path = path,
		.at = text,
		.end = text + length,
		.line = 1,
	};
	const char *bad = memchr(text, 0, length);

	if (bad)
		return config_error(path, line_of(text, bad), "a NUL: not a text file");
	while (s.at < s.end)
		if (scan_token(&s))
			return -EINVAL;
	if (s.depth)
		return config_error(path, s.opened[s.depth - 1],
				    "this section or list does not end: '{'");
	/* Last, because comments may say what they like. */
	bad = strstr(text, "${");
	if (bad)
		return config_error(path, line_of(text, bad), "no variables here: '%.*s'",
				    (int)strcspn(bad, " \n"), bad);
	return 0;
}
