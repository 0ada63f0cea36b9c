/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * link_events.h - wakes the daemon when the kernel's interfaces, or what is attached to
 * their traffic control, change.
 *
 * Which one changed, and how, is not read: the daemon looks at every interface that
 * matters to it. So nothing is lost when the kernel had no room for an event, and there
 * is no message to parse.
 */
#ifndef LINK_EVENTS_H
#define LINK_EVENTS_H

/* Return a descriptor that is readable after a change, or -errno after a message. */
int link_events_open(void);

/* Forget what has come so far. */
void link_events_drain(int fd);

#endif /* LINK_EVENTS_H */
