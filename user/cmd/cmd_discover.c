// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_discover.c - `discover`: the game servers of this host as a configuration, or held
 * against the one that there is.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "cmd/commands.h"
#include "config/config.h"
#include "discover/discover.h"
#include "lib/json_key.h"
#include "lib/log.h"
#include "lib/names.h"
#include "lib/uplink.h"

static const struct json_key server_keys[] = {
	JSON_KEY("place", "string", NULL,
		 "Address and port that its socket is bound to; `*`: any address."),
	JSON_KEY("port", "integer", NULL, "Its UDP port."),
	JSON_KEY("protocol", "string", NULL, "Protocol that it speaks."),
	JSON_KEY("name", "string", NULL, "Name that it tells, in printable ASCII."),
	JSON_KEY("map", "string", NULL, "Its map, in printable ASCII."),
	JSON_KEY("process", "string|null", NULL,
		 "Name of its process; null: this user may not know."),
	JSON_KEY("pid", "integer|null", NULL, "Its process."),
	JSON_KEY("container", "boolean", NULL, "In another network namespace."),
	JSON_KEY("service", "string|null", NULL,
		 "With -c, the service that its datagrams are for; null: none."),
	JSON_KEY("configured", "string|null", NULL, "Protocol of that service."),
	JSON_KEY("ok", "boolean", NULL,
		 "Without -c, or if there is such a service of this protocol."),
	JSON_END,
};

const struct json_key discover_json_keys[] = {
	JSON_KEY("interface", "string|null", NULL,
		 "Interface where the default route leads; null: there is none."),
	JSON_OBJECT("servers", "object[]", NULL, "Game servers that answered.",
		    server_keys),
	JSON_KEY(
		"silent", "string[]", NULL,
		"With -c, services without a game server that answered; no master server's."),
	JSON_KEY("left_out", "integer", "sockets",
		 "Sockets for which there was no room."),
	JSON_END,
};

/* The servers, and the configuration that they are compared with. */
struct found {
	struct discover_servers servers;
	struct config config;
	bool compared; /* the configuration was given */
	char interface[IF_NAMESIZE];
};

/* --- looking ----------------------------------------------------------------------- */

/* Find the interface that the default route leads to, or "". */
static void find_interface(char ret[IF_NAMESIZE])
{
	struct netlink_row *rows = calloc(NETLINKS_MAX, sizeof(*rows));
	int count = rows ? netlinks_read(rows) : 0;
	const struct netlink_row *row;
	size_t n = count > 0 ? (size_t)count : 0;

	*ret = 0;
	if (uplink_route(false, ret) || uplink_route(true, ret)) {
		row = netlinks_row(rows, n,
				   uplink_below(rows, n, (int)if_nametoindex(ret)));
		if (row)
			memcpy(ret, row->name, IF_NAMESIZE);
	}
	free(rows);
}

/* Find all servers. 0 or the exit status, after a message. */
static int find_servers(const struct call *call, struct found *found)
{
	size_t failed = 0;
	bool everywhere = call_has(call, OPTION_CONTAINERS);
	int err = everywhere ? discover_everywhere(&found->servers, &failed)
			     : discover_here(&found->servers);

	if (everywhere && err == -EPERM) {
		log_error("discover: --containers needs root, to look into other network "
			  "namespaces");
		return EXIT_DENIED;
	}
	if (err) {
		log_error("discover: cannot look at the sockets of this machine: %s",
			  strerror(-err));
		return exit_status(err);
	}
	if (failed)
		log_warn("discover: %zu network namespaces could not be looked into",
			 failed);
	if (found->servers.namespaces_left_out)
		log_warn("discover: %s%zu network namespaces were not looked into: at "
			 "most %d are; run it in the others by `nsenter --net`",
			 found->servers.namespaces_left_out < DISCOVER_LEFT_OUT
				 ? ""
				 : "at least ",
			 found->servers.namespaces_left_out, DISCOVER_NAMESPACES);
	if (found->servers.left_out)
		log_warn("discover: %zu sockets were left out: at most %d are asked",
			 found->servers.left_out, DISCOVER_CANDIDATES);
	discover_processes(&found->servers);
	return 0;
}

/* --- saying ------------------------------------------------------------------------ */

static bool agrees(const struct config_service *c, const struct discover_server *s)
{
	return c && (c->service.family == FAMILY_AUTO ||
		     c->service.family == (unsigned int)s->family);
}

static bool is_well(const struct found *found)
{
	for (size_t i = 0; found->compared && i < found->servers.count; i++) {
		const struct discover_server *s = &found->servers.rows[i];

		if (!agrees(discover_service(&found->config, s), s))
			return false;
	}
	return true;
}

/* Return true if no server of @c answered, which should: a master server is not asked. */
static bool is_silent(const struct found *found, const struct config_service *c)
{
	return c->service.family != FAMILY_MASTER &&
	       !discover_replied(&found->servers, &found->config, c);
}

