/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * closed_ports.h - how many UDP datagrams came for ports where nobody listens, as the
 * kernel counts them, without their ports: a scan and a flood of one port look alike.
 */
#ifndef CLOSED_PORTS_H
#define CLOSED_PORTS_H

#include <stdint.h>

/* Of IPv4 and IPv6, in our network namespace, since it began. 0 where it is not told. */
uint64_t closed_ports_read(void);

#endif /* CLOSED_PORTS_H */
