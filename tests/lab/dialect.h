/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dialect.h - what the stand-in server and the legitimate client must agree on, one
 * row a protocol: the two queries of a browser, and the words of a join.
 */
#ifndef DIALECT_H
#define DIALECT_H

#include <stdbool.h>

#include "payload.h"

struct bytes {
	const char *data;
	size_t size;
};
#define BYTES(literal)                       \
	{                                    \
		literal, sizeof(literal) - 1 \
	}

struct dialect {
	const char *name;
	const char *query[2]; /* payload names */
	struct bytes answer[2]; /* how the answers begin */
	struct bytes ask; /* for a challenge; empty: connect at once */
	struct bytes challenge; /* what stands before the number */
	const char *connect; /* after OOB: challenge, qport, own number */
	struct bytes accept;
	unsigned int header_to_server; /* netchan: sequence first, qport last */
	unsigned int header_to_client;
	bool packed; /* connect: see adaptive.h */
	bool keeps; /* the first challenge: what comes later is not heard */
};

/* clang-format off */
static const struct dialect dialects[] = {
	{ "quake3", { "getstatus", "getinfo" },
	  { BYTES(OOB "statusResponse"), BYTES(OOB "infoResponse") },
	  BYTES(OOB "getchallenge 12345 Quake3Arena"), BYTES(OOB "challengeResponse "),
	  "\"\\challenge\\%d\\qport\\%u\\protocol\\71\\name\\lab\\rate\\25000"
	  "\\cl_guid\\%032X\"",
	  BYTES(OOB "connectResponse"), 6, 4, true, false },
	{ "quakeworld", { "qw-status", "qw-status" },
	  { BYTES(OOB "n"), BYTES(OOB "n") },
	  BYTES(OOB "getchallenge\n"), BYTES(OOB "c"),
	  "28 %2$u %1$d \"\\name\\lab\\rate\\2500\\msg\\1\"\n",
	  BYTES(OOB "j"), 10, 8, false, false },
	{ "quake2", { "q2-status", "q2-info" },
	  { BYTES(OOB "print\n"), BYTES(OOB "info\n") },
	  BYTES(OOB "getchallenge\n"), BYTES(OOB "challenge "),
	  "34 %2$u %1$d \"\\name\\lab\\rate\\25000\\msg\\1\"\n",
	  BYTES(OOB "client_connect"), 10, 8, false, false },
	/* R1Q2's and Q2PRO's clients of the same servers: a qport of eight bits. */
	{ "r1q2", { "q2-status", "q2-info" },
	  { BYTES(OOB "print\n"), BYTES(OOB "info\n") },
	  BYTES(OOB "getchallenge\n"), BYTES(OOB "challenge "),
	  "35 %2$u %1$d \"\\name\\lab\\rate\\25000\\msg\\1\" 1390 1905\n",
	  BYTES(OOB "client_connect"), 9, 8, false, false },
	{ "q2pro", { "q2-status", "q2-info" },
	  { BYTES(OOB "print\n"), BYTES(OOB "info\n") },
	  BYTES(OOB "getchallenge\n"), BYTES(OOB "challenge "),
	  "36 %2$u %1$d \"\\name\\lab\\rate\\25000\\msg\\1\" 1390 1 1 1021\n",
	  BYTES(OOB "client_connect"), 9, 8, false, true },
	{ "netquake", { "ccreq-server-info", "ccreq-server-info" },
	  { BYTES("\x80\0\0\x25\x83"), BYTES("\x80\0\0\x25\x83") },
	  BYTES(""), BYTES(""), NULL, BYTES("\x80\0\0\x09\x81"), 8, 8, false, false },
	{ "quake-enhanced", { "dtls-hello", "dtls-hello" },
	  { BYTES("\x16\xfe\xff"), BYTES("\x16\xfe\xff") },
	  BYTES(""), BYTES(""), NULL, BYTES(""), 0, 0, false, false },
};
/* clang-format on */

static inline const struct dialect *dialect_find(const char *name)
{
	for (size_t i = 0; i < sizeof(dialects) / sizeof(*dialects); i++)
		if (!strcmp(dialects[i].name, name))
			return &dialects[i];
	return NULL;
}

static inline bool begins(const char *data, size_t size, struct bytes head)
{
	return size >= head.size && !memcmp(data, head.data, head.size);
}

#endif /* DIALECT_H */
