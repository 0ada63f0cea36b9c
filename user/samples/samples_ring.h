/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * samples_ring.h - the last SAMPLES_RING samples of all services, with which the capture
 * of an attack begins: they are from before the attack was recognised.
 *
 * A capture takes SAMPLES_CAPTURE_BYTES at most, the samples from before included, and
 * SAMPLES_CAPTURES run at a time, one a service.
 */
#ifndef SAMPLES_RING_H
#define SAMPLES_RING_H

#include "abi.h"

#define SAMPLES_RING	      1000
#define SAMPLES_RING_BYTES    SAMPLE_STATISTIC_BYTES /* of a frame are remembered */
#define SAMPLES_CAPTURES      8
#define SAMPLES_CAPTURE_BYTES (4 << 20)

struct samples_ring;

/* Return an empty ring, or NULL: not enough memory. */
struct samples_ring *samples_ring_create(void);
/* End all captures and free the ring, which may be NULL. */
void samples_ring_free(struct samples_ring *ring);

/* Remember a sample, and add it to the capture of its service if there is one. */
void samples_ring_add(struct samples_ring *ring, const struct sample *sample,
		      const void *frame, int64_t time_ns, const struct service *service);

/*
 * Begin the capture of @service in @slot: a new file @path, for root alone, with what is
 * remembered of that service, oldest first. How many frames; -EBUSY: as many captures run
 * as may; -errno: then there is no new file.
 */
int samples_ring_capture(struct samples_ring *ring, __u32 slot,
			 const struct service *service, const char *path);
/* End the capture of @slot, if there is one. True: it has no frame; remove its file. */
bool samples_ring_stop(struct samples_ring *ring, __u32 slot);

#endif /* SAMPLES_RING_H */
