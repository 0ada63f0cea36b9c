// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_probe.c - `probe`: would the shield work here, and at which interface? Each finding
 * with the command that fixes it. Changes nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cmd/commands.h"
#include "lib/json_key.h"
#include "lib/log.h"
#include "probe/probe.h"

static const struct json_key finding_keys[] = {
	JSON_KEY("check", "string", NULL,
		 "Subject of the finding: a word of quakeshield(8)."),
	JSON_KEY("result", "string", NULL,
		 "`ok`; `warn`: it works with a loss; `fail`: it does not protect."),
	JSON_KEY("text", "string", NULL, "The finding."),
	JSON_KEY("fix", "string|null", NULL,
		 "Command that fixes it, for a shell; null: `ok`."),
	JSON_END,
};

const struct json_key probe_json_keys[] = {
	JSON_KEY("interface", "string|null", NULL,
		 "Interface that was probed; null: none was given or found."),
	JSON_KEY("chosen_by", "string", NULL, "`option`, or `default-route`."),
	JSON_KEY("ok", "boolean", NULL, "Nothing fails."),
	JSON_OBJECT("findings", "object[]", NULL, "In the order of quakeshield(8).",
		    finding_keys),
	JSON_END,
};

static size_t count_of(const struct probe_findings *all, enum probe_result result)
{
	size_t n = 0;

	for (size_t i = 0; i < all->count; i++)
		n += all->rows[i].result == result;
	return n;
}

/* Return 0, EXIT_DENIED if rights are all that is missing, or EXIT_UNPROTECTED. */
static int status_of(const struct probe_findings *all)
{
	int ret = 0;

	for (size_t i = 0; i < all->count; i++) {
		if (all->rows[i].result != PROBE_FAIL)
			continue;
		if (strcmp(all->rows[i].check, "rights") != 0)
			return EXIT_UNPROTECTED;
		ret = EXIT_DENIED;
	}
	return ret;
}

static json_t *finding_json(const struct probe_finding *f)
{
	return json_pack("{s:s, s:s, s:o, s:o}", "check", f->check, "result",
			 probe_result_name(f->result), "text", json_text(f->text), "fix",
			 *f->fix ? json_text(f->fix) : json_null());
}

static int print_findings_json(const struct probe_facts *facts,
			       const struct probe_findings *all)
{
	json_t *findings = json_array();

	for (size_t i = 0; i < all->count; i++)
		json_array_append_new(findings, finding_json(&all->rows[i]));
	return print_json(
		json_pack("{s:o, s:s, s:b, s:o}", "interface",
			  *facts->interface ? json_text(facts->interface) : json_null(),
			  "chosen_by", facts->given ? "option" : "default-route", "ok",
			  !count_of(all, PROBE_FAIL), "findings", findings));
}

static void print_findings(const struct probe_facts *facts,
			   const struct probe_findings *all)
{
	size_t fails = count_of(all, PROBE_FAIL), warns = count_of(all, PROBE_WARN);

	printf("%s (%s)\n", *facts->interface ? facts->interface : "no interface",
	       facts->given ? "given" : "by the default route");
	for (size_t i = 0; i < all->count; i++) {
		const struct probe_finding *f = &all->rows[i];

		printf("  %-4s  %-9s  %s\n", probe_result_name(f->result), f->check,
		       f->text);
		if (*f->fix)
			printf("%19s%s\n", "", f->fix);
	}
	if (fails)
		printf("the shield would not protect here: %zu finding%s to fix first\n",
		       fails, fails == 1 ? "" : "s");
	else
		printf("the shield works here, with %zu warning%s\n", warns,
		       warns == 1 ? "" : "s");
}

/* Probe one interface, or the chosen one: the exit status. */
static int probe_one(const struct call *call, const char *interface)
{
	struct probe_findings findings;
	struct probe_facts facts;
	int err = probe_gather(interface, &facts), status;

	if (err) {
		log_error("probe: %s", strerror(-err));
		return EXIT_REST;
	}
	probe_judge(&facts, &findings);
	/* Names of interfaces may have any byte. */
	for (size_t i = 0; i < findings.count; i++) {
		log_make_plain(findings.rows[i].text);
		log_make_plain(findings.rows[i].fix);
	}
	status = status_of(&findings);
	if (!call_has(call, OPTION_JSON))
		print_findings(&facts, &findings);
	else if (print_findings_json(&facts, &findings))
		status = EXIT_REST;
	probe_free(&facts);
	return status;
}

int cmd_probe(const struct call *call)
{
	const struct given *g = call_next(call, OPTION_INTERFACE, NULL);
	int worst = 0;

	if (!g)
		return probe_one(call, NULL);
	for (; g; g = call_next(call, OPTION_INTERFACE, g)) {
		int status = probe_one(call, g->value);

		if (status > worst)
			worst = status;
	}
	return worst;
}
