// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * explain_text.c - what explain.h tells of an address, as lines to read.
 */
#include <errno.h>
#include <string.h>

#include "explain/explain_internal.h"
#include "lib/duration.h"
#include "lib/log.h"
#include "lib/meanings.h"
#include "lib/names.h"
#include "players.h"

#define LABEL "  %-11s "

static const char *const level_names[] = {
#define AS_NAME(level, symbol, name) name,
	ABOUT_LEVELS(AS_NAME)
#undef AS_NAME
};

static const char *const state_names[] = {
	[ABOUT_INVITED] = "invited: the server has sent it a challenge",
	[ABOUT_VALIDATED] = "validated: it has returned a cookie",
	[ABOUT_ESTABLISHED] = "established: the server has accepted it",
};

/* "3.2 s ago", "12m30s ago", "never". */
#define AGO (DURATION_TEXT + 8)
static void ago(__u64 now, __u64 then, char ret[AGO])
{
	char text[DURATION_TEXT];
	__u64 age = now > then ? now - then : 0;

	if (!then) {
		snprintf(ret, AGO, "never");
	} else if (age < 60000000000ull) {
		snprintf(ret, AGO, "%.1f s ago", (double)age / 1e9);
	} else {
		duration_format(age, text);
		snprintf(ret, AGO, "%s ago", text);
	}
}

const char *explain_reason(const struct explain_step *step)
{
	return step->error == -ENODATA ? other_name(OTHER_NO_SERVICE)
	       : step->error	       ? strerror(-step->error)
	       : step->in.judged       ? reason_name(step->in.reason)
				       : other_name(step->in.other);
}

/* --- the address ------------------------------------------------------------- */

static void print_list(const struct explain *e, const char *name,
		       const struct explain_list *list, FILE *out)
{
	char network[CIDR_TEXT];

	if (!list->has)
		return;
	cidr_format(&list->network, network);
	fprintf(out, LABEL "%s list: %s%s", "lists", name, network,
		list->entry.origins & LIST_UNLIMITED ? ", unlimited" : "");
	if (list->entry.origins & LIST_RUNTIME)
		fprintf(out, ", by `%s add`%s%s", name,
			list->entry.comment[0] ? ": " : "", list->entry.comment);
	if (list->entry.origins & LIST_CONFIG && list->line)
		fprintf(out, ", by %s:%d", e->file, list->line);
	else if (list->entry.origins & LIST_CONFIG)
		fputs(", by the configuration", out);
	fputc('\n', out);
}

static void print_known(const struct explain *e, FILE *out)
{
	__u32 minute = reputation_minute(e->now_ns);
	char age[AGO];

	if (!e->known || !(reputation_flags(e->known) & REPUTATION_PRESENT)) {
		fprintf(out, LABEL "no\n", "known");
		return;
	}
	ago(e->now_ns, (__u64)(__u32)e->known << REPUTATION_SHIFT, age);
	fprintf(out, LABEL "%s: asked in %u minutes%s%s, last about %s\n", "known",
		reputation_good(e->known, minute) ? "yes" : "not yet",
		reputation_minutes(e->known),
		reputation_flags(e->known) & REPUTATION_PLAYER ? ", has played" : "",
		reputation_validated(e->known, minute) ? ", has returned a cookie" : "",
		age);
}

static void print_datagram(const struct explain *e, FILE *out)
{
	char from[EXPLAIN_ADDRESS], to[EXPLAIN_ADDRESS];

	if (!e->parsed) {
		fprintf(out, "a frame of %zu bytes, without a UDP datagram\n",
			e->frame_bytes);
		return;
	}
	explain_format(e->query.address, e->query.port, from);
	explain_format(e->to, e->to_port, to);
	fprintf(out, "a datagram from %s to %s, payload %zu bytes, frame %zu bytes\n",
		from, to, e->payload_bytes, e->frame_bytes);
}

