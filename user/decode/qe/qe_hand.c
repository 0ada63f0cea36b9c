// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qe_hand.c - see qe_hand.h.
 *
 *	+----+----------+---------+----------+----------+---- ... --+
 *	| ty | u24 len  | number  | u24 from | u24 part | fragment  |
 *	+----+----------+---------+----------+----------+---- ... --+
 *
 * A message counts in a hash as if it had come in one fragment; a hello that was answered
 * with a cookie, and that answer, do not count. Source: RFC 6347 4.2; RFC 7627 3.
 */
#include <stdlib.h>

#include "decode/qe/qe_hand.h"

#define HEADER 12

static uint32_t be24(struct reader *rd)
{
	uint32_t high = reader_u8(rd);

	return high << 16 | reader_be16(rd);
}

bool qe_fragment_read(struct reader *rd, struct qe_fragment *ret)
{
	ret->type = reader_u8(rd);
	ret->length = be24(rd);
	ret->number = reader_be16(rd);
	ret->offset = be24(rd);
	ret->body.n = be24(rd);
	ret->body.bytes = reader_take(rd, ret->body.n);
	return !reader_failed(rd) && ret->offset + ret->body.n <= ret->length;
}

/* --- putting together -------------------------------------------------------------- */

static size_t piece_bytes(uint32_t length)
{
	return length + (length + 7) / 8 + 1;
}

static bool piece_begin(struct qe_hand *h, struct qe_piece *p,
			const struct qe_fragment *f)
{
	size_t n = piece_bytes(f->length);

	if (f->length > QE_MESSAGE_MAX || h->bytes + n > QE_HAND_MAX)
		return false;
	p->bytes = calloc(1, n);
	if (!p->bytes)
		return false;
	p->type = f->type;
	p->length = f->length;
	h->bytes += n;
	return true;
}

/* Fill in the bytes of @f. False: a byte differs from what was there. */
static bool piece_fill(struct qe_piece *p, const struct qe_fragment *f)
{
	uint8_t *have = p->bytes + p->length;

	for (uint32_t i = 0; i < f->body.n; i++) {
		uint32_t at = f->offset + i;

		if (!(have[at / 8] >> at % 8 & 1))
			continue;
		if (p->bytes[at] != f->body.bytes[i])
			return false;
	}
	for (uint32_t i = 0; i < f->body.n; i++) {
		uint32_t at = f->offset + i;

		p->got += !(have[at / 8] >> at % 8 & 1);
		have[at / 8] |= (uint8_t)(1U << at % 8);
		p->bytes[at] = f->body.bytes[i];
	}
	return true;
}

enum qe_put qe_hand_put(struct qe_hand *h, unsigned int side, const struct qe_fragment *f,
			struct span *whole)
{
	struct qe_piece *p;
	uint32_t had;

	if (f->number >= QE_MESSAGES)
		return QE_REFUSED;
	p = &h->pieces[side][f->number];
	if (!p->bytes && !piece_begin(h, p, f))
		return QE_REFUSED;
	had = p->got;
	if (p->type != f->type || p->length != f->length || !piece_fill(p, f))
		return QE_CONFLICT;
	*whole = (struct span){ p->bytes, p->length };
	if (p->got == p->length && !p->whole) {
		p->whole = true;
		return QE_WHOLE;
	}
	return p->got == had ? QE_AGAIN : QE_STORED;
}

static void forget(struct qe_hand *h, unsigned int side)
{
	for (int i = 0; i < QE_MESSAGES; i++) {
		struct qe_piece *p = &h->pieces[side][i];

		if (p->bytes)
			h->bytes -= piece_bytes(p->length);
		free(p->bytes);
		*p = (struct qe_piece){ .type = 0 };
	}
}

void qe_hand_forget(struct qe_hand *h)
{
	forget(h, 0);
	forget(h, 1);
}

void qe_hand_forget_client(struct qe_hand *h)
{
	forget(h, 0);
	h->client_hello = h->client_key = h->identity_long = false;
	h->identity_n = 0;
}

/* --- what is agreed on ------------------------------------------------------------- */

static void learn_hello(struct qe_hand *h, unsigned int side, const struct qe_fragment *f,
			const struct qe_fields *fields)
{
	bool *seen = side ? &h->server_hello : &h->client_hello;

	/* The first hello, without the cookie, may come late. */
	if (*seen && f->number < h->hello_at[side])
		return;
	*seen = true;
	h->hello_at[side] = (uint8_t)f->number;
	memcpy(side ? h->randoms.server : h->randoms.client, fields->random.bytes,
	       QE_RANDOM);
	h->extended_master[side] = fields->extended_master;
	h->encrypt_then_mac[side] = fields->encrypt_then_mac;
	h->session_id[side].n = (uint8_t)fields->session_id.n;
	if (fields->session_id.n)
		memcpy(h->session_id[side].bytes, fields->session_id.bytes,
		       fields->session_id.n);
	if (side)
		h->suite = qe_suite_find(fields->suite);
	else
		h->offers_ticket =
			fields->ticket.n && qe_digest(fields->ticket, h->ticket);
}

