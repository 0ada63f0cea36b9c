/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * replay_internal.h - parts of a replay: which way a packet goes, what the cache learns,
 * what is counted.
 */
#ifndef REPLAY_INTERNAL_H
#define REPLAY_INTERNAL_H

#include "replay/replay.h"
#include "counters.h"

/* --- replay.c ------------------------------------------------------------------- */

/* Let a frame tell where servers are, without judging it. */
void replay_glance(struct replay *replay, const struct capture_frame *frame);

/* Return the number of the file that begins, from 0 on. */
unsigned int replay_next_file(struct replay *replay);

/* --- replay_way.c: which way a packet goes ------------------------------------- */

/* The part of a packet's headers that tells its flow. */
struct flow {
	bool ip; /* source and destination are valid, without ports */
	bool udp; /* and with */
	bool fragment, later; /* later: it has no UDP header */
	uint64_t packet; /* a hash that all fragments of a packet have in common */
	struct record_address source, destination;
	const uint8_t *payload;
	size_t n; /* bytes of payload that were captured */
	size_t at; /* where it begins in the frame */
};

/* Read the headers of an Ethernet frame. False: they are cut by the capture. */
bool flow_read(const uint8_t *frame, size_t captured, struct flow *ret);

/* Return true if @flow is a server's response outside of the game, to a client of
 * @family. */
bool flow_is_response(const struct flow *flow, enum wire_family family);

/* Return a hash of an end, its port included, and of a number. */
uint64_t flow_hash(const struct record_address *end, uint64_t number);

#define HOSTS_MAX     64
#define FRAGMENTS_MAX 1024 /* packets in fragments with a known way, a power of two */

/*
 * Which addresses have servers, as far as traffic tells: a capture made at a server has
 * its address in each packet. Misra and Gries: an address that is in more than one of
 * HOSTS_MAX packets is in the table, whatever the others are.
 */
struct hosts {
	struct {
		struct record_address address; /* port 0 */
		uint64_t count;
	} hosts[HOSTS_MAX];
	size_t n;
	uint64_t fragments[FRAGMENTS_MAX]; /* of packets that leave */
};

enum way {
	WAY_IN = 1,
	WAY_OUT = 2,
	WAY_BOTH = WAY_OUT | WAY_IN,
};

/* Let @flow tell where servers are. @from, @to: its source, its destination is a service.
 */
void hosts_learn(struct hosts *hosts, const struct flow *flow, bool from, bool to);

/* Return the way of @flow. @way: what the capture says of it. */
enum way way_of(struct hosts *hosts, const struct flow *flow, enum packet_way way,
		bool from, bool to);

/* --- replay_responses.c: what the daemon would have got from servers ---------------- */

#define QUERIES_MAX 1024 /* queries that wait for a response, a power of two */

struct responses;
/* Create an empty store of responses. NULL: no memory. */
struct responses *responses_create(const struct config *config, struct trial *trial);

/* Free it; NULL: nothing. */
void responses_free(struct responses *responses);

/* Note a query that came for the service in @slot. */
void responses_query(struct responses *responses, __u32 slot, const struct flow *flow);

/* Take a datagram that left the service in @slot for the response to its query. */
void responses_learn(struct responses *responses, __u32 slot, const struct flow *flow,
		     __u64 now_ns);

/* Make the kept responses as young as a daemon would have them. */
void responses_clock(struct responses *responses, __u64 now_ns);

/* --- replay_echo.c: what a client of NetQuake would have said -------------------- */

#define ECHO_CLIENTS 256 /* clients with kept times, a power of two */
#define ECHO_TIMES   64 /* of each: the newest */

struct echo {
	struct {
		uint64_t client; /* hash of the end and the slot */
		uint32_t next;
		uint32_t said[ECHO_TIMES], written[ECHO_TIMES];
	} clients[ECHO_CLIENTS];
};

/*
 * Note that the update in @flow to a client of the service in @slot left as @left, its
 * payload.
 */
void echo_update(struct echo *echo, __u32 slot, const struct flow *flow,
		 const uint8_t *left);
/*
 * Find the time that the move in @flow has to name: *@ret bytes into the payload,
 * *@ret_time in place of what is there. False: leave it as it is.
 */
bool echo_move(const struct echo *echo, __u32 slot, const struct flow *flow, size_t *ret,
	       uint32_t *ret_time);

/* --- replay_sum.c: what is counted ---------------------------------------------- */

#define FIRST_MAX   3 /* packets that are named of each row */
#define CHANGES_MAX 4096 /* rows of changes, a power of two; more are counted as one */

struct cell {
	uint64_t packets, bytes;
	struct {
		unsigned int file;
		uint64_t number;
	} first[FIRST_MAX];
};

struct change {
	bool used, out;
	struct replay_words was, is;
	struct cell cell;
};

struct sum {
	struct service services[REPLAY_SIDES][SERVICES_MAX]; /* by slot */
	struct cell
		*cells[SERVICES_MAX]; /* COUNTERS each, by counter_number(); or NULL */
	struct cell others[2][OTHER_COUNT]; /* of what came, of what left */
	struct cell skips[SKIP_COUNT];
	struct cell cut; /* packets that were judged without their ends */
	struct change changes[CHANGES_MAX];
	struct cell more; /* changes for which there was no room */
	uint64_t packets, differ;
	unsigned int files;
};

/* Count the packet. 0, or -ENOMEM after a message. */
int sum_add(struct sum *sum, const struct replay_packet *packet, bool other);

/* Free what @sum points to. */
void sum_free(struct sum *sum);

/* Print the tables. @other: with what the two configurations decide differently. */
void sum_print(const struct sum *sum, bool other, FILE *out);

#endif /* REPLAY_INTERNAL_H */
