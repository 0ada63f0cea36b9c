// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * discover_write.c - servers as a configuration, and held against one that there is.
 * Pure; see discover.h.
 */
#include <arpa/inet.h>
#include <string.h>

#include "discover/discover.h"
#include "lib/address.h"
#include "lib/cidr.h"
#include "lib/names.h"

static void address_text(const struct discover_server *s, char ret[CIDR_TEXT])
{
	bool ipv4 = address_is_ipv4(s->address);

	inet_ntop(ipv4 ? AF_INET : AF_INET6, ipv4 ? &s->address[3] : s->address, ret,
		  CIDR_TEXT);
}

void discover_place(const struct discover_server *s, char ret[DISCOVER_PLACE])
{
	char address[CIDR_TEXT];

	address_text(s, address);
	if (address_is_any(s->address))
		snprintf(ret, DISCOVER_PLACE, "*:%u", s->port);
	else
		snprintf(ret, DISCOVER_PLACE, strchr(address, ':') ? "[%s]:%u" : "%s:%u",
			 address, s->port);
}

/*
 * Return true if datagrams to any address may be for @s: a server in a container has its
 * own address, and no datagram bears it before the host's NAT.
 */
static bool is_anywhere(const struct discover_server *s)
{
	return s->container || address_is_any(s->address);
}

/* Would two services that differ in nothing else be for the same datagrams? */
static bool collide(const struct discover_server *a, const struct discover_server *b)
{
	if (a->port != b->port || is_anywhere(a) != is_anywhere(b))
		return false;
	return is_anywhere(a) || !memcmp(a->address, b->address, sizeof(a->address));
}

/*
 * Return how many of those before @i have its protocol and port: they have its name,
 * too.
 */
static size_t namesakes(const struct discover_servers *all, size_t i)
{
	size_t n = 0;

	for (size_t j = 0; j < i; j++)
		n += all->rows[j].port == all->rows[i].port &&
		     all->rows[j].family == all->rows[i].family;
	return n;
}

static bool is_taken(const struct discover_servers *all, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (collide(&all->rows[j], &all->rows[i]))
			return true;
	return false;
}

static void remark(const struct discover_server *s, FILE *out)
{
	fprintf(out, "\n# ");
	if (s->pid)
		fprintf(out, "%s (process %d)", s->process, (int)s->pid);
	else
		fprintf(out, "a server");
	fprintf(out, "%s: '%s' on %s\n", s->container ? " in a container" : "",
		s->info.name, s->info.map);
	if (s->container)
		fprintf(out, "# Where the host forwards another port to this one, that "
			     "is the service's.\n");
}

static void service(const struct discover_servers *all, size_t i, FILE *out)
{
	const struct discover_server *s = &all->rows[i];
	size_t same = namesakes(all, i);
	bool taken = is_taken(all, i);
	const char *line = taken ? "# " : "";
	char address[CIDR_TEXT];

	remark(s, out);
	if (taken)
		fprintf(out, "# Left out: a service above has this port.\n");
	fprintf(out, "%sservice \"%s-%u", line, family_name(s->family), s->port);
	if (same)
		fprintf(out, "-%zu", same + 1);
	fprintf(out, "\" {\n%s    protocol = %s\n%s    port     = %u\n", line,
		family_name(s->family), line, s->port);
	if (!is_anywhere(s)) {
		address_text(s, address);
		fprintf(out, "%s    address  = \"%s\"\n", line, address);
	}
	fprintf(out, "%s}\n", line);
}

void discover_write(const struct discover_servers *all, const char *interface, FILE *out)
{
	fprintf(out,
		"# Written by `quakeshield discover`: the game servers that answered on "
		"this host.\n# Every limit has its default: `quakeshield check --print` "
		"shows them.\n");
	if (*interface)
		fprintf(out, "interface = {\"%s\"}\n", interface);
	else
		fprintf(out, "# No default route says which interface players come in "
			     "by: interface = {\"eth0\"}\n");
	for (size_t i = 0; i < all->count; i++)
		service(all, i, out);
}

static bool has_port(const struct config_service *c, __u16 port)
{
	for (size_t i = 0; i < c->port_count; i++)
		if (c->ports[i] == port)
			return true;
	return false;
}

/* Return true if @c names the address and a port of @s. */
static bool is_exact(const struct config_service *c, const struct discover_server *s)
{
	for (size_t i = 0; i < c->address_count && has_port(c, s->port); i++)
		if (!memcmp(c->addresses[i], s->address, sizeof(s->address)))
			return true;
	return false;
}

/* As the shield does: a service with the address goes before one without addresses. */
const struct config_service *discover_service(const struct config *config,
					      const struct discover_server *server)
{
	const struct config_service *named = NULL;

	for (size_t i = 0; i < config->service_count; i++)
		if (!server->container && is_exact(&config->services[i], server))
			return &config->services[i];
	for (size_t i = 0; i < config->service_count; i++) {
		const struct config_service *c = &config->services[i];

		if (has_port(c, server->port) && !c->address_count)
			return c;
		/* A server at any address is reached at each of a service's. */
		if (!named && has_port(c, server->port) && is_anywhere(server))
			named = c;
	}
	return named;
}

bool discover_replied(const struct discover_servers *servers, const struct config *config,
		      const struct config_service *service)
{
	for (size_t i = 0; i < servers->count; i++) {
		const struct discover_server *s = &servers->rows[i];

		if (is_anywhere(s) ? has_port(service, s->port)
				   : discover_service(config, s) == service)
			return true;
	}
	return false;
}
