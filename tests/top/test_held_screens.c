// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_held_screens.c - whole screens of `top`, with their attributes, at many sizes:
 * services, players, help, attacks, trouble; and what a hundred keys in a row make of it.
 * Under each line stands how it looks where that is not plain: R reversed, B bold, U
 * underlined, together as a small letter or digit.
 */
#include <arpa/inet.h>
#include <math.h>

#include "fuzz/held_text.h"
#include "lib/util.h"
#include "top/top_terminal.h"

static const struct {
	int lines, columns;
} sizes[] = {
	{ 24, 80 }, { 8, 30 },	 { 7, 30 },   { 8, 29 },   { 9, 31 },	{ 12, 79 },
	{ 13, 80 }, { 18, 81 },	 { 25, 95 },  { 28, 97 },  { 30, 107 }, { 32, 108 },
	{ 40, 99 }, { 22, 139 }, { 23, 141 }, { 50, 200 }, { 60, 120 },
};

static char look_of(chtype c)
{
	int pair = PAIR_NUMBER((attr_t)c);
	int look = (c & A_REVERSE ? 1 : 0) | (c & A_BOLD ? 2 : 0) |
		   (c & A_UNDERLINE ? 4 : 0);

	if (pair)
		return (char)((look ? 'a' : '1') + pair + 5 * look);
	return " RBxUyzw"[look];
}

static void put_line(FILE *out, int y)
{
	static const char head[] = " quakeshield " VERSION;
	int from = y ? 0 : (int)sizeof(head) - 1;
	chtype cells[512];
	char text[512] = "", looks[512] = "";
	int n = mvinchnstr(y, 0, cells, 511) == ERR ? 0 : COLS;

	for (int i = 0; i < n; i++) {
		text[i] = (char)(cells[i] & A_CHARTEXT);
		looks[i] = look_of(cells[i]);
	}
	for (; n > from && text[n - 1] == ' '; n--)
		;
	fprintf(out, "%.*s\n", n - from, text + from);
	for (n = COLS; n > from && looks[n - 1] == ' '; n--)
		;
	if (n > from)
		fprintf(out, "~%.*s\n", n - from, looks + from);
}

static void put_screen(FILE *out)
{
	size_t rows = top_draw(top);

	fprintf(out, "%d x %d, room for %zu\n", LINES, COLS, rows);
	for (int y = 0; y < LINES; y++)
		put_line(out, y);
}

static uint64_t screen_sum(void)
{
	uint64_t sum;
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	put_screen(out);
	fclose(out);
	sum = held_sum(HELD_BEGIN, text, n);
	free(text);
	return sum;
}

/* At each size; the first few can be read. */
static void at_all_sizes(const char *what, size_t whole)
{
	held_printf("%s\n", what);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		resizeterm(sizes[i].lines, sizes[i].columns);
		if (i < whole)
			put_screen(held.out);
		else
			held_printf("%d x %d %016" PRIx64 "\n", LINES, COLS,
				    screen_sum());
	}
	resizeterm(24, 80);
}

/* --- what is shown -------------------------------------------------------------------
 */

static void fill_service(struct stats_service *s, unsigned int i, unsigned int round)
{
	static const char *const names[] = { "ffa", "duel",
					     "a-name-of-31-octets-to-the-ends", "quiet",
					     "ctf-with-a-longer-name" };
	static const enum wire_kind kinds[] = { KIND_GETSTATUS, KIND_NETCHAN,
						KIND_STATUSRESPONSE, KIND_RCON };
	static const enum reason reasons[] = { REASON_PLAYER, REASON_SOURCE_LIMIT,
					       REASON_AMPLIFICATION, REASON_CHALLENGED,
					       REASON_WITHIN_LIMITS };

	strcpy(s->service.name, names[i]);
	s->service.family = (__u8)i;
	s->service.observe = i == 1;
	s->slot = i + 3;
	s->players = 3 * i;
	for (int class = 0; class < CLASS_BUDGETS; class ++)
		s->limits_used[class] = class * 0.19 + i * 0.013;
	for (size_t k = 0; i != 3 && k < ARRAY_SIZE(kinds); k++)
		for (size_t r = 0; r < ARRAY_SIZE(reasons); r++) {
			__u64 n = (k + 1) * (r + 2) * (i + 1) *
				  (900 + 77 * round * (k + r));

			if ((k + r) % 4 == 1)
				continue;
			s->in.by[kinds[k]][reasons[r]] =
				(struct counter){ n, n * (60 + r) };
			if (r % 2)
				s->out.by[kinds[k]][reasons[r]] =
					(struct counter){ n / 3, n * (90 + k) };
		}
	s->in.unverified = (struct volume){ 1000, i == 3 ? 0 : 2000 };
	s->out.unverified = (struct volume){ 500, i * i * i * 7000 + 300 };
	for (unsigned int t = 0; t < i % 3; t++)
		s->cached[t] =
			(struct cached_response){ .request = "getinfo",
						  .fresh = t == 1,
						  .age_ns = 1500000000ull * (i + t) };
	s->cached_count = i % 3;
}

