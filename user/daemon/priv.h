/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * priv.h - giving up what the daemon no longer needs.
 */
#ifndef PRIV_H
#define PRIV_H

/*
 * Give up every capability that the daemon does not need once it is attached, for good.
 * CAP_BPF (reading and editing maps) and CAP_NET_ADMIN (attaching, and asking what is
 * attached) stay. 0 or -errno after a message.
 */
int priv_drop(void);

/*
 * Allow only the system calls that looking after the shield takes from now on: confine.c.
 * Call it after priv_drop(). 0, also where the kernel cannot do that, or -errno after a
 * message.
 */
int priv_confine(void);

#endif /* PRIV_H */
