// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Datagrams of QuakeWorld through the whole decoder: order, repeats, another port, new
 * connections, a beginning that was not seen, words without a marker.
 */
#include "decode/qw/qw_support.h"
#include "recordings.h"

#define CONNECT "connect 28 4660 77 \"\\name\\tester\\rate\\9999\"\n"

static void c2s(struct harness *h, uint16_t port, uint32_t sequence, uint16_t qport,
		const char *hex)
{
	uint8_t bytes[512] = { (uint8_t)sequence,
			       (uint8_t)(sequence >> 8),
			       (uint8_t)(sequence >> 16),
			       (uint8_t)(sequence >> 24),
			       (uint8_t)(sequence - 1),
			       0,
			       0,
			       0,
			       (uint8_t)qport,
			       (uint8_t)(qport >> 8) };
	size_t n = 10 + from_hex(hex, bytes + 10, sizeof(bytes) - 10);

	harness_send(h, harness_address(9, port), harness_address(1, 6000), bytes, n);
}

static void s2c(struct harness *h, uint32_t sequence, const char *hex)
{
	uint8_t bytes[512] = { (uint8_t)sequence, (uint8_t)(sequence >> 8),
			       (uint8_t)(sequence >> 16), (uint8_t)(sequence >> 24),
			       (uint8_t)sequence };
	size_t n = 8 + from_hex(hex, bytes + 8, sizeof(bytes) - 8);

	harness_s2c(h, bytes, n);
}

static const char serverdata[] =
	"0b 1c000000 01000000 717700 02 4d6100 "
	"00004844 0000c842 0000a043 0000fa43 00002041 00002041 00002041 00008040 00008040 "
	"0000803f";

static void handshake(struct harness *h)
{
	harness_c2s(h, BYTES(MARK "getchallenge\n"));
	harness_s2c(h, BYTES(MARK "c77\0"));
	harness_c2s(h, BYTES(MARK CONNECT));
	harness_s2c(h, BYTES(MARK "j"));
}

static const char *status(json_t *all, size_t i)
{
	return text_at(json_array_get(all, i), "status");
}

static const char *reason(json_t *all, size_t i)
{
	return text_at(json_array_get(all, i), "reason");
}

static void in_order(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	json_t *all;

	(void)state;
	handshake(h);
	s2c(h, 5, serverdata);
	s2c(h, 6, "2f 0500 0000");
	s2c(h, 8, "30 06 0600 0000"); /* 8 */
	s2c(h, 8, "30 06 0600 0000"); /* again */
	s2c(h, 7, "30 06 0700 0000"); /* late: but somebody may build on it */
	s2c(h, 9, "30 07 0000"); /* 7 has 5 and 7 */
	s2c(h, 10, "30 08 0000"); /* the repeat has changed nothing */
	/* What is late does not begin a game. */
	s2c(h, 4, serverdata);
	s2c(h, 11, "30 0a 0000");
	all = harness_close(h);
	for (size_t i = 4; i < json_array_size(all); i++)
		assert_string_equal(status(all, i), "decoded");
	assert_string_equal(text_at(json_array_get(all, 7), "repeated"), "true");
	assert_string_equal(text_at(json_array_get(all, 8), "late"), "true");
	for (size_t i = 7; i <= 10; i++)
		assert_string_equal(text_at(json_array_get(all, i), "ops.0.count"), "2");
	assert_string_equal(text_at(json_array_get(all, 12), "ops.0.count"), "2");
	json_decref(all);
}

/*
 * FTE's replacement deltas: a reset is a difference to the baseline, all else to what the
 * entity was. Behind a datagram that is lost nothing is known but what is reset.
 */
