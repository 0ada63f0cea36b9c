// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_stats.c - `stats` and `status`: look at what is pinned, daemon alive or not.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/commands.h"
#include "daemon/pidfile.h"
#include "lib/json_key.h"
#include "lib/log.h"
#include "lib/names.h"
#include "lag/lag_file.h"
#include "shield/shield.h"
#include "stats/day.h"
#include "stats/health.h"
#include "stats/self_test.h"
#include "stats/stats.h"

/* Return what a running daemon decodes; NULL: there is none. */
static json_t *decoded_read(const char *pin)
{
	char path[LAG_FILE_PATH_MAX];
	struct timespec now;

	lag_file_path(pin, path);
	clock_gettime(CLOCK_REALTIME, &now);
	return lag_file_read_decoded(path, now.tv_sec * 1000000000LL + now.tv_nsec);
}

static int stats_print_json(const struct stats *stats, const char *pin)
{
	json_t *decoded = decoded_read(pin);
	int err = stats_json(stats, decoded, stdout);

	json_decref(decoded);
	return err;
}

/* Print the last day, minute by minute, as daemons have kept it. */
static int print_history(const struct call *call)
{
	struct day *day = calloc(1, sizeof(*day));
	int err = day ? 0 : -ENOMEM;

	if (!err) {
		day_load(day, call_value(call, OPTION_PIN), time(NULL));
		err = call_has(call, OPTION_JSON) ? day_json(day, stdout)
						  : day_text(day, stdout);
	}
	free(day);
	if (err)
		log_error("stats: cannot write: %s", strerror(-err));
	return exit_status(err);
}

int cmd_stats(const struct call *call)
{
	struct shield *shield;
	struct stats stats;
	int err;

	if (call_has(call, OPTION_HISTORY))
		return print_history(call);
	err = call_open(call, &shield);
	if (err)
		return err;
	err = stats_collect(shield, &stats);
	shield_close(shield);
	if (err)
		return exit_status(err);
	stats.link_count =
		call_links(call_value(call, OPTION_PIN), stats.links, stats.link_count);
	err = call_has(call, OPTION_JSON)
		      ? stats_print_json(&stats, call_value(call, OPTION_PIN))
		      : stats_text(&stats, stdout);
	stats_free(&stats);
	if (err)
		log_error("stats: cannot write: %s", strerror(-err));
	return exit_status(err);
}

/* The facts that `status` shows. */
#define UNANSWERED_WHY 128

struct status {
	struct shield_link links[SHIELD_LINKS]; /* with those of the configuration */
	size_t link_count;
	size_t services, observed;
	__u32 generation;
	pid_t daemon; /* 0: none */
	bool fallback; /* shield_fallback() */
	bool protected; /* every interface, and there is one, and no service is known not
			   to be */
	struct self_test tests[SERVICES_MAX]; /* as many as services */
	size_t test_count;
	struct {
		char service[NAME_MAX_LEN];
		enum wire_family family;
		__u64 count;
		__u32 speaks; /* 1 << enum wire_family */
	} misspoken[SERVICES_MAX]; /* services with a server of another protocol */
	size_t misspoken_count;
	struct {
		char service[NAME_MAX_LEN];
		__u32 uid;
		__u64 others; /* datagrams of other users' sockets from its port */
	} owners[SERVICES_MAX]; /* services with a server of a known user */
	size_t owner_count;
	size_t validation[VALIDATION_ALWAYS +
			  1]; /* services, by when strangers prove themselves */
	size_t cache[CACHE_ALWAYS + 1]; /* services, by when they have some */
	size_t validation_off_usual; /* off, though their protocol has it by default */
	struct {
		char service[NAME_MAX_LEN];
		char why[UNANSWERED_WHY];
	} unanswered[SERVICES_MAX]; /* services that nothing is answered for */
	size_t unanswered_count;
	char veth[IF_NAMESIZE]; /* over which both are off by default; "": there is none
				 */
};

/* Does the daemon keep a response for the service in @slot that may be sent? */
static bool has_response(const struct shield *shield, __u32 slot)
{
	struct cached_response kept[CACHE_FORMS];
	size_t count = shield_cached_responses(shield, slot, kept);

	for (size_t i = 0; i < count; i++)
		if (kept[i].fresh)
			return true;
	return false;
}

