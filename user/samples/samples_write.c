// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * samples_write.c - see samples_write.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/jsonl.h"
#include "samples/samples_write.h"
#include "lib/names.h"
#include "lib/pcapng.h"

/* Return values of the programs: linux/bpf.h, linux/pkt_cls.h. */
enum action {
	ACTION_XDP_DROP = 1,
	ACTION_XDP_PASS = 2,
	ACTION_XDP_TX = 3,
	ACTION_TC_OK = 0,
	ACTION_TC_SHOT = 2,
};

struct samples_writer {
	struct sink *json, *pcapng; /* or NULL */
	struct jsonl writer;
	FILE *memory; /* what the writer writes to: line[] */
	uint8_t *line;
	size_t used;
	bool overflow;
	uint64_t too_long;
	uint8_t block[PCAPNG_BLOCK_MAX];
};

static const char *const sampler_names[SAMPLER_COUNT] = {
	[SAMPLER_STATISTIC] = "statistic",
	[SAMPLER_FOLLOW] = "follow",
};

static ssize_t line_write(void *cookie, const char *bytes, size_t n)
{
	struct samples_writer *w = cookie;

	if (n > SAMPLES_LINE_MAX - w->used) {
		w->overflow = true;
		return (ssize_t)n;
	}
	memcpy(w->line + w->used, bytes, n);
	w->used += n;
	return (ssize_t)n;
}

static int json_open(struct samples_writer *w, const char *target)
{
	cookie_io_functions_t functions = { .write = line_write };

	w->line = malloc(SAMPLES_LINE_MAX);
	w->memory = fopencookie(w, "w", functions);
	if (!w->line || !w->memory)
		return -ENOMEM;
	setvbuf(w->memory, NULL, _IONBF, 0);
	jsonl_init(&w->writer, w->memory);
	return sink_open(target, NULL, 0, &w->json);
}

static int pcapng_open(struct samples_writer *w, const struct samples_target *target)
{
	uint8_t head[PCAPNG_BEGIN_MAX];
	size_t n = pcapng_begin(head, target->interface, "quakeshield " VERSION);

	return sink_open(target->pcapng, head, n, &w->pcapng);
}

int samples_writer_open(const struct samples_target *target, struct samples_writer **ret)
{
	struct samples_writer *w = calloc(1, sizeof(*w));
	int err = w ? 0 : -ENOMEM;

	if (!err && target->json[0])
		err = json_open(w, target->json);
	if (!err && target->pcapng[0])
		err = pcapng_open(w, target);
	if (err) {
		samples_writer_close(w);
		return err;
	}
	*ret = w;
	return 0;
}

void samples_writer_close(struct samples_writer *w)
{
	if (!w)
		return;
	sink_close(w->json);
	sink_close(w->pcapng);
	if (w->memory)
		fclose(w->memory);
	free(w->line);
	free(w);
}

bool samples_writer_wants_records(const struct samples_writer *w)
{
	return w->json;
}

static void member(struct jsonl *json, const char *key, const char *value)
{
	jsonl_text(json, key);
	jsonl_string(json, value, strlen(value));
}

void samples_write_record(struct samples_writer *w, const struct record *r,
			  const struct sample_note *sample, const struct service *service)
{
	struct jsonl *json = &w->writer;

	if (!w->json)
		return;
	w->used = 0;
	w->overflow = false;
	jsonl_record_open(json, r);
	member(json, ",\"sampler\":", sampler_names[sample->sampler]);
	member(json, ",\"service\":", service->name);
	member(json, ",\"verdict\":", verdict_name(reason_verdict(sample->reason)));
	member(json, ",\"shield_reason\":", reason_name(sample->reason));
	member(json, ",\"shield_kind\":", kind_name(sample->kind));
	jsonl_text(json, "}\n");
	jsonl_flush(json);
	if (w->overflow)
		w->too_long++;
	else
		sink_put(w->json, w->line, w->used);
}

static uint64_t action_of(enum verdict verdict, bool xdp)
{
	if (!xdp)
		return verdict == VERDICT_DROP ? ACTION_TC_SHOT : ACTION_TC_OK;
	return verdict == VERDICT_DROP	    ? ACTION_XDP_DROP
	       : verdict == VERDICT_RESPOND ? ACTION_XDP_TX
					    : ACTION_XDP_PASS;
}

size_t samples_block(uint8_t ret[PCAPNG_BLOCK_MAX], const struct sample *sample,
		     const void *frame, int64_t time_ns, const struct service *service)
{
	enum verdict verdict = reason_verdict((enum reason)sample->reason);
	char comment[PCAPNG_COMMENT_MAX];
	struct pcapng_packet packet = {
		.time_ns = time_ns,
		.frame = frame,
		.kept = sample->kept,
		.length = sample->length,
		.inbound = sample->direction == DIRECTION_C2S,
		.xdp = sample->direction == DIRECTION_C2S,
		.comment = comment,
	};

	/* A service that only observes lets everything pass, whatever its verdict. */
	packet.action = action_of(service->observe ? VERDICT_PASS : verdict, packet.xdp);
	snprintf(comment, sizeof(comment),
		 "service=%s kind=%s verdict=%s reason=%s sampler=%s", service->name,
		 kind_name((enum wire_kind)sample->kind), verdict_name(verdict),
		 reason_name((enum reason)sample->reason),
		 sampler_names[sample->sampler]);
	return pcapng_packet(ret, &packet);
}

void samples_write_frame(struct samples_writer *w, const struct sample *sample,
			 const void *frame, int64_t time_ns,
			 const struct service *service)
{
	if (w->pcapng)
		sink_put(w->pcapng, w->block,
			 samples_block(w->block, sample, frame, time_ns, service));
}

void samples_writer_pump(struct samples_writer *w)
{
	if (w->json)
		sink_pump(w->json);
	if (w->pcapng)
		sink_pump(w->pcapng);
}

bool samples_writer_waits(const struct samples_writer *w)
{
	return (w->json && sink_waits(w->json)) || (w->pcapng && sink_waits(w->pcapng));
}

int samples_writer_fd(const struct samples_writer *w, unsigned int which)
{
	const struct sink *sink = which ? w->pcapng : w->json;

	return sink ? sink_fd(sink) : -1;
}

void samples_writer_rotate(struct samples_writer *w)
{
	if (w->json)
		sink_reopen(w->json);
	if (w->pcapng)
		sink_reopen(w->pcapng);
}

void samples_writer_stats(const struct samples_writer *w,
			  struct samples_writer_stats *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (w->json)
		sink_stats(w->json, &ret->json);
	if (w->pcapng)
		sink_stats(w->pcapng, &ret->pcapng);
	ret->too_long = w->too_long;
}
