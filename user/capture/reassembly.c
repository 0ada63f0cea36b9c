// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * reassembly.c - see reassembly.h. RFC 791 section 3.2, RFC 8200 section 4.5.
 *
 * A slot holds the packet's bytes and one bit for each unit of eight bytes that has
 * come. Slots are few and fragments rare, so they are searched one by one. A slot gets
 * its memory when it is first needed and keeps it: most captures have no fragments at
 * all, and most of the others never more than one packet at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/reassembly.h"

#define PACKET_BYTES 65536
#define UNITS	     (PACKET_BYTES / 8)

struct slot {
	bool used;
	bool poisoned;
	bool first_seen;
	bool length_known;
	struct packet
		packet; /* of the first fragment that came; addresses, id, protocol */
	size_t length; /* known with the last fragment */
	size_t units; /* that have come */
	size_t cut; /* from here on a fragment was cut by the capture, or 0 */
	uint64_t frame;
	int64_t time_ns;
	uint64_t have[UNITS / 64];
	uint8_t bytes[PACKET_BYTES];
};

struct reassembly {
	size_t used;
	int64_t oldest_ns; /* no used slot is older */
	size_t made; /* of the slots: those that have memory, the first ones */
	struct slot *slots[REASSEMBLY_SLOTS];
};

struct reassembly *reassembly_create(void)
{
	return calloc(1, sizeof(struct reassembly));
}

void reassembly_free(struct reassembly *re)
{
	for (size_t i = 0; re && i < re->made; i++)
		free(re->slots[i]);
	free(re);
}

static bool slot_fits(const struct slot *slot, const struct packet *fragment)
{
	return slot->used && slot->packet.id == fragment->id &&
	       slot->packet.source.length == fragment->source.length &&
	       (slot->packet.source.length == 16 ||
		slot->packet.protocol == fragment->protocol) &&
	       !memcmp(slot->packet.source.bytes, fragment->source.bytes, 16) &&
	       !memcmp(slot->packet.destination.bytes, fragment->destination.bytes, 16);
}

static struct slot *slot_find(struct reassembly *re, const struct packet *fragment)
{
	for (size_t i = 0; i < re->made; i++)
		if (slot_fits(re->slots[i], fragment))
			return re->slots[i];
	return NULL;
}

/* A slot that is not used, or NULL. */
static struct slot *slot_free(struct reassembly *re)
{
	for (size_t i = 0; i < re->made; i++)
		if (!re->slots[i]->used)
			return re->slots[i];
	if (re->made == REASSEMBLY_SLOTS)
		return NULL;
	re->slots[re->made] = malloc(sizeof(struct slot));
	return re->slots[re->made] ? re->slots[re->made++] : NULL;
}

static struct slot *slot_take(struct reassembly *re, const struct packet *fragment,
			      uint64_t frame, int64_t time_ns)
{
	struct slot *slot = slot_free(re);

	if (!slot)
		return NULL;
	memset(slot, 0, offsetof(struct slot, bytes));
	slot->used = true;
	if (!re->used++)
		re->oldest_ns = time_ns;
	slot->packet = *fragment;
	slot->frame = frame;
	slot->time_ns = time_ns;
	return slot;
}

bool reassembly_full(const struct reassembly *re)
{
	return re->used == REASSEMBLY_SLOTS;
}

bool reassembly_holds(const struct reassembly *re, const struct packet *fragment)
{
	for (size_t i = 0; i < re->made; i++)
		if (slot_fits(re->slots[i], fragment))
			return true;
	return false;
}

/* Return the bytes from the start without a hole. */
static size_t slot_prefix(const struct slot *slot)
{
	size_t unit = 0, n;

	while (unit < UNITS && slot->have[unit / 64] >> (unit % 64) & 1)
		unit++;
	n = unit * 8;
	if (slot->length_known && n > slot->length)
		n = slot->length;
	if (slot->cut && n > slot->cut)
		n = slot->cut;
	return n;
}