static void updates_are_partial_behind_a_loss(void **state)
{
	static const char reset[] = "56 00000000 0500 8005 07 0000";
	static const char more[] = "56 00000000 0500 01 03 0000";
	static const struct {
		uint32_t sequence;
		const char *hex, *reason; /* NULL: decoded */
	} rows[] = {
		{ 2, more, "entity whose state was not seen as a whole" },
		{ 3, reset, NULL },
		{ 4, more, NULL },
		{ 5, "56 00000000 0580 0000", NULL }, /* removed */
		{ 6, more, "entity whose state was not seen as a whole" },
		{ 7, reset, NULL },
		{ 9, more, "entity whose state was not seen as a whole" },
		{ 10, more, "entity whose state was not seen as a whole" },
		/* Number 8 may have begun another map: */
		{ 11, reset, "entity from a baseline that was not seen" },
		{ 12, more, "entity whose state was not seen as a whole" },
		{ 13, "01", NULL }, /* here the client says that it has not */
		{ 14, reset, NULL },
		{ 15, more, NULL },
		{ 16, "56 00000000 0080 0000", NULL }, /* all are removed */
		{ 17, more, "entity whose state was not seen as a whole" },
	};
	struct harness *h = harness_open(FAMILY_AUTO);
	uint8_t first[512];
	json_t *all;
	size_t n, at = 4;

	(void)state;
	handshake(h);
	n = from_hex("0b 46544532 08000000", first, sizeof(first));
	n += from_hex(serverdata + 3, first + n, sizeof(first) - n);
	n += from_hex("42 0500 01 02", first + n, sizeof(first) - n);
	memmove(first + 8, first, n);
	memcpy(first, "\1\0\0\0\0\0\0\0", 8);
	harness_s2c(h, first, n + 8);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		s2c(h, rows[i].sequence, rows[i].hex);
		/* The client has read 7, and then 8, which held no reliable part. */
		if (rows[i].sequence == 7 || rows[i].sequence == 13)
			c2s(h, 5000, rows[i].sequence == 7 ? 8 : 9, 4660, "01");
	}
	all = harness_close(h);
	assert_string_equal(status(all, at), "decoded");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		at += 1 + (rows[i].sequence == 9 || rows[i].sequence == 14);
		if (rows[i].reason)
			assert_string_equal(reason(all, at), rows[i].reason);
		else
			assert_string_equal(status(all, at), "decoded");
	}
	json_decref(all);
}

/* A NAT gives another port: the qport says whose it is. */
static void another_port(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	json_t *all;

	(void)state;
	handshake(h);
	c2s(h, 5000, 1, 4660, "04 6e657700");
	s2c(h, 1, serverdata);
	s2c(h, 2, "2f 0500 0000");
	c2s(h, 5001, 3, 4660, "05 02 01");
	/* The frame is known behind the new port. */
	harness_send(h, harness_address(1, 6000), harness_address(9, 5001),
		     BYTES("\3\0\0\0\3\0\0\0\x30\2\6\0\0\0"));
	/* Somebody else's is not taken over. */
	c2s(h, 5000, 4, 4661, "01");
	all = harness_close(h);
	assert_string_equal(status(all, 7), "decoded");
	assert_string_equal(status(all, 8), "decoded");
	assert_string_equal(text_at(json_array_get(all, 8), "ops.0.count"), "2");
	assert_string_equal(text_at(json_array_get(all, 8), "dialect"), "quakeworld-28");
	json_decref(all);
}

static void wrong_qport(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	json_t *all;

	(void)state;
	handshake(h);
	c2s(h, 5000, 1, 4660, "04 6e657700");
	c2s(h, 5000, 2, 4661, "04 6e657700");
	c2s(h, 5000, 2, 4660, "04 6e657700");
	all = harness_close(h);
	assert_string_equal(status(all, 5), "opaque");
	assert_string_equal(reason(all, 5), "qport of another connection");
	assert_string_equal(status(all, 6), "decoded");
	assert_null(at_path(json_array_get(all, 6), "repeated"));
	json_decref(all);
}

/* So does a connection with an unseen acceptance, at the server's first reliable number.
 */
static void connects_again_unaccepted(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	json_t *all;

	(void)state;
	handshake(h);
	s2c(h, 700, serverdata);
	s2c(h, 701, "2f 0500 0000");
	harness_s2c(h, BYTES(MARK "c78\0"));
	harness_c2s(h, BYTES(MARK "connect 28 4661 78 \"\\name\\tester\"\n"));
	s2c(h, 1 | 1U << 31, serverdata);
	s2c(h, 3, "2f 0500 0000");
	all = harness_close(h);
	assert_string_equal(status(all, 8), "decoded");
	assert_null(at_path(json_array_get(all, 8), "late"));
	assert_string_equal(reason(all, 9), "entity from a baseline that was not seen");
	json_decref(all);
}

