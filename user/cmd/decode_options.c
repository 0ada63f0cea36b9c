// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * decode_options.c - read and check the options of `quakeshield decode`.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/decode_options.h"
#include "lib/log.h"
#include "lib/names.h"

/* Read --psk, which goes with --psk-identity. False after a message. */
static bool read_psk(const char *psk, struct decode_options *options)
{
	int err;

	if (!psk != !options->psk_identity) {
		fputs("quakeshield decode: --psk and --psk-identity go together\n",
		      stderr);
		return false;
	}
	if (!psk)
		return true;
	options->key = secret_alloc(sizeof(*options->key));
	err = options->key ? secret_key_parse(psk, options->key) : -ENOMEM;
	if (!err && strlen(options->psk_identity) <= KEYS_IDENTITY_MAX)
		return true;
	fputs(err == -ENOMEM ? "quakeshield decode: out of memory\n"
	      : err ? "quakeshield decode: --psk is not an even number of hex digits, at "
		      "most 128\n"
		    : "quakeshield decode: --psk-identity is longer than 128 bytes\n",
	      stderr);
	return false;
}

/* Quote @value as wrong. Returns the exit status. */
static int wrong(const char *what, const char *value)
{
	log_plain("quakeshield decode: %s: '%s'", what, value);
	return EXIT_USAGE;
}

/* Read the file of --keylog. Returns 0, or the exit status after a message. */
static int read_keylog(const char *name, struct keylog *ret)
{
	FILE *file = fopen(name, "re");
	char message[256];
	int err;

	if (!file) {
		log_plain("quakeshield decode: %s: %s", name, strerror(errno));
		return EXIT_REST;
	}
	err = keylog_read(file, ret, message, sizeof(message));
	fclose(file);
	if (err)
		log_plain("quakeshield decode: %s: %s", name, message);
	return err ? EXIT_REST : 0;
}

/* Parse a number of records, not 0. False: it is none. */
static bool parse_limit(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *ret;
}

/* Find the format of demos that is named @text. False: there is none. */
static bool parse_format(const char *text, enum demo_format *ret)
{
	for (int i = DEMO_NONE + 1; i < DEMO_FORMATS; i++) {
		if (!strcmp(text, demo_format_names[i])) {
			*ret = (enum demo_format)i;
			return true;
		}
	}
	return false;
}

/* Read an option with a value. Returns 0, or the exit status after a message. */
static int parse_value(const struct given *given, struct decode_options *options)
{
	char *value = given->value;
	const char *bad = value;

	switch (given->option) {
	case OPTION_PROTOCOL:
		return family_parse(value, &options->protocol)
			       ? 0
			       : wrong("no such protocol", value);
	case OPTION_AS:
		return parse_format(value, &options->as)
			       ? 0
			       : wrong("no such kind of demo", value);
	case OPTION_KEYLOG:
		return read_keylog(value, &options->keylog);
	case OPTION_KIND:
		return select_kinds(&options->select, value, &bad)
			       ? 0
			       : wrong("not a kind", bad);
	case OPTION_STATUS:
		return select_status(&options->select, value, &bad)
			       ? 0
			       : wrong("no such status", bad);
	case OPTION_HOST:
		return select_hosts(&options->select, value, &bad)
			       ? 0
			       : wrong("not an address or :port", bad);
	case OPTION_LIMIT:
		return parse_limit(value, &options->limit) ? 0
							   : wrong("not a number", value);
	default:
		return 0;
	}
}

int decode_options_read(const struct call *call, struct decode_options *options)
{
	const char *psk = call_value(call, OPTION_PSK);
	bool keyed;

	options->psk_identity = call_value(call, OPTION_PSK_NAME);
	options->extract = call_value(call, OPTION_EXTRACT);
	options->filter = call_value(call, OPTION_FILTER);
	options->verbose = call_has(call, OPTION_VERBOSE);
	options->hex = call_has(call, OPTION_HEX);
	options->secrets = call_has(call, OPTION_SECRETS);
	options->progress = call_has(call, OPTION_PROGRESS);
	options->json = call_has(call, OPTION_JSON);
	options->output = call_has(call, OPTION_SUMMARY)     ? OUTPUT_SUMMARY
			  : call_has(call, OPTION_LAGOMETER) ? OUTPUT_LAGOMETER
			  : options->json		     ? OUTPUT_JSON
							     : OUTPUT_TEXT;
	options->trace = call_has(call, OPTION_TRACE);
	/* First of all: until it is wiped, others can see it among our arguments. */
	keyed = read_psk(psk, options);
	for (const struct given *g = NULL; (g = call_next(call, OPTION_PSK, g));)
		explicit_bzero(g->value, strlen(g->value));
	if (!keyed)
		return EXIT_USAGE;
	if (options->trace && options->output == OUTPUT_SUMMARY)
		return wrong("--trace does not go with", "--summary");
	if (options->trace && options->output == OUTPUT_LAGOMETER)
		return wrong("--trace does not go with", "--lagometer");
	for (size_t i = 0; i < call->given_count; i++) {
		int status = parse_value(&call->given[i], options);

		if (status)
			return status;
	}
	return 0;
}

void decode_options_free(struct decode_options *options)
{
	keylog_free(&options->keylog);
	secret_free(options->key, sizeof(*options->key));
}
