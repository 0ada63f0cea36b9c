// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_config.c - good files and what they mean, bad files and the line that says so.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "config.h"
#include "names.h"
#include "rate.h"
#include "stderr.h"

#define FILE_NAME "t.conf"
#define COUNT(a)  (sizeof(a) / sizeof(*(a)))
#define FFA	  "service \"ffa\" { protocol = quake3 port = 27960 }\n"

static struct config config, again;

static void file_write(const char *text, size_t length)
{
	FILE *file = fopen(FILE_NAME, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

/* config_load() of @text; what it said is in @said. */
static int load(const char *text, struct config *ret, char *said, size_t size)
{
	int err;

	file_write(text, strlen(text));
	stderr_catch();
	err = config_load(FILE_NAME, ret);
	stderr_release(said, size);
	return err;
}

static void load_good(const char *text)
{
	char said[1024];
	int err = load(text, &config, said, sizeof(said));

	assert_string_equal(said, "");
	assert_int_equal(err, 0);
}

/* --- good files -------------------------------------------------------------------- */

static void minimal_as_in_the_manual(void **state)
{
	struct service expected = { .family = FAMILY_QUAKE3, .active = 1 };
	char listen[LISTEN_TEXT];

	(void)state;
	load_good("service \"ffa\" {\n"
		  "    protocol = quake3\n"
		  "    port     = 27960\n"
		  "}\n");
	strcpy(expected.name, "ffa");
	config_service_defaults(FAMILY_QUAKE3, &expected);
	assert_int_equal(config.service_count, 1);
	assert_memory_equal(&config.services[0].service, &expected, sizeof(expected));
	assert_int_equal(config.services[0].port_count, 1);
	assert_int_equal(config.services[0].ports[0], 27960);
	assert_int_equal(config.services[0].address_count, 0);
	assert_int_equal(config.interface_count, 0);
	assert_int_equal(config.mode, MODE_AUTO);
	assert_false(config.observe);
	assert_false(config.detach_on_exit);
	assert_int_equal(config.ledger_allowance, LEDGER_ALLOWANCE);
	assert_int_equal(config.ledger_window_s, LEDGER_WINDOW_S);
	assert_false(config.ledger_strict);
	listen_format(&config.metrics, listen);
	assert_string_equal(listen, METRICS_LISTEN);
}

static void where_metrics_are_told(void **state)
{
	static const struct {
		const char *text, *listen;
		bool public;
	} rows[] = {
		{ "metrics { }", METRICS_LISTEN, false },
		{ "metrics { listen = off }", "off", false },
		{ "metrics { listen = 127.0.0.2:80; }", "127.0.0.2:80", false },
		{ "metrics { public = true }", METRICS_LISTEN, true },
		{ "metrics { public = true listen = \"0.0.0.0:1\" }", "0.0.0.0:1", true },
		{ "metrics { listen = '[2001:db8::1]:1' public = on }", "[2001:db8::1]:1",
		  true },
	};
	char text[256], listen[LISTEN_TEXT];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(text, sizeof(text),
			 "%s service x { protocol = quake2 port = 1 }", rows[i].text);
		load_good(text);
		listen_format(&config.metrics, listen);
		assert_string_equal(listen, rows[i].listen);
		assert_int_equal(config.metrics.public, rows[i].public);
	}
}

static void every_protocol(void **state)
{
	char text[256];

	(void)state;
	for (int i = 0; i < FAMILY_COUNT; i++) {
		snprintf(text, sizeof(text), "service x { protocol = %s port = 1 }",
			 family_name((enum wire_family)i));
		load_good(text);
		assert_int_equal(config.services[0].service.family, i);
	}
}

static const char everything[] =
	"/* a comment { \" */ # another '\n"
	"interface = {\"eth0\", eth1}; mode = skb // and a third \"\n"
	"observe = true\n"
	"on_exit = detach\n"
	"allow = {\"10.0.0.0/8\", 2001:db8::/32, 192.0.2.7}\n"
	"deny = 198.51.100.1/24\n"
	"deny += {::1}\n"
	"ledger { allowance = 9000 window = 30; strict = yes }\n"
	"metrics { listen = [::1]:80 public = no }\n"
	"service 'a \"b\"' {\n"
	"  protocol = \"netquake\"; port = {26000, 26001};\n"
	"  address = {203.0.113.5, \"2001:db8::5\"}\n"
	"  observe = on\n"
	"  replies = pass malformed = limit fragments = drop\n"
	"  query { source = \"3/s burst 7\" prefix = \"90/m burst 3\" global = unlimited }\n"
	"  netchan { source = 0 }\n"
	"}\n"
	"service b { protocol = quake2 port = 26000 }\n";

static void everything_at_once(void **state)
{
	const struct config_service *a = &config.services[0];
	const struct budget *query = &a->service.budget[CLASS_QUERY];
	struct service expected = { 0 };
	char text[CIDR_TEXT];

	(void)state;
	load_good(everything);
	config_service_defaults(FAMILY_NETQUAKE, &expected);
	assert_string_equal(config.interfaces[0], "eth0");
	assert_string_equal(config.interfaces[1], "eth1");
	assert_int_equal(config.interface_lines[1], 2);
	assert_int_equal(config.mode, MODE_SKB);
	assert_true(config.observe);
	assert_true(config.detach_on_exit);
	assert_int_equal(config.allow_count, 3);
	cidr_format(&config.allow[1], text);
	assert_string_equal(text, "2001:db8::/32");
	assert_int_equal(config.ledger_allowance, 9000);
	assert_int_equal(config.ledger_window_s, 30);
	assert_true(config.ledger_strict);
	assert_int_equal(config.metrics.port, 80);
	assert_int_equal(config.metrics.addr[15], 1);
	assert_int_equal(config.deny_count, 2);
	cidr_format(&config.deny[0], text);
	assert_string_equal(text, "198.51.100.0/24");
	assert_int_equal(config.service_count, 2);
	assert_string_equal(a->service.name, "a \"b\"");
	assert_int_equal(a->port_count, 2);
	assert_int_equal(a->address_count, 2);
	assert_true(a->service.observe);
	assert_int_equal(a->service.policy[0], POLICY_PASS);
	assert_int_equal(a->service.policy[1], POLICY_LIMIT);
	assert_int_equal(a->service.policy[2], POLICY_DROP);
	assert_int_equal(query->source.cost_ns, 333333333);
	assert_int_equal(query->source.burst_ns, 7 * 333333333ull);
	assert_int_equal(query->prefix.cost_ns, 666666667);
	assert_int_equal(query->prefix.burst_ns, 3 * 666666667ull);
	assert_int_equal(query->global.cost_ns, 0);
	assert_int_equal(a->service.budget[CLASS_NETCHAN].source.burst_ns, 0);
	assert_true(a->service.budget[CLASS_NETCHAN].source.cost_ns > 0);
	assert_memory_equal(&a->service.budget[CLASS_CONNECT],
			    &expected.budget[CLASS_CONNECT], sizeof(struct budget));
}

static void print_and_read_again(const struct config *from)
{
	FILE *file = fopen(FILE_NAME, "we");

	assert_non_null(file);
	config_print(from, file);
	fclose(file);
	assert_int_equal(config_load(FILE_NAME, &again), 0);
	memcpy(again.interface_lines, from->interface_lines,
	       sizeof(again.interface_lines));
	assert_memory_equal(&again, from, sizeof(again));
}

static void printed_and_read_alike(void **state)
{
	(void)state;
	load_good(everything);
	print_and_read_again(&config);
	config_default(&config);
	print_and_read_again(&config);
	for (int i = 0; i < FAMILY_COUNT; i++) {
		config.services[0].service.family = (__u8)i;
		config_service_defaults((enum wire_family)i, &config.services[0].service);
		print_and_read_again(&config);
	}
}

static void same_port_on_other_addresses(void **state)
{
	(void)state;
	load_good("service a { protocol = quake3 port = 27960 address = 192.0.2.1 }\n"
		  "service b { protocol = quake3 port = 27960 address = 192.0.2.2 }\n"
		  "service c { protocol = quake3 port = 27960 }\n");
	assert_int_equal(config.service_count, 3);
}

/* The scanner of libconfuse is one for the process: a bad file must leave no trace. */
static void good_after_bad(void **state)
{
	static const char *const bad[] = {
		"service \"ffa",  "service 'ffa", "/* no end", "service ffa {\n",
		"port = \"\\9\"", "a = {1,",	  "a(",	       "}",
		"service \"a\\",  "${HOME",
	};
	char said[1024];

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(load(bad[i], &again, said, sizeof(said)), -EINVAL);
		load_good(FFA);
	}
}

