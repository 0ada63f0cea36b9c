// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Every difference of an entity, and every command of a player, written again from what
 * was read of it: the same bytes, over whole recordings.
 */
#include "decode/qw/qw_entities.h"
#include "decode/qw/qw_support.h"
#include "recordings.h"

struct file {
	const char *name;
	unsigned int entities, commands;
};

static const struct file files[] = {
	{ "live/qw-mvdsv-ezquake-2clients-mapchange.pcap", 95, 3 * 2922 },
	{ "live/qw-mvdsv-ezquake-disconnect-kick.pcap", 84, 3 * 383 },
	{ "live/qw-mvdsv-ezquake-download.pcap", 52, 3 * 1294 },
	{ "live/qw-mvdsv-ezquake-spectator-timeout.pcap", 47, 3 * 1063 },
	{ "live/qw-mvdsv-ktx-queries-session.pcap", 2, 3 * 798 },
	{ "demos/quakeworld-mvd/1on1_tron.mvd", 4197, 0 },
	{ "demos/quakeworld-mvd/2on2_frobodm2_mvdsv033.mvd", 8070, 0 },
	{ "demos/quakeworld-mvd/duel_dm3_1154.mvd", 1951, 0 },
	{ "demos/quakeworld-mvd/ffa9_dm4.mvd", 6320, 0 },
	{ "demos/quakeworld-mvd/policy_bridge_smoke.mvd", 0, 0 },
	{ "demos/quakeworld-mvd/test_dm2.mvd", 52, 0 },
	{ "demos/quakeworld-qwd/bps_hud_fteext.qwd", 23, 0 },
	{ "demos/quakeworld-qwd/dm3_all4_hexagon.qwd", 114, 0 },
	{ "demos/quakeworld-qwd/dm3_hex_quad_to_sng.qwd", 50, 0 },
	{ "demos/quakeworld-qwd/dm3_spawn_ra_tunnel_to_lg.qwd", 57, 0 },
};

static unsigned int entities, commands;

/* The words of a frame, in @bytes from behind the op and its "from". */
static void frame_again(struct span bytes, const struct qw_terms *t)
{
	struct reader rd = reader_of(bytes.bytes, bytes.n);
	uint8_t written[128];
	unsigned int word;

	for (;;) {
		const uint8_t *from = rd.pos;
		struct qw_entity e;
		size_t n;

		word = reader_le16(&rd);
		if (!word)
			break;
		qw_entity_read(&rd, t, word, &e);
		n = qw_entity_write(written, sizeof(written), t, &e);
		assert_int_equal(n, rd.pos - from);
		assert_memory_equal(written, from, n);
		/* One byte less is too little. */
		assert_int_equal(qw_entity_write(written, n - 1, t, &e), 0);
		entities++;
	}
	assert_false(reader_failed(&rd));
	assert_int_equal(reader_left(&rd), 0);
}

static void command_again(struct reader *rd, int32_t *state)
{
	const uint8_t *from = rd->pos;
	unsigned int bits = qw_usercmd_read(rd, 28, state);
	uint8_t written[32];
	size_t n = qw_usercmd_write(written, sizeof(written), 28, bits, state);

	assert_int_equal(n, rd->pos - from);
	assert_memory_equal(written, from, n);
	commands++;
}

/* The walk's own ops, with a look at the bytes that each has taken. */
static void packetentities(struct ops *o)
{
	struct span bytes = { o->rd.pos, 0 };

	qw_packetentities(o);
	bytes.n = (size_t)(o->rd.pos - bytes.bytes);
	frame_again(bytes, &qw_parse_of(o)->terms);
}

static void deltapacketentities(struct ops *o)
{
	struct span bytes = { o->rd.pos + 1, 0 };

	qw_deltapacketentities(o);
	bytes.n = (size_t)(o->rd.pos - bytes.bytes);
	frame_again(bytes, &qw_parse_of(o)->terms);
}

static void move(struct ops *o)
{
	struct reader rd = reader_of(o->rd.pos + 2, reader_left(&o->rd) - 2);
	int32_t state[QW_CMD_FIELDS] = { 0 };

	for (int i = 0; i < 3; i++)
		command_again(&rd, state);
	qw_move(o);
	assert_ptr_equal(o->rd.pos, rd.pos);
}

