// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_config.c - good files and what they mean.
 */
#include "config/config_support.h"
#include "lib/names.h"

static struct config again;

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
	assert_int_equal(config.amplification_allowance, AMPLIFICATION_ALLOWANCE);
	assert_int_equal(config.amplification_refill_s, AMPLIFICATION_REFILL_S);
	assert_false(config.amplification_strict);
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

/* Each switch is its own, whatever the others say. */
static void switches_do_not_share(void **state)
{
	(void)state;
	load_good("interface = eth0\non-exit = detach\n" FFA);
	assert_true(config.detach_on_exit);
	assert_false(config.observe);
	assert_false(config.amplification_strict);
	load_good("interface = eth0\nobserve = true\n" FFA);
	assert_false(config.detach_on_exit);
	assert_true(config.observe);
	load_good("interface = eth0\namplification { mode = strict }\n" FFA);
	assert_false(config.detach_on_exit);
	assert_false(config.observe);
	assert_true(config.amplification_strict);
}

static const char everything[] =
	"/* a comment { \" */ # another '\n"
	"interface = {\"eth0\", eth1}; mode = skb // and a third \"\n"
	"observe = true\n"
	"on-exit = detach\n"
	"on-attack = \"/bin/tell --loud all\"\n"
	"allow = {\"10.0.0.0/8\", \"2001:db8::/32 unlimited\", 192.0.2.7}\n"
	"deny = 198.51.100.1/24\n"
	"deny += {::1}\n"
	"amplification { allowance = 9000 refill = 30; mode = limit }\n"
	"metrics { listen = [::1]:80 public = no }\n"
	"service 'a \"b\"' {\n"
	"  protocol = \"netquake\"; port = {26000, 26001};\n"
	"  address = {203.0.113.5, \"2001:db8::5\"}\n"
	"  observe = on\n"
	"  replies = pass malformed = limit fragments = drop cache = under-load\n"
	"  query { source = \"3/s burst 7\" prefix = \"90/m burst 3\" service = unlimited }\n"
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
	assert_string_equal(config.on_attack, "/bin/tell --loud all");
	assert_int_equal(config.allow_count, 3);
	cidr_format(&config.allow[1], text);
	assert_string_equal(text, "2001:db8::/32");
	assert_false(config.allow_unlimited[0]);
	assert_true(config.allow_unlimited[1]);
	assert_false(config.allow_unlimited[2]);
	assert_int_equal(config.amplification_allowance, 9000);
	assert_int_equal(config.amplification_refill_s, 30);
	assert_false(config.amplification_strict);
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
	assert_int_equal(query->service.cost_ns, 0);
	assert_int_equal(a->service.budget[CLASS_NETCHAN].source.burst_ns, 0);
	assert_true(a->service.budget[CLASS_NETCHAN].source.cost_ns > 0);
	assert_memory_equal(&a->service.budget[CLASS_CONNECT],
			    &expected.budget[CLASS_CONNECT], sizeof(struct budget));
}

/* Names as long as the kernel lets them be, one beside the other. */
static void the_longest_names_of_interfaces(void **state)
{
	static const char one[] = "abcdefghijklmno", two[] = "opqrstuvwxyz.01";

	_Static_assert(sizeof(one) == IF_NAMESIZE && sizeof(two) == IF_NAMESIZE,
		       "so long");
	(void)state;
	load_good("interface = {abcdefghijklmno, opqrstuvwxyz.01}\n" FFA);
	assert_int_equal(config.interface_count, 2);
	assert_string_equal(config.interfaces[0], one);
	assert_string_equal(config.interfaces[1], two);
}

static void printed_and_read_alike(void **state)
{
	(void)state;
	load_good(everything);
	print_and_read(&config, &again);
	config_default(&config);
	print_and_read(&config, &again);
	for (int i = 0; i < FAMILY_COUNT; i++) {
		config.services[0].service.family = (__u8)i;
		config_service_defaults((enum wire_family)i, &config.services[0].service);
		print_and_read(&config, &again);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(minimal_as_in_the_manual),
		cmocka_unit_test(where_metrics_are_told),
		cmocka_unit_test(every_protocol),
		cmocka_unit_test(everything_at_once),
		cmocka_unit_test(switches_do_not_share),
		cmocka_unit_test(the_longest_names_of_interfaces),
		cmocka_unit_test(printed_and_read_alike),
		cmocka_unit_test(same_port_on_other_addresses),
		cmocka_unit_test(good_after_bad),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
