// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ometric.c - see ometric.h.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "lib/ometric.h"

static const char *const type_names[] = {
	[OMETRIC_COUNTER] = "counter",
	[OMETRIC_GAUGE] = "gauge",
	[OMETRIC_INFO] = "info",
	[OMETRIC_HISTOGRAM] = "histogram",
};

static const char *const sample_endings[] = {
	[OMETRIC_COUNTER] = "_total",
	[OMETRIC_GAUGE] = "",
	[OMETRIC_INFO] = "_info",
	[OMETRIC_HISTOGRAM] = "",
};

const char *ometric_type_name(enum ometric_type type)
{
	return type_names[type];
}

const char *ometric_ending(enum ometric_type type)
{
	return sample_endings[type];
}

static bool name_legal(const char *name)
{
	if (!name || !*name || isdigit((unsigned char)*name))
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_')
			return false;
	return true;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && !strcmp(text + n - m, end);
}

/* Endings that the format gives to samples of one type or another. */
static bool ending_reserved(const char *name)
{
	static const char *const reserved[] = {
		"_total",  "_created", "_count",  "_sum",
		"_bucket", "_info",    "_gcount", "_gsum",
	};

	for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
		if (ends_with(name, reserved[i]))
			return true;
	return false;
}

static const char *labels_check(const struct ometric *family)
{
	const char *const *labels = family->labels;

	if (labels[OMETRIC_LABELS])
		return "too many labels";
	for (size_t i = 0; i < OMETRIC_LABELS && labels[i]; i++) {
		if (!name_legal(labels[i]) || !strncmp(labels[i], "__", 2))
			return "a label with an illegal name";
		if (family->type == OMETRIC_HISTOGRAM && !strcmp(labels[i], "le"))
			return "a label that is the format's own";
		for (size_t j = 0; j < i; j++)
			if (!strcmp(labels[i], labels[j]))
				return "a label twice";
	}
	return NULL;
}

static const char *family_check(const struct ometric *family)
{
	if (!name_legal(family->name))
		return "an illegal name";
	if (ending_reserved(family->name))
		return "a name with a reserved ending";
	if (!family->help || !*family->help)
		return "no help";
	if (family->unit &&
	    (family->type == OMETRIC_INFO || !*family->unit ||
	     !ends_with(family->name, family->unit) ||
	     family->name[strlen(family->name) - strlen(family->unit) - 1] != '_'))
		return "a unit that its name does not end with";
	return labels_check(family);
}

const char *ometric_check(const struct ometric *families, size_t n)
{
	static char complaint[160];

	for (size_t i = 0; i < n; i++) {
		const char *wrong = family_check(&families[i]);

		for (size_t j = 0; !wrong && j < i; j++)
			if (!strcmp(families[i].name, families[j].name))
				wrong = "a name that another has";
		if (!wrong)
			continue;
		snprintf(complaint, sizeof(complaint), "metric family %zu ('%s') has %s",
			 i, families[i].name ? families[i].name : "", wrong);
		return complaint;
	}
	return NULL;
}

static void escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n') {
			fputs("\\n", out);
			continue;
		}
		if (*text == '\\' || *text == '"')
			fputc('\\', out);
		/* The format is UTF-8; an interface may be named in anything. */
		fputc((unsigned char)*text < 0x80 ? *text : '?', out);
	}
}

/* There a family is called what its samples are, and has no unit. */
static void begin_text(FILE *out, const struct ometric *family)
{
	const char *ending = sample_endings[family->type];

	fprintf(out, "# TYPE %s%s %s\n# HELP %s%s ", family->name, ending,
		type_names[family->type == OMETRIC_INFO ? OMETRIC_GAUGE : family->type],
		family->name, ending);
	escaped(out, family->help);
	fputc('\n', out);
}

void ometric_begin(FILE *out, const struct ometric *family, enum ometric_format format)
{
	if (format == OMETRIC_TEXT) {
		begin_text(out, family);
		return;
	}
	fprintf(out, "# TYPE %s %s\n", family->name, type_names[family->type]);
	if (family->unit)
		fprintf(out, "# UNIT %s %s\n", family->name, family->unit);
	fprintf(out, "# HELP %s ", family->name);
	escaped(out, family->help);
	fputc('\n', out);
}

/* @le: NULL, or the last label of a histogram's bucket. */
static void sample_write(FILE *out, const struct ometric *family, const char *ending,
			 const char *const *values, const char *le)
{
	size_t n = 0;

	fprintf(out, "%s%s", family->name, ending);
	for (; family->labels[n]; n++) {
		fprintf(out, "%c%s=\"", n ? ',' : '{', family->labels[n]);
		escaped(out, values[n]);
		fputc('"', out);
	}
	if (le)
		fprintf(out, "%cle=\"%s\"", n++ ? ',' : '{', le);
	if (n)
		fputc('}', out);
	fputc(' ', out);
}

static void sample_name(FILE *out, const struct ometric *family,
			const char *const *values)
{
	sample_write(out, family, sample_endings[family->type], values, NULL);
}

void ometric_uint(FILE *out, const struct ometric *family, const char *const *values,
		  __u64 value)
{
	sample_name(out, family, values);
	fprintf(out, "%llu\n", (unsigned long long)value);
}

void ometric_real(FILE *out, const struct ometric *family, const char *const *values,
		  double value)
{
	sample_name(out, family, values);
	if (isnan(value))
		fputs("NaN\n", out);
	else if (isinf(value))
		fputs(value < 0 ? "-Inf\n" : "+Inf\n", out);
	else
		fprintf(out, "%.9g\n", value);
}

static void number(FILE *out, unsigned long long value)
{
	fprintf(out, "%llu\n", value);
}

void ometric_histogram(FILE *out, const struct ometric *family, const char *const *values,
		       const struct histogram *h, const struct histogram_bounds *bounds)
{
	unsigned long long sum = 0;

	for (size_t i = 0; i < bounds->count; i++) {
		char le[32];

		/* The format wants canonical floats: 1.0, not 1. */
		snprintf(le, sizeof(le), "%.9g", bounds->at[i]);
		if (!strpbrk(le, ".e"))
			strcat(le, ".0");
		sum += h->buckets[i];
		sample_write(out, family, "_bucket", values, le);
		number(out, sum);
	}
	sample_write(out, family, "_bucket", values, "+Inf");
	number(out, h->count);
	sample_write(out, family, "_count", values, NULL);
	number(out, h->count);
	sample_write(out, family, "_sum", values, NULL);
	fprintf(out, "%.9g\n", h->sum);
}

void ometric_end(FILE *out, enum ometric_format format)
{
	if (format == OMETRIC_OPEN)
		fputs("# EOF\n", out);
}
