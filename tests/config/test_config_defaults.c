// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_config_defaults.c - what a service gets that its section does not say: tables held
 * to the arguments in docs/explain/rate-limits.md.
 */
#include "config/config_support.h"
#include "lib/names.h"
#include "lib/rate_text.h"

static double per_second(const struct limit *l)
{
	return 1e9 / (double)l->cost_ns;
}

static double burst(const struct limit *l)
{
	return (double)l->burst_ns / (double)l->cost_ns;
}

static void defaults_of(enum wire_family family, struct service *ret)
{
	memset(ret, 0, sizeof(*ret));
	config_service_defaults(family, ret);
}

static void defaults_unknown_is_strictest(void **state)
{
	struct service s;

	(void)state;
	for (int f = 0; f < FAMILY_COUNT; f++) {
		const struct budget *u = &s.budget[CLASS_UNKNOWN];

		defaults_of((enum wire_family)f, &s);
		for (int c = 0; c < CLASS_BUDGETS; c++) {
			const struct budget *b = &s.budget[c];

			assert_false(rate_looser(&u->source, &b->source));
			assert_false(rate_looser(&u->prefix, &b->prefix));
			assert_false(rate_looser(&u->service, &b->service));
			/* A source may use all of its budget, a prefix too. */
			assert_false(rate_looser(&b->source, &b->prefix));
			assert_true(per_second(&b->prefix) <= per_second(&b->service));
			assert_true(burst(&b->source) >= 2);
		}
	}
}

/* At most this many in any @seconds: burst, and the rate meanwhile. */
static double within(const struct limit *l, double seconds)
{
	return burst(l) + per_second(l) * seconds;
}

static void defaults_fit_the_engines(void **state)
{
	const struct budget *query, *challenge, *netchan;
	struct service s;

	(void)state;
	/* ioquake3: getstatus, getinfo and getchallenge share 10, and 10 a second. */
	defaults_of(FAMILY_QUAKE3, &s);
	query = &s.budget[CLASS_QUERY];
	challenge = &s.budget[CLASS_CHALLENGE];
	assert_true(burst(&query->service) + burst(&challenge->service) < 10);
	assert_true(per_second(&query->service) + per_second(&challenge->service) < 10);
	/* and an address has 10, and 1 a second: some are left for getchallenge. */
	assert_true(within(&query->source, 30) <=
		    within(&(struct limit){ 1000000000, 5000000000 }, 30));
	/* Four people in four networks ask once a second, beside a spoofed victim. */
	assert_true(per_second(&query->service) > 5);

	/* Q2PRO: status 15 a second, 5 at once. */
	defaults_of(FAMILY_QUAKE2, &s);
	query = &s.budget[CLASS_QUERY];
	assert_true(per_second(&query->service) < 15);
	assert_true(burst(&query->service) <= 5);

	/* FTE: 15 within 30 seconds ban an address for a day; 20 a second for all. */
	defaults_of(FAMILY_QUAKEWORLD, &s);
	assert_true(within(&s.budget[CLASS_QUERY].source, 30) < 15);
	assert_true(within(&s.budget[CLASS_RCON].source, 30) < 15);
	assert_true(within(&s.budget[CLASS_QUERY].service, 1) <= 20);

	/* DarkPlaces: 128 challenges; one must survive a client's repeat, 3 seconds. */
	defaults_of(FAMILY_NETQUAKE, &s);
	assert_true(within(&s.budget[CLASS_CHALLENGE].service, 3) < 128);

	/*
	 * Until the server has sent something to a player, the player is a stranger: two
	 * behind one address for 300 ms, 64 in all for 100 ms, 125 packets a second each.
	 * A master has no players.
	 */
	for (int f = 0; f < FAMILY_MASTER; f++) {
		defaults_of((enum wire_family)f, &s);
		netchan = &s.budget[CLASS_NETCHAN];
		assert_true(within(&netchan->source, 0.3) >= 2 * 125 * 0.3);
		assert_true(within(&netchan->service, 0.1) >= 64 * 125 * 0.1);
	}
}

