/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cursor.h - the bounds check of the code that reads a datagram in the kernel and in
 * userland alike.
 *
 * A cursor is a half-open span [pos, end). cursor_take() hands out @n bytes and steps
 * over them, or returns NULL and leaves the cursor where it was. The same code is read by
 * the BPF verifier, by the sanitizers in tests/ and by the fuzzers. Some functions of
 * bpf/ compare a pointer with the end of the frame themselves, as parse_plain() and
 * packet_address() do. In user/, lib/reader.h does the same on top of a span.
 */
#ifndef CURSOR_H
#define CURSOR_H

#include <linux/types.h>
#include <stddef.h>

/* <linux/stddef.h> makes it a mere hint; the verifier needs it done. */
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))

struct cursor {
	const __u8 *pos;
	const __u8 *end;
};

/*
 * Return a pointer to the next @n bytes and step over them, or NULL if @c has fewer; then
 * @c stays. @n: at most a few thousand, since the verifier refuses unbounded ones. Called
 * in programs, userland and tests. Load only from the pointer that was returned: from the
 * comparison of @at + @n with the end the verifier derives its bound.
 */
static __always_inline const void *cursor_take(struct cursor *c, __u32 n)
{
	const __u8 *at = c->pos;

#ifdef __bpf__
	__builtin_assume(at); /* or each caller compares with NULL once more */
#endif
	if (at + n > c->end)
		return NULL;

	c->pos = at + n;
	return at;
}

/*
 * Return 1 if @v is 0, or else 0. Branch-free: the verifier explores both sides of each
 * branch. The barrier keeps the compiler from making a branch of it.
 */
static __always_inline __u32 zero_bit(__u64 v)
{
	v |= -v;
	asm volatile("" : "+r"(v));
	return (__u32)(v >> 63) ^ 1;
}

#endif /* CURSOR_H */
