/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * player.h - what kernel and daemon know of a player, octet by octet: a part of abi.h,
 * and under its rules. What becomes of it stands in players.h.
 */
#ifndef PLAYER_H
#define PLAYER_H

#include <linux/types.h>

#define PLAYER_BITS   13 /* 2^13 buckets of PLAYER_WAYS cells of 88 bytes: 5.5 MiB */
#define PLAYER_WAYS   8
#define PLAYERS_MAX   (PLAYER_WAYS << PLAYER_BITS)
#define PLAYER_SLOTS  256 /* services: SERVICES_MAX */
#define PLAYERS_SHARE (PLAYERS_MAX / 8) /* cells that one service may hold */

/* --- players: entered by the egress program only ----------------------------- */

struct player_key {
	__be32 addr[4];
	__be16 port;
	__u16 slot;
};
_Static_assert(sizeof(struct player_key) == 20, "a key has no holes");

#define PLAYER_VERIFIED \
	0x01 /* cannot be spoofed: it has answered what only it was told */
#define PLAYER_QPORT	 0x02 /* qport, if any, and sequence are known */
#define PLAYER_CHALLENGE 0x04 /* challenge is known */
#define PLAYER_CHECKSUM	 0x08 /* its datagrams carry the protocol 71 checksum */
#define PLAYER_FOLLOWED	 0x10 /* every datagram of its goes to the daemon */
#define PLAYER_SEQUENCE	 0x20 /* NetQuake: heard_sequence is its moves' */
#define PLAYER_CLOCKS	 PLAYER_CHALLENGE /* NetQuake: clocks are asked for */
#define PLAYER_TAKEN	 PLAYER_CHECKSUM /* NetQuake: verified by unmarked clocks */

#define PLAYER_NETQUAKE \
	0x40 /* the server speaks NetQuake to it: conntrack_netquake.bpf.h */
#define PLAYER_RECORDS 0x80 /* the server speaks DTLS to it: known by its records */

#define PLAYER_IDLE_NS 60000000000ll /* the server has been silent for so long: gone */

struct player {
	__u64 since_ns; /* when the server accepted it */
	__u64 sent_ns; /* the server's last datagram to it */
	__u64 heard_ns; /* its last valid datagram */
	__u64 due_ns; /* budget of its own, see limit.h */
	__u64 loose_due_ns; /* and of what anybody could say in its name */
	__u32 packets; /* heard; begins anew after 2^32 */
	union {
		__u32 jumped; /* a sequence ahead of its time, if another continues it; 0:
				 none */
		__u32 clock_latest; /* NetQuake, asked for clocks: the server's last, with
				       all bits of its mark set */
	};
	/*
	 * The first of each union holds always but in NetQuake. There a player signs on
	 * (no flag), then is asked for clocks that it was sent (PLAYER_CLOCKS, see
	 * clock_note()), and then is known by its moves (PLAYER_SEQUENCE).
	 */
	union {
		__u32 heard_sequence; /* highest; NetQuake: of its moves */
		__u32 signed_next; /* signing on: the block acknowledged last, + 1 */
	};
	union {
		__u32 sent_sequence; /* highest; signing on: of blocks */
		__u32 updates_sent; /* with PLAYER_CLOCKS: the server's last unreliable */
	};
	union {
		__u32 challenge; /* Quake III: as it was when the player connected */
		__u32 qport_mask; /* Quake II: 0xffff, 0xff or 0, for 16 bits, 8 or none
				   */
		__u32 clock_named; /* highest that counted, likewise; 0: none */
	};
	union {
		__u16 qport; /* of DTLS: the epoch of its records */
		__u16 clock_ms; /* when one counted last, of 2^20 ns; wraps around */
	};
	__u8 flags;
	__u8 proofs; /* agreeing datagrams so far, while a flag is being learned */
};
_Static_assert(sizeof(struct player) == 64, "struct player has a hole");

/* struct player_cell.state. */
#define PLAYER_NONE    0
#define PLAYER_HERE    1
#define PLAYER_ENTERED 2 /* is being written, by whoever made it so */

struct player_cell {
	struct player_key key;
	__u32 state; /* PLAYER_*; with the key three words of 64 bits */
	struct player player;
};
_Static_assert(sizeof(struct player_cell) == 88, "struct player_cell has a hole");

/*
 * A hash table: eight cells to a bucket, and of each a byte of the hash in a word of its
 * own, so that one load tells a stranger from all eight. See players.h.
 */
struct player_table {
	__u64 tags[1 << PLAYER_BITS]; /* a byte for each cell; 0: free */
	__u32 count[PLAYER_SLOTS]; /* cells that each service holds, of players who left,
				     too */
	struct player_cell cells[PLAYERS_MAX];
};

/* --- who plays, by address ---------------------------------------------------- */

/*
 * Addresses with somebody playing, noted by the egress program as long as the server
 * speaks to a player there. Fixed; a bucket is full when PLAYER_ADDRESS_WAYS others in it
 * play: then one more address is judged as if nobody did.
 */
#define PLAYER_ADDRESS_BITS 12 /* 2^12 buckets: 128 KiB */
#define PLAYER_ADDRESS_WAYS 4

struct player_address {
	__u32 tag; /* of address, service and what is played: never 0 */
	__u32 seen_s; /* when last, of 2^30 ns */
};

/* --- port changes ----------------------------------------------------------- */

#define QPORT_NARROW 0x8000 /* of a slot: the qport has 8 bits, another than of 16 */

/* A player whose port changed behind its NAT is found by its qport. */
struct qport_key {
	__be32 addr[4];
	__u16 qport;
	__u16 slot; /* and QPORT_NARROW */
};

#endif /* PLAYER_H */
