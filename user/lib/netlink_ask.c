// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * netlink_ask.c - see netlink_ask.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/netlink_ask.h"

#define PART_BYTES 32768 /* what the kernel puts into one part, at most */
#define PARTS_MAX  4096
#define WAIT_S	   1

/* The messages of one part, @n bytes. 1 with the last of all, 0 or -errno. */
static int part_read(const char *part, size_t n,
		     void (*each)(const struct nlmsghdr *message, void *context),
		     void *context)
{
	const struct nlmsghdr *m = (const void *)part;
	size_t left = n;

	while (left >= sizeof(*m) && m->nlmsg_len >= sizeof(*m) && m->nlmsg_len <= left) {
		size_t step = NLMSG_ALIGN(m->nlmsg_len);

		if (m->nlmsg_type == NLMSG_DONE)
			return 1;
		if (m->nlmsg_type == NLMSG_ERROR) {
			int err = 0;

			if (m->nlmsg_len >= NLMSG_LENGTH(sizeof(err)))
				memcpy(&err, NLMSG_DATA(m), sizeof(err));
			return err < 0 ? err : 1;
		}
		each(m, context);
		if (step >= left)
			break;
		left -= step;
		m = (const void *)((const char *)m + step);
	}
	return 0;
}

int netlink_ask(int protocol, const struct nlmsghdr *request,
		void (*each)(const struct nlmsghdr *message, void *context),
		void *context)
{
	const struct timeval wait = { .tv_sec = WAIT_S };
	_Alignas(struct nlmsghdr) char part[PART_BYTES];
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) ||
	    send(fd, request, request->nlmsg_len, 0) < 0)
		err = -errno;
	for (int i = 0; !err; i++) {
		ssize_t n = recv(fd, part, sizeof(part), 0);

		if (n < 0)
			err = -errno;
		else if (i == PARTS_MAX)
			err = -E2BIG;
		else
			err = part_read(part, (size_t)n, each, context);
	}
	close(fd);
	return err < 0 ? err : 0;
}

const struct nlattr *netlink_attribute(const void *first, size_t n, __u16 type)
{
	const struct nlattr *a = first;

	while (n >= sizeof(*a) && a->nla_len >= sizeof(*a) && a->nla_len <= n) {
		size_t step = NLA_ALIGN(a->nla_len);

		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a;
		if (step >= n)
			break;
		n -= step;
		a = (const void *)((const char *)a + step);
	}
	return NULL;
}

const void *netlink_value(const struct nlattr *a, size_t *ret_n)
{
	*ret_n = a->nla_len - NLA_HDRLEN;
	return (const char *)a + NLA_HDRLEN;
}

bool netlink_copy(const struct nlattr *a, void *ret, size_t n)
{
	const void *value;
	size_t there;

	if (!a)
		return false;
	value = netlink_value(a, &there);
	if (there < n)
		return false;
	memcpy(ret, value, n);
	return true;
}

void netlink_text(const struct nlattr *a, char *ret, size_t size)
{
	const char *value;
	size_t n;

	*ret = 0;
	if (!a)
		return;
	value = netlink_value(a, &n);
	n = strnlen(value, n < size ? n : size - 1);
	memcpy(ret, value, n);
	ret[n] = 0;
}
