// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_demo.c - demo blocks, and which game wrote them.
 *
 * The first block is a gamestate made by the recording client. It is read with each
 * game's tables; where several fit, the protocol number in its serverinfo decides, and
 * without one the base game's are taken.
 */
#include "decode/q3/q3_demo.h"
#include "lib/reader.h"

/*
 * A gamestate in plain bytes: op 2, number, op 3, index 0 or 1, an info string; behind
 * @acknowledge bytes.
 */
static bool is_old(const uint8_t *message, size_t n, size_t acknowledge)
{
	struct reader rd = reader_of(message, n);
	unsigned int op, configstring, index;

	reader_take(&rd, acknowledge);
	op = reader_u8(&rd);
	reader_le32(&rd);
	configstring = reader_u8(&rd);
	index = reader_le16(&rd);
	return op == 2 && configstring == 3 && index <= 1 && reader_u8(&rd) == '\\' &&
	       !reader_failed(&rd);
}

static bool holds_gamestate(const struct q3_dialect *d, const uint8_t *message, size_t n)
{
	struct record silent;
	struct q3_parse p;

	record_reset(&silent, NULL);
	q3_parse_init(&p, message, n, d, NULL, &silent);
	return q3_parse_server(&p) && p.content == Q3_HOLDS_GAMESTATE;
}

enum q3_demo_kind q3_demo_recognise(const uint8_t *bytes, size_t n)
{
	struct reader rd = reader_of(bytes, n);
	int32_t sequence = (int32_t)reader_le32(&rd);
	uint32_t length = reader_le32(&rd);
	const uint8_t *message = reader_take(&rd, length);

	if (!message || !length || length > Q3_MESSAGE_MAX || sequence < 0)
		return Q3_DEMO_NONE;
	if (is_old(message, length, 0) || is_old(message, length, 4))
		return Q3_DEMO_OLD;
	for (unsigned int i = 0; q3_dialects[i]; i++)
		if (holds_gamestate(q3_dialects[i], message, length))
			return Q3_DEMO_MODERN;
	return Q3_DEMO_NONE;
}

/* The header before the first block, as q3_demo_header() reads it. */
static bool header_take(struct reader *rd, struct span *version, int32_t *protocol)
{
	uint32_t n = reader_le32(rd);

	*version = (struct span){ reader_take(rd, n), n };
	*protocol = (int32_t)reader_le32(rd);
	return n && n <= Q3_URT_VERSION_MAX && !reader_le32(rd) && !reader_le32(rd) &&
	       !reader_failed(rd);
}

bool q3_demo_recognise_urt(const uint8_t *bytes, size_t n)
{
	struct reader rd = reader_of(bytes, n);
	struct span version;
	int32_t protocol;

	return header_take(&rd, &version, &protocol) && protocol >= 66 &&
	       protocol < 100 &&
	       q3_demo_recognise(rd.pos, reader_left(&rd)) == Q3_DEMO_MODERN;
}

void q3_demo_header(const uint8_t *bytes, size_t n, struct record *r)
{
	struct reader rd = reader_of(bytes, n);
	struct span version = { bytes, n - Q3_URT_HEADER_REST };

	reader_take(&rd, version.n);
	r->direction = DIRECTION_S2C;
	r->kind = "demo-header";
	record_string(r, "version", version.bytes, version.n);
	record_int(r, "protocolVersion", (int32_t)reader_le32(&rd));
	if (reader_le32(&rd) || reader_le32(&rd))
		record_malformed(r, "reserved words are not zero");
}

void q3_demo_start(struct q3_session *s, enum q3_demo_kind kind)
{
	memset(s, 0, sizeof(*s));
	q3_session_start(s, true);
	s->netchan = Q3_NETCHAN_CHECKSUM; /* nothing is scrambled */
	s->dialect = NULL;
	s->plain = kind == Q3_DEMO_OLD;
}

/* The number that the server gives itself, in a gamestate read with @d. */
static int32_t protocol_of(struct q3_session *s, const struct q3_dialect *d,
			   const uint8_t *message, size_t n)
{
	const char *info;
	struct record silent;
	struct q3_parse p;
	int32_t number = 0;
	size_t info_n;

	record_reset(&silent, NULL);
	q3_parse_init(&p, message, n, d, s->game, &silent);
	p.commit = true;
	q3_parse_server(&p);
	info = q3_configstring(s->game, 0, &info_n);
	q3_info_number(info, info_n, "protocol", &number);
	return number;
}

static void choose_dialect(struct q3_session *s, const uint8_t *message, size_t n)
{
	const struct q3_dialect *const *list = s->plain ? q3_old_dialects : q3_dialects;
	const struct q3_dialect *first = NULL, *found = NULL;

	for (unsigned int i = 0; list[i] && !found; i++) {
		const struct q3_dialect *d = list[i];

		if (!holds_gamestate(d, message, n))
			continue;
		if (!first)
			first = d;
		if (protocol_of(s, d, message, n) == d->protocol)
			found = d;
	}
	s->dialect = found ? found : first;
}

void q3_demo_block(struct q3_session *s, int32_t sequence, const uint8_t *message,
		   size_t n, struct record *r)
{
	struct q3_parse p;

	r->direction = DIRECTION_S2C;
	r->kind = "demo-block";
	r->time_ns = s->demo_ns;
	record_int(r, "sequence", sequence);
	r->facts.has |= FACT_SEQUENCE;
	r->facts.sequence = (uint32_t)sequence;
	record_uint(r, "messageLength", n);
	if (!s->game) {
		record_opaque(r,
			      "demo of a protocol before 66: no Huffman, other deltas");
		return;
	}
	if (!s->dialect)
		choose_dialect(s, message, n);
	if (!s->dialect) {
		record_malformed(r, "no gamestate in the first block");
		return;
	}
	if (n > s->dialect->message_max) {
		record_malformed(r, "block longer than a message may be");
		return;
	}
	/* The gamestate in front was made when the recording began; the first snapshot is
	 * what came next and had no base. */
	if (s->game->gamestate_sequence && !s->demo_ns)
		evidence_account(&s->game->gamestate, s->game->gamestate.upto + 1,
				 (uint32_t)sequence - 1);
	q3_parse_init(&p, message, n, s->dialect, s->game, r);
	p.sequence = sequence;
	q3_decode_message(&p, DIRECTION_S2C);
	/* The file has no times of its own. */
	if (r->facts.has & FACT_TIME && r->status < RECORD_OPAQUE)
		s->demo_ns = r->facts.time_us * 1000;
	r->time_ns = s->demo_ns;
}
