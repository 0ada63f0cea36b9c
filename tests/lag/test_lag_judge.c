// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_lag_judge.c - minutes of several players, and the causes of lag. A row is a
 * minute: what each player counted, what the host knew, and the verdicts in order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "lag/lag_judge.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define MOST	 8
#define MINUTE	 60000

/* A player in short: zero is a good minute of 1800 messages each way, in slot 3. */
struct brief {
	int lost_up, lost_down; /* of 1800 */
	int held, late, rate, silent; /* ms */
	int ping; /* ms above the lowest, which is 40 */
	int slot; /* in place of 3 */
	int due_up, due_down; /* in place of 1800; -1: none */
	int refused; /* datagrams of it */
	bool elsewhere; /* the interface that drops is not the one it comes by */
	bool absent;
};

struct host {
	int unseen; /* of 10,000 samples */
	int rx, tx; /* dropped frames */
	int refused; /* of all players in slot 3 */
	int attacked; /* slot + 1; 0: none */
	int length_ms; /* in place of MINUTE */
};

#define BAD_UP                 \
	{                      \
		.lost_up = 180 \
	}
#define BAD_DOWN                 \
	{                        \
		.lost_down = 180 \
	}
#define REFUSED(n)                             \
	{                                      \
		.lost_up = 180, .refused = (n) \
	}
#define GOOD      \
	{         \
		0 \
	}
#define LATE(ms)             \
	{                    \
		.late = (ms) \
	}
#define SLOW(ms)             \
	{                    \
		.ping = (ms) \
	}
#define HELD(ms)             \
	{                    \
		.held = (ms) \
	}
#define SILENT(ms)             \
	{                      \
		.silent = (ms) \
	}
#define RATE(ms)             \
	{                    \
		.rate = (ms) \
	}

