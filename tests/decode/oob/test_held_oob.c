// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is said of connectionless words stays what it was: see fuzz/held.h.
 */
#include "fuzz/decode/fuzz_oob.c"
#include "fuzz/held.h"

int main(void)
{
	return held_to("tests/data/held/oob");
}