/* Write to @ret why nothing is answered for @s; false: answers are there. */
static bool unanswered_why(const struct shield *shield, __u32 slot,
			   const struct service *s, const struct status *status,
			   char ret[UNANSWERED_WHY])
{
	size_t ports = shield_ports(shield, slot);
	struct service usual = { 0 };

	config_service_defaults((enum wire_family)s->family, &usual);
	if (!usual.cache)
		snprintf(ret, UNANSWERED_WHY, "off: %s has no questions for it",
			 family_name((enum wire_family)s->family));
	else if (status->fallback)
		snprintf(ret, UNANSWERED_WHY, "off: this kernel refused the program");
	else if (!s->cache && ports > 1)
		snprintf(ret, UNANSWERED_WHY, "off: it takes one port, and there are %zu",
			 ports);
	else if (!s->cache && status->veth[0])
		snprintf(ret, UNANSWERED_WHY,
			 "off: the default over a veth, %s, unless the configuration "
			 "says so",
			 status->veth);
	else if (!s->cache)
		snprintf(
			ret, UNANSWERED_WHY,
			"off: by the configuration, or its address (`quakeshield check`)");
	else if (status->daemon > 0 && !s->observe && !has_response(shield, slot))
		snprintf(ret, UNANSWERED_WHY,
			 "the daemon has no recent response of its server (down, in a "
			 "container, or at another address)");
	else
		return false;
	return true;
}

static void owner_collect(const struct shield *shield, __u32 slot, const char *name,
			  struct status *ret)
{
	__u32 user;
	__u64 others = shield_other_sockets(shield, slot, &user);

	if (!user)
		return;
	memcpy(ret->owners[ret->owner_count].service, name, NAME_MAX_LEN);
	ret->owners[ret->owner_count].uid = user - 1;
	ret->owners[ret->owner_count++].others = others;
}

static void status_collect(const struct shield *shield, const char *pin,
			   struct status *ret)
{
	struct service service;

	memset(ret, 0, sizeof(*ret));
	ret->link_count = shield_links(shield, ret->links, CONFIG_INTERFACES);
	if (ret->link_count > CONFIG_INTERFACES)
		ret->link_count = CONFIG_INTERFACES;
	ret->link_count = call_links(pin, ret->links, ret->link_count);
	ret->protected = ret->link_count > 0;
	for (size_t i = 0; i < ret->link_count; i++)
		ret->protected &= shield_link_protects(&ret->links[i]);
	ret->test_count = self_test_run(shield, ret->tests);
	for (size_t i = 0; i < ret->test_count; i++)
		ret->protected &= self_test_protected(&ret->tests[i]);
	shield_return_path_unavailable(shield, ret->veth);
	ret->fallback = shield_fallback(shield);
	ret->daemon = pidfile_pid(pin);
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		struct service usual = { 0 };
		__u64 count;
		__u32 speaks;

		if (!shield_service(shield, slot, &service))
			continue;
		ret->services++;
		config_service_defaults((enum wire_family)service.family, &usual);
		ret->validation_off_usual += !service.validation && usual.validation;
		if (unanswered_why(shield, slot, &service, ret,
				   ret->unanswered[ret->unanswered_count].why))
			memcpy(ret->unanswered[ret->unanswered_count++].service,
			       service.name, NAME_MAX_LEN);
		if (service.validation <= VALIDATION_ALWAYS)
			ret->validation[service.validation]++;
		if (service.cache <= CACHE_ALWAYS)
			ret->cache[service.cache]++;
		ret->observed += service.observe;
		owner_collect(shield, slot, service.name, ret);
		count = shield_protocol_mismatch(shield, slot, &speaks);
		if (!count)
			continue;
		memcpy(ret->misspoken[ret->misspoken_count].service, service.name,
		       NAME_MAX_LEN);
		ret->misspoken[ret->misspoken_count].family =
			(enum wire_family)service.family;
		ret->misspoken[ret->misspoken_count].speaks = speaks;
		ret->misspoken[ret->misspoken_count++].count = count;
	}
	ret->generation = shield_generation(shield);
}

