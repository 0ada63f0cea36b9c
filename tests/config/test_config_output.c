// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_config_output.c - sections sample, follow and output: what they mean, what they
 * leave alone when they are not there, and the line of every complaint.
 */
#include "config/config_support.h"

static struct config again;

static void absent_means_nothing_is_seen(void **state)
{
	(void)state;
	load_good(FFA);
	assert_int_equal(config.sample_every, 0);
	assert_int_equal(config.follow_first, 0);
	assert_int_equal(config.follow_every, 0);
	assert_int_equal(config.follow_count, 0);
	assert_string_equal(config.output_json, "");
	assert_string_equal(config.output_pcapng, "");
	assert_int_equal(config.output_cpu, OUTPUT_CPU);
}

static void empty_section_samples(void **state)
{
	(void)state;
	load_good(FFA "sample { }\n");
	assert_int_equal(config.sample_every, SAMPLE_EVERY);
	assert_int_equal(config.sample_rate, SAMPLE_RATE);
}

static const char everything[] =
	FFA "sample { one-in = 64; rate = 500 }\n"
	    "follow { first = 8 one-in = 16 addresses = {192.0.2.7, 2001:db8::/32}\n"
	    "rate = 900 psk-identity = 'quake enhanced' psk-file = \"/etc/quake key\" }\n"
	    "output { json = \"unix:/run/quakeshield/live.sock\"\n"
	    "pcapng = '|/run/quakeshield/live.pcapng' cpu-percent = 35 }\n";

static void everything_at_once(void **state)
{
	char text[CIDR_TEXT];

	(void)state;
	load_good(everything);
	assert_int_equal(config.sample_every, 64);
	assert_int_equal(config.sample_rate, 500);
	assert_int_equal(config.follow_first, 8);
	assert_int_equal(config.follow_every, 16);
	assert_int_equal(config.follow_rate, 900);
	assert_int_equal(config.follow_count, 2);
	assert_string_equal(config.follow_psk_identity, "quake enhanced");
	assert_string_equal(config.follow_psk_file, "/etc/quake key");
	cidr_format(&config.follow[1], text);
	assert_string_equal(text, "2001:db8::/32");
	assert_string_equal(config.output_json, "unix:/run/quakeshield/live.sock");
	assert_string_equal(config.output_pcapng, "|/run/quakeshield/live.pcapng");
	assert_int_equal(config.output_cpu, 35);
}

/* A key's name of all the octets that it may have, and the file behind it. */
static void the_longest_identity(void **state)
{
	char text[512], identity[129];

	(void)state;
	memset(identity, 'i', 128);
	identity[128] = 0;
	snprintf(text, sizeof(text),
		 FFA "follow { psk-identity = %s psk-file = \"/etc/quake key\" }\n",
		 identity);
	load_good(text);
	assert_string_equal(config.follow_psk_identity, identity);
	assert_string_equal(config.follow_psk_file, "/etc/quake key");
}

static void printed_and_read_alike(void **state)
{
	(void)state;
	load_good(everything);
	print_and_read(&config, &again);
}

static const struct {
	const char *text;
	const char *said;
} bad[] = {
	{ FFA "sample { one-in = 1000 }",
	  "t.conf:2: one-in '1000' is not 0 or a power of two up to 16777216\n" },
	{ FFA "sample { one-in = 33554432 }",
	  "t.conf:2: one-in '33554432' is not 0 or a power of two up to 16777216\n" },
	{ FFA "sample {\none-in = one }",
	  "t.conf:3: one-in 'one' is not 0 or a power of two up to 16777216\n" },
	{ FFA "sample { rate = 0 }",
	  "t.conf:2: rate '0' is not a number from 1 to 1000000\n" },
	{ FFA "sample { }\nsample { }", "t.conf:3: section 'sample' is given twice\n" },
	{ FFA "follow { first = 65537 }",
	  "t.conf:2: first '65537' is not a number from 0 to 65536\n" },
	{ FFA "follow { one-in = 3 }",
	  "t.conf:2: one-in '3' is not 0 or a power of two up to 16777216\n" },
	{ FFA "follow { addresses = {::1,\nhome} }",
	  "t.conf:3: addresses 'home' is not an address or network like 203.0.113.0/24 "
	  "or 2001:db8::/32\n" },
	{ FFA "follow {\npsk-identity = id\n}",
	  "t.conf:3: psk-identity and psk-file go together\n" },
	{ FFA "follow { psk-file = /key }",
	  "t.conf:2: psk-identity and psk-file go together\n" },
	{ FFA "follow { psk-identity = id\npsk-file = key }",
	  "t.conf:3: psk-file 'key' is not /path\n" },
	{ FFA "follow { psk-identity = ''\npsk-file = /key }",
	  "t.conf:2: psk-identity '' is not 1 to 128 printable characters\n" },
	{ FFA "follow { psk-identity = 'i\td'\npsk-file = /key }",
	  "t.conf:2: psk-identity 'i?d' is not 1 to 128 printable characters\n" },
	{ FFA "follow { }\nfollow { }", "t.conf:3: section 'follow' is given twice\n" },
	{ FFA "output { json = 'live.jsonl' }",
	  "t.conf:2: json 'live.jsonl' is not /path, |/path or unix:/path\n" },
	{ FFA "output { json = 'unix:live.sock' }",
	  "t.conf:2: json 'unix:live.sock' is not /path, |/path or unix:/path\n" },
	{ FFA "output { pcapng = '' }",
	  "t.conf:2: pcapng '' is not /path, |/path or unix:/path\n" },
	{ FFA "output { pcapng = "
	      "'/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' }",
	  "t.conf:2: pcapng "
	  "'/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' is longer than 107 "
	  "octets\n" },
	{ FFA "output { cpu-percent = 101 }",
	  "t.conf:2: cpu-percent '101' is not a number from 1 to 100\n" },
	{ FFA "output { cpu-percent = 5 }\noutput { }",
	  "t.conf:3: section 'output' is given twice\n" },
};

static void bad_files(void **state)
{
	char said[1024];

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(load(bad[i].text, &again, said, sizeof(said)), -EINVAL);
		assert_string_equal(said, bad[i].said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(absent_means_nothing_is_seen),
		cmocka_unit_test(empty_section_samples),
		cmocka_unit_test(everything_at_once),
		cmocka_unit_test(the_longest_identity),
		cmocka_unit_test(printed_and_read_alike),
		cmocka_unit_test(bad_files),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
