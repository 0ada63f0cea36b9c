// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * reference.c - docs/reference/ from the tables in the code: reference DIRECTORY.
 *
 * `make docs` runs it, and tests/test_docs.sh compares what it writes with what is
 * committed. Pages are for reading, schema/NAME.json for programs, reasons.mdoc for
 * quakeshield(8), tables.rows for docs/ARCHITECTURE.md. tests/reference.sh puts them
 * where they belong.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/config_keys.h"
#include "lab/reference_json.h"
#include "lab/reference_limits.h"
#include "lab/reference_tables.h"
#include "lib/meanings.h"
#include "lib/names.h"
#include "lib/rate_text.h"
#include "lib/util.h"
#include "stats/metrics.h"

/* @text, which can be NULL, as a cell of a table of Markdown, with the mark after it. */
static void cell(FILE *out, const char *text)
{
	if (text && *text)
		fputc(' ', out);
	for (; text && *text; text++)
		fprintf(out, "%s%c", *text == '|' ? "\\" : "", *text);
	fputs(" |", out);
}

/* --- defaults ------------------------------------------------------------------- */

static void defaults_row(FILE *out, const char *name, const struct budget *b)
{
	const struct limit limits[] = { b->source, b->prefix, b->service };
	char text[RATE_TEXT];

	fprintf(out, "| %s |", name);
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		rate_format(&limits[i], text);
		fprintf(out, " %s |", text);
	}
	fputc('\n', out);
}

/* The names of the three levels are those of the keys. */
static void defaults_head(FILE *out)
{
	fputs("| class |", out);
	for (const struct config_key *k = config_keys; k->name; k++)
		if (!strcmp(k->section, CONFIG_CLASS))
			fprintf(out, " %s |", k->name);
	fputs("\n| --- | --- | --- | --- |\n", out);
}

static void defaults_page(FILE *out)
{
	fprintf(out,
		"`2/s burst 6` is two per second in the long run, and six at once after a pause. While more\n"
		"than half of the service's limit for `%s` or `%s` is left, a source and a prefix have\n"
		"%d times their own limits of that class. docs/explain/rate-limits.md has the reasons for the numbers.\n",
		class_name(CLASS_CHALLENGE), class_name(CLASS_CONNECT), 1 << CROWD_SHIFT);
	for (int family = 0; family < FAMILY_COUNT; family++) {
		struct service s = { 0 };

		config_service_defaults((enum wire_family)family, &s);
		fprintf(out, "\n## %s\n\n", family_name((enum wire_family)family));
		defaults_head(out);
		for (int class = 0; class < CLASS_BUDGETS; class ++)
			defaults_row(out, class_name((enum wire_class) class),
				     &s.budget[class]);
	}
	fprintf(out,
		"\n## Allow list\n\n"
		"A source on the allow list passes beyond these limits, %d datagrams per second, %d at once;\n"
		"all sources on the list together %d per second, %d at once, for each service. A source with\n"
		"`unlimited` has no limit.\n",
		ALLOWED_RATE, ALLOWED_BURST, ALLOWED_SERVICE_RATE, ALLOWED_SERVICE_BURST);
}

/* --- reasons -------------------------------------------------------------------- */

static void reasons_page(FILE *out)
{
	fputs("Every datagram for a service is counted with a reason. The verdict follows from the reason.\n"
	      "In a service that is observed only, `drop` is counted and the datagram passes.\n\n"
	      "| reason | verdict | meaning | what to do |\n| --- | --- | --- | --- |\n",
	      out);
	for (int i = 0; i < REASON_COUNT; i++) {
		const struct meaning *m = reason_meaning((enum reason)i);

		fprintf(out, "| %s | %s | %s |", reason_name((enum reason)i),
			verdict_name(reason_verdict((enum reason)i)), m->what);
		cell(out, m->advice);
		fputc('\n', out);
	}
	fputs("\nFrames that are no datagram for a service:\n\n"
	      "| reason | verdict | meaning |\n| --- | --- | --- |\n",
	      out);
	for (int i = 0; i < OTHER_COUNT; i++)
		fprintf(out, "| %s | %s | %s |\n", other_name((enum other)i),
			verdict_name(other_verdict((enum other)i)),
			other_meaning((enum other)i)->what);
}

/* A sentence for mdoc, in which `code` is set as such, as a cell of a table. */
static void mdoc_text(FILE *out, const char *text)
{
	bool code = false;

	for (; *text; text++) {
		if (*text != '`') {
			fputc(*text, out);
			continue;
		}
		code = !code;
		fputs(code ? "\\fB" : "\\fP", out);
	}
	fputc('\n', out);
}

static void reasons_mdoc(FILE *out)
{
	for (int i = 0; i < REASON_COUNT; i++) {
		fprintf(out, ".It %s Ta %s Ta ", reason_name((enum reason)i),
			verdict_name(reason_verdict((enum reason)i)));
		mdoc_text(out, reason_meaning((enum reason)i)->what);
	}
	fputs(".It Sy of no service Ta Ta\n", out);
	for (int i = 0; i < OTHER_COUNT; i++) {
		fprintf(out, ".It %s Ta %s Ta ", other_name((enum other)i),
			verdict_name(other_verdict((enum other)i)));
		mdoc_text(out, other_meaning((enum other)i)->what);
	}
}

/* --- metrics -------------------------------------------------------------------- */

