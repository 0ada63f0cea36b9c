/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * player.h - the entry of a player, byte by byte: a part of abi.h, and under its rules.
 * The code that reads and changes it is in players.h (the table) and bpf/conntrack*.bpf.h
 * (its members).
 *
 * A migration from older tables finds the members of struct player and struct player_key
 * by name. If the meaning of a member changes, the member needs another name, and
 * ABI_VERSION (user/shield/shield_abi.c) must be raised: the name of the tables does not
 * depend on names of members.
 */
#ifndef PLAYER_H
#define PLAYER_H

#include <linux/types.h>

#define PLAYER_BITS   13 /* log2 of buckets of PLAYER_WAYS cells of 88 bytes: 5.5 MiB */
#define PLAYER_WAYS   8
#define PLAYERS_MAX   (PLAYER_WAYS << PLAYER_BITS)
#define PLAYER_SLOTS  256 /* services, as SERVICES_MAX */
#define PLAYERS_SHARE (PLAYERS_MAX / 8) /* cells that one service may have */

/* --- players: entered by the egress program, and by a migration -------------- */

/*
 * The name of a player: its address and port (network order), and the slot of its
 * service.
 */
struct player_key {
	__be32 addr[4];
	__be16 port;
	__u16 slot;
};
_Static_assert(sizeof(struct player_key) == 20, "a key has no holes");

#define PLAYER_VERIFIED                                                      \
	0x01 /* it has returned what only its address was sent: flags_new(), \
		clock_verify() */
#define PLAYER_QPORT \
	0x02 /* its qport, if it has one, and its sequence are known and enforced */
#define PLAYER_CHALLENGE 0x04 /* Quake III: its challenge is known */
#define PLAYER_CHECKSUM \
	0x08 /* its datagrams carry the protocol 71 checksum, which is enforced */
#define PLAYER_FOLLOWED 0x10 /* every datagram of it is sampled */
#define PLAYER_SEQUENCE                                                 \
	0x20 /* NetQuake: its moves are known; heard_sequence is theirs \
	      */
#define PLAYER_CLOCKS PLAYER_CHALLENGE /* NetQuake: its updates have clocks */
#define PLAYER_TAKEN                                                             \
	PLAYER_CHECKSUM /* NetQuake: verified by clocks that were not marked, or \
			   migrated */

#define PLAYER_NETQUAKE \
	0x40 /* the server sends it NetQuake: bpf/conntrack_netquake.bpf.h */
#define PLAYER_RECORDS 0x80 /* the server sends it DTLS: recognised by its records */

#define PLAYER_IDLE_NS \
	60000000000ll /* after such a silence of the server the player has left */

/*
 * A player. Entered by egress; then written by packets on all CPUs without a lock, mostly
 * on one. Times are ns of the shield's clock.
 */
struct player {
	__u64 since_ns; /* when egress last entered it: player_enter() */
	__u64 sent_ns; /* the server's last acceptance or game datagram to it */
	__u64 heard_ns; /* when player_record() counted its last datagram; 0: never;
			   connect_recall() sets it too */
	__u64 due_ns; /* state of its limit (limit.h) */
	__u64 loose_due_ns; /* state of its limit for datagrams that any source could make
			     */
	__u32 packets; /* datagrams that passed by due_ns; wraps around */
	union {
		__u32 jumped; /* a sequence far from its stream that a second datagram has
				 to continue; 0: none */
		__u32 clock_latest; /* NetQuake, with PLAYER_CLOCKS: the server's last
				       clock, with all bits of its mark set */
	};
	/*
	 * The first member of each union holds, except in NetQuake (and qport_mask).
	 * There a player signs on (no flag), then its updates have clocks (PLAYER_CLOCKS,
	 * see clock_note()), and then its moves are known (PLAYER_SEQUENCE).
	 */
	union {
		__u32 heard_sequence; /* highest that matched; NetQuake: of its moves */
		__u32 signed_next; /* signing on: the last acknowledged block + 1; 0: none
				    */
	};
	union {
		__u32 sent_sequence; /* highest of the server; signing on: of its blocks
				      */
		__u32 updates_sent; /* with PLAYER_CLOCKS: the server's last unreliable
				       sequence */
	};
	union {
		__u32 challenge; /* Quake III: the player's challenge when it connected */
		__u32 qport_mask; /* Quake II: 0xffff, 0xff or 0, for a qport of 16 bits,
				     8 or none */
		__u32 clock_named; /* highest clock that counted, with all bits of its
				      mark set; 0: none */
	};
	union {
		__u16 qport; /* in DTLS: the epoch of its records */
		__u16 clock_ms; /* when a clock last counted, units of 2^20 ns; wraps
				   around */
	};
	__u8 flags;
	__u8 proofs; /* datagrams that agree so far, while a flag is learned; NetQuake:
			score of its clocks */
};
_Static_assert(sizeof(struct player) == 64, "struct player has a hole");

