// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_journal.c - all fields that the journal gets of an attack, of each event, and when
 * there is a line on stderr beside them; and how ports that are shut are counted. The
 * journal and the kernel's files are the test's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include "daemon/closed_ports.h"
#include "daemon/journal.h"
#include "incident/incident_json.h"
#include "lib/cidr.h"
#include "lib/log.h"
#include "stderr.h"

static char sent[4096], said[4096];
static bool listens; /* the journal */
static int sends; /* what it says */

int access(const char *path, int mode)
{
	assert_string_equal(path, "/run/systemd/journal/socket");
	assert_int_equal(mode, W_OK);
	return listens ? 0 : -1;
}

int sd_journal_send(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	for (; format; format = va_arg(args, const char *)) {
		size_t n = strlen(sent);

		/* What the fields take, one after the other. */
		if (strstr(format, "%s"))
			snprintf(sent + n, sizeof(sent) - n, format,
				 va_arg(args, const char *));
		else if (strstr(format, "%.0f"))
			snprintf(sent + n, sizeof(sent) - n, format,
				 va_arg(args, double));
		else if (strstr(format, "%llu"))
			snprintf(sent + n, sizeof(sent) - n, format,
				 va_arg(args, unsigned long long));
		else
			snprintf(sent + n, sizeof(sent) - n, format, va_arg(args, int));
		strcat(sent, "\n");
	}
	va_end(args);
	return sends;
}

static struct incident attack(void)
{
	struct incident i = {
		.id = "20261122T144501Z-3",
		.service = "ffa",
		.family = FAMILY_QUAKE2,
		.sort = INCIDENT_FLOOD,
		.start_ms = 1795358701000,
		.last_ms = 1795358761000,
		.packets = 5000,
		.bytes = 700000,
		.refused = 4000,
		.dropped = 3999,
		.peak_pps = 1234.4,
		.peak_bps = 98765.6,
		.players_before = 9,
		.players_least = 7,
		.players_most = 11,
	};

	struct cidr guesser;

	assert_true(cidr_parse("192.0.2.7", &guesser));
	for (int n = 0; n < DROP_SOURCES_SURE; n++)
		drop_sources_put(&i.sources.by[CLASS_RCON].addresses, 0, &guesser, 9,
				 REASON_SOURCE_LIMIT);
	return i;
}

static void tell(const struct incident *i, enum incident_event event, const char *capture)
{
	sent[0] = 0;
	stderr_catch();
	journal_incident(i, event, capture);
	stderr_release(said, sizeof(said));
}

static void each_field_is_its_own(void **state)
{
	static const struct {
		enum incident_event event;
		const char *id, *name;
		int priority;
		bool warns;
	} rows[] = {
		{ INCIDENT_STARTED, JOURNAL_ID_STARTED, "start", 4, true },
		{ INCIDENT_UPDATED, JOURNAL_ID_UPDATED, "update", 6, false },
		{ INCIDENT_ENDED, JOURNAL_ID_ENDED, "end", 5, false },
	};
	struct incident i = attack();

	(void)state;
	listens = true;
	sends = 0;
	unsetenv("JOURNAL_STREAM");
	for (size_t r = 0; r < sizeof(rows) / sizeof(*rows); r++) {
		char text[INCIDENT_TEXT], want[4096];

		if (rows[r].event == INCIDENT_ENDED)
			i.end_ms = i.last_ms;
		incident_text(&i, rows[r].event, text);
		tell(&i, rows[r].event, "/x.pcapng");
		snprintf(want, sizeof(want),
			 "MESSAGE=%s\nMESSAGE_ID=%s\nPRIORITY=%d\n"
			 "QUAKESHIELD_INCIDENT=20261122T144501Z-3\nQUAKESHIELD_EVENT=%s\n"
			 "QUAKESHIELD_SERVICE=ffa\nQUAKESHIELD_PROTOCOL=quake2\n"
			 "QUAKESHIELD_TYPE=%s\nQUAKESHIELD_PEAK_PPS=1234\n"
			 "QUAKESHIELD_PEAK_BPS=98766\nQUAKESHIELD_DROPPED=3999\n"
			 "QUAKESHIELD_OBSERVED=0\nQUAKESHIELD_SPOOFED=%s\n"
			 "QUAKESHIELD_FROM=192.0.2.7 (100 %% of rcon, source-limit)\n"
			 "QUAKESHIELD_PLAYERS=7\nQUAKESHIELD_CAPTURE=/x.pcapng\n",
			 text, rows[r].id, rows[r].priority,
			 incident_event_name(rows[r].event), incident_sort_name(i.sort),
			 incident_spoofed_name(incident_spoofed(&i)));
		assert_string_equal(incident_event_name(rows[r].event), rows[r].name);
		assert_string_equal(sent, want);
		snprintf(want, sizeof(want), "quakeshield: %s%s\n",
			 rows[r].warns ? "warning: " : "", text);
		assert_string_equal(said, want);
	}
	/* Of the machine there is no protocol. */
	i.service[0] = 0;
	i.observed = true;
	tell(&i, INCIDENT_STARTED, "");
	assert_non_null(strstr(sent, "\nQUAKESHIELD_SERVICE=\nQUAKESHIELD_PROTOCOL=\n"));
	assert_non_null(strstr(sent, "\nQUAKESHIELD_OBSERVED=1\n"));
	assert_non_null(strstr(sent, "\nQUAKESHIELD_CAPTURE=\n"));
}

