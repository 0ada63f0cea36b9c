// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_list.c - `allow` and `deny`: edit the lists while packets flow.
 *
 * What is added here stays until it is deleted here, over restarts and reloads; what the
 * configuration lists is the configuration's.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "lib/log.h"
#include "cmd/options.h"
#include "shield/shield.h"

struct edit {
	const char *name; /* "allow", "deny" */
	enum list list;
	const char *pin;
	const char *text; /* of the network */
};

static void entry_print(const struct cidr *cidr, __u32 origins, void *context)
{
	char text[CIDR_TEXT];

	(void)context;
	cidr_format(cidr, text);
	printf("%-43s %s%s%s\n", text, origins & LIST_LIVE ? "live" : "",
	       (origins & LIST_LIVE) && (origins & LIST_CONFIG) ? ", " : "",
	       origins & LIST_CONFIG ? "configuration" : "");
}

static int edit_list(struct shield *shield, const struct edit *e)
{
	return shield_list_each(shield, e->list, entry_print, NULL);
}

static int edit_cidr(const struct edit *e, struct cidr *ret)
{
	if (cidr_parse(e->text, ret))
		return 0;
	log_error("%s: '%s' is not an address or network like 203.0.113.0/24 or "
		  "2001:db8::/32",
		  e->name, e->text);
	return -EINVAL;
}

static int edit_add(struct shield *shield, const struct edit *e)
{
	struct cidr cidr;
	int err = edit_cidr(e, &cidr);

	return err ? err : shield_list_add(shield, e->list, &cidr);
}

static int edit_del(struct shield *shield, const struct edit *e)
{
	struct cidr cidr;
	int err = edit_cidr(e, &cidr);

	if (err)
		return err;
	err = shield_list_del(shield, e->list, &cidr);
	if (err == -ENOENT)
		log_error("%s: '%s' was not added with `%s add`", e->name, e->text,
			  e->name);
	return err;
}

static const struct {
	const char *verb;
	int operands;
	int (*run)(struct shield *shield, const struct edit *e);
} verbs[] = {
	{ "add", 1, edit_add },
	{ "del", 1, edit_del },
	{ "list", 0, edit_list },
};

static const char usage[] =
	"usage: quakeshield allow|deny add CIDR [--pin DIR]\n"
	"       quakeshield allow|deny del CIDR [--pin DIR]\n"
	"       quakeshield allow|deny list [--pin DIR]\n"
	"  CIDR       an address or network: 203.0.113.7, 203.0.113.0/24, 2001:db8::/32\n"
	"  --pin DIR  what `load --pin DIR` has loaded";

static int edit_run(struct edit *e,
		    int (*run)(struct shield *shield, const struct edit *e))
{
	struct shield *shield;
	int err = shield_open(e->pin, &shield);

	if (err == -ENOENT)
		log_error("nothing is loaded in '%s': start `quakeshield run` first",
			  e->pin ? e->pin : PIN_ROOT);
	if (err)
		return 1;
	err = run(shield, e);
	shield_close(shield);
	return err != 0;
}

static int edit_main(struct edit *e, int argc, char **argv)
{
	if (argc < 2) {
		log_error("%s: add, del or list?", e->name);
		return 1;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) {
		puts(usage);
		return 0;
	}
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		struct options o = { 0 };
		int err;

		if (strcmp(argv[1], verbs[i].verb) != 0)
			continue;
		err = options_parse(argc - 1, argv + 1, OPTION_PIN, verbs[i].operands,
				    usage, &o);
		if (err)
			return err < 0;
		e->pin = o.pin;
		e->text = verbs[i].operands ? argv[1 + optind] : NULL;
		return edit_run(e, verbs[i].run);
	}
	log_error("%s: no such verb: '%s' (add, del or list)", e->name, argv[1]);
	return 1;
}

int cmd_allow(int argc, char **argv)
{
	struct edit e = { .name = "allow", .list = LIST_ALLOW };

	return edit_main(&e, argc, argv);
}

int cmd_deny(int argc, char **argv)
{
	struct edit e = { .name = "deny", .list = LIST_DENY };

	return edit_main(&e, argc, argv);
}
