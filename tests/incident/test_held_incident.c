// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_held_incident.c - attacks by dice, second by second: each event as JSON and as
 * words; what is counted between two readings; and what is read back, of objects as they
 * are written and of many that differ a little.
 */
#include "fuzz/held_text.h"
#include "incident/incident_json.h"
#include "incident/incident_now.h"
#include "incident/incident_store.h"
#include "lib/util.h"

#define BEGIN_MS 1795358701000 /* 2026-11-22T14:45:01Z */
#define FLAGS	 (JSON_COMPACT | JSON_REAL_PRECISION(12))

static void json_put(FILE *out, json_t *object)
{
	char *text = json_dumps(object, FLAGS);

	fprintf(out, "%s\n", text ? text : "no object");
	free(text);
	json_decref(object);
}

static void incident_put(FILE *out, const struct incident *i, enum incident_event event)
{
	char text[INCIDENT_TEXT];

	incident_text(i, event, text);
	fprintf(out, "%s\n", text);
	json_put(out,
		 incident_json(i, event, event == INCIDENT_ENDED ? "/a/b.pcapng" : ""));
}

static void incident_sum(const struct incident *i, enum incident_event event)
{
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	incident_put(out, i, event);
	fclose(out);
	held_printf("  %016" PRIx64 "\n", held_sum(HELD_BEGIN, text, n));
	free(text);
}

/* --- seconds by dice -----------------------------------------------------------------
 */

static const enum wire_kind kinds[] = { KIND_GETSTATUS,	   KIND_RCON,
					KIND_GETCHALLENGE, KIND_NETCHAN,
					KIND_OOB_UNKNOWN,  KIND_CONNECT,
					KIND_GETINFO,	   KIND_OOB_EMPTY,
					KIND_ECHO_RETURN,  KIND_STATUSRESPONSE };
static const enum reason reasons[] = { REASON_SERVICE_LIMIT, REASON_SOURCE_LIMIT,
				       REASON_AMPLIFICATION, REASON_CHALLENGED,
				       REASON_PLAYER,	     REASON_PREFIX_LIMIT };

static void second(struct incident_counts *c, uint32_t *dice, uint32_t most, bool rcon)
{
	memset(c, 0, sizeof(*c));
	c->players = held_dice(dice, 9);
	for (int i = 0; most && i < 5; i++) {
		enum wire_kind kind =
			rcon ? KIND_RCON : kinds[held_dice(dice, ARRAY_SIZE(kinds))];
		enum reason reason = reasons[held_dice(dice, ARRAY_SIZE(reasons))];
		uint64_t n = held_dice(dice, most);

		c->packets += n;
		c->bytes += n * (60 + held_dice(dice, 40));
		c->reasons[reason] += n;
		c->kinds[kind] += n;
		if (reason == REASON_CHALLENGED)
			c->asked += n;
		else if (reason == REASON_AMPLIFICATION)
			c->withheld += n;
		else if (reason != REASON_PLAYER)
			c->refused += n;
		if (rcon && reason != REASON_PLAYER)
			c->guesses += n;
	}
}

static void sample(struct incident_watch *w, uint32_t *dice, uint32_t hosts)
{
	struct record_address from = { 4, { 203, 0, 113, 7 }, 99 };
	struct record_address to = { 4, { 192, 0, 2, 1 }, 27960 };
	struct refused_source source = { .weight = 1, .reason = REASON_SOURCE_LIMIT };

	if (held_dice(dice, 7) == 0)
		from.length = 16;
	if (held_dice(dice, 9) == 0)
		to.length = 0;
	from.bytes[1] = (uint8_t)held_dice(dice, hosts > 255 ? 255 : 1);
	from.bytes[3] = (uint8_t)held_dice(dice, hosts > 255 ? 255 : hosts);
	incident_target(w, &to);
	source.ipv6 = from.length == 16;
	for (int i = 0; i < (source.ipv6 ? 8 : 4); i++)
		source.net = source.net << 8 | from.bytes[i];
	incident_source(w, CLASS_QUERY, &source, w->looked_ms + 1000);
}

static void watch_put(const struct incident_watch *w)
{
	held_printf(
		"  %.4f@%lld %.4f@%lld %.4f@%lld looked %d@%lld quiet %lld calm %u count "
		"%llu\n",
		w->buckets[0].level, (long long)w->buckets[0].rising_ms,
		w->buckets[1].level, (long long)w->buckets[1].rising_ms,
		w->buckets[2].level, (long long)w->buckets[2].rising_ms, w->looked,
		(long long)w->looked_ms, (long long)w->quiet_ms, w->players_calm,
		(unsigned long long)w->count);
}

