// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_held_lag.c - all that the lagometer says of games made by dice: of lost, late and
 * repeated messages, of stalls, of restarts, of strangers who knock; and its file,
 * written and read again, as it is and with small changes.
 */
#include <sys/stat.h>

#include "fuzz/held_text.h"
#include "lib/util.h"
#include "lag/lag_file.h"
#include "samples/players_file.h"
#include "lag/lag_report.h"
#include "lag/lag_seconds.h"
#include "samples/samples.h"
#include "samples/samples_names.h"

#define MS	1000000LL
#define CLIENTS 5
#define PLACES	6
#define STEPS	2500
#define KEPT	64 /* messages of the server's that may be acknowledged */

static struct record_tape tape;
static struct service services[SERVICES_MAX];

struct client {
	uint16_t port;
	uint32_t c2s, s2c, reliable;
	uint32_t came[KEPT]; /* sequences that have come, by turns */
	int64_t came_us[KEPT], came_ns[KEPT];
	unsigned int count;
	int64_t silent_until_ns, path_ns;
};

struct game {
	struct lagometer *l;
	enum lag_side side;
	enum wire_family family;
	bool echoes; /* NetQuake: times, not numbers, are given back */
	uint32_t dice;
	int64_t now_ns, second_ns;
	struct client clients[CLIENTS];
	struct lag_second past[PLACES];
	struct decoded *decoded;
};

static bool one_in(struct game *g, uint32_t n)
{
	return !held_dice(&g->dice, n);
}

static struct record record_of(const struct game *g, const struct client *c, bool c2s)
{
	struct record_address client = { 4, { 192, 0, 2, (uint8_t)c->port }, c->port };
	struct record_address server = { 4, { 198, 51, 100, 1 }, 27960 };
	struct record r;

	record_reset(&r, &tape);
	memset(&r.facts, 0, sizeof(r.facts));
	r.time_ns = g->now_ns;
	r.family = g->family;
	r.direction = c2s ? DIRECTION_C2S : DIRECTION_S2C;
	r.source = c2s ? client : server;
	r.destination = c2s ? server : client;
	r.kind = "it";
	return r;
}

static void tell(struct game *g, const struct client *c, struct record *r)
{
	if (one_in(g, 60))
		r->status = RECORD_MALFORMED;
	if (one_in(g, 50))
		r->facts.has |= FACT_SLICE;
	if (one_in(g, 90))
		r->dialect = "ioq3";
	lagometer_record(g->l, 3 + (uint32_t)c->port % 2, r);
}

static void server_speaks(struct game *g, struct client *c)
{
	struct record r = record_of(g, c, false);

	if (one_in(g, 150))
		c->s2c = 0; /* another connection */
	c->s2c++;
	r.facts.has = FACT_SEQUENCE | FACT_SNAPSHOT | FACT_TIME;
	r.facts.sequence = c->s2c;
	r.facts.time_us = g->now_ns / 1000 - (one_in(g, 200) ? 9000000 : 0);
	if (one_in(g, 20))
		r.facts.has |= FACT_DELAYED;
	if (one_in(g, 40))
		facts_map(&r.facts, "q3dm17", 5 + held_dice(&g->dice, 2));
	/* Beside the client what is lost is not seen. */
	if (g->side == LAG_BESIDE_CLIENT && one_in(g, 12))
		return;
	if (!one_in(g, 15)) {
		c->came[c->count % KEPT] = c->s2c;
		c->came_us[c->count % KEPT] = r.facts.time_us;
		c->came_ns[c->count++ % KEPT] = g->now_ns;
	}
	tell(g, c, &r);
	if (one_in(g, 30))
		tell(g, c, &r);
}

/* The newest that came before the time that the path takes. */
static int newest_of(const struct game *g, const struct client *c)
{
	for (unsigned int i = c->count; i && i + KEPT > c->count; i--)
		if (c->came_ns[(i - 1) % KEPT] + c->path_ns <= g->now_ns)
			return (int)((i - 1) % KEPT);
	return -1;
}

