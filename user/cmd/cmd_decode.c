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
#include "cmd/decode_options.h"
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

struct run {
	const struct decode_options *options;
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
	const struct decode_options *options = run->options;
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
	static struct decode_options options = { .protocol = FAMILY_AUTO };
	int status = decode_options_read(call, &options);

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
	decode_options_free(&options);
	if (!extract_close(run.extract))
		status = EXIT_REST;
	if (jsonl_flush(&json)) {
		fprintf(stderr, "quakeshield decode: stdout: %s\n", strerror(errno));
		status = EXIT_REST;
	}
	return status;
}
