// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_top.c - the model behind the screen: what is chosen, sorted and said.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <arpa/inet.h>

#include "top/top.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static struct top *top;

static int begin(void **state)
{
	(void)state;
	top = calloc(1, sizeof(*top));
	return top ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	top_free(top);
	return 0;
}

/* Services of these names, in slots of their place; to be filled by who asked. */
static struct stats snapshot(const char *const *names)
{
	struct stats s = { 0 };

	s.services = calloc(8, sizeof(*s.services));
	assert_non_null(s.services);
	for (; names[s.service_count]; s.service_count++) {
		strcpy(s.services[s.service_count].service.name, names[s.service_count]);
		s.services[s.service_count].slot = (__u32)s.service_count;
	}
	return s;
}

static void feed(const char *const *names, __s64 now_ns)
{
	struct stats s = snapshot(names);

	top_feed(top, &s, now_ns);
	assert_null(s.services);
}

static const char *chosen(void)
{
	return top_service(top, NULL)->service.name;
}

static void services_are_chosen_by_name(void **state)
{
	static const char *const three[] = { "a", "b", "c", NULL };
	static const char *const moved[] = { "z", "c", "b", NULL };
	static const char *const none[] = { NULL };
	size_t at;

	(void)state;
	assert_null(top_service(top, NULL));
	assert_true(top_key(top, 'j', 5));
	feed(three, 1000000000);
	assert_string_equal(chosen(), "a");
	assert_true(top_key(top, 'j', 5));
	assert_string_equal(chosen(), "b");
	feed(moved, 2000000000);
	assert_string_equal(top_service(top, &at)->service.name, "b");
	assert_int_equal(at, 2);
	/* It ends at both ends. */
	for (int i = 0; i < 5; i++)
		assert_true(top_key(top, TOP_KEY_DOWN, 5));
	assert_string_equal(chosen(), "b");
	for (int i = 0; i < 5; i++)
		assert_true(top_key(top, TOP_KEY_UP, 5));
	assert_string_equal(chosen(), "z");
	/* The one chosen is gone. */
	feed(three, 3000000000);
	assert_string_equal(chosen(), "a");
	feed(none, 4000000000);
	assert_null(top_service(top, NULL));
}

static void place_is(size_t at, const char *name)
{
	assert_string_equal(top_service_at(top, at)->service.name, name);
}

/* By rate, by total, by name; the chosen one stays chosen wherever it goes. */
static void services_have_an_order(void **state)
{
	static const char *const names[] = { "c", "b", "a", NULL };
	static const __u64 packets[2][3] = { { 0, 5000, 1000 }, { 0, 5010, 2000 } };
	size_t at;

	(void)state;
	for (int second = 0; second < 2; second++) {
		struct stats s = snapshot(names);

		for (int i = 0; i < 3; i++)
			s.services[i].in.by[KIND_NETCHAN][REASON_PLAYER].packets =
				packets[second][i];
		top_feed(top, &s, (second + 1) * 1000000000ll);
		if (!second) {
			/* No pace yet: as configured. */
			place_is(0, "c");
			assert_true(top_key(top, 'j', 5));
		}
	}
	place_is(0, "a");
	place_is(1, "b");
	place_is(2, "c");
	assert_string_equal(top_service(top, &at)->service.name, "b");
	assert_int_equal(at, 1);
	assert_true(top_key(top, 's', 5));
	place_is(0, "b");
	place_is(1, "a");
	assert_true(top_key(top, 's', 5));
	place_is(0, "a");
	place_is(2, "c");
	assert_true(top_key(top, 'j', 5));
	assert_string_equal(chosen(), "c");
}

static struct counter *count(struct stats *s, enum wire_kind kind, enum reason reason)
{
	return &s->services[0].in.by[kind][reason];
}

