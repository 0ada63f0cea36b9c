/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * seeds_qe.h - first inputs of Quake Enhanced's targets: datagrams of DTLS as they are,
 * and messages of the game inside. NetQuake's messages do for those too, since they are
 * read by the same tables. See fuzz_qe_dtls.c and fuzz_qe_game.c for the bytes in front.
 */
#ifndef SEEDS_QE_H
#define SEEDS_QE_H

#include "decode/qe/qe_message.h"
#include "fuzz/qe/qe_key.h"
#include "fuzz/seeds.h"

#define QE_SEED_SEALED	   (1 << 7) /* of fuzz_qe_dtls.c: text of a record */
#define QE_SEED_BARE	   (1 << 1) /* of fuzz_qe_dtls.c: a handshake message alone */
#define QE_SEED_TAPED	   (1 << 1) /* of fuzz_qe_game.c: its fields are kept */
#define QE_SEED_UNRELIABLE (1 << 2) /* it gets the header of an unreliable message */

#define QE_SUITES	   18 /* of qe_encoder.h */
#define DTLS_RECORD	   13 /* bytes of a record's header */
#define DTLS_HANDSHAKE	   22
#define DTLS_MESSAGE	   12 /* bytes of a handshake message's header */

static struct seed qe_row, qe_game_row;

/* A datagram that begins with a record, and its handshake message without headers. */
static void qe_note_datagram(const uint8_t *bytes, size_t n, bool client)
{
	static const size_t heads = DTLS_RECORD + DTLS_MESSAGE;
	struct seed alone = { .n = 0 };

	if (n <= DTLS_RECORD || bytes[0] < 20 || bytes[0] > 25 || bytes[1] != 0xfe)
		return;
	row_piece(QE_DTLS, &qe_row, 0, client, bytes, n, NULL, 0);
	if (n <= heads || bytes[0] != DTLS_HANDSHAKE || bytes[DTLS_RECORD] > 31)
		return;
	row_piece(QE_DTLS, &alone, 0,
		  (uint8_t)(client | QE_SEED_BARE | bytes[DTLS_RECORD] << 2),
		  bytes + heads, n - heads, NULL, 0);
	seed_write(QE_DTLS, &alone);
}

/* An unreliable message as the text of a record, by a suite for each that comes. */
static void qe_note_sealed(const struct message *m)
{
	static uint8_t suite;
	size_t n = 8 + m->bytes.n;
	uint8_t header[8] = { 0, 0x10, (uint8_t)(n >> 8), (uint8_t)n };
	uint8_t how = QE_SEED_SEALED | (m->direction == DIRECTION_C2S);
	struct seed alone = { .n = 0 };

	suite = (uint8_t)(suite % QE_SUITES + 1);
	row_piece(QE_DTLS, &alone, suite, how, header, sizeof(header), m->bytes.bytes,
		  m->bytes.n);
	seed_write(QE_DTLS, &alone);
}

/* A message of NetQuake's layer, in whichever of the dialects it came. */
static void qe_note_message(const struct nq_dialect *dialect, const struct message *m)
{
	uint8_t how =
		QE_SEED_TAPED | QE_SEED_UNRELIABLE | (m->direction == DIRECTION_C2S);
	struct seed alone = { .n = 0 };
	uint8_t i = 0;

	while (qe_dialects[i] && qe_dialects[i] != dialect)
		i++;
	row_piece(QE_GAME, &qe_game_row, i, how, m->bytes.bytes, m->bytes.n, NULL, 0);
	row_piece(QE_GAME, &alone, i, how, m->bytes.bytes, m->bytes.n, NULL, 0);
	seed_write(QE_GAME, &alone);
	qe_note_sealed(m);
}

#endif /* SEEDS_QE_H */
