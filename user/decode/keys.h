/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * keys.h - what opens encrypted sessions, for all sessions of one decoder: what the user
 * gave, and the master secrets of sessions that may be resumed from another port.
 *
 * All of it lies in locked memory and is wiped at the end (lib/secret.h). The texts that
 * come out of records are there too, until the next datagram.
 */
#ifndef KEYS_H
#define KEYS_H

#include "lib/keylog.h"
#include "lib/reader.h"
#include "lib/record.h"

#define KEYS_ID		  32 /* bytes of a SHA-256 */
#define KEYS_MASTER	  48 /* bytes of a master secret */
#define KEYS_IDENTITY_MAX 128 /* bytes of a name of a key */
#define KEYS_PSK_MAX	  64 /* bytes of a key */
#define KEYS_SESSIONS	  1024 /* that may be resumed; then the oldest is forgotten */
#define KEYS_PLAINS	  64 /* records opened of one datagram */
#define KEYS_ROOM	  65536 /* bytes that all records of a datagram open to */

/* A key agreed before, under its name. */
struct keys_psk {
	const char *identity; /* NULL: no key was given */
	const uint8_t *bytes;
	size_t n;
};

struct keys;

/*
 * Copies @psk; @keylog, which may be NULL, is to outlive the keys. NULL: no memory, or
 * @psk is too long.
 */
struct keys *keys_create(const struct keylog *keylog, const struct keys_psk *psk);
/* Wipe and free the keys. @keys may be NULL. */
void keys_free(struct keys *keys);

/* Return true if the user gave a pre-shared key. */
bool keys_has_psk(const struct keys *keys);
/* Return the key of the name @identity; empty if that is not known. */
struct span keys_psk(const struct keys *keys, struct span identity);
/* Return the master secret that the key log has for this client random, or NULL. */
const uint8_t *keys_logged(const struct keys *keys, const uint8_t random[KEYLOG_RANDOM]);

/*
 * Note the master secret of a session, under the SHA-256 @id of its ticket or id. The
 * oldest of KEYS_SESSIONS is forgotten.
 */
void keys_remember(struct keys *keys, const uint8_t id[KEYS_ID],
		   const uint8_t master[KEYS_MASTER]);

/*
 * Return the master secret (KEYS_MASTER bytes) that keys_remember() noted under @id, or
 * NULL. It belongs to @keys, and is valid until the next keys_remember().
 */
const uint8_t *keys_recall(const struct keys *keys, const uint8_t id[KEYS_ID]);

/* The plain text of the records of one datagram. */
struct keys_room {
	uint8_t plain[KEYS_ROOM];
	size_t used; /* of plain */
	struct record_plain plains[KEYS_PLAINS];
	unsigned int count;
	uint8_t inflated[KEYS_ROOM];
};

/*
 * Return the room for the plain text of one datagram. It belongs to @keys; the next
 * datagram overwrites it.
 */
struct keys_room *keys_room(struct keys *keys);

#endif /* KEYS_H */
