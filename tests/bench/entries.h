/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entries.h - a player and a cached response, as the shield's tables hold them before
 * frames are sent.
 */
#ifndef ENTRIES_H
#define ENTRIES_H

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "players.h"
#include "rows.h"

/*
 * Enter the player at @address, an IPv6 address in letters, and PLAYER_PORT, on the
 * service in @slot. Its qport is known. Call this before each batch: the server sends
 * nothing meanwhile. 0, -EINVAL or -ENOSPC.
 */
static int enter_player_at(struct live *live, __u16 slot, const char *address,
			   bool followed, __u64 now)
{
	struct player_key key = { .port = htons(PLAYER_PORT), .slot = slot };
	struct player player = { .since_ns = now,
				 .sent_ns = now,
				 .heard_ns = now,
				 .heard_sequence = PLAYER_SEQUENCE_FIRST,
				 .sent_sequence = PLAYER_ACKED,
				 .qport = PLAYER_QPORT_KNOWN,
				 .qport_mask = 0xffff,
				 .flags = PLAYER_VERIFIED | PLAYER_QPORT };
	struct player_id id;

	if (followed)
		player.flags |= PLAYER_FOLLOWED;
	if (inet_pton(AF_INET6, address, key.addr) != 1)
		return -EINVAL;
	id = player_id(&key);
	return players_enter(&live->players, &id, live->keys, &player, now) == PLAYERS_MAX
		       ? -ENOSPC
		       : 0;
}

/*
 * Make @t the server's response to @request, of @bytes, said a moment ago. @nonce: the
 * client's nonce follows the request.
 */
static void keep_response(struct cache_entry *t, const char *request, bool nonce,
			  int bytes, __u64 now)
{
	*t = (struct cache_entry){ .made_ns = now,
				   .request_length = (__u8)strlen(request),
				   .nonce = nonce,
				   .kind = KIND_STATUSRESPONSE,
				   .most = CACHE_TEXT,
				   .head = (__u16)bytes };
	memcpy(t->request, request, t->request_length);
	memset(t->mask, 0xff, nonce ? t->request_length : sizeof(t->mask));
	memset(t->text, 'x', (size_t)bytes);
}

#endif /* ENTRIES_H */
