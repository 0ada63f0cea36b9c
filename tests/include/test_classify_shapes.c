// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is recognised by its structure: NetQuake, DTLS, forms without a marker, sequence
 * numbers. With the words of test_classify.c that is every kind there is.
 */
#include "include/classify_support.h"

#define MARK   "\xff\xff\xff\xff"
#define B(s)   s, sizeof(s) - 1
#define C2S    DIRECTION_C2S
#define S2C    DIRECTION_S2C

#define F_NQ   FAMILY_NETQUAKE
#define F_QW   FAMILY_QUAKEWORLD
#define F_Q2   FAMILY_QUAKE2
#define F_Q3   FAMILY_QUAKE3
#define F_QE   FAMILY_QUAKE_ENHANCED
#define F_AUTO FAMILY_AUTO

#define TEN    "0123456789"
#define HEADER "\xfe\xfd\0\0\0\0\0\0\0\0" /* DTLS 1.2, epoch 0, record 0 */
#define EPOCH1 "\xfe\xfd\0\1\0\0\0\0\0\0"
#define RANDOM TEN TEN TEN "ab"
/* Handshake header: type, u24 length, sequence, u24 offset, u24 length. */
#define HELLO(length) "\1\0\0" length "\0\0\0\0\0\0\0" length "\xfe\xfd" RANDOM

