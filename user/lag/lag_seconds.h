/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lag_seconds.h - the lagometer's account of the last second, of all players into the
 * histograms of their services.
 *
 * The lagometer's counts are since a player came; here stands what they were a second
 * ago.
 */
#ifndef LAG_SECONDS_H
#define LAG_SECONDS_H

#include "lag/lagometer.h"
#include "stats/decoded.h"

struct lag_second {
	int64_t since_ns; /* of the player in this place, so that another begins anew */
	uint64_t received[LAG_WAYS], lost[LAG_WAYS];
	uint64_t drawn, extrapolated;
};

/* A player that was silent for longer is not counted. */
#define LAG_SECONDS_HEARD_NS 2000000000LL

/*
 * Add one value of each known figure of each player that was heard within
 * LAG_SECONDS_HEARD_NS to the histograms of @decoded. Call it once a second. @past: as
 * many as @l has places, all zero at the beginning. A player's first second is not
 * counted, because its beginning was not seen.
 */
void lag_seconds(struct lagometer *l, struct lag_second *past, struct decoded *decoded,
		 int64_t now_ns);

#endif /* LAG_SECONDS_H */