static struct stats snapshot(unsigned int round)
{
	struct stats s = {
		.links = { { .interface = "eth0", .mode = MODE_NATIVE, .attached = true },
			   { .interface = "eth1", .mode = MODE_SKB, .missing = true },
			   { .interface = "wg0", .mode = MODE_SKB, .since = 1 } },
		.link_count = 3,
		.service_count = 5,
	};

	s.services = calloc(5, sizeof(*s.services));
	assert_non_null(s.services);
	for (unsigned int i = 0; i < 5; i++)
		fill_service(&s.services[i], i, round);
	return s;
}

static void fill_lag(struct lag_player *p, unsigned int i)
{
	uint32_t dice = i + 1;

	p->client = (struct record_address){ 4,
					     { 192, 0, 2, (uint8_t)i },
					     (uint16_t)(27000 + i) };
	strcpy(p->name, i % 2 ? "^1d^7or^^a^" : "a very long name indeed it is");
	strcpy(p->map, i == 2 ? "" : "q3dm17");
	p->ping_ms = i == 1 ? LAG_PING_NONE : i == 2 ? 123456 : 40 * i;
	p->snapshots_per_s = 20 + i;
	p->packets_per_s = 60 + i;
	p->delayed = i;
	for (int w = 0; w < LAG_WAYS; w++) {
		struct lag_direction *d = &p->way[w];

		d->received = 900 + i;
		d->lost = 31 * i + (unsigned int)w;
		d->repeated = 5 + i;
		d->late = 6 + i;
		for (unsigned int n = 0; n < (i == 3 ? 200 : 60 * i); n++)
			d->ring[d->taken++ % LAG_SAMPLES] = (struct lag_sample){
				.ping_ms = (uint16_t)held_dice(&dice, i == 4 ? 400 : 90),
				.flags = (uint8_t)(held_dice(&dice, 4)
							   ? LAG_ANSWERED
							   : 1U << held_dice(&dice, 6)),
			};
	}
	for (unsigned int n = 0; i > 2 && n < 50 * i; n++) {
		int16_t ms = (int16_t)(held_dice(&dice, 200) - 130);

		p->frames.ring[p->frames.taken++ % LAG_SAMPLES] = ms;
		p->frames.extrapolated += ms > 0;
	}
}

static void fill_players(void)
{
	top_players_begin(top);
	for (unsigned int i = 0; i < 9; i++) {
		struct player_key key = { .port = htons((uint16_t)(27000 + i)),
					  .slot = (__u16)(3 + i % 2) };
		struct player player = { .since_ns = 1000000000ull * (50 + 7 * (i % 4)),
					 .heard_ns =
						 i == 5 ? 0 : 1000000000ull * (100 - i),
					 .packets = 77 * i * i * i };
		const uint8_t mapped[] = { 0, 0, 0,    0,    0,	  0, 0, 0,
					   0, 0, 0xff, 0xff, 192, 0, 2, (uint8_t)i };

		memcpy(key.addr, mapped, sizeof(key.addr));
		if (i > 6)
			memset(key.addr, 0x11 * (int)i, sizeof(key.addr));
		top_players_add(&key, &player, top);
	}
	top_players_end(top);
	top->figures =
		calloc(1, sizeof(*top->figures) + 5 * sizeof(top->figures->rows[0]));
	assert_non_null(top->figures);
	top->figures->count = 5;
	for (unsigned int i = 0; i < 5; i++) {
		strcpy(top->figures->rows[i].service, i % 2 ? "duel" : "ffa");
		fill_lag(&top->figures->rows[i].player, i);
	}
	top->figures->top_prefix_count = 3;
	for (unsigned int i = 0; i < 3; i++) {
		struct lag_file_prefix *w = &top->figures->top_prefixes[i];

		strcpy(w->service, i == 1 ? "duel" : "ffa");
		snprintf(w->prefix, sizeof(w->prefix), "203.0.%u.0/24", i);
		w->share = 0.5 / (i + 1);
	}
	top->clock_ns = 98000000000;
}

static int begin(void **state)
{
	struct stats first = snapshot(0), second = snapshot(1);

	(void)state;
	if (!terminal_begin())
		return -1;
	top_feed(top, &first, 1000000000);
	top_feed(top, &second, 3500000000);
	fill_players();
	top->daemon = 4711;
	return 0;
}

