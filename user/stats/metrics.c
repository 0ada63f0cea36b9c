// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * metrics.c - every metric family that the daemon exports: a row here, and a function
 * that knows which numbers of the snapshot belong to it.
 */
#include <errno.h>

#include "lib/log.h"
#include "stats/metrics.h"
#include "lib/names.h"
#include "lib/ometric.h"
#include "lib/util.h"

/*
 * Write the samples of the metric family @m from the snapshot @s. Called by
 * metrics_write() for each row of the table, after the family's heading. It may only read
 * @s.
 */
typedef void family_writer(FILE *out, const struct ometric *m, const struct stats *s);

static const char *protocol(const struct stats_service *s)
{
	return family_name((enum wire_family)s->service.family);
}

/* --- packets and bytes ------------------------------------------------------- */

enum what {
	PACKETS,
	BYTES,
};

/* One direction of one service; @direction: NULL, or the value of a last label. */
static void counters_write(FILE *out, const struct ometric *m,
			   const struct stats_service *s, const struct counters *t,
			   enum what what, const char *direction)
{
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		for (int reason = 0; reason < REASON_COUNT; reason++) {
			const struct counter *counter = &t->by[kind][reason];
			const char *values[] = {
				s->service.name,
				protocol(s),
				kind_name((enum wire_kind)kind),
				verdict_name(reason_verdict((enum reason)reason)),
				reason_name((enum reason)reason),
				direction,
			};

			if (counter->packets)
				ometric_uint(out, m, values,
					     what == PACKETS ? counter->packets
							     : counter->bytes);
		}
	}
}

static void packets(FILE *out, const struct ometric *m, const struct stats *s)
{
	for (size_t i = 0; i < s->service_count; i++)
		counters_write(out, m, &s->services[i], &s->services[i].in, PACKETS,
			       NULL);
}

static void packets_sent(FILE *out, const struct ometric *m, const struct stats *s)
{
	for (size_t i = 0; i < s->service_count; i++)
		counters_write(out, m, &s->services[i], &s->services[i].out, PACKETS,
			       NULL);
}

static void bytes(FILE *out, const struct ometric *m, const struct stats *s)
{
	for (size_t i = 0; i < s->service_count; i++) {
		counters_write(out, m, &s->services[i], &s->services[i].in, BYTES, "in");
		counters_write(out, m, &s->services[i], &s->services[i].out, BYTES,
			       "out");
	}
}

/* Return true if anything was counted of @s. A service without traffic has none of the
 * series that would say 0: of 200 services they are three quarters of a scrape. */
static bool counted(const struct stats_service *s)
{
	return counters_packets(&s->in) || counters_packets(&s->out);
}

/* Add up what was received of each class of requests. A class has its series from its
 * first datagram on, so that later refusals have a rate. */
static void classes_received(const struct stats_service *s, __u64 ret[CLASS_BUDGETS])
{
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		enum wire_class class = wire_class((enum wire_family)s->service.family,
						   (enum wire_kind)kind);

		for (int reason = 0; reason < REASON_COUNT && class < CLASS_BUDGETS;
		     reason++)
			ret[class] += s->in.by[kind][reason].packets;
	}
}

/* Over all kinds of a class, so that a rule need not know them. */
static void refused(FILE *out, const struct ometric *m, const struct stats *s)
{
	static const enum reason levels[] = { REASON_SOURCE_LIMIT, REASON_PREFIX_LIMIT,
					      REASON_SERVICE_LIMIT };

	for (size_t i = 0; i < s->service_count; i++) {
		const struct stats_service *t = &s->services[i];
		enum wire_family family = (enum wire_family)t->service.family;
		__u64 sums[ARRAY_SIZE(levels)][CLASS_BUDGETS] = { 0 };
		__u64 received[CLASS_BUDGETS] = { 0 };

		classes_received(t, received);
		for (int kind = 0; kind < KIND_COUNT; kind++) {
			enum wire_class class = wire_class(family, (enum wire_kind)kind);

			for (size_t l = 0; l < ARRAY_SIZE(levels); l++)
				if (class < CLASS_BUDGETS)
					sums[l][class] +=
						t->in.by[kind][levels[l]].packets;
		}
		for (int class = 0; class < CLASS_BUDGETS; class ++) {
			for (size_t l = 0; l < ARRAY_SIZE(levels) && received[class];
			     l++) {
				const char *values[] = { t->service.name, protocol(t),
							 class_name(
								 (enum wire_class) class),
							 reason_name(levels[l]) };

				ometric_uint(out, m, values, sums[l][class]);
			}
		}
	}
}

