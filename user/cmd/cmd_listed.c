// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_listed.c - `status --listed`: do master servers list the servers behind the shield,
 * and which sources would get a response now. Called by cmd_status().
 */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cmd/commands.h"
#include "lib/log.h"
#include "listed/listed.h"

static int take_master(const char *text, struct listed_query *ret)
{
	if (ret->master_count == LISTED_MASTERS) {
		log_error("status: --master: at most %d master servers are asked",
			  LISTED_MASTERS);
		return EXIT_USAGE;
	}
	if (listed_master_parse(text, &ret->masters[ret->master_count])) {
		ret->master_count++;
		return 0;
	}
	log_error("status: --master: '%s' is no HOST, HOST:PORT or [ADDRESS]:PORT", text);
	return EXIT_USAGE;
}

static int take_address(const char *text, struct listed_query *ret)
{
	struct explain_query at;

	if (ret->address_count == LISTED_ADDRESSES) {
		log_error("status: --address: at most %d addresses are compared",
			  LISTED_ADDRESSES);
		return EXIT_USAGE;
	}
	if (!explain_parse(text, &at) || at.port) {
		log_error("status: --address: '%s' is no address", text);
		return EXIT_USAGE;
	}
	memcpy(ret->addresses[ret->address_count++], at.address, sizeof(at.address));
	return 0;
}

/* Read what the operator says. 0, or the exit status after a message. */
static int take_query(const struct call *call, struct listed_query *ret)
{
	int status = 0;

	ret->service = call_value(call, OPTION_SERVICE);
	for (const struct given *g = NULL;
	     !status && (g = call_next(call, OPTION_MASTER, g));)
		status = take_master(g->value, ret);
	for (const struct given *g = NULL;
	     !status && (g = call_next(call, OPTION_ADDRESS, g));)
		status = take_address(g->value, ret);
	return status;
}

static int show(const struct call *call, const struct listed *listed)
{
	int status;

	if (call_has(call, OPTION_JSON)) {
		status = print_json(listed_to_json(listed));
	} else {
		listed_print(listed, stdout);
		status = print_end("status");
	}
	return status ? status : listed_all(listed) ? 0 : EXIT_UNPROTECTED;
}

int cmd_listed(const struct call *call)
{
	struct listed_query *query = calloc(1, sizeof(*query));
	struct listed *listed = NULL;
	struct shield *shield;
	int status;

	if (!query) {
		log_error("status: not enough memory");
		return EXIT_REST;
	}
	status = take_query(call, query);
	if (!status)
		status = call_open(call, &shield);
	if (!status) {
		status = exit_status(listed_collect(shield, query, &listed));
		shield_close(shield);
	}
	if (!status)
		status = show(call, listed);
	listed_free(listed);
	free(query);
	return status;
}
