/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * live_write.h - records as JSON lines, samples as pcapng blocks, each into its sink.
 */
#ifndef LIVE_WRITE_H
#define LIVE_WRITE_H

#include "samples/samples_decode.h"
#include "lib/sink.h"

#define LIVE_LINE_MAX (1 << 20) /* bytes; a longer line is left out */

struct live_writer;

struct live_target {
	const char *json; /* as sink_open() takes them; "": none */
	const char *pcapng;
	const char *interface; /* name for the capture's head */
};

struct live_writer_stats {
	struct sink_stats json, pcapng; /* all zero where there is none */
	uint64_t too_long; /* lines */
};

/* 0 or -errno after a message. */
int live_writer_open(const struct live_target *target, struct live_writer **ret);
void live_writer_close(struct live_writer *w);

bool live_writer_wants_records(const struct live_writer *w);

/* A record, as `decode --json` has it, and what the shield knew: docs/LIVE.md. */
void live_write_record(struct live_writer *w, const struct record *r,
		       const struct live_sample *sample, const struct service *service);

/* A sample, judged or not, whether or not it could be decoded. */
void live_write_frame(struct live_writer *w, const struct sample *sample,
		      const void *frame, int64_t time_ns, const struct service *service);

/* As sink_pump(), sink_waits() and sink_fd(), the last of up to LIVE_WRITER_FDS. */
#define LIVE_WRITER_FDS 2
void live_writer_pump(struct live_writer *w);
bool live_writer_waits(const struct live_writer *w);
int live_writer_fd(const struct live_writer *w, unsigned int which);
/* Go on in new files. */
void live_writer_rotate(struct live_writer *w);
void live_writer_stats(const struct live_writer *w, struct live_writer_stats *ret);

#endif /* LIVE_WRITE_H */
