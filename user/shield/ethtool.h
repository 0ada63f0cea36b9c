/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ethtool.h - what `ethtool -k` knows of an interface.
 */
#ifndef ETHTOOL_H
#define ETHTOOL_H

/* 1: @interface has that feature on; 0: off, or the kernel does not know it; -errno. */
int ethtool_feature(const char *interface, const char *feature);

#endif /* ETHTOOL_H */
