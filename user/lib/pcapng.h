/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pcapng.h - frames as blocks of a pcapng file (draft-ietf-opsawg-pcapng).
 *
 * Pure: into the caller's memory. A section begins with pcapng_begin(), which names one
 * Ethernet interface with nanosecond timestamps; then one block a frame.
 */
#ifndef PCAPNG_H
#define PCAPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCAPNG_COMMENT_MAX 256 /* bytes of a comment that are kept */
#define PCAPNG_SNAP	   2048
/* Room for any one block: head, frame, comment, options, length. */
#define PCAPNG_BLOCK_MAX (PCAPNG_SNAP + PCAPNG_COMMENT_MAX + 128)
#define PCAPNG_BEGIN_MAX 512

struct pcapng_packet {
	int64_t time_ns; /* since 1970 */
	const void *frame;
	uint32_t kept; /* at most PCAPNG_SNAP */
	uint32_t length; /* on the wire */
	bool inbound;
	bool xdp; /* judged by XDP, else by TC */
	uint64_t action; /* what it returned to the kernel */
	const char *comment;
};

/*
 * Write a section header and an interface description; names are cut at 64 bytes.
 * Returns the bytes written, at most PCAPNG_BEGIN_MAX.
 */
size_t pcapng_begin(uint8_t *to, const char *interface, const char *application);

/*
 * Write an enhanced packet block. Returns the bytes written; @to must have room for
 * PCAPNG_BLOCK_MAX.
 */
size_t pcapng_packet(uint8_t *to, const struct pcapng_packet *packet);

#endif /* PCAPNG_H */
