// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_held_words.c - all that the readers of short texts say of words, right and wrong
 * ones, and of many that differ a little from them; and the names of everything.
 */
#include <arpa/inet.h>

#include "fuzz/held_text.h"
#include "lib/cidr.h"
#include "lib/duration.h"
#include "lib/keylog.h"
#include "lib/listen.h"
#include "lib/log.h"
#include "lib/names.h"
#include "lib/nearest.h"
#include "lib/rate_text.h"
#include "lib/secret.h"

#define COUNT(a)	 (sizeof(a) / sizeof(*(a)))
#define HELD_ALL(say, a) held_all(say, a, COUNT(a))

static void held_all(held_say *say, const char *const *texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		held_text(say, texts[i]);
}

static void hex(FILE *out, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%02x", ((const uint8_t *)bytes)[i]);
	fputc('\n', out);
}

static void say_cidr(FILE *out, const char *text, size_t n)
{
	struct cidr cidr;
	char back[CIDR_TEXT];
	bool is;

	(void)n;
	memset(&cidr, 0xaa, sizeof(cidr));
	is = cidr_parse(text, &cidr);
	fprintf(out, "%d host bits %d ", is, cidr_host_bits(text));
	if (is) {
		cidr_format(&cidr, back);
		fprintf(out, "%s length %u wide %d ", back, cidr.length,
			cidr_is_wide(&cidr));
	}
	hex(out, &cidr, sizeof(cidr));
}

static void networks(void **state)
{
	static const char *const texts[] = {
		"10.0.0.0/8",
		"10.0.0.0/7",
		"203.0.113.7/24",
		"192.0.2.1",
		"192.0.2.1/32",
		"192.0.2.1/33",
		"0.0.0.0/0",
		"255.255.255.255/31",
		"2001:db8::1",
		"2001:db8::/32",
		"2001:db8:ffff:ffff:ffff:ffff:ffff:ffff/59",
		"fd00::/8",
		"fd00::/16",
		"fd00::/15",
		"::/0",
		"::1/128",
		"::1/129",
		"::ffff:192.0.2.1/120",
		"::ffff:0:0/96",
		"::ffff:0:0/95",
		"::ffff:1.2.3.4/104",
		"::ffff:1.2.3.4/103",
		"ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255",
		"ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255/128",
		"ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.2555",
		"",
		"/8",
		"10.0.0.0/",
		"10.0.0.0/008",
		"10.0.0.0/0008",
		"10.0.0.0/8 ",
	};

	(void)state;
	held_begin();
	HELD_ALL(say_cidr, texts);
	for (__u32 length = 0; length <= 128; length++) {
		char text[64], back[CIDR_TEXT];
		struct cidr cidr;

		snprintf(text, sizeof(text), "ffff:abcd:ffff:ffff:ffff::ffff/%u", length);
		assert_true(cidr_parse(text, &cidr));
		cidr_format(&cidr, back);
		held_printf("%s wide %d\n", back, cidr_is_wide(&cidr));
		snprintf(text, sizeof(text), "255.171.255.255/%u", length);
		if (!cidr_parse(text, &cidr))
			continue;
		cidr_format(&cidr, back);
		held_printf("%s wide %d\n", back, cidr_is_wide(&cidr));
	}
	held_end("tests/lib/held_networks.txt");
}

static void say_duration(FILE *out, const char *text, size_t n)
{
	char back[DURATION_TEXT];
	__u64 ns = 77;
	bool is = duration_parse(text, &ns);

	(void)n;
	fprintf(out, "%d %llu ", is, (unsigned long long)ns);
	if (is) {
		duration_format(ns, back);
		fputs(back, out);
	}
	fputc('\n', out);
}