static json_t *server_json(const struct found *found, const struct discover_server *s)
{
	const struct config_service *c =
		found->compared ? discover_service(&found->config, s) : NULL;
	char place[DISCOVER_PLACE];

	discover_place(s, place);
	return json_pack("{s:s, s:i, s:s, s:s, s:s, s:o, s:o, s:b, s:o, s:o, s:b}",
			 "place", place, "port", (int)s->port, "protocol",
			 family_name(s->family), "name", s->info.name, "map", s->info.map,
			 "process", s->pid ? json_string(s->process) : json_null(), "pid",
			 s->pid ? json_integer(s->pid) : json_null(), "container",
			 s->container, "service",
			 c ? json_text(c->service.name) : json_null(), "configured",
			 c ? json_string(family_name((enum wire_family)c->service.family))
			   : json_null(),
			 "ok", !found->compared || agrees(c, s));
}

static int print_found_json(const struct found *found)
{
	json_t *servers = json_array(), *silent = json_array();

	for (size_t i = 0; i < found->servers.count; i++)
		json_array_append_new(servers,
				      server_json(found, &found->servers.rows[i]));
	for (size_t i = 0; found->compared && i < found->config.service_count; i++)
		if (is_silent(found, &found->config.services[i]))
			json_array_append_new(
				silent,
				json_text(found->config.services[i].service.name));
	return print_json(
		json_pack("{s:o, s:o, s:o, s:I}", "interface",
			  *found->interface ? json_text(found->interface) : json_null(),
			  "servers", servers, "silent", silent, "left_out",
			  (json_int_t)found->servers.left_out));
}

static void print_server(const struct found *found, const struct discover_server *s)
{
	const struct config_service *c = discover_service(&found->config, s);
	const char *family = family_name(s->family);
	char place[DISCOVER_PLACE];

	discover_place(s, place);
	if (!c)
		printf("%s: %s server '%s' is in no service\n", place, family,
		       s->info.name);
	else if (agrees(c, s))
		printf("%s: service '%s' is %s, as its server '%s'\n", place,
		       c->service.name, family, s->info.name);
	else
		printf("%s: service '%s' is configured as %s, but its server '%s' speaks "
		       "%s: `protocol = %s`\n",
		       place, c->service.name,
		       family_name((enum wire_family)c->service.family), s->info.name,
		       family, family);
}

static void print_compared(const struct found *found)
{
	for (size_t i = 0; i < found->servers.count; i++)
		print_server(found, &found->servers.rows[i]);
	for (size_t i = 0; i < found->config.service_count; i++) {
		const struct config_service *c = &found->config.services[i];

		if (is_silent(found, c))
			printf("service '%s': no server of this host answered%s\n",
			       c->service.name,
			       c->service.family == FAMILY_QUAKE_ENHANCED
				       ? "; of quake-enhanced none does"
				       : "");
	}
}

/* The configuration, to a file that was not there, or to standard output. */
static int write_config(const struct call *call, const struct found *found)
{
	const char *path = call_value(call, OPTION_OUTPUT);
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644) : -1;
	FILE *out = path ? fd >= 0 ? fdopen(fd, "w") : NULL : stdout;
	bool bad = !out;

	if (out) {
		discover_write(&found->servers, found->interface, out);
		bad = ferror(out) || fflush(out);
		if (path && fclose(out))
			bad = true;
	}
	if (!bad)
		return 0;
	log_error("discover: cannot write '%s': %s%s", path ? path : "standard output",
		  strerror(errno),
		  errno == EEXIST ? ": choose another name, or remove it first" : "");
	return EXIT_REST;
}

/* Print or write @found, as the options say. The exit status. */
static int say(const struct call *call, const struct found *found)
{
	bool json = call_has(call, OPTION_JSON);
	int status = 0;

	if (!found->servers.count && !found->compared && !json) {
		log_error("discover: no UDP socket of this host answered as a game "
			  "server; Quake Enhanced's do not, and those of containers "
			  "are asked with --containers");
		return EXIT_REST;
	}
	if (json)
		status = print_found_json(found);
	else if (found->compared)
		print_compared(found);
	if (!status && (call_has(call, OPTION_OUTPUT) || (!json && !found->compared)))
		status = write_config(call, found);
	return status ? status : is_well(found) ? 0 : EXIT_UNPROTECTED;
}

int cmd_discover(const struct call *call)
{
	struct found *found = calloc(1, sizeof(*found));
	int status;

	if (!found) {
		log_error("discover: not enough memory");
		return EXIT_REST;
	}
	found->compared = call_has(call, OPTION_CONFIG);
	status = found->compared ? exit_status(call_config(call, &found->config)) : 0;
	if (!status)
		status = find_servers(call, found);
	find_interface(found->interface);
	if (!status)
		status = say(call, found);
	free(found);
	return status;
}
