// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_crowd.c - many clients behind one address (a LAN, a carrier's NAT) that join at
 * once, each as its engine does, with default limits and validation; a source that asks
 * for far more, and clients elsewhere that join beside it. What engines limit themselves
 * is left out.
 * stubs: shield_cache shield_joined
 */
#include "config/config.h"
#include "kern/kern_proof.h"

#define MS   1000000ull
#define STEP (10 * MS)
#define MANY 64
#define FROM "192.0.2.1"

static struct said say_;

static const struct dialect {
	const char *name;
	enum wire_family family;
	const char *request; /* with the number of the client */
	const char *connect; /* with its challenge, and the number of the client */
	const char *challenge; /* what the server says, with a number */
	const char *accepted;
	const char *begins; /* before a challenge */
	__u64 again_ms; /* how soon a client repeats itself */
} dialects[] = {
	{ "quakeworld", FAMILY_QUAKEWORLD, OOB "getchallenge\n",
	  OOB "connect 28 %2$u %1$s \"\\rate\\25000\\name\\x\"\n", OOB "c%u", OOB "j",
	  "c", 5000 },
	{ "quake2", FAMILY_QUAKE2, OOB "getchallenge\n",
	  OOB "connect 34 %2$u %1$s \"\\name\\maru\"\n", OOB "challenge %u",
	  OOB "client_connect", "challenge ", 3000 },
	{ "quake3", FAMILY_QUAKE3, OOB "getchallenge %u Quake3Arena",
	  OOB "connect \"\\challenge\\%1$s\\qport\\%2$u\\protocol\\71\"",
	  OOB "challengeResponse %u", OOB "connectResponse", "challengeResponse ", 3000 },
	{ "darkplaces", FAMILY_NETQUAKE, OOB "getchallenge",
	  OOB "connect\\protocol\\darkplaces 3\\protocols\\DP7 DP6\\challenge\\%1$s",
	  OOB "challenge %u", OOB "accept", "challenge ", 3000 },
};

struct client {
	__u64 next_ns; /* when it says something again */
	__u64 joined_ns; /* 0: not yet */
	char challenge[32]; /* "": none yet */
	__u16 port;
	const char *from;
};

/* What the server says leaves, to the client that asked. */
static bool server_says(const struct client *c, const char *text)
{
	link_.peer = c->from;
	link_.dport = c->port;
	link_.sport = PORT;
	return says(text, strlen(text));
}

static void client_says(const struct dialect *d, struct client *c, const char *text,
			__u64 begun);

/* Something has reached the client. */
static void client_hears(const struct dialect *d, struct client *c, const char *text,
			 __u64 begun)
{
	char token[64];

	if (!strncmp(text, OOB "echo ", 9)) {
		snprintf(token, sizeof(token), OOB "%s", text + 9);
		client_says(d, c, token, begun);
	} else if (!strncmp(text + 4, d->accepted + 4, strlen(d->accepted) - 4) &&
		   *c->challenge) {
		c->joined_ns = kern.live->clock_ns - begun;
	} else if (!strncmp(text + 4, d->begins, strlen(d->begins))) {
		snprintf(c->challenge, sizeof(c->challenge), "%s",
			 text + 4 + strlen(d->begins));
		c->next_ns = kern.live->clock_ns;
	}
}

static void server_hears(const struct dialect *d, struct client *c, const char *text,
			 __u64 begun)
{
	char reply[64];

	if (!strncmp(text + 4, "getchallenge", 12))
		snprintf(reply, sizeof(reply), d->challenge, 100000 + c->port);
	else if (!strncmp(text + 4, "connect", 7))
		snprintf(reply, sizeof(reply), "%s", d->accepted);
	else
		return;
	if (server_says(c, reply))
		client_hears(d, c, reply, begun);
}

static void client_says(const struct dialect *d, struct client *c, const char *text,
			__u64 begun)
{
	struct frame_spec spec = { .from = c->from, .sport = c->port };
	char heard[FRAME_MAX];

	say(&spec, text, strlen(text), &say_);
	if (say_.action != XDP_PASS && say_.action != XDP_TX)
		return;
	said_parse(&say_);
	snprintf(heard, sizeof(heard), "%s", say_.text);
	if (say_.action == XDP_TX)
		client_hears(d, c, heard, begun);
	else
		server_hears(d, c, heard, begun);
}

static void client_turn(const struct dialect *d, struct client *c, __u64 begun)
{
	char text[256];

	if (c->joined_ns || c->next_ns > kern.live->clock_ns)
		return;
	c->next_ns = kern.live->clock_ns + d->again_ms * MS;
	if (*c->challenge)
		snprintf(text, sizeof(text), d->connect, c->challenge, c->port);
	else
		snprintf(text, sizeof(text), d->request, c->port);
	client_says(d, c, text, begun);
}

static void serve_defaults(enum wire_family family)
{
	struct service s = { .family = (__u8)family, .active = 1 };

	demand(family, VALIDATION_UNDER_LOAD);
	config_service_defaults(family, &s);
	s.cache = CACHE_OFF;
	kern_service(&kern, 0, 0, &s);
	amplification(AMPLIFICATION_ALLOWANCE, AMPLIFICATION_REFILL_S);
	pass_time(1000 * SECOND);
}

