// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * explain_causes.c - from facts and trials to causes, the surest first.
 */
#include <stdarg.h>
#include <string.h>

#include "cache/cache_refresh.h"
#include "explain/explain.h"
#include "lib/address.h"
#include "lib/duration.h"
#include "lib/meanings.h"
#include "lib/names.h"

#define SILENT_NS    5000000000ull /* a player that sends nothing for so long */
#define SENT_NS	     10000000000ull /* a server that has sent to a player is well so long */
#define LIMITS_TEXT  96 /* bytes of what is left of one limit */
#define SILENT_LEAST 3 /* requests without any answer */

static const char *const more_names[] = {
#define AS_NAME(cause, name, advice) name,
	EXPLAIN_CAUSES_MORE(AS_NAME)
#undef AS_NAME
};
static const char *const more_advice[] = {
#define AS_ADVICE(cause, name, advice) advice,
	EXPLAIN_CAUSES_MORE(AS_ADVICE)
#undef AS_ADVICE
};

/* A new cause of that name; NULL: there is one, or no room. */
static struct explain_cause *cause_new(struct explain_service *s, const char *name,
				       const char *advice, bool past)
{
	struct explain_cause *cause = &s->causes[s->cause_count];

	for (size_t i = 0; i < s->cause_count; i++)
		if (!strcmp(s->causes[i].name, name))
			return NULL;
	if (s->cause_count == EXPLAIN_CAUSES)
		return NULL;
	s->cause_count++;
	*cause = (struct explain_cause){ .name = name,
					 .advice = advice,
					 .past = past,
					 .observed = s->service.observe };
	return cause;
}

__attribute__((format(printf, 3, 4))) static void
cause_more(struct explain_service *s, enum explain_more more, const char *format, ...)
{
	struct explain_cause *cause =
		cause_new(s, more_names[more], more_advice[more], false);
	va_list arguments;

	if (!cause)
		return;
	/* The others are not the shield's. */
	cause->observed &= more == EXPLAIN_VALIDATION_PENDING;
	va_start(arguments, format);
	vsnprintf(cause->text, sizeof(cause->text), format, arguments);
	va_end(arguments);
}

/* --- verdicts ---------------------------------------------------------------- */

/*
 * Return true if a limit of @level may be what refuses for @reason. @beyond: it is one of
 * those beyond a class, and @reason is of the class.
 */
static bool limit_names(enum reason reason, int level, bool beyond)
{
	switch (reason) {
	case REASON_SOURCE_LIMIT:
		return beyond || level == ABOUT_SOURCE;
	case REASON_PREFIX_LIMIT:
		return beyond || level == ABOUT_PREFIX || level == ABOUT_NETWORK;
	case REASON_SERVICE_LIMIT:
		return beyond || level == ABOUT_SERVICE;
	default:
		return false;
	}
}

/* At which level a limit refuses, with its figures; "": at none. */
static void limit_text(const struct explain *e, const struct explain_step *step,
		       enum reason reason, char ret[LIMITS_TEXT])
{
	static const char *const names[] = {
#define AS_NAME(level, symbol, name) name,
		ABOUT_LEVELS(AS_NAME)
#undef AS_NAME
	};
	bool beyond = step->limits.group == ABOUT_OF_ALLOWED ||
		      step->limits.group == ABOUT_OF_MASTER;

	*ret = '\0';
	for (int i = 0; i < ABOUT_LEVEL_COUNT && step->limited; i++) {
		const struct about_bucket *b = &step->limits.level[i];
		__u64 wait = about_wait(b, e->now_ns);

		if (!limit_names(reason, i, beyond) || !wait)
			continue;
		if (wait == ABOUT_NO_LIMIT)
			snprintf(ret, LIMITS_TEXT, ": the limit of the %s is 0",
				 names[i]);
		else
			snprintf(ret, LIMITS_TEXT,
				 ": 0 of %llu left for the %s, the next in %.1f s",
				 about_most(b), names[i], (double)wait / 1e9);
	}
}

static void cause_verdict(const struct explain *e, struct explain_service *s,
			  const struct explain_step *step, enum reason reason)
{
	const struct meaning *meaning = reason_meaning(reason);
	char limits[LIMITS_TEXT];
	struct explain_cause *cause =
		cause_new(s, reason_name(reason), meaning->advice, false);

	if (!cause)
		return;
	limit_text(e, step, reason, limits);
	/* Without its full stop, where figures follow. */
	snprintf(cause->text, sizeof(cause->text), "%s", meaning->what);
	if (*limits)
		snprintf(cause->text + strlen(cause->text) - 1, sizeof(limits) + 1, "%s",
			 limits);
}

static void cause_allowance(const struct explain *e, struct explain_service *s,
			    const struct explain_step *step)
{
	struct explain_cause *cause =
		cause_new(s, reason_name(REASON_AMPLIFICATION),
			  reason_meaning(REASON_AMPLIFICATION)->advice, false);

	if (cause)
		snprintf(cause->text, sizeof(cause->text),
			 "the answer of %u bytes does not leave: the %s may get %lld "
			 "more bytes of %llu",
			 step->answer_bytes,
			 e->allowance.allowed ? "client" : "prefix of the client",
			 e->allowance.left, e->allowance.most);
}

static bool validated(const struct explain_service *s)
{
	for (size_t i = 0; i < s->flow_count; i++)
		if (s->flows[i].state != ABOUT_INVITED)
			return true;
	return false;
}