/* --- bad files --------------------------------------------------------------------- */

#define SERVICE(body) "service \"ffa\" {\nprotocol = quake3\nport = 27960\n" body "\n}\n"

static const struct {
	const char *text, *says;
} bad[] = {
	/* shape */
	{ "", "t.conf: no service: write at least one, as service \"ffa\" { protocol = "
	      "quake3 port = 27960 }\n" },
	{ "# nothing\n", "t.conf: no service: write at least one, as service \"ffa\" { "
			 "protocol = quake3 port = 27960 }\n" },
	{ "\n\nbogus = 3\n", "t.conf:3: no such option 'bogus'\n" },
	{ SERVICE("colour = red"), "t.conf:4: no such option 'colour'\n" },
	{ "# c\n/* c\n */ bogus = 3\n", "t.conf:3: no such option 'bogus'\n" },
	{ FFA "mode native\n", "t.conf:2: missing equal sign after option 'mode'\n" },
	{ FFA "service {\n}\n", "t.conf:2: missing title for section 'service'\n" },
	{ "\nservice \"ffa\" {\nport = 1\n", "t.conf:2: this section or list does not "
					     "end: '{'\n" },
	{ FFA "\n}\n", "t.conf:3: '}' closes nothing\n" },
	{ FFA "\nservice \"ff {\n}\n", "t.conf:3: this string does not end: \"ff {\n" },
	{ FFA "/* no\nend", "t.conf:2: this comment does not end: '/*'\n" },
	{ FFA "mode = \"\\033\"", "t.conf:2: no such escape: '\\0'\n" },
	{ FFA "mode = ${MODE}\n", "t.conf:2: no variables here: '${MODE}'\n" },
	{ "{{{{{{{{{", "t.conf:1: '{' nested too deeply\n" },
	{ SERVICE("observe = yes\n\nobserve = no"), "t.conf:6: 'observe' is given "
						    "twice\n" },
	{ FFA "allow = {::1, ::2}\nallow = ::3\n", "t.conf:3: 'allow' is given twice\n" },
	{ SERVICE("query { source = 1/s }\nquery { source = 2/s }"),
	  "t.conf:5: section 'query' is given twice\n" },
	{ SERVICE("query {\nrate = 1/s }"), "t.conf:5: no such option 'rate'\n" },

	/* names */
	{ FFA FFA, "t.conf:2: found duplicate title 'ffa'\n" },
	{ "service \"\" { protocol = quake3 port = 1 }",
	  "t.conf:1: service '' needs a name\n" },
	{ "service \"0123456789abcdef0123456789abcdef\" { protocol = quake3 port = 1 }",
	  "t.conf:1: service name '0123456789abcdef0123456789abcdef' is longer than 31 "
	  "octets\n" },
	{ "service \"a\\x1b[2Jb\" { protocol = quake3 port = 1 }",
	  "t.conf:1: service name 'a?[2Jb' has a character that is not printable "
	  "ASCII\n" },
	{ "service \"caf\xc3\xa9\" { protocol = quake3 port = 1 }",
	  "t.conf:1: service name 'caf\xc3\xa9' has a character that is not printable "
	  "ASCII\n" },

	/* protocol, ports, addresses */
	{ "service a {\nport = 1\n}\n", "t.conf:3: service 'a' ends without a "
					"protocol\n" },
	{ "service a {\nprotocol = quake4\nport = 1 }",
	  "t.conf:2: protocol 'quake4' is not one of: netquake, quakeworld, quake2, "
	  "quake3, quake-enhanced, auto\n" },
	{ "service a {\nprotocol = quake3\n}\n", "t.conf:3: service 'a' ends without a "
						 "port\n" },
	{ "service a { protocol = quake3\nport = 0 }",
	  "t.conf:2: port '0' is not a number from 1 to 65535\n" },
	{ "service a { protocol = quake3\nport = {1,\n65536} }",
	  "t.conf:3: port '65536' is not a number from 1 to 65535\n" },
	{ "service a { protocol = quake3 port = -1 }",
	  "t.conf:1: port '-1' is not a number from 1 to 65535\n" },
	{ "service a { protocol = quake3 port = 27960-27970 }",
	  "t.conf:1: port '27960-27970' is not a number from 1 to 65535\n" },
	{ "service a { protocol = quake3 port = 99999999999999999999 }",
	  "t.conf:1: port '99999999999999999999' is not a number from 1 to 65535\n" },
	{ "service a { protocol = quake3 port = {1,\n2,\n1} }",
	  "t.conf:3: port '1' is given twice\n" },
	{ FFA "service b {\nprotocol = quake2\nport = {1,\n27960}\n}\n",
	  "t.conf:5: port '27960' on the same address belongs to service 'ffa'\n" },
	{ "service a { protocol = quake3 port = 1 address = {::1, ::2} }\n"
	  "service b { protocol = quake3 port = 1 address = ::2 }",
	  "t.conf:2: port '1' on the same address belongs to service 'a'\n" },
	{ SERVICE("address = 10.0.0.0/8"),
	  "t.conf:4: address '10.0.0.0/8' is not an IPv4 or IPv6 address\n" },
	{ SERVICE("address = {::1,\nlocalhost}"),
	  "t.conf:5: address 'localhost' is not an IPv4 or IPv6 address\n" },
	{ SERVICE("address = {::1, 0::1}"), "t.conf:4: address '0::1' is given twice\n" },

	/* choices */
	{ SERVICE("observe = perhaps"),
	  "t.conf:4: observe 'perhaps' is not one of: true, yes, on, false, no, off\n" },
	{ SERVICE("fragments = allow"),
	  "t.conf:4: fragments 'allow' is not one of: drop, limit, pass\n" },
	{ FFA "mode = driver\n", "t.conf:2: mode 'driver' is not one of: auto, native, "
				 "skb\n" },
	{ FFA "on_exit = stay\n", "t.conf:2: on_exit 'stay' is not one of: keep, "
				  "detach\n" },

	/* rates */
	{ SERVICE("query { source = fast }"),
	  "t.conf:4: 'fast' is no rate: write N/s, N/m or N/h, perhaps with 'burst N', "
	  "or unlimited or 0\n" },
	{ SERVICE("query {\nprefix = \"2/s burst\" }"),
	  "t.conf:5: '2/s burst' is no rate: write N/s, N/m or N/h, perhaps with 'burst "
	  "N', or unlimited or 0\n" },
	{ SERVICE("rcon { global = 0/s }"),
	  "t.conf:4: '0/s' is never: write 0 without a unit\n" },
	{ SERVICE("rcon { global = 1000001/s }"),
	  "t.conf:4: '1000001/s' is too much: at most 1000000 per unit, or unlimited\n" },
	{ SERVICE("query { source = '2/s burst 0' }"),
	  "t.conf:4: '2/s burst 0' has a burst that is not from 1 to 1000000\n" },
	{ SERVICE("query { source = '1000/s burst 9' }"),
	  "t.conf:4: '1000/s burst 9' has too small a burst: it must last for 10 ms, a "
	  "tick of the kernel's clock\n" },

	/* metrics */
	{ FFA "metrics { listen = 9127 }",
	  "t.conf:2: listen '9127' is neither off nor an address and a port like "
	  "127.0.0.1:9127 or [::1]:9127\n" },
	{ FFA "metrics {\nlisten = 0.0.0.0:9127 }",
	  "t.conf:3: listen '0.0.0.0:9127' is no loopback address: anybody could read "
	  "there who plays; `public = true` allows it\n" },
	{ FFA "metrics { }\nmetrics {\n}",
	  "t.conf:4: section 'metrics' is given twice\n" },
	{ FFA "metrics { public = perhaps }",
	  "t.conf:2: public 'perhaps' is not one of: true, yes, on, false, no, off\n" },
	/* the ledger */
	{ FFA "ledger { allowance = 8k }",
	  "t.conf:2: allowance '8k' is not a number from 0 to 100000000\n" },
	{ FFA "ledger { window = 0 }",
	  "t.conf:2: window '0' is not a number from 1 to 3600\n" },
	{ FFA "ledger { }\nledger {\n}", "t.conf:4: section 'ledger' is given twice\n" },

	/* lists and interfaces */
	{ FFA "allow = {10.0.0.0/8,\n10.0.0.0/33}\n",
	  "t.conf:3: allow '10.0.0.0/33' is not an address or network like "
	  "203.0.113.0/24 or 2001:db8::/32\n" },
	{ FFA "deny = 10.0.0/8\n", "t.conf:2: deny '10.0.0/8' is not an address or "
				   "network like 203.0.113.0/24 or 2001:db8::/32\n" },
	{ FFA "interface = {eth0,\neth0}\n", "t.conf:3: interface 'eth0' is given "
					     "twice\n" },
	{ FFA "interface = abcdefghijklmnop\n",
	  "t.conf:2: interface 'abcdefghijklmnop' cannot be one: 1 to 15 characters, no "
	  "blank or '/'\n" },
	{ FFA "interface = ../eth0\n",
	  "t.conf:2: interface '../eth0' cannot be one: 1 to "
	  "15 characters, no blank or '/'\n" },
};

