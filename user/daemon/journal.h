/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * journal.h - incidents for the journal, with fields to search by: docs/howto/alerts.md.
 */
#ifndef JOURNAL_H
#define JOURNAL_H

#include "incident/incident.h"

/* `journalctl MESSAGE_ID=...`; never to be changed. */
#define JOURNAL_ID_STARTED "8f0d5b7e1c9a4d0fa6b34c1d5e72f901"
#define JOURNAL_ID_UPDATED "2b6c9e04d7f14a83b5c07e9a61d3f842"
#define JOURNAL_ID_ENDED   "c41a7d9350e84b6fb2e68f0d7a15c3be"

/*
 * Write the event to the journal, and as a line to stderr, unless the journal reads that
 * too.
 */
void journal_incident(const struct incident *incident, enum incident_event event,
		      const char *capture);

#endif /* JOURNAL_H */
