/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vlan.h - which VLANs lie above an interface, and what takes their tags off. Called by
 * `probe` and by attach_xdp.c. Reads /sys, and asks drivers.
 */
#ifndef VLAN_H
#define VLAN_H

#include <net/if.h>
#include <stdbool.h>

/*
 * Find a VLAN device above @interface, right above it or above a bridge or the like in
 * between, as far as /sys is that of our network. False: there is none.
 */
bool vlan_above(const char *interface, char ret[IF_NAMESIZE]);

/*
 * Find a card that takes tags off before a program in native mode sees the frame: the
 * interface or, of a bond, a slave, whatever the bond says. False: none does.
 */
bool vlan_untags(const char *interface, char ret[IF_NAMESIZE]);

#endif /* VLAN_H */
