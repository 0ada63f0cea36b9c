/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * record_text.h - records for people: one line each, and the fields below it if wanted.
 * Called by `quakeshield decode` (cmd_decode.c). Control characters of the wire are
 * escaped as jsonl.h does.
 */
#ifndef RECORD_TEXT_H
#define RECORD_TEXT_H

#include "lib/jsonl.h"

/*
 * Write a record as one line: time, ends, family and dialect, kind, sequence and
 * acknowledgement, the status if it is not a plain "decoded", then what matters of the
 * fields: texts, how many entities, from which base. Times of captures are of the day,
 * in UTC.
 */
void record_text(struct jsonl *json, const struct record *r);

/* Write all fields, one a line, indented. */
void record_text_fields(struct jsonl *json, const struct record *r);

/* Write the value of one field, whole. */
void record_text_value(struct jsonl *json, const struct record *r,
		       const struct record_item *item);

#endif /* RECORD_TEXT_H */
