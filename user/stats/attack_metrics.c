// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * attack_metrics.c - see attack_metrics.h.
 */
#include "lib/names.h"
#include "lib/util.h"
#include "stats/attack_metrics.h"

enum row {
	ATTACK_NOW,
	ATTACKS,
	ATTACK_PEAK,
	SCAN_NOW,
	SCANS,
};

/* clang-format off */
static const struct ometric families[] = {
	[ATTACK_NOW] = { "quakeshield_under_attack", OMETRIC_GAUGE, NULL,
		"1: an attack on the service goes on.", { "service", "protocol" } },
	[ATTACKS] = { "quakeshield_attacks", OMETRIC_COUNTER, NULL,
		"Attacks on the service since the daemon started.",
		{ "service", "protocol" } },
	[ATTACK_PEAK] = { "quakeshield_attack_peak_packets_per_second", OMETRIC_GAUGE, NULL,
		"Datagrams per second at the height of the attack that goes on; 0: none does.",
		{ "service", "protocol" } },
	[SCAN_NOW] = { "quakeshield_port_scan", OMETRIC_GAUGE, NULL,
		"1: datagrams come for closed UDP ports: a scan, or a flood of one port.", { NULL } },
	[SCANS] = { "quakeshield_port_scans", OMETRIC_COUNTER, NULL,
		"Such scans and floods of closed UDP ports since the daemon started.", { NULL } },
};
/* clang-format on */

const struct ometric *attack_metrics_families(size_t *ret_count)
{
	*ret_count = ARRAY_SIZE(families);
	return families;
}

static double value(const struct incident_watch *w, enum row row)
{
	switch (row) {
	case ATTACK_NOW:
	case SCAN_NOW:
		return w->now ? 1 : 0;
	case ATTACK_PEAK:
		return w->now ? w->now->peak_pps : 0;
	default:
		return (double)w->count;
	}
}

static void services_write(FILE *out, enum row row, const struct incident_watch *watches,
			   const struct stats *stats)
{
	for (size_t i = 0; i < stats->service_count; i++) {
		const struct stats_service *s = &stats->services[i];
		const char *values[] = {
			s->service.name, family_name((enum wire_family)s->service.family)
		};

		ometric_real(out, &families[row], values, value(&watches[s->slot], row));
	}
}

void attack_metrics(const struct incident_watch *watches, const struct stats *stats,
		    enum ometric_format format, FILE *out)
{
	for (int row = 0; watches && row < (int)ARRAY_SIZE(families); row++) {
		ometric_begin(out, &families[row], format);
		if (row < SCAN_NOW)
			services_write(out, (enum row)row, watches, stats);
		else
			ometric_real(out, &families[row], NULL,
				     value(&watches[INCIDENT_MACHINE], (enum row)row));
	}
}
