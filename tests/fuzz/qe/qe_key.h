/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qe_key.h - the key of our own recordings of DTLS, for the records of seeds to open.
 */
#ifndef QE_KEY_H
#define QE_KEY_H

#include "decode/keys.h"

static inline struct keys_psk qe_key(void)
{
	static const uint8_t key[16] = { 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
					 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff };

	return (struct keys_psk){ "quake-enhanced-test", key, sizeof(key) };
}

#endif /* QE_KEY_H */