/* clang-format off */
static const struct row {
	const char *name;
	int n;
	struct brief players[MOST];
	struct host host;
	const char *verdicts; /* a letter each */
	const char *symptom; /* of the first, with its direction; "": none */
} rows[] = {
	{ "nothing is wrong", 3, { GOOD, GOOD, GOOD }, { 0 }, "...", "" },
	{ "one good player alone", 1, { GOOD }, { 0 }, ".", "" },
	/* loss */
	{ "one of two loses from it", 2, { BAD_UP, GOOD }, { 0 }, "P.", "loss c2s" },
	{ "one of two loses to it", 2, { BAD_DOWN, GOOD }, { 0 }, "P.", "loss s2c" },
	{ "two of four lose", 4, { BAD_UP, BAD_UP, GOOD, GOOD }, { 0 }, "PP..", "loss c2s" },
	{ "three of four lose", 4, { BAD_UP, BAD_UP, BAD_UP, GOOD }, { 0 }, "UUU.", "loss c2s" },
	{ "two of three lose", 3, { BAD_UP, BAD_UP, GOOD }, { 0 }, "PP.", "loss c2s" },
	{ "all lose from them", 3, { BAD_UP, BAD_UP, BAD_UP }, { 0 }, "UUU", "loss c2s" },
	{ "all lose to them", 2, { BAD_DOWN, BAD_DOWN }, { 0 }, "UU", "loss s2c" },
	{ "the uplink is of all services", 2, { BAD_UP, { .lost_up = 180, .slot = 4 } }, { 0 }, "UU", "loss c2s" },
	{ "a player of another service is good", 2, { BAD_UP, { .slot = 4 } }, { 0 }, "P.", "loss c2s" },
	{ "directions are apart", 2, { BAD_UP, BAD_DOWN }, { 0 }, "PP", "loss c2s" },
	{ "all lose 5 %, one 40 %", 4, { { .lost_up = 720 }, { .lost_up = 90 }, { .lost_up = 90 }, { .lost_up = 90 } }, { 0 }, "PUUU", "loss c2s" },
	{ "both lose, one a little less", 2, { { .lost_up = 36 }, { .lost_up = 34 } }, { 0 }, "U.", "loss c2s" },
	{ "the other loses less than half", 2, { { .lost_up = 36 }, { .lost_up = 17 } }, { 0 }, "P.", "loss c2s" },
	{ "4.8 % beside 1 % is its own", 2, { { .lost_up = 86 }, { .lost_up = 18 } }, { 0 }, "P.", "loss c2s" },
	{ "so it is by few messages", 2, { { .due_up = 71, .lost_up = 6 }, { .due_up = 94, .lost_up = 3 } }, { 0 }, "UU", "loss c2s" },
	{ "two of fifty are chance", 2, { { .due_up = 50, .lost_up = 2 }, GOOD }, { 0 }, "..", "" },
	{ "three are not", 2, { { .due_up = 50, .lost_up = 3 }, GOOD }, { 0 }, "P.", "loss c2s" },
	{ "4.6 % beside 1 % is not", 2, { { .lost_up = 83 }, { .lost_up = 18 } }, { 0 }, "U.", "loss c2s" },
	{ "alone it loses", 1, { BAD_UP }, { 0 }, "?", "loss c2s" },
	{ "1.9 % is no lag", 2, { { .lost_up = 34 }, GOOD }, { 0 }, "..", "" },
	{ "2 % is", 2, { { .lost_up = 36 }, GOOD }, { 0 }, "P.", "loss c2s" },
	/* what the host knows */
	{ "all lose in an attack", 2, { BAD_UP, BAD_UP }, { .attacked = 4 }, "AA", "loss c2s" },
	{ "an attack on another service", 2, { BAD_UP, BAD_UP }, { .attacked = 9 }, "AA", "loss c2s" },
	{ "an attack on the host", 2, { BAD_DOWN, BAD_DOWN }, { .attacked = SERVICES_MAX + 1 }, "AA", "loss s2c" },
	{ "one loses in an attack", 2, { BAD_UP, GOOD }, { .attacked = 4 }, "P.", "loss c2s" },
	{ "alone it loses in an attack", 1, { BAD_UP }, { .attacked = 4 }, "?", "loss c2s" },
	{ "an attack that harms nobody", 2, { GOOD, GOOD }, { .attacked = 4 }, "..", "" },
	{ "the card dropped", 2, { BAD_UP, BAD_UP }, { .rx = 400 }, "HH", "loss c2s" },
	{ "the card dropped, one player alone", 1, { BAD_UP }, { .rx = 180 }, "H", "loss c2s" },
	{ "the card dropped too few", 2, { BAD_UP, BAD_UP }, { .rx = 89 }, "UU", "loss c2s" },
	{ "the card dropped the other way", 2, { BAD_UP, BAD_UP }, { .tx = 400 }, "UU", "loss c2s" },
	{ "the card dropped on the way out", 2, { BAD_DOWN, BAD_DOWN }, { .tx = 400 }, "HH", "loss s2c" },
	{ "the card dropped in an attack", 2, { BAD_UP, BAD_UP }, { .rx = 400, .attacked = 4 }, "AA", "loss c2s" },
	{ "the card dropped, one loses", 2, { BAD_UP, GOOD }, { .rx = 400 }, "P.", "loss c2s" },
	{ "another card dropped", 2, { { .lost_up = 180, .elsewhere = true }, { .lost_up = 180, .elsewhere = true } }, { .rx = 4000 }, "UU", "loss c2s" },
	{ "another card dropped on the way out", 2, { { .lost_down = 180, .elsewhere = true }, BAD_DOWN }, { .tx = 4000 }, "UH", "loss s2c" },
	{ "the shield refused", 2, { REFUSED(100), GOOD }, { .refused = 100 }, "D.", "loss c2s" },
	{ "the shield refused too few", 2, { REFUSED(89), GOOD }, { .refused = 100 }, "P.", "loss c2s" },
	{ "the sample has more than there were", 2, { REFUSED(900), GOOD }, { .refused = 89 }, "P.", "loss c2s" },
	{ "the shield refused another player alone", 2, { BAD_UP, { .refused = 900 } }, { .refused = 900 }, "P.", "loss c2s" },
	{ "the shield refused one that all lose with", 4, { REFUSED(100), BAD_UP, BAD_UP, BAD_UP }, { .refused = 100 }, "DUUU", "loss c2s" },
	{ "the shield refused of another service", 2, { { .lost_up = 180, .refused = 100, .slot = 4 }, GOOD }, { .refused = 100 }, "P.", "loss c2s" },
	{ "the shield does not lose to it", 2, { { .lost_down = 180, .refused = 900 }, GOOD }, { .refused = 900 }, "P.", "loss s2c" },
	/* the server */
	{ "the server stopped", 3, { LATE(2000), LATE(2100), LATE(1900) }, { 0 }, "SSS", "late s2c" },
	{ "the server stopped, one player", 1, { LATE(2000) }, { 0 }, "S", "late s2c" },
	{ "half a second is lag", 2, { LATE(600), LATE(600) }, { 0 }, "SS", "late s2c" },
	{ "less is none", 2, { LATE(599), LATE(590) }, { 0 }, "..", "" },
	{ "in a short minute, half a second", 2, { LATE(500), LATE(499) }, { .length_ms = 4000 }, "S.", "late s2c" },
	{ "late for one of three", 3, { LATE(2000), GOOD, GOOD }, { 0 }, "?..", "late s2c" },
	{ "late for three of four", 4, { LATE(2000), LATE(2000), LATE(2000), GOOD }, { 0 }, "SSS.", "late s2c" },
	{ "another server is in time", 3, { LATE(2000), LATE(2000), { .slot = 4 } }, { 0 }, "SS.", "late s2c" },
	{ "the server stopped in an attack", 2, { LATE(2000), LATE(2000) }, { .attacked = 4 }, "SS", "late s2c" },
	{ "the server stopped, and its clients fell silent", 2, { { .late = 2000, .silent = 5000 }, { .late = 2000, .silent = 5000 } }, { 0 }, "SS", "late s2c" },
	{ "the server stopped, one loses more", 3, { { .late = 700, .lost_up = 540 }, LATE(700), LATE(700) }, { 0 }, "PSS", "loss c2s" },
	{ "the server stopped long, one loses little", 3, { { .late = 6000, .lost_up = 45 }, LATE(6000), LATE(6000) }, { 0 }, "SSS", "late s2c" },
	/* delay */
	{ "one is delayed", 2, { SLOW(150), GOOD }, { 0 }, "P.", "delay" },
	{ "all are delayed", 2, { SLOW(150), SLOW(120) }, { 0 }, "UU", "delay" },
	{ "all are delayed in an attack", 2, { SLOW(150), SLOW(120) }, { .attacked = 4 }, "AA", "delay" },
	{ "49 ms are no lag", 2, { SLOW(49), GOOD }, { 0 }, "..", "" },
	{ "alone it is delayed", 1, { SLOW(150) }, { 0 }, "?", "delay" },
	/* the player's own */
	{ "one is held", 2, { HELD(900), GOOD }, { 0 }, "P.", "held c2s" },
	{ "all are held", 2, { HELD(900), HELD(900) }, { 0 }, "UU", "held c2s" },
	{ "one client is silent", 2, { SILENT(3000), GOOD }, { 0 }, "P.", "silence c2s" },
	{ "alone it is silent", 1, { SILENT(3000) }, { 0 }, "P", "silence c2s" },
	{ "all clients are silent", 2, { SILENT(3000), SILENT(3000) }, { 0 }, "??", "silence c2s" },
	{ "the rate is low", 2, { RATE(2000), GOOD }, { 0 }, "P.", "rate s2c" },
	{ "all rates are low", 2, { RATE(2000), RATE(2000) }, { 0 }, "PP", "rate s2c" },
	/* too little */
	{ "49 messages say nothing", 2, { { .due_up = 49, .lost_up = 20 }, GOOD }, { 0 }, "?.", "" },
	{ "50 messages do", 2, { { .due_up = 50, .lost_up = 5 }, GOOD }, { 0 }, "P.", "loss c2s" },
	{ "nothing is known of one way", 2, { { .due_down = -1 }, GOOD }, { 0 }, "?.", "" },
	{ "the other way is lossy", 2, { { .due_down = -1, .lost_up = 180 }, GOOD }, { 0 }, "P.", "loss c2s" },
	{ "it came late", 2, { { .absent = true, .lost_up = 180 }, BAD_UP }, { 0 }, "??", "" },
	{ "the absent are not compared", 3, { BAD_UP, { .absent = true }, BAD_UP }, { 0 }, "U?U", "loss c2s" },
	{ "a few samples are missing", 2, { BAD_UP, GOOD }, { .unseen = 10 }, "P.", "loss c2s" },
	{ "more than a hundredth is", 2, { BAD_UP, GOOD }, { .unseen = 110 }, "P?", "loss c2s" },
	{ "a pause in which samples are missing", 2, { LATE(2000), LATE(2000) }, { .unseen = 10 }, "??", "" },
	{ "a third of the samples is missing", 2, { BAD_UP, GOOD }, { .unseen = 5000 }, "??", "" },
};
/* clang-format on */

