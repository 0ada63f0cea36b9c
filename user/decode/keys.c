// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * keys.c - see keys.h.
 */
#include <string.h>

#include "decode/keys.h"
#include "lib/secret.h"

struct remembered {
	uint8_t id[KEYS_ID];
	uint8_t master[KEYS_MASTER];
};

struct keys {
	const struct keylog *keylog;
	size_t identity_n, psk_n;
	uint8_t identity[KEYS_IDENTITY_MAX];
	uint8_t psk[KEYS_PSK_MAX];
	struct remembered remembered[KEYS_SESSIONS]; /* a ring */
	size_t remembered_n; /* ever */
	struct keys_room room;
};

struct keys *keys_create(const struct keylog *keylog, const struct keys_psk *psk)
{
	size_t identity_n = psk->identity ? strlen(psk->identity) : 0;
	struct keys *keys;

	if (identity_n > KEYS_IDENTITY_MAX || psk->n > KEYS_PSK_MAX)
		return NULL;
	keys = secret_alloc(sizeof(*keys));
	if (!keys)
		return NULL;
	keys->keylog = keylog;
	if (psk->identity && psk->n) {
		memcpy(keys->identity, psk->identity, identity_n);
		memcpy(keys->psk, psk->bytes, psk->n);
		keys->identity_n = identity_n;
		keys->psk_n = psk->n;
	}
	return keys;
}

void keys_free(struct keys *keys)
{
	secret_free(keys, sizeof(*keys));
}

bool keys_has_psk(const struct keys *keys)
{
	return keys->psk_n;
}

struct span keys_psk(const struct keys *keys, struct span identity)
{
	if (!keys->psk_n || identity.n != keys->identity_n ||
	    memcmp(identity.bytes, keys->identity, identity.n) != 0)
		return (struct span){ NULL, 0 };
	return (struct span){ keys->psk, keys->psk_n };
}

const uint8_t *keys_logged(const struct keys *keys, const uint8_t random[KEYLOG_RANDOM])
{
	const struct keylog_entry *entry =
		keylog_find(keys->keylog, "CLIENT_RANDOM", random);

	return entry && entry->secret_n == KEYS_MASTER ? entry->secret : NULL;
}

static const struct remembered *find(const struct keys *keys, const uint8_t id[KEYS_ID])
{
	size_t held =
		keys->remembered_n < KEYS_SESSIONS ? keys->remembered_n : KEYS_SESSIONS;

	for (size_t i = 0; i < held; i++)
		if (!memcmp(keys->remembered[i].id, id, KEYS_ID))
			return &keys->remembered[i];
	return NULL;
}

void keys_remember(struct keys *keys, const uint8_t id[KEYS_ID],
		   const uint8_t master[KEYS_MASTER])
{
	struct remembered *at = (struct remembered *)find(keys, id);

	if (!at)
		at = &keys->remembered[keys->remembered_n++ % KEYS_SESSIONS];
	memcpy(at->id, id, KEYS_ID);
	memcpy(at->master, master, KEYS_MASTER);
}

const uint8_t *keys_recall(const struct keys *keys, const uint8_t id[KEYS_ID])
{
	const struct remembered *found = find(keys, id);

	return found ? found->master : NULL;
}

struct keys_room *keys_room(struct keys *keys)
{
	return &keys->room;
}
