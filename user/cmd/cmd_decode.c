// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_decode.c - quakeshield decode: files in, lines out.
 *
 * A file is a capture or a demo by what it begins with. What can be read of a damaged
 * one is shown, then its error; the exit status is 1 if any file had one.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "cmd/commands.h"
#include "decode/decode.h"
#include "decode/demo_recognise.h"
#include "decode/extract.h"
#include "lib/input.h"
#include "lib/jsonl.h"
#include "lib/names.h"
#include "decode/summary.h"
#include "decode/record_text.h"

enum output {
	OUTPUT_TEXT,
	OUTPUT_JSON,
	OUTPUT_SUMMARY,
};

struct options {
	enum output output;
	enum wire_family protocol;
	const char *psk_identity;
	const char *psk;
	const char *extract; /* a directory, or NULL */
};

struct run {
	const struct options *options;
	struct jsonl *json;
	struct summary summary;
	struct extract *extract; /* or NULL */
};

static void sink(void *context, const struct record *r)
{
	struct run *run = context;

	if (run->extract && r->pieces_n)
		extract_record(run->extract, r);
	switch (run->options->output) {
	case OUTPUT_SUMMARY:
		summary_count(&run->summary, r);
		break;
	case OUTPUT_JSON:
		jsonl_record(run->json, r);
		break;
	case OUTPUT_TEXT:
		record_text(run->json, r);
		break;
	}
}

static void extracted(void *context, const char *name, const char *what)
{
	struct run *run = context;

	jsonl_flush(run->json);
	fprintf(stderr, "quakeshield decode: %s/%s: %s\n", run->options->extract, name,
		what);
}

/* One message on stderr, behind what is on stdout. */
static int complain(struct run *run, const char *file, const char *why)
{
	jsonl_flush(run->json);
	fprintf(stderr, "quakeshield decode: %s: %s\n", file, why);
	return 1;
}

static int capture_file(struct run *run, const char *name, FILE *file)
{
	struct decoder_options how = {
		.fields = run->options->output != OUTPUT_SUMMARY,
		.forced = run->options->protocol,
	};
	char message[512];
	struct capture *capture;
	struct decoder *decoder;
	struct datagram dg;
	int result;

	if (capture_open(file, &capture, message, sizeof(message)))
		return complain(run, name, message);
	decoder = decoder_create(&how, sink, run);
	if (!decoder) {
		capture_close(capture);
		return complain(run, name, strerror(ENOMEM));
	}
	while ((result = capture_next(capture, &dg)) == 1)
		decoder_datagram(decoder, &dg);
	decoder_flush(decoder);
	run->summary.packets = capture_packets(capture);
	if (result < 0) {
		char where[640];

		snprintf(where, sizeof(where), "after packet %llu: %s",
			 (unsigned long long)capture_packets(capture),
			 capture_error(capture));
		complain(run, name, where);
	}
	decoder_free(decoder);
	capture_close(capture);
	return result < 0;
}

static int demo_file(struct run *run, const char *name, FILE *file,
		     enum demo_format format)
{
	struct decoder_options how = {
		.fields = run->options->output != OUTPUT_SUMMARY,
		.forced = FAMILY_AUTO,
	};
	struct decoder *decoder = decoder_create(&how, sink, run);
	struct demo *demo = demo_open(file, format);
	struct demo_block block;
	char where[256];
	int result;

	if (!demo || !decoder) {
		demo_close(demo);
		decoder_free(decoder);
		return complain(run, name, strerror(ENOMEM));
	}
	while ((result = demo_next(demo, &block)) == 1)
		decoder_demo(decoder, &block);
	run->summary.packets = demo_blocks(demo);
	if (result < 0) {
		snprintf(where, sizeof(where), "after block %llu: %s",
			 (unsigned long long)demo_blocks(demo), demo_error(demo));
		complain(run, name, where);
	}
	decoder_free(decoder);
	demo_close(demo);
	return result < 0;
}

