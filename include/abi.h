/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * abi.h - the structures that the BPF programs and the daemon share: settings, tables and
 * samples.
 *
 * Fixed-width members, explicit padding, sizes asserted. Host byte order, unless a member
 * is __be16 or __be32. IPv4 addresses are in ::ffff:0:0/96. Times are ns of the shield's
 * clock, unless a unit is named; "2^30 ns" is 1.07 s.
 *
 * Included by every program, and by user/. A member of a table that survives an upgrade
 * must keep its name or get another if its meaning changes: the migration of old tables
 * finds members by name. The name of the tables tells sizes, and names of kinds and
 * reasons, alone: if members change places, or a value in a table its meaning, raise
 * ABI_VERSION (user/shield/shield_abi.c), or the programs read old tables as new ones.
 */
#ifndef ABI_H
#define ABI_H

#include <linux/types.h>

#include "cached_response.h"
#include "connlimit.h"
#include "detect.h"
#include "limit.h"
#include "player.h"
#include "recent.h"
#include "refused.h"
#include "reputation.h"
#include "service.h"
#include "validated.h"
#include "wire.h"

#define PORTS	    65536
#define SOURCE_BITS 20 /* log2 of cells of 8 bytes for limits of sources: 8 MiB */
#define PREFIX_BITS 18 /* the same for prefixes and networks: 2 MiB */
#define LIST_MAX \
	65536 /* entries of the allow list, the deny list and the follow list, each */
#define AMPLIFICATION_BITS 15 /* log2 of lines of 32 bytes: 1 MiB */
#define AMPLIFICATION_WAYS 4
#define AMPLIFICATION_TAG_BITS \
	16 /* low bits of a cell that tell its prefix; the time is above them */
#define FRAGMENT_BITS 16
#define MOVED_BITS    14
_Static_assert(PLAYER_SLOTS == SERVICES_MAX, "each service has a share of players");
_Static_assert(!(SERVICES_MAX & (SERVICES_MAX - 1)), "the programs mask a slot");
_Static_assert(SERVICES_MAX <= 256, "REPUTATION_VALIDATED_AT() has 8 bits for a slot");

/*
 * Why a datagram was passed, dropped or answered. The verdict follows from the reason.
 * The last two columns: for which kinds the reason is possible when a datagram comes to a
 * server, and when it leaves one, as one of COUNTER_SETS. No counters exist for others,
 * see counters.h; for reasons of the fast path see enum counter_number too.
 * reason_cached() and fast_path_tail_call() take all from CACHED_PLAYER on for reasons to
 * serve from the cache. A new row, another order, name or set makes new tables
 * (shield_abi()). A new reason for an exceeded limit belongs in allowed_may_exceed() too,
 * in limit_names() of explain_causes.c, and in `due` of shield_shares.c.
 *	  reason		name			verdict	received  sent
 */
