// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * replay_files.c - replay_file() of replay.h: a capture, frame by frame.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/input.h"
#include "lib/log.h"
#include "replay/replay_internal.h"

#define SCAN_FRAMES 65536 /* that are looked at before a file is replayed */

static int complain(const char *name, const char *why)
{
	log_error("replay: '%s': %s", name, why);
	return -EBADMSG;
}

/* Open the capture @name. 0 and *@ret, or -errno after a message. */
static int file_open(const char *name, const struct replay_how *how, bool quiet,
		     struct capture **ret)
{
	uint8_t beginning[4];
	char message[512];
	size_t n = 0;
	FILE *file = input_open(name, NULL, beginning, sizeof(beginning), &n);
	int err;

	if (!file) {
		err = -errno;
		log_error("replay: cannot open '%s': %s", name, strerror(-err));
		return err;
	}
	if (!capture_recognise(beginning, n)) {
		fclose(file);
		return complain(name, n ? "no pcap or pcapng file" : "the file is empty");
	}
	if (!quiet)
		how->begin(how->context, name, file);
	err = capture_open(file, ret, message, sizeof(message));
	if (err)
		return complain(name, err == -EBADMSG ? message : strerror(-err));
	if (how->filter && capture_filter(*ret, how->filter, message, sizeof(message))) {
		capture_close(*ret);
		return complain(name, message);
	}
	return 0;
}

/* Look at the beginning of a file to learn where servers are, if it can be read twice. */
static int scan(struct replay *r, const char *name, const struct replay_how *how)
{
	struct capture *capture = NULL;
	struct capture_frame f = { 0 };
	struct stat st;
	int err;

	if (!strcmp(name, "-") || stat(name, &st) || !S_ISREG(st.st_mode))
		return 0;
	err = file_open(name, how, true, &capture);
	if (err)
		return err;
	for (int i = 0; i < SCAN_FRAMES && capture_next_frame(capture, &f) == 1; i++)
		replay_glance(r, &f);
	capture_close(capture);
	return 0;
}

int replay_file(struct replay *r, const char *name, const struct replay_how *how)
{
	struct replay_packet packet = { .file = name,
					.file_number = replay_next_file(r) };
	struct capture *capture = NULL;
	struct capture_frame f = { 0 };
	int err = scan(r, name, how), got = 0;

	if (!err)
		err = file_open(name, how, false, &capture);
	if (err)
		return err;
	while (!err && (got = capture_next_frame(capture, &f)) == 1) {
		err = replay_frame(r, &f, &packet);
		how->step(how->context);
	}
	if (!err && got < 0) {
		char where[640];

		snprintf(where, sizeof(where), "after packet %llu: %s",
			 (unsigned long long)capture_packets(capture),
			 capture_error(capture));
		err = complain(name, where);
	}
	capture_close(capture);
	return err;
}