static struct lag_counts counts_of(const struct brief *b, const struct host *host)
{
	int drops[LAG_WAYS] = { host->rx, host->tx };
	struct lag_counts c = {
		.refused = (uint64_t)b->refused,
		.slot = b->slot ? (uint32_t)b->slot : 3,
		.present = !b->absent,
		.snapshots = 1200,
		.held_ms = (uint32_t)b->held,
		.late_ms = (uint32_t)b->late,
		.rate_ms = (uint32_t)b->rate,
		.silent_ms = (uint32_t)b->silent,
		.pings = 1000,
		.ping_ms = 40 + (uint32_t)b->ping,
		.ping_least_ms = 40,
	};
	int due[LAG_WAYS] = { b->due_up ? b->due_up : 1800,
			      b->due_down ? b->due_down : 1800 };
	int lost[LAG_WAYS] = { b->lost_up, b->lost_down };

	for (int w = 0; w < LAG_WAYS; w++) {
		c.dropped[w] = b->elsewhere ? 0 : (uint64_t)drops[w];
		if (due[w] < 0)
			continue;
		c.lost[w] = (uint64_t)lost[w];
		c.received[w] = (uint64_t)(due[w] - lost[w]);
	}
	return c;
}

static void known_of(const struct host *host, struct lag_known *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->length_ms = host->length_ms ? (uint32_t)host->length_ms : MINUTE;
	ret->seen = 10000;
	ret->unseen = (uint64_t)host->unseen;
	ret->refused[3] = (uint64_t)host->refused;
	if (host->attacked)
		ret->attack[host->attacked - 1] = "flood";
}