static void bad_files(void **state)
{
	char said[1024];

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		int err = load(bad[i].text, &config, said, sizeof(said));

		assert_string_equal(said, bad[i].says);
		assert_int_equal(err, -EINVAL);
	}
}

static void nul_in_the_file(void **state)
{
	static const char text[] = FFA "\nmode\0 = skb\n";
	char said[256];

	(void)state;
	file_write(text, sizeof(text) - 1);
	stderr_catch();
	assert_int_equal(config_load(FILE_NAME, &config), -EINVAL);
	stderr_release(said, sizeof(said));
	assert_string_equal(said, "t.conf:3: a NUL: not a text file\n");
}

static void unreadable_files(void **state)
{
	char said[256];

	(void)state;
	stderr_catch();
	assert_int_equal(config_load("missing.conf", &config), -ENOENT);
	stderr_release(said, sizeof(said));
	assert_string_equal(said,
			    "missing.conf: cannot open it: No such file or directory\n");

	stderr_catch();
	assert_int_equal(config_load(".", &config), -EISDIR);
	stderr_release(said, sizeof(said));
	assert_string_equal(said, ".: cannot read it: Is a directory\n");

	file_write(FFA, strlen(FFA));
	assert_int_equal(truncate(FILE_NAME, 5 << 20), 0);
	stderr_catch();
	assert_int_equal(config_load(FILE_NAME, &config), -EFBIG);
	stderr_release(said, sizeof(said));
	assert_string_equal(said,
			    "t.conf: more than 4194304 octets: not a configuration\n");
}