/* @s has seen the message already: its terms hold. */
static void again(const struct qw_session *s, enum direction direction, uint32_t sequence,
		  const uint8_t *bytes, size_t n)
{
	static struct op server[256], client[256];
	struct qw_parse p = { .session = NULL, .terms = s->terms };
	struct record r;
	struct message m = {
		.bytes = { bytes, n },
		.direction = direction,
		.sequence = sequence,
		.record = &r,
	};

	if (!server[1].name) {
		memcpy(server, qw_server_ops, sizeof(server));
		memcpy(client, qw_client_ops, sizeof(client));
		server[47].parse = packetentities;
		server[48].parse = deltapacketentities;
		client[3].parse = move;
	}
	record_reset(&r, NULL);
	message_ops(&m, direction == DIRECTION_C2S ? client : server, &p);
	assert_null(m.wrong);
}

static void datagram(struct qw_session *s, enum direction direction, struct span payload)
{
	size_t header = direction == DIRECTION_C2S ? 10 : 8;
	uint32_t sequence;
	struct record r;

	record_reset(&r, NULL);
	qw_datagram(s, direction, payload, &r);
	assert_int_equal(r.status, RECORD_DECODED);
	memcpy(&sequence, payload.bytes, sizeof(sequence));
	again(s, direction, le32toh(sequence) & ~NETCHAN_RELIABLE, payload.bytes + header,
	      payload.n - header);
}

#define CLIENTS	    4
#define SERVER_PORT 27500

static void read_capture(FILE *file)
{
	static struct qw_session sessions[CLIENTS];
	struct record_address who[CLIENTS];
	unsigned int clients = 0;
	struct capture *capture;
	struct datagram dg;
	char message[256];

	memset(sessions, 0, sizeof(sessions));
	assert_int_equal(capture_open(file, &capture, message, sizeof(message)), 0);
	while (capture_next(capture, &dg) == 1) {
		bool client = dg.destination.port == SERVER_PORT;
		struct record_address *a = client ? &dg.source : &dg.destination;
		unsigned int i = 0;

		if (dg.n < 8 || !memcmp(dg.payload, "\xff\xff\xff\xff", 4))
			continue;
		/* Both were zeroed. */
		/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
		while (i < clients && memcmp(&who[i], a, sizeof(*a)) != 0)
			i++;
		if (i == clients) {
			assert_true(clients < CLIENTS);
			who[clients++] = *a;
		}
		datagram(&sessions[i], client ? DIRECTION_C2S : DIRECTION_S2C,
			 (struct span){ dg.payload, dg.n });
	}
	for (unsigned int i = 0; i < clients; i++)
		qw_session_drop(&sessions[i]);
	capture_close(capture);
}

static void read_demo(FILE *file, enum demo_format format)
{
	struct demo *demo = demo_open(file, format);
	struct qw_session s = { .late[0] = { 0 } };
	struct demo_block b;
	struct record r;

	while (demo_next(demo, &b) == 1) {
		bool packet = format == DEMO_QWD && b.type == DEMO_QWD_DATAGRAM;
		size_t header = packet ? 8 : 0;

		if (packet && !memcmp(b.bytes, "\xff\xff\xff\xff", 4))
			continue;
		record_reset(&r, NULL);
		r.kind = "";
		qw_demo(&s, &b, &r);
		assert_true(r.status == RECORD_DECODED || r.status == RECORD_PARTIAL);
		if (packet ||
		    (format == DEMO_MVD && b.type != 2 && (b.type != 3 || b.mask)))
			again(&s, DIRECTION_S2C, (uint32_t)b.frame, b.bytes + header,
			      b.n - header);
	}
	qw_session_drop(&s);
	demo_close(demo);
}

static void all_of_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		FILE *file = recording_open(files[i].name);

		if (!file)
			continue;
		entities = commands = 0;
		if (is_demo(files[i].name))
			read_demo(file, demo_format_of(files[i].name));
		else
			read_capture(file);
		print_message("%s: %u entities, %u commands\n", files[i].name, entities,
			      commands);
		assert_int_equal(entities, files[i].entities);
		assert_int_equal(commands, files[i].commands);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
