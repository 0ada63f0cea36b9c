/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netchan.h - what the channels of NetQuake, QuakeWorld and Quake II share: the header
 * with two sequences, what is newer than what, and messages that come in slices.
 *
 *	QuakeWorld, Quake II	u32 sequence, u32 acknowledged, c2s [qport:16 or :8],
 *				the messages of this datagram, reliable part first
 *				bit 31 of the first: there is a reliable part; of the
 *				second: parity of the last reliable one that arrived
 *	Q2PRO			bit 30 of the first: a slice, u16 offset (bit 15: more)
 *	NetQuake		netchan_chunk(): reliable chunks, each with its number
 *
 * Sources: Quake QW/client/net_chan.c, WinQuake/net_dgrm.c; Quake-2
 * qcommon/net_chan.c; q2pro src/common/net/chan.c.
 */
#ifndef NETCHAN_H
#define NETCHAN_H

#include "lib/reader.h"
#include "lib/record.h"

#define NETCHAN_RELIABLE (1U << 31) /* of the first word: a reliable part leads */

struct netchan_header {
	uint32_t sequence; /* without bit 31 */
	uint32_t ack; /* without bit 31 */
	bool reliable; /* a reliable part leads the body */
	bool ack_parity;
	bool has_qport;
	uint16_t qport;
};

/*
 * Reads the two words and a qport of @qport_size bytes (0, 1 or 2; 0 from servers), says
 * them on the record, and notes the facts. False, the record malformed: too short.
 */
bool netchan_read(struct reader *rd, unsigned int qport_size, struct record *r,
		  struct netchan_header *ret);

/* The slice that a datagram of Q2PRO's netchan carries. */
struct netchan_part {
	bool sliced; /* the next two mean something */
	bool more; /* parts follow */
	uint16_t offset; /* in the message */
};

/* Read the header of Q2PRO's netchan likewise: its sequences have 30 bits. */
bool netchan_read_part(struct reader *rd, unsigned int qport_size, struct record *r,
		       struct netchan_header *ret, struct netchan_part *part);

/*
 * The sequence of one direction; zero at its beginning. A sequence that is NETCHAN_JUMP
 * or more ahead may be damaged or forged. It counts, but when the next ones go on from
 * where it leapt off, it is forgotten.
 */
struct netchan_side {
	uint32_t newest;
	bool seen;
	bool leapt; /* newest came by a leap, from: */
	uint32_t before;
};

#define NETCHAN_JUMP 128 /* datagrams: two seconds of a game, or more */

enum netchan_order {
	NETCHAN_NEWER, /* and now the newest */
	NETCHAN_REPEATED, /* the newest again */
	NETCHAN_OLDER, /* the engine throws it away: it must change no state */
};

/*
 * Compare @sequence with the newest of its direction, and note it if it is newer. Call it
 * once per datagram; on NETCHAN_OLDER and NETCHAN_REPEATED the datagram must change no
 * state.
 */
enum netchan_order netchan_order(struct netchan_side *side, uint32_t sequence);

#define NETCHAN_RECENT	 32 /* datagrams of which a sum is kept; a power of two */
#define NETCHAN_LATE_MAX 8 /* late datagrams in a row */

/*
 * The datagrams of one direction that are no newer than the newest. Most were overtaken.
 * Others are of a new connection between the same ports that began unseen: it
 * begins with number 1. Zero is where it begins.
 */
struct netchan_late {
	uint32_t newest; /* of the datagrams that were read */
	uint32_t seen; /* bit n: newest - n was read, with bytes of this sum: */
	uint16_t sum[NETCHAN_RECENT]; /* netchan_sum(), by the sequence's low bits */
	uint32_t last; /* the sequence of the last late datagram */
	uint8_t count; /* late datagrams in a row, each soon after the last */
	bool strange; /* one of these was strange */
};

