/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * health.h - is every interface that we were told to protect protected by us?
 */
#ifndef HEALTH_H
#define HEALTH_H

#include <stdio.h>

#include "config/config.h"
#include "stats/stats.h"

/* Say so on @out, one line an interface that is not. */
bool health_write(const struct stats *stats, const struct config *config, FILE *out);

#endif /* HEALTH_H */