/* The second connection over the same ports begins from nothing. */
static void connects_again(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	json_t *all;

	(void)state;
	handshake(h);
	c2s(h, 5000, 700, 4660, "04 6e657700");
	s2c(h, 700, serverdata);
	s2c(h, 701, "2f 0500 0000");
	handshake(h);
	s2c(h, 1, serverdata);
	s2c(h, 2, "30 bd 0000"); /* 701 modulo 256, of the old one */
	/* Acceptance alone, twice, changes nothing. */
	harness_s2c(h, BYTES(MARK "j"));
	s2c(h, 3, "2f 0500 0000");
	all = harness_close(h);
	assert_string_equal(status(all, 11), "decoded");
	assert_null(at_path(json_array_get(all, 11), "late"));
	assert_string_equal(reason(all, 12), "delta from a frame that was not seen");
	assert_string_equal(status(all, 14), "decoded");
	json_decref(all);
}

/*
 * Numbers that begin anew without a handshake: eight in a row are believed. Which map it
 * is only serverdata tells, though it is the same again.
 */
static void begins_anew(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	json_t *all;

	(void)state;
	handshake(h);
	s2c(h, 1000, serverdata);
	for (uint32_t i = 1; i <= NETCHAN_LATE_MAX; i++)
		s2c(h, i, "01");
	s2c(h, 20, "2f 0500 0000");
	s2c(h, 21, serverdata);
	s2c(h, 22, "2f 0500 0000");
	all = harness_close(h);
	for (size_t i = 5; i < 4 + NETCHAN_LATE_MAX; i++) {
		assert_string_equal(text_at(json_array_get(all, i), "late"), "true");
		assert_string_equal(reason(all, i), "it may be of a later connection");
	}
	assert_null(at_path(json_array_get(all, 4 + NETCHAN_LATE_MAX), "late"));
	assert_null(at_path(json_array_get(all, 5 + NETCHAN_LATE_MAX), "late"));
	assert_string_equal(reason(all, 5 + NETCHAN_LATE_MAX),
			    "entity from a baseline that was not seen");
	assert_string_equal(status(all, 7 + NETCHAN_LATE_MAX), "decoded");
	for (size_t i = 4; i < json_array_size(all); i++) {
		json_t *r = json_array_get(all, i);
		bool known = i < 4 + NETCHAN_LATE_MAX || i > 5 + NETCHAN_LATE_MAX;

		assert_int_equal(json_is_string(at_path(r, "dialect")), known);
	}
	json_decref(all);
}

/* The client's numbers show it, too, where the server's first ones were lost. */
static void begins_anew_by_the_client(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	json_t *all;

	(void)state;
	handshake(h);
	s2c(h, 50, serverdata);
	s2c(h, 51, "2f 0500 0000");
	c2s(h, 5000, 1000, 4660, "01");
	for (uint32_t i = 1; i <= NETCHAN_LATE_MAX; i++)
		c2s(h, 5000, i, 4660, "01");
	s2c(h, 60, "2f 0500 0000");
	all = harness_close(h);
	assert_string_equal(status(all, 5), "decoded");
	assert_string_equal(reason(all, json_array_size(all) - 1),
			    "entity from a baseline that was not seen");
	json_decref(all);
}