static void rows_have_paces_and_an_order(void **state)
{
	static const char *const one[] = { "a", NULL };
	static struct top_row rows[TOP_ROWS];
	struct stats first = snapshot(one), second = snapshot(one);
	struct stats_rates rates;

	(void)state;
	*count(&first, KIND_GETSTATUS, REASON_SOURCE_LIMIT) = (struct counter){ 10, 100 };
	*count(&first, KIND_NETCHAN, REASON_PLAYER) = (struct counter){ 5000, 50000 };
	*count(&second, KIND_GETSTATUS, REASON_SOURCE_LIMIT) =
		(struct counter){ 1010, 20100 };
	*count(&second, KIND_NETCHAN, REASON_PLAYER) = (struct counter){ 5100, 60000 };
	*count(&second, KIND_CONNECT, REASON_WITHIN_LIMITS) = (struct counter){ 2, 200 };
	second.services[0].out.by[KIND_NETCHAN][REASON_PLAYER] =
		(struct counter){ 40, 4000 };

	top_feed(top, &first, 1000000000);
	/* Of one snapshot there is no pace. */
	assert_int_equal(top_rows(top, top_service(top, NULL), rows), 2);
	assert_true(rows[0].rates.packets == 0);
	assert_int_equal(rows[0].kind, KIND_NETCHAN);

	top_feed(top, &second, 3000000000);
	assert_int_equal(top_rows(top, top_service(top, NULL), rows), 4);
	assert_int_equal(rows[0].kind, KIND_GETSTATUS);
	assert_true(rows[0].rates.packets == 500 && rows[0].rates.bytes == 10000);
	assert_int_equal(rows[1].kind, KIND_NETCHAN);
	assert_false(rows[1].out);
	assert_true(rows[1].rates.packets == 50);
	assert_true(rows[2].out);
	assert_int_equal(rows[3].kind, KIND_CONNECT);

	top_key(top, 's', 5);
	top_rows(top, top_service(top, NULL), rows);
	assert_int_equal(rows[0].total.packets, 5100);
	assert_int_equal(rows[1].total.packets, 1010);
	top_key(top, 's', 5);
	top_rows(top, top_service(top, NULL), rows);
	assert_int_equal(rows[0].kind, KIND_CONNECT);
	assert_int_equal(rows[1].kind, KIND_GETSTATUS);
	assert_int_equal(rows[2].kind, KIND_NETCHAN);
	top_key(top, 's', 5);
	assert_int_equal(top->order, TOP_BY_PACE);

	top_rates(top, top_service(top, NULL), &rates);
	assert_true(rates.packets[VERDICT_DROP] == 500);
	assert_true(rates.packets[VERDICT_PASS] == 51);
	assert_true(rates.sent == 20);
}

static void keys(void **state)
{
	static const char *const one[] = { "a", NULL };

	(void)state;
	feed(one, 1);
	assert_int_equal(top->page, TOP_SERVICES);
	assert_true(top_key(top, '\t', 5));
	assert_int_equal(top->page, TOP_PLAYERS);
	/* Nobody is there to be chosen. */
	assert_true(top_key(top, 'j', 5));
	assert_true(top_key(top, 'f', 5));
	assert_true(top_key(top, 'p', 5));
	assert_int_equal(top->page, TOP_SERVICES);
	assert_true(top_key(top, 'f', 5));
	assert_int_equal(top->scroll, 5);
	assert_true(top_key(top, TOP_KEY_PAGE_UP, 7));
	assert_int_equal(top->scroll, 0);
	assert_true(top_key(top, ' ', 5));
	assert_true(top->paused);
	assert_true(top_key(top, ' ', 5));
	assert_false(top->paused);
	assert_true(top_key(top, '?', 5));
	assert_int_equal(top->page, TOP_HELP);
	assert_true(top_key(top, 'q', 5)); /* out of the help only */
	assert_int_equal(top->page, TOP_SERVICES);
	assert_true(top_key(top, 0, 5));
	assert_true(top_key(top, 'x', 5));
	assert_false(top_key(top, 'q', 5));
}

