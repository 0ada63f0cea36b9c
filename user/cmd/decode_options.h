/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * decode_options.h - the options of `quakeshield decode`, checked before a file is
 * opened.
 */
#ifndef DECODE_OPTIONS_H
#define DECODE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/commands.h"
#include "decode/decode.h"
#include "decode/demo_recognise.h"
#include "decode/select.h"
#include "lib/secret.h"

/* The form of the output. */
enum output {
	OUTPUT_TEXT,
	OUTPUT_JSON,
	OUTPUT_SUMMARY,
	OUTPUT_LAGOMETER,
};

/* The options of one call. Filled by decode_options_read(). */
struct decode_options {
	enum output output;
	bool json;
	bool trace; /* text or JSON */
	bool verbose, hex, secrets, progress;
	enum wire_family protocol;
	enum demo_format as; /* DEMO_NONE: files are recognised */
	const char *psk_identity;
	struct secret_key *key; /* or NULL */
	const char *extract; /* a directory, or NULL */
	const char *filter; /* of libpcap, or NULL */
	struct keylog keylog;
	struct select select;
	uint64_t limit; /* records to show; 0: all */
};

/*
 * Read the options of @call into *@ret, and wipe --psk from the arguments, where other
 * users could read it. @ret: zero but for its protocol. Returns 0, or the exit
 * status after a message that quotes the wrong value.
 */
int decode_options_read(const struct call *call, struct decode_options *ret);

/* Free what decode_options_read() allocated, and wipe the key. */
void decode_options_free(struct decode_options *options);

#endif /* DECODE_OPTIONS_H */
