/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef PRIV_H
#define PRIV_H

/*
 * Give up every capability that the daemon does not need once it is attached, for good.
 * What stays: CAP_BPF (reading and editing maps), CAP_NET_ADMIN and CAP_PERFMON (loading
 * again at reload and asking what is attached). 0 or -errno after a message.
 */
int priv_drop(void);

#endif /* PRIV_H */