static void other_packets(FILE *out, const struct ometric *m, const struct stats *s)
{
	for (int i = 0; i < OTHER_COUNT; i++) {
		const char *values[] = { other_name((enum other)i),
					 verdict_name(other_verdict((enum other)i)) };

		ometric_uint(out, m, values, s->others[i].packets);
	}
}

static void other_bytes(FILE *out, const struct ometric *m, const struct stats *s)
{
	for (int i = 0; i < OTHER_COUNT; i++) {
		const char *values[] = { other_name((enum other)i),
					 verdict_name(other_verdict((enum other)i)) };

		ometric_uint(out, m, values, s->others[i].bytes);
	}
}

/* --- amplification ----------------------------------------------------------- */

static void stranger_bytes(FILE *out, const struct ometric *m, const struct stats *s)
{
	for (size_t i = 0; i < s->service_count; i++) {
		const struct stats_service *t = &s->services[i];
		const struct {
			const char *direction, *measure;
			__u64 bytes;
		} rows[] = {
			{ "in", "payload", t->in.unverified.payload },
			{ "in", "wire", t->in.unverified.wire },
			{ "out", "payload", t->out.unverified.payload },
			{ "out", "wire", t->out.unverified.wire },
		};

		if (!counted(t))
			continue;
		for (size_t j = 0; j < ARRAY_SIZE(rows); j++) {
			const char *values[] = { t->service.name, protocol(t),
						 rows[j].direction, rows[j].measure };

			ometric_uint(out, m, values, rows[j].bytes);
		}
	}
}

static void ratio(FILE *out, const struct ometric *m, const struct stats_service *s,
		  const char *measure, __u64 sent, __u64 received)
{
	const char *values[] = { s->service.name, protocol(s), measure };
	double x;

	if (stats_ratio(sent, received, &x))
		ometric_real(out, m, values, x);
}

static void amplification(FILE *out, const struct ometric *m, const struct stats *s)
{
	for (size_t i = 0; i < s->service_count; i++) {
		const struct stats_service *t = &s->services[i];

		ratio(out, m, t, "payload", t->out.unverified.payload,
		      t->in.unverified.payload);
		ratio(out, m, t, "wire", t->out.unverified.wire, t->in.unverified.wire);
	}
}

/* --- gauges ------------------------------------------------------------------ */

static void players(FILE *out, const struct ometric *m, const struct stats *s)
{
	for (size_t i = 0; i < s->service_count; i++) {
		const char *values[] = { s->services[i].service.name,
					 protocol(&s->services[i]) };

		ometric_uint(out, m, values, s->services[i].players);
	}
}

static void observing(FILE *out, const struct ometric *m, const struct stats *s)
{
	for (size_t i = 0; i < s->service_count; i++) {
		const char *values[] = { s->services[i].service.name,
					 protocol(&s->services[i]) };

		ometric_uint(out, m, values, s->services[i].service.observe);
	}
}

static void judged(FILE *out, const struct ometric *m, const struct stats *s)
{
	for (size_t i = 0; i < s->service_count; i++) {
		const struct stats_service *t = &s->services[i];
		const char *values[] = { t->service.name, protocol(t), t->unjudged_by };

		if (t->judged != JUDGED_UNKNOWN)
			ometric_uint(out, m, values, t->judged == JUDGED_YES);
	}
}

static void mismatch(FILE *out, const struct ometric *m, const struct stats *s)
{
	for (size_t i = 0; i < s->service_count; i++) {
		char speaks[FAMILIES_TEXT];
		const char *values[] = { s->services[i].service.name,
					 protocol(&s->services[i]), speaks };

		families_format(s->services[i].speaks, speaks);
		ometric_uint(out, m, values, s->services[i].speaks != 0);
	}
}

static void budgets(FILE *out, const struct ometric *m, const struct stats *s)
{
	for (size_t i = 0; i < s->service_count; i++) {
		const struct stats_service *t = &s->services[i];
		__u64 received[CLASS_BUDGETS] = { 0 };

		classes_received(t, received);
		for (int class = 0; class < CLASS_BUDGETS; class ++) {
			const char *values[] = { t->service.name, protocol(t),
						 class_name((enum wire_class) class) };

			if (received[class])
				ometric_real(out, m, values, t->limits_used[class]);
		}
	}
}