static void unknown_interface(void **state)
{
	char said[256];

	(void)state;
	load_good(FFA "interface = {lo,\nnosuch0}\n");
	stderr_catch();
	assert_int_equal(config_check_interfaces(FILE_NAME, &config), -EINVAL);
	stderr_release(said, sizeof(said));
	assert_string_equal(said,
			    "t.conf:3: interface 'nosuch0' is not on this machine\n");
}

/* --- limits of a file -------------------------------------------------------------- */

static char *repeated(const char *format, int n)
{
	size_t size = (size_t)n * (strlen(format) + 16) + 1, used = 0;
	char *text = malloc(size);

	assert_non_null(text);
	text[0] = 0;
	for (int i = 1; i <= n; i++)
		used += (size_t)sprintf(text + used, format, i, i);
	return text;
}

static void too_many(const char *format, int most, const char *prefix, const char *suffix,
		     const char *says)
{
	for (int n = most; n <= most + 1; n++) {
		char *items = repeated(format, n);
		char *text = NULL;
		char said[512];
		int err;

		assert_true(asprintf(&text, "%s%s%s", prefix, items, suffix) > 0);
		err = load(text, &config, said, sizeof(said));
		assert_string_equal(said, n == most ? "" : says);
		assert_int_equal(err, n == most ? 0 : -EINVAL);
		free(items);
		free(text);
	}
}

