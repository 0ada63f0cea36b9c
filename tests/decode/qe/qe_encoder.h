/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qe_encoder.h - both ends of DTLS 1.2 with a pre-shared key: handshake messages with
 * their numbers and hashes, records closed by any suite. Written from the RFCs, beside
 * the decoder and not out of it; the primitives are libcrypto's.
 *
 * Sides are 0, the client, and 1, the server. What does not fit aborts.
 *
 * Source: RFC 5246, 6347; RFC 4279 (PSK), 5077 (tickets), 5288 (GCM), 6655 (CCM),
 * 7366 (encrypt-then-MAC), 7627 (extended master secret), 7905 (ChaCha20).
 */
#ifndef QE_ENCODER_H
#define QE_ENCODER_H

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ENC_ROOM 20000 /* bytes of a message or record at most */

enum enc_mode {
	ENC_NULL,
	ENC_CBC,
	ENC_GCM,
	ENC_CCM,
	ENC_CCM8,
	ENC_CHACHA
};

struct enc_suite {
	uint16_t code;
	enum enc_mode mode;
	const char *cipher;
	uint8_t key_n, mac_n;
	const char *mac; /* the hash of its HMAC */
	bool sha384; /* of what is derived */
};

/* Each way that a plain PSK suite closes records, and each hash. */
static const struct enc_suite enc_suites[] = {
	{ 0x002c, ENC_NULL, NULL, 0, 20, "SHA1", false },
	{ 0x00b0, ENC_NULL, NULL, 0, 32, "SHA256", false },
	{ 0x00b1, ENC_NULL, NULL, 0, 48, "SHA384", true },
	{ 0x008c, ENC_CBC, "AES-128-CBC", 16, 20, "SHA1", false },
	{ 0x008d, ENC_CBC, "AES-256-CBC", 32, 20, "SHA1", false },
	{ 0x00ae, ENC_CBC, "AES-128-CBC", 16, 32, "SHA256", false },
	{ 0x00af, ENC_CBC, "AES-256-CBC", 32, 48, "SHA384", true },
	{ 0xc094, ENC_CBC, "CAMELLIA-128-CBC", 16, 32, "SHA256", false },
	{ 0xc095, ENC_CBC, "CAMELLIA-256-CBC", 32, 48, "SHA384", true },
	{ 0x00a8, ENC_GCM, "AES-128-GCM", 16, 0, NULL, false },
	{ 0x00a9, ENC_GCM, "AES-256-GCM", 32, 0, NULL, true },
	{ 0xc06a, ENC_GCM, "ARIA-128-GCM", 16, 0, NULL, false },
	{ 0xc06b, ENC_GCM, "ARIA-256-GCM", 32, 0, NULL, true },
	{ 0xc0a4, ENC_CCM, "AES-128-CCM", 16, 0, NULL, false },
	{ 0xc0a5, ENC_CCM, "AES-256-CCM", 32, 0, NULL, false },
	{ 0xc0a8, ENC_CCM8, "AES-128-CCM", 16, 0, NULL, false },
	{ 0xc0a9, ENC_CCM8, "AES-256-CCM", 32, 0, NULL, false },
	{ 0xccab, ENC_CHACHA, "ChaCha20-Poly1305", 32, 0, NULL, false },
};

#define ENC_SUITES (sizeof(enc_suites) / sizeof(*enc_suites))

/* Zero, but for .suite and what is to be agreed on, is where it begins. */
struct enc {
	const struct enc_suite *suite;
	bool etm, ems; /* encrypt-then-MAC, extended master secret */
	uint8_t random[2][32];
	uint8_t master[48];
	uint8_t key[2][32], mac[2][48], iv[2][12];
	uint64_t sequence[2][2]; /* of the side's next record, by epoch */
	uint16_t number[2]; /* of its next handshake message */
	uint8_t said[ENC_ROOM]; /* the handshake so far, as it is hashed */
	size_t said_n;
};

