// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * decoded_metrics.c - what decoding tells, as OpenMetrics.
 */
#include "lib/names.h"
#include "lib/ometric.h"
#include "lib/util.h"
#include "stats/decoded.h"
#include "stats/stats.h"

typedef void service_writer(FILE *out, const struct ometric *m, const char *service,
			    const struct decoded_service *s);

static void records(FILE *out, const struct ometric *m, const char *service,
		    const struct decoded_service *s)
{
	for (size_t i = 0; i < DECODED_PLACES; i++) {
		const struct decoded_row *row = &s->rows[i];
		const char *values[] = { service, family_name(row->family), row->kind,
					 record_status_names[row->status],
					 sampler_name(row->sampler) };

		if (row->kind)
			ometric_uint(out, m, values, row->records);
	}
}

static void unlisted(FILE *out, const struct ometric *m, const char *service,
		     const struct decoded_service *s)
{
	const char *values[] = { service };

	ometric_uint(out, m, values, s->unlisted);
}

static void figure(FILE *out, const struct ometric *m, const char *service,
		   const struct decoded_service *s, enum decoded_figure figure,
		   const char *direction)
{
	for (int family = 0; family < FAMILY_COUNT; family++) {
		const struct histogram *h = &s->figures[family][figure];
		const char *values[] = { service, family_name((enum wire_family)family),
					 direction };

		if (h->count)
			ometric_histogram(out, m, values, h, &decoded_bounds[figure]);
	}
}

static void ping(FILE *out, const struct ometric *m, const char *service,
		 const struct decoded_service *s)
{
	figure(out, m, service, s, DECODED_PING, NULL);
}

static void loss(FILE *out, const struct ometric *m, const char *service,
		 const struct decoded_service *s)
{
	figure(out, m, service, s, DECODED_LOSS_C2S, "in");
	figure(out, m, service, s, DECODED_LOSS_S2C, "out");
}

static void snapshots(FILE *out, const struct ometric *m, const char *service,
		      const struct decoded_service *s)
{
	figure(out, m, service, s, DECODED_SNAPSHOTS, NULL);
}

static void extrapolation(FILE *out, const struct ometric *m, const char *service,
			  const struct decoded_service *s)
{
	figure(out, m, service, s, DECODED_EXTRAPOLATION, NULL);
}

/* clang-format off */
#define FAMILIES(X)								\
	X(records, "records", COUNTER, NULL,					\
	  "Decoded samples, by protocol, kind, status and sampler.", \
	  "service", "protocol", "kind", "status", "sampler")			\
	X(unlisted, "records_unlisted", COUNTER, NULL,				\
	  "Decoded samples of a kind for which the table had no room.", "service") \
	X(ping, "player_ping_seconds", HISTOGRAM, "seconds",			\
	  "Pings of the followed players, one value per player and second.",	\
	  "service", "protocol")						\
	X(loss, "player_loss_ratio", HISTOGRAM, "ratio",			\
	  "Share of the messages from (in) or to (out) a followed player that was lost in a second.", \
	  "service", "protocol", "direction")					\
	X(snapshots, "player_snapshot_rate_hertz", HISTOGRAM, "hertz",		\
	  "Snapshots that a followed player was sent in a second.",		\
	  "service", "protocol")						\
	X(extrapolation, "player_extrapolation_ratio", HISTOGRAM, "ratio",	\
	  "Share of the frames of a followed player in a second that were drawn beyond the newest snapshot.", \
	  "service", "protocol")

static const struct ometric families[] = {
#define AS_FAMILY(function, name, type, unit, help, ...) \
	{ "quakeshield_" name, OMETRIC_##type, unit, help, { __VA_ARGS__ } },
	FAMILIES(AS_FAMILY)
#undef AS_FAMILY
};

static service_writer *const writers[] = {
#define AS_WRITER(function, ...) function,
	FAMILIES(AS_WRITER)
#undef AS_WRITER
};
/* clang-format on */

const struct ometric *decoded_metrics_families(size_t *ret_count)
{
	*ret_count = ARRAY_SIZE(families);
	return families;
}

void decoded_metrics(const struct decoded *d, const struct stats *stats,
		     enum ometric_format format, FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		ometric_begin(out, &families[i], format);
		for (size_t j = 0; j < stats->service_count; j++) {
			const struct stats_service *of = &stats->services[j];
			const struct decoded_service *s = decoded_service(d, of->slot);

			if (s)
				writers[i](out, &families[i], of->service.name, s);
		}
	}
}
