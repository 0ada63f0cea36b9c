/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * samples_write.h - records as JSON lines, samples as pcapng blocks, each into its sink
 * (sink.h). Called by samples.c for each sample within the limit of processor time.
 */
#ifndef SAMPLES_WRITE_H
#define SAMPLES_WRITE_H

#include "samples/samples_decode.h"
#include "lib/pcapng.h"
#include "lib/sink.h"

#define SAMPLES_LINE_MAX (1 << 20) /* bytes; a longer line is left out */

struct samples_writer;

struct samples_target {
	const char *json; /* as sink_open() takes them; "": none */
	const char *pcapng;
	const char *interface; /* name for the capture's head */
};

struct samples_writer_stats {
	struct sink_stats json, pcapng; /* all zero where there is none */
	uint64_t too_long; /* lines */
};

/*
 * Open the sinks of @target. 0 or -errno after a message; then *@ret is untouched. Called
 * when sampling begins and when a reload names other sinks, before the old writer is
 * closed.
 */
int samples_writer_open(const struct samples_target *target, struct samples_writer **ret);
/* Close the sinks, and free the writer, which may be NULL. */
void samples_writer_close(struct samples_writer *w);

/* Return true if there is a sink for records: without one they need no fields. */
bool samples_writer_wants_records(const struct samples_writer *w);

/*
 * Write a record, as `decode --json` has it, with what the shield knew: docs/SAMPLES.md.
 */
void samples_write_record(struct samples_writer *w, const struct record *r,
			  const struct sample_note *sample,
			  const struct service *service);

/* Write a sample, judged or not, whether or not it could be decoded. */
void samples_write_frame(struct samples_writer *w, const struct sample *sample,
			 const void *frame, int64_t time_ns,
			 const struct service *service);

/*
 * Write a sample as a block of a capture, with what the shield knew in its comment.
 * Returns the bytes written.
 */
size_t samples_block(uint8_t ret[PCAPNG_BLOCK_MAX], const struct sample *sample,
		     const void *frame, int64_t time_ns, const struct service *service);

/*
 * Each of these is the function of sink.h for both sinks: sink_pump(), sink_waits(), and
 * sink_fd() of sink @which, 0 or 1; -1 where there is none.
 */
#define SAMPLES_WRITER_FDS 2
void samples_writer_pump(struct samples_writer *w);
bool samples_writer_waits(const struct samples_writer *w);
int samples_writer_fd(const struct samples_writer *w, unsigned int which);
/* Go on in new files. */
void samples_writer_rotate(struct samples_writer *w);
/* Copy the counts of both sinks. */
void samples_writer_stats(const struct samples_writer *w,
			  struct samples_writer_stats *ret);

#endif /* SAMPLES_WRITE_H */
