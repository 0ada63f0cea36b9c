// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_decode.c - quakeshield decode: files in, lines out.
 *
 * The first bytes tell whether a file is a capture, a demo or an archive of such. The
 * readable part of a damaged one is shown, then its error; the exit status is 1 if any
 * file had one.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "cmd/commands.h"
#include "cmd/progress.h"
#include "decode/decode.h"
#include "decode/demo_recognise.h"
#include "decode/extract.h"
#include "lib/input.h"
#include "lib/jsonl.h"
#include "lib/log.h"
#include "lib/names.h"
#include "lib/secret.h"
#include "lib/zip.h"
#include "decode/record_text.h"
#include "decode/select.h"
#include "decode/summary.h"
#include "decode/trace.h"
#include "lag/lag_report.h"

enum output {
	OUTPUT_TEXT,
	OUTPUT_JSON,
	OUTPUT_SUMMARY,
	OUTPUT_LAGOMETER,
};

struct how {
	enum output output;
	bool json;
	bool trace; /* text or JSON */
	bool verbose, hex, secrets, progress;
	enum wire_family protocol;
	enum demo_format as; /* DEMO_NONE: files are recognised */
	const char *psk_identity;
	struct secret_key *key; /* or NULL */
	const char *extract; /* a directory, or NULL */
	const char *filter; /* of libpcap, or NULL */
	struct keylog keylog;
	struct select select;
	uint64_t limit; /* records to show; 0: all */
};

struct run {
	const struct how *options;
	struct jsonl *json;
	struct summary summary;
	struct extract *extract; /* or NULL */
	struct lagometer *lagometer;
	struct trace *trace; /* or NULL */
	struct trace_clients *clients; /* of the file */
	const char *file; /* to be named in each object, or NULL */
	uint64_t shown;
};

/* The first bytes of the open file. */
static uint8_t beginning[DEMO_PREFIX];

static bool done(const struct run *run)
{
	return run->options->limit && run->shown == run->options->limit;
}

static void write_json(struct run *run, const struct record *r)
{
	struct jsonl *json = run->json;

	jsonl_record_open(json, r);
	if (run->file) {
		jsonl_text(json, ",\"file\":");
		jsonl_string(json, run->file, strlen(run->file));
	}
	/* A password would stand in it. */
	if (run->options->hex && r->masked) {
		jsonl_text(json, ",\"payload\":null");
	} else if (run->options->hex) {
		jsonl_text(json, ",\"payload\":");
		jsonl_hex(json, r->payload, r->payload_n);
	}
	if (run->options->hex && r->plains_n)
		jsonl_plaintext(json, r);
	if (run->trace)
		trace_json(run->trace, json, r);
	jsonl_text(json, "}\n");
}

static void write_text(struct run *run, const struct record *r)
{
	record_text(run->json, r);
	if (run->trace)
		trace_text(run->trace, run->json, r);
	else if (run->options->verbose)
		record_text_fields(run->json, r);
	if (run->options->hex && !r->masked) {
		jsonl_text(run->json, "    payload ");
		jsonl_hex(run->json, r->payload, r->payload_n);
		jsonl_text(run->json, "\n");
	}
}

static void sink(void *context, const struct record *r)
{
	struct run *run = context;

	if (run->extract && r->pieces_n)
		extract_record(run->extract, r);
	if (run->trace)
		trace_record(run->trace, r, run->clients);
	if (done(run) || !select_takes(&run->options->select, r))
		return;
	run->shown++;
	switch (run->options->output) {
	case OUTPUT_SUMMARY:
		summary_count(&run->summary, r);
		break;
	case OUTPUT_JSON:
		write_json(run, r);
		break;
	case OUTPUT_TEXT:
		write_text(run, r);
		break;
	case OUTPUT_LAGOMETER:
		lagometer_record(run->lagometer, 0, r);
		break;
	}
}

static void extracted(void *context, const char *name, const char *what)
{
	struct run *run = context;

	jsonl_flush(run->json);
	log_plain("quakeshield decode: %s/%s: %s", run->options->extract, name, what);
}

/* Write one message on stderr, behind what is on stdout. */
static int complain(struct run *run, const char *file, const char *why)
{
	jsonl_flush(run->json);
	log_plain("quakeshield decode: %s: %s", file, why);
	return 1;
}

static struct decoder *decoder_for(struct run *run, enum wire_family forced)
{
	const struct how *options = run->options;
	struct decoder_options how = {
		.fields =
			options->output == OUTPUT_JSON || options->output == OUTPUT_TEXT,
		.secrets = options->secrets,
		.trace = run->trace,
		.forced = forced,
		.keylog = &options->keylog,
	};

	if (options->key)
		how.psk = (struct keys_psk){ options->psk_identity, options->key->bytes,
					     options->key->n };
	return decoder_create(&how, sink, run);
}