/* Joined in the middle: told by a move's checksum, and its layouts guessed. */
static void in_the_middle(void **state)
{
	FILE *file = recording_open("live/qw-mvdsv-ezquake-spectator-timeout.pcap");
	struct harness *h;
	struct capture *capture;
	struct datagram dg;
	char message[256];
	unsigned int decoded[2] = { 0 }, guessed = 0, other = 0;
	json_t *all, *record;
	size_t i;

	(void)state;
	if (!file)
		return;
	h = harness_open(FAMILY_AUTO);
	assert_int_equal(capture_open(file, &capture, message, sizeof(message)), 0);
	while (capture_next(capture, &dg) == 1)
		if (dg.frame > 600)
			decoder_datagram(h->decoder, &dg);
	capture_close(capture);
	all = harness_close(h);
	json_array_foreach (all, i, record) {
		bool client = !strcmp(text_at(record, "direction"), "c2s");

		assert_string_equal(text_at(record, "protocol"), "quakeworld");
		if (!strcmp(text_at(record, "status"), "decoded"))
			decoded[client]++;
		else if (!strcmp(text_at(record, "status"), "partial"))
			guessed++;
		else
			other++;
	}
	print_message("%u of clients, %u of servers, %u guessed, %u other\n", decoded[1],
		      decoded[0], guessed, other);
	assert_int_equal(other, 0);
	assert_true(decoded[1] > 700);
	assert_true(guessed > 700);
	json_decref(all);
}

static void without_a_marker(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	json_t *all;

	(void)state;
	harness_c2s(h, BYTES("c\n"));
	harness_c2s(h, BYTES("c\n\0"));
	harness_c2s(h, BYTES("a\n12\n3\n"));
	harness_s2c(h, BYTES("stdlog 5\n\\a\\b\\"));
	all = harness_close(h);
	assert_string_equal(text_at(json_array_get(all, 0), "kind"), "c2m-query");
	assert_string_equal(text_at(json_array_get(all, 0), "protocol"), "quakeworld");
	assert_string_equal(text_at(json_array_get(all, 1), "kind"), "c2m-query");
	assert_string_equal(text_at(json_array_get(all, 2), "players"), "3");
	assert_string_equal(text_at(json_array_get(all, 3), "kind"), "stdlog");
	assert_string_equal(text_at(json_array_get(all, 3), "text"), "5\n\\a\\b\\");
	json_decref(all);
}

static void play(struct harness *h, uint8_t type, const char *hex)
{
	uint8_t bytes[64], *copy;
	struct demo_block block = {
		.format = DEMO_QWD,
		.direction = DIRECTION_S2C,
		.kind = "demo-message",
		.type = type,
		.n = from_hex(hex, bytes, sizeof(bytes)),
	};

	copy = exact_copy(bytes, block.n);
	block.bytes = copy;
	decoder_demo(h->decoder, &block);
	free(copy);
}

/* In the middle of a connection: of two sequences that of the server goes on. */
static void a_recording_sets_sequences(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	json_t *all;

	(void)state;
	play(h, 2, "c8000000 64000080");
	play(h, 1, "64000000 c8000000 01");
	play(h, 1, "65000000 c8000000 01");
	all = harness_close(h);
	assert_string_equal(text_at(json_array_get(all, 0), "kind"), "demo-set");
	assert_string_equal(text_at(json_array_get(all, 0), "outgoing_sequence"), "200");
	assert_string_equal(text_at(json_array_get(all, 0), "incoming_sequence"),
			    "-2147483548");
	assert_string_equal(text_at(json_array_get(all, 1), "repeated"), "true");
	assert_string_equal(text_at(json_array_get(all, 2), "repeated"), "(none)");
	assert_string_equal(text_at(json_array_get(all, 2), "late"), "(none)");
	assert_string_equal(status(all, 2), "decoded");
	json_decref(all);
}

/* FRAG, offered and asked for: one message in two parts, and one of which the end is
 * missing. */
static void fragments(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	json_t *all;

	(void)state;
	harness_c2s(h, BYTES(MARK "getchallenge\n"));
	harness_s2c(h, BYTES(MARK "c77\0FRAG\xdc\5\0\0"));
	harness_c2s(h, BYTES(MARK CONNECT "0x47415246 0x5dc\n"));
	harness_s2c(h, BYTES(MARK "j"));
	s2c(h, 1, "0100 09 61626364656667");
	s2c(h, 1, "0200 6800");
	s2c(h, 2, "0000 01");
	s2c(h, 3, "0200 01");
	all = harness_close(h);
	assert_string_equal(text_at(json_array_get(all, 4), "kind"), "fragment");
	assert_string_equal(text_at(json_array_get(all, 5), "ops.0.text"), "abcdefgh");
	assert_string_equal(status(all, 6), "decoded");
	assert_string_equal(status(all, 7), "partial");
	json_decref(all);
}

