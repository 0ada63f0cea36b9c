/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reassembly.h - IP fragments to whole packets, IPv4 and IPv6, within bounds. Called by
 * capture.c.
 *
 * REASSEMBLY_SLOTS packets at a time, each of at most 65535 bytes, each for at most
 * REASSEMBLY_NS of capture time. When a slot is needed the oldest packet is given up. It
 * is not lost: its beginning, as far as it is without a hole, is handed out, and its
 * datagram is partial.
 *
 * Fragments that repeat bytes must repeat them exactly; a packet with fragments that
 * disagree is poisoned and handed out as such.
 */
#ifndef REASSEMBLY_H
#define REASSEMBLY_H

#include "capture/packet.h"

#define REASSEMBLY_SLOTS 64
#define REASSEMBLY_NS	 (30LL * 1000 * 1000 * 1000)

struct reassembly;

/*
 * Return an empty table, or NULL if there is no memory. Slots are allocated when first
 * used.
 */
struct reassembly *reassembly_create(void);
/* Free the table and what it keeps. @re may be NULL. */
void reassembly_free(struct reassembly *re);

enum reassembly_result {
	REASSEMBLY_HELD, /* kept, nothing complete yet */
	REASSEMBLY_WHOLE, /* *ret is a whole packet */
	REASSEMBLY_BAD, /* no IP stack would take this fragment */
};

/*
 * Give up one packet that is too old at @now_ns or, when @all, any; into *ret, with the
 * frame and time of its first fragment. False: there is none.
 */
bool reassembly_give_up(struct reassembly *re, int64_t now_ns, bool all,
			struct packet *ret, struct datagram *when, const char **reason);

/*
 * Return true if no slot is free: one must be given up before a fragment of a new
 * packet is added.
 */
bool reassembly_full(const struct reassembly *re);

/* Return true if @fragment is of a packet that is already held. */
bool reassembly_holds(const struct reassembly *re, const struct packet *fragment);

/*
 * Add @fragment, of which @fragment->fragment is true. ret->bytes stay valid until the
 * next call.
 */
enum reassembly_result reassembly_add(struct reassembly *re,
				      const struct packet *fragment, uint64_t frame,
				      int64_t time_ns, struct packet *ret,
				      const char **reason);

#endif /* REASSEMBLY_H */
