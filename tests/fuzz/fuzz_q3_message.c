// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages as they are after netchan and scrambling, each dialect, with the state of
 * those before: the first byte chooses the dialect, then each message is a byte for the
 * direction and the step of its sequence, two for its length, its bytes. A message that
 * was judged decoded must be decoded again when it is parsed without state.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "q3_demo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct record_tape tape;

static void parse(struct q3_game *g, const struct q3_dialect *d, uint8_t how,
		  const uint8_t *message, size_t n, int32_t sequence)
{
	enum direction direction = how & 1 ? DIRECTION_C2S : DIRECTION_S2C;
	struct q3_parse p;
	struct record r;
	bool good;

	record_reset(&r, how & 2 ? &tape : NULL);
	q3_parse_init(&p, message, n, d, g, &r);
	p.sequence = sequence;
	p.commit = true;
	good = q3_decode_message(&p, direction);
	/* Only a vehicle's presence depends on state. */
	if (good && !(d->flags & Q3_PILOT)) {
		q3_parse_init(&p, message, n, d, NULL, &r);
		if (!q3_decode_message(&p, direction))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct q3_game *g = NULL;
	const struct q3_dialect *d;
	unsigned int dialects = 0, chosen;
	int32_t sequence = 1;
	size_t at = 1;

	if (!tape.items && record_tape_create(&tape, 4096, 1 << 16))
		return 0;
	while (q3_dialects[dialects])
		dialects++;
	if (!n)
		return 0;
	chosen = (data[0] & 127) % (dialects + 3);
	d = chosen < dialects ? q3_dialects[chosen] : q3_old_dialects[chosen - dialects];
	if (!q3_game_get(&g, d))
		return 0;
	g->fresh = data[0] & 128;
	q3_demo_recognise(data, n);
	while (at + 3 <= n) {
		size_t left = n - at - 3;
		size_t length = data[at + 1] | (size_t)data[at + 2] << 8;
		uint8_t how = data[at], *copy;

		length = length < left ? length : left;
		copy = malloc(length ? length : 1);
		if (!copy)
			break;
		memcpy(copy, data + at + 3, length);
		sequence += how >> 2;
		parse(g, d, how, copy, length, sequence);
		free(copy);
		at += 3 + length;
	}
	q3_game_drop(&g);
	return 0;
}
