// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * seeds DIR FILE... - what the fuzz targets begin with, cut from captures and demos.
 *
 * Each FILE goes through the decoder as it is. Functions along the way are wrapped by
 * the linker (see the Makefile) and note what they are given: so a message is taken when
 * it is whole and plain, however it came. DIR/<target>/ gets files named by content.
 */
#include <errno.h>
#include <pcap/pcap.h>
#include <sys/stat.h>

#include "capture.h"
#include "decode.h"
#include "demo.h"
#include "input.h"
#include "pcapng.h"
#include "q3_demo.h"
#include "q3_mutate.h"

#define SEED_MAX   500 /* bytes; small inputs are fast ones */
#define SEEDS_ALL  48 /* of one kind from one file: these, then one of SEEDS_STEP */
#define SEEDS_STEP 61

enum target {
	CAPTURE,
	CLASSIFY,
	DECODE,
	DEMO,
	OOB,
	HUFFMAN,
	MESSAGE,
	NETCHAN,
	TARGETS
};

static const char *const targets[TARGETS] = {
	"capture", "classify",	 "decode",     "demo",
	"oob",	   "q3_huffman", "q3_message", "q3_netchan",
};

static const char *directory;
static unsigned int seen[TARGETS];

struct seed {
	uint8_t bytes[SEED_MAX];
	size_t n;
	bool full; /* something did not fit */
};

static void seed_write(enum target target, const struct seed *seed)
{
	uint64_t hash = 0xcbf29ce484222325;
	char name[512];
	FILE *file;

	if (!seed->n || (seen[target]++ >= SEEDS_ALL && seen[target] % SEEDS_STEP))
		return;
	for (size_t i = 0; i < seed->n; i++)
		hash = (hash ^ seed->bytes[i]) * 0x100000001b3;
	snprintf(name, sizeof(name), "%s/%s/%016llx", directory, targets[target],
		 (unsigned long long)hash);
	file = fopen(name, "wb");
	if (!file || fwrite(seed->bytes, 1, seed->n, file) != seed->n || fclose(file)) {
		perror(name);
		exit(1);
	}
}

static void seed_put(struct seed *seed, const void *bytes, size_t n)
{
	if (n > sizeof(seed->bytes) - seed->n) {
		seed->full = true;
		return;
	}
	if (n)
		memcpy(seed->bytes + seed->n, bytes, n);
	seed->n += n;
}

/* All or nothing: head and bytes of a piece (fuzz.h) of two parts. */
static bool seed_piece(struct seed *seed, uint8_t how, const void *a, size_t a_n,
		       const void *b, size_t b_n)
{
	size_t n = a_n + b_n;
	uint8_t head[PIECE_HEAD] = { how, (uint8_t)n, (uint8_t)(n >> 8) };

	if (PIECE_HEAD + n > sizeof(seed->bytes) - seed->n)
		return false;
	seed_put(seed, head, sizeof(head));
	seed_put(seed, a, a_n);
	seed_put(seed, b, b_n);
	return true;
}

static void seed_once(enum target target, const void *head, size_t head_n,
		      const void *bytes, size_t n)
{
	struct seed seed = { .n = 0 };

	seed_put(&seed, head, head_n);
	seed_put(&seed, bytes, n);
	if (!seed.full)
		seed_write(target, &seed);
}

/* Pieces in a row until one does not fit; then the next row begins with that one. */
static void row_piece(enum target target, struct seed *row, uint8_t first, uint8_t how,
		      const void *a, size_t a_n, const void *b, size_t b_n)
{
	for (int again = 0; again < 2; again++) {
		if (!row->n)
			seed_put(row, &first, 1);
		if (seed_piece(row, how, a, a_n, b, b_n))
			return;
		seed_write(target, row);
		row->n = 0;
	}
}

/* --- Quake III's messages ---------------------------------------------------------- */

/* The last ones of a connection. */
static struct connection {
	const struct q3_game *game;
	struct seed message, netchan, middle, demo;
	int32_t sequence;
} connection;

static bool starts_item(const struct q3_tokens *t, size_t i)
{
	const struct q3_token *a = &t->token[i], *b = a + 1;

	return i + 1 < t->n && a->bits == 8 &&
	       ((a->value == 3 && b->bits == 16) || (a->value == 4 && b->bits == 10) ||
		b->bits == 32);
}

