// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_config_tree.c - what files include, what the command line sets, and what people
 * write: a byte order mark, ranges of ports, the names of their servers, typing errors.
 */
#include <sys/stat.h>

#include "config_support.h"
#include "lib/rate_text.h"

static void write_to(const char *name, const char *text)
{
	FILE *file = fopen(name, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void says(const char *text, const char *message)
{
	char said[1024];

	assert_int_equal(load(text, &config, said, sizeof(said)), -EINVAL);
	assert_string_equal(said, message);
}

static void byte_order_mark(void **state)
{
	(void)state;
	load_good("\xef\xbb\xbf" FFA);
	says("\xef\xbb\xbf\nmode = x\n" FFA,
	     "t.conf:2: mode 'x' is not one of: auto, native, skb\n");
	/* Elsewhere it is nothing that we know, and nothing that would be seen. */
	says("\n\xef\xbb\xbfmode = skb\n" FFA,
	     "t.conf:2: no such option '?mode' (did you mean mode?)\n");
}

static void port_ranges(void **state)
{
	(void)state;
	load_good("service a { protocol = q3a port = {1, 27960-27970, 65535} }");
	assert_int_equal(config.services[0].port_count, 13);
	assert_int_equal(config.services[0].ports[0], 1);
	assert_int_equal(config.services[0].ports[1], 27960);
	assert_int_equal(config.services[0].ports[11], 27970);
	assert_int_equal(config.services[0].ports[12], 65535);
	load_good("service a { protocol = quake3 port = 5-5 }");
	assert_int_equal(config.services[0].port_count, 1);
#define NOT_A_PORT(text)                                  \
	"t.conf:1: port '" text "' is not a number from " \
	"1 to 65535, or two with a dash between them\n"
	says("service a { protocol = quake3 port = 9-8 }", NOT_A_PORT("9-8"));
	says("service a { protocol = quake3 port = 1- }", NOT_A_PORT("1-"));
	says("service a { protocol = quake3 port = -1 }", NOT_A_PORT("-1"));
	says("service a { protocol = quake3 port = 0-5 }", NOT_A_PORT("0-5"));
	says("service a { protocol = quake3 port = 1-65536 }", NOT_A_PORT("1-65536"));
	says("service a { protocol = quake3 port = 1-2-3 }", NOT_A_PORT("1-2-3"));
	says("service a { protocol = quake3 port = 000000001-2 }",
	     NOT_A_PORT("000000001-2"));
	says("service a { protocol = quake3 port = {1-64,\n99} }",
	     "t.conf:2: port '99' is one too many: at most 64 a service\n");
	says("service a { protocol = quake3 port = {1-5,\n3} }",
	     "t.conf:2: port '3' is given twice\n");
	says("service a { protocol = quake3 port = 7 }\n"
	     "service b { protocol = quake2\nport = {1, 5-9} }",
	     "t.conf:3: port '5-9' on the same address belongs to service 'a'\n");
}

static void server_names(void **state)
{
	static const struct {
		const char *name;
		enum wire_family family;
	} rows[] = {
		{ "openarena", FAMILY_QUAKE3 },	  { "urt", FAMILY_QUAKE3 },
		{ "ET", FAMILY_QUAKE3 },	  { "OpenArena", FAMILY_QUAKE3 },
		{ "xonotic", FAMILY_NETQUAKE },	  { "q2pro", FAMILY_QUAKE2 },
		{ "ktx", FAMILY_QUAKEWORLD },	  { "mvdsv", FAMILY_QUAKEWORLD },
		{ "kex", FAMILY_QUAKE_ENHANCED },
	};
	char text[128];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(text, sizeof(text), "service a { protocol = %s port = 1 }",
			 rows[i].name);
		load_good(text);
		assert_int_equal(config.services[0].service.family, rows[i].family);
	}
}

static void hints(void **state)
{
	(void)state;
	says(SERVICE("query { source = 2/s burst 6 }"),
	     "t.conf:4: no such key: 'burst' (a value with blanks in it needs quotes: "
	     "\"2/s burst 6\")\n");
	says("allow = 10.1.0.0/16 unlimited\n" FFA,
	     "t.conf:1: no such key: 'unlimited' (a value with blanks in it needs quotes: "
	     "\"10.1.0.0/16 unlimited\")\n");
	says("interfaces = eth0\n" FFA,
	     "t.conf:1: no such option 'interfaces' (did you mean interface?)\n");
	says("mode = natve\n" FFA, "t.conf:1: mode 'natve' is not one of: auto, native, "
				   "skb (did you mean native?)\n");
	says("service a { protocol = quak3 port = 1 }",
	     "t.conf:1: protocol 'quak3' is not one of: netquake, quakeworld, quake2, "
	     "quake3, quake-enhanced, auto, master (did you mean quake3?)\n");
	says("zzz = 1\n" FFA, "t.conf:1: no such option 'zzz'\n");
}

static void includes(void **state)
{
	(void)state;
	assert_int_equal(mkdir("d", 0700), 0);
	write_to("d/a.conf", "deny = {\"192.0.2.0/24\"}\ninclude = \"more.conf\"\n");
	write_to("d/b.conf", "\n\n" FFA);
	write_to("d/more.conf", "deny += {\"198.51.100.1\"}\nmode = skb\n");
	/* The second, seen from d/, is beside the first. */
	load_good("include = {\"d/a.conf\", \"d/b.conf\"}\n");
	assert_int_equal(config.deny_count, 2);
	assert_int_equal(config.mode, MODE_SKB);
	assert_int_equal(config.service_count, 1);
	unlink("d/more.conf");
	/* By a pattern, in order; one that finds nothing is none. */
	write_to("d/a.conf", "mode = native\n");
	load_good("include = \"d/*.conf\" include += \"none/*\"\n");
	assert_int_equal(config.mode, MODE_NATIVE);
	assert_int_equal(config.service_count, 1);

	/* Complaints name the file that the line is of. */
	write_to("d/a.conf", "\n\nmode = turbo\n");
	says("include = \"d/a.conf\"\n\n\n\n" FFA,
	     "d/a.conf:3: mode 'turbo' is not one of: auto, native, skb\n");
	write_to("d/a.conf", "\nmodus = skb\n");
	says("include = \"d/a.conf\"\n" FFA,
	     "d/a.conf:2: no such option 'modus' (did you mean mode?)\n");
	write_to("d/a.conf", "\nmode = skb\n");
	says("mode = skb include = \"d/a.conf\"\n" FFA,
	     "d/a.conf:2: 'mode' is given twice\n");
	write_to("d/a.conf", "\nservice x {\n");
	says("include = \"d/a.conf\"\n" FFA,
	     "d/a.conf:2: this section or list does not end: '{'\n");
	write_to("d/a.conf", "include = \"a.conf\"\n");
	says("include = \"d/a.conf\"\n" FFA,
	     "d/a.conf:1: include 'a.conf': more than 8 files deep\n");
	unlink("d/a.conf");
	unlink("d/b.conf");
	assert_int_equal(rmdir("d"), 0);
}

/* A file for each of many servers; and not without end. */
static void so_many_files(void **state)
{
	char name[32];

	(void)state;
	assert_int_equal(mkdir("d", 0700), 0);
	for (int i = 1; i <= 257; i++) {
		snprintf(name, sizeof(name), "d/%03d.conf", i);
		if (i == 257)
			load_good("include = \"d/*.conf\"\n" FFA);
		write_to(name, "\n");
	}
	says("include = \"d/*.conf\"\n" FFA,
	     "d/257.conf: more than 256 files are included\n");
	for (int i = 1; i <= 257; i++) {
		snprintf(name, sizeof(name), "d/%03d.conf", i);
		unlink(name);
	}
	assert_int_equal(rmdir("d"), 0);
}

static void include_is_there(void **state)
{
	char said[1024];

	(void)state;
	assert_int_equal(load("\ninclude = \"none\"\n" FFA, &config, said, sizeof(said)),
			 -ENOENT);
	assert_string_equal(said, "none: cannot open it: No such file or directory\n"
				  "t.conf:2: include 'none' failed\n");
}

/* Services would be gone without a word. A loop of links stays unseen for root, too. */
static void place_that_cannot_be_seen_is_an_error(void **state)
{
	char said[1024];

	(void)state;
	assert_int_equal(mkdir("d", 0700), 0);
	assert_int_equal(symlink("loop", "d/loop"), 0);
	assert_int_equal(load("\ninclude = \"d/loop/*.conf\"\n" FFA, &config, said,
			      sizeof(said)),
			 -ELOOP);
	assert_string_equal(said,
			    "d/loop: cannot look at it: Too many levels of symbolic "
			    "links\nt.conf:2: include 'd/loop/*.conf' failed\n");
	assert_int_equal(load("include = \"d/*/a.conf\"\n" FFA, &config, said,
			      sizeof(said)),
			 -ELOOP);
	assert_string_equal(said,
			    "d/loop: cannot look at it: Too many levels of symbolic "
			    "links\nt.conf:1: include 'd/*/a.conf' failed\n");
	unlink("d/loop");
	/* Neither a file nor a directory without the file keeps one. */
	write_to("d/file", "");
	assert_int_equal(mkdir("d/empty", 0700), 0);
	load_good("include = {\"d/*/a.conf\", \"d/file/*\", \"d/none/*\"}\n" FFA);
	unlink("d/file");
	assert_int_equal(rmdir("d/empty"), 0);
	assert_int_equal(rmdir("d"), 0);
}

static int set(const char *text, const char *const *sets, char *said, size_t size)
{
	int err;

	file_write(text, strlen(text));
	stderr_catch();
	err = config_load_set(FILE_NAME, sets, &config);
	stderr_release(said, size);
	return err;
}

static void set_good(const char *text, const char *one)
{
	const char *const sets[] = { one, NULL };
	char said[1024];
	int err = set(text, sets, said, sizeof(said));

	assert_string_equal(said, "");
	assert_int_equal(err, 0);
}

static void sets(void **state)
{
	struct limit limit;

	(void)state;
	set_good("mode = native\n" FFA, "mode=skb");
	assert_int_equal(config.mode, MODE_SKB);
	set_good("interface = old\n" FFA, "interface=eth0,eth1");
	assert_int_equal(config.interface_count, 2);
	assert_string_equal(config.interfaces[1], "eth1");
	set_good("interface = old\n" FFA, "interface=");
	assert_int_equal(config.interface_count, 0);
	/* Of a section that is there, and of one that is not. */
	set_good("amplification { refill = 5 allowance = 7 }\n" FFA,
		 "amplification.refill=9");
	assert_int_equal(config.amplification_refill_s, 9);
	assert_int_equal(config.amplification_allowance, 7);
	set_good(FFA, "amplification.refill=9");
	assert_int_equal(config.amplification_refill_s, 9);
	set_good(FFA, "service.ffa.port=1,5-7");
	assert_int_equal(config.services[0].port_count, 4);
	set_good(FFA, "service.ffa.query.source=7/s burst 9");
	assert_null(rate_parse("7/s burst 9", &limit));
	assert_memory_equal(&config.services[0].service.budget[CLASS_QUERY].source,
			    &limit, sizeof(limit));
	set_good("service \"a.b\" { protocol = quake3 port = 1 }", "service.a.b.port=2");
	assert_int_equal(config.services[0].ports[0], 2);
}

/* Of each service, however much of its name is another's, and sections of others. */
static void sets_of_names_with_dots(void **state)
{
#define NAMED(name, port) "service \"" name "\" { protocol = quake3 port = " port " }\n"
	static const char *const files[] = {
		NAMED("a", "1") NAMED("a.b", "2") NAMED("a.query", "3")
			NAMED("a.query.b", "4"),
		NAMED("a.query.b", "4") NAMED("a.query", "3") NAMED("a.b", "2")
			NAMED("a", "1"),
	};
	static const char *const rows[] = {
		/* by the port that the file gives it */
		"service.a.port=9",
		"service.a.b.port=9",
		"service.a.query.port=9",
		"service.a.query.b.port=9",
	};
	struct limit limit;

	(void)state;
	assert_null(rate_parse("7/s burst 9", &limit));
	for (size_t i = 0; i < COUNT(files) * COUNT(rows); i++) {
		const char *file = files[i / COUNT(rows)];
		size_t row = i % COUNT(rows);

		set_good(file, rows[row]);
		for (size_t s = 0; s < config.service_count; s++) {
			size_t at = i < COUNT(rows) ? s : COUNT(rows) - 1 - s;

			assert_int_equal(config.services[s].ports[0],
					 at == row ? 9 : at + 1);
		}
		/* A section of the one, though it is the other's name. */
		set_good(file, "service.a.query.source=7/s burst 9");
		for (size_t s = 0; s < config.service_count; s++)
			assert_int_equal(!memcmp(&config.services[s]
							  .service.budget[CLASS_QUERY]
							  .source,
						 &limit, sizeof(limit)),
					 !strcmp(config.services[s].service.name, "a"));
	}
}

static void sets_wrong(void **state)
{
#define NO_KEY(text)                                                       \
	"--set: no such key: '" text "' (as in `mode`, `metrics.listen`, " \
	"`service.NAME.port`, of a service that the file has)\n"
	static const struct {
		const char *set, *message;
	} rows[] = {
		{ "mode", "--set: 'mode' is not KEY=VALUE\n" },
		{ "mode=turbo",
		  "--set: mode 'turbo' is not one of: auto, native, skb\n" },
		{ "nothing=1", NO_KEY("nothing") },
		{ "=1", NO_KEY("") },
		{ "include=/etc/passwd", NO_KEY("include") },
		{ "service=1", NO_KEY("service") },
		{ "service.ffa=1", NO_KEY("service.ffa") },
		{ "service.other.port=1", NO_KEY("service.other.port") },
		{ "service.ffa.query=1", NO_KEY("service.ffa.query") },
		{ "mode.x=1", NO_KEY("mode.x") },
		{ "amplification.=1", NO_KEY("amplification.") },
		{ "service.ffa.port=0", "--set: port '0' is not a number from 1 to "
					"65535, or two with a dash between them\n" },
		{ "interface=a,a", "--set: interface 'a' is given twice\n" },
	};
	char said[1024];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *const all[] = { rows[i].set, NULL };

		assert_int_equal(set(FFA, all, said, sizeof(said)), -EINVAL);
		assert_string_equal(said, rows[i].message);
	}
}

