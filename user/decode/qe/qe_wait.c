// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qe_wait.c - which datagrams of a handshake wait for others: those with a fragment of a
 * message that is not whole yet.
 */
#include "decode/qe/qe_session.h"

#define TYPE_HANDSHAKE 0x16
#define MESSAGES       2 /* of which fragments in one datagram may wait */
#define LOOKED_AT      256 /* fragments ahead: no message of an engine's has as many */

/* One message, and which of its bytes are here. */
struct message_bytes {
	struct qe_fragment of;
	uint8_t have[QE_MESSAGE_MAX];
};

static bool same(const struct qe_fragment *a, const struct qe_fragment *b)
{
	return a->type == b->type && a->number == b->number && a->length == b->length;
}

/* Find what was put together before. False: it is whole, this is sent again. */
static bool seen_mark(struct message_bytes *c, const struct qe_hand *h, unsigned int side)
{
	const struct qe_piece *p = &h->pieces[side][c->of.number];
	const uint8_t *have;

	if (!p->bytes || p->type != c->of.type || p->length != c->of.length)
		return true;
	have = p->bytes + p->length;
	for (uint32_t i = 0; i < p->length && !p->whole; i++)
		c->have[i] |= have[i / 8] >> i % 8 & 1;
	/* Another client's message may be as long. */
	return !p->whole ||
	       memcmp(p->bytes + c->of.offset, c->of.body.bytes, c->of.body.n) != 0;
}

/* The next fragment of a clear record; @rd: of records, @inner: within one. */
static bool next_fragment(struct reader *rd, struct reader *inner,
			  struct qe_fragment *ret)
{
	struct qe_record record;

	while (!reader_left(inner)) {
		if (!reader_left(rd) || !qe_record_read(rd, &record))
			return false;
		if (record.type == TYPE_HANDSHAKE && !record.epoch)
			*inner = reader_of(record.fragment.bytes, record.fragment.n);
	}
	return qe_fragment_read(inner, ret);
}

/* Counts in what @payload has of the @n messages, of *@left fragments at most. */
static void datagram_mark(struct message_bytes *messages, unsigned int n,
			  struct span payload, unsigned int *left)
{
	struct reader rd = reader_of(payload.bytes, payload.n),
		      inner = { NULL, NULL, false };
	struct qe_fragment f;

	for (; *left && next_fragment(&rd, &inner, &f); --*left)
		for (unsigned int i = 0; i < n; i++)
			if (same(&messages[i].of, &f))
				memset(messages[i].have + f.offset, 1, f.body.n);
}

static bool known(const struct message_bytes *messages, unsigned int n,
		  const struct qe_fragment *f)
{
	for (unsigned int i = 0; i < n; i++)
		if (same(&messages[i].of, f))
			return true;
	return false;
}

/*
 * The messages of which @payload has parts that are not whole yet. *@ret_more: there is a
 * third, of which nothing is looked for. Who sends parts in turn ends one message and
 * begins the next in a datagram: such are two.
 */
static unsigned int find(const struct qe_session *s, unsigned int side,
			 struct span payload, struct message_bytes *messages,
			 bool *ret_more)
{
	struct reader rd = reader_of(payload.bytes, payload.n),
		      inner = { NULL, NULL, false };
	struct qe_fragment f;
	unsigned int n = 0;

	*ret_more = false;
	while (next_fragment(&rd, &inner, &f)) {
		if (f.body.n == f.length || f.length > QE_MESSAGE_MAX ||
		    f.number >= QE_MESSAGES || known(messages, n, &f))
			continue;
		/* No message is put together of a handshake that is over. */
		if (s->now.hand.over && !s->has_next && f.type != QE_CLIENT_HELLO)
			continue;
		if (n == MESSAGES) {
			*ret_more = true;
			break;
		}
		messages[n].of = f;
		memset(messages[n].have, 0, f.length);
		n += seen_mark(&messages[n], &s->now.hand, side) &&
		     seen_mark(&messages[n], &s->next.hand, side);
	}
	return n;
}

static bool whole(const struct message_bytes *messages, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (memchr(messages[i].have, 0, messages[i].of.length))
			return false;
	return true;
}

enum family_wait qe_session_waits(const struct qe_session *s, unsigned int side,
				  struct span payload, struct ahead *ahead)
{
	struct message_bytes messages[MESSAGES];
	unsigned int n, left = LOOKED_AT;
	bool more;

	/* Most datagrams are data. */
	if (!payload.n || *payload.bytes == 0x17)
		return WAIT_NOTHING;
	n = find(s, side, payload, messages, &more);
	if (!n)
		return WAIT_NOTHING;
	datagram_mark(messages, n, payload, &left);
	while (left && !whole(messages, n) && ahead->next(ahead, &payload))
		datagram_mark(messages, n, payload, &left);
	return whole(messages, n) && !more ? WAIT_NOTHING : WAIT_SLICES;
}
