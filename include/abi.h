/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * abi.h - every byte that crosses between bpf/ and user/.
 *
 * Fixed-width members, explicit padding, sizes asserted. Byte order is host order unless
 * the member is declared __be16 or __be32. IPv4 addresses live in ::ffff:0:0/96.
 */
#ifndef ABI_H
#define ABI_H

#include <linux/types.h>

#include "reputation.h"
#include "limit.h"
#include "player.h"
#include "validated.h"
#include "recent.h"
#include "refused.h"
#include "connlimit.h"
#include "detect.h"
#include "cached_response.h"
#include "wire.h"

#define SERVICES_MAX	   256
#define PORTS		   65536
#define SOURCE_BITS	   20 /* 2^20 cells of 8 bytes: 8 MiB */
#define PREFIX_BITS	   18 /* 2 MiB */
#define LIST_MAX	   65536 /* allow-list and deny-list entries, each */
#define AMPLIFICATION_BITS 15 /* 2^15 lines of 32 bytes: 1 MiB */
#define AMPLIFICATION_WAYS 4
#define AMPLIFICATION_TAG_BITS \
	16 /* bits of a cell that say whose it is; time is above them */
#define FRAGMENT_BITS 16
#define MOVED_BITS    14
#define NAME_MAX_LEN  32 /* of a service, with its NUL */
_Static_assert(PLAYER_SLOTS == SERVICES_MAX, "each service has a share of players");

/*
 * Why a datagram went where it went. The verdict follows from the reason. Received, sent:
 * of which kinds it is said when they come to a server or leave it, one of COUNTER_SETS;
 * there are no counters of others, see counters.h.
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
	/* proof of address: docs/ARCHITECTURE.md */			\
	X(VALIDATED,		"validated",		PASS,		REQUESTS,	STEPS)	\
	X(CHALLENGED,		"challenged",		RESPOND,	REQUESTS,	REPLIES)	\
	X(INVALID_COOKIE,	"invalid-cookie",	DROP,		STRAYS,	NONE)	\
	X(GREYLISTED,		"greylisted",		DROP,		JOINS,	NONE)	\
	/* answers from here, by whom they are for; and what is sent */	\
	X(CACHED_PLAYER,	"cached-player",	RESPOND,	QUERIES,	NONE)	\
	X(CACHED_ALLOW_LIST,	"cached-allow-list",	RESPOND,	QUERIES,	NONE)	\
	X(CACHED_VALIDATED,	"cached-validated",	RESPOND,	QUERIES,	NONE)	\
	X(CACHED_KNOWN,		"cached-known",		RESPOND,	QUERIES,	NONE)	\
	X(CACHED_PREFIX,	"cached-prefix",	RESPOND,	QUERIES,	NONE)	\
	X(CACHED_RECURRING,	"cached-recurring",	RESPOND,	QUERIES,	NONE)	\
	X(CACHED_IN_LIMITS,	"cached-in-limits",	RESPOND,	QUERIES,	NONE)	\
	X(CACHED_RESPONSE,	"cached-response",	RESPOND,	NONE,	RESPONSES)

/* Frames that are no datagram to a service: passed, but for the last.
 *	  what			name			verdict */
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

/* What to do with a class that has no budget. */
enum policy {
	POLICY_DROP,
	POLICY_LIMIT, /* charge it to the budget of CLASS_UNKNOWN */
	POLICY_PASS,
};

/* When a stranger has to prove its address before it may join. */
enum validation {
	VALIDATION_OFF,
	VALIDATION_UNDER_LOAD, /* from the first refusal on, and UNDER_LOAD_NS beyond the
				  last */
	VALIDATION_ALWAYS,
};

#define UNDER_LOAD_NS 10000000000ull

struct budget {
	struct limit source; /* one IPv4 address or IPv6 /64 */
	struct limit prefix; /* IPv4 /24 or IPv6 /56 */
	struct limit service; /* the whole service */
	__u64 seed; /* of where sources and prefixes are: see budget_cell() */
	__u32 crowd; /* budget_crowd(), while there is room; 0: never more */
	__u32 pad;
};
#define CROWD_SHIFT 4 /* for joining, by default: 16 times as much */

#define CLASS_BITS  3 /* all classes that have a budget */
_Static_assert(CLASS_BUDGETS <= 1 << CLASS_BITS, "more classes than bits");

/*
 * What is allowed, but not without limits: each address so many datagrams a second that
 * it would otherwise be refused, a service so many in all, and so much more of answers
 * than a stranger's prefix.
 */
