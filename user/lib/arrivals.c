// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * arrivals.c - see arrivals.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/arrivals.h"

#define QUEUE_BYTES	     65536
#define SHOWN_BYTES	     64 /* of the IP packet: ports lie within for up to 40 of options */

#define STATEMENT(code_, k_) ((struct sock_filter){ .code = (code_), .k = (__u32)(k_) })
#define JUMP(k_, yes, no) \
	((struct sock_filter){ BPF_JMP | BPF_JEQ | BPF_K, (yes), (no), (__u32)(k_) })
#define ANCILLARY(what) (SKF_AD_OFF + (what))

int arrivals_open(void)
{
	const int on = 1, room = QUEUE_BYTES;
	/* No protocol: it is not hooked in. */
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	/* Since Linux 4.20; or what leaves is copied for us, only to be passed over. */
	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
	return fd;
}

/* Leave the destination port in A, or end with nothing: jumps are relative. */
static size_t filter_head(struct sock_filter *f, const int *skipped, size_t count)
{
	size_t n = 0;

	/* Broadcasts and frames for others are none of this host's. */
	f[n++] = STATEMENT(BPF_LD | BPF_W | BPF_ABS, ANCILLARY(SKF_AD_PKTTYPE));
	f[n++] = JUMP(PACKET_HOST, 1, 0);
	f[n++] = STATEMENT(BPF_RET | BPF_K, 0);
	f[n++] = STATEMENT(BPF_LD | BPF_W | BPF_ABS, ANCILLARY(SKF_AD_IFINDEX));
	for (size_t i = 0; i < count; i++) {
		f[n++] = JUMP(skipped[i], 0, 1);
		f[n++] = STATEMENT(BPF_RET | BPF_K, 0);
	}
	f[n++] = STATEMENT(BPF_LD | BPF_H | BPF_ABS, ANCILLARY(SKF_AD_PROTOCOL));
	f[n++] = JUMP(ETH_P_IPV6, 8, 0);
	f[n++] = JUMP(ETH_P_IP, 0, 11);
	f[n++] = STATEMENT(BPF_LD | BPF_B | BPF_ABS, 9);
	f[n++] = JUMP(IPPROTO_UDP, 0, 9);
	f[n++] = STATEMENT(BPF_LD | BPF_H | BPF_ABS, 6);
	/* No later fragment: it has no ports. */
	f[n++] = (struct sock_filter){ BPF_JMP | BPF_JSET | BPF_K, 7, 0, 0x1fff };
	f[n++] = STATEMENT(BPF_LDX | BPF_B | BPF_MSH, 0);
	f[n++] = STATEMENT(BPF_LD | BPF_H | BPF_IND, 2);
	f[n++] = STATEMENT(BPF_JMP | BPF_JA, 5);
	f[n++] = STATEMENT(BPF_LD | BPF_B | BPF_ABS, 6);
	f[n++] = JUMP(IPPROTO_UDP, 0, 2);
	f[n++] = STATEMENT(BPF_LD | BPF_H | BPF_ABS, 42);
	f[n++] = STATEMENT(BPF_JMP | BPF_JA, 1);
	f[n++] = STATEMENT(BPF_RET | BPF_K, 0);
	return n;
}

int arrivals_listen(int fd, const __u16 *ports, size_t port_count, const int *skipped,
		    size_t skipped_count)
{
	static struct sock_filter filter[2 * (ARRIVALS_PORTS + ARRIVALS_SKIPPED) + 32];
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(ETH_P_ALL) };
	struct sock_fprog program = { .filter = filter };
	struct arrival old;
	size_t n;

	if (port_count > ARRIVALS_PORTS || skipped_count > ARRIVALS_SKIPPED)
		return -E2BIG;
	n = filter_head(filter, skipped, skipped_count);
	for (size_t i = 0; i < port_count; i++) {
		filter[n++] = JUMP(ports[i], 0, 1);
		filter[n++] = STATEMENT(BPF_RET | BPF_K, SHOWN_BYTES);
	}
	filter[n++] = STATEMENT(BPF_RET | BPF_K, 0);
	program.len = (unsigned short)n;
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ||
	    bind(fd, (const struct sockaddr *)&at, sizeof(at)))
		return -errno;
	for (int i = 0; i < QUEUE_BYTES / SHOWN_BYTES && arrivals_next(fd, &old); i++)
		;
	return 0;
}

/* Read an IP packet that the filter has let pass, of which @n bytes are there. */
static int arrival_read(const __u8 *packet, size_t n, struct arrival *ret)
{
	size_t ports = (packet[0] & 15u) * 4u;
	__be16 port;

	memset(ret->to, 0, sizeof(ret->to));
	if (packet[0] >> 4 == 6) {
		ports = 40;
		memcpy(ret->to, packet + 24, sizeof(ret->to));
	} else {
		ret->to[2] = htonl(0xffff);
		memcpy(&ret->to[3], packet + 16, sizeof(ret->to[3]));
	}
	if (ports + 4 > n)
		return 0;
	memcpy(&port, packet + ports + 2, sizeof(port));
	ret->port = ntohs(port);
	return 1;
}

int arrivals_next(int fd, struct arrival *ret)
{
	__u8 packet[SHOWN_BYTES] = { 0 };
	struct sockaddr_ll from = { 0 };
	socklen_t size = sizeof(from);
	ssize_t n;

	while ((n = recvfrom(fd, packet, sizeof(packet), MSG_DONTWAIT,
			     (struct sockaddr *)&from, &size)) >= 0) {
		ret->ifindex = from.sll_ifindex;
		size = sizeof(from);
		if (n > 0 && from.sll_pkttype == PACKET_HOST &&
		    arrival_read(packet, (size_t)n, ret))
			return 1;
	}
	return 0;
}
