// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_held_config.c - all that is said of configurations: each complaint, and what is
 * taken printed whole; of good files, of bad ones, and of many that differ a little from
 * them. A line that begins with @ is one of --set.
 */
#include <net/if.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz/held_text.h"
#include "config/config_support.h"

#define SETS 4

static struct config resolved;

/* These configurations are for a machine with lo and eth0; this one may have others. */
unsigned int if_nametoindex(const char *name)
{
	return !strcmp(name, "lo") ? 1 : !strcmp(name, "eth0") ? 2 : 0;
}

static void complain(const struct config_complaint *c, void *context)
{
	fprintf(context, "%s:%d: %s%s\n", c->path, c->line, c->warning ? "warning: " : "",
		c->message);
}

/* What config_print() does not say. */
static void say_rest(FILE *out, const struct config *c)
{
	for (size_t i = 0; i < c->interface_count; i++)
		fprintf(out, "%s is from %s:%d\n", c->interfaces[i],
			c->interface_files[i], c->interface_lines[i]);
	for (size_t i = 0; i < c->service_count; i++) {
		const struct config_service *s = &c->services[i];
		const char *unasked = config_uncacheable(s);

		fprintf(out, "%zu: active %u, proof said %d, answers said %d%s%s\n", i,
			s->service.active, s->validation_given, s->cache_given,
			unasked ? ", to be asked it takes " : "", unasked ? unasked : "");
	}
}

static void say_resolved(FILE *out, const struct config *c, bool unheard)
{
	char text[CONFIG_ADJUSTED];
	struct config_adjusted adjusted;

	memcpy(&resolved, c, sizeof(resolved));
	config_resolve(&resolved, unheard, &adjusted);
	config_adjusted_format(&adjusted, text);
	fprintf(out, "settled %d: '%s' %zu", unheard, text, adjusted.uncacheable);
	for (size_t i = 0; i < resolved.service_count; i++)
		fprintf(out, " %d%d", resolved.services[i].service.validation,
			resolved.services[i].service.cache);
	fputc('\n', out);
}

static void say_config(FILE *out, const char *text, size_t n)
{
	const char *sets[SETS + 1] = { NULL };
	char lines[SETS][256];
	size_t count = 0;
	int err;

	for (; count < SETS && *text == '@' && strcspn(text, "\n") < 256; count++) {
		size_t line = strcspn(text, "\n");

		snprintf(lines[count], sizeof(lines[0]), "%.*s", (int)line - 1, text + 1);
		sets[count] = lines[count];
		line += text[line] == '\n';
		text += line;
		n -= line;
	}
	file_write(text, n);
	config_listen(complain, out);
	err = config_load_set(FILE_NAME, sets, &config);
	if (!err && config.interface_count)
		fprintf(out, "absent %zu\n", config_check_interfaces(&config));
	config_listen(NULL, NULL);
	fprintf(out, "%d\n", err);
	if (err)
		return;
	config_print(&config, out);
	say_rest(out, &config);
	say_resolved(out, &config, false);
	say_resolved(out, &config, true);
}

#define SMALL(body) "service a { protocol = quake2 port = 1 " body " }\n"