static void metrics_page(FILE *out)
{
	const struct ometric *table;
	size_t count;

	fputs("What the daemon serves as `/metrics`. No label takes its value from a packet. A series\n"
	      "appears when something was counted for it.\n\n"
	      "| metric | type | unit | labels | meaning |\n| --- | --- | --- | --- | --- |\n",
	      out);
	for (unsigned int i = 0; (table = metrics_families(i, &count)); i++) {
		for (size_t j = 0; j < count; j++) {
			const struct ometric *m = &table[j];

			fprintf(out, "| `%s%s` | %s |", m->name, ometric_ending(m->type),
				ometric_type_name(m->type));
			cell(out, m->unit);
			for (size_t l = 0; m->labels[l]; l++)
				fprintf(out, "%s %s", l ? "," : "", m->labels[l]);
			fprintf(out, " | %s |\n", m->help);
		}
	}
}

/* --- options -------------------------------------------------------------------- */

static void options_page(FILE *out)
{
	fputs("| command | operands | options | meaning |\n| --- | --- | --- | --- |\n",
	      out);
	for (const struct command *c = commands; c->name; c++) {
		fprintf(out, "| %s |", c->name);
		cell(out, c->operands);
		for (int i = 0; i < OPTION_COUNT; i++)
			if (c->options >> i & 1)
				fprintf(out, " `--%s`", option_rows[i].name);
		fputs(" |", out);
		cell(out, c->help);
		fputc('\n', out);
	}
	fputs("\nEvery command takes `--help` and `--version`.\n\n"
	      "| option | argument | meaning |\n| --- | --- | --- |\n",
	      out);
	for (int i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &option_rows[i];

		fputs("| ", out);
		if (row->letter)
			fprintf(out, "`-%c`, ", row->letter);
		fprintf(out, "`--%s` |", row->name);
		cell(out, row->argument);
		cell(out, row->help);
		fputc('\n', out);
	}
}

/* --- configuration -------------------------------------------------------------- */

/* Is its unit one of measure? */
static bool numeric(const struct config_key *k)
{
	return k->type == KEY_NUMBER || k->type == KEY_NUMBER_OR_0 ||
	       k->type == KEY_POWER || k->type == KEY_RATE;
}

static void configuration_page(FILE *out)
{
	const char *section = NULL;
	char range[CONFIG_RANGE];

	fputs("Keys by section. `--set` takes the same names, as `metrics.listen` or `service.NAME.port`.\n"
	      "The sections `defaults` and `template` have the keys and sections of `service`, but for `port`,\n"
	      "`address` and `template`.\n",
	      out);
	for (const struct config_key *k = config_keys; k->name; k++) {
		if (!section || strcmp(section, k->section) != 0) {
			section = k->section;
			fprintf(out,
				"\n## %s\n\n| key | value | unit | default | meaning |\n"
				"| --- | --- | --- | --- | --- |\n",
				!*section ? "Whole shield"
				: !strcmp(section, CONFIG_CLASS)
					? "Class of requests, in a service"
				: !strcmp(section, CONFIG_PLAYERS)
					? "players, in a service"
					: section);
		}
		config_range(k, range);
		fprintf(out, "| `%s` |", k->name);
		cell(out, range);
		cell(out, numeric(k) ? k->unit : "");
		cell(out, k->initial);
		cell(out, k->meaning);
		fputc('\n', out);
	}
}

/* -------------------------------------------------------------------------------- */

static const struct {
	const char *name, *title, *from;
	void (*write)(FILE *out);
} pages[] = {
	{ "defaults", "Default limits", "user/config/config_defaults.c", defaults_page },
	{ "reasons", "Reasons", "include/abi.h and user/lib/meanings.c", reasons_page },
	{ "metrics", "Metrics", "user/stats/*metrics.c", metrics_page },
	{ "json", "JSON", "the tables of `struct json_key` in user/", json_page },
	{ "limits", "Limits and memory", "include/*.h", limits_page },
	{ "options", "Commands and options", "user/cmd/options.h", options_page },
	{ "configuration", "Configuration keys", "user/config/config_keys.c",
	  configuration_page },
};

/* A file to be written in @directory; ends the program where it cannot be. */
static FILE *begin(const char *directory, const char *name, const char *ending)
{
	char path[1024];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s%s", directory, name, ending);
	out = fopen(path, "we");
	if (out)
		return out;
	fprintf(stderr, "reference: cannot write '%s': %s\n", path, strerror(errno));
	exit(1);
}

static void end(FILE *out)
{
	bool bad = ferror(out);

	if (!fclose(out) && !bad)
		return;
	fprintf(stderr, "reference: cannot write: %s\n", strerror(errno));
	exit(1);
}

int main(int argc, char **argv)
{
	char schemas[1024];
	FILE *out;

	if (argc != 2) {
		fputs("usage: reference DIRECTORY\n", stderr);
		return 2;
	}
	snprintf(schemas, sizeof(schemas), "%s/schema", argv[1]);
	mkdir(argv[1], 0777);
	mkdir(schemas, 0777);
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		out = begin(argv[1], pages[i].name, ".md");
		fprintf(out,
			"# %s\n\nGenerated by `make docs` from %s. Changes belong there.\n\n",
			pages[i].title, pages[i].from);
		pages[i].write(out);
		end(out);
	}
	for (size_t i = 0; i < FACES; i++) {
		out = begin(schemas, faces[i].name, ".json");
		schema_write(out, &faces[i]);
		end(out);
	}
	out = begin(argv[1], "reasons", ".mdoc");
	reasons_mdoc(out);
	end(out);
	out = begin(argv[1], "tables", ".rows");
	tables_page(out);
	end(out);
	return 0;
}
