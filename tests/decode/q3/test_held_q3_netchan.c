// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is said of Quake III's connections stays what it was: see fuzz/held.h.
 */
#include "fuzz/q3/fuzz_q3_netchan.c"
#include "fuzz/held.h"

int main(void)
{
	return held_to("tests/data/held/q3_netchan");
}
