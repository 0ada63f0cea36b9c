/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lag_pause.h - for how long a player's messages did not come as they used to, and which
 * side paused. Called by lagometer.c for each record; what is counted goes to struct
 * lag_pauses of the player.
 *
 * A pause is an interval of more than three usual ones, and of LAG_PAUSE_LEAST_NS more
 * than a usual one. While a map is loaded, nothing is counted.
 */
#ifndef LAG_PAUSE_H
#define LAG_PAUSE_H

#include "lag/lagometer.h"

#define LAG_PAUSE_LEAST_NS 200000000LL
#define LAG_PAUSE_BURST_NS 50000000LL /* messages within this time came at once */
#define LAG_LOADING_NS	   15000000000LL

/* All zero: nothing was seen. */
struct lag_pause {
	int64_t sent_ns; /* when the server last sent; 0: not known */
	int64_t sent_usual_ns; /* its usual interval */
	int64_t asked_ns; /* when the client first sent since then; 0: it has not */
	int64_t spoke_ns, spoke_usual_ns; /* the same of the client */
	int64_t loading_until_ns;
	int64_t silent_ns; /* a pause of the client that is not yet judged; 0: none */
	int64_t resumed_ns; /* when it ended */
	uint32_t came; /* messages since then, and lost ones */
};

/* Samples went missing: the intervals that go on now are not known. */
void lag_pause_blind(struct lag_pause *p);

/* A map is loaded. */
void lag_pause_loading(struct lag_pause *p, int64_t time_ns);

/* A message of the server. @delayed: by its own word it waited for the client's rate. */
void lag_pause_server(struct lag_pause *p, struct lag_pauses *ret, int64_t time_ns,
		      bool delayed);

/* A message of the client, before which @lost were lost. */
void lag_pause_client(struct lag_pause *p, struct lag_pauses *ret, int64_t time_ns,
		      uint32_t lost);

#endif /* LAG_PAUSE_H */