static void one_too_many(void **state)
{
	(void)state;
	too_many("service s%d { protocol = quake3 port = %d }\n", SERVICES_MAX, "", "",
		 "t.conf:257: service 's257' is one too many: at most 256\n");
	too_many("port += %d\n", CONFIG_PORTS, "service a { protocol = quake3\n", "}",
		 "t.conf:66: port '65' is one too many: at most 64 a service\n");
	too_many("address += ::%d\n", CONFIG_ADDRESSES,
		 "service a { protocol = quake3 port = {1, 2}\n", "}",
		 "t.conf:18: address '::17' is one too many: at most 16 a service\n");
	too_many("interface += e%d\n", CONFIG_INTERFACES, FFA, "",
		 "t.conf:18: interface 'e17' is one too many: at most 16\n");
	too_many("allow += ::%x\n", CONFIG_LIST, FFA, "",
		 "t.conf:4098: allow '::1001' is one too many: at most 4096\n");
	too_many("service s%d { protocol = quake3 port = %d address = {::1, ::2} }\n",
		 SERVICES_MAX / 2, "", "",
		 "t.conf:129: service 's129' makes more than 256 pairs of port and "
		 "address in all\n");
}

/* --- defaults ---------------------------------------------------------------------- */

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
			assert_false(rate_looser(&u->global, &b->global));
			/* A source may use all of its budget, a prefix too. */
			assert_false(rate_looser(&b->source, &b->prefix));
			assert_true(per_second(&b->prefix) <= per_second(&b->global));
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
	assert_true(burst(&query->global) + burst(&challenge->global) < 10);
	assert_true(per_second(&query->global) + per_second(&challenge->global) < 10);
	/* and an address has 10, and 1 a second: some are left for getchallenge. */
	assert_true(within(&query->source, 30) <=
		    within(&(struct limit){ 1000000000, 5000000000 }, 30));
	/* Four people in four networks ask once a second, beside a spoofed victim. */
	assert_true(per_second(&query->global) > 5);

	/* Q2PRO: status 15 a second, 5 at once. */
	defaults_of(FAMILY_QUAKE2, &s);
	query = &s.budget[CLASS_QUERY];
	assert_true(per_second(&query->global) < 15);
	assert_true(burst(&query->global) <= 5);

	/* FTE: 15 within 30 seconds ban an address for a day; 20 a second for all. */
	defaults_of(FAMILY_QUAKEWORLD, &s);
	assert_true(within(&s.budget[CLASS_QUERY].source, 30) < 15);
	assert_true(within(&s.budget[CLASS_RCON].source, 30) < 15);
	assert_true(within(&s.budget[CLASS_QUERY].global, 1) <= 20);

	/* DarkPlaces: 128 challenges; one must survive a client's repeat, 3 seconds. */
	defaults_of(FAMILY_NETQUAKE, &s);
	assert_true(within(&s.budget[CLASS_CHALLENGE].global, 3) < 128);

	/*
	 * Until the server has sent something to a player, the player is a stranger: two
	 * behind one address for 300 ms, 64 in all for 100 ms, 125 packets a second each.
	 */
	for (int f = 0; f < FAMILY_COUNT; f++) {
		defaults_of((enum wire_family)f, &s);
		netchan = &s.budget[CLASS_NETCHAN];
		assert_true(within(&netchan->source, 0.3) >= 2 * 125 * 0.3);
		assert_true(within(&netchan->global, 0.1) >= 64 * 125 * 0.1);
	}
}

