/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pcapng_read.h - the frames of a pcapng file, whatever interfaces they came from.
 *
 * libpcap reads a pcapng file only if all of its interfaces have one link type and one
 * snapshot length, even those without a packet. This reader has no such condition: each
 * frame names its own link type.
 *
 * Format: draft-ietf-opsawg-pcapng. Both byte orders, several sections, Enhanced, Simple
 * and (obsolete) Packet blocks, if_tsresol and if_tsoffset; all other blocks and options
 * are skipped. Memory grows to the largest packet block and no further.
 */
#ifndef PCAPNG_READ_H
#define PCAPNG_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "capture/packet.h"

#define PCAPNG_INTERFACES_MAX 4096 /* of one section; a further one is an error */
#define PCAPNG_FRAME_MAX                                               \
	(1 << 20) /* bytes of a packet block; a longer one is an error \
		   */

struct pcapng_frame {
	int link; /* DLT_ value of the frame's interface */
	int64_t time_ns; /* since 1970; 0: the block has no time */
	const uint8_t *bytes; /* valid until the next call */
	size_t captured;
	size_t length; /* on the wire, as the block says */
	enum packet_way way; /* as its flags say */
};

struct pcapng_reader;

/* Return true if the first bytes of a file are a pcapng section header. */
bool pcapng_recognise(const uint8_t *bytes, size_t n);

/* Take over @file, which stands at its beginning. NULL: no memory, and @file is closed.
 */
struct pcapng_reader *pcapng_open(FILE *file);
/* Close the file and free @reader, which may be NULL. */
void pcapng_close(struct pcapng_reader *reader);

/*
 * Read the next frame. 1: a frame; 0: the end of the file; -EBADMSG: pcapng_error()
 * says what is wrong here.
 */
int pcapng_next(struct pcapng_reader *reader, struct pcapng_frame *ret);
/* Return why the last pcapng_next() failed, as words for a message; a constant string. */
const char *pcapng_error(const struct pcapng_reader *reader);

#endif /* PCAPNG_READ_H */