static void a_story(uint32_t seed)
{
	static const uint32_t most[] = { 0, 3, 12, 70, 500, 20000 };
	static const uint32_t hosts[] = { 1, 9, 17, 300 };
	struct incident_subject subject = { seed % 5 == 4 ? INCIDENT_MACHINE : seed,
					    seed % 5 == 4 ? "" : "ffa",
					    seed % 3 ? FAMILY_QUAKE3 : FAMILY_QUAKEWORLD,
					    seed % 4 == 3 };
	struct incident_time now = { BEGIN_MS, 7000 };
	struct incident_watch w = { .count = 0 };
	struct incident_counts c;
	uint32_t dice = seed * 2654435761U + 7, phase = 0;

	held_printf("story %u\n", seed);
	for (int s = 0; s < 160; s++) {
		int64_t step = held_dice(&dice, 12) ? 1000 : held_dice(&dice, 4) * 30000;
		enum incident_event event;

		if (s % 20 == 0)
			phase = held_dice(&dice, ARRAY_SIZE(most));
		second(&c, &dice, most[phase], seed % 3 == 1);
		for (uint32_t i = 0; i < phase * 6; i++)
			sample(&w, &dice, hosts[seed % 4]);
		now.steady_ms += step;
		now.wall_ms += step + (held_dice(&dice, 40) ? 0 : -7000);
		subject.observed ^= held_dice(&dice, 50) == 0;
		event = incident_look(&w, &subject, &c, now);
		if (s % 16 == 0)
			watch_put(&w);
		if (!event)
			continue;
		held_printf("%d: %s past %d%d\n", s, incident_event_name(event),
			    incident_is_past(w.now, w.now->last_ms + INCIDENT_ADOPT_MS),
			    incident_is_past(w.now,
					     w.now->last_ms + INCIDENT_ADOPT_MS + 1));
		if (seed < 3)
			incident_put(held.out, w.now, event);
		else
			incident_sum(w.now, event);
		if (event == INCIDENT_ENDED)
			incident_forget(&w);
	}
	/* Who comes later goes on with it, whatever the clock says. */
	if (w.now) {
		json_t *object = incident_json(w.now, INCIDENT_UPDATED, NULL);
		struct incident *again = incident_parse(object);

		assert_non_null(again);
		json_decref(object);
		now.steady_ms = 500;
		now.wall_ms += (int64_t)(seed % 3) * 3000 - 3000;
		incident_adopt(&w, again, now);
		watch_put(&w);
		held_printf("began %lld told %lld target %u\n",
			    (long long)w.now->began_ms, (long long)w.now->reported_ms,
			    w.target.length);
		memset(&c, 0, sizeof(c));
		for (int s = 0; s < 12; s++) {
			now.steady_ms += 1000;
			now.wall_ms += 1000;
			if (incident_look(&w, &subject, &c, now) == INCIDENT_ENDED)
				incident_put(held.out, w.now, INCIDENT_ENDED);
		}
	}
	incident_forget(&w);
}

static void stories(void **state)
{
	(void)state;
	held_begin();
	for (uint32_t seed = 0; seed < 20; seed++)
		a_story(seed);
	held_end("tests/incident/held_stories.txt");
}

/* --- two readings --------------------------------------------------------------------
 */

static void readings(void **state)
{
	static struct counters in[2], out[2];
	const struct incident_counters before = { &in[0], &out[0] };
	const struct incident_counters now = { &in[1], &out[1] };
	uint32_t dice = 5;

	(void)state;
	held_begin();
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
			for (size_t r = 0; r < ARRAY_SIZE(reasons); r++) {
				in[i].by[kinds[k]][reasons[r]] =
					(struct counter){ held_dice(&dice, 300),
							  held_dice(&dice, 30000) };
				out[i].by[kinds[k]][reasons[r]] =
					(struct counter){ held_dice(&dice, 300),
							  held_dice(&dice, 30000) };
			}
	for (int family = 0; family < FAMILY_COUNT; family++) {
		struct incident_counts c;

		memset(&c, 0xff, sizeof(c));
		incident_count((enum wire_family)family, &before, &now, &c);
		held_printf(
			"%llu %llu refused %llu asked %llu withheld %llu guesses %llu players "
			"%u:",
			(unsigned long long)c.packets, (unsigned long long)c.bytes,
			(unsigned long long)c.refused, (unsigned long long)c.asked,
			(unsigned long long)c.withheld, (unsigned long long)c.guesses,
			c.players);
		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
			held_printf(" %llu", (unsigned long long)c.kinds[kinds[k]]);
		for (size_t r = 0; r < ARRAY_SIZE(reasons); r++)
			held_printf(" %llu", (unsigned long long)c.reasons[reasons[r]]);
		held_printf("\n");
	}
	held_end("tests/incident/held_readings.txt");
}

/* --- who sends -----------------------------------------------------------------------
 */

