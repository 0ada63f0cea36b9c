/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * duration.h - lengths of time in text: "90s", "10m", "1h30m", "7d". For `allow --for`
 * and `explain`. Pure.
 */
#ifndef DURATION_H
#define DURATION_H

#include <linux/types.h>
#include <stdbool.h>

#define DURATION_MAX_S (3650ull * 24 * 3600)

/*
 * Read a duration: numbers with s, m, h or d after each, added up. False: it is none, or
 * not from one second to ten years; *@ret, in nanoseconds, is untouched.
 */
bool duration_parse(const char *text, __u64 *ret);

#define DURATION_TEXT 32
/* Write the two largest units of a duration, rounded down: "1h30m", "59s", "0s". */
void duration_format(__u64 ns, char ret[DURATION_TEXT]);

#endif /* DURATION_H */
