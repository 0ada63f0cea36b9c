/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q3_state.h - what the deltas and keys of one Quake III connection need.
 *
 * struct q3_game is big (about 1.4 MB of address space, of which a game touches some
 * 300 to 700 kB) and therefore handed out only to a connection that was seen to be one.
 * The table of sessions counts what was touched, q3_game_touched(), and takes it back.
 */
#ifndef Q3_STATE_H
#define Q3_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/evidence.h"
#include "decode/q3/q3_bits.h"
#include "decode/q3/q3_fields.h"

#define Q3_ENTITIES	      1024 /* numbers of entities */
#define Q3_ENTITY_WORLD	      1022 /* the highest number that a delta may name */
#define Q3_ENTITY_END	      1023 /* ends a list of entities */
#define Q3_SNAPSHOTS	      32 /* that a delta may refer to; a power of two */
#define Q3_STATE_POOL_WORDS   (4096 * 51) /* of all entity states together */
#define Q3_STATES_MAX	      4096 /* entity states; 0 is all zero */
#define Q3_TEXTS	      256 /* commands of one side; a power of two */
#define Q3_TEXT_BYTES	      65536 /* bytes of these commands */
#define Q3_CONFIGSTRINGS      2048 /* of any dialect */
#define Q3_CONFIGSTRING_BYTES 32768 /* bytes of all configstrings */
#define Q3_FEEDS	      8 /* gamestates with a known checksum feed */
#define Q3_SLICE	      1300 /* bytes of a slice that is not the last */
#define Q3_RELIABLE_MAX	      128 /* commands in flight, of any dialect */
#define Q3_NONE		      0xffff /* no state */

/* The texts of one side's reliable commands, found by number. */
struct q3_text {
	int32_t number;
	uint32_t at; /* in bytes[], counted from the beginning of time */
	uint32_t hash; /* of the text, for user command keys */
	uint16_t n;
	bool known;
};

struct q3_texts {
	int32_t last; /* the highest number stored */
	uint32_t head;
	struct q3_text slot[Q3_TEXTS];
	char bytes[Q3_TEXT_BYTES];
};

struct q3_named {
	uint16_t number;
	uint16_t state; /* index in the pool */
};

struct q3_snapshot {
	int32_t sequence; /* 0: none */
	bool guessed; /* built on a base that was not seen */
	bool doubted; /* it may be of another map than the gamestate that is known, */
	bool leans; /* and has entities that come from a baseline */
	uint16_t count;
	struct q3_named entity[Q3_ENTITIES];
	uint32_t player[Q3_PLAYER_WORDS];
};

/* A message in slices; done is the last sequence that became whole. */
struct q3_assembly {
	int32_t sequence; /* 0: free */
	uint64_t have; /* bit per slice */
	uint32_t total;
	bool ended; /* the last slice has been seen, total is true */
	uint32_t reached; /* bytes[] beyond this were never written */
	uint8_t bytes[Q3_MESSAGE_MAX + Q3_SLICE]; /* with slack */
};

struct q3_feed {
	int32_t server_id;
	int32_t feed;
	bool known;
};

struct q3_game {
	const struct q3_dialect *dialect;

	struct q3_texts server, client;
	struct q3_assembly slices[2][2]; /* by direction is c2s, two messages each */
	int32_t assembled[2][4]; /* the last whole ones, to know repeats */
	unsigned int assembled_at[2];

	struct q3_feed feeds[Q3_FEEDS];
	unsigned int feed_next;
	/*
	 * Evidence of the gamestate: no message since then can have held another. Before
	 * the first one of a connection that was seen from its beginning, evidence of its
	 * absence.
	 */
	struct evidence gamestate;
	int32_t gamestate_sequence; /* 0: none seen */
	bool differs; /* the last snapshot was a difference to another */
	int32_t strange_id; /* a server id that no message has announced; 0: none */
	/* A map_restart while a gamestate may have been missed; id 0: none. */
	struct {
		int32_t server_id;
		uint32_t sequence; /* of the message with its systeminfo */
	} restart;
	int32_t client_num;

	/* Up to where the big arrays were ever written, in bytes; see q3_game_touched().
	 */
	uint32_t texts_reached[2], configstrings_reached, pool_reached;

	uint32_t configstring_at[Q3_CONFIGSTRINGS];
	uint16_t configstring_n[Q3_CONFIGSTRINGS];
	uint32_t configstring_used;
	char configstring_bytes[Q3_CONFIGSTRING_BYTES];
	uint16_t big_index; /* of bcs0, bcs1 ... */
	int32_t big_number; /* of the command with the last part */
	uint16_t big_used;
	char big[Q3_BIGSTRING_MAX + 1];

	uint16_t baseline[Q3_ENTITIES]; /* a state, 0: all zero */
	uint8_t ring[Q3_SNAPSHOTS]; /* sequence & 31 -> snapshots[] */
	uint8_t work; /* the one that is being built */
	struct q3_snapshot snapshots[Q3_SNAPSHOTS + 1];

	uint16_t states; /* in the pool, by the dialect's size of one */
	uint16_t touched; /* states never used start here */
	uint16_t free; /* list through refs[] */
	uint16_t refs[Q3_STATES_MAX];
	uint32_t pool[Q3_STATE_POOL_WORDS];
};