static int one_file(struct run *run, const char *name)
{
	static uint8_t prefix[DEMO_PREFIX];
	enum demo_format format;
	size_t n = 0;
	FILE *file = input_open(name, prefix, sizeof(prefix), &n);
	int status;

	memset(&run->summary, 0, sizeof(run->summary));
	if (!file)
		return complain(run, name, strerror(errno));
	if (capture_recognise(prefix, n)) {
		status = capture_file(run, name, file);
	} else {
		format = demo_recognise(prefix, n);
		if (format == DEMO_NONE) {
			fclose(file);
			return complain(run, name,
					n ? "neither a capture nor a demo that is known"
					  : "empty file");
		}
		status = demo_file(run, name, file, format);
	}
	if (run->extract)
		extract_flush(run->extract);
	if (run->options->output == OUTPUT_SUMMARY)
		summary_write(&run->summary, name, run->json);
	return status;
}

static int usage(FILE *out, int status)
{
	fputs("usage: quakeshield decode [--json] [--summary] [--protocol P]\n"
	      "                          [--psk-identity ID --psk HEX] [--extract DIR] FILE...\n"
	      "\n"
	      "FILE is a capture (pcap, pcapng) or a demo (.dem .qwd .mvd .dm2 .dm_NN),\n"
	      "packed by gzip or not.\n"
	      "  --json          one JSON object a line for each datagram or demo block\n"
	      "  --summary       one JSON object a line for each file; goes before --json\n"
	      "  --protocol P    all datagrams are of P: netquake quakeworld quake2 quake3\n"
	      "                  quake-enhanced; without it, or auto: found out\n"
	      "  --extract DIR   puts files that were downloaded in the game into DIR\n"
	      "  --psk-identity ID, --psk HEX   the key of quake-enhanced sessions\n",
	      out);
	return status;
}

static bool check_psk(const struct options *options)
{
	size_t n = options->psk ? strspn(options->psk, "0123456789abcdefABCDEF") : 0;

	if (!options->psk != !options->psk_identity) {
		fputs("quakeshield decode: --psk and --psk-identity go together\n",
		      stderr);
		return false;
	}
	if (options->psk && (!n || n % 2 || options->psk[n])) {
		fputs("quakeshield decode: --psk is not an even number of hex digits\n",
		      stderr);
		return false;
	}
	return true;
}

/* 0: go on; else the exit status plus 1. */
static int parse_options(int argc, char **argv, struct options *options)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "summary", no_argument, NULL, 's' },
		{ "protocol", required_argument, NULL, 'p' },
		{ "psk-identity", required_argument, NULL, 'i' },
		{ "psk", required_argument, NULL, 'k' },
		{ "extract", required_argument, NULL, 'x' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (c) {
		case 'j':
			if (options->output == OUTPUT_TEXT)
				options->output = OUTPUT_JSON;
			break;
		case 's':
			options->output = OUTPUT_SUMMARY;
			break;
		case 'p':
			if (!family_parse(optarg, &options->protocol)) {
				fprintf(stderr,
					"quakeshield decode: no such protocol: '%s'\n",
					optarg);
				return 2;
			}
			break;
		case 'i':
			options->psk_identity = optarg;
			break;
		case 'k':
			options->psk = optarg;
			break;
		case 'x':
			options->extract = optarg;
			break;
		case 'h':
			return 1 + usage(stdout, 0);
		default:
			return 1 + usage(stderr, 1);
		}
	}
	return check_psk(options) ? 0 : 2;
}

int cmd_decode(int argc, char **argv)
{
	static struct jsonl json;
	static struct run run;
	static struct options options = { .output = OUTPUT_TEXT,
					  .protocol = FAMILY_AUTO };
	int status = parse_options(argc, argv, &options);

	if (status)
		return status - 1;
	if (optind == argc)
		return usage(stderr, 1);
	jsonl_init(&json, stdout);
	run.options = &options;
	run.json = &json;
	if (options.extract) {
		int error = extract_open(options.extract, extracted, &run, &run.extract);

		if (error) {
			fprintf(stderr, "quakeshield decode: --extract '%s': %s\n",
				options.extract, strerror(-error));
			return 1;
		}
	}
	for (int i = optind; i < argc; i++)
		status |= one_file(&run, argv[i]);
	if (!extract_close(run.extract))
		status = 1;
	if (jsonl_flush(&json)) {
		fprintf(stderr, "quakeshield decode: stdout: %s\n", strerror(errno));
		status = 1;
	}
	return status;
}
