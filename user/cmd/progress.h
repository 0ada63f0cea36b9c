/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * progress.h - how far a long read has come, on stderr, once a second. Called by
 * cmd_decode.c. It reads the place in the file, and never moves it.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Inputs from this size on are shown by themselves. */
#define PROGRESS_LARGE (64LL << 20)

struct progress {
	char name[256]; /* plain: see log_make_plain() */
	FILE *file; /* the open input */
	int64_t size; /* bytes; 0: not known */
	int64_t began_ns, printed_ns;
	unsigned int steps;
	bool on, printed;
};

/*
 * Begin to show how far @file is. @asked: whatever the size; otherwise only for large
 * ones, on a terminal.
 */
void progress_begin(struct progress *p, const char *name, FILE *file, bool asked);
/* Show the progress, after each datagram; costs a clock's reading in a thousand. */
void progress_step(struct progress *p);
/* Write the last line and its end, if any was shown. */
void progress_end(struct progress *p);

#endif /* PROGRESS_H */
