/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qe_talk.h - two ends that speak DTLS to each other through the decoder, by the encoder
 * of qe_encoder.h, and what came of it.
 */
#ifndef QE_TALK_H
#define QE_TALK_H

#include "decode/decode_support.h"
#include "decode/qe/qe_encoder.h"

enum {
	HELLO = 1,
	SERVER_HELLO,
	VERIFY,
	TICKET,
	DONE = 14,
	KEY = 16,
	FINISHED = 20
};
enum {
	CIPHER = 20,
	ALERT,
	HANDSHAKE,
	DATA
};

#define IDENTITY "quake-enhanced-test"

static const uint8_t psk[16] = "our own test key";
static const uint8_t session_id[32] = "an id that both of the ends know";
static const uint8_t ticket[100] = { 7, 7, 7 };

/* Two ends, and what is on its way from each. */
struct talk {
	struct harness *h;
	struct enc e;
	uint16_t port;
	uint8_t way[2][ENC_ROOM];
	size_t n[2];
	size_t most; /* bytes of a fragment; 0: messages stay whole */
	bool backwards; /* the last fragment goes first, and each overlaps the next */
	uint8_t mute; /* messages of this type are lost */
	bool other_key; /* than the decoder has */
	unsigned int forged; /* a bit for each step of the handshake: hellos before it */
	unsigned int forgers; /* how many at each, less one */
	char cookie[5]; /* of the server's; "": some */
	unsigned int pieced; /* as .forged: pieces of a handshake, behind the hellos */
	uint8_t piece; /* of what type: HELLO, one byte of it, or KEY, all of it */
	bool key_too; /* with the number of the client's, where it comes next */
	bool told; /* the decoder is told who serves */
	bool liar; /* before each hello the client is given the server's words */
	uint8_t word; /* a clear message of this type before the client's key; 0: none */
	bool late; /* the first hello comes again behind the second */
};

static inline struct talk talk_of(struct harness *h, const struct enc_suite *suite,
				  uint16_t port)
{
	struct talk t = { .h = h, .e = { .suite = suite }, .port = port };

	for (int i = 0; i < 32; i++) {
		t.e.random[0][i] = (uint8_t)(port + i);
		t.e.random[1][i] = (uint8_t)(port / 256 + 3 * i);
	}
	return t;
}

static inline struct harness *begin(void)
{
	struct decoder_options options = { .fields = true,
					   .forced = FAMILY_AUTO,
					   .psk = { IDENTITY, psk, sizeof(psk) } };

	return harness_with(&options);
}

static inline void deliver(struct talk *t, int side, const uint8_t *bytes, size_t n)
{
	struct record_address client = harness_address(9, t->port);
	struct record_address server = harness_address(1, 26000);

	t->h->told = !t->told ? DIRECTION_UNKNOWN : side ? DIRECTION_S2C : DIRECTION_C2S;
	harness_send(t->h, side ? server : client, side ? client : server, bytes, n);
}

/* What the side has said goes as one datagram. */
static inline void flush(struct talk *t, int side)
{
	if (t->n[side])
		deliver(t, side, t->way[side], t->n[side]);
	t->n[side] = 0;
}

static inline void put(struct talk *t, int side, uint16_t epoch, uint8_t type,
		       const void *text, size_t n)
{
	t->n[side] +=
		enc_record(&t->e, side, epoch, type, text, n, t->way[side] + t->n[side]);
}

static inline void fragments(struct talk *t, int side, uint8_t type, uint16_t number,
			     const uint8_t *body, size_t n)
{
	size_t count = n ? (n + t->most - 1) / t->most : 1;
	uint8_t out[ENC_ROOM];

	for (size_t i = 0; i < count; i++) {
		size_t at = (t->backwards ? count - 1 - i : i) * t->most;
		size_t piece = t->most + (t->backwards ? 3 : 0);

		piece = piece < n - at ? piece : n - at;
		flush(t, side);
		put(t, side, 0, HANDSHAKE, out,
		    enc_fragment(type, number, body, n, at, piece, out));
	}
}

static inline void say(struct talk *t, int side, uint16_t epoch, uint8_t type,
		       const void *body, size_t n)
{
	uint16_t number = t->e.number[side];
	uint8_t out[ENC_ROOM];
	size_t bytes = enc_message(&t->e, side, type, body, n, out);

	if (type == t->mute)
		return;
	if (t->most && !epoch)
		fragments(t, side, type, number, body, n);
	else
		put(t, side, epoch, HANDSHAKE, out, bytes);
}

static inline void say_hello(struct talk *t, int side, const struct enc_hello *hello)
{
	uint8_t body[512];

	say(t, side, 0, side ? SERVER_HELLO : HELLO, body,
	    enc_hello(&t->e, side, hello, body));
}

static inline void say_finished(struct talk *t, int side)
{
	uint8_t verify[12];
	size_t n = enc_finished(&t->e, side, verify);

	put(t, side, 0, CIPHER, "\1", 1);
	say(t, side, 1, FINISHED, verify, n);
}

/* Pieces of no hello that could be told apart, with the numbers of a client's messages.
 */
static inline void forge_pieces(struct talk *t, unsigned int step)
{
	static const uint8_t name[] = "\0\4name";
	unsigned int numbers = step < 3 || t->key_too ? 3 : 2;

	for (unsigned int i = 0; t->pieced >> step & 1 && i < numbers; i++) {
		struct talk forger = talk_of(t->h, t->e.suite, t->port);
		uint8_t out[64];

		forger.told = t->told;
		put(&forger, 0, 0, HANDSHAKE, out,
		    enc_fragment(t->piece, i, name, 6, 0, t->piece == KEY ? 6 : 1, out));
		flush(&forger, 0);
	}
}