static void senders(void **state)
{
	(void)state;
	held_begin();
	for (uint32_t hosts = 1; hosts < 6000; hosts += 1 + hosts / 3) {
		struct incident i = { .family = FAMILY_QUAKE3 };
		struct incident_watch w = { .now = &i };

		for (uint32_t n = 1; n <= 9000; n++) {
			struct refused_source from = {
				.net = 10u << 24 | __builtin_bswap32(n % hosts) >> 8,
				.weight = 1,
			};

			incident_source(&w, CLASS_QUERY, &from, 0);
			if (n != 19 && n != 20 && n != 2 * hosts && n != 2 * hosts + 1 &&
			    n != 8192 && n != 9000)
				continue;
			held_printf("%u of %u: %llu of %llu", n, hosts,
				    (unsigned long long)incident_distinct(&i),
				    (unsigned long long)i.sources.sampled);
			for (int asks = 0; asks < 3; asks++) {
				i.kinds[KIND_GETSTATUS] = 10;
				i.kinds[KIND_CONNECT] = 9 + (uint64_t)asks;
				held_printf(" %s",
					    incident_spoofed_name(incident_spoofed(&i)));
			}
			held_printf("\n");
		}
	}
	held_end("tests/incident/held_senders.txt");
}

/* --- and back ------------------------------------------------------------------------
 */

static void say_object(FILE *out, const char *bytes, size_t n)
{
	json_t *object = json_loadb(bytes, n, 0, NULL);
	struct incident *i = object ? incident_parse(object) : NULL;

	json_decref(object);
	if (!i) {
		fputs("none\n", out);
		return;
	}
	fprintf(out, "%lld %lld %lld refused %llu ", (long long)i->start_ms,
		(long long)i->last_ms, (long long)i->end_ms,
		(unsigned long long)i->refused);
	incident_put(out, i, INCIDENT_UPDATED);
	free(i);
}

static void read_back(void **state)
{
	static const char *const texts[] = {
		"{\"id\":\"20261122T144501Z-3\",\"service\":\"ffa\",\"protocol\":\"quake3\","
		"\"type\":\"flood\",\"observed\":true,\"start\":\"2026-11-22T14:45:01.250Z\","
		"\"end\":null,\"duration_s\":7.5,\"packets\":11,\"bytes\":22,\"dropped\":33,"
		"\"observed_only\":44,\"withheld\":55,\"peak\":{\"packets_per_s\":6.5,"
		"\"bits_per_s\":77},\"kinds\":{\"getstatus\":8,\"rcon\":9},\"reasons\":"
		"{\"source-limit\":10},\"not_dropped\":{\"player\":12},\"target\":\"192.0.2.7\","
		"\"port\":27960,\"players\":{\"before\":1,\"min\":2,\"max\":3}}",
		"{\"id\":\"a\",\"service\":null,\"type\":\"closed-ports\",\"start\":"
		"\"2026-11-22T14:45:01Z\",\"target\":\"2001:db8::7\",\"port\":65536}",
		"{\"id\":\"a\",\"type\":\"password-guessing\",\"start\":\"1970-01-01T00:00:01\","
		"\"packets\":-1,\"bytes\":1e18,\"dropped\":9e17,\"duration_s\":1e15}",
		"{\"id\":\"a\",\"type\":\"flood\",\"start\":\"2026-11-22T14:45:01Z\",\"end\":"
		"\"2026-11-22T14:45:02Z\"}",
		"{\"id\":\"a/b\",\"type\":\"flood\",\"start\":\"2026-11-22T14:45:01Z\"}",
		"{\"id\":\"\",\"type\":\"flood\",\"start\":\"2026-11-22T14:45:01Z\"}",
		"{\"id\":\"0123456789012345678901234567890\",\"type\":\"flood\",\"start\":"
		"\"2026-11-22T14:45:01Z\"}",
		"{\"id\":\"01234567890123456789012345678901\",\"type\":\"flood\",\"start\":"
		"\"2026-11-22T14:45:01Z\"}",
		"{\"id\":\"a\",\"service\":\"01234567890123456789012345678901\",\"type\":"
		"\"flood\",\"start\":\"2026-11-22T14:45:01Z\"}",
		"{\"id\":\"a\",\"type\":\"fload\",\"start\":\"2026-11-22T14:45:01Z\"}",
		"{\"id\":\"a\",\"type\":\"flood\",\"protocol\":\"x\",\"start\":"
		"\"2026-11-22T14:45:01Z\"}",
		"{\"id\":\"a\",\"type\":\"flood\",\"start\":\"then\"}",
		"[]",
	};
	char text[INCIDENT_TIME];

	(void)state;
	held_begin();
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		held_text(say_object, texts[i]);
	for (int64_t ms = 1; ms < 4000000000000000; ms = ms * 7 + 3) {
		incident_time(ms, text);
		held_printf("%lld %s\n", (long long)ms, text);
	}
	incident_time(INT64_MAX, text);
	held_printf("%s\n", text);
	for (int i = 0; i <= INCIDENT_SORTS; i++)
		held_printf("%s ", incident_sort_name((enum incident_sort)i));
	for (int i = 0; i <= INCIDENT_EVENTS; i++)
		held_printf("%s ", incident_event_name((enum incident_event)i));
	held_end("tests/incident/held_objects.txt");
}