static const struct example {
	enum wire_family family;
	enum direction direction;
	const char *bytes;
	size_t n;
	enum wire_kind kind;
} examples[] = {
	/* What comes back of an echo: a digit begins no word. */
	{ F_Q3, C2S, B(MARK "2abcdef"), KIND_ECHO_RETURN },
	{ F_Q3, C2S, B(MARK "9abcdefg-1xQuake3Arena"), KIND_ECHO_RETURN },
	{ F_Q2, C2S, B(MARK "2abcdefgi"), KIND_ECHO_RETURN },
	{ F_Q2, S2C, B(MARK "2abcdefgi"), KIND_OOB_UNUSUAL },
	{ F_AUTO, C2S, B(MARK "2abcdefgi"), KIND_OOB_UNUSUAL },
	{ F_Q3, C2S, B(MARK "2abcde"), KIND_OOB_UNUSUAL },
	{ F_Q3, C2S, B(MARK "1abcdef"), KIND_OOB_UNUSUAL },
	{ F_Q3, S2C, B(MARK "2abcdef"), KIND_OOB_UNUSUAL },
	{ F_QW, C2S, B(MARK "2abcdef"), KIND_OOB_UNUSUAL },
	/* NetQuake control: the length word must be the datagram's. */
	{ F_NQ, C2S, B("\x80\0\0\x0c\x02QUAKE\0\x03"), KIND_CCREQ_SERVER_INFO },
	{ F_QW, C2S, B("\x80\0\0\x0c\x02QUAKE\0\x03"), KIND_CCREQ_SERVER_INFO },
	{ F_QE, C2S, B("\x80\0\0\x0c\x02QUAKE\0\x03"), KIND_CCREQ_SERVER_INFO },
	{ F_AUTO, C2S, B("\x80\0\0\x0c\x02QUAKE\0\x03"), KIND_CCREQ_SERVER_INFO },
	{ F_Q3, C2S, B("\x80\0\0\x0c\x02QUAKE\0\x03"), KIND_NETCHAN },
	{ F_NQ, C2S, B("\x80\0\0\x0b\x02QUAKE\0\x03"), KIND_MALFORMED },
	{ F_NQ, C2S, B("\x80\0\0\x0d\x02QUAKE\0\x03"), KIND_MALFORMED },
	{ F_NQ, C2S, B("\x80\0\x0c\0\x02QUAKE\0\x03"), KIND_MALFORMED },
	{ F_NQ, C2S, B("\x80\1\0\x0c\x02QUAKE\0\x03"), KIND_MALFORMED },
	{ F_NQ, C2S, B("\x80\0\0\x05\x06"), KIND_MALFORMED },
	{ F_NQ, C2S, B("\x80\0\0\x05\x80"), KIND_MALFORMED },
	{ F_NQ, C2S, B("\x80\0\0\x04"), KIND_RUNT },
	{ F_NQ, C2S, B("\x80\0\0"), KIND_RUNT },
	{ F_NQ, C2S, B(""), KIND_RUNT },
	/* NetQuake sessions. */
	{ F_NQ, C2S, B("\0\1\0\x09\0\0\0\0\1"), KIND_NQ_RELIABLE },
	{ F_NQ, C2S, B("\0\x09\0\x09\0\0\0\0\1"), KIND_NQ_RELIABLE },
	{ F_NQ, C2S, B("\0\x10\0\x09\0\0\0\0\1"), KIND_NQ_UNRELIABLE },
	{ F_NQ, C2S, B("\0\x10\0\x08\0\0\0\0"), KIND_NQ_UNRELIABLE },
	{ F_NQ, C2S, B("\0\x10\0\x07\0\0\0"), KIND_MALFORMED },
	{ F_NQ, C2S, B("\0\2\0\x08\0\0\0\0"), KIND_NQ_ACK },
	{ F_NQ, C2S, B("\0\2\0\x09\0\0\0\0\1"), KIND_MALFORMED },
	{ F_NQ, C2S, B("\0\4\0\x08\0\0\0\0"), KIND_NQ_NAK },
	{ F_QE, C2S, B("\0\4\0\x08\0\0\0\0"), KIND_NQ_NAK },
	{ F_NQ, C2S, B("\0\3\0\x08\0\0\0\0"), KIND_MALFORMED },
	{ F_NQ, C2S, B("\0\x10\0\x40\0\0\0\0" TEN TEN), KIND_MALFORMED },
	/* A QuakeWorld player whose sequence number looks like a NetQuake header. */
	{ F_QW, C2S,
	  B("\0\4\0\x10\0\0\0\0"
	    "12345678"),
	  KIND_NETCHAN },
	/* DarkPlaces, encrypted: anything, as long as it is no plain NetQuake. */
	{ F_NQ, C2S, B("\x1fzyxwvu" TEN TEN "1234"), KIND_NQ_ENCRYPTED },
	{ F_NQ, S2C, B("\x8fzyxwvu" TEN TEN "1234"), KIND_NQ_ENCRYPTED },
	/* Plain heads over a length that is not the datagram's. */
	{ F_NQ, C2S, B("\x80\0yxwvu" TEN TEN "1234"), KIND_MALFORMED },
	{ F_NQ, C2S, B("\0\1yxwvu" TEN TEN "1234"), KIND_MALFORMED },
	{ F_NQ, C2S, B("\0\2yxwvu" TEN TEN "1234"), KIND_MALFORMED },
	{ F_NQ, C2S, B("\0\4yxwvu" TEN TEN "1234"), KIND_MALFORMED },
	{ F_NQ, C2S, B("\0\x09yxwvu" TEN TEN "1234"), KIND_MALFORMED },
	{ F_NQ, C2S, B("\0\x10yxwvu" TEN TEN "1234"), KIND_MALFORMED },
	{ F_NQ, C2S, B("\0\x03yxwvu" TEN TEN "1234"), KIND_NQ_ENCRYPTED },
	{ F_NQ, C2S, B("\x1fzyxwvu" TEN "1234567"), KIND_NQ_ENCRYPTED },
	{ F_NQ, C2S, B("\x1fzyxwvu" TEN "123456"), KIND_MALFORMED },
	{ F_QE, C2S, B("\x1fzyxwvu" TEN TEN "1234"), KIND_MALFORMED },
	/* QuakeWorld: letters, and forms without a marker. */
	{ F_QW, S2C, B(MARK "c12345\0"), KIND_S2C_CHALLENGE },
	{ F_QW, S2C, B(MARK "c-12345\0"), KIND_S2C_CHALLENGE },
	{ F_QW, S2C, B(MARK "c0\0"), KIND_S2C_CHALLENGE },
	{ F_QW, S2C, B(MARK "c9\0"), KIND_S2C_CHALLENGE },
	{ F_QW, S2C, B(MARK "c/\0"), KIND_OOB_UNKNOWN },
	{ F_QW, S2C, B(MARK "c:\0"), KIND_OOB_UNKNOWN },
	{ F_AUTO, S2C, B(MARK "c12345\0"), KIND_S2C_CHALLENGE },
	{ F_AUTO, C2S, B(MARK "n\\map\\dm4\n"), KIND_A2C_PRINT },
	{ F_QW, C2S, B(MARK "c-12345\0"), KIND_S2C_CHALLENGE },
	{ F_QW, S2C, B(MARK "n\\map\\dm4\n"), KIND_A2C_PRINT },
	{ F_QW, S2C, B(MARK "nhello"), KIND_A2C_PRINT },
	{ F_QW, C2S, B(MARK "nhello"), KIND_OOB_UNKNOWN },
	{ F_NQ, S2C, B(MARK "nhello"), KIND_A2C_PRINT },
	{ F_Q3, S2C, B(MARK "nhello"), KIND_OOB_UNKNOWN },
	{ F_QW, S2C,
	  B(MARK "Bcmd\0"
		 "1\0"),
	  KIND_A2C_CLIENT_COMMAND },
	{ F_QW, S2C, B(MARK "d\n\1\2\3\4\5\6"), KIND_M2C_SERVERS },
	{ F_QW, S2C, B(MARK "dx\1\2\3\4\5\6"), KIND_OOB_UNKNOWN },
	/* Valve's answers: a letter alone is none. */
	{ F_Q3, S2C, B(MARK "I"), KIND_OOB_UNKNOWN },
	{ F_Q3, S2C, B(MARK "I\x11"), KIND_A2S_REPLY },
	/* And its questions, with and without the four octets of a challenge. */
	{ F_Q3, C2S, B(MARK "W"), KIND_A2S_CHALLENGE },
	{ F_Q3, C2S, B(MARK "W\xff\xff\xff\xff"), KIND_A2S_CHALLENGE },
	{ F_Q3, C2S, B(MARK "W\xff\xff\xff\xff\xff"), KIND_OOB_UNKNOWN },
	{ F_Q3, C2S, B(MARK "U\xff\xff\xff\xff"), KIND_A2S_PLAYER },
	{ F_Q3, C2S, B(MARK "U\xff\xff\xff"), KIND_OOB_UNKNOWN },
	{ F_Q3, C2S, B(MARK "V\xff\xff\xff\xff"), KIND_A2S_RULES },
	{ F_Q3, C2S, B(MARK "V\xff\xff\xff\xff\xff"), KIND_OOB_UNKNOWN },
	{ F_QW, S2C, B(MARK "n\\chunk\1\0\0\0)"), KIND_QW_CHUNK },
	{ F_QW, S2C, B(MARK "n\\chunkAAAA)"), KIND_QW_CHUNK },
	{ F_QW, S2C, B(MARK "n\\chun\nk"), KIND_A2C_PRINT },
	{ F_QW, C2S, B("a\n17\n4\n"), KIND_S2M_HEARTBEAT },
	{ F_QW, C2S, B("a\n0\n4\n"), KIND_S2M_HEARTBEAT },
	{ F_QW, C2S, B("a\n\0\0\1\0\0\0\x34\x12\3\0"), KIND_NETCHAN },
	{ F_QW, C2S, B("C\n"), KIND_S2M_SHUTDOWN },
	{ F_QW, C2S, B("C\n\0"), KIND_S2M_SHUTDOWN },
	{ F_QW, C2S, B("C\n\0\0\1\0\0\0\x34\x12\3\0"), KIND_NETCHAN },
	{ F_QW, C2S, B("k\0"), KIND_S2M_PING },
	{ F_QW, C2S, B("k\0\0\0\1\0\0\0"), KIND_NETCHAN },
	{ F_QW, C2S, B("c\n\0"), KIND_C2M_QUERY },
	{ F_QW, C2S, B("c\n\0\0\1\0\0\0"), KIND_NETCHAN },
	{ F_QW, C2S, B("l"), KIND_RAW_ACK },
	{ F_QW, C2S, B("m"), KIND_RAW_NACK },
	{ F_QW, C2S, B("x"), KIND_RUNT },
	{ F_QW, S2C, B("stdlog 17\nlog"), KIND_RAW_STDLOG },
	{ F_Q3, C2S, B("l"), KIND_RUNT },
	/* Quake II's master. */
	{ F_Q2, C2S, B("query\n\0"), KIND_Q2_MASTER_QUERY },
	{ F_Q2, C2S, B("qUERy"), KIND_Q2_MASTER_QUERY },
	{ F_Q2, C2S, B("query\n\0\0"), KIND_Q2_MASTER_QUERY },
	{ F_Q2, C2S, B("query\n\0\0\0"), KIND_NETCHAN },
	/* Not one bit of small letters: numbers of a session. */
	{ F_Q2, C2S, B("QUERY\n\0\0"), KIND_NETCHAN },
	{ F_Q2, C2S, B("quer"), KIND_RUNT },
	/* Sequence numbers. */
	{ F_QW, C2S, B("\1\0\0\0\0\0\0\0\x34\x12\1"), KIND_NETCHAN },
	{ F_Q2, C2S, B("\1\0\0\x80\0\0\0\0\x34\x12\4new"), KIND_NETCHAN },
	{ F_Q3, C2S, B("\1\0\0\0\x34\x12" TEN), KIND_NETCHAN },
	{ F_Q3, C2S, B("\1\0\0\x80\x34\x12" TEN), KIND_NETCHAN_FRAGMENT },
	{ F_Q2, C2S, B("\0\0\0\0\0\0\0\0\x34\x12\1"), KIND_MALFORMED },
	{ F_Q2, C2S, B("\0\0\0\x80\0\0\0\0\x34\x12\1"), KIND_MALFORMED },
	{ F_Q3, C2S, B("\0\0\0\0\x34\x12" TEN), KIND_MALFORMED },
	{ F_QW, C2S, B("\0\0\0\x80\0\0\0\0\x34\x12\1"), KIND_NETCHAN },
	{ F_Q3, C2S, B("\1\0\0\0\x34\x12\0"), KIND_RUNT },
	{ F_Q2, C2S, B("\1\0\0\0\0\0\0"), KIND_RUNT },
	{ F_Q3, C2S, B("\xff\xff\xff"), KIND_RUNT },
	{ F_Q3, C2S, B("\xff\xff\xff\xfegetstatus"), KIND_NETCHAN_FRAGMENT },
	{ F_Q3, C2S, B("\xff\xffgetstatus"), KIND_NETCHAN }, /* Doom 3's marker */
	/* DTLS: records. */
	{ F_QE, C2S, B("\x14" HEADER "\0\1\1"), KIND_DTLS_CCS },
	{ F_QE, C2S, B("\x15" HEADER "\0\2\2\x28"), KIND_DTLS_ALERT },
	{ F_QE, C2S, B("\x15" EPOCH1 "\0\x0a" TEN), KIND_DTLS_DATA },
	{ F_QE, C2S, B("\x16" EPOCH1 "\0\x0a" TEN), KIND_DTLS_ENCRYPTED },
	{ F_QE, C2S, B("\x17" EPOCH1 "\0\x0a" TEN), KIND_DTLS_DATA },
	{ F_QE, C2S, B("\x17" EPOCH1 "\0\x0a" TEN "\x17"), KIND_DTLS_DATA },
	{ F_QE, C2S, B("\x17\xfe\xfd\1\0\0\0\0\0\0\0\0\x0a" TEN), KIND_DTLS_DATA },
	{ F_QE, C2S, B("\x17" HEADER "\0\x0a" TEN), KIND_MALFORMED },
	{ F_QE, C2S, B("\x18" EPOCH1 "\0\x0a" TEN), KIND_DTLS_HEARTBEAT },
	{ F_QE, C2S, B("\x19" EPOCH1 "\0\x0a" TEN), KIND_MALFORMED },
	{ F_QE, C2S, B("\x13" EPOCH1 "\0\x0a" TEN), KIND_MALFORMED },
	{ F_QE, C2S, B("\x17\xfe\xfe\0\1\0\0\0\0\0\0\0\x0a" TEN), KIND_MALFORMED },
	{ F_QE, C2S, B("\x17\xfe\xff\0\1\0\0\0\0\0\0\0\x0a" TEN), KIND_DTLS_DATA },
	{ F_QE, C2S, B("\x17" EPOCH1 "\0\x0b" TEN), KIND_MALFORMED },
	{ F_QE, C2S, B("\x17" EPOCH1 "\0\0" TEN), KIND_MALFORMED },
	{ F_QE, C2S, B("\x17" EPOCH1 "\0\x0a"), KIND_MALFORMED },
	{ F_QW, C2S, B("\x17" EPOCH1 "\0\x0a" TEN), KIND_DTLS_DATA },
	{ F_Q2, C2S, B("\x17" EPOCH1 "\0\x0a" TEN), KIND_NETCHAN },
	/* DTLS: ClientHello, its cookie, and lengths that run over the record. */
	{ F_QE, C2S, B("\x16" HEADER "\0\x3c" HELLO("\x30") "\0\0" TEN "xx"),
	  KIND_DTLS_CLIENT_HELLO },
	{ F_QE, C2S, B("\x16" HEADER "\0\x3c" HELLO("\x30") "\0\1" TEN "xx"),
	  KIND_DTLS_HELLO_COOKIE },
	{ F_QE, C2S, B("\x16" HEADER "\0\x3f" HELLO("\x33") "\4abcd\0" TEN "x"),
	  KIND_DTLS_CLIENT_HELLO },
	{ F_QE, C2S, B("\x16" HEADER "\0\x3f" HELLO("\x33") "\4abcd\1" TEN "x"),
	  KIND_DTLS_HELLO_COOKIE },
	{ F_QE, C2S, B("\x16" HEADER "\0\x40" HELLO("\x33") "\4abcd\1" TEN "x"),
	  KIND_MALFORMED },
	/* A session's id has 32 bytes at most. */
	{ F_QE, C2S, B("\x16" HEADER "\0\x50" HELLO("\x44") "\x20" RANDOM "\0"),
	  KIND_DTLS_CLIENT_HELLO },
	{ F_QE, C2S, B("\x16" HEADER "\0\x51" HELLO("\x45") "\x21" RANDOM "c\0"),
	  KIND_MALFORMED },
	{ F_QE, C2S, B("\x16" HEADER "\0\x30" HELLO("\x24") "\0\0"),
	  KIND_DTLS_CLIENT_HELLO },
	{ F_QE, C2S, B("\x16" HEADER "\0\x30" HELLO("\x24") "\1\7\7"), KIND_MALFORMED },
	{ F_QE, C2S, B("\x16" HEADER "\0\x30" HELLO("\x24") "\x21" TEN TEN TEN TEN),
	  KIND_MALFORMED },
	{ F_QE, C2S, B("\x16" HEADER "\0\x0d\1\0\0\1\0\0\0\0\0\0\0\1x"),
	  KIND_DTLS_CLIENT_HELLO },
	{ F_QE, C2S, B("\x16" HEADER "\0\x0c\1\0\0\0\0\0\0\0\0\0\0\0"), KIND_DTLS_OTHER },
	{ F_QE, C2S, B("\x16" HEADER "\0\x0d\x63\0\0\1\0\0\0\0\0\0\0\1x"),
	  KIND_DTLS_OTHER },
};

