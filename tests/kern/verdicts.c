// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * verdicts.c - what the shield, set up as it ships, makes of some 130,000 datagrams:
 * a line each, with family, kind, reason and action. verdicts.sh compares two versions of
 * the shield by it. The same SEED= sends the same datagrams, whatever the shield says to
 * them, but for the cookies that clients return.
 *
 * Uses of the test headers only what is in older versions, too.
 */
#include <sched.h>

#include "config/config.h"
#include "kern/kern_answers.h"
#include "mutations.h"

/* Older versions have other names for what is used here. */
#ifdef TALLY_ROWS
#define counters tallies
#endif
#ifdef PROVEN_BITS
#define VALIDATION_UNDER_LOAD PROOF_PRESSURE
#define validation	      proof
#endif
#ifdef TEMPLATE_FORMS
#define CACHE_UNDER_LOAD ANSWERS_PRESSURE
#define cache		 answers
#endif

#define CLIENTS 64 /* addresses that come again; all others come once */
#define STEADY	8 /* of these, that ask once a second, as browsers do */
#define EACH_MS 7 /* between two datagrams, about */

struct peer {
	char address[40];
	bool ipv6;
	__u16 port;
};

static const struct {
	const char *text;
	size_t n;
} questions[] = {
	{ BYTES(OOB "getstatus") },
	{ BYTES(OOB "getinfo xxx") },
	{ BYTES(OOB "getchallenge") },
	{ BYTES(OOB "getchallenge 1234567890 Quake3Arena") },
	{ BYTES(OOB "getchallenge\n") },
	{ BYTES(OOB "connect \"\\qport\\4660\\challenge\\1234567890\"") },
	{ BYTES(OOB "connect 28 1234 1234567890 \"\\name\\x\"\n") },
	{ BYTES(OOB "rcon secret status") },
	{ BYTES(OOB "status 23\n") },
	{ BYTES(OOB "status\n") },
	{ BYTES(OOB "info 34\n") },
	{ BYTES(OOB "ping\n") },
	{ BYTES("\x80\0\0\x0c\1QUAKE\0\3") },
	{ BYTES("\x80\0\0\x0c\2QUAKE\0\3") },
	{ BYTES("\x16\xfe\xfd\0\0\0\0\0\0\0\0\0\x36\1\0\0\x2a\0\0\0\0\0\0\0\x2a\xfe\xfd"
		"thirty-two octets of randomness!\0\0\0\2\0\0\1\0") },
};

static unsigned int random_state, number;

static unsigned int below(unsigned int n)
{
	return (unsigned int)rand_r(&random_state) % n;
}

static void peer_draw(struct peer *p, unsigned int which)
{
	p->ipv6 = which % 4 == 3;
	p->port = (__u16)(1024 + which * 7 % 50000);
	if (p->ipv6)
		snprintf(p->address, sizeof(p->address), "2001:db8:%x:%x::1",
			 which >> 16 & 0xffff, which & 0xffff);
	else
		snprintf(p->address, sizeof(p->address), "10.%u.%u.%u", which >> 16 & 255,
			 which >> 8 & 255, which & 255);
}

/* The one counter that moved. @returned: "r" of what a client returns, or "". */
static void print_verdict(enum wire_family family, const char *returned)
{
	static struct counters was, now;

	kern_sum(&kern, 0, &now);
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		for (int reason = 0; reason < REASON_COUNT; reason++)
			if (now.by[kind][reason].packets > was.by[kind][reason].packets)
				printf("%u%s %s %s %s %d\n", number, returned,
				       family_name((int)family), kind_name(kind),
				       reason_name(reason), say_.action);
	}
	was = now;
}

static void hear(enum wire_family family, const struct peer *from, const void *payload,
		 size_t n, const char *returned)
{
	struct frame_spec s = { .from = from->address,
				.ipv6 = from->ipv6,
				.sport = from->port };

	if (number % 16 == 0)
		s.tags[0] = ETH_P_8021Q;
	say(&s, payload, n, &say_);
	print_verdict(family, returned);
}

/* What a client returns to a word or number that asks for proof, as far as all families'
 * clients do so at once. */
static void prove(enum wire_family family, const struct peer *from)
{
	char text[FRAME_MAX];
	size_t n;

	if (say_.action != XDP_TX)
		return;
	said_parse(&say_);
	if (say_.length < 10 || memcmp(say_.text, OOB "echo ", 9) != 0)
		return;
	n = say_.length - 9;
	memcpy(text, OOB, 4);
	memcpy(text + 4, say_.text + 9, n);
	hear(family, from, text, n + 4, "r");
}

static void step(enum wire_family family, struct peer *clients)
{
	unsigned int which = below(2 * CLIENTS);
	struct mutation drawn;
	struct peer stranger;
	const struct peer *from = &clients[which % CLIENTS];

	if (which >= CLIENTS) {
		peer_draw(&stranger, CLIENTS + below(1u << 24));
		from = &stranger;
	}
	kern.live->clock_ns += below(2 * EACH_MS) * 1000000ull;
	number++;
	if (!below(4)) {
		mutation_draw(&drawn);
		hear(family, from, drawn.bytes, drawn.n, "");
		return;
	}
	which = below(COUNT(questions));
	hear(family, from, questions[which].text, questions[which].n, "");
	if (below(2))
		prove(family, from);
}

static void family_steps(enum wire_family family, unsigned int rounds)
{
	struct peer clients[CLIENTS];
	__u64 due[STEADY];
	struct service s;

	memset(&s, 0, sizeof(s));
	config_service_defaults(family, &s);
	answers(family, CACHE_UNDER_LOAD);
	demand(family, VALIDATION_UNDER_LOAD);
	s.family = (__u8)family;
	s.active = 1;
	s.validation = VALIDATION_UNDER_LOAD;
	s.cache = CACHE_UNDER_LOAD;
	kern_service(&kern, 0, 0, &s);
	for (unsigned int i = 0; i < CLIENTS; i++)
		peer_draw(&clients[i], i);
	for (unsigned int i = 0; i < STEADY; i++)
		due[i] = kern.live->clock_ns + i * SECOND / STEADY;
	for (unsigned int i = 0; i < rounds; i++) {
		if (family == FAMILY_QUAKE3 && i % 256 == 0)
			learn_quake3();
		for (unsigned int one = 0; one < STEADY; one++) {
			if (kern.live->clock_ns < due[one])
				continue;
			due[one] += SECOND;
			number++;
			hear(family, &clients[one], questions[0].text, questions[0].n,
			     "");
		}
		step(family, clients);
	}
}

int main(void)
{
	const char *seed = getenv("SEED"), *rounds = getenv("ROUNDS");
	cpu_set_t first;

	/* What a processor remembers is remembered of all. */
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	if (kern_open(&kern)) {
		fputs("verdicts: not allowed to load BPF programs\n", stderr);
		return 1;
	}
	random_state = seed ? (unsigned int)strtoul(seed, NULL, 10) : 1;
	mutation_state = random_state;
	for (int family = 0; family < FAMILY_COUNT; family++)
		family_steps((enum wire_family)family,
			     rounds ? (unsigned int)strtoul(rounds, NULL, 10) : 20000);
	kern_close(&kern);
	return 0;
}
