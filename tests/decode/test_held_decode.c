// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is said of datagrams of any family stays what it was: see fuzz/held.h.
 */
#include "fuzz/decode/fuzz_decode.c"

/* Each input has a decoder of its own, which takes longest. */
#define HELD_CHANGED 16
#include "fuzz/held.h"

int main(void)
{
	return held_to("tests/data/held/decode");
}
