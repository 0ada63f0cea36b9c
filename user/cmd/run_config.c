// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * run_config.c - see run_config.h.
 */
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "cmd/commands.h"
#include "cmd/run_config.h"
#include "daemon/in_force.h"
#include "lib/log.h"
#include "shield/shield.h"

static int parse_mode(const char *text, enum attach_mode *ret)
{
	if (!strcmp(text, "auto"))
		*ret = MODE_AUTO;
	else if (!strcmp(text, "native"))
		*ret = MODE_NATIVE;
	else if (!strcmp(text, "skb"))
		*ret = MODE_SKB;
	else {
		log_error("run: no such mode: '%s' (auto, native or skb)", text);
		return -EINVAL;
	}
	return 0;
}

static int add_interface(struct run_config *c, const char *name)
{
	if (c->count == CONFIG_INTERFACES) {
		log_error("run: more than %d interfaces: '%s'", CONFIG_INTERFACES, name);
		return -EINVAL;
	}
	if (strlen(name) >= IF_NAMESIZE || !*name) {
		log_error("run: not an interface name: '%s'", name);
		return -EINVAL;
	}
	strcpy(c->interfaces[c->count++], name);
	return 0;
}

int run_config_options(const struct call *call, struct run_config *ret)
{
	const char *mode = call_value(call, OPTION_MODE);
	enum attach_mode known;
	int err = 0;

	*ret = (struct run_config){
		.call = call,
		.path = call_value(call, OPTION_CONFIG),
		.pin = call_value(call, OPTION_PIN),
		.mode = -1,
		.observe = call_has(call, OPTION_OBSERVE),
		.take_over = call_has(call, OPTION_TAKE_OVER),
	};
	if (mode) {
		err = parse_mode(mode, &known);
		if (!err)
			ret->mode = (int)known;
	}
	for (const struct given *g = NULL;
	     !err && (g = call_next(call, OPTION_INTERFACE, g));)
		err = add_interface(ret, g->value);
	return err;
}

bool run_config_no_return_path(const struct config *config)
{
	for (size_t i = 0; i < config->interface_count; i++)
		if (shield_veth_native(config->interfaces[i], config->mode))
			return true;
	return false;
}

void run_config_resolve(struct run_config *c, struct config *config, bool no_return_path)
{
	struct config_adjusted adjusted;
	char what[CONFIG_ADJUSTED];

	c->no_return_path = no_return_path;
	config_resolve(config, no_return_path, &adjusted);
	config_adjusted_format(&adjusted, what);
	if (*what)
		log_info(
			"off: %s: an interface is a veth: its other end may not receive "
			"what is sent back; where it has GRO on or an XDP program, write "
			"`validation = under-load`, `cache = under-load`",
			what);
	if (adjusted.uncacheable)
		log_info("cache = off for %zu service%s: the server%s cannot be "
			 "queried: that takes one port and at most one address, of IPv4",
			 adjusted.uncacheable, adjusted.uncacheable == 1 ? "" : "s",
			 adjusted.uncacheable == 1 ? "" : "s");
}

/*
 * Leave out the second of two names of one interface, after a warning. Called by
 * run_config_read().
 */
static void leave_out_doubles(struct config *config)
{
	size_t count = 0;

	for (size_t i = 0; i < config->interface_count; i++) {
		unsigned int ifindex = if_nametoindex(config->interfaces[i]);
		size_t at = 0;

		while (at < count &&
		       (!ifindex || if_nametoindex(config->interfaces[at]) != ifindex))
			at++;
		if (at < count)
			log_warn("interface '%s' is left out: '%s' is the same one",
				 config->interfaces[i], config->interfaces[at]);
		else if (count++ < i)
			memcpy(config->interfaces[count - 1], config->interfaces[i],
			       IF_NAMESIZE);
	}
	config->interface_count = count;
}

/* The command line goes before any file. */
static void take_options(const struct run_config *c, struct config *ret)
{
	if (c->observe)
		ret->observe = true;
	if (c->mode >= 0)
		ret->mode = (enum attach_mode)c->mode;
	if (c->count) {
		memcpy(ret->interfaces, c->interfaces, sizeof(c->interfaces));
		ret->interface_count = c->count;
	}
}

int run_config_read(struct run_config *c, struct config *ret)
{
	int err = call_config(c->call, ret);

	if (err)
		return err;
	take_options(c, ret);
	leave_out_doubles(ret);
	run_config_resolve(c, ret, run_config_no_return_path(ret));
	if (ret->interface_count)
		return 0;
	log_error("no interface: name one with -i or in the configuration");
	return -EINVAL;
}

int run_config_previous(struct run_config *c, const struct config *now,
			struct config *ret)
{
	int err = in_force_read(c->pin, IN_FORCE_PREVIOUS, ret);

	if (err)
		log_error("no configuration to go back to");
	if (err)
		return err;
	take_options(c, ret);
	if (!ret->interface_count) {
		memcpy(ret->interfaces, now->interfaces, sizeof(ret->interfaces));
		ret->interface_count = now->interface_count;
	}
	run_config_resolve(c, ret, run_config_no_return_path(ret));
	return 0;
}