static void client_speaks(struct game *g, struct client *c)
{
	struct record r = record_of(g, c, true);
	int newest = newest_of(g, c);

	if (g->now_ns < c->silent_until_ns)
		return;
	if (one_in(g, 120))
		c->silent_until_ns = g->now_ns + (90 + held_dice(&g->dice, 1500)) * MS;
	if (one_in(g, 200))
		c->c2s = 0;
	c->c2s += one_in(g, 12) ? 1 + held_dice(&g->dice, 4) : 1;
	if (one_in(g, 300))
		c->c2s += 1023 + held_dice(&g->dice, 4);
	r.facts.has = FACT_SEQUENCE;
	r.facts.sequence = c->c2s - (one_in(g, 15) ? held_dice(&g->dice, 5) : 0);
	if (newest >= 0) {
		r.facts.has |= FACT_COMMAND_TIME | (g->echoes ? 0 : FACT_ACK);
		r.facts.ack = c->came[newest] - (one_in(g, 25) ? 1 : 0);
		r.facts.command_us = c->came_us[newest];
		if (!g->echoes)
			r.facts.command_us += held_dice(&g->dice, 90000) - 60000LL;
	}
	if (one_in(g, 50))
		facts_name(&r.facts, "Sarge the brave", 5 + held_dice(&g->dice, 10));
	tell(g, c, &r);
	if (one_in(g, 30))
		tell(g, c, &r);
}

static void reliable(struct game *g, struct client *c, bool c2s)
{
	struct record r = record_of(g, c, c2s);

	r.facts.has = FACT_SEQUENCE | FACT_RELIABLE | (c2s ? FACT_ACKNOWLEDGES : 0);
	r.facts.sequence = c->reliable;
	if (c2s && !one_in(g, 5))
		c->reliable++;
	tell(g, c, &r);
}

static void knocks(struct game *g, struct client *c)
{
	struct record r = record_of(g, c, true);

	facts_name(&r.facts, "somebody", 1 + held_dice(&g->dice, 8));
	tell(g, c, &r);
}

static void step(struct game *g)
{
	struct client *c = &g->clients[held_dice(&g->dice, CLIENTS)];

	g->now_ns += held_dice(&g->dice, 12) * MS + held_dice(&g->dice, 900000);
	switch (held_dice(&g->dice, 40)) {
	case 0:
		knocks(g, c);
		break;
	case 1:
		reliable(g, c, true);
		break;
	case 2:
		reliable(g, c, false);
		break;
	case 3:
		if (one_in(g, 10))
			lagometer_blind(g->l, g->now_ns);
		break;
	case 4:
		if (one_in(g, 60))
			g->now_ns += 40000 * MS;
		lagometer_sweep(g->l, g->now_ns);
		break;
	default:
		/* The first plays much, the last hardly ever. */
		if (held_dice(&g->dice, CLIENTS) < (uint32_t)(c - g->clients))
			break;
		if (one_in(g, 3))
			server_speaks(g, c);
		else
			client_speaks(g, c);
	}
	if (g->now_ns - g->second_ns < 1000 * MS)
		return;
	g->second_ns = g->now_ns;
	lag_seconds(g->l, g->past, g->decoded, g->now_ns);
}

static void players_put(struct game *g, FILE *out, bool drawn)
{
	static struct jsonl json;

	jsonl_init(&json, out);
	lag_report(g->l, &json, drawn ? "a file" : NULL, !drawn);
	assert_int_equal(jsonl_flush(&json), 0);
}

static void game_begin(struct game *g, uint32_t seed)
{
	*g = (struct game){ .dice = seed * 2654435761U + 1,
			    .now_ns = 1700000000000000000 };
	g->side = seed % 4 == 3 ? LAG_BESIDE_CLIENT : LAG_BESIDE_SERVER;
	g->echoes = seed % 4 == 2;
	g->family = g->echoes ? FAMILY_NETQUAKE : FAMILY_QUAKE3;
	/* Room for all, or for some of them. */
	g->l = lagometer_create(seed % 3 ? PLACES : 3, g->side);
	g->decoded = decoded_create();
	assert_non_null(g->l);
	assert_non_null(g->decoded);
	for (uint16_t i = 0; i < CLIENTS; i++) {
		g->clients[i].port = (uint16_t)(5000 + i);
		g->clients[i].path_ns = (20 + 35 * i) * MS;
		g->clients[i].c2s = seed % 5 ? 0 : UINT32_MAX - 40;
	}
}

static void game_end(struct game *g)
{
	lagometer_free(g->l);
	decoded_free(g->decoded);
}

static void a_game(uint32_t seed)
{
	uint64_t sum = HELD_BEGIN;
	char *text;
	struct game g;
	size_t n;

	game_begin(&g, seed);
	for (int i = 1; i <= STEPS; i++) {
		FILE *out;

		step(&g);
		if (i % 25)
			continue;
		out = open_memstream(&text, &n);
		players_put(&g, out, false);
		fclose(out);
		sum = held_sum(sum, text, n);
		free(text);
	}
	held_printf("game %u, %s, sum %016" PRIx64 "\n", seed,
		    g.side == LAG_BESIDE_CLIENT ? "beside the client"
						: "beside the server",
		    sum);
	if (seed < 8)
		players_put(&g, held.out, true);
	for (__u32 slot = 3; slot < 5; slot++) {
		json_t *all = decoded_json(g.decoded, slot);

		if (!all)
			continue;
		text = json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(9));
		held_printf("in %u: %s\n", slot, text);
		free(text);
		json_decref(all);
	}
	game_end(&g);
}

