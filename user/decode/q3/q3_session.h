/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q3_session.h - one Quake III connection as an observer knows it.
 *
 * This is the small part, some 200 bytes, that every pair of addresses may have; the big
 * part, struct q3_game, is allocated when a connection is accepted, or when keys were
 * recovered from the middle of one.
 */
#ifndef Q3_SESSION_H
#define Q3_SESSION_H

#include "decode/netchan.h"
#include "decode/q3/q3_message.h"
#include "decode/q3/q3_netchan.h"

enum q3_netchan {
	Q3_NETCHAN_UNKNOWN,
	Q3_NETCHAN_LEGACY, /* scrambled, no checksum */
	Q3_NETCHAN_CHECKSUM, /* protocol 71 of ioquake3 and Tremulous */
};

/* State of a handshake in progress. */
struct q3_offer {
	int32_t challenge;
	int32_t protocol; /* 0: not said */
	uint16_t qport;
	bool has_challenge;
	bool has_connect;
};

/* Votes while neither direction nor netchan are known; by sending end. */
struct q3_votes {
	uint32_t highest; /* sequence */
	int32_t solved[2]; /* challenges, by the offset of the checksum */
	uint32_t solved_at[2]; /* sequences */
	bool has_solved[2];
	uint8_t legacy; /* it is a client over the legacy netchan */
};

struct q3_trial;

struct q3_session {
	struct q3_game *game;
	struct q3_trial *trial;
	const struct q3_dialect *dialect; /* NULL: not known yet */
	enum q3_netchan netchan;
	struct q3_offer offer;
	int32_t challenge;
	int32_t protocol;
	uint16_t qport;
	uint16_t guesses; /* spent on keys */
	bool live; /* sequenced datagrams belong to a known connection */
	bool fresh; /* from its first packet: nothing that came before is missing */
	bool has_challenge; /* its low byte at least */
	bool has_qport;
	bool settled; /* a gamestate has confirmed the dialect */
	bool plain; /* a demo of before Huffman coding */
	bool disconnected; /* by the client or the server */
	bool accepted_again; /* a connectResponse with nothing new in it */
	int64_t demo_ns; /* of a demo: the time of its last snapshot */
	struct netchan_side side[2]; /* by whether a client sends */
	uint8_t behind[2]; /* datagrams in a row that are far behind the newest */
	uint8_t misfits; /* legacy messages in a row that came out wrong, up to a limit */
	uint8_t fits; /* right ones in a row, while the key is doubted */
	struct q3_votes votes[2];
};

/* Free what @s has allocated, but not @s; as family.drop. */
void q3_session_drop(struct q3_session *s);

/*
 * Note the server's @challenge. It begins another handshake, unless the client has
 * returned it.
 */
void q3_session_on_challenge(struct q3_session *s, int32_t challenge);
/* Note what the client offers in @userinfo, @n bytes: challenge, protocol, qport. */
void q3_session_on_connect(struct q3_session *s, const char *userinfo, size_t n);

/*
 * Begin the connection that was offered, which the server has accepted, unless it is
 * the present one. @challenge: of the connectResponse, NULL if it has none.
 */
void q3_session_on_accept(struct q3_session *s, const int32_t *challenge);

/* Begins a connection with what was offered. */
void q3_session_start(struct q3_session *s, bool fresh);

/*
 * Take a datagram from end @end (0 or 1) of which nothing is known. Returns the direction
 * once it is clear; s->netchan is then set too.
 */
enum direction q3_session_vote(struct q3_session *s, unsigned int end,
			       const uint8_t *datagram, size_t n);

/* Find out the netchan, by a datagram of known direction and challenge. */
void q3_session_find_netchan(struct q3_session *s, const uint8_t *datagram, size_t n,
			     bool client);

/*
 * Keep a whole message from the server of which the challenge, or the text of the client
 * command that it acknowledges, is not known; with three of the same acknowledge texts
 * and challenges are guessed. True: a key was found.
 */
bool q3_session_guess(struct q3_session *s, int32_t sequence, int32_t acknowledge,
		      const uint8_t *payload, size_t n);

/*
 * Find the challenge when the text is known: one message is enough if just one of 256
 * keys makes sense of it.
 */
bool q3_session_find_key(struct q3_session *s, int32_t sequence, const char *text,
			 size_t text_n, const uint8_t *payload, size_t n);

/* Forget the messages that q3_session_guess() keeps, and free them. */
void q3_trial_drop(struct q3_session *s);

/*
 * Decode one sequenced datagram of direction C2S or S2C, without a look at struct
 * session.
 */
void q3_session_datagram(struct q3_session *s, enum direction direction,
			 const uint8_t *datagram, size_t n, struct record *r);

#endif /* Q3_SESSION_H */
