/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q3_fields.h - the differences between the games of the Quake III family, as data:
 * fields of entities, players and user commands, and the numbers of each dialect.
 * Constants only; a new game is a row in q3_dialect.c with its tables.
 */
#ifndef Q3_FIELDS_H
#define Q3_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#define Q3_COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* One field of a delta: bits 0 is a float, below zero signed; slot: where it lives. */
struct q3_field {
	const char *name;
	int16_t bits;
	uint8_t slot;
};

struct q3_table {
	const struct q3_field *fields;
	size_t count;
};

/*
 * The arrays after a player's fields: groups of 16 values, each with a bit and a mask.
 * gate 1 and 2: one more bit in front of all groups of that gate; 0: none.
 */
struct q3_array {
	const char *const *names; /* 16 */
	int16_t bits;
	uint8_t gate;
};

/* Enough for every table; asserted by the tests. */
#define Q3_ENTITY_WORDS 132
#define Q3_FIELDS_MAX	140 /* of one table */
#define Q3_ARRAYS_MAX	12 /* groups */
#define Q3_VEHICLE_MAX	69
#define Q3_VEHICLE_AT	(Q3_FIELDS_MAX + Q3_ARRAYS_MAX * 16)
#define Q3_PLAYER_WORDS (Q3_VEHICLE_AT + Q3_VEHICLE_MAX + 4 * 16)
#define Q3_MOVE_WORDS	13
#define Q3_MESSAGE_MAX	49152 /* of any dialect */

enum q3_flags {
	Q3_CHECKSUM = 1 << 0, /* in the netchan header; then there is no scrambling */
	Q3_VOICE = 1 << 1, /* ops 9, 10 and 6, 7 */
	Q3_KEEP_PERCENT = 1 << 2, /* '%' stays in texts */
	Q3_KEEP_HIGH = 1 << 3, /* bytes above 127 stay in texts */
	Q3_STATS4_WIDE = 1 << 4, /* stats[4] has 19 bits */
	Q3_GAMESTATE_TAIL = 1 << 5, /* one more short ends a gamestate */
	Q3_PILOT = 1 << 6, /* a bit chooses the pilot's table; vehicles */
	Q3_TRAILING_DATA = 1 << 7, /* raw data may follow the end of a message */
	Q3_CLIENT_EXTRA = 1 << 8, /* one more byte after a client's three longs */
	Q3_PLAIN = 1 << 9, /* no Huffman */
	Q3_UNTESTED = 1 << 10, /* no recording of it was ever at hand */
	Q3_ACK_FIRST =
		1 << 11, /* plain: the acknowledge leads the message, not the snapshot */
};

struct q3_dialect {
	const char *name;
	struct q3_table entity;
	struct q3_table player;
	struct q3_table pilot;
	struct q3_table vehicle;
	struct q3_table moves;
	const struct q3_array *arrays; /* up to names == NULL */
	uint16_t player_slots; /* the arrays follow */
	uint16_t vehicle_slot; /* not zero: a vehicle's state follows */
	uint16_t reliable; /* commands in flight */
	uint16_t configstrings;
	uint32_t message_max;
	uint32_t flags;
	uint16_t protocol;
	uint8_t eof; /* the server's last op */
	uint8_t setgame;
	uint8_t mapchange;
};

extern const struct q3_dialect q3_dialect_66, q3_dialect_67, q3_dialect_68;
extern const struct q3_dialect q3_dialect_legacy; /* the number is not known */
extern const struct q3_dialect q3_dialect_openarena, q3_dialect_ioq3;
extern const struct q3_dialect q3_dialect_quakelive73, q3_dialect_quakelive90;
extern const struct q3_dialect q3_dialect_quakelive91;
extern const struct q3_dialect q3_dialect_rtcw, q3_dialect_et;
extern const struct q3_dialect q3_dialect_tremulous70, q3_dialect_tremulous71;
extern const struct q3_dialect q3_dialect_jka, q3_dialect_jk2_15, q3_dialect_jk2_16;

/* Protocols before 66: demos only, no Huffman; see q3_old.c. NULL at the end. */
extern const struct q3_dialect *const q3_old_dialects[];
#define Q3_OLD_MASKS 31
extern const uint64_t q3_old_masks[Q3_OLD_MASKS];

/* Every dialect, NULL at the end. */
extern const struct q3_dialect *const q3_dialects[];

/*
 * Return the dialect of protocol @number over a netchan with or without checksum; NULL
 * when no table is known for it. Without a number (0): the base game's.
 */
const struct q3_dialect *q3_dialect_find(int number, int checksum);

/* The base game's tables. */
#define Q3_ENTITY_FIELDS 51
#define Q3_PLAYER_FIELDS 48
extern const struct q3_field q3_entity_fields[Q3_ENTITY_FIELDS];
extern const struct q3_field q3_player_fields[Q3_PLAYER_FIELDS];

/* Arrays and user commands, shared by the tables. */
extern const struct q3_array q3_arrays[], q3_arrays_wolf[], q3_arrays_tremulous[];
extern const struct q3_field q3_move[], q3_move_rtcw[], q3_move_et[];
extern const struct q3_field q3_move_quakelive[];
#define Q3_MOVE		  8
#define Q3_MOVE_JEDI	  11
#define Q3_MOVE_RTCW	  13
#define Q3_MOVE_ET	  12
#define Q3_MOVE_QUAKELIVE 10

/* Slots of a user command that all games share. */
enum q3_move_slot {
	Q3_MOVE_FORWARD = 3,
	Q3_MOVE_UP = 5,
};

#endif /* Q3_FIELDS_H */