/* clang-format off */
#define ABI_REASONS(X)							\
	X(WITHIN_LIMITS,	"within-limits",	PASS,		ALL,	ALL)	\
	X(ALLOW_LIST,		"allow-list",		PASS,		ALL,	NONE)	\
	X(PLAYER,		"player",		PASS,		SHAPES,	GAMES)	\
	X(POLICY,		"policy",		PASS,		USELESS,	NONE)	\
	X(EXEMPT,		"exempt",		PASS,		NONE,	ALL)	\
	X(OTHER_SOCKET,		"other-socket",		PASS,		NONE,	ALL)	\
	X(DENY_LIST,		"deny-list",		DROP,		ALL,	NONE)	\
	X(SOURCE_LIMIT,		"source-limit",		DROP,		ALL,	NONE)	\
	X(PREFIX_LIMIT,		"prefix-limit",		DROP,		ALL,	NONE)	\
	X(SERVICE_LIMIT,	"service-limit",	DROP,		ALL,	NONE)	\
	X(CONTENDED,		"contended",		DROP,		ALL,	NONE)	\
	X(MALFORMED,		"malformed",		DROP,		STRAYS,	NONE)	\
	X(FRAGMENT,		"fragment",		DROP,		STRAYS,	NONE)	\
	X(REPLY_TO_SERVER,	"reply-to-server",	DROP,		REPLIES,	NONE)	\
	X(AMPLIFICATION,	"amplification",	DROP,		QUERIES,	ALL)	\
	X(PLAYER_LIMIT,		"player-limit",		DROP,		GAMES,	NONE)	\
	X(PLAYER_MISMATCH,	"player-mismatch",	DROP,		SHAPES,	NONE)	\
	X(ADDRESS_IN_USE,	"address-in-use",	DROP,		CODED,	NONE)	\
	X(PLAYER_SLOTS,		"player-slots",		DROP,		JOINS,	NONE)	\
	/* address validation: docs/ARCHITECTURE.md */			\
	X(VALIDATED,		"validated",		PASS,		REQUESTS,	STEPS)	\
	X(CHALLENGED,		"challenged",		RESPOND,	REQUESTS,	REPLIES)	\
	X(INVALID_COOKIE,	"invalid-cookie",	DROP,		STRAYS,	NONE)	\
	X(GREYLISTED,		"greylisted",		DROP,		JOINS,	NONE)	\
	/* served from the cache, by the reason; and what is sent for it */	\
	X(CACHED_PLAYER,	"cached-player",	RESPOND,	QUERIES,	NONE)	\
	X(CACHED_ALLOW_LIST,	"cached-allow-list",	RESPOND,	QUERIES,	NONE)	\
	X(CACHED_VALIDATED,	"cached-validated",	RESPOND,	QUERIES,	NONE)	\
	X(CACHED_KNOWN,		"cached-known",		RESPOND,	QUERIES,	NONE)	\
	X(CACHED_PREFIX,	"cached-prefix",	RESPOND,	QUERIES,	NONE)	\
	X(CACHED_RECURRING,	"cached-recurring",	RESPOND,	QUERIES,	NONE)	\
	X(CACHED_IN_LIMITS,	"cached-in-limits",	RESPOND,	QUERIES,	NONE)	\
	X(CACHED_RESPONSE,	"cached-response",	RESPOND,	NONE,	RESPONSES)

/*
 * Frames that are no datagram to a service: passed, except the last.
 *	  other			name			verdict
 */
#define ABI_OTHERS(X)							\
	X(NOT_IP,		"not-ip",		PASS)		\
	X(NOT_UDP,		"not-udp",		PASS)		\
	X(NO_SERVICE,		"no-service",		PASS)		\
	X(LATER_FRAGMENT,	"later-fragment",	PASS)		\
	X(UNPARSED,		"unparsed",		PASS)		\
	X(TOO_MANY_HEADERS,	"too-many-headers",	DROP)
/* clang-format on */

enum verdict {
	VERDICT_PASS,
	VERDICT_DROP,
	VERDICT_RESPOND,
	VERDICT_COUNT,
};

enum reason {
#define AS_REASON(reason, name, verdict, received, sent) REASON_##reason,
	ABI_REASONS(AS_REASON)
#undef AS_REASON
	REASON_COUNT,
};

enum other {
#define AS_OTHER(other, name, verdict) OTHER_##other,
	ABI_OTHERS(AS_OTHER)
#undef AS_OTHER
	OTHER_COUNT,
};

/*
 * Return the verdict that follows from @reason; REASON_COUNT is dropped. Called by
 * programs and userland. The verdict of a reason is a column of ABI_REASONS. A service
 * that observes passes the datagram in spite of a drop: the caller asks its `observe`.
 */
static inline enum verdict reason_verdict(enum reason reason)
{
	switch (reason) {
#define AS_VERDICT(reason_, name, verdict, received, sent) \
	case REASON_##reason_:                             \
		return VERDICT_##verdict;
		ABI_REASONS(AS_VERDICT)
#undef AS_VERDICT
	default:
		return VERDICT_DROP;
	}
}

#define PORT_EXACT   1 /* the service depends on the address: look in the map endpoints */
#define PORT_LEARNED 2 /* a NetQuake game port that is in use, game_port.bpf.h */
#define LEARNED_PORT_S \
	60 /* units of 2^30 ns without a datagram, then a game port is forgotten */
#define PORT_NAMED 4 /* the same, named by CCREP_ACCEPT and not in use yet */

/*
 * The service that listens on a port. Written by the daemon, and by egress for learned
 * ports.
 */
struct port {
	__u16 any; /* slot + 1 of the service at every address; 0: none */
	__u16 flags; /* PORT_* */
	/* Units of 2^30 ns. Named: when that was; learned: when the server last sent from
	 * it. */
	__u32 seen_s;
};
_Static_assert(sizeof(struct port) == 8, "struct port has a hole");

