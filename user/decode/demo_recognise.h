/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * demo_recognise.h - decides which kind of recording a file is, by its content. Called by
 * `quakeshield decode` (cmd_decode.c) before it opens the file as one; asks each family's
 * recognise().
 */
#ifndef DEMO_RECOGNISE_H
#define DEMO_RECOGNISE_H

#include "capture/demo.h"

/*
 * Return the format of a recording that begins with the @n bytes, DEMO_PREFIX of them if
 * the file has as many; DEMO_NONE: it is none.
 */
enum demo_format demo_recognise(const uint8_t *bytes, size_t n);

/* Return why the bytes are no recording, as words for a message. */
const char *demo_refusal(const uint8_t *bytes, size_t n);

/* Return the family of @format; FAMILY_AUTO: it is no demo. */
enum wire_family demo_family(enum demo_format format);

#endif /* DEMO_RECOGNISE_H */