/* Who joins may come in a crowd; a limit that was chosen is kept. */
static void crowd_is_for_joining_with_default_limits(void **state)
{
	static const struct {
		const char *text;
		__u32 challenge, connect;
	} rows[] = {
		{ "", CROWD_SHIFT, CROWD_SHIFT },
		{ "challenge { service = 5/s }", CROWD_SHIFT, CROWD_SHIFT },
		{ "challenge { source = 5/s }", 0, CROWD_SHIFT },
		{ "challenge { source = \"1/s burst 3\" }", CROWD_SHIFT, CROWD_SHIFT },
		{ "connect { prefix = 9/s }", CROWD_SHIFT, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[200];

		snprintf(text, sizeof(text),
			 "service \"a\" {\nprotocol = quake3\nport = 27960\n%s\n}\n",
			 rows[i].text);
		load_good(text);
		for (int c = 0; c < CLASS_BUDGETS; c++)
			assert_int_equal(config.services[0].service.budget[c].crowd,
					 c == CLASS_CHALLENGE ? rows[i].challenge
					 : c == CLASS_CONNECT ? rows[i].connect
							      : 0);
	}
	/* The limits that hold in the end are looked at, not the way to them. */
	load_good("defaults { connect { source = 5/s } challenge { source = 5/s } }\n"
		  "service \"a\" { protocol = quake3 port = 27960\n"
		  "connect { source = \"2/s burst 6\" } }\n");
	assert_int_equal(config.services[0].service.budget[CLASS_CONNECT].crowd,
			 CROWD_SHIFT);
	assert_int_equal(config.services[0].service.budget[CLASS_CHALLENGE].crowd, 0);
}

/* As many players for all; what is not said of a prefix is at least what a source has. */
static void players_have_limits(void **state)
{
	static const struct {
		const char *text;
		__u16 source, prefix;
	} rows[] = {
		{ "", 32, 64 },
		{ "players { }", 32, 64 },
		{ "players { source = 4 }", 4, 64 },
		{ "players { source = 100 }", 100, 100 },
		{ "players { source = 100 prefix = 20 }", 100, 20 },
		{ "players { source = 0 }", 0, 0 },
		{ "players { source = 0 prefix = 20 }", 0, 20 },
		{ "players { prefix = 0 }", 32, 0 },
	};
	static struct config again;

	(void)state;
	for (int f = 0; f < FAMILY_COUNT; f++)
		for (size_t i = 0; i < COUNT(rows); i++) {
			const struct service *s = &config.services[0].service;
			char text[200];

			snprintf(text, sizeof(text),
				 "service a {\nprotocol = %s\nport = 27960\n%s\n}\n",
				 family_name((enum wire_family)f), rows[i].text);
			load_good(text);
			assert_int_equal(s->players_source, rows[i].source);
			assert_int_equal(s->players_prefix, rows[i].prefix);
			print_and_read(&config, &again);
		}
}

static void players_are_named_once(void **state)
{
	char said[256];

	(void)state;
	assert_int_equal(load(SERVICE("players { source = 1 }\nplayers { prefix = 1 }"),
			      &config, said, sizeof(said)),
			 -EINVAL);
	assert_string_equal(said, "t.conf:5: section 'players' is given twice\n");
}

/* A host of many servers may be asked for all of them; what is chosen is not changed. */
static void allowance_grows_with_servers_up_to_a_bound(void **state)
{
	static const struct {
		size_t services, ports, addresses;
		__u32 allowance;
		__u64 want;
	} rows[] = {
		{ 0, 0, 0, AMPLIFICATION_ALLOWANCE, AMPLIFICATION_ALLOWANCE },
		{ 1, 1, 0, AMPLIFICATION_ALLOWANCE, AMPLIFICATION_ALLOWANCE },
		{ 8, 1, 0, AMPLIFICATION_ALLOWANCE, AMPLIFICATION_ALLOWANCE },
		{ 9, 1, 1, AMPLIFICATION_ALLOWANCE, 2 * AMPLIFICATION_ALLOWANCE },
		{ 1, 32, 0, AMPLIFICATION_ALLOWANCE, 4 * AMPLIFICATION_ALLOWANCE },
		{ 4, 4, 2, AMPLIFICATION_ALLOWANCE, 4 * AMPLIFICATION_ALLOWANCE },
		{ 64, 1, 0, AMPLIFICATION_ALLOWANCE, 8 * AMPLIFICATION_ALLOWANCE },
		{ 200, 1, 0, AMPLIFICATION_ALLOWANCE, 25 * AMPLIFICATION_ALLOWANCE },
		{ 256, 1, 0, AMPLIFICATION_ALLOWANCE, 32 * AMPLIFICATION_ALLOWANCE },
		{ 256, 2, 0, AMPLIFICATION_ALLOWANCE, 32 * AMPLIFICATION_ALLOWANCE },
		{ 64, 1, 0, AMPLIFICATION_ALLOWANCE + 1, AMPLIFICATION_ALLOWANCE + 1 },
		{ 64, 1, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		config_empty(&config);
		config.amplification_allowance = rows[i].allowance;
		config.service_count = rows[i].services;
		for (size_t n = 0; n < rows[i].services; n++) {
			config.services[n].port_count = rows[i].ports;
			config.services[n].address_count = rows[i].addresses;
		}
		assert_int_equal(config_allowance(&config), rows[i].want);
	}
}

static FILE *documented; /* docs/reference/defaults.md */

/* Is @cell, with a blank on either side, what would be configured to get @limit? */
static void assert_says(char *cell, const struct limit *limit)
{
	struct limit said = { 0 };

	assert_non_null(cell);
	cell[strlen(cell) - 1] = 0;
	assert_null(rate_parse(cell + 1, &said));
	assert_int_equal(said.cost_ns, limit->cost_ns);
	assert_int_equal(said.burst_ns, limit->burst_ns);
}

/* A row of the table of @family, if it is one. */
static bool row_holds(char *line, enum wire_family family)
{
	char *class = strtok(line, "|");
	const struct budget *b;
	struct service s;

	defaults_of(family, &s);
	for (int c = 0; c < CLASS_BUDGETS; c++) {
		const char *name = class_name((enum wire_class)c);

		if (strncmp(class + 1, name, strlen(name)) != 0)
			continue;
		b = &s.budget[c];
		assert_says(strtok(NULL, "|"), &b->source);
		assert_says(strtok(NULL, "|"), &b->prefix);
		assert_says(strtok(NULL, "|"), &b->service);
		return true;
	}
	return false;
}

/* What operators read there is what they get. */
static void defaults_are_those_in_the_documents(void **state)
{
	int family = -1, rows = 0;
	char line[4096];

	(void)state;
	assert_non_null(documented);
	while (fgets(line, sizeof(line), documented)) {
		line[strcspn(line, "\n")] = 0;
		if (line[0] == '#')
			for (family = FAMILY_COUNT - 1; family >= 0; family--)
				if (!strncmp(line, "## ", 3) &&
				    !strcmp(line + 3,
					    family_name((enum wire_family)family)))
					break;
		if (family >= 0 && !strncmp(line, "| ", 2))
			rows += row_holds(line, (enum wire_family)family);
	}
	fclose(documented);
	assert_int_equal(rows, FAMILY_COUNT * CLASS_BUDGETS);
}

/* Replies, malformed datagrams and fragments: what a section does not let in stays out.
 */
static void defaults_drop_what_has_no_budget(void **state)
{
	struct service s;

	(void)state;
	for (int f = 0; f < FAMILY_COUNT; f++) {
		memset(&s, 0xff, sizeof(s));
		config_service_defaults((enum wire_family)f, &s);
		for (size_t i = 0; i < sizeof(s.policy); i++)
			assert_int_equal(s.policy[i], POLICY_DROP);
	}
	load_good(SERVICE(""));
	for (size_t i = 0; i < sizeof(s.policy); i++)
		assert_int_equal(config.services[0].service.policy[i], POLICY_DROP);
}

/* Validation is on by default where a word of the protocol can return a cookie. */
static void defaults_ask_for_proof(void **state)
{
	struct service s;

	(void)state;
	for (int f = 0; f < FAMILY_COUNT; f++) {
		bool any = false;

		defaults_of((enum wire_family)f, &s);
		for (int kind = 0; kind < KIND_COUNT; kind++)
			any |= kind != KIND_CCREQ_CONNECT &&
			       kind_takes_part((enum wire_family)f, (enum wire_kind)kind);
		assert_int_equal(s.validation,
				 any ? VALIDATION_UNDER_LOAD : VALIDATION_OFF);
	}
	load_good(SERVICE(""));
	assert_int_equal(config.services[0].service.validation, VALIDATION_UNDER_LOAD);
	load_good(SERVICE("validation = under-load"));
	assert_int_equal(config.services[0].service.validation, VALIDATION_UNDER_LOAD);
	load_good(SERVICE("validation = off"));
	assert_int_equal(config.services[0].service.validation, VALIDATION_OFF);
	load_good(SERVICE("validation = always"));
	assert_int_equal(config.services[0].service.validation, VALIDATION_ALWAYS);
	assert_int_equal(config.validation.cost_ns, 1000);
	load_good("validation { rate = \"1000/s burst 10\" }\n" SERVICE(""));
	assert_int_equal(config.validation.cost_ns, 1000000);
	assert_int_equal(config.validation.burst_ns, 10000000);
}

static void defaults_answer(void **state)
{
	struct service s;

	(void)state;
	for (int f = 0; f < FAMILY_COUNT; f++) {
		bool any = false;

		defaults_of((enum wire_family)f, &s);
		for (int kind = 0; kind < KIND_COUNT; kind++)
			any |= kind_cacheable((enum wire_family)f, (enum wire_kind)kind);
		assert_int_equal(s.cache, any ? CACHE_UNDER_LOAD : CACHE_OFF);
	}
	load_good(SERVICE(""));
	assert_int_equal(config.services[0].service.cache, CACHE_UNDER_LOAD);
	load_good(SERVICE("cache = off"));
	assert_int_equal(config.services[0].service.cache, CACHE_OFF);
	load_good(SERVICE("cache = always"));
	assert_int_equal(config.services[0].service.cache, CACHE_ALWAYS);
}

/* @text, loaded, has these two; over a veth those, and back when the interface is
 * another. */
static void assert_resolved(const char *text, const __u8 heard[2], const __u8 unheard[2],
			    struct config_adjusted *ret)
{
	const struct service *s = &config.services[0].service;
	struct config_adjusted other;

	load_good(text);
	assert_int_equal(s->validation, heard[0]);
	assert_int_equal(s->cache, heard[1]);
	config_resolve(&config, true, ret);
	assert_int_equal(s->validation, unheard[0]);
	assert_int_equal(s->cache, unheard[1]);
	assert_int_equal(ret->validation, heard[0] != unheard[0]);
	assert_int_equal(ret->cache, heard[1] != unheard[1]);
	config_resolve(&config, false, &other);
	assert_int_equal(s->validation, heard[0]);
	assert_int_equal(s->cache, heard[1]);
	assert_int_equal(other.validation + other.cache, 0);
	assert_int_equal(other.uncacheable, ret->uncacheable);
}

/* Where what is sent back might not be heard, nothing is by default; what is written
 * stays. */
static void unheard_is_off_unless_said(void **state)
{
	static const struct {
		const char *service;
		__u8 heard[2], unheard[2]; /* proof, answers */
	} rows[] = {
		{ "protocol = quake3", { 1, 1 }, { 0, 0 } },
		{ "protocol = quakeworld", { 1, 1 }, { 0, 0 } },
		{ "protocol = quake2", { 1, 1 }, { 0, 0 } },
		{ "protocol = netquake", { 1, 1 }, { 0, 0 } },
		/* Nothing is sent: who joins has to come twice. */
		{ "protocol = quake-enhanced", { 1, 0 }, { 1, 0 } },
		{ "protocol = auto", { 0, 0 }, { 0, 0 } },
		{ "protocol = quake3 validation = under-load", { 1, 1 }, { 1, 0 } },
		{ "protocol = quake3 validation = always", { 2, 1 }, { 2, 0 } },
		{ "protocol = quake3 validation = off", { 0, 1 }, { 0, 0 } },
		{ "protocol = quake3 cache = under-load", { 1, 1 }, { 0, 1 } },
		{ "protocol = quake3 cache = always", { 1, 2 }, { 0, 2 } },
		{ "protocol = quake3 cache = off", { 1, 0 }, { 0, 0 } },
		{ "protocol = auto cache = under-load", { 0, 1 }, { 0, 1 } },
	};
	struct config_adjusted adjusted;
	char text[256];

	_Static_assert(VALIDATION_UNDER_LOAD == 1 && CACHE_UNDER_LOAD == 1 &&
			       VALIDATION_ALWAYS == 2 && CACHE_ALWAYS == 2,
		       "the rows say pressure and always");
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(text, sizeof(text), "service \"ffa\" { port = 27960 %s }\n",
			 rows[i].service);
		assert_resolved(text, rows[i].heard, rows[i].unheard, &adjusted);
		assert_int_equal(adjusted.uncacheable, 0);
	}
}

/* Whose server cannot be asked is not answered for by default, on whatever interface. */
static void unasked_is_off_unless_said(void **state)
{
	static const struct {
		const char *service, *takes;
		__u8 cache;
		bool unasked;
	} rows[] = {
		{ "port = 27960", NULL, CACHE_UNDER_LOAD, false },
		{ "port = {27960, 27961}", "one port, and no more", CACHE_OFF, true },
		{ "port = 27960-27963", "one port, and no more", CACHE_OFF, true },
		{ "port = 1 address = 192.0.2.1", NULL, CACHE_UNDER_LOAD, false },
		{ "port = 1 address = \"2001:db8::1\"", "at most one address, of IPv4",
		  CACHE_OFF, true },
		{ "port = 1 address = \"::1\"", "at most one address, of IPv4", CACHE_OFF,
		  true },
		{ "port = 1 address = {192.0.2.1, 192.0.2.2}",
		  "at most one address, of IPv4", CACHE_OFF, true },
		{ "port = {1, 2} cache = under-load", "one port, and no more",
		  CACHE_UNDER_LOAD, false },
		{ "port = {1, 2} cache = off", "one port, and no more", CACHE_OFF,
		  false },
	};
	const __u8 validation = VALIDATION_UNDER_LOAD;
	struct config_adjusted adjusted;
	char text[256];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		__u8 heard[2] = { validation, rows[i].cache },
		     unheard[2] = { VALIDATION_OFF };

		unheard[1] = strstr(rows[i].service, "cache") ? rows[i].cache : CACHE_OFF;
		snprintf(text, sizeof(text), "service \"ffa\" { protocol = quake3 %s }\n",
			 rows[i].service);
		assert_resolved(text, heard, unheard, &adjusted);
		assert_int_equal(adjusted.uncacheable, rows[i].unasked);
		if (rows[i].takes)
			assert_string_equal(config_uncacheable(&config.services[0]),
					    rows[i].takes);
		else
			assert_null(config_uncacheable(&config.services[0]));
	}
}

