/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fair.h - divide a rate among those that ask for a part of it, max-min fair: no part is
 * more than what is asked for while another is less, and all parts that are cut short are
 * equal.
 */
#ifndef FAIR_H
#define FAIR_H

#include <linux/types.h>

/*
 * Return the largest part of @rate: if each of @count has the lesser of that and of its
 * @ask, all together have @rate at most. @rate itself if nothing is cut short.
 */
static inline __u64 fair_most(const __u64 *ask, __u32 count, __u64 rate)
{
	__u64 most, next = 0, left, over;

	/* It grows as long as one more has enough: @count + 2 turns at most. */
	do {
		most = next;
		left = rate;
		over = 0;
		for (__u32 i = 0; i < count; i++) {
			over += ask[i] > most;
			left -= ask[i] > most ? 0 : ask[i];
		}
		next = over ? left / over : rate;
	} while (next > most);
	return most;
}

/* One of so many parts of the rate is divided equally, whatever is asked for. */
#define FAIR_LEAST 8

/*
 * Divide @rate among @count: replace each @parts[i], what i asks for, by its part. Their
 * sum is @rate at most. Each has @rate / FAIR_LEAST / @count at least, so that one that
 * has asked for nothing until now has something at once. The rest is divided equally.
 */
static inline void fair_divide(__u64 *parts, __u32 count, __u64 rate)
{
	__u64 least = rate / FAIR_LEAST / count, left = rate, most;

	for (__u32 i = 0; i < count; i++)
		parts[i] = parts[i] > least ? parts[i] : least;
	most = fair_most(parts, count, rate);
	for (__u32 i = 0; i < count; i++) {
		parts[i] = parts[i] < most ? parts[i] : most;
		left -= parts[i];
	}
	for (__u32 i = 0; i < count; i++)
		parts[i] += left / count;
}

#endif /* FAIR_H */