#define ALLOWED_RATE		    100
#define ALLOWED_BURST		    200
#define ALLOWED_SERVICE_RATE	    1000
#define ALLOWED_SERVICE_BURST	    2000
#define ALLOWED_AMPLIFICATION_SHIFT 6 /* 64 times the allowance */

struct service {
	char name[NAME_MAX_LEN];
	__u8 family; /* enum wire_family */
	__u8 observe; /* 1: count the verdict, pass the packet */
	__u8 policy[CLASS_COUNT -
		    CLASS_BUDGETS]; /* enum policy, by class from CLASS_REPLY */
	__u8 active; /* 0: the slot is free in this generation */
	__u8 validation; /* enum proof */
	__u8 cache; /* enum cache_mode */
	/* Players of one source, and of one prefix: see connlimit.h. 0: as many as come.
	 */
	__u16 players_source, players_prefix;
	__u32 pad;
	struct budget budget[CLASS_BUDGETS];
	/* enum wire_class, perhaps with CLASS_VALIDATION, CLASS_CACHED; of KIND_COUNT
	 * too: service_finish() */
	__u8 class_of[(KIND_COUNT / 8 + 1) * 8];
};
_Static_assert(sizeof(struct service) == 48 + CLASS_BUDGETS * sizeof(struct budget) +
						 (KIND_COUNT / 8 + 1) * 8,
	       "struct service has a hole");

/* Of struct live.service_due_ns, beside the classes': what friends have in all. */
#define BUDGET_ALLOWED ((1u << CLASS_BITS) - 1)
_Static_assert(BUDGET_ALLOWED >= CLASS_BUDGETS, "a class has that budget");

/* Where among struct live.service_due_ns the budget of @slot's @class_ is. */
static __always_inline __u32 budget_index(__u32 slot, __u32 class_)
{
	slot <<= CLASS_BITS;
	/* Or it becomes an "or", of which the verifier of Linux 6.1 makes nothing. */
	asm volatile("" : "+r"(slot));
	return slot + class_;
}

/* In class_of: no short way refuses it without a look. */
#define CLASS_VALIDATION 0x80 /* it has to do with proof of address */
#define CLASS_CACHED	 0x40 /* it may be answered from here */
#define CLASS_MASK	 0x3f

/* Has @kind to do with proof of address on a service of @family? */
static inline bool kind_takes_part(enum wire_family family, enum wire_kind kind)
{
	switch (kind) {
	case KIND_GETCHALLENGE:
	case KIND_CONNECT:
		return family != FAMILY_AUTO && family != FAMILY_QUAKE_ENHANCED;
	case KIND_DTLS_CLIENT_HELLO:
	case KIND_DTLS_HELLO_COOKIE:
		return family == FAMILY_QUAKE_ENHANCED;
	case KIND_CCREQ_CONNECT:
		return family == FAMILY_NETQUAKE || family == FAMILY_AUTO;
	case KIND_D0PK:
		return family == FAMILY_NETQUAKE;
	case KIND_ECHO_RETURN:
	case KIND_GETINFO:
	case KIND_GETSTATUS:
		return family == FAMILY_QUAKE3;
	default:
		return false;
	}
}

/*
 * Fill in what follows from the rest of @s: whoever writes a service into @slot calls it.
 * @keys: of struct live.
 */
static inline void service_finish(struct service *s, __u32 slot, const __u64 keys[3])
{
	for (__u32 kind = 0; kind < sizeof(s->class_of); kind++) {
		s->class_of[kind] = (__u8)wire_class((enum wire_family)s->family,
						     (enum wire_kind)kind);
		if (s->validation &&
		    kind_takes_part((enum wire_family)s->family, (enum wire_kind)kind))
			s->class_of[kind] |= CLASS_VALIDATION;
		if (s->cache &&
		    kind_cacheable((enum wire_family)s->family, (enum wire_kind)kind))
			s->class_of[kind] |= CLASS_CACHED;
	}
	for (__u32 class_ = 0; class_ < CLASS_BUDGETS; class_++) {
		struct budget *b = &s->budget[class_];

		b->seed = 2 * budget_index(slot, class_) * keys[1] + keys[2];
		limit_normal(&b->source);
		limit_normal(&b->prefix);
		limit_normal(&b->service);
	}
}

/*
 * How much more a source and a network may ask, in powers of two, while half of @b is
 * left at @now_ns, of which @due_ns is what is spent. So many clients behind one address
 * can join at once, and no source takes the half that is left for others. Where a service
 * has no limit there is no half.
 */