static struct player_key key_of(const char *address, __u16 port, __u16 slot)
{
	struct player_key key = { .port = htons(port), .slot = slot };
	struct cidr cidr;

	assert_true(cidr_parse(address, &cidr));
	memcpy(key.addr, cidr.addr, sizeof(key.addr));
	return key;
}

static void players_keep_their_places(void **state)
{
	static const char *const one[] = { "a", NULL };
	struct player_key late = key_of("192.0.2.1", 27960, 0);
	struct player_key early = key_of("2001:db8::1", 1, 0);
	struct player since = { .since_ns = 20 };
	size_t at;

	(void)state;
	feed(one, 1);
	assert_null(top_player(top, NULL));
	top_players_begin(top);
	top_players_add(&late, &since, top);
	since.since_ns = 10;
	top_players_add(&early, &since, top);
	top_players_end(top);
	assert_memory_equal(&top_player(top, &at)->key, &early, sizeof(early));
	assert_int_equal(at, 0);
	top->page = TOP_PLAYERS;
	assert_true(top_key(top, 'j', 5));
	assert_memory_equal(&top_player(top, &at)->key, &late, sizeof(late));
	/* The first has left: the one chosen stays chosen. */
	top_players_begin(top);
	top_players_add(&late, &since, top);
	top_players_end(top);
	assert_memory_equal(&top_player(top, &at)->key, &late, sizeof(late));
	assert_int_equal(at, 0);
}

static void figures_belong_to_one(void **state)
{
	static const char *const two[] = { "a", "b", NULL };
	static const struct {
		const char *address;
		__u16 port, slot;
		int row; /* -1: none */
	} rows[] = {
		{ "192.0.2.1", 27960, 0, 0 },	{ "192.0.2.1", 27960, 1, 1 },
		{ "2001:db8::1", 7, 0, 2 },	{ "192.0.2.1", 27961, 0, -1 },
		{ "192.0.2.2", 27960, 0, -1 },	{ "192.0.2.1", 27960, 5, -1 },
		{ "::c000:201", 27960, 0, -1 },
	};
	struct lag_file *f = calloc(1, sizeof(*f) + 3 * sizeof(f->rows[0]));

	(void)state;
	assert_non_null(f);
	feed(two, 1);
	f->count = 3;
	strcpy(f->rows[0].service, "a");
	f->rows[0].player.client = (struct record_address){ 4, { 192, 0, 2, 1 }, 27960 };
	f->rows[1] = f->rows[0];
	strcpy(f->rows[1].service, "b");
	strcpy(f->rows[2].service, "a");
	f->rows[2].player.client =
		(struct record_address){ 16, { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 }, 7 };
	top->figures = f;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct player_key key =
			key_of(rows[i].address, rows[i].port, rows[i].slot);
		const struct lag_file_row *found = top_figures(top, &key);

		if (rows[i].row < 0)
			assert_null(found);
		else
			assert_ptr_equal(found, &f->rows[rows[i].row]);
	}
}