static int end(void **state)
{
	top_coloured = false;
	return terminal_end(state);
}

#define ATTACKS                                                                   \
	"[{\"service\":\"duel\",\"type\":\"flood\",\"duration_s\":95.2,\"peak\":" \
	"{\"packets_per_s\":20400.5}},{\"service\":null,\"type\":\"closed-ports\"}]"

static void services(void **state)
{
	(void)state;
	held_begin();
	at_all_sizes("services", 3);
	for (int i = 0; i < 5; i++) {
		top_key(top, 'j', 3);
		held_printf("chosen %s\n", top_service(top, NULL)->service.name);
		if (i < 2)
			put_screen(held.out);
		else
			at_all_sizes("next", 0);
	}
	for (int i = 0; i < 3; i++) {
		top_key(top, 's', 3);
		at_all_sizes("sorted otherwise", i < 2);
	}
	top->attacks = json_loads(ATTACKS, 0, NULL);
	top->paused = true;
	top->daemon = 0;
	top_coloured = true;
	at_all_sizes("under attack", 2);
	strcpy(top->trouble, "the maps \x1b[31m are gone");
	at_all_sizes("in trouble", 1);
	for (size_t i = 0; i < 5; i++)
		top->now.services[i].service.observe = 1;
	top->now.link_count = 0;
	at_all_sizes("observing", 1);
	held_end("tests/top/held_services.txt");
}

static void players(void **state)
{
	(void)state;
	held_begin();
	top->page = TOP_PLAYERS;
	for (int i = 0; i < 10; i++) {
		at_all_sizes("players", 1);
		top_key(top, 'j', 3);
	}
	top_coloured = true;
	for (int i = 0; i < 10; i++) {
		at_all_sizes("in colours", i == 5);
		top_key(top, 'k', 3);
	}
	free(top->figures);
	top->figures = NULL;
	at_all_sizes("no daemon's", 1);
	top_players_begin(top);
	top_players_end(top);
	at_all_sizes("nobody", 1);
	held_end("tests/top/held_players.txt");
}

static void others(void **state)
{
	struct stats none = { 0 };

	(void)state;
	held_begin();
	top_key(top, 'h', 3);
	at_all_sizes("help", 2);
	top_key(top, 'q', 3);
	top_feed(top, &none, 9000000000);
	at_all_sizes("nothing", 2);
	held_end("tests/top/held_others.txt");
}

static void keys(void **state)
{
	static const int all[] = { 'q',
				   'k',
				   'j',
				   'b',
				   'f',
				   '\t',
				   'p',
				   's',
				   ' ',
				   'h',
				   '?',
				   'x',
				   TOP_KEY_UP,
				   TOP_KEY_DOWN,
				   TOP_KEY_PAGE_UP,
				   TOP_KEY_PAGE_DOWN,
				   0 };
	uint32_t dice = 9;

	(void)state;
	held_begin();
	for (int i = 0; i < 300; i++) {
		int key = all[held_dice(&dice, ARRAY_SIZE(all))];
		bool more = top_key(top, key, 1 + held_dice(&dice, 6));
		size_t service = 99, player = 99;

		top_service(top, &service);
		top_player(top, &player);
		held_printf(
			"%d: %d, page %d order %d paused %d service %zu player %zu scroll "
			"%zu %016" PRIx64 "\n",
			key, more, top->page, top->order, top->paused, service, player,
			top->scroll, screen_sum());
	}
	held_end("tests/top/held_keys.txt");
}

static void figures(void **state)
{
	static const __u64 seconds[] = { 0,	    1,	       59,	  60,
					 61,	    599,       3599,	  3600,
					 3661,	    86399,     86400,	  172799,
					 863913600, 863999999, 864000000, 1u << 31 };
	double x = 0.031;
	char text[TOP_NUMBER];

	(void)state;
	held_begin();
	for (size_t i = 0; i < ARRAY_SIZE(seconds); i++) {
		top_age(seconds[i] * 1000000000 + 999999999, text);
		held_printf("%llu s: %s\n", (unsigned long long)seconds[i], text);
	}
	for (int i = 0; i < 120; i++, x *= 1.5) {
		top_number(x, text);
		held_printf("%.6g: %s, ", x, text);
		top_number((double)(__u64)fmin(x, 1e18), text);
		held_printf("%s\n", text);
	}
	held_end("tests/top/held_figures.txt");
}

#undef ROW
#define ROW(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(services), ROW(players), ROW(others), ROW(keys), ROW(figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
