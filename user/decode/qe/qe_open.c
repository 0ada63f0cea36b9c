// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qe_open.c - one record: what it authenticates, and what is inside.
 *
 *	GCM, CCM	8 bytes of nonce, ciphertext, tag
 *	ChaCha20	ciphertext, tag
 *	CBC		16 bytes of IV, ciphertext of { text, MAC, padding }
 *			or, encrypt-then-MAC, ciphertext of { text, padding }, MAC
 *	none		text, MAC
 *
 * Authenticated too: epoch, sequence, type, version, length of the text (where it is
 * encrypt-then-MAC: of IV and ciphertext).
 *
 * Source: RFC 5246 6.2.3; RFC 6347 4.1.2; RFC 5288, 6655, 7366, 7905.
 */
#include <string.h>

#include "decode/qe/qe_crypt.h"

#define NONCE 12
#define BLOCK 16
#define ABOUT 13 /* bytes of what is authenticated beside the text */

static void about(const struct qe_record *r, size_t n, uint8_t ret[ABOUT])
{
	ret[0] = (uint8_t)(r->epoch >> 8);
	ret[1] = (uint8_t)r->epoch;
	for (int i = 0; i < 6; i++)
		ret[2 + i] = (uint8_t)(r->sequence >> (40 - 8 * i));
	ret[8] = r->type;
	ret[9] = (uint8_t)(r->version >> 8);
	ret[10] = (uint8_t)r->version;
	ret[11] = (uint8_t)(n >> 8);
	ret[12] = (uint8_t)n;
}

bool qe_record_read(struct reader *rd, struct qe_record *ret)
{
	ret->type = reader_u8(rd);
	ret->version = reader_be16(rd);
	ret->epoch = reader_be16(rd);
	ret->sequence = (uint64_t)reader_be16(rd) << 32;
	ret->sequence |= reader_be32(rd);
	ret->fragment.n = reader_be16(rd);
	ret->fragment.bytes = reader_take(rd, ret->fragment.n);
	return !reader_failed(rd);
}

/* --- ciphers with a tag ------------------------------------------------------------ */

/* Reads off what is explicit in the record. */
static void nonce_make(const struct qe_opener *o, const uint8_t header[ABOUT],
		       struct span *body, uint8_t ret[NONCE])
{
	memcpy(ret, o->iv, NONCE);
	if (o->suite->mode == QE_CHACHA) {
		for (int i = 0; i < 8; i++)
			ret[4 + i] ^= header[i];
		return;
	}
	memcpy(ret + 4, body->bytes, 8);
	body->bytes += 8;
	body->n -= 8;
}

static long open_tagged(struct qe_opener *o, const struct qe_record *r, uint8_t *to)
{
	bool ccm = o->suite->mode == QE_CCM || o->suite->mode == QE_CCM8;
	size_t explicit_n = o->suite->mode == QE_CHACHA ? 0 : 8;
	size_t tag_n = o->suite->mode == QE_CCM8 ? 8 : 16;
	struct span body = r->fragment;
	uint8_t header[ABOUT], nonce[NONCE], tag[16];
	int n, got = 0;

	if (body.n < explicit_n + tag_n)
		return -1;
	about(r, body.n - explicit_n - tag_n, header);
	nonce_make(o, header, &body, nonce);
	body.n -= tag_n;
	memcpy(tag, body.bytes + body.n, tag_n);
	n = (int)body.n;
	if (EVP_CIPHER_CTX_ctrl(o->cipher, EVP_CTRL_AEAD_SET_TAG, (int)tag_n, tag) != 1 ||
	    EVP_DecryptInit_ex2(o->cipher, NULL, NULL, nonce, NULL) != 1 ||
	    (ccm && EVP_DecryptUpdate(o->cipher, NULL, &got, NULL, n) != 1) ||
	    EVP_DecryptUpdate(o->cipher, NULL, &got, header, ABOUT) != 1 ||
	    EVP_DecryptUpdate(o->cipher, to, &got, body.bytes, n) != 1)
		return -1;
	if (!ccm && EVP_DecryptFinal_ex(o->cipher, to + n, &got) != 1)
		return -1;
	return n;
}

/* --- ciphers with a MAC ------------------------------------------------------------ */

static bool mac_fits(struct qe_opener *o, const struct qe_record *r, struct span text,
		     const uint8_t *mac)
{
	uint8_t header[ABOUT], want[QE_HASH_MAX];
	size_t n;

	about(r, text.n, header);
	return EVP_MAC_init(o->mac, NULL, 0, NULL) == 1 &&
	       EVP_MAC_update(o->mac, header, ABOUT) == 1 &&
	       EVP_MAC_update(o->mac, text.bytes, text.n) == 1 &&
	       EVP_MAC_final(o->mac, want, &n, sizeof(want)) == 1 &&
	       n == o->suite->mac_n && !memcmp(want, mac, n);
}

/* The text's bytes and padding; -1: the padding is none. */
static long unpad(const uint8_t *text, size_t n)
{
	size_t padding = n ? text[n - 1] + 1U : 0;

	if (!n || padding > n)
		return -1;
	for (size_t i = 1; i <= padding; i++)
		if (text[n - i] != padding - 1)
			return -1;
	return (long)(n - padding);
}

static long open_cbc(struct qe_opener *o, const struct qe_record *r, uint8_t *to)
{
	size_t mac_n = o->suite->mac_n;
	struct span body = r->fragment;
	int got = 0;
	long n;

	if (o->etm) {
		if (body.n < mac_n)
			return -1;
		body.n -= mac_n;
		if (!mac_fits(o, r, body, body.bytes + body.n))
			return -1;
	}
	if (body.n < 2 * BLOCK || body.n % BLOCK ||
	    EVP_DecryptInit_ex2(o->cipher, NULL, NULL, body.bytes, NULL) != 1 ||
	    EVP_DecryptUpdate(o->cipher, to, &got, body.bytes + BLOCK,
			      (int)body.n - BLOCK) != 1)
		return -1;
	n = unpad(to, (size_t)got);
	if (n < 0 || o->etm)
		return n;
	if ((size_t)n < mac_n)
		return -1;
	n -= (long)mac_n;
	return mac_fits(o, r, (struct span){ to, (size_t)n }, to + n) ? n : -1;
}

static long open_null(struct qe_opener *o, const struct qe_record *r, uint8_t *to)
{
	struct span text = r->fragment;

	if (text.n < o->suite->mac_n)
		return -1;
	text.n -= o->suite->mac_n;
	if (!mac_fits(o, r, text, text.bytes + text.n))
		return -1;
	if (text.n)
		memcpy(to, text.bytes, text.n);
	return (long)text.n;
}

long qe_open(struct qe_opener *o, const struct qe_record *r, uint8_t *to)
{
	switch (o->suite->mode) {
	case QE_NULL:
		return open_null(o, r, to);
	case QE_CBC:
		return open_cbc(o, r, to);
	default:
		return open_tagged(o, r, to);
	}
}