static void examples_are_what_they_are(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(examples); i++) {
		const struct example *s = &examples[i];
		enum wire_kind kind = kind_of(s->family, s->direction, s->bytes, s->n);

		if (kind != s->kind) {
			print_error("row %zu, %s: %s, not %s\n", i,
				    family_name(s->family), kind_name(kind),
				    kind_name(s->kind));
			print_bytes("row", s->bytes, s->n);
		}
		assert_int_equal(kind, s->kind);
	}
}

/* Cut anywhere, a datagram is dropped, or charged as strictly as before. */
static void a_cut_example_is_no_looser(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(examples); i++) {
		const struct example *s = &examples[i];
		enum wire_class whole = wire_class(s->family, s->kind);

		if (whole == CLASS_MALFORMED)
			continue; /* a cut may well mend it */
		for (size_t n = 0; n < s->n; n++) {
			enum wire_kind kind = kind_of(s->family, C2S, s->bytes, n);
			enum wire_class class = wire_class(s->family, kind);

			if (class == whole || class >= CLASS_REPLY ||
			    class == CLASS_UNKNOWN || class == CLASS_NETCHAN)
				continue;
			print_error("row %zu cut to %zu: %s\n", i, n, kind_name(kind));
			fail();
		}
	}
}

static void control_and_handshake_rows(void **state)
{
	static const struct {
		enum wire_kind kind;
		__u8 code;
	} control[] = {
#define AS_ROW(kind, code, name, class_, families) { KIND_##kind, code },
		WIRE_CONTROL(AS_ROW)
	},
	  handshake[] = { WIRE_HANDSHAKE(AS_ROW) };
#undef AS_ROW
	static const int families[] = { F_NQ, F_QW, F_QE, F_AUTO };
	__u8 packet[64] = { 0x80, 0x00, 0x00 };
	__u8 record[26] = "\x16" HEADER "\0\x0d";

	(void)state;
	for (size_t f = 0; f < COUNT(families); f++) {
		for (size_t i = 0; i < COUNT(control); i++) {
			for (size_t n = 5; n < sizeof(packet); n++) {
				packet[3] = (__u8)n;
				packet[4] = control[i].code;
				assert_int_equal(kind_of(families[f], C2S, packet, n),
						 control[i].kind);
			}
		}
		for (size_t i = 0; i < COUNT(handshake); i++) {
			record[13] = handshake[i].code;
			assert_int_equal(kind_of(families[f], C2S, record,
						 sizeof(record)),
					 handshake[i].kind);
		}
	}
}

