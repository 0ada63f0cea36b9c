/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pin_words.h - the directory of --pin in the names of a daemon's files below /run and
 * /var/lib: a directory of its own has a daemon of its own.
 */
#ifndef PIN_WORDS_H
#define PIN_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Write @pin_dir to @ret as a part of a file's name, another for each directory: a slash
 * as "-", a "-" as "+-", and a "+" as "++". NULL: the default, which is empty. False: it
 * has no room in @size bytes, 1 or more, and is cut.
 */
bool pin_words(const char *pin_dir, char *ret, size_t size);

#endif /* PIN_WORDS_H */