/* Key of the map endpoints: an address and port of a service. */
struct endpoint {
	__be32 addr[4];
	__u16 port;
	__u16 generation; /* 0 or 1: bit 0 of struct tables.generation */
};
_Static_assert(sizeof(struct endpoint) == 20, "a map key has no holes");

/* Key of the lists: a network, longest prefix first. */
struct cidr {
	__u32 length; /* prefix length, 0..128 */
	__be32 addr[4];
};
_Static_assert(sizeof(struct cidr) == 20, "an LPM key has no holes");

#define LIST_RUNTIME \
	1 /* entered by `quakeshield allow add` or `deny add`; survives a reload */
#define LIST_CONFIG 2 /* by the configuration: replaced at a reload */
/* The same entries with `unlimited`. */
#define LIST_RUNTIME_UNLIMITED 4
#define LIST_CONFIG_UNLIMITED  8
#define LIST_UNLIMITED	       (LIST_RUNTIME_UNLIMITED | LIST_CONFIG_UNLIMITED)

#define LIST_RUNTIME_ALL       (LIST_RUNTIME | LIST_RUNTIME_UNLIMITED)
#define LIST_COMMENT	       44 /* bytes of a comment, with its NUL */

/* An entry of the allow, deny or follow list. Written by the daemon and by commands. */
struct list_entry {
	__u8 origins; /* mask of LIST_* */
	__u8 length; /* prefix length of the key: tells an exact match from a longer
			prefix */
	__u16 pad;
	char comment[LIST_COMMENT]; /* of the runtime entry; printable */
	/*
	 * When the runtime entry ends; 0: never. From then on the programs ignore it, and
	 * the daemon removes it.
	 */
	__u64 until_ns;
};

/*
 * Entries that have ended, of one address and each within the next, that are passed over
 * to find a shorter one. The daemon removes an ended entry within seconds.
 */
#define ACL_ENDED 3

/*
 * Return the origins of @e that are in force at @now_ns. Called by acl_origins() and in
 * userland, which must agree on when an entry ends: the daemon removes it later.
 */
static inline __u32 list_origins(const struct list_entry *e, __u64 now_ns)
{
	return e->until_ns && now_ns >= e->until_ns ? e->origins & ~LIST_RUNTIME_ALL
						    : e->origins;
}

enum sampler {
	SAMPLER_STATISTIC, /* one in N of each kind and reason, the first bytes of the
			      frame */
	SAMPLER_FOLLOW, /* all frames of a followed player, from the handshake on */
	SAMPLER_COUNT,
};

#define SAMPLE_STATISTIC_BYTES 256 /* of the frame */
#define SAMPLE_FOLLOW_BYTES    2048
#define SAMPLES_BYTES	       (4 << 20) /* of the ring buffer */

/*
 * A record of the ring buffer: this, then @kept bytes of the Ethernet frame. Written by
 * the programs, read by the daemon.
 */
struct sample {
	__u64 ktime_ns; /* CLOCK_MONOTONIC */
	__u32 length; /* of the frame */
	__u32 kept;
	__u16 slot; /* of the service */
	__u16 kind; /* enum wire_kind */
	__u8 reason; /* enum reason */
	__u8 direction; /* enum direction */
	__u8 sampler; /* enum sampler */
	__u8 pad;
};
_Static_assert(sizeof(struct sample) == 24, "struct sample has a hole");

/* Counts of the samples of one sampler, on one CPU. */
struct sampled {
	__u64 taken;
	__u64 limited; /* over the sampler's rate */
	__u64 lost; /* the ring buffer was full */
};

#define AMPLIFICATION_STRICT_NS                                                         \
	(1ull << 59) /* strict mode: the time that debts are compared with stands still \
		      */
#define AMPLIFICATION_GRAIN_NS \
	4096ull /* unit of the time in a cell, ns: 48 bits are 36 years */

/*
 * The cells of the prefixes with one hash, 0: free. A cell is a tag, and above it the
 * time at which its prefix is out of debt: amplification.bpf.h.
 */
struct amplification_line {
	__u64 cells[AMPLIFICATION_WAYS];
};

/*
 * Bits of keys that are not of a prefix: an allowed address, and blocks of NetQuake
 * levels.
 */
