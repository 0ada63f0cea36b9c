/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hints.bpf.h - barriers against the compiler and the verifier, each explained once.
 *
 * The programs must load with clang 14 on Linux 6.1 and newer, and a flooding datagram
 * pays for each instruction. Where plain C gives code that the verifier rejects, or
 * explores millions of times, one of these marks the value. The name at the value says
 * which problem it solves; other files do not repeat the explanation. None compiles to an
 * instruction but verifier_forget(), which compiles to two.
 *
 * Related habits, for which no macro is needed:
 *
 * - __noinline functions with integer arguments. The verifier analyses a global function
 *   once, with unknown arguments, and not once per caller and path. Such a function takes
 *   at most five arguments and no pointer but the context or a pointer that it compares
 *   with NULL. So a player's name is passed as three words (struct player_id), and a
 *   frame as offsets (pkt_ctx.bpf.h).
 * - Branch-free arithmetic (zero_bit() in cursor.h). The verifier explores both sides of
 *   each branch.
 * - Offsets in place of pointers (struct packet). To the verifier, a pointer behind each
 *   combination of headers is another pointer.
 * - index_below() (wire.h) is a comparison with same_copy(): a bounded array index.
 */
#ifndef HINTS_BPF_H
#define HINTS_BPF_H

#include <linux/types.h>

#include "cursor.h"

/*
 * Return @v, and make the verifier forget its value. @unknown: any value that the
 * verifier does not know, such as a length from the packet.
 *
 * Paths that differ only in @v then count as equal, and the verifier prunes all but one.
 * Without it, each combination of headers and each of a hundred command words is explored
 * to the end: millions of instructions in place of 60,000. The bounds of @v are lost too,
 * so mask or compare it afterwards. Called on values that differ by path (kind, reason,
 * list, offsets). Never on an index right before its use without a new comparison.
 */
static __always_inline __u32 verifier_forget(__u32 v, __u32 unknown)
{
	asm volatile("%0 ^= %1\n%0 ^= %1" : "+r"(v) : "r"(unknown));
	return v;
}

/*
 * Compute @v into one register, and use this register from here on. Without it the
 * compiler may keep two copies, bound one and add the other to a pointer, or turn a shift
 * or an addition into another instruction of which the verifier derives no bounds. The
 * verifier of Linux 6.1 also loses the bounds of a value that was spilled to the stack
 * before the comparison. In each case the load fails: a pointer leaves its map or packet.
 */
#define same_copy(v) asm volatile("" : "+r"(v))

/*
 * Compute @v here. Without it the compiler computes @v again at each use (mostly a
 * multiplication), moves it above a branch that seldom needs it, or merges the ends of
 * two branches, which makes both longer. It only saves instructions; use it on the path
 * of each packet.
 */
#define once_here(v) asm volatile("" : "+r"(v))

/*
 * Mark a branch that is seldom taken. Without it the compiler loads the value that the
 * branch returns before the branch, which costs each packet an instruction. It only saves
 * instructions.
 */
#define seldom_here() asm volatile("")

/* Which way a branch mostly goes. */
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif /* HINTS_BPF_H */
