/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * record_text.h - records for people: one line each.
 */
#ifndef RECORD_TEXT_H
#define RECORD_TEXT_H

#include "lib/jsonl.h"

void record_text(struct jsonl *json, const struct record *r);

#endif /* RECORD_TEXT_H */