static void print_host(const struct explain *e, FILE *out)
{
	char address[EXPLAIN_ADDRESS];

	explain_format(e->host.address, e->leaves ? e->to_port : e->query.port, address);
	fprintf(out, "%s\n", address);
	if (!e->allow.has && !e->deny.has)
		fprintf(out, LABEL "none\n", "lists");
	print_list(e, "allow", &e->allow, out);
	print_list(e, "deny", &e->deny, out);
	print_known(e, out);
	if (e->allowance.off)
		fprintf(out, LABEL "not limited\n", "allowance");
	else
		fprintf(out, LABEL "%lld bytes may leave to %s now%s\n", "allowance",
			e->allowance.left,
			e->allowance.allowed ? "it, as an allowed source," : "its prefix",
			e->allowance.strict ? " (strict)" : "");
}

/* --- a service --------------------------------------------------------------- */

static void print_flow(const struct explain *e, const struct about_flow *flow, FILE *out)
{
	const struct player *p = &flow->player;
	char since[AGO], heard[AGO], sent[AGO];

	ago(e->now_ns, flow->used_ns, since);
	fprintf(out, LABEL "port %u, %s, %s\n", "flow", flow->port,
		state_names[flow->state], since);
	if (flow->state != ABOUT_ESTABLISHED)
		return;
	ago(e->now_ns, p->heard_ns, heard);
	ago(e->now_ns, p->sent_ns, sent);
	fprintf(out, LABEL "heard %s, sent to %s, %u datagrams%s%s\n", "", heard, sent,
		p->packets, player_proven(p) ? ", cannot be spoofed" : "",
		p->flags & PLAYER_FOLLOWED ? ", followed" : "");
}

/* @class: of the datagram. */
static void print_limits(const struct explain *e, const struct explain_step *step,
			 enum wire_class class, FILE *out)
{
	static const char *const groups[] = {
		[ABOUT_OF_CLASS] = "",
		[ABOUT_OF_VALIDATED] = " as a validated client",
		[ABOUT_OF_ALLOWED] = " as an allowed source",
		[ABOUT_OF_MASTER] = " as a master server",
	};
	const struct about_limits *limits = &step->limits;
	bool any = false,
	     other = limits->class != class && (limits->group == ABOUT_OF_CLASS ||
						limits->group == ABOUT_OF_VALIDATED);

	for (int i = 0; i < ABOUT_LEVEL_COUNT; i++) {
		__u64 most = about_most(&limits->level[i]);

		if (most == ABOUT_NO_LIMIT)
			continue;
		if (!any)
			fprintf(out, LABEL "left%s%s%s: ", "", other ? " of class " : "",
				other ? class_name(limits->class) : "",
				groups[limits->group]);
		fprintf(out, "%s%s %llu of %llu", any ? ", " : "", level_names[i],
			about_left(&limits->level[i], e->now_ns), most);
		any = true;
	}
	if (any)
		fputc('\n', out);
}

static const char *verb(const struct trial_verdict *v)
{
	enum verdict verdict = reason_verdict(v->reason);

	if (v->passes && verdict == VERDICT_DROP)
		return "passes, though it would be dropped: the service only observes";
	return verdict == VERDICT_PASS	 ? "passes"
	       : verdict == VERDICT_DROP ? "is dropped"
					 : "is responded to by the shield";
}

