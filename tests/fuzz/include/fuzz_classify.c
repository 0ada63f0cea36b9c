// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes, as any family's, either way. First byte: family and direction; second: how
 * many bytes of slack lie behind the datagram, which must not matter.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "classify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static enum wire_kind ask(enum wire_family family, enum direction direction,
			  const uint8_t *bytes, size_t room, size_t n)
{
	struct cursor c = { .pos = bytes, .end = bytes + room };
	enum wire_kind hot = classify_hot(c, n);
	enum wire_kind kind = classify(family, direction, c, (__u32)n);

	must(hot == KIND_COUNT || hot == kind);
	return kind;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum direction direction;
	enum wire_family family;
	enum wire_kind kind;
	uint8_t *bytes, *roomy;
	size_t slack, n;

	if (size < 2 || size > 2 + 65507)
		return 0;
	family = data[0] % FAMILY_COUNT;
	direction = data[0] & 0x80 ? DIRECTION_S2C : DIRECTION_C2S;
	slack = data[1];
	n = size - 2;

	bytes = malloc(n ? n : 1);
	roomy = malloc(n + slack + 1);
	if (!bytes || !roomy)
		abort();
	memcpy(bytes, data + 2, n);
	memset(roomy, data[1], n + slack);
	memcpy(roomy, data + 2, n);

	kind = ask(family, direction, bytes, n, n);
	must(kind < KIND_COUNT);
	must(kind == ask(family, direction, roomy, n + slack, n));
	must(wire_class(family, kind) < CLASS_COUNT);
	/* What has the marker is never game traffic, and what lacks it never a word. */
	if (n >= 4 && !memcmp(bytes, "\xff\xff\xff\xff", 4))
		must(wire_class(family, kind) != CLASS_NETCHAN);

	free(bytes);
	free(roomy);
	return 0;
}
