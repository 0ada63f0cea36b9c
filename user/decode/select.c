// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * select.c - see select.h.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "decode/select.h"

bool select_kinds(struct select *s, char *text, const char **bad)
{
	char *kind;

	while ((kind = strsep(&text, ","))) {
		*bad = kind;
		if (!*kind || s->kinds_n == SELECT_MAX)
			return false;
		s->kinds[s->kinds_n++] = kind;
	}
	return true;
}

static bool status_parse(struct select *s, const char *name)
{
	for (int i = 0; i < RECORD_STATUS_COUNT; i++)
		if (!strcmp(name, record_status_names[i])) {
			s->status[i] = true;
			s->has_status = true;
			return true;
		}
	return false;
}

bool select_status(struct select *s, char *text, const char **bad)
{
	char *name;

	while ((name = strsep(&text, ","))) {
		*bad = name;
		if (!status_parse(s, name))
			return false;
	}
	return true;
}

static bool port_parse(const char *text, uint16_t *ret)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	*ret = (uint16_t)port;
	return *text >= '0' && *text <= '9' && !*end && port && port <= UINT16_MAX;
}

static bool host_parse(const char *text, struct record_address *ret)
{
	char address[INET6_ADDRSTRLEN];
	const char *colon = strrchr(text, ':'), *end = text + strlen(text);

	memset(ret, 0, sizeof(*ret));
	/* Bare IPv6 has several colons, and no port. */
	if (colon && strchr(text, ':') != colon && *text != '[')
		colon = NULL;
	if (*text == '[' && colon && colon[-1] != ']')
		colon = NULL;
	if (colon && !port_parse(colon + 1, &ret->port))
		return false;
	if (colon)
		end = colon;
	if (end == text)
		return colon != NULL;
	if (*text == '[') {
		if (end[-1] != ']')
			return false;
		text++;
		end--;
	}
	if ((size_t)(end - text) >= sizeof(address))
		return false;
	memcpy(address, text, (size_t)(end - text));
	address[end - text] = 0;
	ret->length = strchr(address, ':') ? 16 : 4;
	return inet_pton(ret->length == 4 ? AF_INET : AF_INET6, address, ret->bytes) == 1;
}

bool select_hosts(struct select *s, char *text, const char **bad)
{
	char *host;

	while ((host = strsep(&text, ","))) {
		*bad = host;
		if (s->hosts_n == SELECT_MAX || !host_parse(host, &s->hosts[s->hosts_n]))
			return false;
		s->hosts_n++;
	}
	return true;
}

static bool is_host(const struct record_address *host, const struct record_address *end)
{
	return end->length && (!host->port || host->port == end->port) &&
	       (!host->length || (host->length == end->length &&
				  !memcmp(host->bytes, end->bytes, sizeof(host->bytes))));
}

static bool takes_host(const struct select *s, const struct record *r)
{
	for (size_t i = 0; i < s->hosts_n; i++)
		if (is_host(&s->hosts[i], &r->source) ||
		    is_host(&s->hosts[i], &r->destination))
			return true;
	return !s->hosts_n;
}

static bool takes_kind(const struct select *s, const struct record *r)
{
	for (size_t i = 0; i < s->kinds_n; i++)
		if (!strcmp(s->kinds[i], r->kind))
			return true;
	return !s->kinds_n;
}

bool select_takes(const struct select *s, const struct record *r)
{
	return (!s->has_status || s->status[r->status]) && takes_kind(s, r) &&
	       takes_host(s, r);
}
