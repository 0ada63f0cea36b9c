/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q2_state.h - one Quake II connection, or recording, as an observer knows it. Changed by
 * the files of user/decode/q2 only, when a message commits.
 *
 * struct q2_session is small: every pair of addresses may have one. The state of a game
 * is allocated when its first message is right, and grows with the number of entities in
 * sight.
 */
#ifndef Q2_STATE_H
#define Q2_STATE_H

#include "decode/evidence.h"
#include "decode/netchan.h"
#include "decode/q2/q2_dialect.h"
#include "decode/q2/q2_entity.h"
#include "decode/q2/q2_player.h"

#define Q2_FRAMES      16 /* that a delta may refer to; a power of two */
#define Q2_MESSAGE_MAX 32768 /* in fragments, or inflated */
#define Q2_INFLATE_MAX (1 << 18) /* of one message in all: what is beyond is missing */
#define Q2_PLAYERS     256 /* of a multi-view recording */

/* Entities in the order of their numbers, in memory that grows to the most ever held. */
struct q2_list {
	struct q2_entity *entity;
	uint16_t count, room;
};

struct q2_frame {
	int32_t number; /* 0: empty */
	uint32_t sequence; /* of the message that it came in */
	bool guessed; /* its base was not seen: what it does not name is not known */
	bool doubted; /* its map may be another than the one that is known, */
	bool leans; /* and entities of it come from baselines */
	int32_t player[Q2_PLAYER_WORDS];
	struct q2_player_delta delta; /* that made the player */
	struct q2_list list;
};

/* The last part of a deflated file; n 0: there was none. */
struct q2_part {
	uint32_t crc;
	uint16_t n;
	uint8_t percent;
};

/* Baselines come in the order of their numbers, up to @last in message @sequence. */
struct q2_range {
	uint32_t sequence;
	uint16_t first, last;
};

#define Q2_RANGES 64 /* more messages than a map's baselines take */

/* Last states of a multi-view recording, by number. */
struct q2_mvd_player {
	int32_t word[Q2_PLAYER_WORDS];
};

struct q2_game {
	struct q2_frame frames[Q2_FRAMES]; /* by number */
	struct q2_frame work; /* the one that is being made */
	/*
	 * In the order in which they came: baselines, or the last states of a multi-view
	 * recording. And where each number's is, plus 1.
	 */
	struct q2_list baselines;
	uint16_t *baseline_at; /* of the dialect's number of entities */
	uint16_t baseline_at_n;
	struct q2_mvd_player *players; /* Q2_PLAYERS, of multi-view recordings */
	struct q2_inflate *download; /* of a Q2PRO file in transit */
	struct q2_part part; /* the last that went into it */
	bool lost; /* a part of the file was: none behind it can be read */
	/* Which numbers each of the messages with baselines has gone through. */
	struct q2_range ranges[Q2_RANGES];
	uint8_t ranges_n;
	bool begun; /* serverdata was seen */
	struct evidence_join join; /* and are these its baselines? */
	int16_t playernum; /* -1: not known, or of no player */
	uint16_t maxclients; /* 0: not known */
};

#define Q2_CHALLENGES 4 /* of the server that are remembered */

/* State of a handshake in progress. */
struct q2_offer {
	int32_t protocol; /* 0: not said */
	int32_t challenge;
	uint16_t qport;
	uint16_t minor;
	bool has_connect;
	bool refused; /* since the connect the server has said something else */
	bool new_netchan;
};

