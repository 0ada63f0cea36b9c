// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is said of whole sessions stays what it was, from the handshake on: see
 * fuzz/held.h. The first 12,000 bytes of recordings that were made for this project.
 */
#include "fuzz/decode/fuzz_decode.c"
#include "fuzz/held.h"

int main(void)
{
	return held_to("tests/data/held/sessions");
}