/* A gamestate with few configstrings and baselines, short ones. */
static size_t shorten(const struct q3_dialect *d, const uint8_t *bytes, size_t n,
		      uint8_t *ret, size_t max)
{
	static struct q3_tokens t;
	size_t i = 0, to = 0, end, items = 0;

	if (!q3_tokens_read(&t, d, false, bytes, n))
		return 0;
	while (i < t.n) {
		bool text = starts_item(&t, i) && t.token[i].value == 3 &&
			    t.token[i + 1].bits == 16;
		bool baseline = starts_item(&t, i) && t.token[i + 1].bits == 10;

		for (end = i + 1; end < t.n && !starts_item(&t, end); end++)
			;
		if ((text || baseline) && items++ > 1 && items % 131) {
			i = end;
			continue;
		}
		for (size_t k = i; k < end; k++)
			if (!text || k < i + 90 || k == end - 1)
				t.token[to++] = t.token[k];
		i = end;
	}
	t.n = to;
	n = q3_tokens_write(&t, ret, max);
	return n < max ? n : 0;
}

static uint8_t dialect_number(const struct q3_dialect *d)
{
	uint8_t i = 0, k = 0;

	for (; q3_dialects[i]; i++)
		if (q3_dialects[i] == d)
			return i;
	for (; q3_old_dialects[k]; k++)
		if (q3_old_dialects[k] == d)
			return i + k;
	return 0;
}

static void note_netchan(const struct q3_dialect *d, bool client, int32_t sequence,
			 const uint8_t *bytes, size_t n)
{
	/* See fuzz_q3_netchan.c: how it begins; scrambled, or with a checksum. */
	bool sum = d->flags & Q3_CHECKSUM;
	uint8_t first = sum ? 1 : d == &q3_dialect_jka ? 2 : d->protocol == 84 ? 3 : 0;
	uint8_t how = 4 | (sum ? 2 : 16) | client, head[10] = { 0 };
	size_t head_n = (client ? 6 : 4) + (sum ? 4 : 0);

	sequence = (int32_t)htole32((uint32_t)sequence);
	memcpy(head, &sequence, sizeof(sequence));
	row_piece(NETCHAN, &connection.netchan, first, how, head, head_n, bytes, n);
	/* The same seen from the middle, by votes and guesses. */
	row_piece(NETCHAN, &connection.middle, sum ? 8 : 64, how | 8, head, head_n, bytes,
		  n);
}

static void note_block(uint8_t first, int32_t sequence, const uint8_t *bytes, size_t n)
{
	uint32_t head[2] = { htole32((uint32_t)sequence), htole32((uint32_t)n) };
	struct seed *row = &connection.demo;

	if (n + sizeof(head) > sizeof(row->bytes) - row->n) {
		seed_write(DEMO, row);
		row->n = 0;
		return;
	}
	/* A demo begins with a gamestate. */
	if (!row->n)
		seed_put(row, &first, 1);
	seed_put(row, head, sizeof(head));
	seed_put(row, bytes, n);
}

static void note_message(const struct q3_parse *p, bool client)
{
	static const char old[] = "\2\0\0\0\0\3\0\0\\protocol\\43\0";
	static uint8_t fresh[SEED_MAX - 64];
	uint8_t first = dialect_number(p->dialect), step;
	struct q3_parse look = *p;
	const uint8_t *bytes = p->b.data;
	size_t n = p->b.size;
	struct seed alone = { .n = 0 };
	struct record silent;

	record_reset(&silent, NULL);
	q3_parse_init(&look, bytes, n, p->dialect, NULL, &silent);
	if (!client)
		q3_parse_server(&look);
	if (connection.game != p->game || look.content == Q3_HOLDS_GAMESTATE) {
		seed_write(MESSAGE, &connection.message);
		seed_write(NETCHAN, &connection.netchan);
		seed_write(NETCHAN, &connection.middle);
		seed_write(DEMO, &connection.demo);
		memset(&connection, 0, sizeof(connection));
		connection.game = p->game;
		connection.sequence = p->sequence - 1;
	}
	if (look.content == Q3_HOLDS_GAMESTATE && n > SEED_MAX / 2) {
		bool plain = p->dialect->flags & Q3_PLAIN;

		if (plain)
			memcpy(fresh, old, n = sizeof(old));
		else
			n = shorten(p->dialect, bytes, n, fresh, sizeof(fresh));
		bytes = fresh;
	}
	if (!n || n > sizeof(fresh))
		return;
	step = p->sequence > connection.sequence && p->sequence < connection.sequence + 64
		       ? (uint8_t)(p->sequence - connection.sequence)
		       : 1;
	connection.sequence = p->sequence;
	row_piece(MESSAGE, &connection.message, first, (uint8_t)(step << 2 | 2 | client),
		  NULL, 0, bytes, n);
	row_piece(MESSAGE, &alone, first, 6 | client, NULL, 0, bytes, n);
	if (!(p->sequence % 4))
		seed_write(MESSAGE, &alone);
	note_netchan(p->dialect, client, p->sequence, bytes, n);
	if (!client && (connection.demo.n || look.content == Q3_HOLDS_GAMESTATE))
		note_block((uint8_t)(first << 4), p->sequence, bytes, n);
	seed_once(HUFFMAN, "\0\0", 3, bytes, n);
}

