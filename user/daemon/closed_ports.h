/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * closed_ports.h - how many UDP datagrams came for ports without a socket, as the kernel
 * counts them, without their ports: a scan and a flood of one port look alike. Called by
 * incident_monitor.c.
 */
#ifndef CLOSED_PORTS_H
#define CLOSED_PORTS_H

#include <stdint.h>

/*
 * Return the count of IPv4 and IPv6 in this network namespace since it began; 0 where the
 * kernel does not tell.
 */
uint64_t closed_ports_read(void);

#endif /* CLOSED_PORTS_H */
