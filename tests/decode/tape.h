/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tape.h - the tape of a test's records. After cmocka.h. Included once by a program.
 */
#ifndef TAPE_H
#define TAPE_H

#include "lib/record.h"

static struct record_tape tape;

static inline int tape_begin(void **state)
{
	(void)state;
	return record_tape_create(&tape, 65536, 1 << 20);
}

static inline int tape_end(void **state)
{
	(void)state;
	record_tape_free(&tape);
	return 0;
}

#endif /* TAPE_H */
