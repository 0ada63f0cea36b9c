/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * replay.h - captures through the shield's programs: the verdict on each packet, by the
 * time of the capture, in tables that no interface looks at.
 *
 * Files are read one after the other, as one stretch of traffic. A packet to a service is
 * judged as it arrives, one from a service as it leaves, and one between two services of
 * the same address as it leaves and then as it arrives. All other packets count as
 * arriving ones for no service.
 *
 * Memory is bounded, whatever a capture holds: by services, and by constants of
 * replay_internal.h.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include <stdio.h>

#include "capture/capture.h"
#include "lib/json_key.h"
#include "shield/trial.h"

#define REPLAY_SIDES 2 /* the configuration, and another one to compare it with */

/*
 * Why a packet has no verdict.
 *	  skip		name		meaning
 */
/* clang-format off */
#define REPLAY_SKIPS(X)							\
	X(TOO_LONG,	"too-long",					\
	  "the frame is longer than the kernel lets a program judge")	\
	X(CUT,		"cut",						\
	  "the capture has not all of the packet's headers")		\
	X(UNKNOWN_LINK,	"unknown-link",					\
	  "the capture's link type is unknown")				\
	X(NOT_SENT,	"not-sent",					\
	  "the shield has answered the request itself, so this response would not have been sent")
/* clang-format on */

enum replay_skip {
	SKIP_NONE,
#define AS_SKIP(skip, name, meaning) SKIP_##skip,
	REPLAY_SKIPS(AS_SKIP)
#undef AS_SKIP
	SKIP_COUNT,
};

struct replay_verdict {
	enum replay_skip skip;
	struct trial_verdict verdict; /* of SKIP_NONE */
	const struct service *service; /* NULL: none has the packet */
};

/* A packet that was judged. */
struct replay_packet {
	const char *file;
	unsigned int file_number; /* 0: the first file */
	uint64_t number; /* of the frame in its file, from 1 on */
	int64_t time_ns; /* since 1970 */
	bool out; /* it leaves */
	bool has_ends; /* it is UDP: */
	struct record_address source, destination;
	const uint8_t *frame; /* with an Ethernet header, as far as it was captured */
	uint32_t captured;
	uint32_t length; /* of all of it */
	struct replay_verdict by[REPLAY_SIDES];
	bool differs; /* the sides say different things */
	bool doubtful; /* of replay_beside(): the shield has let it pass, and the first
			* side would not: that side lacks something that the shield knows
			*/
};

/* A verdict as names of the tables; NULL: it has none. */
struct replay_words {
	const char *service, *protocol, *kind, *verdict, *reason;
};

/* Return the names of @verdict. They live as long as the replay. */
struct replay_words replay_words(const struct replay_verdict *verdict);

struct replay;

/* A function that gets each packet with its verdicts. */
typedef void replay_each(const struct replay_packet *packet, void *context);

/*
 * Begin with @config and, unless NULL, @other. @each gets every packet with its verdicts,
 * or is NULL. Takes half a second for each configuration. 0 and *@ret, or -errno after a
 * message.
 */
int replay_open(const struct config *config, const struct config *other,
		replay_each *each, void *context, struct replay **ret);

/*
 * Begin beside @shield, which runs and is only read: the first side is what it does,
 * @now being its configuration, the second what it would do with @other. Both begin with
 * what it knows. For frames that it has let pass: replay_frame(), those from @start on,
 * which is called with @context right before its tables are read, and returns 0 or -errno
 * after a message. Takes a second. 0 and *@ret, or -errno after a message.
 */
int replay_beside(const struct shield *shield, const struct config *now,
		  const struct config *other, int (*start)(void *context),
		  replay_each *each, void *context, struct replay **ret);

/* End @replay, with all that belongs to it; NULL: nothing. */
void replay_close(struct replay *replay);

/* Reading a file: what @filter of libpcap lets through, or NULL; @step after each frame.
 */
struct replay_how {
	const char *filter;
	void (*begin)(void *context, const char *name, FILE *file);
	void (*step)(void *context);
	void *context;
};

/*
 * Replay the capture in the file @name, "-" is standard input. 0, or -errno after a
 * message; what came before a place that is damaged is replayed.
 */
int replay_file(struct replay *replay, const char *name, const struct replay_how *how);

/*
 * Judge one frame, at its time; @packet keeps its file. 0, or -ENOMEM after a message.
 */
int replay_frame(struct replay *replay, const struct capture_frame *frame,
		 struct replay_packet *packet);

/* Let it be @time_ns, by the clock of the frames. */
void replay_clock(struct replay *replay, int64_t time_ns);

/* Print the counts so far as tables. */
void replay_print(const struct replay *replay, FILE *out);

/* --- replay_rows.c ----------------------------------------------------------- */

struct jsonl;
extern const struct json_key replay_json_keys[];
/*
 * Write the packet as a line of JSON. @named: with the name of the file; @other: with the
 * verdict of the other side.
 */
void replay_to_json(struct jsonl *json, const struct replay_packet *packet, bool named,
		    bool other);

/* Write the packet likewise, as a line to read. */
void replay_to_text(struct jsonl *json, const struct replay_packet *packet, bool named,
		    bool other);

/*
 * Write the packet as a block of a pcapng file, the verdict as its comment: @to has
 * room for PCAPNG_BLOCK_MAX. Returns the bytes written.
 */
size_t replay_to_pcapng(uint8_t *to, const struct replay_packet *packet, bool other);

#endif /* REPLAY_H */
