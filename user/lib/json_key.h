/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * json_key.h - the keys of JSON that programs read: name, type, unit and meaning.
 *
 * Each writer of JSON has a table of its keys beside it. docs/reference/json.md and the
 * schemas in docs/reference/schema/ are printed from the tables by `make docs`. Tests
 * compare the tables with real output: a key without a row is a failure.
 */
#ifndef JSON_KEY_H
#define JSON_KEY_H

/*
 * One key of an object. A table ends with JSON_END.
 *
 * @type is string, integer, number, boolean, object or array as in JSON Schema, or any.
 * The marks after it are read from left to right: "integer|null[]?" is an array of
 * integers and nulls that can be absent.
 *
 *	|null	or null
 *	[]	an array of these, of any length
 *	?	the key can be absent
 */
struct json_key {
	const char *name; /* "*": any other name, as in an object by service */
	const char *type;
	const char *unit; /* NULL: none */
	const char *meaning; /* a sentence */
	const struct json_key *keys; /* of the object, or of each object of the array */
};

#define JSON_KEY(name, type, unit, meaning)     \
	{                                       \
		name, type, unit, meaning, NULL \
	}
#define JSON_OBJECT(name, type, unit, meaning, keys) \
	{                                            \
		name, type, unit, meaning, keys      \
	}
#define JSON_END                             \
	{                                    \
		NULL, NULL, NULL, NULL, NULL \
	}

#endif /* JSON_KEY_H */
