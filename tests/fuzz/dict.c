// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints the dictionary of fuzz_classify from the rows of wire.h: a new word is in it
 * without anybody remembering to add it.
 */
#include <stdio.h>

#include "wire.h"

static const char *const words[] = {
#define AS_WORD(kind, word, class_, families, sent) word,
	WIRE_WORDS(AS_WORD)
#undef AS_WORD
};

static const unsigned char codes[] = {
#define AS_CODE(kind, code, name, class_, families) code,
	WIRE_CONTROL(AS_CODE) WIRE_HANDSHAKE(AS_CODE)
#undef AS_CODE
};

static const char *const shapes[] = {
	"\\xff\\xff\\xff\\xff",
	"\\x80\\x00\\x00",
	"\\x00\\x01\\x00",
	"\\x00\\x09\\x00",
	"\\x00\\x10\\x00",
	"\\x00\\x02\\x00\\x08",
	"\\x16\\xfe\\xfd",
	"\\x16\\xfe\\xff",
	"\\x17\\xfe\\xfd\\x00\\x01",
	"\\x14\\xfe\\xfd",
	"a\\x0a1",
	"C\\x0a",
	"c\\x0a",
	"stdlog ",
	"n\\\\chunk",
	"query",
	"connect\\\\protocol",
	"TSource Engine Query",
	"/*",
	"*/",
	"//",
	"\\\"",
	"\\x02",
};

int main(void)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		printf("\"%s\"\n\"\\xff\\xff\\xff\\xff%s\"\n", words[i], words[i]);
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		printf("\"\\x%02x\"\n", codes[i]);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		printf("\"%s\"\n", shapes[i]);
	return 0;
}