static void looser_unknown_is_warned_of(void **state)
{
	char said[1024];

	(void)state;
	assert_int_equal(load(SERVICE("unknown { global = \"2/s burst 3\" }"), &config,
			      said, sizeof(said)),
			 0);
	assert_string_equal(said, "t.conf:5: warning: service 'ffa' lets more unknown "
				  "requests through than 'rcon' (global): odd spellings "
				  "evade that budget\n");
}

/* --- rates and networks alone ------------------------------------------------------ */

static void rates(void **state)
{
	static const struct {
		const char *text;
		__u64 cost_ns, burst;
		const char *printed;
	} rows[] = {
		{ "1/s", 1000000000, 1, "1/s burst 1" },
		{ "60/m", 1000000000, 1, "1/s burst 1" },
		{ " 30/m  burst 2 ", 2000000000, 2, "30/m burst 2" },
		{ "90/m", 666666667, 1, "90/m burst 1" },
		{ "3/s", 333333333, 3, "3/s burst 3" },
		{ "1/h", 3600000000000, 1, "1/h burst 1" },
		{ "7/h burst 3", 514285714286, 3, "7/h burst 3" },
		{ "1000000/s", 1000, 1000000, "1000000/s burst 1000000" },
		{ "2/s\tburst\t6", 500000000, 6, "2/s burst 6" },
		{ "2/s burst6", 500000000, 6, "2/s burst 6" },
		{ "unlimited", 0, 0, "unlimited" },
		{ "0", 1000000000, 0, "0" },
	};
	static const char *const wrong[] = {
		"",	      "1",
		"s",	      "1/",
		"1/d",	      "-1/s",
		"1.5/s",      "1/s burst",
		"1/s 5",      "1/s burst x",
		"1/sburst 5", "1/s burst 5 x",
		"unlimitedx", "1/s burst -1",
		"00",	      "/s",
		"1 /s",
	};
	struct limit l, untouched = { 7, 7 };
	char text[RATE_TEXT];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_null(rate_parse(rows[i].text, &l));
		assert_int_equal(l.cost_ns, rows[i].cost_ns);
		assert_int_equal(l.burst_ns, rows[i].cost_ns * rows[i].burst);
		rate_format(&l, text);
		assert_string_equal(text, rows[i].printed);
	}
	for (size_t i = 0; i < COUNT(wrong); i++) {
		assert_non_null(rate_parse(wrong[i], &untouched));
		assert_int_equal(untouched.cost_ns, 7);
	}
}

