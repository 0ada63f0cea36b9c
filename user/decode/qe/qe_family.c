// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qe_family.c - the DTLS records around Quake Enhanced.
 *
 *	+----+-------+-------+--------------+--------+---- ... --+
 *	| ty | fe fd | epoch | u48 sequence | length | fragment  |  one or more
 *	+----+-------+-------+--------------+--------+---- ... --+
 *
 * Source: RFC 6347. What is inside is NetQuake, encrypted.
 */
#include "decode/family.h"

enum {
	DTLS_CHANGE_CIPHER_SPEC = 0x14,
	DTLS_ALERT = 0x15,
	DTLS_HANDSHAKE = 0x16,
	DTLS_DATA = 0x17,
	DTLS_HEARTBEAT = 0x18,
};

static const char *handshake_kind(uint8_t type)
{
	switch (type) {
	case 1:
		return "dtls-client-hello";
	case 2:
		return "dtls-server-hello";
	case 3:
		return "dtls-hello-verify-request";
	case 4:
		return "dtls-new-session-ticket";
	case 11:
		return "dtls-certificate";
	case 12:
		return "dtls-server-key-exchange";
	case 14:
		return "dtls-server-hello-done";
	case 15:
		return "dtls-certificate-verify";
	case 16:
		return "dtls-client-key-exchange";
	default:
		return "dtls-other";
	}
}

static const char *record_kind(uint8_t type, uint16_t epoch, struct span fragment)
{
	switch (type) {
	case DTLS_CHANGE_CIPHER_SPEC:
		return "dtls-change-cipher-spec";
	case DTLS_ALERT:
		return "dtls-alert";
	case DTLS_HANDSHAKE:
		if (epoch)
			return "dtls-encrypted-handshake";
		return fragment.n ? handshake_kind(*fragment.bytes) : "dtls-other";
	case DTLS_DATA:
		return "dtls-data";
	case DTLS_HEARTBEAT:
		return "dtls-heartbeat";
	default:
		return "dtls-other";
	}
}

static void quake_enhanced_datagram(void *state, enum direction direction,
				    struct span payload, struct record *r)
{
	struct reader rd = reader_of(payload.bytes, payload.n);

	(void)state;
	(void)direction;
	r->kind = "dtls-other";
	record_open_array(r, "records");
	for (bool first = true; !reader_failed(&rd) && reader_left(&rd); first = false) {
		uint8_t type = reader_u8(&rd);
		uint16_t version = reader_be16(&rd), epoch = reader_be16(&rd);
		uint64_t sequence = (uint64_t)reader_be16(&rd) << 32;
		struct span fragment;
		const char *kind;

		sequence |= reader_be32(&rd);
		fragment.n = reader_be16(&rd);
		fragment.bytes = reader_take(&rd, fragment.n);
		if (!fragment.bytes)
			break;
		kind = record_kind(type, epoch, fragment);
		if (first)
			r->kind = kind;
		record_open_object(r, NULL);
		record_string(r, "kind", kind, strlen(kind));
		record_uint(r, "version", version);
		record_uint(r, "epoch", epoch);
		record_uint(r, "sequence", sequence);
		record_uint(r, "length", fragment.n);
		record_close(r);
	}
	record_close(r);
	if (reader_failed(&rd))
		record_malformed(r, "record cut short");
	record_opaque(r, "no decoder for what DTLS carries yet");
}

const struct family quake_enhanced_family = {
	.id = FAMILY_QUAKE_ENHANCED,
	.datagram = quake_enhanced_datagram,
};
