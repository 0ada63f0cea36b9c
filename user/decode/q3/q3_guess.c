// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_guess.c - keys of a legacy connection that began unseen.
 *
 * The key of a server's message is the low byte of the challenge, the sequence and the
 * text of the client command that it acknowledges. Three messages with the same
 * acknowledge are tried with every challenge byte and the texts that clients send most; a
 * wrong key does not parse to the exact end of all three.
 */
#include <stdlib.h>

#include "decode/q3/q3_session.h"

#define TRIAL_MESSAGES 3
#define TRIAL_MIN      27
#define TRIAL_HEAD     24
#define NUMBER_MAX     (1 << 20)
#define OP_GAMESTATE   2
#define OP_COMMAND     5
#define OP_SNAPSHOT    7
#define TRIALS_MAX     256 /* kept at once, of all connections */
#define GUESSES_MAX    256 /* rounds for one connection */

struct trial_message {
	int32_t sequence;
	uint16_t n;
	uint8_t payload[Q3_SLICE];
};

struct q3_trial {
	int32_t acknowledge;
	unsigned int used;
	struct trial_message message[TRIAL_MESSAGES];
};

static const char *const common_texts[] = {
	"score",	  "kill",     "vote yes",  "vote no",	 "team free",
	"team spectator", "team red", "team blue", "follownext", "followprev",
};

/* Read the beginning of a message from its first bytes: most wrong keys end here. */
static bool plausible(const uint8_t *plain)
{
	struct q3_bits b = q3_bits_of(plain, TRIAL_HEAD);
	unsigned int op;

	q3_get(&b, 32);
	op = q3_get(&b, 8);
	if (op == OP_COMMAND || op == OP_GAMESTATE)
		return q3_get(&b, 32) < NUMBER_MAX;
	if (op != OP_SNAPSHOT)
		return false;
	q3_get(&b, 32);
	q3_get(&b, 16);
	return q3_get(&b, 8) <= 32 && !q3_bits_failed(&b);
}

/*
 * Is this a good message under this key? @base is what it is under key 0: a rolling key
 * that begins elsewhere differs by the same bits in every byte.
 */
static bool fits(const struct q3_session *s, const uint8_t *base, size_t n, uint8_t key)
{
	const struct q3_dialect *d = s->dialect ? s->dialect : &q3_dialect_legacy;
	uint8_t plain[Q3_MESSAGE_MAX];
	struct record silent;
	struct q3_parse p;

	memcpy(plain, base, Q3_KEY_FROM_SERVER);
	for (size_t i = Q3_KEY_FROM_SERVER; i < TRIAL_HEAD; i++)
		plain[i] = base[i] ^ key;
	if (!plausible(plain))
		return false;
	for (size_t i = TRIAL_HEAD; i < n; i++)
		plain[i] = base[i] ^ key;
	record_reset(&silent, NULL);
	q3_parse_init(&p, plain, n, d, NULL, &silent);
	return q3_parse_server(&p);
}

static bool try_text(struct q3_session *s, const char *text, size_t n)
{
	uint8_t base[TRIAL_MESSAGES][Q3_SLICE];
	struct q3_trial *t = s->trial;

	for (unsigned int i = 0; i < t->used; i++) {
		memcpy(base[i], t->message[i].payload, t->message[i].n);
		q3_scramble(base[i], t->message[i].n, Q3_KEY_FROM_SERVER,
			    (uint8_t)t->message[i].sequence, text, n);
	}
	for (unsigned int key = 0; key < 256; key++) {
		unsigned int good = 0;

		if (s->has_challenge && (uint8_t)s->challenge != key)
			continue;
		while (good < t->used &&
		       fits(s, base[good], t->message[good].n, (uint8_t)key))
			good++;
		if (good < t->used)
			continue;
		if (!s->has_challenge)
			s->challenge = (int32_t)key;
		s->has_challenge = true;
		return true;
	}
	return false;
}

bool q3_session_find_key(struct q3_session *s, int32_t sequence, const char *text,
			 size_t text_n, const uint8_t *payload, size_t n)
{
	uint8_t base[Q3_MESSAGE_MAX];
	int found = -1;

	if (n < TRIAL_HEAD || n > sizeof(base) || s->guesses >= GUESSES_MAX)
		return false;
	s->guesses++;
	memcpy(base, payload, n);
	q3_scramble(base, n, Q3_KEY_FROM_SERVER, (uint8_t)sequence, text, text_n);
	for (int key = 0; key < 256; key++) {
		if (!fits(s, base, n, (uint8_t)key))
			continue;
		if (found >= 0)
			return false;
		found = key;
	}
	if (found < 0)
		return false;
	s->challenge = found;
	s->has_challenge = true;
	return true;
}

/* Texts that this client has sent before. */
static bool try_known(struct q3_session *s, const char **ret, size_t *ret_n)
{
	const struct q3_texts *t = s->game ? &s->game->client : NULL;

	for (unsigned int i = 0; t && i < Q3_TEXTS; i++) {
		const struct q3_text *text = q3_text_find(t, t->slot[i].number);

		if (!text || !text->n)
			continue;
		*ret = q3_text_bytes(t, text);
		*ret_n = text->n;
		if (try_text(s, *ret, *ret_n))
			return true;
	}
	return false;
}

static bool guess(struct q3_session *s, const char **ret, size_t *ret_n)
{
	*ret = "";
	*ret_n = 0;
	/* Nothing said yet: the empty text, for certain. */
	if (!s->trial->acknowledge)
		return try_text(s, *ret, *ret_n);
	if (try_known(s, ret, ret_n))
		return true;
	for (unsigned int i = 0; i < Q3_COUNT(common_texts); i++) {
		*ret = common_texts[i];
		*ret_n = strlen(*ret);
		if (try_text(s, *ret, *ret_n))
			return true;
	}
	return false;
}

static unsigned int trials;

void q3_trial_drop(struct q3_session *s)
{
	trials -= s->trial != NULL;
	free(s->trial);
	s->trial = NULL;
}

static struct q3_trial *get_trial(struct q3_session *s, int32_t acknowledge)
{
	if (!s->trial && trials < TRIALS_MAX) {
		s->trial = calloc(1, sizeof(*s->trial));
		trials += s->trial != NULL;
	}
	if (s->trial && s->trial->acknowledge != acknowledge) {
		s->trial->acknowledge = acknowledge;
		s->trial->used = 0;
	}
	return s->trial;
}

bool q3_session_guess(struct q3_session *s, int32_t sequence, int32_t acknowledge,
		      const uint8_t *payload, size_t n)
{
	struct q3_trial *t;
	struct trial_message *m;
	char text[Q3_STRING_MAX + 1];
	const char *found;
	size_t found_n;

	if (n < TRIAL_MIN || n > Q3_SLICE || s->guesses >= GUESSES_MAX)
		return false;
	t = get_trial(s, acknowledge);
	if (!t || t->used == TRIAL_MESSAGES)
		return false;
	m = &t->message[t->used++];
	m->sequence = sequence;
	m->n = (uint16_t)n;
	memcpy(m->payload, payload, n);
	if (t->used < TRIAL_MESSAGES)
		return false;
	s->guesses++;
	if (!guess(s, &found, &found_n))
		return false;
	if (!q3_game_get(&s->game, s->dialect ? s->dialect : &q3_dialect_legacy))
		return false;
	/* It may lie in the very store that it goes to. */
	memcpy(text, found, found_n);
	q3_text_put(&s->game->client, acknowledge, text, found_n, s->game->dialect);
	q3_trial_drop(s);
	s->live = true;
	return true;
}
