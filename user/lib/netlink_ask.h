/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netlink_ask.h - one request to the kernel by netlink, and all messages of its reply.
 * Each call opens a socket of its own, keeps no state, and waits for the reply.
 */
#ifndef NETLINK_ASK_H
#define NETLINK_ASK_H

#include <linux/netlink.h>
#include <stddef.h>

/*
 * Send @request to the netlink @protocol (NETLINK_ROUTE, NETLINK_GENERIC, ...) and call
 * @each with every message of the reply, without the one that ends it. @request is whole,
 * and has NLM_F_DUMP or NLM_F_ACK among its flags. Waits a second for each part. 0, or
 * -errno without a message: the kernel's own, or -E2BIG after 4096 parts.
 */
int netlink_ask(int protocol, const struct nlmsghdr *request,
		void (*each)(const struct nlmsghdr *message, void *context),
		void *context);

/*
 * Return the attribute @type among the @n bytes of attributes at @first, or NULL. Its
 * value is within these bytes.
 */
const struct nlattr *netlink_attribute(const void *first, size_t n, __u16 type);

/* Return the value of @a, and its bytes in *@ret_n. */
const void *netlink_value(const struct nlattr *a, size_t *ret_n);

/* Copy the value of @a, if it has @n bytes or more. Returns false if it has not, or if
 * @a is NULL. */
_Bool netlink_copy(const struct nlattr *a, void *ret, size_t n);

/* Copy the text of @a, without what has no room in @size bytes; "" if @a is NULL. */
void netlink_text(const struct nlattr *a, char *ret, size_t size);

#endif /* NETLINK_ASK_H */