bool __real_q3_decode_message(struct q3_parse *p, enum direction direction);
bool __wrap_q3_decode_message(struct q3_parse *p, enum direction direction);

bool __wrap_q3_decode_message(struct q3_parse *p, enum direction direction)
{
	if (p->b.size)
		note_message(p, direction == DIRECTION_C2S);
	return __real_q3_decode_message(p, direction);
}

int __real_huffman_adaptive_decode(const uint8_t *in, size_t n, uint8_t *out, size_t max);
int __wrap_huffman_adaptive_decode(const uint8_t *in, size_t n, uint8_t *out, size_t max);

int __wrap_huffman_adaptive_decode(const uint8_t *in, size_t n, uint8_t *out, size_t max)
{
	int count = __real_huffman_adaptive_decode(in, n, out, max);

	seed_once(HUFFMAN, "\0\0", 3, in, n);
	if (count > 0)
		seed_once(HUFFMAN, "\1\0", 3, out, (size_t)count);
	return count;
}

/* --- captures ---------------------------------------------------------------------- */

static void sink(void *context, const struct record *r)
{
	(void)context;
	(void)r;
}

/* The frames as they are, in the links that fuzz_capture.c knows. */
static void note_frame(struct seed *row, int link, const uint8_t *frame, size_t n)
{
	if (link == DLT_EN10MB && n > 14) {
		row_piece(CAPTURE, row, 1, 0, frame + 14, n - 14, NULL, 0);
		return;
	}
	if (link == DLT_RAW)
		row_piece(CAPTURE, row, 0, 0, frame, n, NULL, 0);
}

/* One packet as a file of its own, of each kind of file. */
static void note_file(int link, const uint8_t *frame, size_t n)
{
	uint32_t head[6] = { 0xa1b23c4d, 2 | 4 << 16, 0, 0, 262144, (uint32_t)link };
	uint32_t swapped[10], packet[4] = { 1, 2, (uint32_t)n, (uint32_t)n };
	struct pcapng_packet fresh = { .frame = frame,
				       .kept = (uint32_t)n,
				       .length = (uint32_t)n,
				       .comment = "seed" };
	static uint8_t bytes[SEED_MAX + 1024];
	size_t at;

	if (n > SEED_MAX / 2)
		return;
	memcpy(swapped, head, sizeof(head));
	memcpy(swapped + 6, packet, sizeof(packet));
	seed_once(CAPTURE, swapped, sizeof(swapped), frame, n);
	for (int i = 0; i < 10; i++)
		swapped[i] = __builtin_bswap32(swapped[i]);
	swapped[0] = __builtin_bswap32(0xa1b2c3d4);
	swapped[1] = __builtin_bswap32(2 << 16 | 4);
	seed_once(CAPTURE, swapped, sizeof(swapped), frame, n);
	if (link != DLT_EN10MB)
		return;
	at = pcapng_begin(bytes, "eth0", "seeds");
	at += pcapng_packet(bytes + at, &fresh);
	seed_once(CAPTURE, bytes, at, NULL, 0);
}

