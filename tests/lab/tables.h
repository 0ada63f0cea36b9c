/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tables.h - the table of tables in docs/ARCHITECTURE.md: each map of bpf/maps.bpf.h and
 * each member of struct live. Sizes are those that the programs are built with.
 * tests/test_docs.sh demands a row for each map and member, and
 * tests/kern/kern_touched.c that refused datagrams write to what the rows say.
 */
#ifndef TABLES_H
#define TABLES_H

#include <stddef.h>

#include "challenge.h"
#include "counters.h"
#include "userinfo.h"

struct tables_row {
	const char *name; /* of a map, or of members of struct live; NULL: the last row */
	const char *key;
	size_t entry; /* bytes; 0: as the map of this name has it */
	size_t entries;
	const char *each; /* of what there are so many entries; NULL: of the shield */
	size_t offset; /* in struct live; 0: it is no single member */
	const char *writer;
	const char *full;
	const char *refused; /* what a refused datagram does with it */
};

/* Bytes of a member of struct live. */
#define TABLES_OF(member) sizeof(((struct live *)0)->member)
/* A member that is an array, and any other. */
#define LIVE_ARRAY(member)                                                    \
	"live." #member, .entry = TABLES_OF(member[0]),                       \
			 .entries = TABLES_OF(member) / TABLES_OF(member[0]), \
			 .offset = offsetof(struct live, member)
#define LIVE_ONE(member)                                           \
	"live." #member, .entry = TABLES_OF(member), .entries = 1, \
			 .offset = offsetof(struct live, member)

static const struct tables_row tables_by_end[] = {
	{ LIVE_ARRAY(source_due_ns), .key = "hash of source, service and class",
	  .writer = "what passes; cached responses; egress, for a master server",
	  .full = "cannot be: two sources share a limit",
	  .refused = "read, unless the service's limit is exceeded" },
	{ "prefixes", .key = "hash of prefix or network, service and class",
	  .writer = "what passes", .full = "cannot be: two prefixes share a limit",
	  .refused = "read, unless the service's or the source's limit is exceeded" },
	{ LIVE_ARRAY(players.cells), .key = "address, port, service",
	  .writer = "egress enters; the player's datagrams; the daemon removes",
	  .full = "a player that left makes room, else no entry; a service has an eighth",
	  .refused = "read, after a hit in the tags: game traffic" },
	{ LIVE_ARRAY(players.tags), .key = "bucket of eight of these cells",
	  .writer = "as the cells", .full = "as the cells",
	  .refused = "read: game traffic" },
	{ LIVE_ARRAY(player_addresses), .key = "hash of address, service and use",
	  .writer = "egress", .full = "no entry: as if no player were there",
	  .refused = "read, if `acl_prefilter` names a list" },
	{ LIVE_ARRAY(connlimit), .key = "hash of source or prefix, and service",
	  .writer = "egress", .full = "cannot be: two sources share a count",
	  .refused = "-" },
	{ "qports", .key = "address, qport, service",
	  .writer =
		  "a player's datagram that tells its qport; egress; the daemon removes",
	  .full = "a player whose port changes has to connect again",
	  .refused = "read, if `moved` has a count: game traffic" },
	{ LIVE_ARRAY(moved), .key = "hash of address, qport and service",
	  .writer = "as `qports`", .full = "cannot be: two players share a count",
	  .refused = "read: game traffic" },
	{ LIVE_ARRAY(connects), .key = "hash of address, port and service",
	  .writer = "a `connect` that passes; egress", .full = "the newer note stays",
	  .refused = "-" },
	{ LIVE_ARRAY(validation.validated.cells), .key = "address, port, service",
	  .writer = "a right cookie, and each use; egress, for the server's challenge",
	  .full = "the one unused for longest makes room, those without a cookie first",
	  .refused = "read, after a hit in the tags: requests to join" },
	{ LIVE_ARRAY(validation.validated.tags), .key = "bucket of four of these cells",
	  .writer = "as the cells", .full = "as the cells",
	  .refused = "read: `connect`, `CCREQ_CONNECT`, other steps of joining" },
	{ LIVE_ARRAY(cache.reputation.cells), .key = "source, or prefix of a known one",
	  .writer = "a query while not under load; a right cookie; the daemon",
	  .full = "known and validated ones stay, a new one gets no entry",
	  .refused = "read, after a hit in the tags: a query" },
	{ LIVE_ARRAY(cache.reputation.tags), .key = "bucket of four of these cells",
	  .writer = "as the cells", .full = "as the cells", .refused = "read: a query" },
	{ "recent.lines", .key = "hash of source", .entry = sizeof(struct recent_line),
	  .entries = 1 << RECENT_BITS, .each = "per processor",
	  .writer = "a query over its limit, in the mark window",
	  .full = "two sources that share bits count as one",
	  .refused = "write: a query in the mark window" },
	{ "recent.greylist", .key = "hash of address, port, service and request",
	  .entry = sizeof(__u32), .entries = GREYLIST_CELLS, .each = "per processor",
	  .writer = "a request to join that must come twice",
	  .full = "a new request is not remembered",
	  .refused =
		  "write: `CCREQ_CONNECT`, ClientHello; `getchallenge` where there are host keys" },
	{ "amplification", .key = "hash of prefix; apart: allowed source, NetQuake level",
	  .writer = "what passes; egress; challenges and cached responses",
	  .full = "nothing is sent to a fifth prefix of a line of four in debt",
	  .refused = "-" },
	{ "fragments", .key = "hash of both addresses and IP id", .writer = "egress",
	  .full = "the newer note stays", .refused = "-" },
	{ "allow", .key = "network", .writer = "the daemon, commands",
	  .full = "the command fails",
	  .refused = "read, if `acl_prefilter` names a list" },
	{ "deny", .key = "network", .writer = "the daemon, commands",
	  .full = "the command fails",
	  .refused = "read, if `acl_prefilter` names a list" },
	{ "follow", .key = "network", .writer = "the daemon",
	  .full = "the configuration is refused", .refused = "-" },
	{ LIVE_ARRAY(acl_prefilter), .key = "IPv4 /16, or second half of an IPv6 /32",
	  .writer = "the daemon; egress, for a master server", .full = "cannot be",
	  .refused = "read, if a list has an entry" },
	{ NULL },
};

