/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * capture.h - pcap and pcapng files as a stream of UDP datagrams, in capture order.
 * Called by `quakeshield decode` (cmd_decode.c).
 *
 * Only capture.c includes libpcap. Nothing is allocated per packet.
 */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <stdio.h>

#include "capture/packet.h"

struct capture;

/* Return true if the first bytes of a file are those of a pcap or pcapng file. */
bool capture_recognise(const uint8_t *bytes, size_t n);

/*
 * Begin to read @file, which belongs to the capture from now on, on a failure too. 0;
 * -EBADMSG: not a capture that can be read, and @message (of @size bytes) says why;
 * -ENOMEM.
 */
int capture_open(FILE *file, struct capture **ret, char *message, size_t size);
/* Close the file and free @capture, which may be NULL. */
void capture_close(struct capture *capture);

/*
 * Read the next datagram. 1; 0 at the end of the file; -EBADMSG when the file breaks off
 * or is damaged here (capture_error() says how). ret->payload stays valid until the next
 * call.
 */
int capture_next(struct capture *capture, struct datagram *ret);

/* A frame as the capture has it. */
struct capture_frame {
	uint64_t number; /* 1: the first of the file */
	int64_t time_ns; /* since 1970 */
	int link; /* DLT_ value */
	const uint8_t *bytes; /* valid until the next call */
	size_t captured;
	size_t length; /* on the wire: at least @captured */
	enum packet_way way;
};

/*
 * Read the next frame, of whatever link type and with whatever in it: results as of
 * capture_next(). For callers that never call that one.
 */
int capture_next_frame(struct capture *capture, struct capture_frame *ret);

/*
 * Return how the file is damaged, as words for a message, after capture_next() has
 * failed. Belongs to @capture.
 */
const char *capture_error(struct capture *capture);

/* Return the number of frames read so far, of every kind. */
uint64_t capture_packets(const struct capture *capture);

/*
 * Return for how many of them there was no datagram, by enum packet_pass: PASS_COUNT
 * counts.
 */
const uint64_t *capture_passed(const struct capture *capture);

/*
 * Let only packets through that match @expression, of pcap-filter(7), from now on. 0;
 * -EINVAL, and @message (of @size bytes) says why.
 */
int capture_filter(struct capture *capture, const char *expression, char *message,
		   size_t size);

#endif /* CAPTURE_H */
