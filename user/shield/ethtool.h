/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ethtool.h - what `ethtool -k` and `-i` know of an interface.
 */
#ifndef ETHTOOL_H
#define ETHTOOL_H

#include <stdbool.h>

/* 1: @interface has that feature on; 0: off, or the kernel does not know it; -errno. */
int ethtool_feature(const char *interface, const char *feature);

/* Is @driver that of @interface? Not where the kernel does not say. */
bool ethtool_driven_by(const char *interface, const char *driver);

#endif /* ETHTOOL_H */
