// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is said of Quake Enhanced's game stays what it was: see fuzz/held.h.
 */
#include "fuzz/qe/fuzz_qe_game.c"
#include "fuzz/held.h"

int main(void)
{
	return held_to("tests/data/held/qe_game");
}