static __always_inline __u32 budget_crowd(const struct budget *b, __u64 due_ns,
					  __u64 now_ns)
{
	__s64 left = (__s64)(now_ns + (b->service.burst_ns >> 1) - due_ns);

	return b->service.cost_ns && left >= (__s64)b->service.cost_ns ? b->crowd : 0;
}

/* The part of limit_cell() that is the same for all services and classes. */
static __always_inline __u64 budget_hash(const __u64 keys[3], __u64 net, __u32 ipv6)
{
	return net * keys[0] + (keys[1] & -(__u64)ipv6);
}

/*
 * Where among 2^@bits cells the source or prefix @net has its share of @b: limit_cell()
 * by service, class and IP version, of which the first two are in the seed.
 */
static __always_inline __u32 budget_cell(const struct budget *b, const __u64 keys[3],
					 __u64 net, __u32 ipv6, __u32 bits)
{
	return (budget_hash(keys, net, ipv6) + b->seed) >> (64 - bits);
}

#define PORT_EXACT   1 /* struct endpoint may name a slot for (address, port) */
#define PORT_LEARNED 2 /* a NetQuake game port, named by CCREP_ACCEPT */
#define PORT_NAMED   4 /* the same, until a game's datagram leaves from it */

/* What listens on a port. */
struct port {
	__u16 any; /* service slot + 1, whatever the address; 0: none */
	__u16 flags; /* PORT_* */
	__u32 seen_s; /* learned: when the server last sent from it, seconds */
};
_Static_assert(sizeof(struct port) == 8, "struct port has a hole");

struct endpoint {
	__be32 addr[4];
	__u16 port;
	__u16 generation;
};
_Static_assert(sizeof(struct endpoint) == 20, "a map key has no holes");

struct cidr {
	__u32 length; /* prefix length, 0..128 */
	__be32 addr[4];
};
_Static_assert(sizeof(struct cidr) == 20, "an LPM key has no holes");

#define LIST_RUNTIME 1 /* by `quakeshield allow add` */
#define LIST_CONFIG  2 /* by the configuration: replaced at reload */
/* And whether it was written there that what is allowed has no limits. */
#define LIST_RUNTIME_UNLIMITED 4
#define LIST_CONFIG_UNLIMITED  8
#define LIST_UNLIMITED	       (LIST_RUNTIME_UNLIMITED | LIST_CONFIG_UNLIMITED)

#define LIST_RUNTIME_ALL       (LIST_RUNTIME | LIST_RUNTIME_UNLIMITED)
#define LIST_COMMENT	       44 /* octets of a comment, with its NUL */

struct list_entry {
	__u8 origins; /* mask of LIST_* */
	__u8 length; /* of the key: tells an exact match from a longer one */
	__u16 pad;
	char comment[LIST_COMMENT]; /* of what is live; printable */
	/* When what is live of it ends, on the budgets' clock; 0: never. From then on the
	 * programs pass it over; the daemon takes it out. */
	__u64 until_ns;
};

/* What of @origins is in force at @now_ns. */
static inline __u32 list_origins(const struct list_entry *e, __u64 now_ns)
{
	return e->until_ns && now_ns >= e->until_ns ? e->origins & ~LIST_RUNTIME_ALL
						    : e->origins;
}

enum sampler {
	SAMPLER_STATISTIC, /* one in N: loose datagrams, cut short */
	SAMPLER_FOLLOW, /* all of a followed player's, whole, from the handshake on */
	SAMPLER_COUNT,
};

#define SAMPLE_STATISTIC_BYTES 256 /* of the frame */
#define SAMPLE_FOLLOW_BYTES    2048
#define SAMPLES_BYTES	       (4 << 20) /* of the ring buffer */

/* A record of the ring buffer: this, then @kept bytes of the Ethernet frame. */
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

/* Per sampler and CPU: what became of the samples. */
struct sampled {
	__u64 taken;
	__u64 limited; /* over the sampler's rate */
	__u64 lost; /* the ring buffer was full */
};

#define AMPLIFICATION_STRICT_NS (1ull << 59) /* strict: a clock that stands still */
#define AMPLIFICATION_GRAIN_NS	4096ull /* of time, in a cell: 48 bits are 36 years */

/* The prefixes of one hash; a cell is a tag, and when its prefix owes nothing any more.
 */
struct amplification_line {
	__u64 cells[AMPLIFICATION_WAYS];
};

/*
 * What an unverified prefix may be sent beyond what it has sent: GCRA in bytes, so bytes
 * out <= bytes in + allowance * (1 + time / window). Strict: bytes out <= bytes in, ever.
 */
