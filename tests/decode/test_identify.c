// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which protocol, which direction, without ports: short conversations, and what each of
 * their datagrams must be taken for.
 */
#include "decode/decode_support.h"
#include "lib/names.h"

#define STEPS		 8
#define Z8		 "\0\0\0\0\0\0\0\0"
#define HEADER(seq, ack) seq "\0\0\0" ack "\0\0\0"

struct step {
	char from; /* c or s */
	const uint8_t *payload;
	size_t n;
	const char *protocol, *direction, *kind;
};

/* clang-format off */
static const struct {
	const char *name;
	struct step steps[STEPS];
} talks[] = {
	{ "the answer tells whose status it was: QuakeWorld", {
		{ 'c', BYTES(MARK "status"), "quakeworld", "c2s", "status" },
		{ 's', BYTES(MARK "n\\map\\dm3\n\0"), "quakeworld", "s2c", "a2c-print" },
	} },
	{ "the answer tells whose status it was: Quake II", {
		{ 'c', BYTES(MARK "status\n"), "quake2", "c2s", "status" },
		{ 's', BYTES(MARK "print\n\\mapname\\q2dm1\n"), "quake2", "s2c", "print" },
	} },
	{ "ping is QuakeWorld's when a bare l comes back", {
		{ 'c', BYTES(MARK "ping"), "quakeworld", "c2s", "ping" },
		{ 's', BYTES("l"), "quakeworld", "s2c", "raw-ack" },
	} },
	{ "a heartbeat stays a server's, whatever the master has answered", {
		{ 'c', BYTES(MARK "getservers 68 full empty"), "quake3", "c2s", "getservers" },
		{ 's', BYTES(MARK "getserversResponse\\EOT\0\0\0"), "quake3", "s2c", "getserversResponse" },
		{ 'c', BYTES(MARK "heartbeat QuakeArena-1\n"), "quake3", "s2c", "heartbeat" },
	} },
	{ "one byte alone is nobody's", {
		{ 'c', BYTES("\x80"), "null", "null", "unknown" },
		{ 's', BYTES("l"), "null", "s2c", "unknown" },
	} },
	{ "getchallenge of Quake II", {
		{ 'c', BYTES(MARK "getchallenge\n"), "quake2", "c2s", "getchallenge" },
		{ 's', BYTES(MARK "challenge 5 p=34"), "quake2", "s2c", "challenge" },
		{ 'c', BYTES(MARK "connect 34 9 5 \"\\name\\x\"\n"), "quake2", "c2s", "connect" },
		{ 's', BYTES(MARK "client_connect"), "quake2", "s2c", "client_connect" },
		{ 'c', BYTES(HEADER("\1", "\0") "\x09\0\4new\0"), "quake2", "c2s", "client-command" },
		{ 's', BYTES(HEADER("\1", "\1")), "quake2", "s2c", "server-idle" },
	} },
	{ "getchallenge of QuakeWorld", {
		{ 'c', BYTES(MARK "getchallenge\n"), "quakeworld", "c2s", "getchallenge" },
		{ 's', BYTES(MARK "c-77\0"), "quakeworld", "s2c", "s2c-challenge" },
		{ 's', BYTES(MARK "j"), "quakeworld", "s2c", "j" },
		{ 'c', BYTES(HEADER("\1", "\0") "\x09\0\4new\0"), "quakeworld", "c2s", "client-command" },
	} },
	{ "DarkPlaces: its own words netquake, the shared ones quake3", {
		{ 'c', BYTES(MARK "getchallenge"), "quake3", "c2s", "getchallenge" },
		{ 's', BYTES(MARK "challenge 1bcdefghijk\0"), "netquake", "s2c", "challenge" },
		{ 'c', BYTES(MARK "connect\\protocol\\darkplaces 3"), "netquake", "c2s", "connect" },
		{ 's', BYTES(MARK "accept"), "netquake", "s2c", "accept" },
		{ 's', BYTES("\0\x10\0\x09\0\0\0\0\1"), "netquake", "s2c", "nq-unreliable" },
		{ 'c', BYTES(MARK "rcon x status"), "quake3", "c2s", "rcon" },
		{ 's', BYTES(MARK "nhost: x\0"), "netquake", "s2c", "a2c-print" },
		{ 'c', BYTES(MARK "ping"), "netquake", "c2s", "ping" },
	} },
	{ "NetQuake's header needs no handshake", {
		{ 's', BYTES("\0\x10\0\x0d\0\0\0\1\x07\0\0\0\0"), "netquake", "s2c", "nq-unreliable" },
		{ 'c', BYTES("\0\x10\0\x0a\0\0\0\1\3\0"), "netquake", "c2s", "nq-unreliable" },
		{ 'c', BYTES("\0\x02\0\x08\0\0\0\1"), "netquake", "c2s", "nq-ack" },
		{ 's', BYTES("\0\x10\0\x0d\0\0\0\2\x07\0\0\0\0"), "netquake", "s2c", "nq-unreliable" },
	} },
	{ "QuakeWorld's numbers that look like a length are not taken for one", {
		{ 'c', BYTES(MARK "getchallenge\n"), "quakeworld", "c2s", "getchallenge" },
		{ 'c', BYTES("\0\x10\0\x80" "\1\0\0\0" "\x77\x77" Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 "\0\0\0\0\0\0"), "quakeworld", "c2s", "client-idle" },
		{ 's', BYTES(MARK "c-77\0"), "quakeworld", "s2c", "s2c-challenge" },
	} },
	{ "nor for a control packet's", {
		{ 's', BYTES("\x80\0\0\x80" "\x80\0\0\0" "\x2a\1\2\3\4\5\6\7" Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8 Z8), "quakeworld", "s2c", "server-message" },
		{ 'c', BYTES(HEADER("\x21", "\x20") "\x77\x77\5\x20\3\x4d\0\0\r\0\r\0\r"), "quakeworld", "c2s", "client-move" },
		{ 's', BYTES(HEADER("\x21", "\x21") "\x2a\1\2\3\4\5\6"), "quakeworld", "s2c", "server-message" },
		{ 'c', BYTES(HEADER("\x22", "\x21") "\x77\x77\5\x21\3\xda\0\0\r\0\r\0\r"), "quakeworld", "c2s", "client-move" },
		{ 's', BYTES(HEADER("\x22", "\x22") "\x2a\1\2\3\4\5\6"), "quakeworld", "s2c", "server-message" },
		{ 'c', BYTES(HEADER("\x23", "\x22") "\x77\x77\5\x22\3\x8c\0\0\r\0\r\0\r"), "quakeworld", "c2s", "client-move" },
		{ 's', BYTES(HEADER("\x23", "\x23") "\x2a\1\2\3\4\5\6"), "quakeworld", "s2c", "server-message" },
	} },
	{ "a broken control packet teaches nothing", {
		{ 's', BYTES("\x80\0\0\x06\x82x"), "netquake", "s2c", "ccrep-reject" },
		{ 'c', BYTES(MARK "getchallenge\n"), "quake2", "c2s", "getchallenge" },
		{ 's', BYTES(MARK "challenge 5 p=34"), "quake2", "s2c", "challenge" },
		{ 'c', BYTES(HEADER("\1", "\0") "\x09\0\4new\0"), "quake2", "c2s", "client-command" },
	} },
	{ "connect 28 is QuakeWorld's, whoever else has such numbers", {
		{ 'c', BYTES(MARK "connect 28 77 5 \"\\name\\x\"\n"), "quakeworld", "c2s", "connect" },
		{ 's', BYTES(HEADER("\1", "\1")), "quakeworld", "s2c", "server-idle" },
	} },
	{ "a DTLS record of no bytes does not say who serves", {
		{ 'c', BYTES("\x16\xfe\xfd\0\0\0\0\0\0\0\x09\0\0" "\x16\xfe\xfd\0\0\0\0\0\0\0\x0a\0\1\0"), "quake-enhanced", "c2s", "dtls-other" },
		{ 's', BYTES("\x16\xfe\xfd\0\0\0\0\0\0\0\0\0\x0f" "\3\0\0\3\0\0\0\0\0\0\0\3\xfe\xff\0"), "quake-enhanced", "s2c", "dtls-hello-verify-request" },
	} },
	{ "a length that is not the datagram's is nobody's", {
		{ 'c', BYTES("\0\x10\0\x0c\0\0\0\1\3\0"), "null", "null", "unknown" },
	} },
	{ "QuakeWorld, joined in the middle", {
		{ 'c', BYTES(HEADER("\x21", "\x20") "\x77\x77\5\x20\3\x4d\0\0\r\0\r\0\r"), "quakeworld", "c2s", "client-move" },
		{ 's', BYTES(HEADER("\x21", "\x21") "\x2a\1\2\3\4\5\6"), "quakeworld", "s2c", "server-message" },
		{ 'c', BYTES(HEADER("\x22", "\x21") "\x77\x77\5\x21\3\xda\0\0\r\0\r\0\r"), "quakeworld", "c2s", "client-move" },
		{ 's', BYTES(HEADER("\x22", "\x22") "\x2a\1\2\3\4\5\6"), "quakeworld", "s2c", "server-message" },
		{ 'c', BYTES(HEADER("\x23", "\x22") "\x77\x77\5\x22\3\x8c\0\0\r\0\r\0\r"), "quakeworld", "c2s", "client-move" },
		{ 's', BYTES(HEADER("\x23", "\x23") "\x2a\1\2\3\4\5\6"), "quakeworld", "s2c", "server-message" },
	} },
	{ "Quake II, joined in the middle", {
		{ 's', BYTES(HEADER("\x30", "\x60") "\x14\x30\0\0\0\xff\xff\xff\xff\0\0\x11\0\0\0\0\0\0\x12\0\0"), "quake2", "s2c", "frame" },
		{ 'c', BYTES(HEADER("\x61", "\x30") "\x77\x77\2\x89\x30\0\0\0" "\0\x10\x80\0\x10\x80\0\x10\x80"), "quake2", "c2s", "client-move" },
		{ 's', BYTES(HEADER("\x31", "\x61") "\x14\x31\0\0\0\xff\xff\xff\xff\0\0\x11\0\0\0\0\0\0\x12\0\0"), "quake2", "s2c", "frame" },
		{ 'c', BYTES(HEADER("\x62", "\x31") "\x77\x77\2\xe6\x31\0\0\0" "\0\x10\x80\0\x10\x80\0\x10\x80"), "quake2", "c2s", "client-move" },
		{ 's', BYTES(HEADER("\x32", "\x62") "\x14\x32\0\0\0\xff\xff\xff\xff\0\0\x11\0\0\0\0\0\0\x12\0\0"), "quake2", "s2c", "frame" },
		{ 'c', BYTES(HEADER("\x63", "\x32") "\x77\x77\2\x3e\x32\0\0\0" "\0\x10\x80\0\x10\x80\0\x10\x80"), "quake2", "c2s", "client-move" },
	} },
	{ "numbers without order are nobody's", {
		{ 'c', BYTES("\x12\x34\x01\x00\0\1\0\0\0\0\0\0"), "null", "null", "unknown" },
		{ 's', BYTES("\x12\x34\x81\x80\0\1\0\1\0\0\0\0"), "null", "null", "unknown" },
		{ 'c', BYTES("abc"), "null", "null", "unknown" },
	} },
};
/* clang-format on */

