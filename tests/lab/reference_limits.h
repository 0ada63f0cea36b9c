/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reference_limits.h - the page of table sizes, memory and what happens when a table is
 * full, from the constants and types that the programs are built with.
 */
#ifndef REFERENCE_LIMITS_H
#define REFERENCE_LIMITS_H

#include <linux/bpf.h>
#include <stdio.h>

#include "config/config.h"
#include "incident/incident_store.h"
#include "lib/http.h"
#include "samples/samples.h"
#include "shield/shield_internal.h"
#include "stats/decoded.h"

#define OF(member) sizeof(((struct live *)0)->member)

/*
 * Bytes of a hash table, all entries of which Linux allocates at once. In 6.18: 48 of an
 * entry and 16 of a bucket, besides the key and the value in words of 8.
 */
#define LIMITS_HASH(key, value, entries) \
	((entries) * (64 + (sizeof(key) + 7) / 8 * 8 + (sizeof(value) + 7) / 8 * 8))

/* Tables that are allocated once, by the names that operators read. */
static const struct limits_row {
	const char *table;
	size_t entries;
	size_t bytes; /* of the whole table; 0: allocated by entry */
	const char *full;
} limits_rows[] = {
	{ "limits of sources", 1 << SOURCE_BITS, OF(source_due_ns),
	  "Never. Sources are hashed into cells with a secret key. Two sources in one cell share its limits." },
	{ "limits of prefixes", 1 << PREFIX_BITS, sizeof(__u64) << PREFIX_BITS,
	  "Never, as above." },
	{ "anti-amplification limit", AMPLIFICATION_WAYS << AMPLIFICATION_BITS,
	  sizeof(struct amplification_line) << AMPLIFICATION_BITS,
	  "Never. If all four prefixes of a line owe, nothing is sent to a fifth." },
	{ "players", PLAYERS_MAX, OF(players),
	  "One service holds an eighth at most. A new player takes the cell of one that has been silent for a minute, or else is treated as an unverified peer." },
	{ "addresses with a player", PLAYER_ADDRESS_WAYS << PLAYER_ADDRESS_BITS,
	  OF(player_addresses),
	  "Sources at one more address are treated as if no player were there." },
	{ "qports of players", PLAYERS_MAX,
	  LIMITS_HASH(struct qport_key, __u16, PLAYERS_MAX),
	  "A player whose port changes has to connect again." },
	{ "players by source and prefix", 1 << CONNLIMIT_BITS, OF(connlimit),
	  "Never. Sources are hashed into cells with a secret key. Two sources in one cell share its limits." },
	{ "validated clients", VALIDATED_MAX, OF(validation.validated),
	  "The client of the bucket that was validated longest ago is replaced, and has to validate its address again." },
	{ "client history", REPUTATION_MAX, OF(cache.reputation),
	  "Known clients stay. A new client remains unknown." },
	{ "recent queries, for each possible processor up to 64", 1 << RECENT_BITS,
	  sizeof(((struct recent *)0)->lines),
	  "Never. Two clients that share the bits of a line count as one. The mark window keeps the lines from filling up." },
	{ "requests to join that have to come twice, for each possible processor up to 64",
	  GREYLIST_CELLS, sizeof(((struct recent *)0)->greylist),
	  "Requests that are remembered stay until they should have come again. A new one is not remembered, and its client has to try again." },
	{ "cached responses", SERVICES_MAX *CACHE_FORMS, OF(cache.entries),
	  "Never. Each service has room for all its queries." },
	{ "notes of connect requests", 1 << CONNECT_BITS, OF(connects),
	  "Never. A player that lost its note is learned from its datagrams." },
	{ "allow list", LIST_MAX, 0, "`allow add` fails with a message." },
	{ "deny list", LIST_MAX, 0, "`deny add` fails with a message." },
	{ "outgoing fragments", 1 << FRAGMENT_BITS, sizeof(__u64) << FRAGMENT_BITS,
	  "Never. Later fragments of a packet that lost its cell are sent." },
	{ "samples for the daemon", 0, SAMPLES_BYTES,
	  "The sample is lost, and counted as `lost`." },
};