static void cause_step(const struct explain *e, struct explain_service *s,
		       const struct explain_step *step)
{
	if (step->error || !step->in.judged)
		return;
	if (step->in.reason == REASON_CHALLENGED && !validated(s))
		cause_more(s, EXPLAIN_VALIDATION_PENDING,
			   "the shield sends a cookie in place of passing %s, and the "
			   "client has not returned one",
			   kind_name(step->in.kind));
	/* Game traffic without a flow has no server: no cause by itself. */
	if (reason_verdict(step->in.reason) == VERDICT_DROP &&
	    (strcmp(step->name, "move") != 0 || s->flow_count))
		cause_verdict(e, s, step, step->in.reason);
	if (step->has_answer && step->out.judged &&
	    step->out.reason == REASON_AMPLIFICATION)
		cause_allowance(e, s, step);
}

/* --- what the tables tell ---------------------------------------------------- */

static void cause_list(const struct explain *e, struct explain_service *s)
{
	char network[CIDR_TEXT];
	struct explain_cause *cause;
	const struct list_entry *entry = &e->deny.entry;

	if (!e->deny.has || e->allow.has)
		return;
	cause = cause_new(s, reason_name(REASON_DENY_LIST),
			  "`quakeshield deny del NETWORK`, or the configuration", false);
	cidr_format(&e->deny.network, network);
	if (cause)
		snprintf(cause->text, sizeof(cause->text),
			 "%s is on the deny list, by %s%s%s", network,
			 entry->origins & LIST_RUNTIME ? "`deny add`"
						       : "the configuration",
			 entry->comment[0] ? ": " : "", entry->comment);
}

static void cause_player(const struct explain *e, struct explain_service *s)
{
	for (size_t i = 0; i < s->flow_count; i++) {
		const struct player *p = &s->flows[i].player;
		char silent[DURATION_TEXT];

		if (s->flows[i].state != ABOUT_ESTABLISHED)
			continue;
		if ((__s64)(e->now_ns - p->heard_ns) < (__s64)SILENT_NS ||
		    (__s64)(e->now_ns - p->sent_ns) > (__s64)SILENT_NS)
			continue;
		duration_format(e->now_ns - p->heard_ns, silent);
		cause_more(s, EXPLAIN_CLIENT_SILENT,
			   "the server sends to port %u, from where nothing that is the "
			   "player's has come for %s",
			   s->flows[i].port, p->heard_ns ? silent : "ever");
	}
}

/*
 * A server that sends to a player is well, whatever else says that it is not: the daemon
 * keeps no response that is too long. Without a daemon, and where nothing is cached, no
 * server is asked.
 */
static void cause_silent(const struct explain *e, struct explain_service *s)
{
	const struct explain_server *server = &s->server;
	char age[DURATION_TEXT];

	if (server->sent_ns && (__s64)(e->now_ns - server->sent_ns) <= (__s64)SENT_NS)
		return;
	duration_format(server->cached_age_ns, age);
	if (server->cached && server->cached_age_ns > CACHE_SILENT_NS &&
	    e->query.daemon && s->service.cache && !s->service.observe)
		cause_more(s, EXPLAIN_SERVER_SILENT,
			   "the server has not answered the daemon for %s", age);
	if (server->requests >= SILENT_LEAST && !server->answered)
		cause_more(s, EXPLAIN_SERVER_SILENT,
			   "%llu requests have passed to the server, and it has sent "
			   "nothing",
			   server->requests);
	if (server->sockets_known && !server->socket && server->known)
		cause_more(s, EXPLAIN_SERVER_SILENT,
			   "no socket is bound to port %u here any more", s->port);
}

static void cause_server(const struct explain *e, struct explain_service *s)
{
	const struct explain_server *server = &s->server;
	char families[FAMILIES_TEXT];

	if (!address_is_any(s->address) && address_is_ipv4(s->address) == e->host.ipv6)
		cause_more(s, EXPLAIN_NO_SERVICE,
			   "the service has no address of IPv%d, so the shield passes "
			   "what comes for it there",
			   e->host.ipv6 ? 6 : 4);
	if (server->speaks) {
		families_format(server->speaks, families);
		cause_more(s, EXPLAIN_OTHER_PROTOCOL,
			   "the server speaks %s, and the service is configured as %s",
			   families, family_name((enum wire_family)s->service.family));
	}
	if (server->judged == JUDGED_NO || server->judged == JUDGED_PARTLY)
		cause_more(s, EXPLAIN_OTHER_INTERFACE,
			   "%s datagrams for it come in by '%s', which the shield does "
			   "not protect",
			   server->judged == JUDGED_NO ? "all" : "some",
			   server->interface);
	cause_silent(e, s);
}

/* Refused datagrams, newest first. */
static void cause_past(struct explain_service *s)
{
	for (size_t i = 0; i < s->refusal_count; i++) {
		const struct explain_refusal *r = &s->refusals[i];
		const struct meaning *meaning = reason_meaning(r->reason);
		struct explain_cause *cause;

		if (reason_verdict(r->reason) != VERDICT_DROP)
			continue;
		cause = cause_new(s, reason_name(r->reason), meaning->advice, true);
		if (cause)
			snprintf(cause->text, sizeof(cause->text),
				 "%.1f s ago a datagram of class %s was dropped: %s",
				 (double)r->age_ns / 1e9, class_name(r->class),
				 meaning->what);
	}
}

void explain_causes(const struct explain *e, struct explain_service *s)
{
	cause_list(e, s);
	cause_server(e, s);
	for (size_t i = 0; i < s->step_count; i++)
		cause_step(e, s, &s->steps[i]);
	cause_past(s);
	cause_player(e, s);
}
