/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* kern_proof_echo.h - Quake III's way to prove an address. Included once by a program. */
#ifndef KERN_PROOF_ECHO_H
#define KERN_PROOF_ECHO_H

#include "kern/kern_proof.h"

#define BARE   OOB "getchallenge"
#define ARGUED OOB "getchallenge -69056107 Quake3Arena"

static struct said say_;

/* Ask for a challenge until the echo comes; its token is what a client sends back. */
static inline size_t token_of(const struct frame_spec *wrap, const char *request,
			      size_t n, char ret[FRAME_MAX])
{
	size_t length;

	say(wrap, request, n, &say_);
	assert_answer(&say_, 0);
	assert_memory_equal(say_.text, OOB "echo ", 9);
	length = say_.length - 9;
	memcpy(ret, OOB, 4);
	memcpy(ret + 4, say_.text + 9, length);
	for (size_t i = 4; i < length + 4; i++)
		assert_true((ret[i] >= '0' && ret[i] <= '9') ||
			    (ret[i] >= 'a' && ret[i] <= 'z') ||
			    (ret[i] >= 'A' && ret[i] <= 'Z'));
	return length + 4;
}

#endif /* KERN_PROOF_ECHO_H */