/* Begin the lagometer of one file. False after a message: no memory. */
static bool begin_lagometer(struct run *run, const char *name, enum lag_side side)
{
	if (run->options->output != OUTPUT_LAGOMETER)
		return true;
	run->lagometer = lagometer_create(LAG_REPORT_PLAYERS, side);
	return run->lagometer || !complain(run, name, strerror(ENOMEM));
}

/* A capture without a single datagram: why? */
static void explain(struct run *run, const char *name)
{
	char text[256] = "no UDP datagram in it";
	size_t used = strlen(text);

	for (int i = 0; i < PASS_COUNT; i++)
		if (run->summary.passed[i] && used < sizeof(text))
			used += (size_t)snprintf(
				text + used, sizeof(text) - used, ", %llu %s",
				(unsigned long long)run->summary.passed[i],
				packet_pass_names[i]);
	if (!run->summary.seen && run->summary.packets)
		complain(run, name, text);
}

static int capture_decode(struct run *run, const char *name, struct capture *capture,
			  struct decoder *decoder, struct progress *progress)
{
	struct datagram dg;
	char where[640];
	int result = 0;

	while (!done(run) && (result = capture_next(capture, &dg)) == 1) {
		run->summary.seen++;
		decoder_datagram(decoder, &dg);
		progress_step(progress);
	}
	decoder_flush(decoder);
	progress_end(progress);
	run->summary.packets = capture_packets(capture);
	run->summary.forgotten = decoder_forgotten(decoder);
	memcpy(run->summary.passed, capture_passed(capture), sizeof(run->summary.passed));
	if (result >= 0) {
		explain(run, name);
		return 0;
	}
	snprintf(where, sizeof(where), "after packet %llu: %s",
		 (unsigned long long)capture_packets(capture), capture_error(capture));
	return complain(run, name, where);
}

static int capture_file(struct run *run, const char *name, FILE *file)
{
	struct progress progress;
	struct decoder *decoder;
	struct capture *capture;
	char message[512];
	int status;

	progress_begin(&progress, name, file, run->options->progress);
	if (capture_open(file, &capture, message, sizeof(message)))
		return complain(run, name, message);
	if (run->options->filter &&
	    capture_filter(capture, run->options->filter, message, sizeof(message))) {
		capture_close(capture);
		return complain(run, name, message);
	}
	decoder = decoder_for(run, run->options->protocol);
	if (!decoder)
		status = complain(run, name, strerror(ENOMEM));
	else if (!begin_lagometer(run, name, LAG_BESIDE_SERVER))
		status = 1;
	else
		status = capture_decode(run, name, capture, decoder, &progress);
	decoder_free(decoder);
	capture_close(capture);
	return status;
}

static int demo_file(struct run *run, const char *name, FILE *file,
		     enum demo_format format)
{
	struct decoder *decoder = decoder_for(run, FAMILY_AUTO);
	struct demo *demo = demo_open(file, format);
	struct progress progress;
	struct demo_block block;
	char where[256];
	int result = 0;

	if (!demo || !decoder) {
		demo_close(demo);
		decoder_free(decoder);
		return complain(run, name, strerror(ENOMEM));
	}
	if (!begin_lagometer(run, name, LAG_BESIDE_CLIENT)) {
		demo_close(demo);
		decoder_free(decoder);
		return 1;
	}
	progress_begin(&progress, name, file, run->options->progress);
	while (!done(run) && (result = demo_next(demo, &block)) == 1) {
		decoder_demo(decoder, &block);
		progress_step(&progress);
	}
	progress_end(&progress);
	run->summary.packets = demo_blocks(demo);
	if (result < 0) {
		snprintf(where, sizeof(where), "after block %llu: %s",
			 (unsigned long long)demo_blocks(demo), demo_error(demo));
		complain(run, name, where);
	} else if (!done(run) && demo_unfinished(demo)) {
		complain(run, name, "no end mark: the file breaks off behind a block");
		result = -1;
	}
	decoder_free(decoder);
	demo_close(demo);
	return result < 0;
}

static void flush(void *context)
{
	struct run *run = context;

	jsonl_flush(run->json);
}

/* Return the format of the file, by its first @n bytes; DEMO_NONE: it is no demo. */
static enum demo_format format_of(const struct run *run, size_t n)
{
	return run->options->as != DEMO_NONE ? run->options->as
					     : demo_recognise(beginning, n);
}

/* Decode an open file that begins with @n bytes of beginning[]. */
static int read_file(struct run *run, const char *name, FILE *file, size_t n)
{
	enum demo_format format;

	if (run->options->as == DEMO_NONE && capture_recognise(beginning, n))
		return capture_file(run, name, file);
	format = format_of(run, n);
	if (format != DEMO_NONE)
		return demo_file(run, name, file, format);
	fclose(file);
	return complain(run, name, n ? demo_refusal(beginning, n) : "empty file");
}

