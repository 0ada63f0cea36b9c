// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_config_keys.c - each row of config_keys[] against the reader: its range to both
 * ends, its words, its length and its default.
 */
#include "config/config_keys.h"
#include "config/config_support.h"

#define TEXT_MAX (1 << 18)

static struct config other;
static char text[TEXT_MAX], value[TEXT_MAX / 2], said[8192];

/* A file in which @k is given as @v; NULL: its section without it. */
static void write_key(const struct config_key *k, const char *v)
{
	char key[64] = "";
	const char *service = "service 'ffa' { protocol = quake3 port = 27960";

	if (v)
		snprintf(key, sizeof(key), "%s = ", k->name);
	else
		v = "";
	if (!*k->section)
		snprintf(text, sizeof(text), "%s }\n%s%s\n", service, key, v);
	else if (!strcmp(k->section, CONFIG_SERVICE))
		snprintf(text, sizeof(text), "%s %s%s }\n",
			 strcmp(k->name, "port") != 0
				 ? service
				 : "service 'ffa' { protocol = quake3",
			 key, v);
	else if (!strcmp(k->section, CONFIG_CLASS))
		snprintf(text, sizeof(text), "%s query { %s%s } }\n", service, key, v);
	else if (!strcmp(k->section, CONFIG_PLAYERS))
		snprintf(text, sizeof(text), "%s players { %s%s } }\n", service, key, v);
	else
		snprintf(text, sizeof(text), "%s }\n%s { %s%s }\n", service, k->section,
			 key, v);
}

static bool accepted(const struct config_key *k, const char *v)
{
	write_key(k, v);
	return !load(text, &config, said, sizeof(said));
}

static bool number_accepted(const struct config_key *k, unsigned long n)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%lu", n);
	return accepted(k, digits);
}

static bool refused_as(const struct config_key *k, unsigned long n, const char *why)
{
	return !number_accepted(k, n) && strstr(said, k->name) && strstr(said, why);
}

static void numbers_are_taken_to_both_ends(void **state)
{
	(void)state;
	for (const struct config_key *k = config_keys; k->name; k++) {
		char range[64];

		if (k->type != KEY_NUMBER && k->type != KEY_NUMBER_OR_0)
			continue;
		snprintf(range, sizeof(range), "from %lu to %lu", k->low, k->high);
		assert_true(number_accepted(k, k->low));
		assert_true(number_accepted(k, k->high));
		assert_true(refused_as(k, k->high + 1, range));
		if (k->low > 1)
			assert_true(refused_as(k, k->low - 1, range));
		if (k->low)
			assert_int_equal(number_accepted(k, 0),
					 k->type == KEY_NUMBER_OR_0);
	}
}

static void powers_of_two_are_taken_to_the_highest(void **state)
{
	(void)state;
	for (const struct config_key *k = config_keys; k->name; k++) {
		if (k->type != KEY_POWER)
			continue;
		assert_true(number_accepted(k, 0));
		assert_true(number_accepted(k, 1));
		assert_true(number_accepted(k, k->high));
		assert_true(refused_as(k, 3, "power of two"));
		assert_true(refused_as(k, 2 * k->high, "power of two"));
	}
}

/* The words are those of the message about another word, in its order. */
static void choices_are_those_of_the_message(void **state)
{
	(void)state;
	for (const struct config_key *k = config_keys; k->name; k++) {
		char words[128], *word, *rest = words;

		if (k->type != KEY_CHOICE)
			continue;
		snprintf(words, sizeof(words), "'nonsense' is not one of: %s\n", k->unit);
		assert_false(accepted(k, "nonsense"));
		assert_non_null(strstr(said, words));
		snprintf(words, sizeof(words), "%s", k->unit);
		while ((word = strtok_r(rest, ", ", &rest)))
			assert_true(accepted(k, word));
	}
}

static void switches_are_taken(void **state)
{
	(void)state;
	for (const struct config_key *k = config_keys; k->name; k++) {
		if (k->type != KEY_SWITCH)
			continue;
		assert_true(accepted(k, "yes"));
		assert_true(accepted(k, "no"));
		assert_false(accepted(k, "perhaps"));
	}
}

