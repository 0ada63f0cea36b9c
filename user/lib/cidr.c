// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cidr.c - see cidr.h.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/address.h"
#include "lib/cidr.h"

#define MAPPED_BITS 96

static bool length_parse(const char *text, __u32 max, __u32 *ret)
{
	__u32 n = 0;

	if (!*text || strlen(text) > 3)
		return false;
	for (; *text; text++) {
		if (!isdigit((unsigned char)*text))
			return false;
		n = n * 10 + (__u32)(*text - '0');
	}
	if (n > max)
		return false;
	*ret = n;
	return true;
}

/* Clear what the length does not cover, so that a network has one spelling. */
static void mask(struct cidr *cidr)
{
	__u8 *bytes = (__u8 *)cidr->addr;

	for (__u32 bit = cidr->length; bit < 128; bit++)
		bytes[bit / 8] &= (__u8) ~(0x80 >> bit % 8);
}

bool cidr_parse(const char *text, struct cidr *ret)
{
	struct cidr cidr = { .length = 128 };
	char address[INET6_ADDRSTRLEN];
	size_t n = strcspn(text, "/");
	__u32 skip = 0;

	if (n >= sizeof(address))
		return false;
	memcpy(address, text, n);
	address[n] = 0;
	if (inet_pton(AF_INET, address, &cidr.addr[3]) == 1) {
		cidr.addr[2] = htonl(0xffff);
		skip = MAPPED_BITS;
	} else if (inet_pton(AF_INET6, address, cidr.addr) != 1) {
		return false;
	}
	if (text[n]) {
		if (!length_parse(text + n + 1, 128 - skip, &cidr.length))
			return false;
		cidr.length += skip;
	}
	mask(&cidr);
	*ret = cidr;
	return true;
}

bool cidr_host_bits(const char *text)
{
	char address[INET6_ADDRSTRLEN];
	size_t n = strcspn(text, "/");
	struct cidr network, host;

	if (n >= sizeof(address))
		return false;
	memcpy(address, text, n);
	address[n] = 0;
	return cidr_parse(text, &network) && cidr_parse(address, &host) &&
	       memcmp(network.addr, host.addr, sizeof(host.addr)) != 0;
}

static bool is_mapped(const struct cidr *cidr)
{
	return cidr->length >= MAPPED_BITS && address_is_ipv4(cidr->addr);
}

bool cidr_is_wide(const struct cidr *cidr)
{
	return cidr->length < (is_mapped(cidr) ? MAPPED_BITS + 8 : 16);
}

bool cidr_holds(const struct cidr *around, const struct cidr *inner)
{
	struct cidr cut = *inner;

	if (inner->length < around->length)
		return false;
	cut.length = around->length;
	mask(&cut);
	return !memcmp(&cut, around, sizeof(cut));
}

void cidr_format(const struct cidr *cidr, char ret[CIDR_TEXT])
{
	char address[INET6_ADDRSTRLEN];
	__u32 length = cidr->length, whole = 128;

	if (is_mapped(cidr)) {
		inet_ntop(AF_INET, &cidr->addr[3], address, sizeof(address));
		length -= MAPPED_BITS;
		whole = 32;
	} else {
		inet_ntop(AF_INET6, cidr->addr, address, sizeof(address));
	}
	if (length == whole)
		snprintf(ret, CIDR_TEXT, "%s", address);
	else
		snprintf(ret, CIDR_TEXT, "%s/%u", address, length);
}