static void listened(const struct config_complaint *complaint, void *context)
{
	char *said = context;

	snprintf(said, 256, "%s|%d|%d|%s", complaint->path, complaint->line,
		 complaint->warning, complaint->message);
}

static void complaints_are_heard(void **state)
{
	char heard[256] = "", said[256];

	(void)state;
	config_listen(listened, heard);
	assert_int_equal(load("\nmode = x\n" FFA, &config, said, sizeof(said)), -EINVAL);
	assert_string_equal(said, "");
	assert_string_equal(heard,
			    "t.conf|2|0|mode 'x' is not one of: auto, native, skb");
	assert_int_equal(load(SERVICE("unknown { source = unlimited }"), &config, said,
			      sizeof(said)),
			 0);
	assert_string_equal(said, "");

	assert_non_null(strstr(heard, "t.conf|5|1|service 'ffa' lets more unknown"));
	config_listen(NULL, NULL);
}

#define LAYERS                                                                                   \
	"service a { template = t port = 1 validation = off query { prefix = 270/s } }\n"        \
	"defaults { protocol = quake2 cache = off replies = pass malformed = pass\n"             \
	"  observe = yes validation = always\n"                                                  \
	"  query { source = 210/s prefix = 220/s service = 230/s } players { source = 100 } }\n" \
	"template t { protocol = quake3 malformed = limit query { source = 240/s }\n"            \
	"  observe = no players { source = 5 } }\n"                                              \
	"service b { port = 2 }\n"                                                               \
	"service c { port = 3 protocol = netquake observe = no }\n"