static bool status_observing(const struct status *s)
{
	return s->observed && s->observed == s->services;
}

/* Return why nothing comes in by it that needs a shield, or NULL. */
static const char *link_idle(const struct shield_link *l)
{
	return l->missing ? NULL
	       : l->loopback
		       ? "only what this machine sends itself comes in by it: protect "
			 "the interface that players come in by"
	       : l->down    ? "it is down or has no carrier: nothing comes in by it"
	       : l->dormant ? "it is dormant: it waits for another program, such as an "
			      "802.1X supplicant"
			    : NULL;
}

static void link_print(const struct shield_link *l, bool observed)
{
	char since[TIME_TEXT];

	time_format(l->since, since);
	printf("%s: ", l->interface);
	if (l->attached && link_idle(l))
		printf("attached, but %s\n", link_idle(l));
	if (l->attached && link_idle(l))
		return;
	if (shield_link_protects(l))
		printf("%s, %s mode, since %s%s", observed ? "observed" : "protected",
		       mode_name(l->mode), since, observed ? ": nothing is dropped" : "");
	else
		health_fault(l, stdout);
	putchar('\n');
}

static void status_print(const struct status *s)
{
	if (!s->link_count)
		puts("loaded, but attached to nothing");
	if (s->fallback)
		puts(HEALTH_FALLBACK);
	for (size_t i = 0; i < s->link_count; i++)
		link_print(&s->links[i], status_observing(s));
	for (size_t i = 0; i < s->test_count; i++) {
		char text[SELF_TEST_TEXT];
		bool fault;

		self_test_text(&s->tests[i], text, &fault);
		printf("service %s: %s\n", s->tests[i].service, text);
	}
	for (size_t i = 0; i < s->misspoken_count; i++) {
		char speaks[FAMILIES_TEXT];

		families_format(s->misspoken[i].speaks, speaks);
		printf("service %s: its server speaks %s, not %s: moves of its players "
		       "pass under a limit only; correct its `protocol`\n",
		       s->misspoken[i].service, speaks,
		       family_name(s->misspoken[i].family));
	}
	for (size_t i = 0; i < s->owner_count; i++)
		if (s->owners[i].others)
			printf("service %s: its server is of user %u; %llu datagrams left from "
			       "its port by sockets of other users, and count for nothing\n",
			       s->owners[i].service, s->owners[i].uid,
			       (unsigned long long)s->owners[i].others);
	printf("services: %zu", s->services);
	if (s->observed)
		printf(", %zu observed only: nothing is dropped", s->observed);
	printf("\naddress validation: under load %zu, always %zu, off %zu",
	       s->validation[VALIDATION_UNDER_LOAD], s->validation[VALIDATION_ALWAYS],
	       s->validation[VALIDATION_OFF]);
	if (s->veth[0] && s->validation_off_usual && !s->fallback)
		printf(" (the default over a veth, %s)", s->veth);
	printf("\ncached responses: under load %zu, always %zu, off %zu",
	       s->cache[CACHE_UNDER_LOAD], s->cache[CACHE_ALWAYS], s->cache[CACHE_OFF]);
	for (size_t i = 0; i < s->unanswered_count; i++)
		printf("\nno cached responses for service %s: %s",
		       s->unanswered[i].service, s->unanswered[i].why);
	printf("\nconfiguration: generation %u\n", s->generation);
	if (s->daemon > 0)
		printf("daemon: process %d\n", (int)s->daemon);
	else
		puts("daemon: not running; what is loaded works without it");
}

static json_t *families_json(__u32 mask)
{
	json_t *list = json_array();

	for (int f = 0; f < FAMILY_COUNT; f++)
		if (mask & 1u << f)
			json_array_append_new(
				list, json_string(family_name((enum wire_family)f)));
	return list;
}