static inline void enc_must(bool good)
{
	if (!good)
		abort();
}

static inline size_t enc_put(uint8_t *to, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		to[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
	return (size_t)bytes;
}

static inline size_t enc_add(uint8_t *to, const void *bytes, size_t n)
{
	if (n)
		memcpy(to, bytes, n);
	return n;
}

/* --- what is derived --------------------------------------------------------------- */

static inline const char *enc_hash(const struct enc *e)
{
	return e->suite->sha384 ? "SHA384" : "SHA256";
}

static inline void enc_prf(const struct enc *e, const uint8_t *secret, size_t secret_n,
			   const char *label, const uint8_t *seed, size_t seed_n,
			   uint8_t *ret, size_t n)
{
	EVP_KDF *kdf = EVP_KDF_fetch(NULL, "TLS1-PRF", NULL);
	EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST,
						 (char *)enc_hash(e), 0),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SECRET, (void *)secret,
						  secret_n),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED, (void *)label,
						  strlen(label)),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED, (void *)seed,
						  seed_n),
		OSSL_PARAM_construct_end(),
	};

	enc_must(context && EVP_KDF_derive(context, ret, n, params) == 1);
	EVP_KDF_CTX_free(context);
	EVP_KDF_free(kdf);
}

static inline size_t enc_said(const struct enc *e, uint8_t ret[48])
{
	size_t n = 0;

	enc_must(EVP_Q_digest(NULL, enc_hash(e), NULL, e->said, e->said_n, ret, &n));
	return n;
}

/* Once the client's key exchange was said. */
static inline void enc_master(struct enc *e, const uint8_t *psk, size_t n)
{
	uint8_t premaster[300] = { 0 }, seed[64];
	size_t at = enc_put(premaster, n, 2) + n;

	at += enc_put(premaster + at, n, 2);
	at += enc_add(premaster + at, psk, n);
	if (e->ems) {
		enc_prf(e, premaster, at, "extended master secret", seed,
			enc_said(e, seed), e->master, 48);
		return;
	}
	memcpy(seed, e->random[0], 32);
	memcpy(seed + 32, e->random[1], 32);
	enc_prf(e, premaster, at, "master secret", seed, 64, e->master, 48);
}

/* From the master secret. */
static inline void enc_keys(struct enc *e)
{
	static const uint8_t iv_n[] = {
		[ENC_GCM] = 4, [ENC_CCM] = 4, [ENC_CCM8] = 4, [ENC_CHACHA] = 12
	};
	uint8_t seed[64], block[256];
	const uint8_t *at = block;

	memcpy(seed, e->random[1], 32);
	memcpy(seed + 32, e->random[0], 32);
	enc_prf(e, e->master, 48, "key expansion", seed, 64, block, sizeof(block));
	for (int side = 0; side < 2; side++, at += e->suite->mac_n)
		memcpy(e->mac[side], at, e->suite->mac_n);
	for (int side = 0; side < 2; side++, at += e->suite->key_n)
		memcpy(e->key[side], at, e->suite->key_n);
	for (int side = 0; side < 2; side++, at += iv_n[e->suite->mode])
		memcpy(e->iv[side], at, iv_n[e->suite->mode]);
}

/* --- records ----------------------------------------------------------------------- */

/* What is authenticated beside the text; returns 13. */
static inline size_t enc_about(uint8_t *to, uint16_t epoch, uint64_t sequence,
			       uint8_t type, size_t n)
{
	enc_put(to, epoch, 2);
	enc_put(to + 2, sequence, 6);
	to[8] = type;
	enc_put(to + 9, 0xfefd, 2);
	enc_put(to + 11, n, 2);
	return 13;
}