#define AMPLIFICATION_ALLOWED (1ull << 57)
#define AMPLIFICATION_SIGN_ON (1ull << 58)

/*
 * Return the key of the /24 or /56 of @net, an address_net(). Bit 56 marks IPv6; the 56
 * bits of a prefix do not reach it. @ipv6: 0 or 1. Called by amplification_prefix(),
 * pkt_prefix() and egress_charge(), and by cell_amplification() in userland. The lines
 * are pinned: if a key changes, raise ABI_VERSION.
 */
static __always_inline __u64 amplification_key(__u64 net, __u32 ipv6)
{
	return net >> 8 | (__u64)ipv6 << 56;
}

/*
 * Return the key of the account of an allowed source at @net, an address_net(): its IPv4
 * address or /56. Called by amplification_charge_allowed() and cell_amplification().
 */
static __always_inline __u64 amplification_key_allowed(__u64 net, __u32 ipv6)
{
	return (ipv6 ? amplification_key(net, 1) : net) | AMPLIFICATION_ALLOWED;
}

/*
 * The settings of the anti-amplification limit, written by the daemon: GCRA in bytes, so
 * that bytes out <= bytes in + allowance * (1 + time / window). Strict mode: bytes out <=
 * bytes in.
 */
struct amplification_limit {
	__u64 byte_ns; /* ns that one byte costs: window / allowance; strict:
			  AMPLIFICATION_GRAIN_NS; 0: the limit is off */
	__u64 window_ns; /* how far ahead of now a prefix may be, ns */
	__u64 credit_ns; /* how much unused credit of a prefix is kept, ns */
	__u64 strict; /* 1: strict mode: time gives no credit, window_ns is 0 */
};

/* Which frames the samplers copy, written by the daemon. All zero: none, at no cost. */
struct sampling {
	__u32 every; /* the statistic sampler takes one in so many of each kind and reason
			on each CPU; a power of two; 0: none */
	__u32 follow_first; /* follow new players while fewer than this many are followed
			     */
	__u32 follow_every; /* and one in so many new players; a power of two; 0: none */
	__u32 follow_listed; /* 1: and players at addresses on the follow list */
	__u32 any; /* 0: nothing is sampled; must be set with any of the above */
	__u32 phase; /* of refused_turn(), also if nothing is sampled: below
			REFUSED_EVERY; the daemon draws another each second */
	struct limit limit[SAMPLER_COUNT];
};

/* --- connects -------------------------------------------------------------------- */

#define CONNECT_BITS \
	12 /* log2 of notes about connects that the server has not accepted: 32 KiB */

/* --- address validation --------------------------------------------------------- */

/* The request that a challenge answers. Each use has a share of its own. */
enum challenge_use {
	CHALLENGE_JOIN,
	CHALLENGE_QUERY,
	CHALLENGE_USES,
};

/*
 * What a DarkPlaces server adds to each challenge: a client that has stored the server's
 * key ends its attempt to join when a challenge lacks that. It is the same for all
 * clients. Written by egress, at most once in KEYS_NS, from the server's own challenge.
 */
#define KEYS_TEXT 256 /* bytes; those of five keys are 238 */
#define KEYS_AT	  26 /* where it begins: after 11 characters and NUL */
#define KEYS_NS	  1000000000ull
#define KEYS_SEVERAL_NS \
	(3600 * 1000000000ull) /* no challenge for so long after two servers differed */

enum host_keys_state {
	KEYS_UNKNOWN, /* the server's challenge was not seen yet: no challenge can be sent
			 in its name */
	KEYS_NONE,
	KEYS_KNOWN,
	KEYS_LONG, /* longer than KEYS_TEXT: none can be sent */
	KEYS_SEVERAL, /* servers of the service have different ones: none can be sent */
};

struct host_keys {
	__u64 heard_ns; /* when a challenge was last read; 0: never */
	__u64 moved_ns; /* when the challenge came from another server than before; 0:
			   never */
	__u64 differed_ns; /* when challenges of two servers differed; 0: never */
	__u32 place; /* hash of the server that sent the last one */
	__u32 state; /* enum host_keys_state */
	__u32 last; /* what the last one added: its enum host_keys_state << 16 | length */
	__u16 length; /* bytes of text, if KEYS_KNOWN: 1 to KEYS_TEXT */
	__u16 sum; /* sum of text, as in struct cache_entry */
	__u8 text[KEYS_TEXT]; /* zeros after it */
};