static void conversations(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(talks) / sizeof(*talks); i++) {
		struct harness *h = harness_open(FAMILY_AUTO);
		size_t n = 0;
		json_t *all;

		print_message("%s\n", talks[i].name);
		for (; n < STEPS && talks[i].steps[n].from; n++) {
			const struct step *step = &talks[i].steps[n];

			(step->from == 'c' ? harness_c2s : harness_s2c)(h, step->payload,
									step->n);
		}
		all = harness_close(h);
		assert_int_equal(json_array_size(all), n);
		for (size_t j = 0; j < n; j++) {
			const struct step *step = &talks[i].steps[j];
			json_t *r = json_array_get(all, j);

			assert_int_equal(json_integer_value(at_path(r, "frame")), j + 1);
			assert_string_equal(text_at(r, "protocol"), step->protocol);
			assert_string_equal(text_at(r, "direction"), step->direction);
			assert_string_equal(text_at(r, "kind"), step->kind);
		}
		json_decref(all);
	}
}

/* What one client's answer taught is known when another one asks. */
static void servers_remembered(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	json_t *all;

	(void)state;
	harness_c2s(h, BYTES(MARK "status 23\n"));
	harness_s2c(h, BYTES(MARK "n\\map\\dm3\n\0"));
	harness_send(h, harness_address(8, 40), harness_address(1, 6000),
		     BYTES(MARK "nosuch\n"));
	harness_send(h, harness_address(8, 41), harness_address(1, 6000),
		     BYTES(MARK "ping\n"));
	all = harness_close(h);
	assert_string_equal(text_at(json_array_get(all, 2), "protocol"), "quakeworld");
	assert_string_equal(text_at(json_array_get(all, 2), "kind"), "oob-unknown");
	assert_string_equal(text_at(json_array_get(all, 2), "direction"), "c2s");
	assert_string_equal(text_at(json_array_get(all, 3), "protocol"), "quakeworld");
	json_decref(all);
}