/* When the last of @count clients has joined, in seconds; 0: not in two minutes. They
 * begin within a second. */
static double all_joined(const struct dialect *d, unsigned int count)
{
	static struct client clients[MANY];
	__u64 begun, last = 0;

	serve_defaults(d->family);
	begun = kern.live->clock_ns;
	for (unsigned int i = 0; i < count; i++)
		clients[i] = (struct client){ .from = FROM,
					      .port = (__u16)(20000 + i * 7),
					      .next_ns = begun + i * 389 % 1000 * MS };
	for (int step = 0; step < 12000; step++) {
		unsigned int joined = 0;

		for (unsigned int i = 0; i < count; i++) {
			client_turn(d, &clients[i], begun);
			joined += clients[i].joined_ns != 0;
			if (clients[i].joined_ns > last)
				last = clients[i].joined_ns;
		}
		if (joined == count)
			return (double)last / 1e9;
		pass_time(STEP);
	}
	return 0;
}

/* In seconds. QuakeWorld and Quake II have no limit of their own that is near to these.
 */
static void crowd_joins_within_seconds(void **state)
{
	static const struct {
		size_t dialect;
		unsigned int clients;
		double most;
	} rows[] = {
		{ 0, 32, 10 },
		{ 0, 64, 20 },
		{ 1, 32, 10 },
		{ 1, 64, 20 },
		/* ioquake3 itself lets 64 of an address ask for a challenge in 54 s. */
		{ 2, 16, 20 },
		{ 2, 64, 54 },
		/* DarkPlaces one each half second. */
		{ 3, 32, 32 },
		{ 3, 64, 40 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct dialect *d = &dialects[rows[i].dialect];
		double last = all_joined(d, rows[i].clients);

		print_message("%s: %u clients in %.1f s\n", d->name, rows[i].clients,
			      last);
		assert_true(last > 0 && last <= rows[i].most);
	}
}

/* One source asks a thousand times a second: clients elsewhere join as if it did not. */
static void one_source_leaves_half_to_others(void **state)
{
	static struct client clients[8];
	static const char *const from[] = { "203.0.113.7", "198.18.0.7" };

	(void)state;
	for (size_t d = 0; d < 2; d++) {
		__u64 begun, flood = 0;
		unsigned int joined = 0;

		serve_defaults(dialects[d].family);
		begun = kern.live->clock_ns;
		for (unsigned int i = 0; i < COUNT(clients); i++)
			clients[i] = (struct client){ .from = from[i % 2],
						      .port = (__u16)(30000 + i),
						      .next_ns = begun + 3 * SECOND };
		for (int step = 0; step < 900; step++) {
			for (int i = 0; i < 10; i++) {
				struct frame_spec one = { .from = FROM,
							  .sport = (__u16)(++flood) };

				say(&one, dialects[d].request,
				    strlen(dialects[d].request), &say_);
			}
			for (unsigned int i = 0; i < COUNT(clients); i++)
				client_turn(&dialects[d], &clients[i], begun);
			pass_time(STEP);
		}
		for (unsigned int i = 0; i < COUNT(clients); i++) {
			joined += clients[i].joined_ns != 0;
			assert_true(clients[i].joined_ns <= 4 * SECOND);
		}
		assert_int_equal(joined, COUNT(clients));
		/* And none of the flood's own questions has pressed the service. */
		assert_true(kern.live->validation.until_ns[0] <= begun);
	}
}

/* Where the operator names a limit of a source it is kept. */
static void limit_without_crowd_is_kept(void **state)
{
	struct service s;
	int passed = 0;

	(void)state;
	serve_defaults(FAMILY_QUAKEWORLD);
	s = kern.live->tables[0].services[0];
	s.budget[CLASS_CHALLENGE].crowd = 0;
	s.validation = VALIDATION_OFF;
	kern_service(&kern, 0, 0, &s);
	for (int i = 0; i < 20; i++) {
		struct frame_spec each = { .from = FROM, .sport = (__u16)(1000 + i) };

		say(&each, BYTES(OOB "getchallenge\n"), &say_);
		passed += say_.action == XDP_PASS;
	}
	assert_int_equal(passed, 3);
	pass_time(100 * SECOND);
	passed = 0;
	s.budget[CLASS_CHALLENGE].crowd = CROWD_SHIFT;
	kern_service(&kern, 0, 0, &s);
	for (int i = 0; i < 40; i++) {
		struct frame_spec each = { .from = FROM, .sport = (__u16)(1000 + i) };

		say(&each, BYTES(OOB "getchallenge\n"), &say_);
		passed += say_.action == XDP_PASS;
	}
	/* Half of 40, and one that is within the source's own limit. */
	assert_int_equal(passed, 21);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crowd_joins_within_seconds),
		cmocka_unit_test(one_source_leaves_half_to_others),
		cmocka_unit_test(limit_without_crowd_is_kept),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
