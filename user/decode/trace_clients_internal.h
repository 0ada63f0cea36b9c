/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trace_clients_internal.h - what trace_clients.c gathers and trace_clients_write.c
 * writes.
 */
#ifndef TRACE_CLIENTS_INTERNAL_H
#define TRACE_CLIENTS_INTERNAL_H

#include "decode/trace_clients.h"

#define VALUE_MAX    16 /* characters of a setting, with the NUL */
#define MOVES_KEPT   16 /* datagrams with moves, of a client */
#define SERVER_KEPT  256 /* datagrams of the server, of a client; a power of two */
#define SAMPLES_KEPT 1024 /* of a median; then every later one replaces an earlier */
#define DUPS_MAX     8
#define REPEATS_MAX  1024 /* commands in one record; a hostile one may hold more */

enum setting {
	SETTING_RATE,
	SETTING_SNAPS,
	SETTING_MAXPACKETS,
	SETTING_PACKETDUP,
	SETTING_TIMENUDGE,
	SETTING_COUNT
};

struct samples {
	int32_t ms[SAMPLES_KEPT];
	uint64_t count;
};

struct move {
	uint32_t sequence;
	int64_t newest; /* of its commands: serverTime; or the number of a move */
	bool seen;
};

struct client {
	struct record_address client, server;
	enum wire_family family;
	char value[SETTING_COUNT][VALUE_MAX]; /* empty: not said */
	bool by_command[SETTING_COUNT]; /* in the game; otherwise when it joined */
	uint64_t packets;
	int64_t first_ns, last_ns, second_ns;
	uint32_t in_second, most;
	struct move moves[MOVES_KEPT];
	uint64_t moves_n;
	uint64_t dups[DUPS_MAX + 1], fixed; /* fixed: moves that always repeat so many */
	struct {
		uint32_t sequence;
		int64_t ns, time_us;
		bool seen, timed, acked;
	} server_sent[SERVER_KEPT];
	struct samples age, lead;
};

struct trace_clients {
	struct client *clients[TRACE_CLIENTS_MAX];
	size_t n;
	uint64_t passed_over; /* datagrams of further clients */
	uint32_t repeated[REPEATS_MAX]; /* items of the last record */
	size_t repeated_n;
};

#define SECOND_NS 1000000000LL

#endif /* TRACE_CLIENTS_INTERNAL_H */