/* Too long for any sender that wants its datagram whole. */
static void long_game_packets(void **state)
{
	static __u8 bytes[1600] = { 1 };

	(void)state;
	assert_int_equal(kind_of(F_Q3, C2S, bytes, 1400), KIND_NETCHAN);
	assert_int_equal(kind_of(F_Q3, C2S, bytes, 1401), KIND_MALFORMED);
	assert_int_equal(kind_of(F_Q2, C2S, bytes, 1472), KIND_NETCHAN);
	assert_int_equal(kind_of(F_Q2, C2S, bytes, 1473), KIND_MALFORMED);
	assert_int_equal(kind_of(F_QW, C2S, bytes, 1472), KIND_NETCHAN);
	assert_int_equal(kind_of(F_QW, C2S, bytes, 1473), KIND_MALFORMED);
}

/* Every QuakeWorld sequence number is a game packet, whatever letters it spells. */
static void every_sequence_is_a_game_packet(void **state)
{
	__u8 bytes[12] = { 0 };

	(void)state;
	for (__u32 sequence = 1; sequence < 1 << 21; sequence++) {
		for (__u32 reliable = 0; reliable < 2; reliable++) {
			__u32 word = sequence | reliable << 31;

			memcpy(bytes, &word, 4);
			assert_int_equal(classify_span(F_QW, C2S, bytes, 12, 12),
					 KIND_NETCHAN);
			assert_int_equal(classify_span(F_Q2, C2S, bytes, 12, 12),
					 KIND_NETCHAN);
		}
	}
}