static void print_step(const struct explain *e, const struct explain_service *s,
		       const struct explain_step *step, FILE *out)
{
	static const char *const policies[] = {
		[POLICY_DROP] = "drops",
		[POLICY_LIMIT] = "limits",
		[POLICY_PASS] = "passes",
	};
	enum wire_class class =
		wire_class((enum wire_family)s->service.family, step->in.kind);

	if (step->error) {
		fprintf(out, LABEL "%s: not judged: %s\n", "next", step->name,
			strerror(-step->error));
		return;
	}
	if (!step->in.judged) {
		fprintf(out, LABEL "%s: %s\n", "next", step->name,
			other_name(step->in.other));
		return;
	}
	fprintf(out, LABEL "%s (%s, class %s) %s: %s\n", "next", step->name,
		kind_name(step->in.kind), class_name(class), verb(&step->in),
		reason_name(step->in.reason));
	if (step->limited)
		print_limits(e, step, class, out);
	else if (class >= CLASS_BUDGETS && !e->leaves)
		fprintf(out, LABEL "its class has no limits, the service %s it\n", "",
			policies[s->service.policy[class - CLASS_BUDGETS]]);
	if (step->has_answer)
		fprintf(out, LABEL "the server's answer of %u bytes %s: %s\n", "",
			step->answer_bytes,
			!step->out.passes ? "does not leave" : "leaves",
			reason_name(step->out.reason));
}

static void print_server(const struct explain_server *server, FILE *out)
{
	char age[DURATION_TEXT];

	fprintf(out, LABEL "%llu datagrams have passed to it, it has sent %llu", "server",
		server->asked, server->answered);
	if (server->sockets_known)
		fprintf(out, ", %s socket at its port here", server->socket ? "a" : "no");
	if (server->cached) {
		duration_format(server->cached_age_ns, age);
		fprintf(out, ", answered the daemon %s ago", age);
	}
	fputc('\n', out);
}

static void print_cause(const struct explain_cause *cause, FILE *out)
{
	const char *label = cause->observed ? "would be"
			    : cause->past   ? "has been"
					    : "because";
	char text[EXPLAIN_TEXT];

	/* A comment of a list is in it. */
	memcpy(text, cause->text, sizeof(text));
	log_make_plain(text);
	fprintf(out, LABEL "%s: %s\n", label, cause->name, text);
	if (cause->advice)
		fprintf(out, LABEL "%s\n", "", cause->advice);
}

static void print_service(const struct explain *e, const struct explain_service *s,
			  FILE *out)
{
	bool kept_away = false;

	fprintf(out, "service '%s' (%s, port %u)%s\n", s->service.name,
		family_name((enum wire_family)s->service.family), s->port,
		s->service.observe ? ", only observes" : "");
	print_server(&s->server, out);
	if (!s->flow_count)
		fprintf(out, LABEL "none\n", "flow");
	for (size_t i = 0; i < s->flow_count; i++)
		print_flow(e, &s->flows[i], out);
	for (size_t i = 0; i < s->refusal_count; i++)
		fprintf(out, LABEL "%.1f s ago: class %s, %s\n", "refused",
			(double)s->refusals[i].age_ns / 1e9,
			class_name(s->refusals[i].class),
			reason_name(s->refusals[i].reason));
	for (size_t i = 0; i < s->step_count; i++)
		print_step(e, s, &s->steps[i], out);
	for (size_t i = 0; i < s->cause_count; i++) {
		print_cause(&s->causes[i], out);
		kept_away |= !s->causes[i].observed;
	}
	if (!kept_away && !e->datagram)
		fprintf(out, LABEL "nothing here keeps it from playing\n", "because");
}

void explain_print(const struct explain *e, FILE *out)
{
	if (!e->same_program)
		fputs("the loaded program is another build than this command, which "
		      "judges by its own\n",
		      out);
	if (e->datagram)
		print_datagram(e, out);
	if (!e->datagram || e->parsed)
		print_host(e, out);
	for (size_t i = 0; i < e->service_count; i++)
		print_service(e, &e->services[i], out);
	if (e->datagram && !e->service_count)
		fprintf(out, LABEL "datagram %s: %s\n", "next",
			e->stray.in.passes ? "passes" : "is dropped",
			explain_reason(&e->stray));
	else if (e->no_service)
		fprintf(out,
			LABEL "no-service: no service has port %u, so the shield passes "
			      "what comes for it\n",
			"because", e->other_port);
	else if (!e->service_count)
		fprintf(out, LABEL "no-service: no service is configured\n", "because");
}
