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
 *
 * The trial of a configuration, trial_begin(), has no running shield behind it. It begins
 * with empty tables, and keeps what it learns. trial_clock() sets its time, and does what
 * a daemon does in the meantime.
 *
 * trial_fork() makes two such trials that begin with all that a running shield knows. The
 * shield goes on by itself, and is only read.
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

/*
 * Return the frame that trial_run() judged last as it leaves (@out), as the program has
 * written it: as long as it was.
 */
const __u8 *trial_left(const struct trial *trial);

/* --- of a configuration -------------------------------------------------------- */

#define TRIAL_BEGIN_NS (1ull << 54) /* when it begins, by the clock of trial_clock() */

/*
 * Load a trial of @config. 0 and *@ret; or -errno after a message. The keys of its tables
 * are always the same, so that all trials of a configuration judge the same datagrams
 * alike, if the calling thread stays on one processor.
 */
int trial_begin(const struct config *config, struct trial **ret);

/*
 * Let it be @now_ns, which never goes back, and do a daemon's work until then. Sockets
 * are left out: no server is asked, see trial_cache_put().
 */
void trial_clock(struct trial *trial, __u64 now_ns);

/*
 * Load two trials that begin with the tables of @of as they are now: ret[0] as it is
 * configured, ret[1] as if @config had been applied just then, so services keep their
 * state if they keep their name. *@ret_now_ns: their time. @begin is called right before
 * the tables are read; what it returns but 0 ends all. Takes a second. 0, or -errno after
 * a message; -ENOSPC as of shield_apply(). Takes no lock of @of: if shield_generation()
 * has changed meanwhile, the trials are worthless.
 */
int trial_fork(const struct shield *of, const struct config *config,
	       int (*begin)(void *context), void *context, struct trial *ret[2],
	       __u64 *ret_now_ns);

/* A client, as a service sees it. */
struct trial_client {
	__be32 address[4]; /* IPv4 in ::ffff:0:0/96 */
	__u16 port;
};

/*
 * Let the trial know of @client, which is joining the service in @slot, what @of knows: a
 * cookie that it has returned, a challenge of the server. False: @of knows nothing.
 */
bool trial_catch_up(struct trial *trial, const struct shield *of, __u32 slot,
		    const struct trial_client *client);

/* Let @client of the service in @slot be validated. */
void trial_validate(struct trial *trial, __u32 slot, const struct trial_client *client);

/*
 * Return the slot of the service that has the port at the address, or has learned it
 * (NetQuake); -1: none.
 */
int trial_slot(const struct trial *trial, const __be32 address[4], __u16 port);

/* Copy the service in slot 0 to SERVICES_MAX - 1. False: there is none. */
bool trial_service(const struct trial *trial, __u32 slot, struct service *ret);

/* Cache @t as shield_cache_put() does. */
void trial_cache_put(struct trial *trial, __u32 slot, __u32 form,
		     const struct cache_entry *t);

/* Copy an Ethernet address that leads to this host to @ret. */
void trial_mac(const struct trial *trial, __u8 ret[6]);

#endif /* TRIAL_H */
