/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * summary.h - counts of one file's records, and the JSON object that shows them. Called
 * by `quakeshield decode --summary` (cmd_decode.c). Zero is where it begins.
 */
#ifndef SUMMARY_H
#define SUMMARY_H

#include "capture/packet.h"
#include "lib/jsonl.h"
#include "lib/record.h"
#include "lib/json_key.h"

#define SUMMARY_KINDS 256 /* slots; kinds are literals, some thirty in a file */

struct summary_kind {
	const char *name;
	uint64_t count;
};

struct summary_family {
	uint64_t datagrams;
	uint64_t status[RECORD_STATUS_COUNT];
	struct summary_kind kinds[SUMMARY_KINDS];
};

struct summary {
	uint64_t packets;
	uint64_t seen; /* datagrams of the capture, before any selection */
	uint64_t passed[PASS_COUNT]; /* packets without one, by why */
	uint64_t forgotten; /* sessions that had to make room, see session.h */
	uint64_t datagrams;
	uint64_t unknown;
	struct summary_family families[FAMILY_COUNT];
};

extern const struct json_key summary_keys[];

/* Count one record: by family, kind and status. */
void summary_count(struct summary *summary, const struct record *r);
/* Write the summary as one JSON object and a line end. @file: the name of the input. */
void summary_write(const struct summary *summary, const char *file, struct jsonl *json);

#endif /* SUMMARY_H */
