/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * family.h - what a protocol's decoder is to the rest: one struct family, and the
 * registry of them, in the order of WIRE_FAMILIES. Called by decode.c and identify.c.
 *
 *	netchan		a datagram -> a whole message	family.datagram (netchan.h)
 *	message		bytes -> record and state	message_decode() (message.h)
 *	demo		a file's block -> message	family.demo
 *
 * Each layer can be called alone: DTLS and recordings enter at the message. A family sees
 * neither sessions, files, sockets nor clocks, only its own state, and never another
 * family. Exception: Quake Enhanced calls NetQuake, which its inner messages belong to.
 */
#ifndef FAMILY_H
#define FAMILY_H

#include "capture/demo.h"
#include "decode/keys.h"
#include "decode/message.h"
#include "lib/reader.h"
#include "lib/record.h"

/*
 * A look at a sequenced datagram in a flow of unknown family or direction. The words are
 * little-endian and without bit 31; "other" is the end that receives the datagram.
 */
struct glance {
	uint32_t first; /* bytes 0..3: the sequence in three families */
	uint32_t second; /* bytes 4..7, 0 if there are none: what it may acknowledge */
	uint32_t other; /* the newest first word of the other side */
	bool other_seen;
};

/* Two sequences that may follow each other. */
#define GLANCE_NEAR 64 /* datagrams apart, either way */

static inline bool glance_near(uint32_t a, uint32_t b)
{
	return a - b <= GLANCE_NEAR || b - a <= GLANCE_NEAR;
}

/* The datagrams that came after one, of the same sender in the same flow. */
struct ahead {
	/* The next; false: there is none yet. */
	bool (*next)(struct ahead *ahead, struct span *ret);
};

/* The reason why a datagram waits for later ones. */
enum family_wait {
	WAIT_NOTHING,
	WAIT_KEY, /* a text that another datagram holds: neighbours were swapped; or
		   * what tells the dialect */
	WAIT_SLICES, /* the rest of its message */
	WAIT_END, /* the end of its message: the part behind it is there */
};

struct family {
	enum wire_family id;

	/*
	 * Bytes of the state, which is zero when it is handed out; 0: the family needs
	 * none.
	 */
	size_t state_size;

	/*
	 * All the bytes that @state takes now, state_size and whatever it has allocated.
	 * The bound on the memory of sessions adds these up. NULL: state_size.
	 */
	size_t (*takes)(const void *state);

	/* @state goes away: frees what it has allocated. May be NULL. */
	void (*drop)(void *state);

	/*
	 * Return how strongly this sequenced datagram looks like one of the family's,
	 * after others of its sender in sequence. 0: not at all; 2: a sign that one
	 * datagram in 256 shows by chance. *@ret: its direction, untouched if the sign
	 * does not tell. May be NULL.
	 */
	int (*claims)(const struct glance *glance, struct span payload,
		      enum direction *ret);

	/*
	 * Out-of-band words that the state learns from (challenge, qport, protocol),
	 * ended by KIND_COUNT; only for these is a state handed out. @arguments: what
	 * follows the word, raw, but decompressed where the wire compresses. NULL: none.
	 */
	const enum wire_kind *words;
	void (*word)(void *state, enum wire_kind kind, enum direction direction,
		     struct span arguments);

	/*
	 * Before each datagram: what opens the sessions of this decoder. NULL: nothing is
	 * encrypted.
	 */
	void (*keys)(void *state, struct keys *keys);

	/*
	 * A datagram that is not out-of-band. Sets r->kind, and r->dialect, r->direction
	 * (when @direction is unknown and it can tell) and r->facts where they are known.
	 * @state is NULL if memory is exhausted: then the record is opaque.
	 */
	void (*datagram)(void *state, enum direction direction, struct span payload,
			 struct record *r);

	/*
	 * Return whether this datagram waits for later ones, before datagram() is called
	 * for it. If the key that it waits for does not come, it is opaque, by
	 * datagram(); a slice of a message that never becomes whole is made partial.
	 * Parts that are sent one by one, each when the last was acknowledged, may take
	 * longer than anything is kept pending: one that another follows (WAIT_END) is
	 * only partial if the capture ends before its message. NULL: nothing waits.
	 */
	enum family_wait (*waits)(const void *state, enum direction direction,
				  struct span payload, struct ahead *ahead);

	/*
	 * Learn the dialect from a later datagram, before it is its turn, while one that
	 * several dialects read differently waits (WAIT_KEY). Changes nothing else. NULL:
	 * datagram() is called, without output.
	 */
	void (*peek)(void *state, enum direction direction, struct span payload);

	/*
	 * A block of a recording. Fills in kind, direction, status and fields; frame and
	 * time are set, and stay unless the block tells the time better. May be NULL.
	 */
	void (*demo)(void *state, const struct demo_block *block, struct record *r);

	/* Does the beginning of a file hold a recording of the family's? May be NULL. */
	enum demo_format (*recognise)(struct span prefix);

	/*
	 * Does this datagram of a client belong to the connection in @state, though it
	 * comes from another port of the client's address? By the qport. NULL: then ports
	 * do not change.
	 */
	bool (*owns)(const void *state, struct span payload);
};

/* One of each protocol, in its room: without it the registry does not link. */
#define AS_EXTERN(id, name, symbol) extern const struct family symbol##_family;
WIRE_PROTOCOLS(AS_EXTERN)
#undef AS_EXTERN

/* Return the decoder of protocol @id; NULL for FAMILY_AUTO. */
const struct family *family_of(enum wire_family id);

#endif /* FAMILY_H */