static const struct json_key self_test_keys[] = {
	JSON_KEY("service", "string", NULL, "Name of the service."),
	JSON_KEY(
		"judged", "string", NULL,
		"`yes`: its datagrams pass the shield; `partly` or `no`: others come in by `unjudged_by`; `unknown`: nothing has come."),
	JSON_KEY("unjudged_by", "string|null", NULL,
		 "Interface by which datagrams come in that the shield does not see."),
	JSON_KEY("received", "integer", "datagrams", "Received for the service."),
	JSON_KEY("sent", "integer", "datagrams", "Sent by its server."),
	JSON_KEY(
		"socket", "boolean|null", NULL,
		"A socket in this network namespace has the service's port; null: not known."),
	JSON_KEY("address_here", "boolean|null", NULL,
		 "The service's addresses are on this host; null: not known."),
	JSON_KEY("speaks", "string[]", NULL,
		 "Protocols that the server speaks in place of the configured one."),
	JSON_KEY("fault", "boolean", NULL, "Something is wrong with the service."),
	JSON_KEY("text", "string", NULL, "All of this as a sentence."),
	JSON_END,
};

static const struct json_key misspoken_keys[] = {
	JSON_KEY("service", "string", NULL, "Name of the service."),
	JSON_KEY("protocol", "string", NULL, "Its configured protocol."),
	JSON_KEY("speaks", "string[]", NULL, "Protocols that the server speaks."),
	JSON_KEY("datagrams", "integer", "datagrams",
		 "Datagrams of these protocols that the server sent."),
	JSON_END,
};

static const struct json_key owner_keys[] = {
	JSON_KEY("service", "string", NULL, "Name of the service."),
	JSON_KEY("uid", "integer", NULL, "User of the server's socket."),
	JSON_KEY(
		"other_sockets", "integer", "datagrams",
		"Sent from the service's port by sockets of other users; they count for nothing."),
	JSON_END,
};

static const struct json_key states_keys[] = {
	JSON_KEY("under_load", "integer", "services", "While the service is under load."),
	JSON_KEY("always", "integer", "services", "Always."),
	JSON_KEY("off", "integer", "services", "Never."),
	JSON_END,
};

static const struct json_key unanswered_keys[] = {
	JSON_KEY("service", "string", NULL, "Name of the service."),
	JSON_KEY("reason", "string", NULL,
		 "Why no response of its server is cached, as words."),
	JSON_END,
};

const struct json_key status_json_keys[] = {
	JSON_KEY(
		"protected", "boolean", NULL,
		"Every interface of the configuration carries the shield, and no service is known to be bypassed. The exit status is 0 if so, else 5."),
	JSON_KEY("observing", "boolean", NULL,
		 "All services are observed only: nothing is dropped."),
	JSON_KEY(
		"fallback", "boolean", NULL,
		"The kernel refused the programs for address validation and cached responses: both are off."),
	JSON_OBJECT(
		"interfaces", "object[]", NULL,
		"Interfaces that the shield is attached to, and those of the configuration that it is not attached to.",
		stats_json_link_keys),
	JSON_KEY("services", "integer", "services",
		 "Services of the configuration in force."),
	JSON_KEY("observing_services", "integer", "services",
		 "Services that are observed only."),
	JSON_OBJECT(
		"protocol_mismatch", "object[]", NULL,
		"Services with a server that speaks another protocol than the configured one.",
		misspoken_keys),
	JSON_OBJECT("owners", "object[]", NULL, "Services with a server of a known user.",
		    owner_keys),
	JSON_OBJECT("validation", "object", "services",
		    "When new clients have to validate their address.", states_keys),
	JSON_OBJECT("cache", "object", "services",
		    "When the shield sends cached responses.", states_keys),
	JSON_OBJECT("uncached", "object[]", NULL, "Services without cached responses.",
		    unanswered_keys),
	JSON_KEY("generation", "integer", NULL,
		 "Number of the configuration in force; grows by one with each."),
	JSON_KEY(
		"daemon", "integer|null", NULL,
		"Process of the daemon; null: none runs, and the shield works without it."),
	JSON_OBJECT("self_test", "object[]", NULL, "Each service as the shield sees it.",
		    self_test_keys),
	JSON_END,
};

static json_t *known_json(enum known known)
{
	return known == KNOWN_NOT ? json_null() : json_boolean(known == KNOWN_YES);
}

