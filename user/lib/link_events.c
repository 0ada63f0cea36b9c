// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * link_events.c - see link_events.h.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/link_events.h"
#include "lib/log.h"

#define DRAIN_MAX 256 /* events in one go: more wait for the next */

int link_events_open(void)
{
	const struct sockaddr_nl at = { .nl_family = AF_NETLINK,
					.nl_groups = RTMGRP_LINK | RTMGRP_TC };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_ROUTE);
	int err;

	if (fd >= 0 && !bind(fd, (const struct sockaddr *)&at, sizeof(at)))
		return fd;
	err = -errno;
	log_error("cannot listen for changes of interfaces: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return err;
}

void link_events_drain(int fd)
{
	char event; /* the rest of each is cut off */

	for (int i = 0; i < DRAIN_MAX; i++)
		if (recv(fd, &event, sizeof(event), MSG_DONTWAIT) < 0 && errno != ENOBUFS)
			return;
}
