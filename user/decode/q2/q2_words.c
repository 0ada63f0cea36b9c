// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_words.c - what the words of joining teach.
 *
 *	connect 34 <qport> <challenge> "userinfo"
 *	connect 35 ... [max length] [minor version]
 *	connect 36 ... [max length] [netchan: 0 old, 1 new] [zlib] [minor version]
 *	client_connect [nc=0 or 1] ...
 *
 * A new connection begins at the first client_connect after a connect with another
 * challenge or qport; a repeated one changes nothing, unless disconnect
 * was said in between, or the sequences start at 1 again. Where client_connect was not
 * seen the netchan tells: see begin_if_new() in q2_session.c.
 *
 * Sources: Quake-2 server/sv_main.c; q2pro src/server/main.c; r1q2 server/sv_main.c.
 */
#include "decode/q2/q2_session.h"

#define CONNECT_NUMBERS 3 /* in front of the userinfo */
#define EXTRAS		4

/* The next token, of digits: the number. False: there is no token. */
static bool next_number(struct span *s, int64_t *ret)
{
	bool minus;

	*ret = 0;
	while (s->n && *s->bytes <= ' ' && *s->bytes != '\n')
		*s = (struct span){ s->bytes + 1, s->n - 1 };
	if (!s->n || *s->bytes == '\n' || !*s->bytes)
		return false;
	minus = *s->bytes == '-';
	for (bool first = true; s->n && *s->bytes > ' '; first = false) {
		if (*s->bytes >= '0' && *s->bytes <= '9')
			*ret = (*ret * 10 + *s->bytes - '0') & 0xffffffff;
		else if (!first || !minus)
			minus = false;
		*s = (struct span){ s->bytes + 1, s->n - 1 };
	}
	if (minus)
		*ret = -*ret;
	return true;
}

static void skip_quoted(struct span *s)
{
	const uint8_t *end;

	while (s->n && *s->bytes == ' ')
		*s = (struct span){ s->bytes + 1, s->n - 1 };
	if (!s->n || *s->bytes != '"')
		return;
	end = s->n > 1 ? memchr(s->bytes + 1, '"', s->n - 1) : NULL;
	end = end ? end + 1 : s->bytes + s->n;
	*s = (struct span){ end, s->n - (size_t)(end - s->bytes) };
}

static bool is_sent(const struct q2_session *q, int32_t challenge)
{
	for (unsigned int i = 0; i < q->challenges_n; i++)
		if (q->challenges[i] == challenge)
			return true;
	return false;
}

void q2_session_on_challenge(struct q2_session *q, struct span arguments)
{
	int64_t number;

	if (!next_number(&arguments, &number) || is_sent(q, (int32_t)number))
		return;
	if (q->challenges_n == Q2_CHALLENGES)
		memmove(q->challenges, q->challenges + 1,
			sizeof(*q->challenges) * --q->challenges_n);
	q->challenges[q->challenges_n++] = (int32_t)number;
}

/* A connect that follows may answer a challenge that was not seen. */
static void forget_challenges(struct q2_session *q)
{
	q->challenges_n = 0;
}

/* So a server refuses a connect; what it says to one that was not believed ends nothing.
 */
void q2_session_on_print(struct q2_session *q, enum direction direction)
{
	if (direction == DIRECTION_S2C && q->offer.has_connect && !q->doubted) {
		forget_challenges(q);
		q->offer.refused = true;
	}
}

void q2_session_on_connect(struct q2_session *q, struct span arguments)
{
	int64_t number[CONNECT_NUMBERS] = { 0 }, extra[EXTRAS] = { 0 };
	struct q2_offer *o = &q->offer;
	int extras = 0;

	for (int i = 0; i < CONNECT_NUMBERS; i++)
		next_number(&arguments, &number[i]);
	/* A forger has not received the server's challenge. */
	q->doubted = q->challenges_n && !is_sent(q, (int32_t)number[2]);
	if (q->doubted)
		return;
	skip_quoted(&arguments);
	while (extras < EXTRAS && next_number(&arguments, &extra[extras]))
		extras++;
	*o = (struct q2_offer){
		.protocol = (int32_t)number[0],
		.challenge = (int32_t)number[2],
		.qport = (uint16_t)number[1],
		.has_connect = true,
	};
	if (o->protocol >= 35)
		o->qport = number[1] > 255 ? 0 : (uint16_t)number[1];
	if (o->protocol == 35) {
		o->minor = extras > 1 ? (uint16_t)extra[1] : 1903;
	} else if (o->protocol == 36) {
		o->new_netchan = extras < 2 || extra[1];
		o->minor = extras > 3 ? (uint16_t)extra[3] : 1015;
	}
}

/* "nc=1" among the arguments. */
static void accept_netchan(struct q2_offer *o, struct span arguments)
{
	const uint8_t *at =
		arguments.n > 3 ? memmem(arguments.bytes, arguments.n, "nc=", 3) : NULL;

	if (at && at + 3 < arguments.bytes + arguments.n)
		o->new_netchan = at[3] == '1';
}

void q2_session_on_accept(struct q2_session *q, struct span arguments)
{
	if (!q->offer.has_connect)
		return;
	forget_challenges(q);
	if (q->offer.protocol == 36)
		accept_netchan(&q->offer, arguments);
	if (q2_session_is_offered(q) && !q->disconnected) {
		q->accepted_again = true;
		return;
	}
	q2_session_start(q);
}
