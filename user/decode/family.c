// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * family.c - the registry: a family without its decoder does not link.
 */
#include "decode/family.h"

static const struct family *const families[FAMILY_COUNT] = {
#define AS_ROW(id, name, symbol) [FAMILY_##id] = &symbol##_family,
	WIRE_PROTOCOLS(AS_ROW)
#undef AS_ROW
};

const struct family *family_of(enum wire_family id)
{
	return (unsigned int)id < FAMILY_COUNT ? families[id] : NULL;
}