struct q2_session {
	struct q2_game *game; /* or NULL */
	struct q2_dialect dialect; /* name NULL: not known yet */
	struct q2_offer offer, now; /* being made, and of the present connection */
	uint8_t challenges_n;
	bool doubted; /* the connect before: it named none of them */
	int32_t challenges[Q2_CHALLENGES]; /* of this joining; the oldest first */
	struct netchan_side side[2]; /* by whether a client sends */
	struct netchan_late late[2]; /* likewise */
	struct netchan_slices slices[2];
	struct netchan_proof proof;
	/* The protocol of a recording that begins with op 7; 0: it does not. */
	int32_t oldest;
	int32_t unknown; /* a protocol that this decoder does not know; 0: none */
	uint8_t qport_size; /* plus 1; 0: not known */
	bool guessed; /* the dialect was: another may fit better what is to come */
	bool doubt; /* the message in hand is read differently by dialects that fit */
	uint8_t peeked; /* later datagrams that were asked for the dialect: see PEEKS_MAX
			 */
	uint32_t ways; /* bits of q2_guess.c: those that fitted so far; 0: all */
	bool live; /* a connection was accepted, or its datagrams made sense */
	bool disconnected; /* by the client or the server */
	bool accepted_again; /* a client_connect with nothing new in it */
	bool block_wanted; /* a block of a file was asked for, and has not come */
	uint8_t download_n;
	uint8_t download[FACTS_TEXT]; /* the name of the file that was asked for */
	bool recording; /* of a client: no sequences show that a block is missing */
	bool stale; /* the datagram in hand is an old one: it must teach nothing */
	bool strange; /* and it may be of another connection */
	uint16_t sum; /* netchan_sum() of the datagram in hand */
	uint16_t fps; /* frames a second; 0: ten */
	int32_t demo_last; /* of a recording: its newest frame */
	uint32_t demo_frames; /* that have passed in it */
};

/* Return the bytes that @q takes, its own size included; as family.takes. */
size_t q2_session_takes(const struct q2_session *q);
/* Free what @q has allocated, but not @q; as family.drop. */
void q2_session_drop(struct q2_session *q);

/* Begin a connection with what was offered. */
void q2_session_start(struct q2_session *q);
/* Return true if the present connection is the one that was offered. */
bool q2_session_is_offered(const struct q2_session *q);
/* Begin a connection of which nothing is known. */
void q2_session_forget(struct q2_session *q);

/*
 * Return the game, allocated if there is none. NULL: no memory. The dialect's number of
 * entities has room.
 */
struct q2_game *q2_game_get(struct q2_session *q);

/* Free the stream of a file in transit: what comes from now on begins another. */
void q2_game_end_file(struct q2_game *g);

/* Forget all but the memory: serverdata has come in message @sequence. */
void q2_game_clear(struct q2_game *g, uint32_t sequence);

/* Account for a message of the server that was read. */
void q2_game_read(struct q2_game *g, uint32_t sequence);

/*
 * Note that frame @number, which is a difference to frame @base, came in message
 * @sequence.
 */
void q2_game_differs(struct q2_game *g, int32_t number, int32_t base, uint32_t sequence);

/* Return the frame of that number, or NULL. */
struct q2_frame *q2_frame_find(struct q2_game *g, int32_t number);

/*
 * Return true if frame @number is not here, though one of the next fifteen is. An old
 * datagram that has it may only be late in the capture, and frames to come may refer to
 * it.
 */
bool q2_frame_missed(const struct q2_game *g, int32_t number);

/* Append entity @number to @list. NULL: no memory. */
struct q2_entity *q2_list_add(struct q2_list *list, unsigned int number);

/* Return the baseline of entity @number, or NULL if there is none. */
struct q2_entity *q2_baseline_find(const struct q2_game *g, unsigned int number);
/*
 * Note that message @sequence says which numbers up to @number have baselines. If the
 * list is full, what comes later is not noted.
 */
void q2_baselines_reach(struct q2_game *g, uint32_t sequence, unsigned int number);

/*
 * Return true if a message has gone through @number. Otherwise one that was not seen may
 * have.
 */
bool q2_baselines_reached(const struct q2_game *g, unsigned int number);

/*
 * Return the baseline of entity @number, all zero if it is new. NULL: no memory, or no
 * such number.
 */
struct q2_entity *q2_baseline_get(struct q2_game *g, unsigned int number);

#endif /* Q2_STATE_H */
