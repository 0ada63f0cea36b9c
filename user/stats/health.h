/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * health.h - decides whether every configured interface is protected, and every service's
 * traffic goes through the shield. Called for the daemon's /health page (serve.c).
 */
#ifndef HEALTH_H
#define HEALTH_H

#include <stdio.h>

#include "stats/stats.h"

/* The line of a shield in fallback: shield_fallback(). */
#define HEALTH_FALLBACK                                                                 \
	"fallback: this kernel refused the programs for address validation and cached " \
	"responses: both are off"

/*
 * Write what is wrong with a link on which not all programs are attached, or do not run,
 * as words that continue a sentence.
 */
void health_fault(const struct shield_link *link, FILE *out);

/* Return true if no service drops anything: all are in observe mode. */
bool health_observed(const struct stats *stats);

/*
 * Return true if everything is protected. If not, write one line to @out for each
 * interface that is not, and for each service whose datagrams also come in by another
 * interface. A service of which all datagrams do is not protected. @stats: with
 * shield_links_named().
 */
bool health_write(const struct stats *stats, FILE *out);

#endif /* HEALTH_H */
