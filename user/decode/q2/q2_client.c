// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_client.c - clc_: what clients say. Moves are in q2_move.c.
 *
 * The parting "disconnect" of id's clients has no NUL: there the datagram ends.
 *
 * Sources: Quake-2 server/sv_user.c, client/cl_main.c; q2pro src/server/user.c.
 */
#include "decode/q2/q2_message.h"
#include "lib/info.h"

#define USERINFO_MAX  511
#define STRINGCMD_MAX 2047
#define INFO_KEY_MAX  63

static void parse_userinfo(struct ops *o)
{
	struct span info = reader_string(&o->rd), name;

	if (info.n > USERINFO_MAX)
		ops_wrong(o, "userinfo longer than 511");
	if (!record_info(o->record, "userinfo", info.bytes, info.n) && info.n)
		ops_wrong(o, "userinfo is no info string");
	if (!q2_unread(q2_of(o)) && info_find(info.bytes, info.n, "name", &name))
		facts_name(&o->record->facts, name.bytes, name.n);
}

static void parse_userinfo_delta(struct ops *o)
{
	struct span key = q2_string(o, "key"), value = reader_string(&o->rd);

	if (key.n == 8 && !memcmp(key.bytes, "password", 8))
		record_secret(o->record, "value", value.bytes, value.n);
	else
		record_string(o->record, "value", value.bytes, value.n);

	if (key.n > INFO_KEY_MAX || value.n > INFO_KEY_MAX)
		ops_wrong(o, "key or value longer than 63");
	if (!q2_unread(q2_of(o)) && key.n == 4 && !memcmp(key.bytes, "name", 4))
		facts_name(&o->record->facts, value.bytes, value.n);
}

static bool begins(struct span s, const char *word)
{
	size_t n = strlen(word);

	return s.n >= n && !memcmp(s.bytes, word, n);
}

/*
 * "download <name>", then "nextdl" for each block after the first. A request from an
 * offset on is for a part of a file that was not seen: it has no name here.
 */
static void watch_download(struct ops *o, struct span s)
{
	static const char asks[] = "download ", more[] = "nextdl";
	struct q2_session *q = q2_of(o)->session;
	const uint8_t *end;
	size_t n;

	if ((!begins(s, asks) && !begins(s, more)) || !q2_commit(o))
		return;
	q->block_wanted = true;
	if (!begins(s, asks))
		return;
	/* Another file, though the last one may have been given up. */
	q2_game_end_file(q->game);
	s = (struct span){ s.bytes + sizeof(asks) - 1, s.n - sizeof(asks) + 1 };
	end = s.n ? memchr(s.bytes, ' ', s.n) : NULL;
	n = end ? (size_t)(end - s.bytes) : s.n;
	if (n > sizeof(q->download) || (end && s.n - n > 1 && memcmp(end, " 0", 2) != 0))
		n = 0;
	q->download_n = (uint8_t)n;
	if (n)
		memcpy(q->download, s.bytes, n);
}

static void parse_stringcmd(struct ops *o)
{
	struct span s = { o->rd.pos, reader_left(&o->rd) };

	if (s.n && memchr(s.bytes, 0, s.n))
		s = reader_string(&o->rd);
	else
		s = reader_rest(&o->rd);
	record_string(o->record, "text", s.bytes, s.n);
	if (s.n > STRINGCMD_MAX)
		ops_wrong(o, "command longer than 2047");
	q2_odd(o, !s.n || (s.bytes[0] < ' ' && s.bytes[0] != '\n'));
	watch_download(o, s);
	if (begins(s, "disconnect") && q2_commit(o))
		q2_of(o)->session->disconnected = true;
}

/* Read a setting of the client in protocols 35 and 36: number and value. */
static void parse_setting(struct ops *o)
{
	record_int(o->record, "index", (int16_t)reader_le16(&o->rd));
	record_int(o->record, "value", (int16_t)reader_le16(&o->rd));
}

#define SIMPLE                                                 \
	[1] = { "nop", NULL, Q2_RANK_NOP },                    \
	[2] = { "move", q2_parse_move, Q2_RANK_MOVE },         \
	[3] = { "userinfo", parse_userinfo, Q2_RANK_COMMAND }, \
	[4] = { "stringcmd", parse_stringcmd, Q2_RANK_COMMAND }

#define NODELTA                                                     \
	{                                                           \
		"move_nodelta", q2_parse_move_nodelta, Q2_RANK_MOVE \
	}
#define BATCHED                                                     \
	{                                                           \
		"move_batched", q2_parse_move_batched, Q2_RANK_MOVE \
	}

static const struct op ops_34[256] = { SIMPLE };

static const struct op ops_35[256] = {
	SIMPLE,
	[5] = { "setting", parse_setting, Q2_RANK_COMMAND },
};

/* The upper bits of a move count its repeated frames, 0 to 3. */
static const struct op ops_36[256] = {
	SIMPLE,
	[5] = { "setting", parse_setting, Q2_RANK_COMMAND },
	[0x0a] = NODELTA,
	[0x2a] = NODELTA,
	[0x4a] = NODELTA,
	[0x6a] = NODELTA,
	[0x0b] = BATCHED,
	[0x2b] = BATCHED,
	[0x4b] = BATCHED,
	[0x6b] = BATCHED,
	[12] = { "userinfo_delta", parse_userinfo_delta, Q2_RANK_COMMAND },
};

uint8_t q2_client_walk(struct q2_parse *p, struct message *m)
{
	const struct q2_dialect *d = &p->dialect;

	return message_ops(m, d->q2pro ? ops_36 : d->enhanced ? ops_35 : ops_34, p);
}