enum netchan_lateness {
	NETCHAN_OVERTAKEN, /* or the same datagram again */
	/*
	 * The datagram is NETCHAN_RECENT or more behind, or its number was read with
	 * other bytes: it may be of another connection. So may those of its row be.
	 */
	NETCHAN_STRANGE,
	/* The last of NETCHAN_LATE_MAX in a row: another connection has begun. */
	NETCHAN_ANEW,
};

/*
 * Return a sum of the datagram's bytes. For a message in slices of one sequence the
 * caller takes 0.
 */
uint16_t netchan_sum(struct span datagram);

/*
 * Note that a datagram was read that is newer than all of its direction. Called for each
 * for which netchan_order() returned NETCHAN_NEWER, also after a jump: then all sums of
 * before are forgotten.
 */
void netchan_late_newer(struct netchan_late *l, uint32_t sequence, uint16_t sum);

/* Decide what a datagram is that is not newer than the newest, and note it. */
enum netchan_lateness netchan_late(struct netchan_late *l, uint32_t sequence,
				   uint16_t sum);

/*
 * Which of a server's datagrams brought no reliable part that was not seen. A client says
 * the parity of those that it has received, and gets the next one only after it has said
 * so. Zero is where it begins.
 */
struct netchan_proof {
	uint32_t newest; /* of the server's datagrams that were read, */
	uint64_t reliable; /* bit n: newest - n had a reliable part */
	bool received; /* the client's last word: */
	uint32_t sequence, ack;
	bool parity;
};

/* Note that a datagram of the server was read, newer than all before. */
void netchan_proof_server(struct netchan_proof *p, const struct netchan_header *h);

/*
 * Note that a datagram of the client was read, newer than all before. True: no reliable
 * part was missed in the server's datagrams from *@ret_first to h->ack. Called for each
 * such datagram, and netchan_proof_server() for each of the server's, in the order of the
 * capture: what was not told here counts as missed.
 */
bool netchan_proof_client(struct netchan_proof *p, const struct netchan_header *h,
			  uint32_t *ret_first);

/* A message in slices; zero is where it begins. */
struct netchan_slices {
	uint8_t *bytes;
	size_t used, room;
	uint32_t next; /* the number of the chunk that must come */
	bool started; /* next means something */
	bool broken; /* a part of the present message was missed */
	bool whole; /* the message was handed out: the next call forgets it */
};

enum netchan_slice {
	NETCHAN_STORED,
	NETCHAN_SEEN, /* repeated: taken already */
	NETCHAN_WHOLE, /* s->bytes, s->used have the message until the next call */
	NETCHAN_MISSED, /* the end of a message of which a part is missing */
	NETCHAN_TOO_LONG, /* over @max or no memory: dropped, as if missed */
};

/*
 * Add chunk @number of NetQuake, @end if it is the last of its message. The first chunk
 * ever seen is taken for the beginning of one if @number is 0, else what it ends is
 * missed.
 */
enum netchan_slice netchan_chunk(struct netchan_slices *s, uint32_t number, bool end,
				 struct span chunk, size_t max);

/*
 * Take the slice at @offset (bytes) of message @number; @more follow. Called for Q2PRO's
 * slices and for QuakeWorld's fragments, once per datagram, with a state for each
 * direction. A message is whole only if all its slices come in order: after a gap it is
 * broken to its end. @max: bytes of a message.
 */
enum netchan_slice netchan_fragment(struct netchan_slices *s, uint32_t number,
				    size_t offset, bool more, struct span slice,
				    size_t max);

/*
 * Return the bytes it has allocated. Called by family.takes of each family with slices.
 */
static inline size_t netchan_slices_room(const struct netchan_slices *s)
{
	return s->room;
}

/*
 * Free the bytes and forget the message: @s is zero afterwards, as at its beginning.
 * Called when the state of a session is freed, once for each direction.
 */
void netchan_slices_drop(struct netchan_slices *s);

#endif /* NETCHAN_H */
