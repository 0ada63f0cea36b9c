// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * journal.c - see journal.h. Where no journal listens, there is the line on stderr.
 */
#include <stdlib.h>
#include <syslog.h>
#include <unistd.h>

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include "daemon/journal.h"
#include "incident/incident_json.h"
#include "incident/incident_sources.h"
#include "lib/log.h"
#include "lib/names.h"

#define SOCKET "/run/systemd/journal/socket"

static const struct {
	const char *id;
	int priority;
} rows[INCIDENT_EVENTS] = {
	[INCIDENT_STARTED] = { JOURNAL_ID_STARTED, LOG_WARNING },
	[INCIDENT_UPDATED] = { JOURNAL_ID_UPDATED, LOG_INFO },
	[INCIDENT_ENDED] = { JOURNAL_ID_ENDED, LOG_NOTICE },
};

/*
 * Send the event with its fields to the journal. 0 or -errno. Called by
 * journal_incident() if the journal's socket is there. Names of fields are documented:
 * keep them.
 */
static int send_fields(const struct incident *i, enum incident_event event,
		       const char *text, const char *capture)
{
	json_t *object = incident_json(i, event, NULL);
	char from[INCIDENT_FROM];

	incident_from(object, from);
	json_decref(object);
	return sd_journal_send(
		"MESSAGE=%s", text, "MESSAGE_ID=%s", rows[event].id, "PRIORITY=%d",
		rows[event].priority, "QUAKESHIELD_INCIDENT=%s", i->id,
		"QUAKESHIELD_EVENT=%s", incident_event_name(event),
		"QUAKESHIELD_SERVICE=%s", i->service, "QUAKESHIELD_PROTOCOL=%s",
		i->service[0] ? family_name(i->family) : "", "QUAKESHIELD_TYPE=%s",
		incident_sort_name(i->sort), "QUAKESHIELD_PEAK_PPS=%.0f", i->peak_pps,
		"QUAKESHIELD_PEAK_BPS=%.0f", i->peak_bps, "QUAKESHIELD_DROPPED=%llu",
		(unsigned long long)i->dropped, "QUAKESHIELD_OBSERVED=%d", i->observed,
		"QUAKESHIELD_SPOOFED=%s", incident_spoofed_name(incident_spoofed(i)),
		"QUAKESHIELD_FROM=%s", from, "QUAKESHIELD_PLAYERS=%u", i->players_least,
		"QUAKESHIELD_CAPTURE=%s", capture, NULL);
}

void journal_incident(const struct incident *i, enum incident_event event,
		      const char *capture)
{
	bool sent = false;
	char text[INCIDENT_TEXT];

	incident_text(i, event, text);
	/* Asked each time: the journal may have been started after us. */
	if (!access(SOCKET, W_OK))
		sent = !send_fields(i, event, text, capture);
	if (sent && getenv("JOURNAL_STREAM"))
		return;
	if (event == INCIDENT_STARTED)
		log_warn("%s", text);
	else
		log_info("%s", text);
}
