/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * keylog.h - secrets of TLS sessions, in the format that NSS and all others write
 * (SSLKEYLOGFILE): lines of <label> <client random> <secret>, the last two in hex; blank
 * lines and comments (#) do not count.
 */
#ifndef KEYLOG_H
#define KEYLOG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define KEYLOG_RANDOM	  32
#define KEYLOG_SECRET_MAX 64
#define KEYLOG_LABEL_MAX  48
#define KEYLOG_MAX	  65536 /* lines that count */

struct keylog_entry {
	char label[KEYLOG_LABEL_MAX]; /* CLIENT_RANDOM: a master secret of TLS 1.2 */
	uint8_t random[KEYLOG_RANDOM];
	uint8_t secret[KEYLOG_SECRET_MAX];
	size_t secret_n;
};

struct keylog {
	struct keylog_entry *entries;
	size_t count;
};

/*
 * Reads a whole file. 0; -ENOMEM; -EBADMSG: a line is none, -ENOSPC: too many, and
 * @message (of @size bytes) says where and quotes it. *ret is empty then.
 */
int keylog_read(FILE *file, struct keylog *ret, char *message, size_t size);
/* Free the entries, and leave @keylog empty. */
void keylog_free(struct keylog *keylog);

/* Return the last secret of @label with this client random, or NULL. */
const struct keylog_entry *keylog_find(const struct keylog *keylog, const char *label,
				       const uint8_t random[KEYLOG_RANDOM]);

#endif /* KEYLOG_H */