static inline size_t enc_hmac(const struct enc *e, int side, const uint8_t *about,
			      const uint8_t *bytes, size_t n, uint8_t *ret)
{
	uint8_t *all = malloc(13 + n + 1);
	size_t mac_n = 0;

	enc_must(all != NULL);
	memcpy(all, about, 13);
	enc_add(all + 13, bytes, n);
	enc_must(EVP_Q_mac(NULL, "HMAC", NULL, e->suite->mac, NULL, e->mac[side],
			   e->suite->mac_n, all, 13 + n, ret, 64, &mac_n) != NULL);
	free(all);
	return mac_n;
}

static inline size_t enc_close_tag(const struct enc *e, int side, uint64_t sequence,
				   const uint8_t *about, const uint8_t *text, size_t n,
				   uint8_t *to)
{
	bool chacha = e->suite->mode == ENC_CHACHA;
	bool ccm = e->suite->mode == ENC_CCM || e->suite->mode == ENC_CCM8;
	int tag_n = e->suite->mode == ENC_CCM8 ? 8 : 16, got = 0;
	uint8_t nonce[12];
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, e->suite->cipher, NULL);
	size_t at = 0;

	memcpy(nonce, e->iv[side], 12);
	if (chacha) {
		for (int i = 0; i < 8; i++)
			nonce[4 + i] ^= about[i];
	} else {
		enc_put(nonce + 4, 0xabcd000000000000 ^ sequence, 8);
		at = enc_add(to, nonce + 4, 8);
	}
	enc_must(c && cipher && EVP_EncryptInit_ex2(c, cipher, NULL, NULL, NULL) &&
		 EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_IVLEN, 12, NULL) &&
		 (!ccm || EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, tag_n, NULL)) &&
		 EVP_EncryptInit_ex2(c, NULL, e->key[side], nonce, NULL) &&
		 (!ccm || EVP_EncryptUpdate(c, NULL, &got, NULL, (int)n)) &&
		 EVP_EncryptUpdate(c, NULL, &got, about, 13) &&
		 EVP_EncryptUpdate(c, to + at, &got, text, (int)n));
	at += n;
	enc_must(EVP_EncryptFinal_ex(c, to + at, &got) &&
		 EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, tag_n, to + at));
	EVP_CIPHER_CTX_free(c);
	EVP_CIPHER_free(cipher);
	return at + (size_t)tag_n;
}

static inline size_t enc_close_cbc(const struct enc *e, int side, uint64_t sequence,
				   uint8_t *about, const uint8_t *text, size_t n,
				   uint8_t *to)
{
	uint8_t *plain = malloc(n + 64 + 16);
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, e->suite->cipher, NULL);
	size_t at, used = enc_add(plain, text, n);
	uint8_t padding;
	int got = 0;

	if (!e->etm)
		used += enc_hmac(e, side, about, text, n, plain + used);
	padding = (uint8_t)(15 - used % 16);
	memset(plain + used, padding, padding + 1U);
	used += padding + 1U;
	memset(to, 0x5a, 16);
	enc_put(to + 8, sequence, 8);
	enc_must(c && cipher && EVP_EncryptInit_ex2(c, cipher, e->key[side], to, NULL) &&
		 EVP_CIPHER_CTX_set_padding(c, 0) &&
		 EVP_EncryptUpdate(c, to + 16, &got, plain, (int)used));
	at = 16 + used;
	if (e->etm) {
		enc_put(about + 11, at, 2);
		at += enc_hmac(e, side, about, to, at, to + at);
	}
	EVP_CIPHER_CTX_free(c);
	EVP_CIPHER_free(cipher);
	free(plain);
	return at;
}

/* A record of this epoch (0: clear) and sequence; returns its bytes. */
static inline size_t enc_record_at(struct enc *e, int side, uint16_t epoch,
				   uint64_t sequence, uint8_t type, const void *text,
				   size_t n, uint8_t *to)
{
	uint8_t about[13];
	size_t body = n;

	enc_must(n <= 1 << 14);
	enc_about(about, epoch, sequence, type, n);
	if (!epoch) {
		enc_add(to + 13, text, n);
	} else if (e->suite->mode == ENC_NULL) {
		enc_add(to + 13, text, n);
		body += enc_hmac(e, side, about, text, n, to + 13 + n);
	} else if (e->suite->mode == ENC_CBC) {
		body = enc_close_cbc(e, side, sequence, about, text, n, to + 13);
	} else {
		body = enc_close_tag(e, side, sequence, about, text, n, to + 13);
	}
	to[0] = type;
	enc_put(to + 1, 0xfefd, 2);
	enc_put(to + 3, epoch, 2);
	enc_put(to + 5, sequence, 6);
	enc_put(to + 11, body, 2);
	return 13 + body;
}

