// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * replay_echo.c - times in NetQuake's moves.
 *
 * A client's move names the time of an update that it got. The egress program marks the
 * times in updates, and a player is verified when its moves name the marked ones. The
 * clients of a capture have got the times that the capture shows, so a move has to name
 * what the program has made of them.
 */
#include <string.h>

#include "replay/replay_internal.h"

/* An unreliable datagram: u16 0x0010, u16 length, u32 sequence, then messages. */
enum {
	MESSAGE_AT = 8,
	SVC_TIME_OP = 7,
	CLC_MOVE_OP = 3,
	TIME_AT = 9, /* FTE puts a sequence of 16 bits before it, DarkPlaces 7 of 32 */
	TIME_AT_MOST = 13,
	LEAST = 17,
};

static bool is_unreliable(const struct flow *flow, uint8_t op)
{
	return flow->n >= LEAST && !flow->payload[0] && flow->payload[1] == 0x10 &&
	       flow->payload[MESSAGE_AT] == op;
}

void echo_update(struct echo *e, __u32 slot, const struct flow *flow, const uint8_t *left)
{
	uint64_t client = flow_hash(&flow->destination, slot);
	size_t at = (client >> 8) % ECHO_CLIENTS, i;

	if (!is_unreliable(flow, SVC_TIME_OP))
		return;
	if (e->clients[at].client != client) {
		memset(&e->clients[at], 0, sizeof(e->clients[at]));
		e->clients[at].client = client;
	}
	i = e->clients[at].next++ % ECHO_TIMES;
	memcpy(&e->clients[at].said[i], flow->payload + TIME_AT, sizeof(uint32_t));
	memcpy(&e->clients[at].written[i], left + TIME_AT, sizeof(uint32_t));
}

bool echo_move(const struct echo *e, __u32 slot, const struct flow *flow, size_t *ret,
	       uint32_t *ret_time)
{
	uint64_t client = flow_hash(&flow->source, slot);
	size_t at = (client >> 8) % ECHO_CLIENTS;

	if (!is_unreliable(flow, CLC_MOVE_OP) || e->clients[at].client != client)
		return false;
	for (*ret = TIME_AT; *ret <= TIME_AT_MOST; *ret += 2) {
		uint32_t named;

		memcpy(&named, flow->payload + *ret, sizeof(named));
		for (int i = 0; named && i < ECHO_TIMES; i++) {
			if (e->clients[at].said[i] != named)
				continue;
			*ret_time = e->clients[at].written[i];
			return *ret_time != named;
		}
	}
	return false;
}
