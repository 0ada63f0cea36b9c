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

#include "capture/capture.h"
#include "decode/decode.h"
#include "decode/demo_recognise.h"
#include "lib/input.h"
#include "lib/pcapng.h"
#include "fuzz/nq/seeds_nq.h"
#include "fuzz/q2/seeds_q2.h"
#include "fuzz/q3/seeds_q3.h"
#include "fuzz/qe/seeds_qe.h"
#include "fuzz/qw/seeds_qw.h"

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
	qe_note_datagram(dg->payload, dg->n, from_first);
	note_containers(dg->payload, dg->n);
}

static int capture_file(FILE *file, const char *name)
{
	struct decoder_options options = { .fields = true,
					   .forced = FAMILY_AUTO,
					   .psk = qe_key() };
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

static void quakeworld_demo(struct demo *demo)
{
	struct qw_session s = { .late[0] = { 0 } };
	struct demo_block block;
	struct record r;

	while (demo_next(demo, &block) == 1) {
		record_reset(&r, NULL);
		qw_demo(&s, &block, &r);
	}
	qw_session_drop(&s);
}

static int demo_file(FILE *file, enum demo_format format, const uint8_t *prefix, size_t n)
{
	struct q3_session q3 = { .game = NULL };
	struct nq_session nq = { .demo_ns = 0 };
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
	} else if (format == DEMO_QWD || format == DEMO_MVD) {
		quakeworld_demo(demo);
	} else if (format == DEMO_DM2 || format == DEMO_MVD2) {
		q2_demo_file(demo);
	}
	while (format == DEMO_DEM && demo_next(demo, &block) == 1) {
		record_reset(&r, NULL);
		nq_session_block(&nq, &block, &r);
	}
	nq_session_drop(&nq);
	demo_close(demo);
	return 0;
}

static int one_file(const char *name)
{
	static uint8_t prefix[DEMO_PREFIX];
	enum demo_format format;
	size_t n = 0;
	FILE *file = input_open(name, NULL, prefix, sizeof(prefix), &n);
	int status = 0;

	if (!file) {
		fprintf(stderr, "seeds: %s: %s\n", name, strerror(errno));
		return 1;
	}
	memset(seen, 0, sizeof(seen));
	memset(&connection, 0, sizeof(connection));
	memset(&q2_row, 0, sizeof(q2_row));
	qe_row = (struct seed){ .wide = true };
	qe_game_row = (struct seed){ .n = 0 };
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
	seed_write(Q2_MESSAGE, &q2_row);
	seed_write(QE_DTLS, &qe_row);
	seed_write(QE_GAME, &qe_game_row);
	return status;
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
	if (getenv("SEED_LEN"))
		seed_len = strtoul(getenv("SEED_LEN"), NULL, 10);
	must(seed_len <= SEED_ROOM);
	for (int i = 0; i < TARGETS; i++) {
		snprintf(name, sizeof(name), "%s/%s", directory, targets[i]);
		mkdir(name, 0777);
	}
	note_handshake();
	for (int i = 2; i < argc; i++)
		status |= one_file(argv[i]);
	return status;
}