static void durations(void **state)
{
	static const char *const texts[] = {
		"90s",	      "10m",	    "1h30m",  "7d",	"1d2h3m4s", "3650d",
		"3651d",      "0s",	    "1s",     "",	"s",	    "5",
		"315360000s", "315360001s", "87600h", "87601h", "1m1m",	    "3649d24h",
		"3649d24h1s", "1d ",	    "-1s",
	};
	static const __u64 seconds[] = { 0,	    1,	       59,    60,     61,
					 119,	    3599,      3600,  3601,   3661,
					 86399,	    86400,     86401, 86460,  90000,
					 90061,	    31536000,  36000, 604800, 604860,
					 315360000, 4000000000 };
	char text[DURATION_TEXT];

	(void)state;
	held_begin();
	HELD_ALL(say_duration, texts);
	for (size_t i = 0; i < COUNT(seconds); i++) {
		duration_format(seconds[i] * 1000000000, text);
		held_printf("%llu s: %s\n", (unsigned long long)seconds[i], text);
		duration_format(seconds[i] * 1000000000 + 999999999, text);
		held_printf("nearly one more: %s\n", text);
	}
	held_end("tests/lib/held_durations.txt");
}

static void say_rate(FILE *out, const char *text, size_t n)
{
	struct limit limit = { 77, 88 };
	const char *wrong = rate_parse(text, &limit);
	char back[RATE_TEXT];

	(void)n;
	rate_format(&limit, back);
	fprintf(out, "%s; %llu %llu %s\n", wrong ? wrong : "fine",
		(unsigned long long)limit.cost_ns, (unsigned long long)limit.burst_ns,
		wrong ? "" : back);
}

static const char *const rates[] = {
	"unlimited",
	"0",
	"1/s",
	"3/s burst 7",
	"90/m burst 3",
	"1/h",
	"1/h burst 1000000",
	"7/h burst 2",
	"999/m",
	"1000000/s",
	"1000001/s",
	"1000000/s burst 9999",
	"1000000/s burst 10000",
	"1000000/s burst 1000000",
	"1000000/s burst 1000001",
	"100/s burst 1",
	"101/s burst 1",
	"101/s burst 2",
	"2/s burst 0",
	"2/s burst",
	"2/sburst 3",
	"2/s  \t burst3 \t",
	" \t2/m",
	"0/s",
	"2/d",
	"2",
	"2 /s",
	"",
	"00/s",
	"unlimited ",
	"59/m",
	"60/m burst 60",
	"3600/h burst 5",
	"7/m burst 5",
	"1000000/m",
	"1000000/h",
};

static void rates_of_all_sorts(void **state)
{
	(void)state;
	held_begin();
	HELD_ALL(say_rate, rates);
	/* Which of two is looser, for each pair that is one. */
	for (size_t i = 0; i < COUNT(rates); i++) {
		struct limit a, b;

		if (rate_parse(rates[i], &a))
			continue;
		held_printf("%s:", rates[i]);
		for (size_t j = 0; j < COUNT(rates); j++)
			if (!rate_parse(rates[j], &b))
				held_printf("%d", rate_looser(&a, &b));
		held_printf("\n");
	}
	held_end("tests/lib/held_rates.txt");
}

static void say_listen(FILE *out, const char *text, size_t n)
{
	struct sockaddr_storage address;
	struct listen_at at;
	socklen_t length;
	const char *wrong;
	char back[LISTEN_TEXT];

	(void)n;
	memset(&at, 0, sizeof(at));
	at.port = 7;
	at.addr[3] = 9;
	at.public = true;
	wrong = listen_parse(text, &at);
	fprintf(out, "host %d; ", listen_host_local(text));
	listen_format(&at, back);
	fprintf(out, "%s; %s off %d loopback %d ", wrong ? wrong : "fine", back, at.off,
		listen_loopback(&at));
	hex(out, at.addr, sizeof(at.addr));
	listen_sockaddr(&at, &address, &length);
	hex(out, &address, length);
}

