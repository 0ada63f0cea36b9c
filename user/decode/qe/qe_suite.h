/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qe_suite.h - the cipher suites: how the master secret comes about, how records are
 * closed. Constants only; a suite that is not listed leaves its records opaque.
 */
#ifndef QE_SUITE_H
#define QE_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum qe_kx {
	QE_KX_PSK, /* the key alone opens all sessions */
	QE_KX_DHE_PSK, /* each session has a secret of its own */
	QE_KX_ECDHE_PSK, /* likewise */
	QE_KX_RSA_PSK, /* the server's private key */
	QE_KX_CERTIFICATE, /* no key agreed before: not Quake Enhanced's */
};

enum qe_mode {
	QE_NULL, /* a MAC, but no cipher */
	QE_CBC,
	QE_GCM,
	QE_CCM,
	QE_CCM8,
	QE_CHACHA,
};

struct qe_suite {
	uint16_t code;
	const char *name;
	uint8_t kx; /* enum qe_kx */
	uint8_t mode; /* enum qe_mode */
	const char *cipher; /* as libcrypto calls it; NULL: none */
	uint8_t key_n; /* bytes of the cipher's key */
	uint8_t mac_n; /* bytes of the MAC: SHA-1, 256 or 384; 0: the cipher has a tag */
	bool sha384; /* the hash of all that is derived; otherwise SHA-256 */
};

/* Return the suite of @code, or NULL: not known here. */
const struct qe_suite *qe_suite_find(uint16_t code);

#endif /* QE_SUITE_H */
