/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trace_clients.h - what the wire tells of the settings of each client in a capture:
 * rate, snapshots, packets per second, how often a user command is sent again, how old
 * what it acknowledges is. Called by trace.c for each record, and by cmd_decode.c at the
 * beginning and end of each file.
 */
#ifndef TRACE_CLIENTS_H
#define TRACE_CLIENTS_H

#include "lib/jsonl.h"
#include "lib/record.h"

/* Clients of one file; the datagrams of further ones are counted only. */
#define TRACE_CLIENTS_MAX 64

struct trace_clients;

/* Return NULL if there is no memory. trace_clients_free() frees it. */
struct trace_clients *trace_clients_create(void);
/* Free it; NULL is allowed. */
void trace_clients_free(struct trace_clients *c);

/* Take in a record with fields. Records of recordings are passed over. */
void trace_clients_record(struct trace_clients *c, const struct record *r);

/* Is item @item of the last record a user command that an earlier datagram held too? */
bool trace_clients_repeated(const struct trace_clients *c, uint32_t item);

/*
 * Write the settings of all clients, as text or as a line of JSON for each client; and a
 * line with the datagrams of clients that were left out, if any were. @file: to be named,
 * or NULL.
 */
void trace_clients_write(const struct trace_clients *c, struct jsonl *json,
			 const char *file, bool as_json);

/* Likewise, and free *@c, which may be NULL. */
void trace_clients_end(struct trace_clients **c, struct jsonl *json, const char *file,
		       bool as_json);

/* The keys of a client's line, and of the line of those that were left out. */
extern const struct json_key trace_client_keys[], trace_left_out_keys[];

#endif /* TRACE_CLIENTS_H */
