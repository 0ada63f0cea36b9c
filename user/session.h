/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * session.h - what is remembered of one pair of addresses, and the seam to the families.
 *
 * A session is keyed by the unordered pair (address, port), so both directions meet.
 * The table is bounded in number and bytes; the oldest goes first. A family that needs
 * more than struct session keeps it in a state block which it asks for with
 * session_state(); blocks come from a bounded pool, are zeroed when handed out, and are
 * taken back (with the family's free hook, if any) when their session goes.
 *
 * Families never touch the key, the list links or the clock.
 */
#ifndef SESSION_H
#define SESSION_H

#include "record.h"

struct session_table;

struct session {
	struct record_address low, high; /* ordered: low < high */
	enum wire_family family;
	bool family_known; /* a word or the flow decided, not a guess */
	bool server_known; /* the next line means something */
	bool server_is_low; /* which end serves */
	const char *dialect; /* or NULL */
	int64_t first_ns, last_ns;
	uint64_t datagrams;
	void *state; /* the family's block, or NULL; see session_state() */
	uint32_t votes[FAMILY_COUNT]; /* of the heuristics, while !family_known */
	struct session *newer, *older; /* by last use */
	struct session *chain; /* in the hash table */
	struct session_table *table;
};

/*
 * The family's state block of @s, zeroed on first use: FAMILY_STATE_SIZE bytes at most
 * (decode.c knows each family's size from struct family_ops). NULL only if memory is
 * exhausted; then the decoder goes on without state and says opaque.
 */
void *session_state(struct session *s);

/*
 * One row a family, in decode_<family>.c, gathered by decode.c.
 *
 * datagram: a datagram that is NOT out-of-band (or a demo block's message through the
 *           family's own demo entry). Must set r->kind; may set r->dialect, s->dialect.
 * word:     called after the out-of-band parser has put the fields of a word on the
 *           record, so that the state can learn (challenge, qport, protocol).
 *           @word is the canonical spelling from the table; @arguments what follows it,
 *           raw, but decompressed where the wire compresses (Quake III's connect).
 * drop:     the state block is about to be reused; may be NULL.
 */
struct family_ops {
	size_t state_size;
	void (*datagram)(struct session *s, enum direction direction,
			 const uint8_t *payload, size_t n, struct record *r);
	void (*word)(struct session *s, enum direction direction, const char *word,
		     const uint8_t *arguments, size_t n);
	void (*drop)(void *state);
};

extern const struct family_ops netquake_ops;
extern const struct family_ops quakeworld_ops;
extern const struct family_ops quake2_ops;
extern const struct family_ops quake3_ops;
extern const struct family_ops quake_enhanced_ops;

#endif /* SESSION_H */