/* CCREP_ACCEPT names the port on which the game goes on. */
static void accept_teaches_port(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	json_t *all;

	(void)state;
	harness_c2s(h, BYTES("\x80\0\0\x0c\1QUAKE\0\3"));
	harness_s2c(h, BYTES("\x80\0\0\x09\x81\x39\x30\0\0"));
	harness_send(h, harness_address(1, 12345), harness_address(9, 5000),
		     BYTES("\0\x09\0\x09\0\0\0\0\1"));
	all = harness_close(h);
	assert_string_equal(text_at(json_array_get(all, 1), "port"), "12345");
	assert_string_equal(text_at(json_array_get(all, 2), "direction"), "s2c");
	json_decref(all);
}

/* Somebody answers a server in the name of a player: it stays the server. */
static void answer_to_server(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	struct record_address server = harness_address(1, 26000);
	struct record_address player = harness_address(9, 5000);
	json_t *all;

	(void)state;
	harness_send(h, harness_address(8, 40), server, BYTES("\x80\0\0\x0c\1QUAKE\0\3"));
	harness_send(h, server, harness_address(8, 40),
		     BYTES("\x80\0\0\x09\x81\x90\x65\0\0"));
	harness_send(h, player, server, BYTES("\x80\0\0\x09\x81\x39\x30\0\0"));
	harness_send(h, player, server, BYTES("\0\x10\0\x09\0\0\0\0\1"));
	all = harness_close(h);
	assert_string_equal(text_at(json_array_get(all, 3), "protocol"), "netquake");
	assert_string_equal(text_at(json_array_get(all, 3), "direction"), "c2s");
	json_decref(all);
}