/* --- files ---------------------------------------------------------------------------
 */

static char directory[] = "/tmp/test_held_incident.XXXXXX";

static void say_store(FILE *out, const char *bytes, size_t n)
{
	json_t *one = json_pack("{s:s}", "id", "z");
	char path[64];
	int err = 7;
	FILE *file;

	snprintf(path, sizeof(path), "%s/store", directory);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	fclose(file);
	json_put(out, incident_store_read(path, &err));
	fprintf(out, "%d ", err);
	json_put(out, incident_now_read(path, 1700000000000));
	fprintf(out, "added %d ", incident_store_add(path, one));
	json_decref(one);
	json_put(out, incident_store_read(path, NULL));
	unlink(path);
}

static void stores(void **state)
{
	static const char *const texts[] = {
		"{\"id\":\"a\",\"x\":1}\n{\"id\":\"b\",\"x\":2}\n{\"id\":\"a\",\"x\":3}\n",
		"{\"id\":\"a\",\"x\":1}\n{\"id\":\"b\",\"x",
		"[1]\n{\"x\":1}\n{\"id\":5}\n",
		"{\"time\":1700000005,\"now\":[{\"id\":\"a\"}]}\n",
		"{\"time\":1700000005.001,\"now\":[{\"id\":\"a\"}]}\n",
		"{\"time\":1699999995,\"now\":[{\"id\":\"a\"}]}\n",
		"{\"time\":1699999994.999,\"now\":[{\"id\":\"a\"}]}\n",
		"{\"time\":1700000000,\"now\":{\"id\":\"a\"}}\n",
		"",
	};
	static const char *const pins[] = { NULL, "", "/sys/fs/bpf/x", "a/b", "a-b+" };
	static const char *const names[] = { "attacks.jsonl", "plain", "two.dots.x" };
	char path[INCIDENT_PATH], pin[600];

	(void)state;
	assert_non_null(mkdtemp(directory));
	held_begin();
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		held_text(say_store, texts[i]);
	for (int i = 0; i < 3; i++) {
		static const char *const states[] = { "/var/x", "relative", NULL };

		if (states[i])
			setenv("STATE_DIRECTORY", states[i], 1);
		else
			unsetenv("STATE_DIRECTORY");
		for (size_t p = 0; p < ARRAY_SIZE(pins); p++) {
			for (size_t n = 0; n < ARRAY_SIZE(names); n++) {
				incident_path(pins[p], names[n], path);
				held_printf("%s\n", path);
			}
			incident_now_path(pins[p], path);
			held_printf("%s\n", path);
		}
	}
	for (size_t n = 440; n < 500; n += n < 464 ? 8 : 1) {
		memset(pin, 'p', n);
		pin[n] = 0;
		incident_now_path(pin, path);
		held_printf("%zu: %zu %s\n", n, strlen(path), path + strlen(path) - 10);
	}
	/* However long the name of a directory is, there is a file of its own, or none.
	 */
	for (size_t n = 241; n < 249; n++) {
		size_t length = n % 2 ? n : n / 2;

		memset(pin, n % 2 ? 'p' : '-', length);
		pin[length] = 0;
		held_printf("%zu: %d", n, incident_path(pin, "a.jsonl", path));
		held_printf(" %zu %s\n", strlen(path),
			    *path ? path + strlen(path) - 10 : "");
	}
	for (size_t n = 480; n < 530; n++) {
		pin[0] = '/';
		memset(pin + 1, 'd', n - 1);
		pin[n] = 0;
		setenv("STATE_DIRECTORY", pin, 1);
		held_printf("%zu: %d", n,
			    incident_path(n % 2 ? "/pin" : NULL, "attacks.jsonl", path));
		held_printf(" %zu %s\n", strlen(path), *path ? path + 470 : "");
	}
	unsetenv("STATE_DIRECTORY");
	held_printf("%d %d %d\n", incident_directory("none"), incident_directory("/none"),
		    incident_directory("/proc/none/at/all"));
	assert_int_equal(rmdir(directory), 0);
	held_end("tests/incident/held_stores.txt");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stories), cmocka_unit_test(readings),
		cmocka_unit_test(senders), cmocka_unit_test(read_back),
		cmocka_unit_test(stores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
