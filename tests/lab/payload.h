/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * payload.h - the datagrams of the lab by name: what attackers send, and what the
 * legitimate client sends too. One row each; lengths are those of the literals.
 */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include <stddef.h>
#include <string.h>

#define OOB	 "\xff\xff\xff\xff"
#define NQ_GAME	 "QUAKE\0\3"
#define ZEROS_16 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"

/* Record 22 of DTLS 1.0, epoch 0; ClientHello of DTLS 1.2, no cookie, two PSK suites. */
#define DTLS_HELLO                                                         \
	"\x16\xfe\xff\0\0\0\0\0\0\0\0\0\x38\x01\0\0\x2c\0\0\0\0\0\0\0\x2c" \
	"\xfe\xfd" ZEROS_16 ZEROS_16 "\0\0\0\4\0\xa8\0\xae\1\0"

/* clang-format off */
#define PAYLOADS(X) \
	X("getstatus",         OOB "getstatus") \
	X("getinfo",           OOB "getinfo xxx") \
	X("getchallenge",      OOB "getchallenge") \
	X("connect",           OOB "connect \"\\challenge\\1\\qport\\2\\protocol\\71\\name\\x\"") \
	X("rcon",              OOB "rcon x status") \
	X("netchan",           "\7\0\0\0\1\2" ZEROS_16 ZEROS_16) \
	X("qw-status",         OOB "status\n") \
	X("qw-getchallenge",   OOB "getchallenge\n") \
	X("q2-status",         OOB "status\n") \
	X("q2-info",           OOB "info 34") \
	X("q2-getchallenge",   OOB "getchallenge\n") \
	X("getservers",        OOB "getservers 68 empty full") \
	X("heartbeat",         OOB "heartbeat QuakeArena-1\n") \
	X("ccreq-server-info", "\x80\0\0\x0c\2" NQ_GAME) \
	X("ccreq-connect",     "\x80\0\0\x0c\1" NQ_GAME) \
	X("dtls-hello",        DTLS_HELLO)

static const struct payload {
	const char *name;
	const char *bytes;
	size_t size;
} payloads[] = {
#define AS_ROW(name, literal) { name, literal, sizeof(literal) - 1 },
	PAYLOADS(AS_ROW)
#undef AS_ROW
};
/* clang-format on */

static inline const struct payload *payload_find(const char *name)
{
	for (size_t i = 0; i < sizeof(payloads) / sizeof(*payloads); i++)
		if (!strcmp(payloads[i].name, name))
			return &payloads[i];
	return NULL;
}

#endif /* PAYLOAD_H */
