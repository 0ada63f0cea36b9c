/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cidr.h - networks in text. IPv4 lives in ::ffff:0:0/96.
 */
#ifndef CIDR_H
#define CIDR_H

#include <stdbool.h>

#include "abi.h"

/* "10.0.0.0/8", "2001:db8::1", "fd00::/8". False: not one; *@ret is untouched. */
bool cidr_parse(const char *text, struct cidr *ret);

#define CIDR_TEXT 64
/* IPv4 in dotted form again; without "/n" when it is one address. */
void cidr_format(const struct cidr *cidr, char ret[CIDR_TEXT]);

#endif /* CIDR_H */