void qe_hand_learn(struct qe_hand *h, unsigned int side, const struct qe_fragment *f,
		   const struct qe_fields *fields)
{
	switch (f->type) {
	case QE_CLIENT_HELLO:
	case QE_SERVER_HELLO:
		learn_hello(h, side, f, fields);
		break;
	case QE_CLIENT_KEY:
		h->client_key = true;
		h->identity_long = fields->identity.n > KEYS_IDENTITY_MAX;
		if (h->identity_long || !fields->identity.n)
			break;
		h->identity_n = (uint8_t)fields->identity.n;
		memcpy(h->identity, fields->identity.bytes, fields->identity.n);
		break;
	case QE_SESSION_TICKET:
		h->has_new_ticket =
			fields->ticket.n && qe_digest(fields->ticket, h->new_ticket);
		break;
	default:
		break;
	}
}

bool qe_hand_resumed(const struct qe_hand *h)
{
	return h->client_hello && h->server_hello && h->session_id[0].n &&
	       h->session_id[0].n == h->session_id[1].n &&
	       !memcmp(h->session_id[0].bytes, h->session_id[1].bytes,
		       h->session_id[0].n);
}

/* --- hashes ------------------------------------------------------------------------ */

struct run {
	const struct qe_hand *h;
	EVP_MD_CTX *hash;
	unsigned int next[2]; /* the message of each side that is to come */
	bool missing;
};

static void add_one(struct run *run, unsigned int side)
{
	unsigned int number = run->next[side]++;
	const struct qe_piece *p = &run->h->pieces[side][number];
	uint8_t header[HEADER] = {
		[0] = p->type,
		[1] = (uint8_t)(p->length >> 16),
		[2] = (uint8_t)(p->length >> 8),
		[3] = (uint8_t)p->length,
		[5] = (uint8_t)number,
		[9] = (uint8_t)(p->length >> 16),
		[10] = (uint8_t)(p->length >> 8),
		[11] = (uint8_t)p->length,
	};

	EVP_DigestUpdate(run->hash, header, HEADER);
	EVP_DigestUpdate(run->hash, p->bytes, p->length);
}

/* The side's messages up to one of @type, with it if @with. */
static void add_until(struct run *run, unsigned int side, uint8_t type, bool with)
{
	while (!run->missing) {
		const struct qe_piece *p = &run->h->pieces[side][run->next[side]];

		if (run->next[side] >= QE_MESSAGES || !p->whole) {
			run->missing = true;
		} else if (p->type == type) {
			if (with)
				add_one(run, side);
			return;
		} else {
			add_one(run, side);
		}
	}
}

static void add_full(struct run *run, enum qe_upto upto)
{
	add_until(run, 1, QE_HELLO_DONE, true);
	if (upto == QE_UPTO_KEY) {
		add_until(run, 0, QE_CLIENT_KEY, true);
		return;
	}
	add_until(run, 0, QE_FINISHED, upto == QE_UPTO_SERVER);
	if (upto == QE_UPTO_SERVER)
		add_until(run, 1, QE_FINISHED, false);
}

size_t qe_hand_hash(const struct qe_hand *h, enum qe_upto upto, uint8_t ret[QE_HASH_MAX])
{
	struct run run = { .h = h, .next = { h->hello_at[0], h->hello_at[1] } };
	unsigned int n = 0;

	if (!h->client_hello || !h->server_hello || !h->suite)
		return 0;
	run.hash = EVP_MD_CTX_new();
	if (!run.hash ||
	    !EVP_DigestInit_ex2(run.hash, h->suite->sha384 ? EVP_sha384() : EVP_sha256(),
				NULL)) {
		EVP_MD_CTX_free(run.hash);
		return 0;
	}
	add_until(&run, 0, QE_CLIENT_HELLO, true);
	if (qe_hand_resumed(h))
		add_until(&run, 1, QE_FINISHED, upto == QE_UPTO_CLIENT);
	else
		add_full(&run, upto);
	if (run.missing || !EVP_DigestFinal_ex(run.hash, ret, &n))
		n = 0;
	EVP_MD_CTX_free(run.hash);
	return n;
}