/* States of a cell: struct player_cell.state. */
#define PLAYER_NONE    0
#define PLAYER_HERE    1
#define PLAYER_ENTERED 2 /* claimed by the CPU that set this, which writes it */

struct player_cell {
	struct player_key key;
	__u32 state; /* PLAYER_NONE, PLAYER_HERE or PLAYER_ENTERED; with the key three
			words of 64 bits */
	struct player player;
};
_Static_assert(sizeof(struct player_cell) == 88, "struct player_cell has a hole");

/*
 * The table of players: a hash table of buckets of eight cells. A byte of each cell's
 * hash stands in a word of its own, so that one load tells a source that is no player.
 * See players.h.
 */
struct player_table {
	__u64 tags[1 << PLAYER_BITS]; /* a byte for each cell; 0: free */
	__u32 count[PLAYER_SLOTS]; /* cells that each service has, of players that left
				      too */
	struct player_cell cells[PLAYERS_MAX];
};

/* --- addresses with a player ------------------------------------------------------- */

/*
 * Addresses with a player, noted by the egress program while the server sends to a player
 * there: bpf/player_address.bpf.h. A bucket is full when PLAYER_ADDRESS_WAYS other
 * addresses in it are active: then one more is treated as if no player were there.
 */
#define PLAYER_ADDRESS_BITS 12 /* 2^12 buckets: 128 KiB */
#define PLAYER_ADDRESS_WAYS 4

/* The remote end at such an address, and how long it counts after the last note. */
#define ADDRESS_LITTLE                                                           \
	1 /* Quake III, QuakeWorld, Quake II, auto: their datagrams begin with a \
	     sequence */
#define ADDRESS_NETQUAKE 2
#define ADDRESS_MASTER	 3 /* no player: the server sends heartbeats there */
#define ADDRESS_LITTLE_S                                               \
	60 /* units of 2^30 ns: as long as a player stays in its table \
	    */
#define ADDRESS_NETQUAKE_S \
	2 /* units of 2^30 ns, from a note that is made while the client still sends */
#define ADDRESS_MASTER_S 900 /* units of 2^30 ns: three heartbeats of any engine */
_Static_assert((long long)ADDRESS_LITTLE_S << 30 >= PLAYER_IDLE_NS,
	       "a player in the table has its address in use");

struct player_address {
	__u32 tag; /* of the address, the service and ADDRESS_*: never 0; 0: the cell is
		      free */
	__u32 seen_s; /* when player_address_note() last noted it, units of 2^30 ns */
};

/* --- port changes ----------------------------------------------------------- */

#define QPORT_NARROW \
	0x8000 /* in a slot: the qport has 8 bits, and is another than one of 16 */

/* Key of the map qports, by which a player is found whose port changed behind a NAT. */
struct qport_key {
	__be32 addr[4];
	__u16 qport;
	__u16 slot; /* of the service, and perhaps QPORT_NARROW */
};

#endif /* PLAYER_H */
