// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nq_family.c - NetQuake's seam to the sessions.
 *
 * Read next: nq_session.c (one datagram), nq_message.c (one message), nq_svc.c and
 * nq_clc.c (one op).
 */
#include "decode/family.h"
#include "decode/nq/nq_session.h"

static void netquake_datagram(void *state, enum direction direction, struct span payload,
			      struct record *r)
{
	nq_session_datagram(state, FAMILY_NETQUAKE, direction, payload, r);
}

static void netquake_demo(void *state, const struct demo_block *block, struct record *r)
{
	nq_session_block(state, block, r);
}

static int netquake_claims(const struct glance *glance, struct span payload,
			   enum direction *ret)
{
	(void)glance;
	return nq_session_claims(payload, ret);
}

static enum family_wait netquake_waits(const void *state, enum direction direction,
				       struct span payload, struct ahead *ahead)
{
	return nq_session_waits(state, direction, payload, ahead);
}

static void netquake_peek(void *state, enum direction direction, struct span payload)
{
	nq_session_peek(state, direction, payload);
}

static size_t netquake_takes(const void *state)
{
	return nq_session_takes(state);
}

static void netquake_drop(void *state)
{
	nq_session_drop(state);
}

const struct family netquake_family = {
	.id = FAMILY_NETQUAKE,
	.state_size = sizeof(struct nq_session),
	.takes = netquake_takes,
	.drop = netquake_drop,
	.claims = netquake_claims,
	.datagram = netquake_datagram,
	.waits = netquake_waits,
	.peek = netquake_peek,
	.demo = netquake_demo,
};
