// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_check.c - `check`: is this configuration one that `run` would take?
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "cmd/commands.h"
#include "config/config.h"
#include "config/config_text.h"
#include "lib/cidr.h"
#include "lib/json_key.h"
#include "lib/log.h"
#include "shield/shield.h"

static const char *path_of(const struct call *call)
{
	const char *path = call_value(call, OPTION_CONFIG);

	return path ? path : CONFIG_PATH;
}

/* Warn of networks that are nearly always a mistake, but allowed. */
static void warn_wide(const struct call *call, const char *name,
		      const struct cidr *networks, size_t count)
{
	char text[CIDR_TEXT];

	for (size_t i = 0; i < count; i++) {
		if (!cidr_is_wide(&networks[i]))
			continue;
		cidr_format(&networks[i], text);
		config_warn(path_of(call), 0, "%s = '%s' is a large part of the internet",
			    name, text);
	}
}

/*
 * Warn of interfaces that are there and that `run` would not attach to, as far as this
 * user can tell: pins are visible to root only.
 */
static void warn_taken(const struct config *config)
{
	char why[SHIELD_WHY];
	enum holder holder;

	for (size_t i = 0; i < config->interface_count; i++)
		if (shield_may_attach(NULL, config->interfaces[i], &holder, why) && *why)
			config_warn(config->interface_files[i],
				    config->interface_lines[i], "run would fail: %s",
				    why);
}

/*
 * Warn of a command that its own user could not run: docs/quakeshield-attack.service.
 */
static void warn_command(const struct call *call, const struct config *config)
{
	char path[CONFIG_COMMAND];
	struct stat st;

	snprintf(path, sizeof(path), "%s", config->on_attack);
	path[strcspn(path, " \t")] = 0;
	if (!*path)
		return;
	if (stat(path, &st))
		config_warn(path_of(call), 0, "on-attack: cannot run '%s': %s", path,
			    strerror(errno));
	else if (!S_ISREG(st.st_mode) || !(st.st_mode & S_IXOTH))
		config_warn(path_of(call), 0,
			    "on-attack: '%s' cannot be run by every user, and is run as "
			    "one that has no rights",
			    path);
	else if (config_is_hidden(path))
		config_warn(
			path_of(call), 0,
			"on-attack: '%s' is run where /home, /root and /tmp are not to "
			"be seen",
			path);
}

/* Warn of a cache that is written though the server cannot be queried. */
static void warn_uncacheable(const struct call *call, const struct config *config)
{
	for (size_t i = 0; i < config->service_count; i++) {
		const struct config_service *c = &config->services[i];
		const char *takes = config_uncacheable(c);

		if (takes && c->service.cache)
			config_warn(
				path_of(call), 0,
				"service '%s': its server cannot be asked, so nothing "
				"is answered for it: that takes %s",
				c->service.name, takes);
	}
}

/* Warn of validation that is written for a master server: it has none. */
static void warn_unvalidated(const struct call *call, const struct config *config)
{
	for (size_t i = 0; i < config->service_count; i++) {
		const struct service *s = &config->services[i].service;

		if (s->family == FAMILY_MASTER && s->validation)
			config_warn(
				path_of(call), 0,
				"service '%s': validation has no effect: no client of "
				"a master server has a challenge to return",
				s->name);
	}
}

/* Apply the defaults that `run` would, and warn of those that are off here. */
static void check_adjusted(const struct call *call, struct config *config,
			   struct config_adjusted *ret)
{
	const char *veth = NULL;
	char what[CONFIG_ADJUSTED];

	for (size_t i = 0; i < config->interface_count; i++)
		if (shield_veth_native(config->interfaces[i], config->mode))
			veth = config->interfaces[i];
	config_resolve(config, veth, ret);
	config_adjusted_format(ret, what);
	if (*what)
		config_warn(path_of(call), 0,
			    "interface '%s' is a veth, whose other end may not hear what "
			    "is sent back; off, unless it is written: %s",
			    veth, what);
}