static void no_kind_is_out_of_reach(void **state)
{
	bool seen[KIND_COUNT] = {
		[KIND_FRAGMENT] = true, /* these four are not told by the bytes */
		[KIND_BAD_LENGTH] = true,
		[KIND_OTHER_PROTOCOL] = true,
		[KIND_COALESCED] = true,
#define AS_ROW(kind, word, class_, families, sent) [KIND_##kind] = true,
		WIRE_WORDS(AS_ROW) /* test_classify.c */
#undef AS_ROW
#define AS_ROW(kind, code, name, class_, families) [KIND_##kind] = true,
		WIRE_CONTROL(AS_ROW) WIRE_HANDSHAKE(AS_ROW) /* above */
#undef AS_ROW
			[KIND_OOB_EMPTY] = true, /* test_classify.c */
		[KIND_OOB_UNUSUAL] = true,
		[KIND_OOB_UNKNOWN] = true,
		[KIND_A2S_INFO] = true,
		[KIND_A2S_PLAYER] = true,
		[KIND_A2S_RULES] = true,
		[KIND_A2S_CHALLENGE] = true,
		[KIND_A2S_PING] = true,
		[KIND_A2S_REPLY] = true,
	};

	(void)state;
	for (size_t i = 0; i < COUNT(examples); i++)
		seen[examples[i].kind] = true;
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		if (!seen[kind])
			print_error("no sample of %s\n", kind_name(kind));
		assert_true(seen[kind]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples_are_what_they_are),
		cmocka_unit_test(a_cut_example_is_no_looser),
		cmocka_unit_test(control_and_handshake_rows),
		cmocka_unit_test(long_game_packets),
		cmocka_unit_test(every_sequence_is_a_game_packet),
		cmocka_unit_test(no_kind_is_out_of_reach),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