static void every_rate_survives_printing(void **state)
{
	static const char units[] = "smh";

	(void)state;
	for (unsigned int n = 1; n <= RATE_MAX; n += 1 + n / 50) {
		for (const char *unit = units; *unit; unit++) {
			struct limit first, second;
			char text[RATE_TEXT];

			snprintf(text, sizeof(text), "%u/%c burst 1000000", n, *unit);
			assert_null(rate_parse(text, &first));
			rate_format(&first, text);
			assert_null(rate_parse(text, &second));
			assert_memory_equal(&first, &second, sizeof(first));
		}
	}
}

static void rates_compare(void **state)
{
	static const struct {
		const char *a, *b;
		bool looser;
	} rows[] = {
		{ "1/s burst 2", "1/s burst 2", false },
		{ "2/s burst 2", "1/s burst 2", true },
		{ "1/s burst 3", "2/s burst 2", true },
		{ "1/s burst 2", "2/s burst 3", false },
		{ "unlimited", "1/s", true },
		{ "1/s", "unlimited", false },
		{ "unlimited", "unlimited", false },
		{ "0", "1/h", false },
		{ "1/h", "0", true },
		{ "unlimited", "0", true },
		{ "0", "0", false },
	};
	struct limit a, b;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_null(rate_parse(rows[i].a, &a));
		assert_null(rate_parse(rows[i].b, &b));
		assert_int_equal(rate_looser(&a, &b), rows[i].looser);
	}
}

