// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * samples_ring.c - see samples_ring.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "samples/samples_ring.h"
#include "samples/samples_write.h"

struct remembered {
	struct sample sample;
	int64_t time_ns;
	uint8_t frame[SAMPLES_RING_BYTES];
};

struct capture {
	bool open;
	int fd;
	__u32 slot;
	size_t bytes, frames;
};

struct samples_ring {
	struct remembered samples[SAMPLES_RING];
	size_t next, count;
	struct capture captures[SAMPLES_CAPTURES];
};

struct samples_ring *samples_ring_create(void)
{
	return calloc(1, sizeof(struct samples_ring));
}

static void capture_end(struct capture *c)
{
	if (c->open)
		close(c->fd);
	*c = (struct capture){ 0 };
}

void samples_ring_free(struct samples_ring *ring)
{
	if (!ring)
		return;
	for (size_t i = 0; i < SAMPLES_CAPTURES; i++)
		capture_end(&ring->captures[i]);
	free(ring);
}

/*
 * Append a block to the capture. False: the file or the disk is full, and the capture has
 * ended; a block that was cut short is removed, so the file is whole. Nothing is buffered
 * in this process, so the file is whole also when the process is killed.
 */
static bool capture_put(struct capture *c, const void *block, size_t n)
{
	if (c->bytes + n <= SAMPLES_CAPTURE_BYTES &&
	    write(c->fd, block, n) == (ssize_t)n) {
		c->bytes += n;
		return true;
	}
	if (ftruncate(c->fd, (off_t)c->bytes))
		log_warn("a capture may end in the middle of a packet: %s",
			 strerror(errno));
	capture_end(c);
	return false;
}

static struct capture *capture_find(struct samples_ring *ring, bool running, __u32 slot)
{
	for (size_t i = 0; i < SAMPLES_CAPTURES; i++) {
		struct capture *c = &ring->captures[i];

		if (running ? c->open && c->slot == slot : !c->open)
			return c;
	}
	return NULL;
}

void samples_ring_add(struct samples_ring *ring, const struct sample *sample,
		      const void *frame, int64_t time_ns, const struct service *service)
{
	struct remembered *to = &ring->samples[ring->next];
	struct capture *c = capture_find(ring, true, sample->slot);
	uint8_t block[PCAPNG_BLOCK_MAX];

	to->sample = *sample;
	if (to->sample.kept > SAMPLES_RING_BYTES)
		to->sample.kept = SAMPLES_RING_BYTES;
	to->time_ns = time_ns;
	memcpy(to->frame, frame, to->sample.kept);
	ring->next = (ring->next + 1) % SAMPLES_RING;
	if (ring->count < SAMPLES_RING)
		ring->count++;
	if (c) {
		size_t n = samples_block(block, sample, frame, time_ns, service);

		c->frames++;
		capture_put(c, block, n);
	}
}

/* Write what is remembered of the service, oldest first. Returns how many frames. */
static int past_put(const struct samples_ring *ring, struct capture *c,
		    const struct service *service)
{
	uint8_t block[PCAPNG_BLOCK_MAX];
	int written = 0;

	for (size_t i = 0; i < ring->count; i++) {
		size_t at = (ring->next + SAMPLES_RING - ring->count + i) % SAMPLES_RING;
		const struct remembered *r = &ring->samples[at];
		size_t n;

		if (r->sample.slot != c->slot)
			continue;
		n = samples_block(block, &r->sample, r->frame, r->time_ns, service);
		c->frames++;
		if (!capture_put(c, block, n))
			break;
		written++;
	}
	return written;
}

int samples_ring_capture(struct samples_ring *ring, __u32 slot,
			 const struct service *service, const char *path)
{
	struct capture *c = capture_find(ring, false, 0);
	uint8_t head[PCAPNG_BEGIN_MAX];
	size_t n;

	samples_ring_stop(ring, slot);
	if (!c)
		c = capture_find(ring, false, 0);
	if (!c)
		return -EBUSY;
	/* For root alone: it shows addresses and messages of players. */
	c->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (c->fd < 0)
		return -errno;
	c->open = true;
	c->slot = slot;
	n = pcapng_begin(head, "quakeshield", "quakeshield " VERSION);
	if (!capture_put(c, head, n)) {
		unlink(path);
		return -EIO;
	}
	return past_put(ring, c, service);
}

bool samples_ring_stop(struct samples_ring *ring, __u32 slot)
{
	struct capture *c = capture_find(ring, true, slot);
	bool empty = c && !c->frames;

	if (c)
		capture_end(c);
	return empty;
}