static const struct service *named(const char *name)
{
	for (size_t i = 0; i < config.service_count; i++)
		if (!strcmp(config.services[i].service.name, name))
			return &config.services[i].service;
	fail_msg("no service %s", name);
	return NULL;
}

static void limit_is(const struct limit *limit, const char *rate)
{
	char text[RATE_TEXT];

	rate_format(limit, text);
	assert_string_equal(text, rate);
}

/* A service before its template, that before what all have, and that before the
 * protocol's. */
static void layers(void **state)
{
	const struct service *a, *b, *c;
	const struct budget *query;

	(void)state;
	load_good(LAYERS);
	a = named("a");
	b = named("b");
	c = named("c");
	assert_int_equal(a->family, FAMILY_QUAKE3);
	assert_int_equal(b->family, FAMILY_QUAKE2);
	assert_int_equal(c->family, FAMILY_NETQUAKE);
	assert_int_equal(a->validation, VALIDATION_OFF);
	assert_int_equal(b->validation, VALIDATION_ALWAYS);
	assert_int_equal(a->cache, CACHE_OFF);
	assert_int_equal(a->policy[CLASS_REPLY - CLASS_BUDGETS], POLICY_PASS);
	assert_int_equal(a->policy[CLASS_MALFORMED - CLASS_BUDGETS], POLICY_LIMIT);
	assert_int_equal(b->policy[CLASS_MALFORMED - CLASS_BUDGETS], POLICY_PASS);
	assert_int_equal(b->policy[CLASS_FRAGMENT - CLASS_BUDGETS], POLICY_DROP);
	assert_int_equal(a->observe, 0);
	assert_int_equal(b->observe, 1);
	assert_int_equal(c->observe, 0);
	query = &a->budget[CLASS_QUERY];
	limit_is(&query->source, "240/s burst 240");
	limit_is(&query->prefix, "270/s burst 270");
	limit_is(&query->service, "230/s burst 230");
	limit_is(&b->budget[CLASS_QUERY].source, "210/s burst 210");
	assert_int_equal(a->players_source, 5);
	assert_int_equal(a->players_prefix, PLAYERS_PREFIX);
	assert_int_equal(b->players_source, 100);
	assert_int_equal(b->players_prefix, 100);
	for (size_t i = 0; i < config.service_count; i++)
		assert_true(config.services[i].validation_given &&
			    config.services[i].cache_given);
}