static json_t *self_test_json(const struct self_test *t)
{
	char text[SELF_TEST_TEXT];
	bool fault;

	self_test_text(t, text, &fault);
	return json_pack("{s:s, s:s, s:s?, s:I, s:I, s:o, s:o, s:o, s:b, s:s}", "service",
			 t->service, "judged", judged_name(t->judged), "unjudged_by",
			 *t->unjudged_by ? t->unjudged_by : NULL, "received",
			 (json_int_t)t->received, "sent", (json_int_t)t->sent, "socket",
			 known_json(t->socket), "address_here", known_json(t->here),
			 "speaks", families_json(t->speaks), "fault", fault || t->speaks,
			 "text", text);
}

static json_t *status_json(const struct status *s)
{
	json_t *interfaces = json_array(), *misspoken = json_array();
	json_t *tests = json_array();
	json_t *unanswered = json_array();
	json_t *owners = json_array();

	for (size_t i = 0; i < s->link_count; i++)
		json_array_append_new(interfaces, stats_json_link(&s->links[i]));
	for (size_t i = 0; i < s->test_count; i++)
		json_array_append_new(tests, self_test_json(&s->tests[i]));
	for (size_t i = 0; i < s->misspoken_count; i++)
		json_array_append_new(
			misspoken,
			json_pack("{s:s, s:s, s:o, s:I}", "service",
				  s->misspoken[i].service, "protocol",
				  family_name(s->misspoken[i].family), "speaks",
				  families_json(s->misspoken[i].speaks), "datagrams",
				  (json_int_t)s->misspoken[i].count));
	for (size_t i = 0; i < s->unanswered_count; i++)
		json_array_append_new(unanswered,
				      json_pack("{s:s, s:s}", "service",
						s->unanswered[i].service, "reason",
						s->unanswered[i].why));
	for (size_t i = 0; i < s->owner_count; i++)
		json_array_append_new(owners, json_pack("{s:s, s:I, s:I}", "service",
							s->owners[i].service, "uid",
							(json_int_t)s->owners[i].uid,
							"other_sockets",
							(json_int_t)s->owners[i].others));
	return json_pack("{s:b, s:b, s:b, s:o, s:I, s:I, s:o, s:o, s:{s:I, s:I, s:I}, "
			 "s:{s:I, s:I, s:I}, s:o, s:I, s:o, s:o}",
			 "protected", s->protected, "observing", status_observing(s),
			 "fallback", s->fallback, "interfaces", interfaces, "services",
			 (json_int_t)s->services, "observing_services",
			 (json_int_t)s->observed, "protocol_mismatch", misspoken,
			 "owners", owners, "validation", "under_load",
			 (json_int_t)s->validation[VALIDATION_UNDER_LOAD], "always",
			 (json_int_t)s->validation[VALIDATION_ALWAYS], "off",
			 (json_int_t)s->validation[VALIDATION_OFF], "cache", "under_load",
			 (json_int_t)s->cache[CACHE_UNDER_LOAD], "always",
			 (json_int_t)s->cache[CACHE_ALWAYS], "off",
			 (json_int_t)s->cache[CACHE_OFF], "uncached", unanswered,
			 "generation", (json_int_t)s->generation, "daemon",
			 s->daemon > 0 ? json_integer(s->daemon) : json_null(),
			 "self_test", tests);
}

int cmd_status(const struct call *call)
{
	struct shield *shield;
	struct status s;
	int status;

	if (call_has(call, OPTION_LISTED))
		return cmd_listed(call);
	if (call_has(call, OPTION_MASTER) || call_has(call, OPTION_ADDRESS) ||
	    call_has(call, OPTION_SERVICE)) {
		log_error("status: --master, --address and --service are for --listed");
		return EXIT_USAGE;
	}
	status = call_open(call, &shield);
	if (status)
		return status;
	status_collect(shield, call_value(call, OPTION_PIN), &s);
	shield_close(shield);
	if (call_has(call, OPTION_JSON))
		status = print_json(status_json(&s));
	else {
		status_print(&s);
		attacks_now_print(call_value(call, OPTION_PIN));
	}
	return status ? status : s.protected ? 0 : EXIT_UNPROTECTED;
}