static void forced(void **state)
{
	(void)state;
	for (int family = 0; family < FAMILY_AUTO; family++) {
		struct harness *h = harness_open((enum wire_family)family);
		json_t *all;

		harness_c2s(h, BYTES("\1\0\0\0\1\0\0\0\1\0\4\0"));
		all = harness_close(h);
		assert_string_equal(text_at(json_array_get(all, 0), "protocol"),
				    family_name((enum wire_family)family));
		json_decref(all);
	}
}

/* More than the hold can keep: nothing is lost, nothing overtakes. */
static void hold_bounded(void **state)
{
	enum {
		MANY = 3 * DECODE_PENDING_MAX
	};
	static uint8_t big[30000];
	struct harness *h = harness_open(FAMILY_AUTO);
	json_t *all;

	(void)state;
	for (int i = 0; i < MANY; i++)
		harness_send(h, harness_address(2, (uint16_t)i), harness_address(1, 6000),
			     i % 2 ? big : (const uint8_t *)MARK "ping",
			     i % 2 ? sizeof(big) : 8);
	all = harness_close(h);
	assert_int_equal(json_array_size(all), MANY);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(
			json_integer_value(at_path(json_array_get(all, i), "frame")),
			i + 1);
	json_decref(all);
}

static void sink_nothing(void *context, const struct record *r)
{
	(void)r;
	++*(uint64_t *)context;
}

