/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recordings.h - captures and demos of real games in $CAPTURES, which are not in the
 * tree: a test without them is skipped by name. After cmocka.h.
 */
#ifndef RECORDINGS_H
#define RECORDINGS_H

#include <stdio.h>
#include <stdlib.h>

#include "capture/capture.h"

/* Open $CAPTURES/@path, which is closed by the caller. NULL, and said: it is not there.
 */
static inline FILE *recording_open(const char *path)
{
	const char *root = getenv("CAPTURES");
	FILE *file = NULL;
	char text[4096];

	if (root && *root) {
		snprintf(text, sizeof(text), "%s/%s", root, path);
		file = fopen(text, "rb");
	}
	if (!file)
		print_message("skip %s: not in $CAPTURES\n", path);
	return file;
}

/* Open the capture at live/@name.pcap likewise, for capture_close(). */
static inline struct capture *recording_live(const char *name)
{
	struct capture *capture;
	char text[1024];
	FILE *file;

	snprintf(text, sizeof(text), "live/%s.pcap", name);
	file = recording_open(text);
	if (!file)
		return NULL;
	assert_int_equal(capture_open(file, &capture, text, sizeof(text)), 0);
	return capture;
}

#endif /* RECORDINGS_H */
