// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * closed_ports.c - see closed_ports.h. For IPv4 the kernel has a line of names and one of
 * figures, for IPv6 a line for each:
 *
 *	Udp: InDatagrams NoPorts InErrors ...
 *	Udp: 1234 56 0 ...
 *
 *	Udp6NoPorts                     	7
 */
#include <stdio.h>

#include "daemon/closed_ports.h"

#define LINE 512

/*
 * Return the UDP datagrams for closed ports of IPv4 since boot, in this network
 * namespace; 0: cannot be read.
 */
static uint64_t read_v4(void)
{
	FILE *file = fopen("/proc/net/snmp", "re");
	unsigned long long ports = 0;
	char line[LINE];

	/* The line of names has no number in that place. */
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Udp: %*u %llu", &ports) == 1)
			break;
	if (file)
		fclose(file);
	return ports;
}

/* The same of IPv6. */
static uint64_t read_v6(void)
{
	FILE *file = fopen("/proc/net/snmp6", "re");
	unsigned long long ports = 0;
	char line[LINE];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Udp6NoPorts %llu", &ports) == 1)
			break;
	if (file)
		fclose(file);
	return ports;
}

uint64_t closed_ports_read(void)
{
	return read_v4() + read_v6();
}
