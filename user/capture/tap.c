// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tap.c - see tap.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "capture/tap.h"
#include "capture/tap_clock.h"

#define QUEUE_BYTES (4 << 20)
#define FRAME_BYTES 65536

#define MULTIPLIER  0x9e3779b1u /* spreads networks over shares */

struct tap {
	int fd;
	size_t count;
	int ifindexes[TAP_INTERFACES];
	uint64_t frames, lost;
	struct tap_clock clock;
	uint8_t frame[FRAME_BYTES];
};

/* --- the filter ---------------------------------------------------------------- */

enum {
	ANY_MOST = 2 * TAP_INTERFACES + 48, /* instructions */
	IPV4_SOURCE = 12,
	IPV4_DESTINATION = 16,
	IPV6_SOURCE = 8,
	IPV6_DESTINATION = 24,
};

/* A classic BPF program that is written instruction by instruction. */
struct filter {
	struct sock_filter code[ANY_MOST];
	size_t n;
};

static void put(struct filter *f, int code, uint32_t k)
{
	f->code[f->n++] = (struct sock_filter){ .code = (__u16)code, .k = k };
}

/* End with nothing shown, unless A equals @k; @invert: if it does. */
static void need(struct filter *f, uint32_t k, bool invert)
{
	f->code[f->n++] = (struct sock_filter){ BPF_JMP | BPF_JEQ | BPF_K, invert ? 0 : 1,
						invert ? 1 : 0, k };
	put(f, BPF_RET | BPF_K, 0);
}

/*
 * Load from the IP header. Not by SKF_NET_OFF, which reads only what of a frame lies in
 * one piece: of some drivers that is nothing.
 */
static void load_packet(struct filter *f, int size, uint32_t at)
{
	put(f, BPF_LD | size | BPF_ABS, ETH_HLEN + at);
}

static void load_about(struct filter *f, uint32_t what)
{
	put(f, BPF_LD | BPF_W | BPF_ABS, (uint32_t)SKF_AD_OFF + what);
}

/* Show the frame if the hash of A is within the share. */
static void end_share(struct filter *f, unsigned int share)
{
	put(f, BPF_ALU | BPF_MUL | BPF_K, MULTIPLIER);
	put(f, BPF_ALU | BPF_RSH | BPF_K, 24);
	f->code[f->n++] = (struct sock_filter){ BPF_JMP | BPF_JGE | BPF_K, 0, 1, share };
	put(f, BPF_RET | BPF_K, 0);
	put(f, BPF_RET | BPF_K, FRAME_BYTES);
}

/* The network of the client: of the destination of what leaves. */
static void put_ipv4(struct filter *f, uint32_t client, unsigned int share)
{
	load_packet(f, BPF_B, 9);
	need(f, IPPROTO_UDP, false);
	load_packet(f, BPF_W, client);
	put(f, BPF_ALU | BPF_RSH | BPF_K, 12);
	end_share(f, share);
}

static void put_ipv6(struct filter *f, uint32_t client, unsigned int share)
{
	load_packet(f, BPF_B, 6);
	/* A fragment; other headers in between are rare, and are not shown. */
	f->code[f->n++] =
		(struct sock_filter){ BPF_JMP | BPF_JEQ | BPF_K, 2, 0, IPPROTO_FRAGMENT };
	need(f, IPPROTO_UDP, false);
	load_packet(f, BPF_H, client + 4);
	put(f, BPF_MISC | BPF_TAX, 0);
	load_packet(f, BPF_W, client);
	put(f, BPF_ALU | BPF_XOR | BPF_X, 0);
	end_share(f, share);
}

/* Put both protocols, for one direction. */
static void put_way(struct filter *f, bool out, unsigned int share)
{
	size_t jump;

	load_about(f, SKF_AD_PROTOCOL);
	jump = f->n;
	put(f, 0, 0);
	put_ipv4(f, out ? IPV4_DESTINATION : IPV4_SOURCE, share);
	f->code[jump] = (struct sock_filter){ BPF_JMP | BPF_JEQ | BPF_K, 0,
					      (__u8)(f->n - jump - 1), ETH_P_IP };
	need(f, ETH_P_IPV6, false);
	put_ipv6(f, out ? IPV6_DESTINATION : IPV6_SOURCE, share);
}

static void filter_make(const struct tap *tap, unsigned int share, struct filter *f)
{
	size_t jump;

	f->n = 0;
	load_about(f, SKF_AD_IFINDEX);
	/* Over the interfaces that follow, and the end with nothing. */
	for (size_t i = 0; i < tap->count; i++)
		f->code[f->n++] = (struct sock_filter){ BPF_JMP | BPF_JEQ | BPF_K,
							(__u8)(tap->count - i), 0,
							(__u32)tap->ifindexes[i] };
	put(f, BPF_RET | BPF_K, 0);
	load_about(f, SKF_AD_PKTTYPE);
	jump = f->n;
	put(f, 0, 0);
	put_way(f, true, share);
	f->code[jump] = (struct sock_filter){ BPF_JMP | BPF_JEQ | BPF_K, 0,
					      (__u8)(f->n - jump - 1), PACKET_OUTGOING };
	need(f, PACKET_BROADCAST, true);
	need(f, PACKET_MULTICAST, true);
	put_way(f, false, share);
}

