// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is said of Quake II's messages stays what it was: see fuzz/held.h.
 */
#include "fuzz/q2/fuzz_q2_message.c"
#include "fuzz/held.h"

int main(void)
{
	return held_to("tests/data/held/q2_message");
}
