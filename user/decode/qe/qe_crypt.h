/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qe_crypt.h - the derivations and the records of DTLS 1.2. libcrypto does all
 * cryptography: there is no primitive of our own. Called by qe_session.c and qe_open.c.
 * Keys are in memory of the session, which the decoder wipes.
 */
#ifndef QE_CRYPT_H
#define QE_CRYPT_H

#include <openssl/evp.h>

#include "decode/keys.h"
#include "decode/qe/qe_suite.h"
#include "lib/reader.h"

#define QE_RANDOM   32 /* bytes of a hello's random */
#define QE_HASH_MAX 48 /* bytes of a hash of the handshake */
#define QE_VERIFY   12 /* bytes of a Finished */

/* The two of a handshake. */
struct qe_randoms {
	uint8_t client[QE_RANDOM];
	uint8_t server[QE_RANDOM];
};

/*
 * Derive the master secret of a plain PSK suite. @hash: of the handshake up to the
 * client's key exchange, where the extended master secret is in force; empty: it is not.
 * False: no memory.
 */
bool qe_master(const struct qe_suite *suite, struct span psk,
	       const struct qe_randoms *randoms, struct span hash,
	       uint8_t ret[KEYS_MASTER]);

/*
 * Compute what the client's Finished (@server: the server's) must hold. False: no memory.
 */
bool qe_verify(const struct qe_suite *suite, const uint8_t master[KEYS_MASTER],
	       bool server, struct span hash, uint8_t ret[QE_VERIFY]);

/* The header of a record, as what protects it counts it in. */
struct qe_record {
	uint8_t type;
	uint16_t version;
	uint16_t epoch;
	uint64_t sequence; /* 48 bits */
	struct span fragment;
};

/* Read a record with its header. False: it is cut short. */
bool qe_record_read(struct reader *rd, struct qe_record *ret);

/* The keys of the records of one direction; zero: there are none. */
struct qe_opener {
	const struct qe_suite *suite;
	bool etm; /* CBC: the MAC is over what is encrypted */
	EVP_CIPHER_CTX *cipher;
	EVP_MAC_CTX *mac;
	uint8_t iv[12];
};

#define QE_OPENER_BYTES 4096 /* about, of one with what libcrypto allocates */

/* Derive the keys of both directions: [0] opens what clients close. False: no memory. */
bool qe_openers(const struct qe_suite *suite, bool etm, const uint8_t master[KEYS_MASTER],
		const struct qe_randoms *randoms, struct qe_opener ret[2]);
/* Free the ciphers and wipe @o. */
void qe_opener_drop(struct qe_opener *o);

/*
 * Opens @r into @to, which has room for the fragment. Returns the bytes that come out,
 * or -1: it does not authenticate. Nothing is allocated.
 */
long qe_open(struct qe_opener *o, const struct qe_record *r, uint8_t *to);

/* Write SHA-256 of @bytes to @ret. False: the library has failed. */
bool qe_digest(struct span bytes, uint8_t ret[KEYS_ID]);

#endif /* QE_CRYPT_H */
