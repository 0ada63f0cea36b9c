// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * qe_body.c - see qe_body.h.
 *
 * Source: RFC 5246 7; RFC 6347 4.2; RFC 4279 2; RFC 5489 2; RFC 5077 3.3; RFC 6520
 * 4; RFC 7366, 7627.
 */
#include <stdio.h>

#include "decode/qe/qe_body.h"

#define SESSION_ID_MAX	       32
#define PADDING_MIN	       16 /* of a heartbeat */
#define NAMED_CURVE	       3
#define NAME_MAX_LIKELY	       128 /* bytes of a name: primes have as many, or more */
#define EXT_ENCRYPT_THEN_MAC   0x0016
#define EXT_EXTENDED_MASTER    0x0017
#define EXT_SESSION_TICKET     0x0023
#define SIGNALLING_RENEGOTIATE 0x00ff /* no suite, but stands among them */

static const struct {
	uint8_t type;
	const char *name;
} messages[] = {
	{ QE_HELLO_REQUEST, "hello_request" },
	{ QE_CLIENT_HELLO, "client_hello" },
	{ QE_SERVER_HELLO, "server_hello" },
	{ QE_HELLO_VERIFY, "hello_verify_request" },
	{ QE_SESSION_TICKET, "new_session_ticket" },
	{ QE_CERTIFICATE, "certificate" },
	{ QE_SERVER_KEY, "server_key_exchange" },
	{ QE_CERTIFICATE_REQUEST, "certificate_request" },
	{ QE_HELLO_DONE, "server_hello_done" },
	{ QE_CERTIFICATE_VERIFY, "certificate_verify" },
	{ QE_CLIENT_KEY, "client_key_exchange" },
	{ QE_FINISHED, "finished" },
	{ QE_CERTIFICATE_URL, "certificate_url" },
	{ QE_CERTIFICATE_STATUS, "certificate_status" },
	{ QE_SUPPLEMENTAL, "supplemental_data" },
};

const char *qe_message_name(uint8_t type)
{
	for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++)
		if (messages[i].type == type)
			return messages[i].name;
	return NULL;
}

static struct span take(struct reader *rd, size_t n)
{
	struct span s = { reader_take(rd, n), n };

	if (!s.bytes)
		s.n = 0;
	return s;
}

static struct span vector8(struct reader *rd)
{
	return take(rd, reader_u8(rd));
}

static struct span vector16(struct reader *rd)
{
	return take(rd, reader_be16(rd));
}

static struct span put_hex(struct record *r, const char *key, struct span s)
{
	if (s.bytes)
		record_hex(r, key, s.bytes, s.n);
	return s;
}

static struct span put_text(struct record *r, const char *key, struct span s)
{
	if (s.bytes)
		record_string(r, key, s.bytes, s.n);
	return s;
}

static void put_suite(struct record *r, const char *key, uint16_t code)
{
	const struct qe_suite *suite = qe_suite_find(code);
	char number[8];

	if (!RECORD_WANTED(r))
		return;
	if (suite) {
		record_string(r, key, suite->name, strlen(suite->name));
		return;
	}
	if (code == SIGNALLING_RENEGOTIATE) {
		record_string(r, key, "RENEGOTIATION-INFO", 18);
		return;
	}
	record_string(r, key, number,
		      (size_t)snprintf(number, sizeof(number), "0x%04x", code));
}

/* --- hellos ------------------------------------------------------------------------ */

/* Check an extension that has no data: it says something by being there. */
static void empty(struct span data, struct record *r)
{
	if (data.n)
		record_malformed(r, "data of an extension that has none");
}

static void extension(uint16_t type, struct span data, struct record *r,
		      struct qe_fields *ret)
{
	record_open_object(r, NULL);
	record_uint(r, "type", type);
	switch (type) {
	case EXT_EXTENDED_MASTER:
		ret->extended_master = true;
		record_bool(r, "extended_master_secret", true);
		empty(data, r);
		break;
	case EXT_ENCRYPT_THEN_MAC:
		ret->encrypt_then_mac = true;
		record_bool(r, "encrypt_then_mac", true);
		empty(data, r);
		break;
	case EXT_SESSION_TICKET:
		ret->ticket = put_hex(r, "session_ticket", data);
		break;
	default:
		put_hex(r, "data", data);
		break;
	}
	record_close(r);
}

