// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What follows the marker, as each family that may be meant. Many inputs a second: no
 * session, no file.
 */
#include "decode/oob/oob.h"
#include "fuzz/fuzz.h"
#include "lib/jsonl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct record_tape tape;
	static struct jsonl json;
	static struct oob oob;
	uint8_t *copy = malloc(size + OOB_MARKER);
	struct record r;

	if (!json.out) {
		jsonl_init(&json, fopen("/dev/null", "w"));
		record_tape_create(&tape, 4096, 1 << 16);
	}
	memset(copy, 0xff, OOB_MARKER);
	if (size)
		memcpy(copy + OOB_MARKER, data, size);
	oob_recognise(copy, size + OOB_MARKER, &oob);
	for (int family = 0; family < FAMILY_AUTO; family++) {
		if (oob.row && !(oob.candidates & 1U << family))
			continue;
		oob.family = (enum wire_family)family;
		record_reset(&r, &tape);
		r.family = oob.family;
		oob_decode(&oob, &r);
		must(r.kind && (r.status != RECORD_DECODED) == (r.reason != NULL));
		jsonl_record(&json, &r);
		said(&r);
	}
	free(copy);
	return 0;
}
