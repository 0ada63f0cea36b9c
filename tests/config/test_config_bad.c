// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_config_bad.c - bad files, and the line that says so.
 */
#include "config/config_support.h"

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
	{ FFA "\ntemplate \"\" { }\n", "t.conf:3: template '' needs a name\n" },
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
	  "quake3, quake-enhanced, auto, master (did you mean quake2?)\n" },
	{ "service a {\nprotocol = quake3\n}\n", "t.conf:3: service 'a' ends without a "
						 "port\n" },
	{ "service a { protocol = quake3\nport = 0 }",
	  "t.conf:2: port '0' is not a number from 1 to 65535, or two with a dash between them\n" },
	{ "service a { protocol = quake3\nport = {1,\n65536} }",
	  "t.conf:3: port '65536' is not a number from 1 to 65535, or two with a dash between them\n" },
	{ "service a { protocol = quake3 port = -1 }",
	  "t.conf:1: port '-1' is not a number from 1 to 65535, or two with a dash between them\n" },
	{ "service a { protocol = quake3 port = 27970-27960 }",
	  "t.conf:1: port '27970-27960' is not a number from 1 to 65535, or two with a dash between them\n" },
	{ "service a { protocol = quake3 port = 99999999999999999999 }",
	  "t.conf:1: port '99999999999999999999' is not a number from 1 to 65535, or two with a dash between them\n" },
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
	{ SERVICE("validation = sometimes"),
	  "t.conf:4: validation 'sometimes' is not one of: off, "
	  "under-load, always\n" },
	{ "validation { rate = many }\n" FFA,
	  "t.conf:1: 'many' is no rate: write N/s, N/m or N/h, perhaps with 'burst N', "
	  "or unlimited or 0\n" },
	{ "validation { rate = 5/s }\nvalidation { rate = 6/s }\n" FFA,
	  "t.conf:2: section 'validation' is given twice\n" },
	{ SERVICE("cache = sometimes"),
	  "t.conf:4: cache 'sometimes' is not one of: off, under-load, always\n" },
	{ SERVICE("fragments = allow"),
	  "t.conf:4: fragments 'allow' is not one of: drop, limit, pass\n" },
	{ FFA "mode = driver\n", "t.conf:2: mode 'driver' is not one of: auto, native, "
				 "skb\n" },
	{ FFA "on-exit = stay\n", "t.conf:2: on-exit 'stay' is not one of: keep, "
				  "detach\n" },

	{ FFA "on-attack = tell\n", "t.conf:2: on-attack 'tell' is not /path\n" },
	{ FFA "on-attack = '/t 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17'\n",
	  "t.conf:2: on-attack '/t 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17' has more than 16 "
	  "words\n" },

	{ FFA "output { json = /a pcapng = '|/a' }\n",
	  "t.conf:2: json and pcapng cannot both go to '/a'\n" },

	/* rates */
	{ SERVICE("query { source = fast }"),
	  "t.conf:4: 'fast' is no rate: write N/s, N/m or N/h, perhaps with 'burst N', "
	  "or unlimited or 0\n" },
	{ SERVICE("query {\nprefix = \"2/s burst\" }"),
	  "t.conf:5: '2/s burst' is no rate: write N/s, N/m or N/h, perhaps with 'burst "
	  "N', or unlimited or 0\n" },
	{ SERVICE("rcon { service = 0/s }"),
	  "t.conf:4: '0/s' is never: write 0 without a unit\n" },
	{ SERVICE("rcon { service = 1000001/s }"),
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
	/* the anti-amplification limit */
	{ FFA "amplification { allowance = 8k }",
	  "t.conf:2: allowance '8k' is not a number from 1 to 100000000\n" },
	{ FFA "amplification { refill = 0 }",
	  "t.conf:2: refill '0' is not a number from 1 to 3600\n" },
	{ FFA "amplification { }\namplification {\n}",
	  "t.conf:4: section 'amplification' is given twice\n" },

	/* lists and interfaces */
	{ FFA "deny = {\"10.0.0.0/8 unlimited\"}\n",
	  "t.conf:2: deny '10.0.0.0/8 unlimited' is not an address or network like "
	  "203.0.113.0/24 or 2001:db8::/32\n" },
	{ FFA "allow = {\"10.0.0.0/8 for ever\"}\n",
	  "t.conf:2: allow '10.0.0.0/8 for ever' is not an address or network like "
	  "203.0.113.0/24 or 2001:db8::/32\n" },
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
	assert_int_equal(config_check_interfaces(&config), 1);
	stderr_release(said, sizeof(said));
	assert_string_equal(
		said, "t.conf:3: warning: interface 'nosuch0' is not on this machine "
		      "now: it would be waited for\n");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_files),	    cmocka_unit_test(nul_in_the_file),
		cmocka_unit_test(unreadable_files), cmocka_unit_test(unknown_interface),
		cmocka_unit_test(one_too_many),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
