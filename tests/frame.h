/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame.h - Ethernet frames with a UDP datagram in them, honest or not.
 *
 * All members of struct frame_spec may stay zero: an untagged IPv4 datagram from
 * 192.0.2.1:1234 to 198.51.100.1:27960 without payload. A length that is not zero is a
 * lie: what the header says, whatever is there.
 */
#ifndef FRAME_H
#define FRAME_H

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_MAX     4096
#define FRAME_TAGS    6
#define FRAME_EXTS    24

#define FRAME_SAYS(n) (0x10000 | (n)) /* a header's length field: this number */

struct frame_spec {
	__u16 tags[FRAME_TAGS]; /* ethertypes: ETH_P_8021Q or so; 0: no more */
	__u16 ethertype; /* 0: as @ipv6 says */
	bool ipv6;
	const char *from; /* 0: documentation addresses */
	const char *to;
	__u16 sport;
	__u16 dport;
	__u8 version; /* 0: the right one */
	__u8 ihl; /* 0: as @options says */
	__u8 options; /* IPv4: 32-bit words of "no operation" */
	__u8 protocol; /* 0: UDP */
	__u16 offset; /* of the fragment, in units of 8 octets */
	bool more; /* fragments follow */
	bool fragment_first; /* IPv6: the fragment header stands before @exts */
	bool fragment; /* IPv6: there is a fragment header */
	__u8 exts[FRAME_EXTS]; /* IPv6: kinds of extension headers; see frame_ext() */
	__u8 ext_count;
	__u8 ext_words; /* each is 8 + 8 * this octets long (AH: 8 + 4 * this) */
	const char *payload;
	size_t n;
	int ip_length; /* IPv4: total, IPv6: payload; see FRAME_SAYS() */
	int udp_length;
	size_t padding; /* octets behind the IP packet */
};

static inline __u8 *frame_ext(__u8 *at, __u8 kind, __u8 next, const struct frame_spec *s)
{
	size_t n = 8 + (kind == 51 ? 4 : 8) * s->ext_words;

	memset(at, 0, n);
	at[0] = next;
	if (kind == 44) {
		__u16 field = htons((__u16)(s->offset << 3 | s->more));

		memcpy(at + 2, &field, 2);
		return at + 8;
	}
	at[1] = s->ext_words;
	if (kind == 0 || kind == 60) { /* one PadN option that fills it */
		at[2] = 1;
		at[3] = (__u8)(n - 4 > 255 ? 255 : n - 4);
	}
	return at + n;
}

static inline __be16 frame_length(int said, size_t real)
{
	return htons((__u16)(said ? (size_t)said : real));
}

static inline __u8 *frame_udp(__u8 *at, const struct frame_spec *s)
{
	struct udphdr udp = {
		.source = htons(s->sport ? s->sport : 1234),
		.dest = htons(s->dport ? s->dport : 27960),
		.len = frame_length(s->udp_length, sizeof(udp) + s->n),
	};

	memcpy(at, &udp, sizeof(udp));
	if (s->n)
		memcpy(at + sizeof(udp), s->payload, s->n);
	return at + sizeof(udp) + s->n;
}

static inline __u16 frame_checksum(const __u8 *bytes, size_t n)
{
	__u32 sum = 0;

	for (size_t i = 0; i + 1 < n; i += 2)
		sum += (__u32)(bytes[i] << 8 | bytes[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((__u16)~sum);
}

static inline __u8 *frame_ipv4(__u8 *at, const struct frame_spec *s)
{
	size_t header = sizeof(struct iphdr) + 4 * s->options;
	__u8 *end = frame_udp(at + header, s);
	struct iphdr ip = {
		.version = s->version ? s->version : 4,
		.ihl = (s->ihl ? s->ihl : header / 4) & 15,
		.tot_len = frame_length(s->ip_length, (size_t)(end - at)),
		.frag_off = htons((__u16)(s->offset | (s->more ? 0x2000 : 0))),
		.ttl = 64,
		.protocol = s->protocol ? s->protocol : 17,
	};

	if (inet_pton(AF_INET, s->from ? s->from : "192.0.2.1", &ip.saddr) != 1 ||
	    inet_pton(AF_INET, s->to ? s->to : "198.51.100.1", &ip.daddr) != 1)
		abort();
	memset(at + sizeof(ip), 1, header - sizeof(ip));
	memcpy(at, &ip, sizeof(ip));
	ip.check = frame_checksum(at, header);
	memcpy(at, &ip, sizeof(ip));
	return end;
}

static inline __u8 *frame_ipv6(__u8 *at, const struct frame_spec *s)
{
	__u8 chain[FRAME_EXTS + 2], count = 0, *end;
	struct ipv6hdr ip = { .version = s->version ? s->version & 15 : 6,
			      .hop_limit = 64 };

	if (s->fragment && s->fragment_first)
		chain[count++] = 44;
	for (int i = 0; i < s->ext_count; i++)
		chain[count++] = s->exts[i];
	if (s->fragment && !s->fragment_first)
		chain[count++] = 44;
	chain[count] = s->protocol ? s->protocol : 17;

	end = at + sizeof(ip);
	for (int i = 0; i < count; i++)
		end = frame_ext(end, chain[i], chain[i + 1], s);
	end = frame_udp(end, s);

	ip.nexthdr = chain[0];
	ip.payload_len = frame_length(s->ip_length, (size_t)(end - at) - sizeof(ip));
	if (inet_pton(AF_INET6, s->from ? s->from : "2001:db8:1::1", &ip.saddr) != 1 ||
	    inet_pton(AF_INET6, s->to ? s->to : "2001:db8:2::1", &ip.daddr) != 1)
		abort();
	memcpy(at, &ip, sizeof(ip));
	return end;
}

/* Into @out of FRAME_MAX octets. Returns how long it is. */
static inline size_t frame_build(const struct frame_spec *s, __u8 *out)
{
	static const __u8 macs[12] = { 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1 };
	__u16 word = htons(s->ethertype ? s->ethertype : s->ipv6 ? ETH_P_IPV6 : ETH_P_IP);
	__u8 *at = out + sizeof(macs);

	memcpy(out, macs, sizeof(macs));
	for (int i = 0; i < FRAME_TAGS && s->tags[i]; i++, at += 4) {
		__u16 tag[2] = { htons(s->tags[i]), 0 };

		memcpy(at, tag, sizeof(tag));
	}
	memcpy(at, &word, sizeof(word));
	at = s->ipv6 ? frame_ipv6(at + 2, s) : frame_ipv4(at + 2, s);
	memset(at, 0xff, s->padding);
	return (size_t)(at + s->padding - out);
}

#endif /* FRAME_H */
