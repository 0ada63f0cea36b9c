/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hints.bpf.h - what the compiler is kept from, and what the verifier is told.
 *
 * None of these compiles to an instruction of its own but for forget(), which makes two.
 * Each stands at a value, and everywhere for one of three reasons. Without the first two
 * an old verifier refuses the program; without the third it is only slower.
 * (index_below() of wire.h is same_copy() and a comparison.)
 */
#ifndef HINTS_BPF_H
#define HINTS_BPF_H

#include <linux/types.h>

#include "cursor.h"

/*
 * All paths that differ only in @v become one: the verifier forgets what it knew of it,
 * since it knows nothing of @unknown, and so prunes what it would otherwise walk once for
 * each value. Without it, each way to wrap a datagram, and each of a hundred words, is a
 * walk of its own through all that follows: millions of instructions instead of 60,000.
 */
static __always_inline __u32 verifier_forget(__u32 v, __u32 unknown)
{
	asm volatile("%0 ^= %1\n%0 ^= %1" : "+r"(v) : "r"(unknown));
	return v;
}

/*
 * The value that is compared or masked is the one that is used. Without it the compiler
 * may keep two copies, bound one and add the other to a pointer, or turn a shift or an
 * addition into something of which the verifier (of Linux 6.1 above all) derives no
 * bounds; either way it says that a pointer leaves its map or packet.
 */
#define same_copy(v) asm volatile("" : "+r"(v))

/*
 * @v is computed here, once, and kept in a register. Without it the compiler computes it
 * anew (a multiplication, mostly) at each use, hoists it above a branch that seldom
 * needs it, or shares the tails of two branches and so makes both longer. Worth the
 * trouble only where each packet comes by.
 */
#define once_here(v) asm volatile("" : "+r"(v))

/*
 * Few come by here. Without it the compiler sets what a way out returns before each
 * branch that may take it, and so for all who go on.
 */
#define seldom_here() asm volatile("")

#endif /* HINTS_BPF_H */
