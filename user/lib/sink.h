/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sink.h - where lines and blocks go: a file, a FIFO, or all processes that connect to a
 * socket.
 *
 *	/path		a file; appended to, opened anew by sink_reopen()
 *	|/path		a FIFO, made if it is not there; its reader may come and go
 *	unix:/path	a Unix stream socket; each of up to SINK_READERS gets everything
 *
 * No function here waits. For each reader SINK_BUFFER bytes are kept; a piece that does
 * not fit is dropped as a whole and counted, so a reader receives whole pieces only.
 * Called from the daemon's one thread.
 */
#ifndef SINK_H
#define SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SINK_READERS 8
#define SINK_BUFFER  (1 << 20)
#define SINK_PUMP_MS 50 /* how often to call sink_pump(), while sink_waits() */

struct sink;

struct sink_stats {
	uint64_t pieces; /* put */
	uint64_t bytes; /* taken by the kernel, of all readers together */
	uint64_t dropped; /* pieces that a reader was too slow for, or left unread */
	uint64_t no_reader; /* pieces while there was no reader */
	unsigned int readers;
};

/*
 * Open the target. @preamble goes to every reader, and at every opening of a file, before
 * all else; it is copied. 0 or -errno after a message.
 */
int sink_open(const char *target, const void *preamble, size_t n, struct sink **ret);

/*
 * Write what waits as far as it goes without waiting, close all readers, and free @sink,
 * which may be NULL. Removes its own socket, unless another process has replaced it.
 */
void sink_close(struct sink *sink);

/* Put one piece of @n bytes: all of it, or nothing of it, for each reader. */
void sink_put(struct sink *sink, const void *bytes, size_t n);

/*
 * Accept new readers, and write what waits for the present ones. To be called also when
 * sink_fd() is readable, and now and then: whether a FIFO has a reader, only trying
 * tells.
 */
void sink_pump(struct sink *sink);

/*
 * Return true if something waits for a reader: then sink_pump() is due every
 * SINK_PUMP_MS.
 */
bool sink_waits(const struct sink *sink);
/*
 * Return a descriptor that is readable when a reader has connected to a socket, or left
 * it or a FIFO; -1 for a file.
 */
int sink_fd(const struct sink *sink);

/* Write what waits and go on in a new file: the old one has been moved away. */
void sink_reopen(struct sink *sink);

/* Copy the counts since sink_open(). */
void sink_stats(const struct sink *sink, struct sink_stats *ret);

#endif /* SINK_H */