/* Return the game at *@owner, given one if it has none; NULL: no memory at all. */
struct q3_game *q3_game_get(struct q3_game **owner, const struct q3_dialect *d);

/*
 * Give the game back and set *@owner to NULL, which it may be already. One game is kept
 * for the next q3_game_get(); the others' memory is unmapped.
 */
void q3_game_drop(struct q3_game **owner);
/*
 * Return the memory that @g takes of the machine, in whole pages: what was written once
 * stays, also what a game before it in the same place has written.
 */
size_t q3_game_touched(struct q3_game *g);
/* Forget snapshots, baselines and configstrings: a gamestate has come. */
void q3_game_clear(struct q3_game *g, const struct q3_dialect *d);

/*
 * Return the fields of an entity state. A state handed out has one reference; 0 is all
 * zero, never freed.
 */
static inline uint32_t *q3_state(struct q3_game *g, uint16_t state)
{
	return g->pool + (size_t)state * g->dialect->entity.count;
}

static inline void q3_state_hold(struct q3_game *g, uint16_t state)
{
	g->refs[state]++;
}

static inline void q3_state_release(struct q3_game *g, uint16_t state)
{
	if (state && !--g->refs[state]) {
		g->refs[state] = g->free;
		g->free = state;
	}
}

/*
 * Return a copy of @from; evicts old snapshots when the pool is empty. Q3_NONE: all of
 * the pool is in use by the snapshot @keep and the one in work.
 */
uint16_t q3_state_copy(struct q3_game *g, uint16_t from, const struct q3_snapshot *keep);

static inline struct q3_snapshot *q3_snapshot_work(struct q3_game *g)
{
	return &g->snapshots[g->work];
}

/* Return the snapshot of message @sequence, or NULL. */
static inline struct q3_snapshot *q3_snapshot_find(struct q3_game *g, int32_t sequence)
{
	struct q3_snapshot *s = &g->snapshots[g->ring[sequence & (Q3_SNAPSHOTS - 1)]];

	return sequence > 0 && s->sequence == sequence ? s : NULL;
}

/* Return the newest snapshot before @sequence, or NULL. */
struct q3_snapshot *q3_snapshot_before(struct q3_game *g, int32_t sequence);
/* Puts the one in work in its place, unless a newer one is there. */
void q3_snapshot_commit(struct q3_game *g);
/* Release the snapshot's entity states, and mark it as none. */
void q3_snapshot_empty(struct q3_game *g, struct q3_snapshot *s);

/*
 * Forget all texts. @fresh: the connection begins here, so the empty text stands under
 * number 0, as the engines have it before any command.
 */
void q3_texts_reset(struct q3_texts *t, bool fresh);
/* Stores what a key is made from: @text after the engine's substitutions. True if the
 * number is new. */
bool q3_text_put(struct q3_texts *t, int32_t number, const char *text, size_t n,
		 const struct q3_dialect *d);
/* Return the text of command @number, or NULL if it was not seen or was overwritten. */
const struct q3_text *q3_text_find(const struct q3_texts *t, int32_t number);

static inline const char *q3_text_bytes(const struct q3_texts *t,
					const struct q3_text *text)
{
	return t->bytes + text->at % Q3_TEXT_BYTES;
}

/*
 * Store configstring @index. An index out of range and a text over Q3_BIGSTRING_MAX
 * change nothing; one for which there is no room leaves the configstring empty.
 */
void q3_configstring_set(struct q3_game *g, unsigned int index, const char *text,
			 size_t n);
/* Return the bytes of a configstring, not NUL-terminated; an empty one if never set. */
const char *q3_configstring(const struct q3_game *g, unsigned int index, size_t *n);

/* Read the value of @key in an info string as a number. False: it has none. */
bool q3_info_number(const char *info, size_t n, const char *key, int32_t *ret);

/*
 * Note the checksum feed of the gamestate of @server_id, which is part of a user
 * command's key. The last Q3_FEEDS are kept.
 */
void q3_feed_put(struct q3_game *g, int32_t server_id, int32_t feed);
/* Return the feed of @server_id, or NULL. */
const struct q3_feed *q3_feed_find(const struct q3_game *g, int32_t server_id);

/*
 * Apply a server's command to the state: configstrings, map restarts. It is number
 * @number, in message @sequence.
 */
void q3_game_command(struct q3_game *g, int32_t number, uint32_t sequence,
		     const char *text, size_t n);

/*
 * Return true if the gamestate is known that holds in message @sequence (q3_known.c).
 */
bool q3_game_known(const struct q3_game *g, uint32_t sequence);

/*
 * Note that a gamestate came in message @sequence; @server_id is NULL if it names none.
 */
void q3_game_begin(struct q3_game *g, uint32_t sequence, const int32_t *server_id,
		   int32_t feed);
/*
 * Note that message @sequence was read; if @base is not 0, with a snapshot on that one.
 */
void q3_game_read(struct q3_game *g, uint32_t sequence, uint32_t base);

/*
 * Note that a client that has read up to message @sequence plays the map of @server_id.
 */
void q3_game_played(struct q3_game *g, uint32_t sequence, int32_t server_id);
/* Note that the systeminfo of message @sequence names this server id. */
void q3_game_restart(struct q3_game *g, uint32_t sequence, int32_t server_id);

#endif /* Q3_STATE_H */