static void texts(void **state)
{
	static const struct {
		double x;
		const char *text;
	} numbers[] = {
		{ 0, "0" },	    { 0.04, "<0.1" },  { 0.5, "0.5" },
		{ 7, "7" },	    { 9.94, "9.9" },   { 9.96, "10" },
		{ 999.4, "999" },   { 999.5, "1.0k" }, { 1000, "1k" },
		{ 1250, "1.2k" },   { 12500, "12k" },  { 999499, "999k" },
		{ 999500, "1.0M" }, { 5e9, "5G" },     { 1.8e19, "18E" },
		{ -1, "-" },	    { NAN, "-" },      { INFINITY, "-" },
		{ 1e30, "9999E" },
	};
	static const struct {
		__u64 s;
		const char *text;
	} ages[] = {
		{ 0, "0s" },	   { 59, "59s" },     { 60, "1m00" },
		{ 3599, "59m59" }, { 3600, "1h00" },  { 86399, "23h59" },
		{ 86400, "1d" },   { 864000, "10d" }, { 9999999999, "9999d" },
	};
	static const struct {
		const char *address, *text;
	} addresses[] = {
		{ "192.0.2.1", "192.0.2.1:27960" },
		{ "2001:db8::1", "[2001:db8::1]:27960" },
		{ "1111:2222:3333:4444:5555:6666:7777:8888",
		  "[1111:2222:3333:4444:5555:6666:7777:8888]:27960" },
	};
	char text[TOP_NUMBER], address[TOP_ADDRESS];

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		top_number(numbers[i].x, text);
		assert_string_equal(text, numbers[i].text);
	}
	for (size_t i = 0; i < COUNT(ages); i++) {
		top_age(ages[i].s * 1000000000, text);
		assert_string_equal(text, ages[i].text);
	}
	for (size_t i = 0; i < COUNT(addresses); i++) {
		struct player_key key = key_of(addresses[i].address, 27960, 0);

		top_address(&key, address);
		assert_string_equal(address, addresses[i].text);
	}
}

static void attacks_are_named(void **state)
{
	static const char now[] =
		"[{\"id\":\"a\",\"service\":\"ffa\",\"type\":\"flood\",\"also\":"
		"[\"password-guessing\"],\"duration_s\":95.2,\"peak\":{\"packets_per_s\":20400.5}},{\"id\":\"b\",\"service\":null,"
		"\"type\":\"closed-ports\",\"duration_s\":3}]";
	char text[TOP_LINE];

	(void)state;
	top_attacks(top, text);
	assert_string_equal(text, "");
	assert_false(top_attacked(top, "ffa"));
	top->attacks = json_loads(now, 0, NULL);
	top_attacks(top, text);
	assert_string_equal(
		text,
		"UNDER ATTACK (2)  ffa: flood + password-guessing for "
		"1m35, at most 20k/s; this machine: closed-ports for 3s, at most 0/s");
	assert_true(top_attacked(top, "ffa"));
	assert_true(top_attacked(top, ""));
	assert_false(top_attacked(top, "duel"));
}

/* By its service, and nothing of one that is not attacked. */
static void sources_of_an_attack_are_named(void **state)
{
	static const char now[] =
		"[{\"service\":\"ffa\",\"top_prefixes\":[],\"sources\":{\"sampled\":9,\"top\":["
		"{\"source\":\"192.0.2.7\",\"class\":\"rcon\",\"reason\":\"source-limit\","
		"\"share\":0.98}]}},{\"service\":\"duel\",\"sources\":{\"sampled\":40,"
		"\"spoofed\":\"likely\"}}]";
	char text[INCIDENT_FROM];

	(void)state;
	top->attacks = json_loads(now, 0, NULL);
	top_from(top, "ffa", text);
	assert_string_equal(text, "192.0.2.7 (98 % of rcon, source-limit)");
	top_from(top, "duel", text);
	assert_string_equal(text, "addresses that are spoofed, as it seems");
	top_from(top, "ctf", text);
	assert_string_equal(text, "");
}

/* More than a line has room for: it ends, and nothing else does. */
static void many_attacks_are_cut(void **state)
{
	char text[TOP_LINE];

	(void)state;
	top->attacks = json_array();
	for (int i = 0; i < 50; i++)
		json_array_append_new(top->attacks, json_pack("{s:s, s:s}", "service",
							      "a-name-of-some-length",
							      "type", "flood"));
	top_attacks(top, text);
	assert_int_equal(strlen(text), TOP_LINE - 1);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		ROW(attacks_are_named),
		ROW(sources_of_an_attack_are_named),
		ROW(many_attacks_are_cut),
		ROW(services_are_chosen_by_name),
		ROW(services_have_an_order),
		ROW(rows_have_paces_and_an_order),
		ROW(keys),
		ROW(players_keep_their_places),
		ROW(figures_belong_to_one),
		ROW(texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