/* Strangers without end: the table keeps its size, the players' state goes last used
 * first. */
static void table_bounded(void **state)
{
	struct decoder_options options = { .forced = FAMILY_AUTO };
	uint64_t count = 0;
	struct decoder *d = decoder_create(&options, sink_nothing, &count);
	struct datagram dg = {
		.source = harness_address(2, 0),
		.destination = harness_address(1, 27960),
		.payload = (const uint8_t *)MARK "challengeResponse 5",
		.n = 23,
		.length = 23,
	};

	(void)state;
	for (uint32_t i = 0; i < 3 * DECODE_SESSIONS; i++) {
		dg.source.bytes[1] = (uint8_t)(i >> 16);
		dg.source.port = (uint16_t)i;
		decoder_datagram(d, &dg);
	}
	decoder_flush(d);
	assert_int_equal(count, 3 * DECODE_SESSIONS);
	assert_int_equal(session_table_count(decoder_sessions(d)), DECODE_SESSIONS);
	assert_true(session_table_bytes(decoder_sessions(d)) <= DECODE_STATE_BYTES);
	decoder_free(d);
}

static void hosts_known(void **state)
{
	struct session_table *table = session_table_create(1024, 0);
	struct record_address a = harness_address(1, 1), b = harness_address(1, 2);

	(void)state;
	assert_null(host_find(table, &a));
	host_learn(table, &a, FAMILY_QUAKE2, HOST_SERVER, 1);
	assert_null(host_find(table, &b));
	assert_int_equal(host_find(table, &a)->family, FAMILY_QUAKE2);
	host_learn(table, &a, FAMILY_QUAKE3, HOST_SERVER, 2);
	assert_int_equal(host_find(table, &a)->family, FAMILY_QUAKE3);
	for (uint32_t i = 0; i < 1000000; i++) {
		b.bytes[1] = (uint8_t)(i >> 16);
		b.port = (uint16_t)i;
		host_learn(table, &b, FAMILY_QUAKE2, HOST_CLIENT, 3 + i);
	}
	assert_null(host_find(table, &a)); /* the oldest gave way */
	assert_non_null(host_find(table, &b));
	session_table_free(table);
}

/* Whatever a word would be judged as, cut or broken it is what its packet says. */
static void damage_has_reason(void **state)
{
	static const char *const payloads[] = { MARK "getstatus x", MARK "connect z",
						MARK "nonsense", MARK "disconnect\xff" };
	static const enum record_status damages[] = { RECORD_PARTIAL, RECORD_MALFORMED };

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		struct harness *h = harness_open(FAMILY_QUAKE3);
		const char *payload = payloads[i / 2];
		struct datagram dg = {
			.source = harness_address(9, 5000),
			.destination = harness_address(1, 6000),
			.payload = (const uint8_t *)payload,
			.n = strlen(payload),
			.length = strlen(payload) + 1,
			.damage = damages[i % 2],
			.reason = "the packet's",
		};
		json_t *all;

		decoder_datagram(h->decoder, &dg);
		all = harness_close(h);
		assert_string_equal(text_at(all, "0.status"),
				    record_status_names[damages[i % 2]]);
		assert_string_equal(text_at(all, "0.reason"), "the packet's");
		json_decref(all);
	}
}