/* A line of its own only where the journal has not had it already. */
static void it_is_told_once(void **state)
{
	static const struct {
		bool listens;
		int sends;
		bool stream, line;
	} rows[] = {
		{ true, 0, true, false },  { true, 0, false, true },
		{ true, -5, true, true },  { false, 0, true, true },
		{ false, 0, false, true },
	};
	const struct incident i = attack();

	(void)state;
	for (size_t r = 0; r < sizeof(rows) / sizeof(*rows); r++) {
		listens = rows[r].listens;
		sends = rows[r].sends;
		unsetenv("JOURNAL_STREAM");
		if (rows[r].stream)
			setenv("JOURNAL_STREAM", "1:2", 1);
		tell(&i, INCIDENT_UPDATED, "");
		assert_int_equal(!!*said, rows[r].line);
		assert_int_equal(!!*sent, rows[r].listens);
		tell(&i, INCIDENT_STARTED, "");
		assert_int_equal(!!*said, rows[r].line);
	}
	unsetenv("JOURNAL_STREAM");
}

/* --- ports that are shut
 * ----------------------------------------------------------------
 */

static const char *v4, *v6; /* NULL: there is no such file */

FILE *fopen(const char *path, const char *mode)
{
	const char *text = strstr(path, "snmp6") ? v6 : v4;
	int fd;

	assert_string_equal(path, text == v6 && strstr(path, "snmp6") ? "/proc/net/snmp6"
								      : "/proc/net/snmp");
	assert_string_equal(mode, "re");
	if (!text)
		return NULL;
	fd = memfd_create("snmp", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	lseek(fd, 0, SEEK_SET);
	return fdopen(fd, "r");
}

static void ports_that_are_shut(void **state)
{
	static const char four[] =
		"Ip: Forwarding DefaultTTL\nIp: 1 64\n"
		"Udp: InDatagrams NoPorts InErrors OutDatagrams\n"
		"Udp: 1234 5600000000 7 8\nUdpLite: InDatagrams NoPorts\nUdpLite: 1 999\n"
		"Udp: 1 2\n";
	static const char six[] = "Udp6InDatagrams                 	9\n"
				  "Udp6NoPorts                     	77\n"
				  "Udp6NoPorts                     	78\n";

	(void)state;
	assert_int_equal(closed_ports_read(), 0);
	v4 = four;
	assert_int_equal(closed_ports_read(), 5600000000);
	v6 = six;
	assert_int_equal(closed_ports_read(), 5600000077);
	v4 = NULL;
	assert_int_equal(closed_ports_read(), 77);
	v4 = "Udp: InDatagrams NoPorts\n";
	v6 = "Udp6InDatagrams 9\n";
	assert_int_equal(closed_ports_read(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_is_its_own),
		cmocka_unit_test(it_is_told_once),
		cmocka_unit_test(ports_that_are_shut),
	};

	log_verbose();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
