/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kern_answers.h - a service that answers from the kernel: what it has learnt, who is
 * known to it, and a flood. Included once by a program.
 */
#ifndef KERN_ANSWERS_H
#define KERN_ANSWERS_H

#include "cache/cache_request.h"
#include "kern/kern_proof.h"

#define INFO_HEAD   OOB "infoResponse\n\\game\\base\\challenge\\"
#define INFO_TAIL   "\\hostname\\lab\\mapname\\q3dm17\\gametype\\0"
#define STATUS	    OOB "statusResponse\n\\version\\x\n1 50 \"a\"\n22 48 \"bc\"\n"
#define SHORT_NONCE "abcDEF012"
#define ALLOWANCE   16384

static struct said say_;

/* What the server said to question @form with @nonce becomes what is answered. */
static inline void learn(enum wire_family family, size_t form, const char *nonce,
			 const char *reply, size_t n)
{
	struct cache_pair *pair = &kern.live->cache.entries[form];
	const struct cache_request *forms;
	size_t count;

	forms = cache_requests(family, &count);
	assert_true(form < count);
	assert_null(cache_entry_make(family, &forms[form], nonce, strlen(nonce), reply, n,
				     CACHE_TEXT, kern.live->clock_ns,
				     &pair->half[~pair->generation & 1]));
	pair->generation++;
}

static inline void learn_quake3(void)
{
	learn(FAMILY_QUAKE3, 0, SHORT_NONCE, BYTES(INFO_HEAD SHORT_NONCE INFO_TAIL));
	learn(FAMILY_QUAKE3, 3, "", BYTES(STATUS));
}

static inline void forget_recent(void)
{
	static const struct recent nobody;
	__u32 table = 0;

	assert_int_equal(bpf_map_update_elem(bpf_map__fd(kern.skel->maps.recent), &table,
					     &nobody, BPF_ANY),
			 0);
}

/* A service that has a budget for one question, and answers. */
static inline void answers(enum wire_family family, enum cache_mode when)
{
	struct service s = kern_open_service(family);
	static const struct reputation_table nobody;

	s.cache = (__u8)when;
	s.budget[CLASS_QUERY].service = kern_rate(1, 1);
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, PORT, 0, false);
	pass_time(1000 * SECOND);
	memset(kern.live->cache.entries, 0, 64 * sizeof(struct cache_pair));
	kern.live->cache.reputation = nobody;
	forget_recent();
	kern.live->cache.until_ns[0] = 0;
	kern.live->cache.cap = (struct cache_cap){ 0 };
	kern.live->lists = 0;
	kern.live->amplification = (struct amplification_limit){ 0 };
}

static inline __u64 net_of(const char *address)
{
	__be32 addr[4];

	kern_address(address, addr);
	return addr[0] ? (__u64)ntohl(addr[0]) << 32 | ntohl(addr[1]) : ntohl(addr[3]);
}

/* As if @address had asked on three quiet minutes, with 64 hops left. */
static inline void know(const char *address)
{
	__u32 minute = reputation_minute(kern.live->clock_ns);

	for (__u32 ago = 3; ago; ago--)
		reputation_note(&kern.live->cache.reputation, net_of(address), 64, 0,
				minute - ago, kern.live->keys);
}

static inline void know_both(void)
{
	know("192.0.2.1");
	know("2001:db8:1::1");
}

/* The budget is spent, by somebody else, never the same. */
static inline void flood(void)
{
	static unsigned int others;
	char address[20];
	struct frame_spec other = { .from = address };

	snprintf(address, sizeof(address), "10.%u.%u.%u", others >> 16, others >> 8 & 255,
		 others & 255);
	others++;
	for (int i = 0; i < 4; i++)
		say(&other, BYTES(OOB "getstatus"), &say_);
	assert_int_equal(say_.action, XDP_DROP);
}

static inline void assert_told(const char *text, size_t n)
{
	assert_answer(&say_, 2000);
	assert_int_equal(say_.length, n);
	assert_memory_equal(say_.text, text, n);
}

/* The network that the log of refused queries of slot 0 has for @reason; 0: none. */
static inline __u64 net_noted(enum reason reason)
{
	static struct refused_source at[64 * REFUSED_KEPT];
	size_t n = kern_refused(&kern, 0, CLASS_QUERY, at, COUNT(at));
	__u64 net = 0;

	for (size_t i = 0; i < n; i++)
		if (at[i].reason == reason)
			net = at[i].net;
	return net;
}

#endif /* KERN_ANSWERS_H */