int tap_share(struct tap *tap, unsigned int share)
{
	struct filter f;
	struct sock_fprog program = { .filter = f.code };

	filter_make(tap, share, &f);
	program.len = (unsigned short)f.n;
	return setsockopt(tap->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
			  sizeof(program))
		       ? -errno
		       : 0;
}

/* --- the socket ---------------------------------------------------------------- */

static int64_t clock_ns(clockid_t which)
{
	struct timespec now;

	clock_gettime(which, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* Note the difference of the clocks: while no frame waits. */
static void set_clock(struct tap *tap)
{
	int64_t steady_ns = clock_ns(CLOCK_MONOTONIC);

	tap_clock_set(&tap->clock, clock_ns(CLOCK_REALTIME), steady_ns);
}

static int begin(struct tap *tap)
{
	const struct sockaddr_ll at = { .sll_family = AF_PACKET,
					.sll_protocol = htons(ETH_P_ALL) };
	const int room = QUEUE_BYTES, on = 1;
	int err;

	/* No protocol: nothing is shown before the filter is there. */
	tap->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (tap->fd < 0)
		return -errno;
	if (setsockopt(tap->fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)))
		setsockopt(tap->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	if (setsockopt(tap->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)))
		return -errno;
	set_clock(tap);
	err = tap_share(tap, TAP_SHARES);
	if (!err && bind(tap->fd, (const struct sockaddr *)&at, sizeof(at)))
		err = -errno;
	return err;
}

int tap_open(const int *ifindexes, size_t count, struct tap **ret)
{
	struct tap *tap;
	int err;

	if (!count || count > TAP_INTERFACES)
		return -E2BIG;
	tap = calloc(1, sizeof(*tap));
	if (!tap)
		return -ENOMEM;
	tap->count = count;
	memcpy(tap->ifindexes, ifindexes, count * sizeof(*ifindexes));
	err = begin(tap);
	if (err)
		tap_close(tap);
	else
		*ret = tap;
	return err;
}

void tap_close(struct tap *tap)
{
	if (!tap)
		return;
	if (tap->fd >= 0)
		close(tap->fd);
	free(tap);
}

int tap_fd(const struct tap *tap)
{
	return tap->fd;
}

/* Return when the kernel received the frame of @message, by CLOCK_MONOTONIC. */
static int64_t received_ns(struct tap *tap, struct msghdr *message)
{
	int64_t steady_ns = clock_ns(CLOCK_MONOTONIC), real_ns = clock_ns(CLOCK_REALTIME);
	struct cmsghdr *c = CMSG_FIRSTHDR(message);
	struct timespec stamp;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS ||
	    c->cmsg_len < CMSG_LEN(sizeof(stamp)))
		return tap_clock_time(&tap->clock, real_ns, real_ns, steady_ns);
	memcpy(&stamp, CMSG_DATA(c), sizeof(stamp));
	return tap_clock_time(&tap->clock, stamp.tv_sec * 1000000000ll + stamp.tv_nsec,
			      real_ns, steady_ns);
}

bool tap_next(struct tap *tap, struct capture_frame *ret)
{
	char control[CMSG_SPACE(sizeof(struct timespec))];
	struct iovec frame = { .iov_base = tap->frame, .iov_len = sizeof(tap->frame) };
	struct sockaddr_ll from = { 0 };
	struct msghdr message = {
		.msg_name = &from,
		.msg_namelen = sizeof(from),
		.msg_iov = &frame,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(tap->fd, &message, MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0) {
		set_clock(tap);
		return false;
	}
	*ret = (struct capture_frame){
		.number = ++tap->frames,
		.time_ns = received_ns(tap, &message),
		.link = PACKET_LINK_ETHERNET,
		.bytes = tap->frame,
		.captured = (size_t)n < FRAME_BYTES ? (size_t)n : FRAME_BYTES,
		.length = (size_t)n,
		.way = from.sll_pkttype == PACKET_OUTGOING ? PACKET_SENT
							   : PACKET_RECEIVED,
	};
	return true;
}

uint64_t tap_lost(struct tap *tap)
{
	struct tpacket_stats stats = { 0 };
	socklen_t size = sizeof(stats);

	/* The kernel's count begins anew with each reading. */
	if (!getsockopt(tap->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size))
		tap->lost += stats.tp_drops;
	return tap->lost;
}