static const struct tables_row tables_by_service[] = {
	{ "live.tables.ports", .entry = sizeof(struct port), .entries = 2 * PORTS,
	  .key = "port, in each of two generations",
	  .writer = "the daemon; egress, for game ports", .full = "cannot be",
	  .refused = "read" },
	{ "live.tables.services", .entry = sizeof(struct service),
	  .entries = 2 * SERVICES_MAX, .key = "service, in each of two generations",
	  .writer = "the daemon", .full = "the configuration is refused",
	  .refused = "read" },
	{ "live.tables.generation, live.tables.observe", .entry = 2 * sizeof(__u32),
	  .entries = 2, .key = "-", .writer = "the daemon", .full = "cannot be",
	  .refused = "read" },
	{ LIVE_ARRAY(players.count), .key = "service", .writer = "egress; the daemon",
	  .full = "cannot be", .refused = "-" },
	{ "endpoints", .key = "address, port, generation", .writer = "the daemon",
	  .full = "cannot be", .refused = "read, if the service has an `address`" },
	{ LIVE_ARRAY(service_due_ns), .key = "service, class", .writer = "what passes",
	  .full = "cannot be", .refused = "read" },
	{ LIVE_ARRAY(validation.service_due_ns), .key = "service, class",
	  .writer = "what passes of validated clients", .full = "cannot be",
	  .refused = "-" },
	{ LIVE_ARRAY(validation.until_ns), .key = "service",
	  .writer = "a request to join over the service's limit", .full = "cannot be",
	  .refused = "write, once in 0.6 s: requests to join" },
	{ LIVE_ARRAY(cache.until_ns), .key = "service",
	  .writer = "a query over the service's limit", .full = "cannot be",
	  .refused = "write, once in 0.6 s: queries" },
	{ LIVE_ARRAY(validation.share), .key = "service, use", .writer = "the daemon",
	  .full = "cannot be", .refused = "read" },
	{ LIVE_ARRAY(validation.keys), .key = "service", .writer = "egress",
	  .full = "longer keys: no challenge is sent",
	  .refused = "read: `getchallenge`" },
	{ LIVE_ARRAY(cache.entries), .key = "service, query", .writer = "the daemon",
	  .full = "cannot be", .refused = "-" },
	{ LIVE_ARRAY(cache.windows), .key = "service", .writer = "the daemon",
	  .full = "cannot be", .refused = "read: a query" },
	{ LIVE_ARRAY(cache.marked), .key = "table of `recent`, service",
	  .writer = "a query that is marked", .full = "wraps around",
	  .refused = "write, its own row: a query that is marked" },
	{ LIVE_ONE(cache.cap), .key = "none, and service",
	  .writer = "cached responses; the daemon", .full = "cannot be", .refused = "-" },
	{ LIVE_ARRAY(detected), .key = "service", .writer = "egress", .full = "cannot be",
	  .refused = "-" },
	{ LIVE_ARRAY(owners), .key = "service", .writer = "the daemon",
	  .full = "cannot be", .refused = "-" },
	{ LIVE_ARRAY(masters_due_ns), .key = "service", .writer = "egress",
	  .full = "cannot be", .refused = "-" },
	{ LIVE_ARRAY(unjudged), .key = "service", .writer = "the daemon",
	  .full = "cannot be", .refused = "-" },
	{ LIVE_ARRAY(counted), .key = "service",
	  .writer = "whatever counts, once per second, row and processor",
	  .full = "cannot be", .refused = "write, once per second, row and processor" },
	{ "counters", .key = "service, row", .entries = COUNTER_ROWS,
	  .each = "per service and processor", .writer = "each datagram",
	  .full = "at 17 GB a counter moves to `spilled`", .refused = "write" },
	{ "spilled", .key = "service, row", .entries = COUNTER_ROWS,
	  .each = "per service", .writer = "a full counter", .full = "wraps after 2^64",
	  .refused = "write, once in 17 GB" },
	{ "refused", .key = "service, class", .entries = CLASS_COUNT,
	  .each = "per service and processor",
	  .writer = "one refused or challenged datagram in 16",
	  .full = "the oldest source is replaced", .refused = "write, one in 16" },
	{ NULL },
};

