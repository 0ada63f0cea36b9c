// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A connection from its handshake, or from the middle: datagrams of either direction,
 * slices, wrong checksums, unknown keys. The first byte chooses how it begins; then
 * each datagram is a byte for direction and kind, two for its length, its bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "q3_session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct record_tape tape;

static void begin(struct q3_session *s, uint8_t how)
{
	static const char *const users[] = {
		"\\challenge\\77\\qport\\5\\protocol\\68",
		"\\challenge\\77\\qport\\5\\protocol\\71",
		"\\challenge\\77\\qport\\5\\protocol\\26",
		"\\challenge\\77\\qport\\5\\protocol\\84",
	};
	const char *user = users[how & 3];

	if (how & 4)
		return;
	q3_session_on_challenge(s, 77);
	q3_session_on_connect(s, user, strlen(user));
	q3_session_on_accept(s, NULL);
}

/* What the fuzzer cannot guess: the sum that makes protocol 71 listen. */
static void give(struct q3_session *s, uint8_t how, uint8_t *bytes, size_t n)
{
	bool client = how & 1;
	size_t at = client ? 6 : 4;
	uint32_t sequence, sum;
	struct record r;

	if (how & 2 && n >= at + 4) {
		memcpy(&sequence, bytes, 4);
		sum = htole32(q3_checksum(77, le32toh(sequence) & ~Q3_FRAGMENT));
		memcpy(bytes + at, &sum, 4);
	}
	record_reset(&r, how & 4 ? &tape : NULL);
	if (s->netchan == Q3_NETCHAN_UNKNOWN && how & 8)
		q3_session_vote(s, client, bytes, n);
	q3_session_datagram(s, client ? DIRECTION_C2S : DIRECTION_S2C, bytes, n, &r);
	if (!r.kind || (r.status == RECORD_DECODED) != !r.reason)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct q3_session s = { .game = NULL };
	size_t at = 1;

	if (!tape.items && record_tape_create(&tape, 4096, 1 << 16))
		return 0;
	if (!n)
		return 0;
	begin(&s, data[0]);
	while (at + 3 <= n) {
		size_t left = n - at - 3;
		size_t length = data[at + 1] | (size_t)data[at + 2] << 8;
		uint8_t how = data[at], *copy;

		length = length < left ? length : left;
		copy = malloc(length ? length : 1);
		if (!copy)
			break;
		memcpy(copy, data + at + 3, length);
		give(&s, how, copy, length);
		free(copy);
		at += 3 + length;
	}
	q3_session_drop(&s);
	return 0;
}