/* Clients' hellos that somebody else sends, at step @step; and pieces. */
static inline void forge_hello(struct talk *t, unsigned int step)
{
	struct talk forger;

	for (unsigned int i = 0; t->forged >> step & 1 && i <= t->forgers; i++) {
		forger = talk_of(t->h, t->e.suite, t->port);
		forger.told = t->told;
		if (t->liar) {
			say(&forger, 0, 0, VERIFY, "\xfe\xff\6forged", 9);
			flush(&forger, 0);
		}
		memset(forger.e.random[0], (int)(step + 16 * i), 32);
		say_hello(&forger, 0,
			  &(struct enc_hello){ .cookie = (const uint8_t *)"forged",
					       .cookie_n = 6 });
		flush(&forger, 0);
	}
	forge_pieces(t, step);
}

/* Somebody else's message in the client's name, of @n bytes of nothing. */
static inline void forge_word(struct talk *t, uint8_t type, uint16_t number, size_t n)
{
	static const uint8_t nothing[16];
	struct talk forger = talk_of(t->h, t->e.suite, t->port);
	uint8_t out[64];

	forger.told = t->told;
	put(&forger, 0, 0, HANDSHAKE, out,
	    enc_fragment(type, number, nothing, n, 0, n, out));
	flush(&forger, 0);
}

/* Overtaken on its way by the hello that followed it. */
static inline void late_hello(struct talk *t, const struct enc_hello *first)
{
	struct talk late = *t;

	late.e.number[0] = 0;
	say_hello(&late, 0, first);
	flush(&late, 0);
	t->e.sequence[0][0] = late.e.sequence[0][0];
}

/*
 * Up to and without the server's Finished; with a cookie, a ticket if asked for, and the
 * session's id, which is the server's to choose.
 */
static inline void handshake(struct talk *t, const struct enc_hello *hello)
{
	struct enc_hello again = { .ticket = hello->ticket }, first = again;
	uint8_t body[256], verify[] = "\xfe\xff\4cook";
	size_t n;

	if (*t->cookie)
		memcpy(verify + 3, t->cookie, 4);
	forge_hello(t, 0);
	say_hello(t, 0, &again);
	flush(t, 0);
	forge_hello(t, 1);
	say(t, 1, 0, VERIFY, verify, 7);
	flush(t, 1);
	forge_hello(t, 2);
	t->e.said_n = 0;
	again.cookie = verify + 3;
	again.cookie_n = 4;
	say_hello(t, 0, &again);
	flush(t, 0);
	if (t->late)
		late_hello(t, &first);
	forge_hello(t, 3);
	say_hello(t, 1, hello);
	say(t, 1, 0, DONE, NULL, 0);
	flush(t, 1);
	forge_hello(t, 4);
	if (t->word)
		forge_word(t, t->word, 3, 12);
	n = enc_put(body, strlen(IDENTITY), 2);
	n += enc_add(body + n, IDENTITY, strlen(IDENTITY));
	say(t, 0, 0, KEY, body, n);
	enc_master(&t->e, t->other_key ? ticket : psk, sizeof(psk));
	enc_keys(&t->e);
	say_finished(t, 0);
	flush(t, 0);
	if (hello->ticket) {
		n = enc_put(body, 7200, 4);
		n += enc_put(body + n, sizeof(ticket), 2);
		n += enc_add(body + n, ticket, sizeof(ticket));
		say(t, 1, 0, TICKET, body, n);
	}
}

static inline void begun(struct talk *t, const struct enc_hello *hello)
{
	handshake(t, hello);
	say_finished(t, 1);
	flush(t, 1);
}

/* On from @before's session, by what @hello offers. */
static inline void resumed(struct talk *t, const struct enc *before,
			   const struct enc_hello *hello)
{
	memcpy(t->e.master, before->master, sizeof(t->e.master));
	say_hello(t, 0, hello);
	flush(t, 0);
	say_hello(t, 1,
		  &(struct enc_hello){ .session_id = hello->session_id,
				       .session_id_n = hello->session_id_n });
	enc_keys(&t->e);
	say_finished(t, 1);
	flush(t, 1);
	say_finished(t, 0);
	flush(t, 0);
}

/* An unreliable message of a nop. */
static inline size_t nop(uint32_t sequence, uint8_t *to)
{
	memcpy(to, "\0\x10\0\x09\0\0", 6);
	enc_put(to + 6, sequence, 2);
	to[8] = 1;
	return 9;
}

static inline void play(struct talk *t, int side, uint32_t sequence)
{
	uint8_t text[16];

	put(t, side, 1, DATA, text, nop(sequence, text));
	flush(t, side);
}

/* --- what came of it --------------------------------------------------------------- */

static inline unsigned int count(json_t *all, const char *path, const char *value)
{
	unsigned int n = 0;
	json_t *r;
	size_t i;

	json_array_foreach (all, i, r)
		n += !strcmp(text_at(r, path), value);
	return n;
}

/* Finished messages of all records that were verified. */
static inline unsigned int verified(json_t *all)
{
	char *text = json_dumps(all, JSON_COMPACT);
	unsigned int n = 0;

	for (const char *at = text; (at = strstr(at, "\"verified\":true")); at++)
		n++;
	free(text);
	return n;
}

/* All that both ends said is there, right, and read. */
static inline void assert_whole(json_t *all, unsigned int plays)
{
	json_t *r;
	size_t i;

	json_array_foreach (all, i, r)
		if (strcmp(text_at(r, "status"), "decoded") != 0)
			fail_msg("record %zu: %s", i, json_dumps(r, 0));
	assert_int_equal(verified(all), 2);
	assert_int_equal(count(all, "kind", "nq-unreliable"), plays);
}

#endif /* QE_TALK_H */