static void listeners(void **state)
{
	static const char *const texts[] = {
		"off",
		"127.0.0.1:9127",
		"[::1]:9127",
		"[2001:db8::1]:80",
		"localhost:1",
		"LocalHost:65535",
		"localhost:65536",
		"localhost:0",
		"localhost",
		"localhost.:80",
		"127.255.0.3",
		"128.0.0.1:80",
		"[::2]",
		"[::1]",
		"::1",
		"[]:80",
		"[:80",
		"0.0.0.0:1",
		"127.0.0.1:99999",
		"127.0.0.1:000001",
		"127.0.0.1:00001",
		"127.0.0.1:+1",
		"[::ffff:127.0.0.1]:5",
		"[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]:80",
		"[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.2555]:80",
		"",
		":80",
	};
	struct listen_at at[COUNT(texts)];
	size_t count = 0;

	(void)state;
	memset(at, 0, sizeof(at));
	held_begin();
	HELD_ALL(say_listen, texts);
	for (size_t i = 0; i < COUNT(texts); i++)
		count += !listen_parse(texts[i], &at[count]);
	at[count / 2].public = true;
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < count; j++)
			held_printf("%d", listen_equal(&at[i], &at[j]));
		held_printf("\n");
	}
	held_end("tests/lib/held_listeners.txt");
}

static void say_nearest(FILE *out, const char *text, size_t n)
{
	static const char *const known[] = { "query",
					     "challenge",
					     "connect",
					     "rcon",
					     "a",
					     "netchan",
					     "replies",
					     "malformed",
					     "ab",
					     "on-exit",
					     "abcdefghijklmnopqrstuvwxyz01234",
					     "" };
	struct nearest near;
	const char *found;

	(void)n;
	nearest_begin(&near, text);
	for (size_t i = 0; i < COUNT(known); i++) {
		fprintf(out, "%u/%u ", nearest_distance(text, known[i]),
			nearest_distance(known[i], text));
		nearest_try(&near, known[i]);
	}
	found = nearest_found(&near);
	fprintf(out, "%s\n", found ? found : "-");
}

static void near_words(void **state)
{
	static const char *const texts[] = {
		"query",
		"QUERY",
		"qeury",
		"qurey",
		"quey",
		"chalenge",
		"conect",
		"on-exit",
		"onexit",
		"ba",
		"b",
		"",
		"xyz",
		"netchanel",
		"abcdefghijklmnopqrstuvwxyz0123",
		"abcdefghijklmnopqrstuvwxyz01234",
		"abcdefghijklmnopqrstuvwxyz012345",
	};

	(void)state;
	held_begin();
	HELD_ALL(say_nearest, texts);
	held_end("tests/lib/held_nearest.txt");
}

static void say_plain(FILE *out, const char *text, size_t n)
{
	char *copy = strdup(text);

	(void)n;
	assert_non_null(copy);
	log_make_plain(copy);
	fprintf(out, "'%s'\n", copy);
	free(copy);
}

/* What ends lines and turns text, each beside what does not. */
static const char turned[] = "\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xae\xe2\x80\xaf "
			     "\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa";

static void what_terminals_may_see(void **state)
{
	static const char *const texts[] = {
		"plain text,\twith a tab\nand two lines",
		"\x1b[31mred\x7f\x01\x1f",
		"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
		"\xc2\x80\xc2\x9f\xc2\xa0 \xd8\x9c \xe2\x80\x8e\xe2\x80\x8f\xe2\x80\x90",
		turned,
		"\xef\xbb\xbf\xef\xbb\xbe\xef\xbc\x80",
		"\xc0\xaf \xc1\xbf \xe0\x9f\xbf \xe0\xa0\x80 \xed\x9f\xbf \xed\xa0\x80",
		"\xf0\x8f\xbf\xbf \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf \xf4\x90\x80\x80 \xf5",
		"\xc3",
		"\xe2\x82",
		"\xf0\x9f\x98",
		"",
	};

	(void)state;
	held_begin();
	HELD_ALL(say_plain, texts);
	held_end("tests/lib/held_plain.txt");
}

#define RANDOM "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F"

