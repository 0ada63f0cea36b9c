/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trial.h - what the programs would do with a datagram of one address, without doing it.
 *
 * A trial is a second instance of the programs over tables of its own. It gets the live
 * tables' contents, as far as they concern the address, and a clock that stands still.
 * It charges and learns in its own tables, and only reads the live ones.
 * Not copied are the recent askers of include/recent.h: where the shield responds from
 * its cache to sources that repeat, a trial shows the first request of one.
 * Each processor's share of challenges is not copied either: a trial has all of it.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include "shield/about.h"

struct trial;

/* The verdict on a datagram. */
struct trial_verdict {
	bool judged; /* a service has it: slot, kind and reason are valid */
	enum other other; /* what it is otherwise */
	__u32 slot;
	enum wire_kind kind;
	enum reason reason;
	bool passes; /* it goes on. A service that only observes passes what its reason
		      * drops. */
	__u32 sent; /* bytes of the frame that the shield sends in response; 0: none */
};

/*
 * Load a trial of the programs behind @shield, which takes half a second. 0 and *@ret; or
 * -errno after a message.
 */
int trial_open(const struct shield *shield, struct trial **ret);
/* Unload the trial and free it. @trial may be NULL. */
void trial_close(struct trial *trial);

/*
 * Return true if the pinned program consists of the same instructions as the trial's, or
 * if nothing is pinned.
 */
bool trial_is_same(const struct trial *trial);

/*
 * Read the live tables again, so that nothing of earlier datagrams remains, for datagrams
 * from and to @host. The limits of the service in @slot are read; of others they are
 * full.
 */
void trial_reset(struct trial *trial, const struct about_host *host, __u32 slot);

/*
 * Judge an Ethernet frame of @n bytes that arrives (@out: that leaves). 0 and *@ret; or
 * -errno, without a message: the kernel takes no such frame. -ENODATA: the program has
 * counted nothing, so what leaves belongs to no service.
 */
int trial_run(struct trial *trial, bool out, const void *frame, size_t n,
	      struct trial_verdict *ret);

/* An Ethernet address that leads to this host, in @ret. */
void trial_mac(const struct trial *trial, __u8 ret[6]);

#endif /* TRIAL_H */