/* Sizes of what the daemon and the configuration hold. */
static const struct {
	const char *what;
	size_t most;
	const char *full;
} limits_counts[] = {
	{ "services", SERVICES_MAX, "`check` names the line." },
	{ "ports of a service", CONFIG_PORTS, "`check` names the line." },
	{ "addresses of a service", CONFIG_ADDRESSES, "`check` names the line." },
	{ "pairs of port and address, of all services", SERVICES_MAX,
	  "`check` names the line." },
	{ "interfaces", CONFIG_INTERFACES, "`check` names the line." },
	{ "networks in `allow`, `deny` or `addresses` of the configuration", CONFIG_LIST,
	  "`check` names the line." },
	{ "followed players", SAMPLES_PLAYERS,
	  "One that was silent for 10 seconds is replaced; if there is none, a further player has no figures." },
	{ "kinds of decoded records per service", DECODED_KINDS,
	  "The record is counted as unlisted." },
	{ "HTTP connections to the daemon", HTTP_CONNECTIONS,
	  "The connection that has been idle longest is closed." },
	{ "attacks that are kept", INCIDENT_KEPT, "The oldest are forgotten." },
};

static void limits_size(FILE *out, size_t bytes)
{
	if (bytes >= 1 << 20)
		fprintf(out, "%.1f MiB", (double)bytes / (1 << 20));
	else
		fprintf(out, "%.1f KiB", (double)bytes / 1024);
}

/* Memory of as many services as there is room for, by processors. */
static void limits_counters(FILE *out)
{
	static const unsigned int processors[] = { 2, 16, 64, 128 };
	const size_t each = COUNTER_ROWS * sizeof(struct counter_row) +
			    CLASS_COUNT * sizeof(struct refused);

	fputs("\n## Tables by service and processor\n\n"
	      "The counters of a service and the sample of the sources that it refuses take ",
	      out);
	limits_size(out, each);
	fputs(" on each possible\n"
	      "processor (`/sys/devices/system/cpu/possible`), and the sums of all processors ",
	      out);
	limits_size(out, COUNTER_ROWS * sizeof(struct counter_sums));
	fputs(" more.\n"
	      "Counters never become full, and wrap after 2^64. A new sample replaces the oldest. The number\n"
	      "of services that there is room for is fixed when the tables are made: half as many again as the\n"
	      "configuration names, rounded up to a power of two, from 32 to 256.\n\n| room for services |",
	      out);
	for (size_t i = 0; i < sizeof(processors) / sizeof(*processors); i++)
		fprintf(out, " %u processors |", processors[i]);
	fputs("\n| --- | --- | --- | --- | --- |\n", out);
	for (size_t services = 32; services <= SERVICES_MAX; services *= 2) {
		fprintf(out, "| %zu |", services);
		for (size_t i = 0; i < sizeof(processors) / sizeof(*processors); i++) {
			fputc(' ', out);
			limits_size(out, services * processors[i] * each);
			fputs(" |", out);
		}
		fputc('\n', out);
	}
}

static void limits_page(FILE *out)
{
	size_t sum = SAMPLES_BYTES;

	fputs("Kernel memory does not grow with traffic. The lists alone are allocated entry by entry.\n\n"
	      "## Tables in the kernel\n\n| table | entries | memory | when full |\n"
	      "| --- | --- | --- | --- |\n",
	      out);
	for (size_t i = 0; i < sizeof(limits_rows) / sizeof(*limits_rows); i++) {
		const struct limits_row *row = &limits_rows[i];

		fprintf(out, "| %s | ", row->table);
		if (row->entries)
			fprintf(out, "%zu", row->entries);
		fputs(" | ", out);
		if (row->bytes)
			limits_size(out, row->bytes);
		else
			fprintf(out, "%zu bytes per entry",
				sizeof(struct cidr) + sizeof(struct list_entry));
		fprintf(out, " | %s |\n", row->full);
	}
#define ADD(name, type, key, value, entries)                                         \
	sum += BPF_MAP_TYPE_##type == BPF_MAP_TYPE_ARRAY ? sizeof(value) * (entries) \
	       : BPF_MAP_TYPE_##type == BPF_MAP_TYPE_HASH                            \
		       ? LIMITS_HASH(key, value, entries)                            \
		       : 0;
	SHIELD_MAPS(ADD)
#undef ADD
	fputs("\nAll tables of fixed size, with those that never become full: ", out);
	limits_size(out, sum);
	fputs(", and ", out);
	limits_size(out, sizeof(struct recent));
	fputs(" for each\npossible processor. That number of processors is rounded up to a power of two, and 64 at most.\n",
	      out);
	limits_counters(out);
	fputs("\n## Other limits\n\n| what | at most | when full |\n| --- | --- | --- |\n",
	      out);
	for (size_t i = 0; i < sizeof(limits_counts) / sizeof(*limits_counts); i++)
		fprintf(out, "| %s | %zu | %s |\n", limits_counts[i].what,
			limits_counts[i].most, limits_counts[i].full);
}

#endif /* REFERENCE_LIMITS_H */