static const struct json_key complaint_keys[] = {
	JSON_KEY("file", "string", NULL, "File that the message is about."),
	JSON_KEY("line", "integer|null", NULL,
		 "Its line, from 1; null: the file as a whole."),
	JSON_KEY("warning", "boolean", NULL,
		 "The configuration would be taken all the same."),
	JSON_KEY(
		"message", "string", NULL,
		"The fault, with a quotation of the file. A byte that is no UTF-8 is written as \\x and two digits."),
	JSON_END,
};

const struct json_key check_json_keys[] = {
	JSON_KEY("file", "string", NULL, "The configuration file."),
	JSON_KEY("ok", "boolean", NULL, "`run` would take it."),
	JSON_KEY("services", "integer", "services", "Services in it; 0 if it is not ok."),
	JSON_KEY("interfaces", "integer", "interfaces",
		 "Interfaces in it; 0 if it is not ok."),
	JSON_KEY(
		"cache_unavailable", "integer", "services",
		"Services for which no response is cached, because the daemon cannot query their server."),
	JSON_OBJECT("messages", "object[]", NULL, "Errors and warnings.", complaint_keys),
	JSON_END,
};

static void complaint_add(const struct config_complaint *c, void *context)
{
	json_array_append_new(
		context,
		json_pack("{s:o, s:o, s:b, s:o}", "file", json_text(c->path), "line",
			  c->line ? json_integer(c->line) : json_null(), "warning",
			  c->warning, "message", json_text(c->message)));
}

static int check_config(const struct call *call, struct config *config,
			struct config_adjusted *ret)
{
	int err;

	config_warn_hidden(true);
	err = call_config(call, config);
	if (err)
		return err;
	config_check_interfaces(config);
	warn_taken(config);
	warn_command(call, config);
	check_adjusted(call, config, ret);
	warn_unvalidated(call, config);
	warn_uncacheable(call, config);
	warn_wide(call, "allow", config->allow, config->allow_count);
	warn_wide(call, "deny", config->deny, config->deny_count);
	return 0;
}

/* Write one object, of a bad file too: its complaints are in it, and not on stderr. */
static int check_json(const struct call *call, struct config *config)
{
	json_t *complaints = json_array();
	struct config_adjusted adjusted = { 0 };
	int err, status;

	config_listen(complaint_add, complaints);
	err = check_config(call, config, &adjusted);
	config_listen(NULL, NULL);
	status = print_json(json_pack(
		"{s:o, s:b, s:I, s:I, s:I, s:o}", "file", json_text(path_of(call)), "ok",
		!err, "services", (json_int_t)(err ? 0 : config->service_count),
		"interfaces", (json_int_t)(err ? 0 : config->interface_count),
		"cache_unavailable", (json_int_t)adjusted.uncacheable, "messages",
		complaints));
	return err ? exit_status(err) : status;
}

/* Print a default that is off: it is no warning, because the file does not say it. */
static void say_unasked(const struct config *config)
{
	for (size_t i = 0; i < config->service_count; i++) {
		const struct config_service *c = &config->services[i];
		struct service usual;

		config_service_defaults((enum wire_family)c->service.family, &usual);
		if (usual.cache && !c->cache_given && config_uncacheable(c))
			printf("service '%s': cache = off; they take %s\n",
			       c->service.name, config_uncacheable(c));
	}
}

/* The file may be good for `run -i IFACE`; the systemd unit runs without. */
static void say_interfaces(const struct config *config)
{
	if (!config->interface_count)
		printf("no interface: `run` takes one with -i; for the systemd unit write "
		       "interface = {\"eth0\"}\n");
}

int cmd_check(const struct call *call)
{
	struct config *config = calloc(1, sizeof(*config));
	struct config_adjusted adjusted;
	int err;

	if (!config) {
		log_error("check: not enough memory");
		return EXIT_REST;
	}
	if (call_has(call, OPTION_JSON)) {
		err = check_json(call, config);
		free(config);
		return err;
	}
	err = check_config(call, config, &adjusted);
	if (!err && call_has(call, OPTION_PRINT)) {
		config_print(config, stdout);
	} else if (!err) {
		say_unasked(config);
		say_interfaces(config);
		printf("%s: ok, %zu service%s\n", path_of(call), config->service_count,
		       config->service_count == 1 ? "" : "s");
	}
	free(config);
	return err ? exit_status(err) : print_end("check");
}
