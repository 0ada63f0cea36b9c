// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * names.c - the names of enumerators, from the rows of wire.h and abi.h.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/names.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const char *lookup(const char *const *names, size_t n, size_t at)
{
	return at < n && names[at] ? names[at] : "?";
}

/* clang-format off */
static const char *const families[] = {
#define AS_NAME(family, name, symbol) [FAMILY_##family] = name,
	WIRE_FAMILIES(AS_NAME)
#undef AS_NAME
};

static const char *const classes[] = {
#define AS_NAME(class_, name) [CLASS_##class_] = name,
	WIRE_CLASSES(AS_NAME)
#undef AS_NAME
};

static const char *const kinds[] = {
#define AS_SHAPE(kind, name, class_, families, ...) [KIND_##kind] = name,
#define AS_CODED(kind, code, name, class_, families) [KIND_##kind] = name,
	WIRE_SHAPES(AS_SHAPE)
	WIRE_WORDS(AS_SHAPE)
	WIRE_CONTROL(AS_CODED)
	WIRE_HANDSHAKE(AS_CODED)
#undef AS_SHAPE
#undef AS_CODED
};

static const char *const reasons[] = {
#define AS_NAME(reason, name, verdict, received, sent) [REASON_##reason] = name,
	ABI_REASONS(AS_NAME)
#undef AS_NAME
};

static const char *const others[] = {
#define AS_NAME(other, name, verdict) [OTHER_##other] = name,
	ABI_OTHERS(AS_NAME)
#undef AS_NAME
};

static const enum verdict other_verdicts[] = {
#define AS_VERDICT(other, name, verdict) [OTHER_##other] = VERDICT_##verdict,
	ABI_OTHERS(AS_VERDICT)
#undef AS_VERDICT
};

static const char *const verdicts[] = {
	[VERDICT_PASS] = "pass",
	[VERDICT_DROP] = "drop",
	[VERDICT_RESPOND] = "respond",
};
/* clang-format on */

_Static_assert(COUNT(families) == FAMILY_COUNT, "a family without a name");
_Static_assert(COUNT(classes) == CLASS_COUNT, "a class without a name");
_Static_assert(COUNT(kinds) == KIND_COUNT, "a kind without a name");
_Static_assert(COUNT(reasons) == REASON_COUNT, "a reason without a name");
_Static_assert(COUNT(others) == OTHER_COUNT, "an other without a name");
_Static_assert(COUNT(verdicts) == VERDICT_COUNT, "a verdict without a name");

const char *family_name(enum wire_family family)
{
	return lookup(families, COUNT(families), family);
}

const char *class_name(enum wire_class class)
{
	return lookup(classes, COUNT(classes), class);
}

const char *kind_name(enum wire_kind kind)
{
	return lookup(kinds, COUNT(kinds), kind);
}

const char *reason_name(enum reason reason)
{
	return lookup(reasons, COUNT(reasons), reason);
}

const char *verdict_name(enum verdict verdict)
{
	return lookup(verdicts, COUNT(verdicts), verdict);
}

const char *other_name(enum other other)
{
	return lookup(others, COUNT(others), other);
}

enum verdict other_verdict(enum other other)
{
	return other < COUNT(other_verdicts) ? other_verdicts[other] : VERDICT_DROP;
}

/* clang-format off */
static const struct {
	const char *name;
	enum wire_family family;
} aliases[] = {
#define AS_ALIAS(family, name) { name, FAMILY_##family },
	FAMILY_ALIASES(AS_ALIAS)
#undef AS_ALIAS
};
/* clang-format on */

void families_format(__u32 mask, char ret[FAMILIES_TEXT])
{
	size_t n = 0;

	*ret = '\0';
	for (int f = 0; f < FAMILY_COUNT; f++)
		if (mask & 1u << f && n < FAMILIES_TEXT)
			n += (size_t)snprintf(ret + n, FAMILIES_TEXT - n, "%s%s",
					      n ? " or " : "", families[f]);
}

bool family_parse(const char *name, enum wire_family *ret)
{
	for (size_t i = 0; i < COUNT(families); i++) {
		if (!strcmp(name, families[i])) {
			*ret = (enum wire_family)i;
			return true;
		}
	}
	for (size_t i = 0; i < COUNT(aliases); i++) {
		if (!strcasecmp(name, aliases[i].name)) {
			*ret = aliases[i].family;
			return true;
		}
	}
	return false;
}

bool class_parse(const char *name, enum wire_class *ret)
{
	for (size_t i = 0; i < COUNT(classes); i++) {
		if (!strcmp(name, classes[i])) {
			*ret = (enum wire_class)i;
			return true;
		}
	}
	return false;
}