struct validation_state {
	/* Challenges that one processor sends per second, of all services together; and
	 * the share of a service, by slot: the rate, divided by the daemon once per
	 * second among the services that are flooded. What is left of a share stands in
	 * struct counter_row. */
	struct limit rate[CHALLENGE_USES];
	struct limit share[SERVICES_MAX][CHALLENGE_USES];
	__u64 until_ns[SERVICES_MAX]; /* validation is required until then; 0: never was;
					 written by packets */
	/*
	 * State of the services' limits for validated clients, like struct
	 * live.service_due_ns
	 */
	__u64 service_due_ns[SERVICES_MAX << CLASS_BITS];
	struct cookie_secret secret;
	__u64 period; /* number of the key period in which the daemon last replaced a key
		       */
	struct validated_table validated;
	struct host_keys keys[SERVICES_MAX];
};

/* --- response cache --------------------------------------------------------------- */

/*
 * Rate of cached responses to sources without a reputation, in bytes of whole frames;
 * besides the amplification limit.
 */
struct cache_cap {
	__u64 byte_ns; /* 0: no limit */
	__u64 burst_ns;
	__u64 due_ns; /* state (limit.h), as kept_due_ns; written by cache_charge() */
	/* What is kept for each service, once the rest is used up: divided by the daemon
	 * once per second among the services under load and those that always respond
	 * from the cache. 0: nothing is kept. */
	__u64 kept_byte_ns;
	__u64 kept_burst_ns;
	__u64 kept_due_ns[SERVICES_MAX];
};
#define CACHE_KEPT 8 /* one of so many parts of the rate is kept so */

struct cache_state {
	__u64 until_ns[SERVICES_MAX]; /* the service is under load by queries until then;
					 written by packets */
	struct cache_cap cap;
	struct reputation_table reputation;
	/*
	 * The service in slot N has those from N * CACHE_FORMS on; written by the daemon.
	 */
	struct cache_pair entries[SERVICES_MAX * CACHE_FORMS];
	/* Mark windows by slot, written by the daemon: recent.h. */
	struct recent_window windows[SERVICES_MAX];
	/*
	 * How many sources were marked, by table of recent askers and slot; written by
	 * packets.
	 */
	__u32 marked[RECENT_TABLES][SERVICES_MAX];
};

/* Programs that shield() tail-calls. */
enum tail_call {
	TAIL_CALL_VALIDATE, /* shield_validate(): datagrams that take part in address
			       validation */
	TAIL_CALL_CACHE, /* shield_cache(): queries that may be served from the cache */
	TAIL_CALLS,
};

/* --- datagrams that no program has seen ------------------------------------------ */

#define UNJUDGED_AGE_S 120 /* units of 2^30 ns after which it no longer counts */

/*
 * By which interface datagrams for a service come in that no program of the shield has
 * seen. Written by the daemon, for other commands to read.
 */
struct unjudged {
	__u32 ifindex; /* interface; 0: none */
	__u32 seen_s; /* when last, units of 2^30 ns */
	__u32 all; /* 1: and none came in lately by an interface with the shield */
};

#define UNRUN_MAX 16 /* interfaces: CONFIG_INTERFACES */

/*
 * An interface that carries our program, and delivers frames without running it. Written
 * by the daemon, for other commands to read.
 */
struct unrun {
	__u32 ifindex; /* interface; 0: none */
	__u32 since_s; /* when that was seen first, seconds since 1970 */
};

/* --- frames for this host ----------------------------------------------------------- */

#define LOCAL_MACS 128

/*
 * The Ethernet addresses that lead to this host: of an interface, of what is stacked on
 * it, and of containers and virtual machines next to it on a bridge. Written by the
 * daemon. If there are more than LOCAL_MACS, none is kept, and all frames count as for
 * this host.
 */
struct local_macs {
	__u32 count; /* 0: not known: all frames count as for this host */
	__u32 pad;
	__u64 macs[LOCAL_MACS]; /* the first byte is the lowest */
};

/* --- live -------------------------------------------------------------------- */

/*
 * One generation of the tables: which service listens where. Written by the daemon while
 * packets use the other; egress alone writes learned ports in the current one.
 */