static const struct tables_row tables_other[] = {
	{ "live.generation, live.lists, live.tick_ns, live.clock_ns, live.counters_turn",
	  .key = "-", .writer = "the daemon; `lists`: egress too", .full = "cannot be",
	  .refused = "read", .entry = 2 * sizeof(__u64) + 3 * sizeof(__u32),
	  .entries = 1 },
	{ LIVE_ARRAY(keys), .key = "-", .writer = "the daemon, once", .full = "cannot be",
	  .refused = "read" },
	{ LIVE_ONE(sampling), .key = "-", .writer = "the daemon", .full = "cannot be",
	  .refused = "read" },
	{ LIVE_ONE(validation.secret), .key = "-", .writer = "the daemon",
	  .full = "cannot be", .refused = "read: a returned cookie" },
	{ "live.followed, live.veths, live.fallback", .key = "-",
	  .writer = "the daemon; `followed`: egress too", .full = "cannot be",
	  .refused = "-", .entry = 3 * sizeof(__u32), .entries = 1 },
	{ "live.acl_end_ns, live.connect_due_ns, live.validation.period", .key = "-",
	  .writer = "the daemon; `connect_due_ns`: a `connect` that passes",
	  .full = "cannot be", .refused = "-", .entry = 3 * sizeof(__u64), .entries = 1 },
	{ LIVE_ONE(amplification), .key = "-", .writer = "the daemon",
	  .full = "cannot be", .refused = "-" },
	{ LIVE_ARRAY(validation.rate), .key = "use", .writer = "the daemon",
	  .full = "cannot be", .refused = "-" },
	{ LIVE_ONE(local), .key = "Ethernet address of this host", .writer = "the daemon",
	  .full = "all frames count as for this host", .refused = "-" },
	{ LIVE_ARRAY(unrun), .key = "interface", .writer = "the daemon",
	  .full = "the configuration is refused", .refused = "-" },
	{ "others", .key = "why a frame is no datagram to a service",
	  .each = "per processor", .entries = OTHER_COUNT, .writer = "such a frame",
	  .full = "wraps after 2^64", .refused = "-" },
	{ "samples", .key = "-", .entry = SAMPLES_BYTES, .entries = 1,
	  .writer = "a sampled frame", .full = "the sample is lost, and counted",
	  .refused = "write, if it is sampled" },
	{ "sampled", .key = "sampler", .each = "per processor", .entries = SAMPLER_COUNT,
	  .writer = "a sampled frame", .full = "wraps after 2^64",
	  .refused = "write, if it is sampled" },
	{ "sample_dues", .key = "sampler", .writer = "a sampled frame",
	  .full = "cannot be", .refused = "write, if it is sampled" },
	{ "scratch", .key = "-", .entry = sizeof(struct sample) + SAMPLE_FOLLOW_BYTES,
	  .entries = 1, .each = "per processor", .writer = "a sampled frame",
	  .full = "cannot be", .refused = "write, if it is sampled" },
	{ "texts", .key = "-", .entry = sizeof(struct challenge_text), .entries = 1,
	  .each = "per processor",
	  .writer = "what may carry a cookie, or be served from the cache",
	  .full = "cannot be",
	  .refused = "write: `connect` but Quake III's, key exchange" },
	{ "userinfos", .key = "-", .entry = sizeof(struct userinfo), .entries = 1,
	  .each = "per processor", .writer = "a `connect` that passes",
	  .full = "cannot be", .refused = "-" },
	{ "tail_ctx", .key = "-", .entry = 2 * sizeof(__u64), .entries = 1,
	  .each = "per processor", .writer = "a tail call", .full = "cannot be",
	  .refused = "write, if it makes one" },
	{ "tail_calls", .key = "program", .writer = "the daemon", .full = "cannot be",
	  .refused = "read, if it makes a tail call" },
	{ NULL },
};

#endif /* TABLES_H */
