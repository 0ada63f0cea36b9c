/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * names.h - the names of enumerators, as they stand in configuration, labels and JSON.
 *
 * All come from the tables in include/. A value out of range reads as "?".
 */
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>

#include "abi.h"

const char *family_name(enum wire_family family);
const char *class_name(enum wire_class class);
const char *kind_name(enum wire_kind kind);
const char *reason_name(enum reason reason);
const char *verdict_name(enum verdict verdict);
const char *other_name(enum other other);
enum verdict other_verdict(enum other other);

/* False: @name is none of them; *@ret is untouched. */
bool family_parse(const char *name, enum wire_family *ret);
bool class_parse(const char *name, enum wire_class *ret);

#endif /* NAMES_H */
