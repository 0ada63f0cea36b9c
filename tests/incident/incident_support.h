/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incident_support.h - a service whose counters the test moves, second by second.
 */
#ifndef INCIDENT_SUPPORT_H
#define INCIDENT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "incident/incident.h"

#define BEGIN_MS 1795358701000 /* 2026-11-22T14:45:01Z */
#define SLOT	 3

static struct incident_watch watch;
static struct incident_subject subject;
static struct incident_counts counts;
static int64_t now_ms; /* since 1970 */
static int64_t steady_ms;

static struct incident_time now(void)
{
	return (struct incident_time){ now_ms, steady_ms };
}

static void wait_ms(int64_t ms)
{
	now_ms += ms;
	steady_ms += ms;
}

/* Two looks at a service at which nothing happens. */
static int begin(void **state)
{
	(void)state;
	incident_forget(&watch);
	memset(&watch, 0, sizeof(watch));
	memset(&counts, 0, sizeof(counts));
	subject = (struct incident_subject){ SLOT, "ffa", FAMILY_QUAKE3, false };
	now_ms = BEGIN_MS;
	steady_ms = 7000;
	assert_int_equal(incident_look(&watch, &subject, &counts, now()), 0);
	wait_ms(1000);
	assert_int_equal(incident_look(&watch, &subject, &counts, now()), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	incident_forget(&watch);
	return 0;
}

/* In this second, so many of a kind were refused. */
static void refuse(enum wire_kind kind, enum reason reason, uint64_t n)
{
	counts.packets += n;
	counts.bytes += n * 60;
	counts.refused += n;
	counts.kinds[kind] += n;
	counts.reasons[reason] += n;
	if (wire_class(subject.family, kind) == CLASS_RCON)
		counts.guesses += n;
}

static void pass(enum reason reason, uint64_t n)
{
	counts.packets += n;
	counts.bytes += n * 60;
	counts.reasons[reason] += n;
}

/* The second is over. */
static enum incident_event look(void)
{
	uint32_t players = counts.players;
	enum incident_event event;

	wait_ms(1000);
	event = incident_look(&watch, &subject, &counts, now());
	memset(&counts, 0, sizeof(counts));
	counts.players = players;
	return event;
}

/* So many seconds of nothing but what passes; how often something was told. */
static int quiet_s(int seconds)
{
	int told = 0;

	while (seconds--) {
		pass(REASON_PLAYER, 500);
		told += look() != INCIDENT_NOTHING;
	}
	return told;
}

#endif /* INCIDENT_SUPPORT_H */