/* The symptom as a word, and the direction, as in JSON. */
static void symptom_of(const struct lag_verdict *v, char ret[32])
{
	const char *name = lag_symptom_name(v->symptom);

	snprintf(ret, 32, "%s%s", name ? name : "",
		 v->way == LAG_C2S   ? " c2s"
		 : v->way == LAG_S2C ? " s2c"
				     : "");
}

static void verdicts(void **state)
{
	static struct lag_known known;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lag_counts counts[MOST];
		struct lag_verdict ret[MOST];
		char letters[MOST + 1] = "", symptom[32];

		print_message("%s\n", rows[i].name);
		for (int p = 0; p < rows[i].n; p++)
			counts[p] = counts_of(&rows[i].players[p], &rows[i].host);
		known_of(&rows[i].host, &known);
		lag_judge(counts, (size_t)rows[i].n, &known, ret);
		for (int p = 0; p < rows[i].n; p++)
			letters[p] = lag_cause_letter(ret[p].cause);
		symptom_of(&ret[0], symptom);
		assert_string_equal(letters, rows[i].verdicts);
		assert_string_equal(symptom, rows[i].symptom);
	}
}

/* Each verdict that is none says why; each that names a cause has no doubt. */
static void doubts(void **state)
{
	static struct lag_known known;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lag_counts counts[MOST];
		struct lag_verdict ret[MOST];

		for (int p = 0; p < rows[i].n; p++)
			counts[p] = counts_of(&rows[i].players[p], &rows[i].host);
		known_of(&rows[i].host, &known);
		lag_judge(counts, (size_t)rows[i].n, &known, ret);
		for (int p = 0; p < rows[i].n; p++) {
			assert_int_equal(ret[p].cause == CAUSE_UNKNOWN,
					 ret[p].doubt != DOUBT_NONE);
			assert_int_equal(ret[p].unseen > 0, rows[i].host.unseen > 0);
		}
	}
}