static void defaults_are_what_is_without_the_key(void **state)
{
	/* Both are static: their padding is zero. */
	const void *with = &config, *without = &other;

	(void)state;
	for (const struct config_key *k = config_keys; k->name; k++) {
		char quoted[64];

		if (!k->initial)
			continue;
		snprintf(quoted, sizeof(quoted), "'%s'", k->initial);
		assert_true(accepted(k, NULL));
		other = config;
		assert_true(accepted(k, quoted));
		assert_string_equal(said, "");
		config.services[0].validation_given = other.services[0].validation_given;
		config.services[0].cache_given = other.services[0].cache_given;
		if (memcmp(with, without, sizeof(config)) != 0)
			fail_msg("'%s' in '%s': %s is not the default", k->name,
				 k->section, k->initial);
	}
}

static void texts_are_taken_to_their_length(void **state)
{
	(void)state;
	for (const struct config_key *k = config_keys; k->name; k++) {
		/* The two of a key of Quake Enhanced go together: test_config_output.c.
		 */
		if (k->type != KEY_TEXT || !k->high || !strcmp(k->section, "follow"))
			continue;
		memset(value, 'a', sizeof(value));
		value[0] = value[k->high + 1] = '"';
		value[1] = '/';
		value[k->high + 2] = value[k->high + 3] = '\0';
		assert_true(accepted(k, value));
		value[k->high + 1] = 'a';
		value[k->high + 2] = '"';
		assert_false(accepted(k, value));
	}
}

/* @count different entries, of the form that @unit names; false: not of one known here.
 */
static bool list_of(const char *unit, unsigned long count)
{
	size_t n = (size_t)snprintf(value, sizeof(value), "{");

	for (unsigned long i = 0; i < count; i++) {
		unsigned int a = (unsigned int)i / 256, b = i % 256;

		n += (size_t)snprintf(value + n, sizeof(value) - n, i ? ", " : " ");
		if (!strncmp(unit, "networks", 8) || !strncmp(unit, "addresses", 9))
			n += (size_t)snprintf(value + n, sizeof(value) - n, "10.0.%u.%u",
					      a, b);
		else if (!strncmp(unit, "ports", 5))
			n += (size_t)snprintf(value + n, sizeof(value) - n, "%lu", i + 1);
		else if (!strncmp(unit, "interfaces", 10))
			n += (size_t)snprintf(value + n, sizeof(value) - n, "if%lu", i);
		else
			return false;
	}
	return n + 2 < sizeof(value) && strcat(value, " }");
}

static void lists_are_taken_to_their_length(void **state)
{
	(void)state;
	for (const struct config_key *k = config_keys; k->name; k++) {
		if (k->type != KEY_LIST || !list_of(k->unit, k->high))
			continue;
		assert_true(accepted(k, value));
		assert_true(list_of(k->unit, k->high + 1));
		assert_false(accepted(k, value));
		assert_non_null(strstr(said, "one too many"));
	}
}

static void every_row_has_its_words(void **state)
{
	char range[CONFIG_RANGE];

	(void)state;
	for (const struct config_key *k = config_keys; k->name; k++) {
		size_t n = strlen(k->meaning);

		config_range(k, range);
		assert_true(*range && strlen(range) < CONFIG_RANGE - 1);
		assert_true(n > 8 && k->meaning[n - 1] == '.');
		assert_ptr_equal(config_key(k->section, k->name), k);
	}
	assert_null(config_key("metrics", "nonsense"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_taken_to_both_ends),
		cmocka_unit_test(powers_of_two_are_taken_to_the_highest),
		cmocka_unit_test(choices_are_those_of_the_message),
		cmocka_unit_test(switches_are_taken),
		cmocka_unit_test(defaults_are_what_is_without_the_key),
		cmocka_unit_test(texts_are_taken_to_their_length),
		cmocka_unit_test(lists_are_taken_to_their_length),
		cmocka_unit_test(every_row_has_its_words),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