/* STUNAWARE, offered and asked for: the words of the header are the other way round. It
 * was read as sequences out of all order, and each move's checksum was wrong. */
static void stun_aware(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	json_t *all;

	(void)state;
	harness_c2s(h, BYTES(MARK "getchallenge\n"));
	harness_s2c(h, BYTES(MARK "c77\0FTE2\0\1\0\0"));
	harness_c2s(h, BYTES(MARK CONNECT "0x32455446 0x100\n"));
	harness_s2c(h, BYTES(MARK "j"));
	harness_s2c(h, BYTES("\xc0\0\0\x20\x80\0\0\x1f\x09hi\0"));
	harness_c2s(h, BYTES("\x40\0\0\x21\0\0\0\x20\x34\x12\5\x20\3\x4d\0\0\r\0\r\0\r"));
	harness_s2c(h, BYTES("\x40\0\0\x21\0\0\0\x21"));
	/* Who did not agree keeps to the old order. */
	harness_c2s(h, BYTES("\x22\0\0\0\x21\0\0\0\x34\x12\5\x21\3\xda\0\0\r\0\r\0\r"));
	all = harness_close(h);
	assert_string_equal(text_at(json_array_get(all, 4), "sequence"), "32");
	assert_string_equal(text_at(json_array_get(all, 4), "ops.0.text"), "hi");
	assert_string_equal(status(all, 5), "decoded");
	assert_string_equal(text_at(json_array_get(all, 5), "ops.1.checksum_valid"),
			    "true");
	assert_string_equal(text_at(json_array_get(all, 6), "sequence"), "33");
	assert_string_equal(status(all, 7), "decoded");
	json_decref(all);
}

/* Facts of who plays, where and when, tape or not. */
static void facts(void **state)
{
	struct qw_session s = { .late[0] = { 0 } };
	uint8_t bytes[256];
	struct record r;
	size_t n;

	(void)state;
	record_reset(&r, NULL);
	n = from_hex(serverdata, bytes, sizeof(bytes));
	n += from_hex("2d 00 6d6170732f646d332e62737000 00 00"
		      "28 02 07000000 5c6e616d655c6d6500 28 03 07000000 5c6e616d655c7900",
		      bytes + n, sizeof(bytes) - n);
	assert_true(qw_message_decode(&s, DIRECTION_S2C, 1, (struct span){ bytes, n },
				      false, &r));
	assert_int_equal(r.facts.has & FACT_MAP, FACT_MAP);
	assert_memory_equal(r.facts.map, "dm3", 3);
	assert_int_equal(r.facts.map_n, 3);
	/* The slot was not known when this message came; it is in the next. */
	record_reset(&r, NULL);
	n = from_hex("28 03 07000000 5c6e616d655c7900 28 02 07000000 5c6e616d655c6d6500"
		     "2f 0000 2c 01",
		     bytes, sizeof(bytes));
	assert_true(qw_message_decode(&s, DIRECTION_S2C, 2, (struct span){ bytes, n },
				      false, &r));
	assert_int_equal(r.facts.has & FACT_NAME, FACT_NAME);
	assert_int_equal(r.facts.name_n, 2);
	assert_memory_equal(r.facts.name, "me", 2);
	assert_int_equal(r.facts.has & FACT_SNAPSHOT, FACT_SNAPSHOT);
	assert_int_equal(r.facts.has & FACT_DELAYED, FACT_DELAYED);
	qw_session_drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(updates_are_partial_behind_a_loss),
		cmocka_unit_test(another_port),
		cmocka_unit_test(wrong_qport),
		cmocka_unit_test(connects_again),
		cmocka_unit_test(connects_again_unaccepted),
		cmocka_unit_test(begins_anew),
		cmocka_unit_test(begins_anew_by_the_client),
		cmocka_unit_test(in_the_middle),
		cmocka_unit_test(without_a_marker),
		cmocka_unit_test(fragments),
		cmocka_unit_test(stun_aware),
		cmocka_unit_test(facts),
		cmocka_unit_test(a_recording_sets_sequences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
