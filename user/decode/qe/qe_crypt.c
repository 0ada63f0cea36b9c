// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qe_crypt.c - see qe_crypt.h: what is derived, and from what.
 *
 *	premaster	be16 n, n zeros, be16 n, key
 *	master		PRF(premaster, "master secret", both randoms)
 *			or ("extended master secret", hash of the handshake)
 *	key block	PRF(master, "key expansion", server's random, client's random):
 *			MAC keys, cipher keys, IVs, of the client and then of the
 *			server
 *
 * Source: RFC 5246 5, 6.3, 8.1; RFC 4279 2; RFC 7627 4.
 */
#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <string.h>

#include "decode/qe/qe_crypt.h"

#define SEED_MAX  128
#define BLOCK_MAX (2 * (48 + 32 + 12))

static const char *hash_name(const struct qe_suite *suite)
{
	return suite->sha384 ? "SHA384" : "SHA256";
}

/* Label and seed are one octet string in it. */
struct seed {
	uint8_t bytes[SEED_MAX];
	size_t n;
};

static void seed_add(struct seed *s, const void *bytes, size_t n)
{
	if (n > SEED_MAX - s->n)
		n = SEED_MAX - s->n;
	memcpy(s->bytes + s->n, bytes, n);
	s->n += n;
}

static bool prf(const struct qe_suite *suite, struct span secret, const struct seed *seed,
		uint8_t *ret, size_t n)
{
	EVP_KDF *kdf = EVP_KDF_fetch(NULL, OSSL_KDF_NAME_TLS1_PRF, NULL);
	EVP_KDF_CTX *ctx = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST,
						 (char *)hash_name(suite), 0),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SECRET,
						  (void *)secret.bytes, secret.n),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED,
						  (void *)seed->bytes, seed->n),
		OSSL_PARAM_construct_end(),
	};
	bool good = ctx && EVP_KDF_derive(ctx, ret, n, params) == 1;

	EVP_KDF_CTX_free(ctx);
	EVP_KDF_free(kdf);
	return good;
}

bool qe_master(const struct qe_suite *suite, struct span psk,
	       const struct qe_randoms *randoms, struct span hash,
	       uint8_t ret[KEYS_MASTER])
{
	uint8_t premaster[2 * (2 + KEYS_PSK_MAX)] = { 0 };
	struct seed seed = { .n = 0 };
	bool good;

	if (psk.n > KEYS_PSK_MAX)
		return false;
	premaster[1] = premaster[3 + psk.n] = (uint8_t)psk.n;
	memcpy(premaster + 4 + psk.n, psk.bytes, psk.n);
	if (hash.n) {
		seed_add(&seed, "extended master secret", 22);
		seed_add(&seed, hash.bytes, hash.n);
	} else {
		seed_add(&seed, "master secret", 13);
		seed_add(&seed, randoms->client, QE_RANDOM);
		seed_add(&seed, randoms->server, QE_RANDOM);
	}
	good = prf(suite, (struct span){ premaster, 4 + 2 * psk.n }, &seed, ret,
		   KEYS_MASTER);
	explicit_bzero(premaster, sizeof(premaster));
	return good;
}

bool qe_verify(const struct qe_suite *suite, const uint8_t master[KEYS_MASTER],
	       bool server, struct span hash, uint8_t ret[QE_VERIFY])
{
	struct seed seed = { .n = 0 };

	seed_add(&seed, server ? "server finished" : "client finished", 15);
	seed_add(&seed, hash.bytes, hash.n);
	return prf(suite, (struct span){ master, KEYS_MASTER }, &seed, ret, QE_VERIFY);
}

static size_t iv_bytes(const struct qe_suite *suite)
{
	switch (suite->mode) {
	case QE_GCM:
	case QE_CCM:
	case QE_CCM8:
		return 4;
	case QE_CHACHA:
		return 12;
	default:
		return 0;
	}
}

static bool cipher_begin(struct qe_opener *o, const uint8_t *key)
{
	const struct qe_suite *suite = o->suite;
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, suite->cipher, NULL);
	bool ccm = suite->mode == QE_CCM || suite->mode == QE_CCM8;
	bool good;

	o->cipher = EVP_CIPHER_CTX_new();
	good = cipher && o->cipher &&
	       EVP_DecryptInit_ex2(o->cipher, cipher, NULL, NULL, NULL) == 1;
	if (good && suite->mode == QE_CBC)
		EVP_CIPHER_CTX_set_padding(o->cipher, 0);
	else if (good)
		good = EVP_CIPHER_CTX_ctrl(o->cipher, EVP_CTRL_AEAD_SET_IVLEN, 12,
					   NULL) == 1;
	if (good && ccm)
		good = EVP_CIPHER_CTX_ctrl(o->cipher, EVP_CTRL_AEAD_SET_TAG,
					   suite->mode == QE_CCM ? 16 : 8, NULL) == 1;
	if (good)
		good = EVP_DecryptInit_ex2(o->cipher, NULL, key, NULL, NULL) == 1;
	EVP_CIPHER_free(cipher);
	return good;
}

static bool mac_begin(struct qe_opener *o, const uint8_t *key)
{
	size_t n = o->suite->mac_n;
	const char *hash = n == 20 ? "SHA1" : n == 32 ? "SHA256" : "SHA384";
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)hash, 0),
		OSSL_PARAM_construct_end(),
	};

	o->mac = mac ? EVP_MAC_CTX_new(mac) : NULL;
	EVP_MAC_free(mac);
	return o->mac && EVP_MAC_init(o->mac, key, n, params) == 1;
}

static bool opener_begin(struct qe_opener *o, const struct qe_suite *suite, bool etm,
			 const uint8_t *mac, const uint8_t *key, const uint8_t *iv)
{
	o->suite = suite;
	o->etm = etm && suite->mode == QE_CBC;
	memcpy(o->iv, iv, iv_bytes(suite));
	return (!suite->cipher || cipher_begin(o, key)) &&
	       (!suite->mac_n || mac_begin(o, mac));
}

bool qe_openers(const struct qe_suite *suite, bool etm, const uint8_t master[KEYS_MASTER],
		const struct qe_randoms *randoms, struct qe_opener ret[2])
{
	size_t iv = iv_bytes(suite), mac_n = suite->mac_n, key_n = suite->key_n;
	uint8_t block[BLOCK_MAX];
	const uint8_t *keys = block + 2 * mac_n, *ivs = keys + 2 * key_n;
	struct seed seed = { .n = 0 };
	bool good;

	seed_add(&seed, "key expansion", 13);
	seed_add(&seed, randoms->server, QE_RANDOM);
	seed_add(&seed, randoms->client, QE_RANDOM);
	good = prf(suite, (struct span){ master, KEYS_MASTER }, &seed, block,
		   2 * (mac_n + key_n + iv));
	for (size_t i = 0; i < 2 && good; i++)
		good = opener_begin(&ret[i], suite, etm, block + i * mac_n,
				    keys + i * key_n, ivs + i * iv);
	explicit_bzero(block, sizeof(block));
	if (good)
		return true;
	qe_opener_drop(&ret[0]);
	qe_opener_drop(&ret[1]);
	return false;
}

void qe_opener_drop(struct qe_opener *o)
{
	EVP_CIPHER_CTX_free(o->cipher);
	EVP_MAC_CTX_free(o->mac);
	explicit_bzero(o, sizeof(*o));
}

bool qe_digest(struct span bytes, uint8_t ret[KEYS_ID])
{
	return EVP_Digest(bytes.bytes, bytes.n, ret, NULL, EVP_sha256(), NULL) == 1;
}
