/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kern_proof.h - a client whose address has to be proven, in the kernel's eyes: what it
 * sends, what comes out of the program, and whether that is a datagram at all. Lengths
 * and checksums are worked out here again, octet by octet. Included once by a program.
 */
#ifndef KERN_PROOF_H
#define KERN_PROOF_H

#include "kern/kern_game.h"

struct said {
	int action;
	size_t n; /* of the frame, and before it of what was sent */
	size_t sent_n;
	__u8 frame[FRAME_MAX];
	__u8 sent[FRAME_MAX];
	size_t offset; /* of the payload */
	size_t length;
	const char *text; /* the payload, with a NUL behind it */
	char copy[FRAME_MAX];
};

/* How a datagram is wrapped: all of it has to work for each text. */
static const struct frame_spec wraps[] = {
	{ .ipv6 = false },
	{ .ipv6 = true },
	{ .tags = { ETH_P_8021Q } },
	{ .tags = { ETH_P_8021AD, ETH_P_8021Q } },
	{ .ipv6 = true, .tags = { ETH_P_8021Q } },
	{ .ipv6 = true, .tags = { ETH_P_8021AD, ETH_P_8021Q } },
	{ .ipv6 = false, .padding = 30 },
};

static inline __u16 word_at(const __u8 *at)
{
	return (__u16)(at[0] << 8 | at[1]);
}

/* The sum of all 16-bit words, with @more: 0xffff if a checksum among them is right. */
static inline __u32 words_sum(const __u8 *at, size_t n, __u32 more)
{
	for (size_t i = 0; i < n; i++)
		more += (__u32)at[i] << (i % 2 ? 0 : 8);
	while (more >> 16)
		more = (more & 0xffff) + (more >> 16);
	return more;
}

/* Find the payload in @s->frame; every length and checksum in front of it is right. */
static inline void said_parse(struct said *s)
{
	const __u8 *ip, *udp;
	size_t at = 12, header;

	while (word_at(s->frame + at) == ETH_P_8021Q ||
	       word_at(s->frame + at) == ETH_P_8021AD)
		at += 4;
	ip = s->frame + at + 2;
	if (word_at(s->frame + at) == ETH_P_IP) {
		assert_int_equal(ip[0], 0x45);
		assert_int_equal(ip[9], 17);
		assert_int_equal(words_sum(ip, 20, 0), 0xffff);
		header = 20;
		s->length = word_at(ip + 2) - 28u;
	} else {
		assert_int_equal(word_at(s->frame + at), ETH_P_IPV6);
		assert_int_equal(ip[0] >> 4, 6);
		assert_int_equal(ip[6], 17);
		header = 40;
		s->length = word_at(ip + 4) - 8u;
	}
	udp = ip + header;
	s->offset = (size_t)(udp + 8 - s->frame);
	assert_true(s->offset + s->length <= s->n);
	assert_int_equal(word_at(udp + 4), s->length + 8);
	assert_int_not_equal(word_at(udp + 6), 0);
	header = header == 20 ? 8 : 32; /* of both addresses */
	assert_int_equal(words_sum(udp - header, header + 8 + s->length,
				   17 + (__u32)s->length + 8),
			 0xffff);
	memcpy(s->copy, s->frame + s->offset, s->length);
	s->copy[s->length] = '\0';
	s->text = s->copy;
}

/* What is sent has the checksum that frame_build() leaves away. */
static inline void frame_check(__u8 *frame, bool ipv6, const struct frame_spec *spec)
{
	size_t offset = 14 + (ipv6 ? 40u : 20u), address = ipv6 ? 32 : 8, n = 8 + spec->n;
	__u32 sum;
	__u8 *udp;

	for (int i = 0; i < FRAME_TAGS && spec->tags[i]; i++)
		offset += 4;
	if (spec->options || spec->ext_count)
		return;
	udp = frame + offset;
	sum = words_sum(udp - address, address + n, 17 + (__u32)n) ^ 0xffff;
	udp[6] = (__u8)(sum >> 8);
	udp[7] = (__u8)sum;
}

