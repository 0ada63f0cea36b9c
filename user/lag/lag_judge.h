/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lag_judge.h - finds the cause of the lag in a minute: the server, the uplink, an
 * attack, this host, the shield or the player.
 *
 *	lag_minute.c -> counts of all players -> lag_judge() -> a verdict for each player
 *
 * Pure: no clock, no file. The rules are rows of a table in lag_judge.c. A symptom that
 * three of four players have has one cause in common; a symptom of one player is that
 * player's. If too little was seen, the cause is unknown.
 */
#ifndef LAG_JUDGE_H
#define LAG_JUDGE_H

#include "abi.h"
#include "lag/lagometer.h"

/* From these values on, a symptom counts. */
#define LAG_BAD_LOSS	 0.02 /* share of the messages of one direction */
#define LAG_BAD_DELAY_MS 50 /* mean ping above the lowest mean of ten minutes */
#define LAG_BAD_PAUSE	 0.01 /* share of the minute, but at least: */
#define LAG_PAUSE_MS	 500
#define LAG_LEAST	 50 /* messages of a direction; fewer say nothing about loss */
#define LAG_LEAST_LOST	 3 /* fewer lost messages are chance */
#define LAG_LEAST_PINGS	 10
#define LAG_UNSEEN_MOST	 0.25 /* share of missing samples that leaves all unknown */
#define LAG_UNSEEN_FEW	 0.01 /* up to which a minute without a symptom is good */

/* Each has a letter: lag_cause_letter(). */
enum lag_cause {
	CAUSE_UNKNOWN, /* too little was seen, or it fits no rule */
	CAUSE_NONE, /* no symptom */
	CAUSE_SERVER,
	CAUSE_UPLINK, /* between this host and the internet */
	CAUSE_ATTACK, /* the same, while an attack goes on */
	CAUSE_HOST, /* the interface that the player's datagrams come by dropped frames */
	CAUSE_SHIELD, /* it refused the player's datagrams */
	CAUSE_PLAYER, /* the player's line, machine or settings */
	CAUSE_COUNT,
};

enum lag_symptom {
	SYMPTOM_NONE,
	SYMPTOM_LOSS,
	SYMPTOM_HELD, /* for a while nothing came from the player; then all at once, or it
			 was lost */
	SYMPTOM_DELAY, /* pings are longer than they were */
	SYMPTOM_LATE, /* the server sent nothing for a while */
	SYMPTOM_RATE, /* the server held snapshots back, by the client's rate */
	SYMPTOM_SILENCE, /* the client sent nothing for a while */
	SYMPTOM_COUNT,
};

/* Why the cause is unknown. */
enum lag_doubt {
	DOUBT_NONE,
	DOUBT_LITTLE, /* too few messages, or the player came or left in this minute */
	DOUBT_UNSEEN, /* samples are missing */
	DOUBT_ALONE, /* no other player to compare with */
	DOUBT_OTHER, /* the symptom has more than one possible cause */
};

/* The counts of one player in one minute. */
struct lag_counts {
	uint32_t slot; /* of the service */
	bool present; /* in the first half of the minute, and at its end */
	uint64_t received[LAG_WAYS], lost[LAG_WAYS]; /* messages */
	uint64_t unseen[LAG_WAYS]; /* lost, or their samples are missing */
	uint64_t snapshots;
	uint32_t held_ms, late_ms, rate_ms, silent_ms; /* see struct lag_pauses */
	uint64_t pings;
	uint32_t ping_ms; /* their mean */
	/* The lowest mean of the last ten minutes, this one included, or LAG_PING_NONE.
	 */
	uint32_t ping_least_ms;
	uint64_t dropped[LAG_WAYS]; /* frames, by the interfaces that its datagrams come
				       by */
	/* Datagrams that the shield refused it, above its limit: by a sample, so at most
	 * lag_known.refused of its service are. */
	uint64_t refused;
};

/* The shield's own knowledge of the same minute. */
struct lag_known {
	uint32_t length_ms; /* of the minute */
	uint64_t seen, unseen; /* samples of followed players: read, and missing */
	uint64_t refused[SERVICES_MAX]; /* datagrams of all players, above their limit */
	/* The name of an attack that goes on, by slot; NULL: none. [SERVICES_MAX]: on the
	 * host. */
	const char *attack[SERVICES_MAX + 1];
};

struct lag_verdict {
	int64_t time_ns; /* the begin of the minute, since 1970; 0: there is no verdict */
	uint32_t length_ms;
	enum lag_cause cause;
	enum lag_symptom symptom;
	enum lag_way way; /* of the symptom; LAG_WAYS: of neither or both */
	enum lag_doubt doubt;
	double unseen; /* share of the samples of all players that are missing */
	double value; /* of the symptom: a share, or seconds */
	/* The value that three of four of the compared players have or exceed. */
	double common;
	uint32_t compared; /* players, this one included */
	const char *attack; /* that went on, or NULL */
	struct lag_counts counts;
};

/*
 * Judge the minute of @n players, all of the host: @ret has room for as many. Leaves
 * time_ns and length_ms 0. Uses a static buffer: one thread may call it.
 */
void lag_judge(const struct lag_counts *counts, size_t n, const struct lag_known *known,
	       struct lag_verdict *ret);

/* Return "unknown", "none", "server", "uplink", "attack", "host", "shield", "player". */
const char *lag_cause_name(enum lag_cause cause);
/* Return "loss", "held", "delay", "late", "rate" or "silence"; NULL: SYMPTOM_NONE. */
const char *lag_symptom_name(enum lag_symptom symptom);
/* Return the letter of a history: one of "?.SUAHDP". */
char lag_cause_letter(enum lag_cause cause);

/* Bytes of the words, with the NUL. */
#define LAG_TEXT 160
/* Write the figures that led to the verdict as words. */
void lag_verdict_text(const struct lag_verdict *v, char ret[LAG_TEXT]);

#endif /* LAG_JUDGE_H */
