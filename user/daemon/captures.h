/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * captures.h - how many captures of attacks a directory holds.
 */
#ifndef CAPTURES_H
#define CAPTURES_H

#include <stddef.h>

#define CAPTURES_MAX	50 /* files: the newest tenth, and of the others the largest */
#define CAPTURES_ENDING ".pcapng"

/*
 * Make @directory, if it is not there, and room in it for one more; write the path of the
 * capture of the attack @id, in @size bytes. 0 or -errno. Called by incident_monitor.c
 * before each capture.
 */
int captures_begin(const char *directory, const char *id, char *ret, size_t size);

#endif /* CAPTURES_H */