struct amplification_limit {
	__u64 byte_ns; /* window / allowance; strict: AMPLIFICATION_GRAIN_NS; 0: no
			  amplification limit */
	__u64 window_ns; /* how far ahead a prefix may run */
	__u64 credit_ns; /* how much unused credit a prefix may pile up */
	__u64 strict; /* 1: time does not pay, window_ns is 0 */
};

/* Which datagrams the daemon gets to see. All zero: none, at no cost. */
struct sampling {
	__u32 every; /* of each kind and reason on each CPU: the first, then one in so
		      * many; a power of two; 0: none */
	__u32 follow_first; /* follow new players until so many are followed */
	__u32 follow_every; /* and one in so many new players; a power of two; 0: none */
	__u32 follow_listed; /* 1: and those in the follow list */
	__u32 any; /* 0: all of the above are */
	__u32 phase; /* of refused_turn(), whatever is sampled: below REFUSED_EVERY, and
		      * another one each second while a daemon runs */
	struct limit limit[SAMPLER_COUNT];
};

/* --- what connects --------------------------------------------------------------- */

#define CONNECT_BITS 12 /* what was said in connect, until the server accepts: 32 KiB */

/* --- proof of address ---------------------------------------------------------- */

/* What a challenge is sent for. Each use has a rate of its own. */
enum challenge_use {
	CHALLENGE_JOIN,
	CHALLENGE_QUERY,
	CHALLENGE_USES,
};

/*
 * What a DarkPlaces server adds to each challenge: a client that has stored the server's
 * key ends its attempt to join when it gets a challenge without that. It is the same for
 * all clients; egress reads it out of the server's own challenge, once in KEYS_NS.
 */
#define KEYS_TEXT	256 /* octets; those of five keys are 238 */
#define KEYS_AT		26 /* where it begins: behind 11 characters and NUL */
#define KEYS_NS		1000000000ull
#define KEYS_SEVERAL_NS (3600 * 1000000000ull) /* after they differed */

enum host_keys_state {
	KEYS_UNKNOWN, /* the server's challenge is not known: no challenge in its name */
	KEYS_NONE,
	KEYS_KNOWN,
	KEYS_LONG, /* longer than KEYS_TEXT: as KEYS_UNKNOWN */
	KEYS_SEVERAL, /* the service has servers with different ones: as KEYS_UNKNOWN */
};

struct host_keys {
	__u64 heard_ns; /* by the shield's clock; 0: never */
	__u64 moved_ns; /* when another server gave one than before; 0: never */
	__u64 differed_ns; /* when two servers' challenges differed; 0: never */
	__u32 place; /* of the server that gave the last: a hash */
	__u32 state; /* enum host_keys_state */
	__u32 last; /* what the last added: its enum host_keys_state << 16 | length */
	__u16 length; /* of text, if KEYS_KNOWN: 1 to KEYS_TEXT */
	__u16 sum; /* of text: as of struct template */
	__u8 text[KEYS_TEXT]; /* zeros behind it */
};

struct validation_state {
	/* Challenges that one processor sends per second, of all services together; and
	 * the share of a service, by slot: the rate, divided by the daemon once per
	 * second among the services that are flooded. What is left of a share stands in
	 * struct counter_row. */
	struct limit rate[CHALLENGE_USES];
	struct limit share[SERVICES_MAX][CHALLENGE_USES];
	__u64 until_ns[SERVICES_MAX]; /* strangers have to prove themselves till then */
	/* Budgets of services for the proven, as struct live.service_due_ns. */
	__u64 service_due_ns[SERVICES_MAX << CLASS_BITS];
	struct cookie_secret secret;
	__u64 period; /* in which the daemon replaced a key last */
	struct validated_table validated;
	struct host_keys keys[SERVICES_MAX];
};

/* --- answers ------------------------------------------------------------------- */

/* Answers to strangers, in bytes of whole frames; beside the amplification limit. */
struct cache_cap {
	__u64 byte_ns; /* 0: no limit */
	__u64 burst_ns;
	__u64 due_ns;
};

struct cache_state {
	__u64 until_ns[SERVICES_MAX]; /* the service is pressed till then */
	struct cache_cap cap;
	struct reputation_table reputation;
	/* Of the service in slot N those from N * CACHE_FORMS on. */
	struct cache_pair entries[SERVICES_MAX * CACHE_FORMS];
	/* Mark windows by slot, written by the daemon: see recent.h. */
	struct recent_window windows[SERVICES_MAX];
	/* How many sources were marked in each table of recent askers, by slot. */
	__u32 marked[RECENT_TABLES][SERVICES_MAX];
};

