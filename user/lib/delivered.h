/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * delivered.h - how many frames an interface delivers to this host, after the XDP program
 * on it: a packet socket with a filter in the kernel, of which only the kernel's count is
 * read.
 *
 * The queue is smaller than a few frames and is never read: a flood costs the filter, and
 * no memory. Frames that leave are not counted, nor are those that XDP has dropped or
 * sent back. A frame that the host puts in place of another one is (decrypted by IPsec,
 * for example).
 */
#ifndef DELIVERED_H
#define DELIVERED_H

#include <linux/types.h>

/*
 * Open a packet socket that counts nothing yet. Returns the descriptor, or -errno without
 * a message: it needs CAP_NET_RAW.
 */
int delivered_open(void);

/*
 * Count from now on the frames that the interface @ifindex delivers. 0 or -errno without
 * a message: there is no such interface, for example.
 */
int delivered_begin(int fd, int ifindex);

/*
 * Stop the count, and return in *@ret how many frames there were. 0 or -errno without a
 * message: the interface was down or away meanwhile, for example.
 */
int delivered_end(int fd, __u64 *ret);

#endif /* DELIVERED_H */
