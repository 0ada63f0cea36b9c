/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ethtool.h - what `ethtool -k`, `-i`, `-l`, `-g` and `-n` know of an interface, its MTU,
 * and what the kernel says of its XDP.
 */
#ifndef ETHTOOL_H
#define ETHTOOL_H

#include <linux/types.h>
#include <stdbool.h>

/*
 * Return 1 if @interface has that feature on; 0: off, or the kernel does not know it;
 * -errno.
 */
int ethtool_feature(const char *interface, const char *feature);

/* Return the MTU of @interface in bytes; 0: the kernel does not say. */
__u32 ethtool_mtu(const char *interface);

/* How many queues or ring entries there are, and may be. */
struct ethtool_count {
	__u32 now, most;
};

/*
 * Read the queues that @interface receives by. *@ret_combined: they send as well, so that
 * `ethtool -L` calls them combined, not rx. False: the driver does not say.
 */
bool ethtool_queues(const char *interface, struct ethtool_count *ret, bool *ret_combined);

/*
 * Read the frames that a receive ring of @interface holds. False: the driver does not
 * say.
 */
bool ethtool_ring(const char *interface, struct ethtool_count *ret);

/*
 * Return the fields that choose the queue of a UDP datagram, of IPv4 or @ipv6, at
 * @interface, as a mask of RXH_* (linux/ethtool.h); or -errno: the driver does not say.
 */
int ethtool_udp_hash(const char *interface, bool ipv6);

/* Bytes of a driver's name, with the NUL. */
#define ETHTOOL_DRIVER 32
/* Write the name of @interface's driver to @ret, or "" if it has none. */
void ethtool_driver(const char *interface, char ret[ETHTOOL_DRIVER]);

/*
 * Return what the kernel says about native XDP at @interface, from Linux 6.3 on: 1: the
 * driver takes programs that pass, drop and send back; 0: it does not; -errno: this
 * kernel does not say.
 */
int ethtool_native(const char *interface);

/* Return true if @driver is that of @interface. False where the kernel does not say. */
bool ethtool_driven_by(const char *interface, const char *driver);

#endif /* ETHTOOL_H */