/* There need be none. */
static void extensions(struct reader *rd, struct record *r, struct qe_fields *ret)
{
	struct reader inner;
	struct span all;

	if (reader_failed(rd) || !reader_left(rd))
		return;
	all = vector16(rd);
	if (!all.bytes)
		return;
	inner = reader_of(all.bytes, all.n);
	record_open_array(r, "extensions");
	while (!reader_failed(&inner) && reader_left(&inner)) {
		uint16_t type = reader_be16(&inner);
		struct span data = vector16(&inner);

		if (!reader_failed(&inner))
			extension(type, data, r, ret);
	}
	record_close(r);
	if (reader_failed(&inner))
		record_malformed(r, "extensions run over their end");
}

static void version(struct reader *rd, struct record *r)
{
	uint16_t v = reader_be16(rd);

	record_uint(r, "version", v);
	if (!reader_failed(rd) && v >> 8 != 0xfe)
		record_malformed(r, "no version of DTLS");
}

static void session_id(struct reader *rd, struct record *r, struct qe_fields *ret)
{
	ret->session_id = put_hex(r, "session_id", vector8(rd));
	if (ret->session_id.n > SESSION_ID_MAX)
		record_malformed(r, "session id longer than 32 bytes");
}

static void client_hello(struct reader *rd, struct record *r, struct qe_fields *ret)
{
	struct span suites, compression;

	version(rd, r);
	ret->random = put_hex(r, "random", take(rd, QE_RANDOM));
	session_id(rd, r, ret);
	ret->cookie = put_hex(r, "cookie", vector8(rd));
	suites = vector16(rd);
	if (suites.bytes && (!suites.n || suites.n % 2))
		record_malformed(r, "suites are none, or half ones");
	record_open_array(r, "suites");
	for (size_t i = 0; suites.bytes && i + 1 < suites.n; i += 2)
		put_suite(r, NULL,
			  (uint16_t)(suites.bytes[i] << 8 | suites.bytes[i + 1]));
	record_close(r);
	compression = put_hex(r, "compression", vector8(rd));
	if (!reader_failed(rd) && !compression.n)
		record_malformed(r, "no compression method, not even none");
	extensions(rd, r, ret);
}

static void server_hello(struct reader *rd, struct record *r, struct qe_fields *ret)
{
	version(rd, r);
	ret->random = put_hex(r, "random", take(rd, QE_RANDOM));
	session_id(rd, r, ret);
	ret->suite = reader_be16(rd);
	put_suite(r, "suite", ret->suite);
	record_uint(r, "compression", reader_u8(rd));
	extensions(rd, r, ret);
}

static void hello_verify(struct reader *rd, struct record *r, struct qe_fields *ret)
{
	version(rd, r);
	ret->cookie = put_hex(r, "cookie", vector8(rd));
}

/* --- keys -------------------------------------------------------------------------- */

static void rest(struct reader *rd, struct record *r, const char *why)
{
	struct span s = reader_rest(rd);

	if (!s.n)
		return;
	record_hex(r, "rest", s.bytes, s.n);
	record_partial(r, why);
}

/*
 * May a name stand here? Where the suite is not known it may as well be a key exchange
 * without one: a curve's number, or a prime, which is longer than names are.
 */
static bool holds_name(struct reader rd)
{
	struct span name = vector16(&rd);

	return !reader_failed(&rd) && name.n < NAME_MAX_LIKELY;
}

/* Without a name or with one, whatever key exchange this is. */
static struct span name_of_unknown(struct reader *rd, const char *key, struct record *r)
{
	struct span name = { NULL, 0 };

	if (holds_name(*rd))
		name = put_text(r, key, vector16(rd));
	rest(rd, r, "the cipher suite is not known");
	return name;
}

static void server_key(struct reader *rd, const struct qe_suite *suite, struct record *r,
		       struct qe_fields *ret)
{
	if (suite && suite->kx == QE_KX_CERTIFICATE) {
		rest(rd, r, "a key exchange with certificates is not read");
		return;
	}
	if (!suite) {
		ret->hint = name_of_unknown(rd, "hint", r);
		return;
	}
	ret->hint = put_text(r, "hint", vector16(rd));
	if (suite->kx == QE_KX_DHE_PSK) {
		put_hex(r, "p", vector16(rd));
		put_hex(r, "g", vector16(rd));
		put_hex(r, "public", vector16(rd));
	} else if (suite->kx == QE_KX_ECDHE_PSK) {
		if (reader_u8(rd) != NAMED_CURVE && !reader_failed(rd))
			record_malformed(r, "no named curve");
		record_uint(r, "curve", reader_be16(rd));
		put_hex(r, "public", vector8(rd));
	}
}