static void begin_file(struct run *run)
{
	memset(&run->summary, 0, sizeof(run->summary));
	run->clients = run->trace ? trace_clients_create() : NULL;
}

/* Write what sums the file up. */
static void end_file(struct run *run, const char *name)
{
	if (run->extract)
		extract_flush(run->extract);
	if (run->options->output == OUTPUT_SUMMARY)
		summary_write(&run->summary, name, run->json);
	trace_clients_end(&run->clients, run->json, run->file, run->options->json);
	if (run->lagometer)
		lag_report(run->lagometer, run->json, run->file, run->options->json);
	lagometer_free(run->lagometer);
	run->lagometer = NULL;
}

/*
 * Decode one file of an archive; *found: it is a recording. Other files in archives are
 * no error.
 */
static int one_member(struct run *run, struct zip *zip, const char *label, bool *found)
{
	int status;
	size_t n = 0;
	FILE *file = zip_file(zip, beginning, sizeof(beginning), &n);

	if (!file)
		return complain(run, label, "cannot be unpacked: damaged or encrypted");
	if (!capture_recognise(beginning, n) && format_of(run, n) == DEMO_NONE) {
		fclose(file);
		return 0;
	}
	*found = true;
	run->file = label;
	begin_file(run);
	status = read_file(run, label, file, n);
	end_file(run, label);
	return status;
}

/* Each recording in an archive is decoded as a file of its own, `ARCHIVE:NAME`. */
static int archive(struct run *run, const char *name, FILE *file)
{
	struct zip *zip = zip_open(file);
	char label[PATH_MAX + ZIP_NAME_MAX];
	const char *member;
	bool found = false;
	int status = 0, result = 0;

	if (!zip)
		return complain(run, name,
				errno == ESPIPE
					? "a zip archive cannot be read from a pipe or "
					  "out of gzip: name it as a file"
				: errno == EBADMSG ? "a zip archive that is cut off"
						   : strerror(errno));
	while (!done(run) && (result = zip_next(zip, &member)) == 1) {
		snprintf(label, sizeof(label), "%s:%s", name, member);
		status |= one_member(run, zip, label, &found);
	}
	zip_close(zip);
	if (result < 0)
		status = complain(run, name, "the zip archive's directory is damaged");
	else if (!found && !status)
		status = complain(run, name, "no capture or demo that is known in it");
	return status;
}

static int one_file(struct run *run, const char *name)
{
	const struct input_how how = { capture_recognise, flush, run };
	int status;
	size_t n = 0;
	FILE *file = input_open(name, &how, beginning, sizeof(beginning), &n);

	if (file && run->options->as == DEMO_NONE && zip_recognise(beginning, n)) {
		status = archive(run, name, file);
		fclose(file);
		return status;
	}
	begin_file(run);
	status = file ? read_file(run, name, file, n)
		      : complain(run, name, strerror(errno));
	end_file(run, name);
	return status;
}

/* The two go together. */
static bool read_psk(const char *psk, struct how *options)
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

static int wrong(const char *what, const char *value)
{
	log_plain("quakeshield decode: %s: '%s'", what, value);
	return EXIT_USAGE;
}

/* 0, or the exit status after a message. */
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

static bool parse_limit(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *ret;
}

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

/* Options that take a value: 0, or the exit status after a message. */
static int parse_value(const struct given *given, struct how *options)
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

/* 0, or the exit status after a message. */
static int read_options(const struct call *call, struct how *options)
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

/* Decode all of the files. Returns the exit status. */
static int decode_files(const struct call *call, struct run *run)
{
	int status = 0;

	for (int i = 0; i < call->operand_count && !done(run); i++) {
		run->file = call->operand_count > 1 ? call->operands[i] : NULL;
		status |= one_file(run, call->operands[i]);
	}
	return status;
}

int cmd_decode(const struct call *call)
{
	static struct jsonl json;
	static struct run run;
	static struct how options = { .protocol = FAMILY_AUTO };
	int status = read_options(call, &options);

	if (status)
		return status;
	jsonl_init(&json, stdout);
	run.options = &options;
	run.json = &json;
	run.trace = options.trace ? trace_create() : NULL;
	if (options.trace && !run.trace)
		return complain(&run, "--trace", strerror(ENOMEM));
	if (options.extract) {
		int error = extract_open(options.extract, extracted, &run, &run.extract);

		if (error) {
			log_plain("quakeshield decode: --extract '%s': %s",
				  options.extract, strerror(-error));
			return EXIT_REST;
		}
	}
	status = decode_files(call, &run);
	trace_free(run.trace);
	keylog_free(&options.keylog);
	secret_free(options.key, sizeof(*options.key));
	if (!extract_close(run.extract))
		status = EXIT_REST;
	if (jsonl_flush(&json)) {
		fprintf(stderr, "quakeshield decode: stdout: %s\n", strerror(errno));
		status = EXIT_REST;
	}
	return status;
}