/* Where it is told who serves, who answers from the client's side teaches nothing. */
static void told_who_serves(void **state)
{
	static const struct {
		const uint8_t *bytes;
		size_t n;
	} cache[] = {
		{ BYTES("l") },
		{ BYTES("\x80\0\0\x09\x81\0\0\0\0") },
		{ BYTES(MARK "n\\map\\dm3\n\0") },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cache) / sizeof(*cache); i++) {
		struct harness *h = harness_open(FAMILY_AUTO);
		json_t *all;

		h->told = DIRECTION_C2S;
		harness_c2s(h, BYTES(MARK "ping"));
		harness_c2s(h, cache[i].bytes, cache[i].n);
		harness_c2s(h, BYTES(MARK "status\n"));
		h->told = DIRECTION_S2C;
		harness_s2c(h, BYTES(MARK "print\n\\mapname\\q2dm1\n"));
		all = harness_close(h);
		assert_string_equal(text_at(all, "2.protocol"), "quake2");
		assert_string_equal(text_at(all, "2.direction"), "c2s");
		json_decref(all);
	}
}

/* One of our servers answers another: what is told counts more than what was seen. */
static void told_between_servers(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	json_t *all;

	(void)state;
	h->told = DIRECTION_S2C;
	harness_s2c(h, BYTES(MARK "statusResponse\n\\a\\b\n"));
	harness_send(h, harness_address(2, 6000), harness_address(1, 6000),
		     BYTES(MARK "statusResponse\n\\a\\b\n"));
	all = harness_close(h);
	assert_string_equal(text_at(all, "1.direction"), "s2c");
	json_decref(all);
}

/* Who served until now connects himself: after three seconds of silence he may. */
static void servers_turn(void **state)
{
	static const struct {
		int64_t silence_ns;
		const char *direction;
	} rows[] = { { 2900000000LL, "s2c" }, { 3100000000LL, "c2s" } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct harness *h = harness_open(FAMILY_AUTO);
		json_t *all;

		harness_c2s(h, BYTES(MARK "getchallenge\n"));
		harness_s2c(h, BYTES(MARK "challenge 5 p=34"));
		harness_c2s(h, BYTES(MARK "connect 34 9 5 \"\\name\\x\"\n"));
		harness_s2c(h, BYTES(MARK "client_connect"));
		harness_c2s(h, BYTES(HEADER("\1", "\0") "\x09\0\4new\0"));
		harness_s2c(h, BYTES(HEADER("\1", "\1")));
		h->now_ns += rows[i].silence_ns;
		harness_s2c(h, BYTES(MARK "connect 34 8 6 \"\\name\\y\"\n"));
		harness_c2s(h, BYTES(MARK "client_connect"));
		harness_s2c(h, BYTES(HEADER("\2", "\1") "\x08\0\4new\0"));
		all = harness_close(h);
		assert_string_equal(text_at(all, "5.direction"), "s2c");
		assert_string_equal(text_at(all, "8.direction"), rows[i].direction);
		json_decref(all);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conversations),
		cmocka_unit_test(servers_remembered),
		cmocka_unit_test(accept_teaches_port),
		cmocka_unit_test(answer_to_server),
		cmocka_unit_test(forced),
		cmocka_unit_test(hold_bounded),
		cmocka_unit_test(table_bounded),
		cmocka_unit_test(hosts_known),
		cmocka_unit_test(damage_has_reason),
		cmocka_unit_test(told_who_serves),
		cmocka_unit_test(told_between_servers),
		cmocka_unit_test(servers_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
