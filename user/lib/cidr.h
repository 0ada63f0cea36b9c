/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cidr.h - networks in text, for the configuration and the lists. IPv4 lives in
 * ::ffff:0:0/96. Pure.
 */
#ifndef CIDR_H
#define CIDR_H

#include <stdbool.h>

#include "abi.h"

/*
 * Read a network: "10.0.0.0/8", "2001:db8::1", "fd00::/8". False: it is none; *@ret is
 * untouched.
 */
bool cidr_parse(const char *text, struct cidr *ret);

/*
 * Return true if @text, which cidr_parse() takes, has bits that its length does not
 * cover, as 203.0.113.7/24 has. They mean nothing, so it may be mistaken.
 */
bool cidr_host_bits(const char *text);

/*
 * Return true if @cidr is wider than an IPv4 /8 or an IPv6 /16: more than one
 * organisation's own networks.
 */
bool cidr_is_wide(const struct cidr *cidr);

/* Return true if all addresses of @inner are in @around. */
bool cidr_holds(const struct cidr *around, const struct cidr *inner);

#define CIDR_TEXT 64
/*
 * Write @cidr as text, IPv4 in dotted form again; without "/n" when it is one address.
 */
void cidr_format(const struct cidr *cidr, char ret[CIDR_TEXT]);

#endif /* CIDR_H */
