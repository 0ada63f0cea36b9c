// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_explain.c - `explain`: why the shield treats an address or a datagram as it does.
 */
#include <errno.h>

#include <jansson.h>

#include "cmd/commands.h"
#include "explain/explain.h"
#include "lib/log.h"

static int show(const struct call *call, struct explain *e)
{
	const char *file = call_value(call, OPTION_CONFIG);

	explain_lines(e, file ? file : CONFIG_PATH);
	if (call_has(call, OPTION_JSON))
		return print_json(explain_to_json(e));
	explain_print(e, stdout);
	return 0;
}

int cmd_explain(const struct call *call)
{
	struct explain_query query = { .service = call_value(call, OPTION_SERVICE) };
	struct explain *explain = NULL;
	struct trial *trial = NULL;
	struct shield *shield;
	int status;

	if (!explain_parse(call->operands[0], &query)) {
		log_error("explain: '%s' is not an address like 203.0.113.7, "
			  "203.0.113.7:27005 or [2001:db8::1]:27005",
			  call->operands[0]);
		return EXIT_USAGE;
	}
	status = call_open(call, &shield);
	if (status)
		return status;
	status = exit_status(trial_open(shield, &trial));
	if (!status)
		status = exit_status(explain_address(shield, trial, &query, &explain));
	if (!status) {
		status = show(call, explain);
		explain_free(explain);
	}
	trial_close(trial);
	shield_close(shield);
	return status;
}
