// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * delivered.c - see delivered.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include "lib/delivered.h"
#include "lib/util.h"

#define QUEUE_BYTES 1 /* the kernel takes its least: a few frames */

/* A frame counts if the filter returns one byte or more: it is queued, or lost. */
static int filter_put(int fd, const struct sock_filter *filter, unsigned short count)
{
	struct sock_fprog program = { count, (struct sock_filter *)filter };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program))
		       ? -errno
		       : 0;
}

static int listen_on(int fd, int ifindex, __u16 protocol)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(protocol),
				  .sll_ifindex = ifindex };

	return bind(fd, (const struct sockaddr *)&at, sizeof(at)) ? -errno : 0;
}

/* Read the kernel's count, which begins anew. */
static int count_take(int fd, __u64 *ret)
{
	struct tpacket_stats stats = { 0 };
	socklen_t size = sizeof(stats);

	if (getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size))
		return -errno;
	*ret = stats.tp_packets; /* with those that had no room */
	return 0;
}

static int count_nothing(int fd)
{
	static const struct sock_filter nothing[] = { BPF_STMT(BPF_RET | BPF_K, 0) };

	return filter_put(fd, nothing, ARRAY_SIZE(nothing));
}

int delivered_open(void)
{
	const int on = 1, room = QUEUE_BYTES;
	/* No protocol: it is not hooked in. */
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	/* Since Linux 4.20; or what leaves meets the filter, only to be passed over. */
	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
	return fd;
}

int delivered_begin(int fd, int ifindex)
{
	/* The types are in this order: to this host, broadcast, multicast, to others. */
	static const struct sock_filter incoming[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, PACKET_OTHERHOST, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, 1),
	};
	__u64 old;
	/* Until it is bound, so that no frame of another interface counts. */
	int err = count_nothing(fd);

	if (!err)
		err = listen_on(fd, ifindex, ETH_P_ALL);
	if (!err)
		err = count_take(fd, &old);
	return err ? err : filter_put(fd, incoming, ARRAY_SIZE(incoming));
}

int delivered_end(int fd, __u64 *ret)
{
	int failed = 0, err;
	socklen_t size = sizeof(failed);

	err = count_take(fd, ret);
	if (!err && getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size))
		err = -errno;
	count_nothing(fd);
	listen_on(fd, 0, 0);
	return err ? err : -failed;
}