static void games(void **state)
{
	(void)state;
	held_begin();
	for (uint32_t seed = 0; seed < 24; seed++)
		a_game(seed);
	held_end("tests/samples/held_games.txt");
}

/* --- the file ------------------------------------------------------------------------
 */

static char path[] = "/tmp/test_held_lag.XXXXXX";

static void way_put(FILE *out, const struct lag_direction *d)
{
	fprintf(out,
		"  %llu %llu %llu %llu %llu taken %llu:", (unsigned long long)d->received,
		(unsigned long long)d->lost, (unsigned long long)d->repeated,
		(unsigned long long)d->late, (unsigned long long)d->unsure,
		(unsigned long long)d->taken);
	for (size_t i = 0; i < LAG_SAMPLES && i < d->taken; i++)
		fprintf(out, " %u/%u", d->ring[i].ping_ms, d->ring[i].flags);
	fputc('\n', out);
}

static void file_put(FILE *out, const struct lag_file *f)
{
	fprintf(out, "%lld, %zu players\n", (long long)f->time_ns, f->count);
	for (size_t i = 0; i < f->top_prefix_count; i++)
		fprintf(out, "worst %s %s %.6f\n", f->top_prefixes[i].service,
			f->top_prefixes[i].prefix, f->top_prefixes[i].share);
	for (size_t i = 0; i < f->count; i++) {
		const struct lag_player *p = &f->rows[i].player;

		fprintf(out, "%s family %d address %u:", f->rows[i].service, p->family,
			p->client.length);
		for (int b = 0; b < 16; b++)
			fprintf(out, "%02x", p->client.bytes[b]);
		fprintf(out, " %u '%s' '%s' %lld %lld ping %u, %u %u %llu %llu\n",
			p->client.port, p->name, p->map, (long long)p->since_ns,
			(long long)p->last_ns, p->ping_ms, p->snapshots_per_s,
			p->packets_per_s, (unsigned long long)p->snapshots,
			(unsigned long long)p->delayed);
		way_put(out, &p->way[LAG_C2S]);
		way_put(out, &p->way[LAG_S2C]);
		fprintf(out, "  frames %llu %llu:", (unsigned long long)p->frames.taken,
			(unsigned long long)p->frames.extrapolated);
		for (size_t j = 0; j < LAG_SAMPLES; j++)
			fprintf(out, " %d", p->frames.ring[j]);
		fputc('\n', out);
	}
}

#define FILE_S 1700000000 /* when it was written */

static void say_file(FILE *out, const char *bytes, size_t n)
{
	static const int64_t when[] = { -5000000001, -5000000000, 0,	       5000000000,
					5000000001,  59999999999, 60000000000, -1 };
	FILE *file = fopen(path, "w");
	struct lag_file *f = NULL;
	int err;

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	fclose(file);
	err = lag_file_read(path, &f);
	fprintf(out, "%d\n", err);
	if (!err)
		file_put(out, f);
	free(f);
	for (size_t i = 0; i < ARRAY_SIZE(when); i++) {
		int64_t now_ns = FILE_S * 1000000000LL + when[i];
		json_t *decoded = lag_file_read_decoded(path, now_ns);
		struct samples_names *names = samples_names_load(path, now_ns);

		fprintf(out, "%lld: decoded %zd, names %d\n", (long long)when[i],
			decoded ? (ssize_t)json_object_size(decoded) : -1, names != NULL);
		json_decref(decoded);
		samples_names_free(names);
	}
}

/* What is remembered of who plays now. */
static void recall_put(struct lagometer *l, int64_t now_ns)
{
	struct samples_names *names = samples_names_load(path, now_ns);
	const struct lag_player *p;
	size_t at = 0;

	held_printf("recalled %d\n",
		    names && samples_names_recall(names, l, services, now_ns));
	while ((p = lagometer_next(l, &at)))
		held_printf("%u %u '%s' '%s'\n", p->slot, p->client.port, p->name,
			    p->map);
	samples_names_free(names);
}

