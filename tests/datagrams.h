/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * datagrams.h - the whole UDP datagrams of a capture of plain Ethernet, for tests that
 * must not lean on what they test. Fragments and whatever else are left out.
 */
#ifndef DATAGRAMS_H
#define DATAGRAMS_H

#include <arpa/inet.h>
#include <linux/types.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEN_FRAME_MAX 65536

struct seen {
	const __u8 *payload;
	size_t n;
	__u16 sport;
	__u16 dport;
	char from[INET6_ADDRSTRLEN];
	char to[INET6_ADDRSTRLEN];
};

static inline bool seen_parse(const __u8 *frame, size_t n, struct seen *ret)
{
	size_t at = sizeof(struct ether_header) + sizeof(struct ip6_hdr);
	const struct ether_header *eth = (const void *)frame;
	const struct udphdr *udp;

	if (n < sizeof(*eth) + sizeof(struct iphdr) + sizeof(*udp))
		return false;
	if (ntohs(eth->ether_type) == ETHERTYPE_IP) {
		const struct iphdr *ip = (const void *)(eth + 1);

		if (ip->protocol != IPPROTO_UDP || ntohs(ip->frag_off) & 0x3fff)
			return false;
		inet_ntop(AF_INET, &ip->saddr, ret->from, sizeof(ret->from));
		inet_ntop(AF_INET, &ip->daddr, ret->to, sizeof(ret->to));
		at = sizeof(*eth) + ip->ihl * 4;
	} else if (ntohs(eth->ether_type) == ETHERTYPE_IPV6) {
		const struct ip6_hdr *ip = (const void *)(eth + 1);

		if (n < at + sizeof(*udp) || ip->ip6_nxt != IPPROTO_UDP)
			return false;
		inet_ntop(AF_INET6, &ip->ip6_src, ret->from, sizeof(ret->from));
		inet_ntop(AF_INET6, &ip->ip6_dst, ret->to, sizeof(ret->to));
	} else {
		return false;
	}
	if (n < at + sizeof(*udp))
		return false;
	udp = (const void *)(frame + at);
	at += sizeof(*udp);
	ret->sport = ntohs(udp->source);
	ret->dport = ntohs(udp->dest);
	ret->n = ntohs(udp->len) - sizeof(*udp);
	ret->payload = frame + at;
	return at + ret->n <= n;
}

/* Calls @each for every datagram of @path. -1: no such file, or no capture. */
static inline int seen_each(const char *path,
			    void (*each)(const struct seen *seen, void *context),
			    void *context)
{
	char error[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *header;
	pcap_t *pcap = pcap_open_offline(path, error);
	const __u8 *frame;

	if (!pcap)
		return -1;
	while (pcap_next_ex(pcap, &header, &frame) == 1) {
		/* Two bytes in, so that the IP header is aligned. */
		static _Alignas(8) __u8 room[2 + SEEN_FRAME_MAX];
		struct seen seen;

		if (header->caplen > SEEN_FRAME_MAX)
			continue;
		memcpy(room + 2, frame, header->caplen);
		if (seen_parse(room + 2, header->caplen, &seen))
			each(&seen, context);
	}
	pcap_close(pcap);
	return 0;
}

#endif /* DATAGRAMS_H */