/* @age: how old each template is; or how large. */
static void templates(FILE *out, const struct ometric *m, const struct stats *s, bool age)
{
	for (size_t i = 0; i < s->service_count; i++) {
		const struct stats_service *t = &s->services[i];

		for (size_t j = 0; j < t->cached_count; j++) {
			const struct cached_response *kept = &t->cached[j];
			const char *values[] = { t->service.name, protocol(t),
						 kept->request,
						 kept->nonce ? "true" : "false" };

			if (age)
				ometric_real(out, m, values, (double)kept->age_ns / 1e9);
			else
				ometric_uint(out, m, values, kept->bytes);
		}
	}
}

static void template_age(FILE *out, const struct ometric *m, const struct stats *s)
{
	templates(out, m, s, true);
}

static void template_size(FILE *out, const struct ometric *m, const struct stats *s)
{
	templates(out, m, s, false);
}

static void samples(FILE *out, const struct ometric *m, const struct stats *s)
{
	for (int i = 0; i < SAMPLER_COUNT; i++) {
		const char *name = sampler_name((enum sampler)i);
		const struct {
			const char *outcome;
			__u64 count;
		} rows[] = {
			{ "taken", s->sampled[i].taken },
			{ "limited", s->sampled[i].limited },
			{ "lost", s->sampled[i].lost },
		};

		for (size_t j = 0; j < ARRAY_SIZE(rows); j++) {
			const char *values[] = { name, rows[j].outcome };

			ometric_uint(out, m, values, rows[j].count);
		}
	}
}

static void map_entries(FILE *out, const struct ometric *m, const struct stats *s)
{
	for (int i = 0; i < TABLE_COUNT; i++) {
		const char *values[] = { table_name((enum usage_table)i) };

		ometric_uint(out, m, values, s->tables[i].used);
	}
}

static void map_capacity(FILE *out, const struct ometric *m, const struct stats *s)
{
	for (int i = 0; i < TABLE_COUNT; i++) {
		const char *values[] = { table_name((enum usage_table)i) };

		ometric_uint(out, m, values, s->tables[i].capacity);
	}
}

static void interfaces(FILE *out, const struct ometric *m, const struct stats *s)
{
	for (size_t i = 0; i < s->link_count; i++) {
		const char *values[] = { s->links[i].interface,
					 mode_name(s->links[i].mode) };

		if (!s->links[i].missing && s->links[i].since)
			ometric_uint(out, m, values, 1);
	}
}

static void interface_ours(FILE *out, const struct ometric *m, const struct stats *s)
{
	for (size_t i = 0; i < s->link_count; i++) {
		const char *values[] = { s->links[i].interface };

		ometric_uint(out, m, values, shield_link_protects(&s->links[i]));
	}
}

static void interface_since(FILE *out, const struct ometric *m, const struct stats *s)
{
	for (size_t i = 0; i < s->link_count; i++) {
		const char *values[] = { s->links[i].interface };

		if (s->links[i].since)
			ometric_uint(out, m, values, (__u64)s->links[i].since);
	}
}

static void generation(FILE *out, const struct ometric *m, const struct stats *s)
{
	ometric_uint(out, m, NULL, s->generation);
}

static void fallback(FILE *out, const struct ometric *m, const struct stats *s)
{
	ometric_uint(out, m, NULL, s->fallback);
}

static void build(FILE *out, const struct ometric *m, const struct stats *s)
{
	const char *values[] = { VERSION, shield_abi() };

	(void)s;
	ometric_uint(out, m, values, 1);
}

/* --- the table --------------------------------------------------------------- */

