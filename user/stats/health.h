/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * health.h - is every interface that we were told to protect protected by us?
 */
#ifndef HEALTH_H
#define HEALTH_H

#include <net/if.h>
#include <stdio.h>

#include "stats/stats.h"

/* What is wrong with a link that is not ours all over, as words to go on with. */
void health_fault(const struct shield_link *link, FILE *out);

/* Is nothing dropped, of no service? */
bool health_observed(const struct stats *stats);

/* Says so on @out, one line for each of @interfaces that is not, and for each service
 * whose datagrams come in by another; one of which all do is not protected. */
bool health_write(const struct stats *stats, const char (*interfaces)[IF_NAMESIZE],
		  size_t count, FILE *out);

#endif /* HEALTH_H */