static void written_and_read(void **state)
{
	static struct samples_stats stats = {
		.samples = { 11, 12 },
		.shed = { 13, 14 },
		.decoded = 15,
		.unparsed = 16,
		.kernel = { { 17, 18, 19 }, { 20, 21, 22 } },
		.cpu_ns = 23456789,
		.cpu_percent = 24,
	};
	struct record_address from = { 4, { 203, 0, 113, 1 }, 1 };
	struct record_address other = { 16, { 0x20, 1, 0xd, 0xb8 }, 1 };

	(void)state;
	held_begin();
	for (int i = 0; i < 50; i++)
		drop_sources_add(&stats.top_prefixes, i % 5 ? 3 : 4,
				 i % 3 ? &from : &other);
	for (uint32_t seed = 0; seed < 3; seed++) {
		int64_t now_ns;
		struct game g, later;
		struct lag_file *f;
		struct stat st;

		game_begin(&g, seed);
		for (int i = 0; i < STEPS; i++)
			step(&g);
		now_ns = g.now_ns;
		stats.by_service = g.decoded;
		assert_int_equal(players_file_write(path, now_ns, &stats, g.l, services),
				 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(
			players_file_print(held.out, now_ns, &stats, g.l, services), 0);
		assert_int_equal(lag_file_read(path, &f), 0);
		file_put(held.out, f);
		free(f);
		game_begin(&later, seed + 4);
		for (int i = 0; i < 60; i++)
			step(&later);
		recall_put(later.l, now_ns + 60000 * MS);
		recall_put(later.l, now_ns + 59000 * MS);
		game_end(&later);
		game_end(&g);
	}
	held_printf("%d\n",
		    players_file_write("/nowhere/at/all", 0, &stats, NULL, services));
	lag_file_remove(path);
	lag_file_remove("");
	held_printf("gone %d\n", access(path, F_OK));
	held_end("tests/samples/held_file.txt");
}

#define PLAYER                                                                                   \
	"{\"service\":\"ffa\",\"protocol\":\"quake3\",\"address\":\"192.0.2.1\",\"port\":27005," \
	"\"name\":\"Sarge\",\"map\":\"q3dm1\",\"since\":1699999990.5,\"last\":1699999999,"       \
	"\"ping_ms\":48,\"snapshots_per_s\":20,\"packets_per_s\":60,\"snapshots\":900,"          \
	"\"delayed\":3,\"c2s\":{\"received\":7,\"lost\":1,\"duplicated\":2,\"late\":3,"          \
	"\"unknown\":4,\"pings\":[null,5,65534,65535,-1,0],\"marks\":\"lrtda.\"},"               \
	"\"s2c\":{\"received\":8,\"pings\":[1,2],\"marks\":\"aa\"},\"frames\":{\"drawn\":130,"   \
	"\"extrapolated\":9,\"ms\":[-50,3,0]}}"

static void changed_files(void **state)
{
	static const char *const texts[] = {
		"{\"time\":1700000000,\"top_prefixes\":[{\"service\":\"ffa\",\"prefix\":\"192.0.2.0/"
		"24\",\"share\":0.25}],\"decoded_by_service\":{\"ffa\":{}},\"players\":[" PLAYER
		"]}",
		"{\"time\":1700000000,\"players\":[" PLAYER "," PLAYER "]}",
		"{\"time\":1700000000,\"decoded_by_service\":[],\"players\":[{},{\"address\":"
		"\"::1\",\"map\":\"x\",\"ping_ms\":4294967296,\"since\":9e9,\"last\":8.9e9,"
		"\"snapshots_per_s\":4294967295,\"packets_per_s\":-1,\"frames\":{\"drawn\":1,"
		"\"ms\":[1,2]}}]}",
		"{\"players\":{}}",
		"[]",
		"",
	};

	(void)state;
	held_begin();
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		held_text(say_file, texts[i]);
	unlink(path);
	say_file(held.out, "", 0);
	unlink(path);
	held_end("tests/samples/held_changed.txt");
}

static void paths(void **state)
{
	static const char *const pins[] = { NULL, "", "/sys/fs/bpf/x", "a/b/" };
	char text[LAG_FILE_PATH_MAX], pin[600];

	(void)state;
	held_begin();
	for (size_t i = 0; i < ARRAY_SIZE(pins); i++) {
		lag_file_path(pins[i], text);
		held_printf("%s\n", text);
	}
	for (size_t n = 470; n < 500; n++) {
		memset(pin, 'p', n);
		pin[n] = 0;
		lag_file_path(pin, text);
		held_printf("%zu: %zu %s\n", n, strlen(text), text + strlen(text) - 8);
	}
	held_end("tests/samples/held_paths.txt");
}

static int begin(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	strcpy(services[3].name, "ffa");
	strcpy(services[4].name, "duel");
	return fd < 0 ? -1 : close(fd);
}

static int end(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(games),
		cmocka_unit_test(written_and_read),
		cmocka_unit_test(changed_files),
		cmocka_unit_test(paths),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