/* clang-format off */
#define FAMILIES(X)								\
	X(packets, "received_packets", COUNTER, NULL,					\
	  "Datagrams received for a service, by kind, verdict and reason.", \
	  "service", "protocol", "kind", "verdict", "reason")			\
	X(packets_sent, "sent_packets", COUNTER, NULL,				\
	  "Datagrams that the server of a service sent, by kind, verdict and reason.", \
	  "service", "protocol", "kind", "verdict", "reason")			\
	X(bytes, "bytes", COUNTER, "bytes",					\
	  "Bytes of whole frames, without checksum, received (in) and sent (out).", \
	  "service", "protocol", "kind", "verdict", "reason", "direction")	\
	X(refused, "rate_limited_packets", COUNTER, NULL,				\
	  "Datagrams that exceeded a limit of their class of requests, by the level of the limit; absent: the class has received none.", \
	  "service", "protocol", "class", "reason")				\
	X(other_packets, "other_packets", COUNTER, NULL,			\
	  "Frames that are no datagram for a service, by reason.", "reason", "verdict")	\
	X(other_bytes, "other_bytes", COUNTER, "bytes",				\
	  "Bytes of frames that are no datagram for a service, by reason.", "reason", "verdict") \
	X(stranger_bytes, "unverified_bytes", COUNTER, "bytes",			\
	  "Bytes from and to peers that are no verified players; absent: the service has received and sent none.",		\
	  "service", "protocol", "direction", "measure")			\
	X(amplification, "amplification_ratio", GAUGE, "ratio",			\
	  "Bytes sent to peers that are no verified players, per byte from them, since the counters began.", \
	  "service", "protocol", "measure")					\
	X(players, "players", GAUGE, NULL,					\
	  "Players that the server has accepted and sent to within a minute.", "service", "protocol") \
	X(observing, "observing", GAUGE, NULL,					\
	  "1: verdicts are counted, nothing is dropped.", "service", "protocol") \
	X(judged, "service_judged", GAUGE, NULL,				\
	  "1: the datagrams of the service pass the shield; 0: some come in by another interface; absent: none has come.", \
	  "service", "protocol", "unjudged_by")					\
	X(mismatch, "protocol_mismatch", GAUGE, NULL,				\
	  "1: the server speaks another protocol than the configured one; the label names it.", \
	  "service", "protocol", "speaks")					\
	X(budgets, "limit_used_ratio", GAUGE, "ratio",			\
	  "Share of the service's limit for a class of requests that is used now; absent: the class has received none.", \
	  "service", "protocol", "class")					\
	X(template_age, "cached_response_age_seconds", GAUGE, "seconds",		\
	  "Age of a cached response of the server; one older than 6 seconds is not sent.", \
	  "service", "protocol", "request", "nonce")				\
	X(template_size, "cached_response_bytes", GAUGE, "bytes",			\
	  "Size of that response, without the client's token.",		\
	  "service", "protocol", "request", "nonce")				\
	X(samples, "samples", COUNTER, NULL,					\
	  "Datagrams chosen as samples: copied to the daemon (taken), above the rate (limited), or without room (lost).", \
	  "sampler", "outcome")							\
	X(map_entries, "map_entries", GAUGE, NULL,				\
	  "Entries in a table that can become full.", "map")			\
	X(map_capacity, "map_capacity", GAUGE, NULL,				\
	  "Entries that the table has room for.", "map")				\
	X(interfaces, "interface", INFO, NULL,					\
	  "Interfaces that the shield was attached to, with the mode.", "interface", "mode") \
	X(interface_ours, "interface_protected", GAUGE, NULL,			\
	  "1: the interface carries the shield's programs, both ways, and runs them; 0: it does not, or does not exist.", "interface") \
	X(interface_since, "interface_attached_timestamp_seconds", GAUGE, "seconds", \
	  "Time at which the shield was attached, since 1970.", "interface")			\
	X(generation, "configuration_generation", GAUGE, NULL,			\
	  "Grows by one whenever a configuration takes effect.", NULL)		\
	X(fallback, "fallback", GAUGE, NULL,					\
	  "1: the kernel refused the programs for address validation and cached responses, and both are off.", NULL) \
	X(build, "build", INFO, NULL,						\
	  "Version of the program, and name of its tables in the kernel.", "version", "abi")

static const struct ometric families[] = {
#define AS_FAMILY(function, name, type, unit, help, ...) \
	{ "quakeshield_" name, OMETRIC_##type, unit, help, { __VA_ARGS__ } },
	FAMILIES(AS_FAMILY)
#undef AS_FAMILY
};

static family_writer *const writers[] = {
#define AS_WRITER(function, ...) function,
	FAMILIES(AS_WRITER)
#undef AS_WRITER
};
/* clang-format on */

const struct ometric *metrics_families(unsigned int table, size_t *ret_count)
{
	switch (table) {
	case 0:
		*ret_count = ARRAY_SIZE(families);
		return families;
	case 1:
		return attack_metrics_families(ret_count);
	case 2:
		return decoded_metrics_families(ret_count);
	default:
		return NULL;
	}
}

int metrics_check(void)
{
	const struct ometric *table;
	size_t count;

	for (unsigned int i = 0; (table = metrics_families(i, &count)); i++) {
		const char *wrong = ometric_check(table, count);

		if (!wrong)
			continue;
		log_error("%s", wrong);
		return -EINVAL;
	}
	return 0;
}

int metrics_write(const struct stats *stats, const struct decoded *decoded,
		  const struct incident_watch *watches, enum ometric_format format,
		  FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		ometric_begin(out, &families[i], format);
		writers[i](out, &families[i], stats);
	}
	attack_metrics(watches, stats, format, out);
	decoded_metrics(decoded, stats, format, out);
	ometric_end(out, format);
	return fflush(out) || ferror(out) ? -EIO : 0;
}