static void adjusted_services_are_counted(void **state)
{
	static const struct {
		struct config_adjusted adjusted;
		const char *text;
	} rows[] = {
		{ { 0, 0, 3 }, "" },
		{ { 1, 0, 0 }, "validation for 1 service" },
		{ { 0, 2, 0 }, "cache for 2 services" },
		{ { SERVICES_MAX, SERVICES_MAX, 0 },
		  "validation for 256 services, cache for 256 services" },
	};
	char text[CONFIG_ADJUSTED];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		config_adjusted_format(&rows[i].adjusted, text);
		assert_string_equal(text, rows[i].text);
	}
}

static void looser_unknown_is_warned_of(void **state)
{
	char said[1024];

	(void)state;
	assert_int_equal(load(SERVICE("unknown { service = \"2/s burst 3\" }"), &config,
			      said, sizeof(said)),
			 0);
	assert_string_equal(said, "t.conf:5: warning: service 'ffa' lets more unknown "
				  "requests through than 'rcon' (service): odd spellings "
				  "evade that budget\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_unknown_is_strictest),
		cmocka_unit_test(defaults_fit_the_engines),
		cmocka_unit_test(defaults_are_those_in_the_documents),
		cmocka_unit_test(crowd_is_for_joining_with_default_limits),
		cmocka_unit_test(players_have_limits),
		cmocka_unit_test(players_are_named_once),
		cmocka_unit_test(allowance_grows_with_servers_up_to_a_bound),
		cmocka_unit_test(defaults_drop_what_has_no_budget),
		cmocka_unit_test(defaults_ask_for_proof),
		cmocka_unit_test(defaults_answer),
		cmocka_unit_test(unheard_is_off_unless_said),
		cmocka_unit_test(unasked_is_off_unless_said),
		cmocka_unit_test(adjusted_services_are_counted),
		cmocka_unit_test(looser_unknown_is_warned_of),
	};

	/* Before we leave for a directory of our own. */
	documented = fopen("docs/reference/defaults.md", "re");
	return cmocka_run_group_tests(tests, enter, leave);
}