static inline void say_frame(struct said *ret)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = ret->sent,
		    .data_size_in = (__u32)ret->sent_n, .data_out = ret->frame,
		    .data_size_out = FRAME_MAX, .repeat = 1);

	assert_int_equal(bpf_prog_test_run_opts(kern.program, &run), 0);
	ret->action = (int)run.retval;
	ret->n = run.data_size_out;
}

/* What the program makes of @payload, wrapped as @wrap. */
static inline void say(const struct frame_spec *wrap, const char *payload, size_t n,
		       struct said *ret)
{
	struct frame_spec spec = *wrap;

	if (!spec.sport)
		spec.sport = HERE;
	spec.payload = payload;
	spec.n = n;
	ret->sent_n = frame_build(&spec, ret->sent);
	frame_check(ret->sent, spec.ipv6, &spec);
	say_frame(ret);
}

static inline size_t on_wire(size_t n)
{
	return (n < 60 ? 60 : n) + 24;
}

/* An answer: to whom asked, by the way it came, and no longer than @more over it. */
static inline void assert_answer(struct said *s, size_t more)
{
	const __u8 *was = s->sent, *is = s->frame;
	size_t at = 12, address;

	assert_int_equal(s->action, XDP_TX);
	said_parse(s);
	assert_true(on_wire(s->n) <= on_wire(s->sent_n) + more);
	assert_memory_equal(is, was + 6, 6);
	assert_memory_equal(is + 6, was, 6);
	while (word_at(is + at) == ETH_P_8021Q || word_at(is + at) == ETH_P_8021AD)
		at += 4;
	assert_memory_equal(is + 12, was + 12, at + 2 - 12);
	address = word_at(is + at) == ETH_P_IP ? 4 : 16;
	at = s->offset - 8 - 2 * address;
	assert_memory_equal(is + at, was + at + address, address);
	assert_memory_equal(is + at + address, was + at, address);
	at = s->offset - 8;
	assert_memory_equal(is + at, was + at + 2, 2);
	assert_memory_equal(is + at + 2, was + at, 2);
	/* Nothing of what was sent is left behind the text. */
	for (at = s->offset + s->length; at < s->n; at++)
		assert_int_equal(is[at], 0);
}

/* It goes on to the server: the same headers, and @n octets of @text. */
static inline void assert_turned(struct said *s, const char *text, size_t n)
{
	size_t address;

	assert_int_equal(s->action, XDP_PASS);
	said_parse(s);
	assert_int_equal(s->length, n);
	assert_memory_equal(s->text, text, n);
	address = s->offset - 8 - 2 * (s->frame[s->offset - 28] == 0x45 ? 4 : 16);
	assert_memory_equal(s->frame, s->sent, 14);
	assert_memory_equal(s->frame + address, s->sent + address,
			    s->offset - 4 - address);
}

/* What was counted for @kind and @reason in slot 0. */
static inline struct counter counter_of(enum direction direction, enum wire_kind kind,
					enum reason reason)
{
	static struct counters sums;

	kern_sum_way(&kern, 0, direction, &sums);
	return sums.by[kind][reason];
}

/* A service on which all strangers have to prove themselves, and the keys for it. */
static inline void demand(enum wire_family family, enum validation when)
{
	struct service s = kern_open_service(family);

	s.validation = (__u8)when;
	kern_service(&kern, 0, 0, &s);
	kern_port(&kern, 0, PORT, 0, false);
	kern.live->validation.keys[0] = (struct host_keys){ .state = KEYS_NONE };
	kern.live->validation.secret = (struct cookie_secret){ {
		{ 0x0706050403020100, 0x0f0e0d0c0b0a0908 },
		{ 0x5851f42d4c957f2d, 0x14057b7ef767814f },
	} };
}

#endif /* KERN_PROOF_H */