static const char *const texts[] = {
	"",
	FFA,
	"interface = {lo, qsx9}; mode = skb\nobserve = yes\non-exit = detach\n"
	"on-attack = \"/bin/tell --loud all\"\nallow = {\"10.0.0.0/8\", \"2001:db8::/32 "
	"unlimited\", 192.0.2.7}\ndeny = 198.51.100.1/24\ndeny += {::1}\n" SMALL(""),
	"amplification { allowance = 9000 refill = 30; mode = strict }\nvalidation { rate = \"9/s burst "
	"2\" }\ncache { bytes-per-second = 8192 }\nmetrics { listen = [::1]:80 public = no }\n" FFA,
	"service 'a \"b\\\\\"' { protocol = netquake; port = {26000, 26002-26004};\n"
	"address = {203.0.113.5, \"2001:db8::5\"}\nobserve = on replies = pass\n"
	"malformed = limit fragments = drop cache = always validation = off }\n" SMALL(
		""),
	"service a { protocol = quakeworld port = 27500 query { source = \"3/s burst 7\" "
	"prefix = \"90/m burst 3\" service = unlimited } netchan { source = 0 } }\n",
	"service a { protocol = quake3 port = 1 unknown { source = 9/s } }\n"
	"service b { protocol = quake3 port = 2 unknown { prefix = unlimited } }\n"
	"service c { protocol = quake3 port = 3 unknown { service = unlimited } }\n",
	FFA
	"sample { one-in = 64; rate = 500 }\nfollow { first = 8 one-in = 16 addresses = "
	"{192.0.2.7, 2001:db8::/32} rate = 900 psk-identity = 'a \"b\" \\\\' psk-file = "
	"\"/etc/quake key\" }\noutput { json = \"unix:/run/q/live.sock\"\npcapng = "
	"'|/run/q/live.pcapng' cpu-percent = 35 }\n",
	FFA
	"sample { }\nfollow { }\noutput { }\namplification { }\nvalidation { }\ncache { }\n"
	"metrics { }\n",
	"service a { protocol = auto port = 1 }\nservice b { protocol = qe port = 2 }\n"
	"service c { protocol = nq port = {3, 4} }\nservice d { protocol = qw port = 5 "
	"address = ::2 }\nservice e { protocol = q2 port = 6 address = 192.0.2.1 }\n"
	"service f { protocol = q3 port = 7 cache = under-load }\n",
	"# one\n// two\n/* three\n four */ " FFA "#",
	"\xef\xbb\xbf" FFA,
	"include = more.conf\n" SMALL(""),
	"include = {\"d/*.conf\", 'none*.conf'}\n" FFA,
	"include = none.conf\n" FFA,
	"include = t.conf\n" FFA,
	"@mode=native\n@metrics.listen=off\n@service.ffa.port=1,2,3-5\n@allow=::1\n" FFA,
	"@amplification.refill=7\n@service.ffa.query.source=unlimited\n@interface=\n" FFA,
	"@mode=a\n" FFA,
	"@mode\n" FFA,
	"@service.none.port=1\n" FFA,
	"@service.a.b.port=9\n@observe=on\nservice \"a.b\" { protocol = q3 port = 1 }\n"
	"service a { protocol = q3 port = 2 }\n",
	"@include=x\n" FFA,
	"@amplification=5\n" FFA,
	"@mode.x=5\n" FFA,
	"@service.ffa=5\n" FFA,
	"@follow.addresses=::1,10.0.0.0/8,\n@follow.first=8\n" FFA,
	FFA FFA,
	FFA "service b { protocol = quake3 port = 27960 }\n",
	FFA "service b { protocol = quake3 port = 27960 address = ::1 }\n",
	"service a { protocol = q3 port = {1, 2} address = {::1, ::2} }\nservice b { protocol "
	"= q3\nport = {3, 1-2}\naddress = ::2 }\n",
	"interface = {eth0, \"a b\"}\n" FFA,
	"interface = {eth0, eth1, eth0}\n" FFA,
	"interface = abcdefghijklmnop\n" FFA,
	"mode = nativ\n" FFA,
	"mode = xyz\n" FFA,
	"mdoe = skb\n" FFA,
	"observe = true observe = false\n" FFA,
	"amplification { allowance = 100000001 }\n" FFA,
	"amplification { refill = 0 }\n" FFA,
	"amplification { }\namplification { }\n" FFA,
	"validation { rate = none }\n" FFA,
	"cache { bytes-per-second = 0 }\n" FFA,
	"cache { bytes-per-second = 8191 }\n" FFA,
	"cache { bytes-per-second = 100000000 }\n" FFA,
	"metrics { listen = 0.0.0.0:80 }\n" FFA,
	"metrics { listen = 0.0.0.0:80 public = on }\n" FFA,
	"allow = {10.0.0.0/33}\n" FFA,
	"deny = {\"10.0.0.0/8 unlimited\"}\n" FFA,
	"service { protocol = q3 port = 1 }\n",
	"service '' { protocol = q3 port = 1 }\n",
	"service a { port = 1 }\n",
	"service a { protocol = quak3 port = 1 }\n",
	"service a { protocol = q3 }\n",
	"service a { protocol = q3 port = 0 }\n",
	"service a { protocol = q3 port = 65536 }\n",
	"service a { protocol = q3 port = 5-4 }\n",
	"service a { protocol = q3 port = {1, 2, 1} }\n",
	"service a { protocol = q3 port = 1 address = 10.0.0.0/8 }\n",
	"service a { protocol = q3 port = 1 address = {::1, ::1} }\n",
	"service a { protocol = q3 port = 1 query { source = 2/s burst 6 } }\n",
	"service a { protocol = q3 port = 1 query { } query { } }\n",
	"service \"0123456789012345678901234567890123456789\" { protocol = q3 port = 1 }\n",
	"service \"a\xc3\xa9\" { protocol = q3 port = 1 }\n",
	"follow { psk-file = /key }\n" FFA,
	"follow { psk-file = key psk-identity = i }\n" FFA,
	"output { json = /a pcapng = |/a }\n" FFA,
	"output { json = /a pcapng = unix:/b cpu-percent = 101 }\n" FFA,
	"sample { one-in = 3 }\n" FFA,
	"on-attack = bin/tell\n" FFA,
	"on-attack = \"/a 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\"\n" FFA,
	"on-attack = \"/a 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 \t17\"\n" FFA,
	"a = {{{{{{{{1}}}}}}}}",
	"a = {{{{{{{{{1}}}}}}}}}",
	"service \"ffa",
	"service 'a\\\nb\n",
	"/* no\nend",
	FFA "}",
	"x\n{\n{\n",
	"mode = \"\\9\"\n" FFA,
	"mode = '${HOME}'\n" FFA,
};