static void capture_frames(const char *name)
{
	char why[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *header;
	struct seed row = { .n = 0 };
	const u_char *frame;
	pcap_t *pcap = pcap_open_offline(name, why);
	unsigned int count = 0;

	if (!pcap)
		return;
	while (pcap_next_ex(pcap, &header, &frame) == 1 && count++ < 2000) {
		note_frame(&row, pcap_datalink(pcap), frame, header->caplen);
		if (count < 8)
			note_file(pcap_datalink(pcap), frame, header->caplen);
	}
	seed_write(CAPTURE, &row);
	pcap_close(pcap);
}

/* Containers around a payload; of most of them only the framing is read. */
static void note_containers(const uint8_t *bytes, size_t n)
{
	uint32_t length = htole32((uint32_t)n), end = UINT32_MAX;
	static const uint8_t qwd_head[] = { 0, 0, 0x80, 0x3f, 1 };
	static const uint8_t mvd_head[] = { 10, 1 };
	struct seed dem = { .n = 0 }, qwd = dem, mvd = dem, dm2 = dem, mvd2 = dem;

	if (n < 5 || n > 150)
		return;
	seed_put(&dem, "\0-1\n", 4);
	seed_put(&qwd, "\1", 1);
	seed_put(&mvd, "\2", 1);
	seed_put(&dm2, "\3", 1);
	seed_put(&mvd2, "\4MVD2", 5);
	for (int i = 0; i < 3; i++) {
		seed_put(&dem, &length, 4);
		seed_put(&dem, "\0\0\0\0\0\0\0\0\0\0\0", 12);
		seed_put(&dem, bytes, n);
		seed_put(&qwd, qwd_head, sizeof(qwd_head));
		seed_put(&qwd, &length, 4);
		seed_put(&qwd, bytes, n);
		seed_put(&mvd, mvd_head, sizeof(mvd_head));
		seed_put(&mvd, &length, 4);
		seed_put(&mvd, i ? (const void *)bytes : "\x0b", 1);
		seed_put(&mvd, bytes + 1, n - 1);
		seed_put(&dm2, &length, 4);
		seed_put(&dm2, i ? (const void *)bytes : "\x0c\x22\0\0\0", 5);
		seed_put(&dm2, bytes + 5, n - 5);
		seed_put(&mvd2, &length, 2);
		seed_put(&mvd2, bytes, n);
	}
	seed_put(&dm2, &end, 4);
	seed_put(&mvd2, "\0", 2);
	seed_write(DEMO, &dem);
	seed_write(DEMO, &qwd);
	seed_write(DEMO, &mvd);
	seed_write(DEMO, &dm2);
	seed_write(DEMO, &mvd2);
}

static void note_datagram(const struct datagram *dg, struct seed *decode,
			  struct seed *capture)
{
	static struct record_address first;
	static const uint8_t marker[4] = { 0xff, 0xff, 0xff, 0xff };
	bool from_first;

	if (!first.length || dg->frame == 1)
		first = dg->source;
	from_first = dg->source.port == first.port &&
		     !memcmp(dg->source.bytes, first.bytes, sizeof(first.bytes));
	row_piece(DECODE, decode, FAMILY_AUTO, from_first, dg->payload, dg->n, NULL, 0);
	row_piece(CAPTURE, capture, 1,
		  1 | (from_first ? 0 : 2) | (dg->frame % 3 ? 0 : 4) |
			  (dg->frame % 5 ? 0 : 8) | (dg->frame % 7 ? 0 : 16),
		  dg->payload, dg->n, NULL, 0);
	seed_once(CLASSIFY, from_first ? "\3" : "\x83", 2, dg->payload, dg->n);
	if (dg->n > sizeof(marker) && !memcmp(dg->payload, marker, sizeof(marker)))
		seed_once(OOB, NULL, 0, dg->payload + sizeof(marker),
			  dg->n - sizeof(marker));
	note_containers(dg->payload, dg->n);
}

static int capture_file(FILE *file, const char *name)
{
	struct decoder_options options = { true, FAMILY_AUTO, false };
	struct seed decode = { .n = 0 }, pieces = { .n = 0 };
	struct decoder *decoder;
	struct capture *capture;
	struct datagram dg;
	char message[256];

	if (capture_open(file, &capture, message, sizeof(message))) {
		fprintf(stderr, "seeds: %s: %s\n", name, message);
		return 1;
	}
	capture_frames(name);
	decoder = decoder_create(&options, sink, NULL);
	must(decoder != NULL);
	while (capture_next(capture, &dg) == 1) {
		note_datagram(&dg, &decode, &pieces);
		decoder_datagram(decoder, &dg);
	}
	decoder_flush(decoder);
	decoder_free(decoder);
	capture_close(capture);
	seed_write(DECODE, &decode);
	seed_write(CAPTURE, &pieces);
	return 0;
}

/* --- demos ------------------------------------------------------------------------- */

static int demo_file(FILE *file, enum demo_format format, const uint8_t *prefix, size_t n)
{
	struct q3_session q3 = { .game = NULL };
	struct demo *demo = demo_open(file, format);
	uint8_t first = (uint8_t)(format - DEMO_DEM);
	struct demo_block block;
	struct record r;

	must(demo != NULL);
	seed_once(DEMO, &first, 1, prefix, n < SEED_MAX - 1 ? n : SEED_MAX - 1);
	if (format == DEMO_DM3 || format == DEMO_DM3_OLD) {
		q3_demo_start(&q3, format == DEMO_DM3 ? Q3_DEMO_MODERN : Q3_DEMO_OLD);
		while (demo_next(demo, &block) == 1) {
			record_reset(&r, NULL);
			q3_demo_block(&q3, block.sequence, block.bytes, block.n, &r);
		}
		q3_session_drop(&q3);
	}
	demo_close(demo);
	return 0;
}

static int one_file(const char *name)
{
	static uint8_t prefix[DEMO_PREFIX];
	enum demo_format format;
	size_t n = 0;
	FILE *file = input_open(name, prefix, sizeof(prefix), &n);
	int status = 0;

	if (!file) {
		fprintf(stderr, "seeds: %s: %s\n", name, strerror(errno));
		return 1;
	}
	memset(seen, 0, sizeof(seen));
	memset(&connection, 0, sizeof(connection));
	format = demo_recognise(prefix, n);
	if (capture_recognise(prefix, n))
		status = capture_file(file, name);
	else if (format != DEMO_NONE)
		status = demo_file(file, format, prefix, n);
	else
		fclose(file);
	seed_write(MESSAGE, &connection.message);
	seed_write(NETCHAN, &connection.netchan);
	seed_write(NETCHAN, &connection.middle);
	seed_write(DEMO, &connection.demo);
	return status;
}

/* A message from a row of values, each behind its width; the row ends with width 0. */
static size_t make_message(uint8_t *to, size_t max, const uint32_t (*value)[2])
{
	struct q3_bit_writer w = { to, 0, max * 8 };

	for (; (*value)[0]; value++)
		q3_write(&w, (*value)[1], (*value)[0]);
	if (!(w.bits % 8))
		to[w.bits / 8] = 0;
	return w.bits / 8 + 1;
}

/* What no recording may hold: the words of a handshake, a legacy client's first, a move
 * under a key that is known. */
static void note_handshake(void)
{
	static const uint8_t words[] =
		"\x08"
		"\x80\5\0\0\x4d\0\0\0"
		"\x80\x22\0\1\\challenge\\77\\qport\\5\\protocol\\68"
		"\x80\1\0\2"
		"\x80\1\0\4"
		"\x80\5\0\3\x4d\0\0\0";
	static const uint32_t first[][2] = {
		{ 32, 0 }, { 32, 0 }, { 32, 0 }, { 8, 5 }, { 0 }
	};
	static const uint32_t gamestate[][2] = {
		{ 32, 0 },   { 8, 2 },	 { 32, 0 },   { 8, 3 },	  { 16, 1 },
		{ 8, '\\' }, { 8, 's' }, { 8, 'v' },  { 8, '_' }, { 8, 's' },
		{ 8, 'e' },  { 8, 'r' }, { 8, 'v' },  { 8, 'e' }, { 8, 'r' },
		{ 8, 'i' },  { 8, 'd' }, { 8, '\\' }, { 8, '5' }, { 8, 0 },
		{ 8, 8 },    { 32, 0 },	 { 32, 9 },   { 8, 8 },	  { 0 },
	};
	static const uint32_t move[][2] = { { 32, 5 }, { 32, 1 }, { 32, 0 }, { 8, 2 },
					    { 8, 1 },  { 1, 1 },  { 8, 50 }, { 1, 1 },
					    { 1, 1 },  { 16, 7 }, { 7, 0 },  { 8, 5 },
					    { 0 } };
	static const uint8_t head[10] = { 1, 0, 0, 0, 5 };
	struct seed seed = { .n = 0 };
	uint8_t message[128];

	seed_once(NETCHAN, words, sizeof(words) - 1, NULL, 0);
	seed_put(&seed, "\x08", 1);
	seed_piece(&seed, 1 | 4 | 8, head, 6, message,
		   make_message(message, sizeof(message), first));
	seed_write(NETCHAN, &seed);
	seed.n = 0;
	seed_put(&seed, "\1", 1);
	seed_piece(&seed, 2 | 4, head, 8, message,
		   make_message(message, sizeof(message), gamestate));
	seed_piece(&seed, 1 | 2 | 4, head, 10, message,
		   make_message(message, sizeof(message), move));
	seed_write(NETCHAN, &seed);
}

int main(int argc, char **argv)
{
	int status = 0;
	char name[512];

	if (argc < 3) {
		fputs("usage: seeds DIR FILE...\n", stderr);
		return 2;
	}
	directory = argv[1];
	for (int i = 0; i < TARGETS; i++) {
		snprintf(name, sizeof(name), "%s/%s", directory, targets[i]);
		mkdir(name, 0777);
	}
	note_handshake();
	for (int i = 2; i < argc; i++)
		status |= one_file(argv[i]);
	return status;
}