static void layers_set(void **state)
{
	const char *const sets[] = { "defaults.replies=limit",
				     "template.t.validation=always",
				     "service.b.template=t", NULL };

	(void)state;
	write_to("t.conf", LAYERS);
	assert_int_equal(config_load_set("t.conf", sets, &config), 0);
	assert_int_equal(named("c")->policy[CLASS_REPLY - CLASS_BUDGETS], POLICY_LIMIT);
	assert_int_equal(named("b")->validation, VALIDATION_ALWAYS);
	assert_int_equal(named("b")->family, FAMILY_QUAKE3);
	assert_int_equal(named("a")->validation, VALIDATION_OFF);
}

static void layers_wrong(void **state)
{
	(void)state;
	says(FFA
	     "service b {\ntemplate = duels port = 5 }\ntemplate duel { protocol = q2 }",
	     "t.conf:3: template 'duels' of service 'b' is not there (did you mean duel?)\n");
	says(FFA "service b {\ntemplate = x port = 5 }",
	     "t.conf:3: template 'x' of service 'b' is not there\n");
	says(FFA "template duel {\nport = 5 }",
	     "t.conf:3: 'port' belongs into each service: section 'template' cannot have it\n");
	says(FFA "defaults {\ntemplate = x }",
	     "t.conf:3: 'template' belongs into each service: section 'defaults' cannot have "
	     "it\n");
	says(FFA "defaults { }\ndefaults { }",
	     "t.conf:3: section 'defaults' is given twice\n");
	says(FFA "template t { }\ntemplate t { }",
	     "t.conf:3: found duplicate title 't'\n");
	says(FFA "defaults {\nproof = off }", "t.conf:3: 'proof' was renamed: write "
					      "'validation'\n");
	says(FFA "template t {\nquery { source = x } }",
	     "t.conf:3: 'x' is no rate: write N/s, N/m or N/h, perhaps with 'burst N', or "
	     "unlimited or 0\n");
	says(FFA "template t {\nprotocol = q9 }",
	     "t.conf:3: protocol 'q9' is not one of: netquake, quakeworld, quake2, quake3, "
	     "quake-enhanced, auto, master\n");
	says("defaults { protocol = q3 }\n",
	     "t.conf: no service: write at least one, as service "
	     "\"ffa\" { protocol = quake3 port = 27960 }\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(byte_order_mark),
		cmocka_unit_test(port_ranges),
		cmocka_unit_test(server_names),
		cmocka_unit_test(hints),
		cmocka_unit_test(includes),
		cmocka_unit_test(so_many_files),
		cmocka_unit_test(include_is_there),
		cmocka_unit_test(place_that_cannot_be_seen_is_an_error),
		cmocka_unit_test(sets),
		cmocka_unit_test(sets_of_names_with_dots),
		cmocka_unit_test(sets_wrong),
		cmocka_unit_test(complaints_are_heard),
		cmocka_unit_test(layers),
		cmocka_unit_test(layers_set),
		cmocka_unit_test(layers_wrong),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