/* However many lose, the same share has the same cause. */
static void share_decides(void **state)
{
	static struct lag_known known;
	static struct lag_counts counts[256];
	static struct lag_verdict ret[256];

	(void)state;
	known_of(&(struct host){ 0 }, &known);
	for (size_t n = 4; n <= COUNT(counts); n += 4)
		for (size_t bad = n * 3 / 4 - 1; bad <= n * 3 / 4; bad++) {
			for (size_t i = 0; i < n; i++)
				counts[i] = counts_of(
					&(struct brief){ .lost_up = i < bad ? 180 : 0 },
					&(struct host){ 0 });
			lag_judge(counts, n, &known, ret);
			assert_int_equal(ret[0].cause,
					 bad == n * 3 / 4 ? CAUSE_UPLINK : CAUSE_PLAYER);
			assert_int_equal(ret[0].compared, n);
			assert_int_equal(ret[n - 1].cause, CAUSE_NONE);
		}
}

static void words(void **state)
{
	static const struct {
		struct lag_verdict v;
		const char *text;
	} texts[] = {
		{ { .cause = CAUSE_NONE }, "nothing was wrong" },
		{ { .doubt = DOUBT_LITTLE }, "too little was seen" },
		{ { .doubt = DOUBT_UNSEEN },
		  "samples are missing (follow.rate, output.cpu-percent)" },
		{ { .doubt = DOUBT_UNSEEN, .unseen = 0.187 },
		  "18.7 % of the samples are missing (follow.rate, "
		  "output.cpu-percent)" },
		{ { .cause = CAUSE_PLAYER,
		    .symptom = SYMPTOM_LOSS,
		    .way = LAG_C2S,
		    .value = 0.0821,
		    .common = 0.001,
		    .compared = 6 },
		  "8.2 % lost from it (3 in 4 of 6 players: 0.1 % or more)" },
		{ { .cause = CAUSE_ATTACK,
		    .symptom = SYMPTOM_LOSS,
		    .way = LAG_S2C,
		    .value = 0.5,
		    .common = 0.5,
		    .compared = 2,
		    .attack = "flood" },
		  "50.0 % lost to it (3 in 4 of 2 players: 50.0 % or more): flood" },
		{ { .symptom = SYMPTOM_DELAY,
		    .way = LAG_WAYS,
		    .value = 0.123,
		    .compared = 1 },
		  "ping 123 ms above its lowest (no other player)" },
		{ { .symptom = SYMPTOM_LATE,
		    .way = LAG_S2C,
		    .value = 2.04,
		    .compared = 1 },
		  "for 2.0 s the server sent nothing (no other player)" },
		{ { .symptom = SYMPTOM_HELD, .way = LAG_C2S, .value = 1, .compared = 1 },
		  "for 1.0 s nothing came from it, then all at once or lost (no other player)" },
		{ { .symptom = SYMPTOM_RATE, .way = LAG_S2C, .value = 1, .compared = 1 },
		  "for 1.0 s snapshots waited for the client's rate (no other player)" },
		{ { .symptom = SYMPTOM_SILENCE,
		    .way = LAG_C2S,
		    .value = 1,
		    .compared = 1 },
		  "for 1.0 s the client sent nothing (no other player)" },
	};
	char text[LAG_TEXT];

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		lag_verdict_text(&texts[i].v, text);
		assert_string_equal(text, texts[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts),
		cmocka_unit_test(doubts),
		cmocka_unit_test(share_decides),
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
