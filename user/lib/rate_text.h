/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rate_text.h - rates as people write them: "2/s burst 6", "30/m", "unlimited", "0".
 *
 * A number of requests per second, minute or hour, and how many may come at once after a
 * pause. Without "burst N": what one second brings, at least 1. "0": nothing passes.
 */
#ifndef RATE_TEXT_H
#define RATE_TEXT_H

#include "limit.h"

#define RATE_MAX     1000000 /* per unit */
#define BURST_MAX    1000000
#define RATE_TICK_NS 10000000 /* the coarsest clock of a kernel: HZ=100 */

/*
 * Read a rate. NULL, or what is wrong with @text as words that follow its quotation; then
 * *@ret is untouched.
 */
const char *rate_parse(const char *text, struct limit *ret);

#define RATE_TEXT 48
/* Write @limit so that rate_parse() reads it again. */
void rate_format(const struct limit *limit, char ret[RATE_TEXT]);

/* Return true if @a ever lets more pass than @b: in the long run, or at once. */
bool rate_looser(const struct limit *a, const struct limit *b);

#endif /* RATE_TEXT_H */