static void networks(void **state)
{
	static const struct {
		const char *text, *printed; /* NULL: refused */
		unsigned int length;
	} rows[] = {
		{ "10.0.0.0/8", "10.0.0.0/8", 104 },
		{ "10.1.2.3/8", "10.0.0.0/8", 104 },
		{ "192.0.2.7", "192.0.2.7", 128 },
		{ "192.0.2.7/32", "192.0.2.7", 128 },
		{ "0.0.0.0/0", "0.0.0.0/0", 96 },
		{ "::ffff:192.0.2.0/120", "192.0.2.0/24", 120 },
		{ "2001:db8::1", "2001:db8::1", 128 },
		{ "2001:DB8::1/32", "2001:db8::/32", 32 },
		{ "::/0", "::/0", 0 },
		{ "fd00::/9", "fd00::/9", 9 },
		{ "10.0.0.0/33", NULL, 0 },
		{ "2001:db8::/129", NULL, 0 },
		{ "10.0.0.0/", NULL, 0 },
		{ "10.0.0.0/ 8", NULL, 0 },
		{ "10.0.0.0/-1", NULL, 0 },
		{ "10.0.0.0/0008", NULL, 0 },
		{ "10.0.0.0/8/8", NULL, 0 },
		{ "10.0.0", NULL, 0 },
		{ " 10.0.0.0", NULL, 0 },
		{ "", NULL, 0 },
		{ "/8", NULL, 0 },
		{ "fe80::1%eth0", NULL, 0 },
		{ "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb", NULL, 0 },
	};
	struct cidr cidr;
	char text[CIDR_TEXT];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		bool good = cidr_parse(rows[i].text, &cidr);

		assert_int_equal(good, rows[i].printed != NULL);
		if (!good)
			continue;
		assert_int_equal(cidr.length, rows[i].length);
		cidr_format(&cidr, text);
		assert_string_equal(text, rows[i].printed);
	}
}

static char directory[] = "/tmp/test_config.XXXXXX";

static int enter(void **state)
{
	(void)state;
	return mkdtemp(directory) && !chdir(directory) ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	unlink(FILE_NAME);
	return chdir("/") || rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(minimal_as_in_the_manual),
		cmocka_unit_test(where_metrics_are_told),
		cmocka_unit_test(every_protocol),
		cmocka_unit_test(everything_at_once),
		cmocka_unit_test(printed_and_read_alike),
		cmocka_unit_test(same_port_on_other_addresses),
		cmocka_unit_test(good_after_bad),
		cmocka_unit_test(bad_files),
		cmocka_unit_test(nul_in_the_file),
		cmocka_unit_test(unreadable_files),
		cmocka_unit_test(unknown_interface),
		cmocka_unit_test(one_too_many),
		cmocka_unit_test(defaults_unknown_is_strictest),
		cmocka_unit_test(defaults_fit_the_engines),
		cmocka_unit_test(looser_unknown_is_warned_of),
		cmocka_unit_test(rates),
		cmocka_unit_test(every_rate_survives_printing),
		cmocka_unit_test(rates_compare),
		cmocka_unit_test(networks),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