struct tables {
	__u32 generation; /* bit 0: which of the two these are, as in struct endpoint */
	__u32 observe; /* 1: all services observe, so nothing is dropped */
	struct port ports[PORTS];
	struct service services[SERVICES_MAX];
};

#define LISTS_ALLOW	    1
#define LISTS_DENY	    2
#define LISTS_MASTER	    4 /* a server sends heartbeats there: acl.bpf.h */
#define ACL_PREFILTER_CELLS 65536

/*
 * The user that runs a service's server, by its socket. Written by the daemon, from the
 * kernel's list of sockets. Users as uid + 1; 0: not known, then any user's counts.
 */
struct owner {
	__u32 user; /* the current one */
	__u32 home; /* the first one, which counts again when it has a socket there */
	__u32 away_s; /* since when another user has it, units of 2^30 ns; 0: none has */
};

/*
 * State that all packets on all CPUs share, and the daemon (by mmap). Not locked: words
 * are updated by compare-and-swap where a lost update would matter; players.h and
 * validated.h say how entries are claimed. The daemon fills the tables that no packet
 * uses, then changes the generation. A new service may get the slot of an older one:
 * a member by slot must be emptied in reset_slots() (user/shield/shield_apply.c) or
 * shield_forget_slot(). Trials of a running shield begin with a copy of all of it: what
 * must not hold in one, as owners, must be cleared in trial_reset() and tables_copy().
 */
struct live {
	__u32 generation; /* bit 0: which of the tables packets use; written by the daemon
			   */
	__u32 lists; /* LISTS_ALLOW and so on: which lists are not empty; written by the
			daemon and by commands, and by egress for masters */
	__u32 followed; /* players that are followed: counted up by egress, set by the
			   daemon */
	__u32 veths; /* bit N: interface N, 32 + N and so on is a veth: replies leave by
			redirection; written by the daemon */
	__u32 counters_turn; /* number of the daemon's look at the counters:
				shield_counters_turn() */
	__u32 fallback; /* 1: the kernel refused the programs of tail_calls; written by
			   the daemon */
	__u64 tick_ns; /* ns of a tick of bpf_jiffies64(); 0: the time is clock_ns
			  (replay) */
	__u64 clock_ns; /* added to the ticks */
	struct amplification_limit amplification;
	struct sampling sampling;
	struct local_macs local; /* written by the daemon */
	__u64 keys[3]; /* keys of all hashes: random and odd; made once by the daemon */
	/*
	 * State of the limits of services, by budget_index(): when each is whole again
	 * (limit.h). Shared by all CPUs, so that limits do not multiply, and by both
	 * generations.
	 */
	__u64 service_due_ns[SERVICES_MAX << CLASS_BITS];
	/* State of the limits of sources, by budget_cell() and limit_cell(). */
	__u64 source_due_ns[1 << SOURCE_BITS];
	struct validation_state validation;
	struct cache_state cache;
	struct player_table players;
	__u64 acl_end_ns; /* no list entry ends before; 0: none ends; written by the
			     daemon and by commands */
	__u8 acl_prefilter[ACL_PREFILTER_CELLS]; /* by stretch of addresses, which lists
						    may have an entry there: acl.h;
						    written by the daemon and by
						    commands, and by egress for masters */
	__u32 moved[1 << MOVED_BITS]; /* how many players' qports are in a cell:
					 qport_cell() */
	struct player_address
		player_addresses[PLAYER_ADDRESS_WAYS << PLAYER_ADDRESS_BITS];
	__u64 connlimit[1 << CONNLIMIT_BITS]; /* players by source and by prefix:
						 connlimit.h; written by egress */
	__u64 connects[1 << CONNECT_BITS]; /* notes about connects: connects.bpf.h */
	__u64 connect_due_ns; /* state of connect_limit */
	struct detected detected[SERVICES_MAX];
	struct unjudged
		unjudged[SERVICES_MAX]; /* written by the daemon, for other commands */
	struct unrun unrun[UNRUN_MAX]; /* written by the daemon, for other commands */
	struct owner owners[SERVICES_MAX]; /* by slot */
	__u64 masters_due_ns[SERVICES_MAX]; /* state of report_limit, by slot */
	__u32 counted[SERVICES_MAX]; /* by slot: counters_turn when one changed last */
	struct tables tables[2];
};

#endif /* ABI_H */