static void what_is_said(void **state)
{
	(void)state;
	held_begin();
	assert_int_equal(mkdir("d", 0700), 0);
	for (int i = 0; i < 3; i++) {
		static const char *const others[][2] = {
			{ "more.conf", "mode = native\ninclude = d/b.conf\n" },
			{ "d/b.conf", "allow += {10.0.0.0/8}\ninterface = lo\n" },
			{ "d/a.conf", "include = ../more.conf\ndeny = ::7\n" },
		};
		FILE *file = fopen(others[i][0], "we");

		assert_non_null(file);
		fputs(others[i][1], file);
		fclose(file);
	}
	for (size_t i = 0; i < COUNT(texts); i++)
		held_text(say_config, texts[i]);
	/* A complaint as long as its line has room for. */
	for (size_t n = 480; n < 500; n++) {
		char text[600];

		snprintf(text, sizeof(text), "include = \"%0*d\"\n", (int)n, 0);
		say_config(held.out, text, strlen(text));
	}
	held_input(say_config, "mode = skb\0\n" FFA, sizeof("mode = skb\0\n" FFA) - 1);
	unlink("more.conf");
	unlink("d/a.conf");
	unlink("d/b.conf");
	rmdir("d");
	held_end("tests/config/held_config.txt");
}

/* --- as much as there may be, and one more ------------------------------------------ */

/* @n of @format, which are given their number, twice. */
static void many(FILE *text, const char *before, const char *format, unsigned int n,
		 const char *behind)
{
	fputs(before, text);
	for (unsigned int i = 0; i < n; i++) {
		fputs(i && *before && strchr(before, '=') ? ", " : "", text);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		fprintf(text, format, i / 250, i % 250 + 1);
#pragma GCC diagnostic pop
	}
	fputs(behind, text);
}

static const struct {
	const char *before, *format, *behind;
	unsigned int most;
} limits[] = {
	{ "interface = {", "qsx%u.%u", "}\n" FFA, CONFIG_INTERFACES },
	{ "allow = {", "10.0.%u.%u", "}\n" FFA, CONFIG_LIST },
	{ "deny = {", "10.0.%u.%u", "}\n" FFA, CONFIG_LIST },
	{ "follow { addresses = {", "10.0.%u.%u", "} }\n" FFA, CONFIG_LIST },
	{ "service a { protocol = q3 port = {", "1%u%03u", "} }\n", CONFIG_PORTS },
	{ "service a { protocol = q3 port = 1 address = {", "10.0.%u.%u", "} }\n",
	  CONFIG_ADDRESSES },
	{ "", "service \"%u.%u\" { protocol = q3 port = 1 address = 10.0.0.1 }\n", "",
	  1 },
	{ "service a { protocol = q3 port = 1-17 address = {", "10.0.%u.%u", "} }\n",
	  15 },
	{ "service a { protocol = q3 port = 1-16 address = {", "10.0.%u.%u", "} }\n",
	  16 },
};

static void as_much_as_there_may_be(void **state)
{
	(void)state;
	held_begin();
	for (size_t i = 0; i < COUNT(limits); i++) {
		for (unsigned int n = limits[i].most - 1; n <= limits[i].most + 1; n++) {
			size_t size, said_n;
			char *bytes, *said;
			FILE *text = open_memstream(&bytes, &size);

			assert_non_null(text);
			many(text, limits[i].before, limits[i].format, n,
			     limits[i].behind);
			fclose(text);
			said = held_said(say_config, bytes, size, &said_n);
			held_printf("%u of %s\n%.300s\n", n, limits[i].format, said);
			held_bytes("all", said, said_n);
			free(said);
			free(bytes);
		}
	}
	held_end("tests/config/held_limits.txt");
}

static void as_many_services(void **state)
{
	(void)state;
	held_begin();
	for (unsigned int n = SERVICES_MAX - 1; n <= SERVICES_MAX + 1; n++) {
		size_t size, said_n;
		char *bytes, *said;
		FILE *text = open_memstream(&bytes, &size);

		assert_non_null(text);
		for (unsigned int i = 0; i < n; i++)
			fprintf(text, "service s%u { protocol = q3 port = %u }\n", i,
				i + 1);
		fclose(text);
		said = held_said(say_config, bytes, size, &said_n);
		held_printf("%u services\n%.300s\n", n, said);
		held_bytes("all", said, said_n);
		free(said);
		free(bytes);
	}
	held_end("tests/config/held_services.txt");
}

/* What a family's services have of which nothing is said. */
static void every_default(void **state)
{
	(void)state;
	held_begin();
	for (int family = 0; family < FAMILY_COUNT; family++) {
		config_default(&config);
		config.services[0].service.family = (__u8)family;
		config_service_defaults((enum wire_family)family,
					&config.services[0].service);
		config_print(&config, held.out);
	}
	held_end("tests/config/held_defaults.txt");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_said),
		cmocka_unit_test(as_much_as_there_may_be),
		cmocka_unit_test(as_many_services),
		cmocka_unit_test(every_default),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