static inline size_t enc_record(struct enc *e, int side, uint16_t epoch, uint8_t type,
				const void *text, size_t n, uint8_t *to)
{
	return enc_record_at(e, side, epoch, e->sequence[side][epoch]++, type, text, n,
			     to);
}

/* --- handshake --------------------------------------------------------------------- */

/* Bytes @from and on of a message, as a fragment of it. */
static inline size_t enc_fragment(uint8_t type, uint16_t number, const uint8_t *body,
				  size_t length, size_t from, size_t n, uint8_t *to)
{
	to[0] = type;
	enc_put(to + 1, length, 3);
	enc_put(to + 4, number, 2);
	enc_put(to + 6, from, 3);
	enc_put(to + 9, n, 3);
	return 12 + enc_add(to + 12, n ? body + from : NULL, n);
}

/* The side's next message, in one fragment; it counts in the hashes. */
static inline size_t enc_message(struct enc *e, int side, uint8_t type, const void *body,
				 size_t n, uint8_t *to)
{
	size_t bytes = enc_fragment(type, e->number[side]++, body, n, 0, n, to);

	enc_must(e->said_n + bytes <= sizeof(e->said));
	e->said_n += enc_add(e->said + e->said_n, to, bytes);
	return bytes;
}

/* What a hello says; absent where n is 0. */
struct enc_hello {
	const uint8_t *session_id;
	size_t session_id_n;
	bool ticket; /* the extension is there */
	const uint8_t *offer; /* its ticket */
	size_t offer_n;
	const uint8_t *cookie;
	size_t cookie_n;
};

static inline size_t enc_extensions(const struct enc *e, const struct enc_hello *hello,
				    uint8_t *to)
{
	size_t at = 2;

	if (hello->ticket) {
		at += enc_put(to + at, 35, 2);
		at += enc_put(to + at, hello->offer_n, 2);
		at += enc_add(to + at, hello->offer, hello->offer_n);
	}
	if (e->etm)
		at += enc_put(to + at, 22 << 16, 4);
	if (e->ems)
		at += enc_put(to + at, 23 << 16, 4);
	enc_put(to, at - 2, 2);
	return at > 2 ? at : 0;
}

/* The body of a hello. */
static inline size_t enc_hello(const struct enc *e, int side,
			       const struct enc_hello *hello, uint8_t *to)
{
	size_t at = enc_put(to, 0xfefd, 2);

	at += enc_add(to + at, e->random[side], 32);
	at += enc_put(to + at, hello->session_id_n, 1);
	at += enc_add(to + at, hello->session_id, hello->session_id_n);
	if (!side) {
		at += enc_put(to + at, hello->cookie_n, 1);
		at += enc_add(to + at, hello->cookie, hello->cookie_n);
		at += enc_put(to + at, 2, 2);
	}
	at += enc_put(to + at, e->suite->code, 2);
	at += enc_put(to + at, side ? 0 : 0x0100, side ? 1 : 2);
	return at + enc_extensions(e, hello, to + at);
}

/* The body of the side's Finished: 12 bytes. */
static inline size_t enc_finished(const struct enc *e, int side, uint8_t *to)
{
	uint8_t hash[48];
	size_t n = enc_said(e, hash);

	enc_prf(e, e->master, 48, side ? "server finished" : "client finished", hash, n,
		to, 12);
	return 12;
}

#endif /* QE_ENCODER_H */
