/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * text.h - records for people: one line each.
 */
#ifndef TEXT_H
#define TEXT_H

#include "lib/jsonl.h"

void text_record(struct jsonl *json, const struct record *r);

#endif /* TEXT_H */