static void slot_hand_out(struct reassembly *re, struct slot *slot, struct packet *ret)
{
	*ret = slot->packet;
	ret->bytes = slot->bytes;
	ret->captured = slot_prefix(slot);
	ret->length = slot->length_known ? slot->length : 65535;
	ret->fragment = false;
	slot->used = false;
	re->used--;
}

bool reassembly_give_up(struct reassembly *re, int64_t now_ns, bool all,
			struct packet *ret, struct datagram *when, const char **reason)
{
	struct slot *oldest = NULL;

	if (!re->used || (!all && now_ns - re->oldest_ns < REASSEMBLY_NS))
		return false;
	re->oldest_ns = now_ns;
	for (size_t i = 0; i < re->made; i++) {
		struct slot *slot = re->slots[i];

		if (!slot->used)
			continue;
		if (slot->time_ns < re->oldest_ns)
			re->oldest_ns = slot->time_ns;
		if (!all && now_ns - slot->time_ns < REASSEMBLY_NS)
			continue;
		if (!oldest || slot->frame < oldest->frame)
			oldest = slot;
	}
	if (!oldest)
		return false;
	when->frame = oldest->frame;
	when->time_ns = oldest->time_ns;
	*reason = oldest->poisoned ? "IP fragments overlap with different content"
				   : "IP fragments missing";
	slot_hand_out(re, oldest, ret);
	return true;
}

/* The bytes of @fragment into the slot; false where they contradict what is there. */
static bool slot_fill(struct slot *slot, const struct packet *fragment)
{
	size_t first = fragment->offset / 8;
	size_t last = (fragment->offset + fragment->length + 7) / 8;

	for (size_t unit = first; unit < last; unit++) {
		size_t at = unit * 8 - fragment->offset;
		size_t n = fragment->captured > at ? fragment->captured - at : 0;
		uint64_t bit = 1ULL << (unit % 64);

		if (n > 8)
			n = 8;
		if (slot->have[unit / 64] & bit) {
			if (memcmp(slot->bytes + unit * 8, fragment->bytes + at, n) != 0)
				return false;
			continue;
		}
		slot->have[unit / 64] |= bit;
		slot->units++;
		memset(slot->bytes + unit * 8, 0, 8);
		memcpy(slot->bytes + unit * 8, fragment->bytes + at, n);
	}
	return true;
}

enum reassembly_result reassembly_add(struct reassembly *re,
				      const struct packet *fragment, uint64_t frame,
				      int64_t time_ns, struct packet *ret,
				      const char **reason)
{
	size_t end = fragment->offset + fragment->length;
	struct slot *slot;

	/* All but the last are whole units, none is empty, none runs past 64 KiB. */
	if (!fragment->length || end > 65535 || (fragment->more && fragment->length % 8))
		return REASSEMBLY_BAD;
	slot = slot_find(re, fragment);
	if (!slot)
		slot = slot_take(re, fragment, frame, time_ns);
	if (!slot)
		return REASSEMBLY_BAD;

	if (!fragment->offset)
		slot->packet.protocol = fragment->protocol;
	if (slot->length_known &&
	    (end > slot->length || (!fragment->more && end != slot->length)))
		slot->poisoned = true;
	if (!slot_fill(slot, fragment))
		slot->poisoned = true;
	if (fragment->captured < fragment->length) {
		size_t cut = fragment->offset + fragment->captured;

		if (!slot->cut || cut < slot->cut)
			slot->cut = cut ? cut : 1;
	}
	if (!fragment->more && !slot->length_known) {
		slot->length_known = true;
		slot->length = end;
	}
	if (!slot->length_known || slot->units * 8 < slot->length)
		return REASSEMBLY_HELD;

	if (slot->units * 8 >= slot->length + 8)
		slot->poisoned = true;
	*reason = slot->poisoned ? "IP fragments overlap with different content" : NULL;
	slot_hand_out(re, slot, ret);
	return REASSEMBLY_WHOLE;
}
