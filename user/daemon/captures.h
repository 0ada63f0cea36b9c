/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * captures.h - how many captures of attacks a directory holds.
 */
#ifndef CAPTURES_H
#define CAPTURES_H

#define CAPTURES_MAX	50 /* files: the newest tenth, and of the others the largest */
#define CAPTURES_ENDING ".pcapng"

/*
 * Make room in @directory for one more. Names begin with the time, so that the first are
 * the oldest. The smallest of all but the newest few is removed: attacks that last a
 * moment push no other out. Files without CAPTURES_ENDING stay. Called by
 * incident_monitor.c before each capture.
 */
void captures_sweep(const char *directory);

#endif /* CAPTURES_H */
