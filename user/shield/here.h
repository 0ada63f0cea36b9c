/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * here.h - which Ethernet addresses lead to this host: see struct local_macs.
 */
#ifndef HERE_H
#define HERE_H

#include <stdbool.h>

#include "abi.h"

/*
 * Add to @ret the Ethernet addresses for which a frame at the interface @ifindex may be
 * meant: its own, those of its bridge or bond and of that one's ports, of VLANs and
 * macvlans above it, and what is behind other ports of its bridge. 0; or -errno without a
 * message, and *@ret is as it was or has some of them. Full: the rest is left out,
 * and ret->count goes beyond LOCAL_MACS.
 */
int here_look(__u32 ifindex, struct local_macs *ret);

#endif /* HERE_H */
