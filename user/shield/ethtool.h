/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ethtool.h - what `ethtool -k` and `-i` know of an interface, and its MTU.
 */
#ifndef ETHTOOL_H
#define ETHTOOL_H

#include <linux/types.h>
#include <stdbool.h>

/* 1: @interface has that feature on; 0: off, or the kernel does not know it; -errno. */
int ethtool_feature(const char *interface, const char *feature);

/* The MTU of @interface in octets; 0: the kernel does not say. */
__u32 ethtool_mtu(const char *interface);

/* Is @driver that of @interface? Not where the kernel does not say. */
bool ethtool_driven_by(const char *interface, const char *driver);

#endif /* ETHTOOL_H */
