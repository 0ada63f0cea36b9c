/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * floodframe.h - floodgen's options, and the template frame made from them. Here are
 * the refusals: no interface but a veth, no address outside the private ranges.
 */
#ifndef FLOODFRAME_H
#define FLOODFRAME_H

#include <arpa/inet.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/sockios.h>
#include <linux/udp.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "flood.h"
#include "payload.h"

enum {
	VLANS_MAX = 2
};

struct options {
	const char *iface;
	const char *from;
	const char *to;
	const char *mac;
	struct payload payload;
	unsigned long long packets;
	unsigned long long rate;
	unsigned int seconds;
	unsigned int sources;
	unsigned int port;
	unsigned int source_port; /* 0: any of 16384 */
	unsigned int vlans[VLANS_MAX];
	unsigned int vlan_count;
	int cpu;
	bool af_packet;
	bool json;
};

struct frame {
	unsigned char bytes[FLOOD_FRAME_MAX];
	struct flood_plan plan;
};

static int refuse(const char *what, const char *value)
{
	fprintf(stderr, "floodgen: %s: '%s'\n", what, value ? value : "(none)");
	return -EINVAL;
}

static __u32 sum16(const void *data, size_t size)
{
	const unsigned char *byte = data;
	__u32 sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += i % 2 ? byte[i] : byte[i] << 8;
	return (sum & 0xffff) + (sum >> 16);
}

/* Only veths: whatever is typed, this program cannot reach a real wire. */
static int iface_check(const char *iface, unsigned char *ret_mac)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq request = { .ifr_data = (void *)&info };
	int fd, err = -ENODEV;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", iface);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || ioctl(fd, SIOCETHTOOL, &request) ||
	    strcmp(info.driver, "veth") != 0)
		goto out;
	if (ioctl(fd, SIOCGIFHWADDR, &request))
		goto out;
	memcpy(ret_mac, request.ifr_hwaddr.sa_data, ETH_ALEN);
	err = 0;
out:
	if (fd >= 0)
		close(fd);
	return err ? refuse("not a veth of this namespace", iface) : 0;
}

static int link_header(const struct options *o, bool v6, unsigned char *frame)
{
	const struct ether_addr *mac = ether_aton(o->mac);
	size_t at = 2 * ETH_ALEN;
	__be16 word;

	if (!mac)
		return refuse("not a MAC address", o->mac);
	memcpy(frame, mac, ETH_ALEN);
	if (iface_check(o->iface, frame + ETH_ALEN))
		return -EINVAL;
	for (unsigned int i = 0; i < o->vlan_count; i++, at += 4) {
		word = htons(i + 1 < o->vlan_count ? ETH_P_8021AD : ETH_P_8021Q);
		memcpy(frame + at, &word, 2);
		word = htons(o->vlans[i]);
		memcpy(frame + at + 2, &word, 2);
	}
	word = htons(v6 ? ETH_P_IPV6 : ETH_P_IP);
	memcpy(frame + at, &word, 2);
	return at + 2;
}

/* The sums leave out what flood_source() adds: the address word, the source port. */
static int network_header4(const struct options *o, size_t at, struct frame *f)
{
	struct iphdr ip = { .version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP };

	if (inet_pton(AF_INET, o->from, &ip.saddr) != 1 ||
	    (ntohl(ip.saddr) + o->sources - 1) >> 24 != 10 || ntohl(ip.saddr) >> 24 != 10)
		return refuse("sources are not all in 10.0.0.0/8", o->from);
	if (inet_pton(AF_INET, o->to, &ip.daddr) != 1 || ntohl(ip.daddr) >> 24 != 10)
		return refuse("not in 10.0.0.0/8", o->to);
	f->plan.word = ntohl(ip.saddr);
	f->plan.word_at = at + offsetof(struct iphdr, saddr);
	f->plan.ip_sum_at = at + offsetof(struct iphdr, check);
	ip.saddr = 0;
	ip.tot_len = htons(sizeof(ip) + sizeof(struct udphdr) + o->payload.size);
	f->plan.ip_sum = sum16(&ip, sizeof(ip));
	f->plan.udp_sum = sum16(&ip.daddr, sizeof(ip.daddr));
	memcpy(f->bytes + at, &ip, sizeof(ip));
	return sizeof(ip);
}

static int network_header6(const struct options *o, size_t at, struct frame *f)
{
	struct ipv6hdr ip = { .version = 6, .hop_limit = 64, .nexthdr = IPPROTO_UDP };
	__u32 word;

	if (inet_pton(AF_INET6, o->from, &ip.saddr) != 1 || ip.saddr.s6_addr[0] != 0xfd)
		return refuse("sources are not all in fd00::/8", o->from);
	if (inet_pton(AF_INET6, o->to, &ip.daddr) != 1 || ip.daddr.s6_addr[0] != 0xfd)
		return refuse("not in fd00::/8", o->to);
	memcpy(&word, ip.saddr.s6_addr + 4, sizeof(word));
	f->plan.word = ntohl(word);
	if (f->plan.word + (o->sources - 1) < f->plan.word)
		return refuse("sources run out of the address", o->from);
	memset(ip.saddr.s6_addr + 4, 0, sizeof(word));
	f->plan.word_at = at + offsetof(struct ipv6hdr, saddr) + 4;
	ip.payload_len = htons(sizeof(struct udphdr) + o->payload.size);
	f->plan.udp_sum = sum16(&ip.saddr, 2 * sizeof(ip.saddr));
	memcpy(f->bytes + at, &ip, sizeof(ip));
	return sizeof(ip);
}

static int frame_build(const struct options *o, struct frame *f)
{
	bool v6 = strchr(o->to, ':');
	struct udphdr udp = { .dest = htons(o->port) };
	struct flood_plan *plan = &f->plan;
	int at = link_header(o, v6, f->bytes), size;
	unsigned int bits = 0;

	if (at < 0)
		return at;
	size = v6 ? network_header6(o, at, f) : network_header4(o, at, f);
	if (size < 0)
		return size;
	udp.len = htons(sizeof(udp) + o->payload.size);
	plan->udp_at = at + size;
	plan->udp_sum += sum16(&udp, sizeof(udp)) +
			 sum16(o->payload.bytes, o->payload.size) + IPPROTO_UDP +
			 ntohs(udp.len);
	plan->udp_sum = (plan->udp_sum & 0xffff) + (plan->udp_sum >> 16);
	memcpy(f->bytes + plan->udp_at, &udp, sizeof(udp));
	memcpy(f->bytes + plan->udp_at + sizeof(udp), o->payload.bytes, o->payload.size);
	plan->size = plan->udp_at + sizeof(udp) + o->payload.size;

	memcpy(plan->head, f->bytes, sizeof(plan->head));
	while ((1u << bits) < o->sources)
		bits++;
	plan->sources = o->sources;
	plan->mask = (1u << bits) - 1;
	plan->fold = (bits + 1) / 2;
	plan->port = o->source_port ? o->source_port : 16384;
	plan->port_mask = o->source_port ? 0 : 16383;
	plan->ifindex = if_nametoindex(o->iface);
	return 0;
}

#endif /* FLOODFRAME_H */
