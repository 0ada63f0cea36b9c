// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is said of NetQuake's messages stays what it was: see fuzz/held.h.
 */
#include "fuzz/nq/fuzz_nq_message.c"
#include "fuzz/held.h"

int main(void)
{
	return held_to("tests/data/held/nq_message");
}