static void say_keylog(FILE *out, const char *text, size_t n)
{
	FILE *file = n ? fmemopen((void *)text, n, "r") : fopen("/dev/null", "r");
	struct keylog log = { .count = 7 };
	char message[200] = "untouched";
	int err;

	assert_non_null(file);
	err = keylog_read(file, &log, message, sizeof(message));
	fprintf(out, "%d %s, %zu\n", err, err ? message : "", log.count);
	for (size_t i = 0; i < log.count; i++) {
		const struct keylog_entry *e = &log.entries[i];

		fprintf(out, "%s first at %d ", e->label,
			keylog_find(&log, e->label, e->random) == e);
		hex(out, e->random, sizeof(e->random));
		hex(out, e->secret, e->secret_n);
	}
	keylog_free(&log);
	fclose(file);
}

static void key_logs(void **state)
{
	static const char *const texts[] = {
		"",
		"# a comment\r\n\r\n\nCLIENT_RANDOM " RANDOM " 00ff\n",
		"CLIENT_RANDOM " RANDOM " 00\nCLIENT_RANDOM " RANDOM " 01\nB " RANDOM
		" 02",
		"A " RANDOM " 0\n",
		"A " RANDOM " 0g\n",
		"A " RANDOM "00 00\n",
		"A " RANDOM "\n",
		"A\n",
		" " RANDOM " 00\n",
		"A " RANDOM " 00 \n",
		"A  " RANDOM " 00\n",
		"A " RANDOM " " RANDOM RANDOM "\n",
		"A " RANDOM " " RANDOM RANDOM "00\n",
		"A23456789012345678901234567890123456789012345678 " RANDOM " 00\n",
		"A2345678901234567890123456789012345678901234567 " RANDOM " 00\n",
	};

	(void)state;
	held_begin();
	HELD_ALL(say_keylog, texts);
	held_end("tests/lib/held_keylogs.txt");
}

static void say_key(FILE *out, const char *text, size_t n)
{
	struct secret_key key;
	int err;

	(void)n;
	memset(&key, 0, sizeof(key));
	err = secret_key_parse(text, &key);
	fprintf(out, "%d %zu ", err, err ? 0 : key.n);
	hex(out, key.bytes, err ? 0 : key.n);
}

static void keys(void **state)
{
	static const char *const texts[] = {
		"",
		"0",
		"00",
		"0123456789abcdefABCDEF",
		"0g",
		"g0",
		"/0:0",
		"@0`0G0",
		"a ",
		RANDOM RANDOM,
		RANDOM RANDOM "0",
		RANDOM RANDOM "00",
	};

	(void)state;
	held_begin();
	HELD_ALL(say_key, texts);
	held_end("tests/lib/held_keys.txt");
}

static void say_name(FILE *out, const char *text, size_t n)
{
	enum wire_family family = FAMILY_COUNT;
	enum wire_class class = CLASS_COUNT;
	bool is = family_parse(text, &family);

	(void)n;
	fprintf(out, "%d %d ", is, family);
	is = class_parse(text, &class);
	fprintf(out, "%d %d\n", is, class);
}

/* What is called how; kinds and reasons are test_names.c's. */
static void names(void **state)
{
	static const char *const texts[] = {
#define AS_TEXT(family, name) name,
		FAMILY_ALIASES(AS_TEXT)
#undef AS_TEXT
			"NQ",
		"quake3",
		"Quake3",
		"quake",
		"rcon",
		"Rcon",
		"",
	};

	(void)state;
	held_begin();
	for (int i = 0; i <= FAMILY_COUNT; i++)
		held_text(say_name, family_name((enum wire_family)i));
	for (int i = 0; i <= CLASS_COUNT; i++)
		held_text(say_name, class_name((enum wire_class)i));
	HELD_ALL(say_name, texts);
	held_end("tests/lib/held_names.txt");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(networks),
		cmocka_unit_test(durations),
		cmocka_unit_test(rates_of_all_sorts),
		cmocka_unit_test(listeners),
		cmocka_unit_test(near_words),
		cmocka_unit_test(what_terminals_may_see),
		cmocka_unit_test(key_logs),
		cmocka_unit_test(keys),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