static void client_key(struct reader *rd, const struct qe_suite *suite, struct record *r,
		       struct qe_fields *ret)
{
	if (suite && suite->kx == QE_KX_CERTIFICATE) {
		rest(rd, r, "a key exchange with certificates is not read");
		return;
	}
	if (!suite) {
		ret->identity = name_of_unknown(rd, "identity", r);
		return;
	}
	ret->identity = put_text(r, "identity", vector16(rd));
	if (suite->kx == QE_KX_DHE_PSK)
		put_hex(r, "public", vector16(rd));
	else if (suite->kx == QE_KX_ECDHE_PSK)
		put_hex(r, "public", vector8(rd));
	else if (suite->kx == QE_KX_RSA_PSK)
		put_hex(r, "premaster", vector16(rd));
}

bool qe_body(uint8_t type, const struct qe_suite *suite, struct span body,
	     struct record *r, struct qe_fields *ret)
{
	struct reader rd = reader_of(body.bytes, body.n);

	*ret = (struct qe_fields){ .suite = 0 };
	switch (type) {
	case QE_CLIENT_HELLO:
		client_hello(&rd, r, ret);
		break;
	case QE_SERVER_HELLO:
		server_hello(&rd, r, ret);
		break;
	case QE_HELLO_VERIFY:
		hello_verify(&rd, r, ret);
		break;
	case QE_SESSION_TICKET:
		record_uint(r, "lifetime", reader_be32(&rd));
		ret->ticket = put_hex(r, "ticket", vector16(&rd));
		break;
	case QE_SERVER_KEY:
		server_key(&rd, suite, r, ret);
		break;
	case QE_CLIENT_KEY:
		client_key(&rd, suite, r, ret);
		break;
	case QE_FINISHED:
		ret->verify = put_hex(r, "verify_data", take(&rd, QE_VERIFY));
		break;
	case QE_HELLO_REQUEST:
	case QE_HELLO_DONE:
		break;
	default:
		rest(&rd, r, "a handshake with certificates is not read");
		break;
	}
	if (reader_failed(&rd))
		record_malformed(r, "handshake message ends too early");
	else if (reader_left(&rd))
		record_malformed(r, "bytes after a handshake message");
	return r->status != RECORD_MALFORMED;
}

/* --- what is no handshake ---------------------------------------------------------- */

static const char *alert_name(uint8_t code)
{
	switch (code) {
	case 0:
		return "close_notify";
	case 10:
		return "unexpected_message";
	case 20:
		return "bad_record_mac";
	case 40:
		return "handshake_failure";
	case 47:
		return "illegal_parameter";
	case 50:
		return "decode_error";
	case 51:
		return "decrypt_error";
	case 70:
		return "protocol_version";
	case 71:
		return "insufficient_security";
	case 80:
		return "internal_error";
	case 90:
		return "user_canceled";
	case 100:
		return "no_renegotiation";
	case 115:
		return "unknown_psk_identity";
	default:
		return NULL;
	}
}

void qe_alert(struct span body, struct record *r)
{
	struct reader rd = reader_of(body.bytes, body.n);
	uint8_t level = reader_u8(&rd), code = reader_u8(&rd);
	const char *name = alert_name(code);

	record_uint(r, "level", level);
	record_uint(r, "code", code);
	if (name)
		record_string(r, "alert", name, strlen(name));
	if (reader_failed(&rd) || reader_left(&rd))
		record_malformed(r, "alert is not of 2 bytes");
	else if (level != 1 && level != 2)
		record_malformed(r, "alert is neither a warning nor fatal");
}

/* u8 type, u16 length of what is to be echoed, at least 16 bytes of padding. */
void qe_heartbeat(struct span body, struct record *r)
{
	struct reader rd = reader_of(body.bytes, body.n);
	uint8_t type = reader_u8(&rd);
	uint16_t n = reader_be16(&rd);

	record_uint(r, "type", type);
	record_uint(r, "payload_length", n);
	put_hex(r, "data", take(&rd, n));
	if (type != 1 && type != 2)
		record_malformed(r, "heartbeat is neither request nor response");
	else if (reader_failed(&rd))
		record_malformed(r, "heartbeat asks for more than it holds");
	else if (reader_left(&rd) < PADDING_MIN)
		record_malformed(r, "heartbeat with less than 16 bytes of padding");
}