/* Programs that shield() jumps to. */
enum tail_call {
	TAIL_CALL_VALIDATE, /* shield_validate(): what has to do with proof of address */
	TAIL_CALL_CACHE, /* shield_cache(): what may be answered from here */
	TAIL_CALLS,
};

/* --- where nothing is judged ----------------------------------------------------- */

#define UNJUDGED_AGE_S 120 /* of 2^30 ns: then it counts no more */

/* By which interface datagrams for a service come in that no program of ours has seen. */
struct unjudged {
	__u32 ifindex; /* 0: by none */
	__u32 seen_s; /* when last, of 2^30 ns */
	__u32 all; /* 1: and none came in by ours lately */
};

/* --- here -------------------------------------------------------------------- */

#define LOCAL_MACS 128

/*
 * The Ethernet addresses that lead to this host, as a frame has them: of an interface,
 * what is stacked with it, and of containers and virtual machines beside it on a bridge.
 * More than there is room for: none is kept, and all frames are taken to be for this
 * host.
 */
struct local_macs {
	__u32 count; /* 0: not known, and all frames are taken to be for this host */
	__u32 pad;
	__u64 macs[LOCAL_MACS]; /* the first octet lowest */
};

/* --- live -------------------------------------------------------------------- */

/* Of one generation: who listens where. */
struct tables {
	__u32 generation; /* bit 0: which of the two these are, for struct endpoint */
	__u32 observe; /* 1: all services do, so that nothing is dropped at all */
	struct port ports[PORTS];
	struct service services[SERVICES_MAX];
};

#define LISTS_ALLOW	    1
#define LISTS_DENY	    2
#define LISTS_MASTER	    4 /* a server reports there: acl.bpf.h */
#define ACL_PREFILTER_CELLS 65536

/*
 * Whose socket speaks for a service, by user: written by the daemon, from the kernel's
 * list of sockets. Users as uid + 1; 0: not known, then everybody does.
 */
struct owner {
	__u32 user; /* who does now */
	__u32 home; /* the one that did first, and does again with a socket there */
	__u32 away_s; /* since when another does, of 2^30 ns; 0: none does */
};

/*
 * Shared by all packets and, mapped, by the daemon. It fills the tables that no packet
 * looks at, then flips the generation.
 */
struct live {
	__u32 generation; /* bit 0: which of the tables are valid */
	__u32 lists; /* LIVE_*: those that are not empty */
	__u32 followed; /* players followed now: counted up in the kernel, set by the
			   daemon */
	__u32 veths; /* bit N: of interface N, 32 + N ...: sent back by redirection */
	__u64 tick_ns; /* of bpf_jiffies64(); 0: the time is clock_ns */
	__u64 clock_ns; /* added to it: the time, where the clock is off (replay) */
	struct amplification_limit amplification;
	struct sampling sampling;
	struct local_macs local; /* written by the daemon */
	__u64 keys[3]; /* of limit_cell(): random and odd, one set per boot */
	/* Budgets of whole services, by budget_index(), see limit.h: shared by all CPUs,
	 * so that limits do not multiply, and by both generations. */
	__u64 service_due_ns[SERVICES_MAX << CLASS_BITS];
	/* And of single addresses: by limit_cell(). */
	__u64 source_due_ns[1 << SOURCE_BITS];
	struct validation_state validation;
	struct cache_state cache;
	struct player_table players;
	__u64 acl_end_ns; /* no entry that was made for a time ends before; 0: there is
			       none */
	__u8 acl_prefilter[ACL_PREFILTER_CELLS]; /* LIVE_*, by stretches of addresses:
						    acl.h */
	__u32 moved[1 << MOVED_BITS]; /* how many of qports are in a cell: players.h */
	struct player_address
		player_addresses[PLAYER_ADDRESS_WAYS << PLAYER_ADDRESS_BITS];
	__u64 connlimit[1 << CONNLIMIT_BITS]; /* players by source and by prefix:
						 connlimit.h */
	__u64 connects[1 << CONNECT_BITS]; /* see CONNECT_TAG */
	__u64 connect_due_ns; /* of reading Quake III's: connect_limit */
	struct detected detected[SERVICES_MAX];
	struct unjudged unjudged[SERVICES_MAX]; /* the daemon's, for others to read */
	struct owner owners[SERVICES_MAX]; /* by slot */
	__u64 masters_due_ns[SERVICES_MAX]; /* of noting masters: report_limit */
	struct tables tables[2];
};

#endif /* ABI_H */
