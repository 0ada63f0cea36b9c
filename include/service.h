/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service.h - the settings of a service and the limits of its classes: a part of abi.h,
 * and under its rules.
 *
 * Written by the daemon from the configuration, read by the programs. Call
 * service_finish() after each change in a struct service. struct service is pinned, as
 * are the cells at budget_index() and budget_cell(): if a meaning or a place changes,
 * raise ABI_VERSION (user/shield/shield_abi.c).
 */
#ifndef SERVICE_H
#define SERVICE_H

#include <linux/types.h>

#include "cached_response.h"
#include "limit.h"
#include "wire.h"

#define SERVICES_MAX 256
#define NAME_MAX_LEN 32 /* name of a service, with its NUL */

/* How to treat a datagram of a class without limits of its own; by the configuration. */
enum policy {
	POLICY_DROP,
	POLICY_LIMIT, /* charge it to the limits of CLASS_UNKNOWN */
	POLICY_PASS,
};

/* When a new client must return a cookie before its request to join is forwarded. */
enum validation {
	VALIDATION_OFF,
	VALIDATION_UNDER_LOAD, /* while the service is under load: until UNDER_LOAD_NS
				  after its limit was last exceeded */
	VALIDATION_ALWAYS,
};

#define UNDER_LOAD_NS 10000000000ull

/*
 * The limits of one class of requests ("rate limits" in the manuals), written by the
 * daemon. limit_normal() has made their values.
 */
struct budget {
	struct limit source; /* one IPv4 address or IPv6 /64 */
	struct limit prefix; /* IPv4 /24 or IPv6 /56 */
	struct limit service; /* the whole service */
	__u64 seed; /* added to hashes of sources and prefixes, so that each service and
		       class has cells of its own: budget_cell() */
	__u32 crowd; /* what budget_crowd() returns while there is room: log2 of a factor;
			0: never more */
	__u32 pad;
};
#define CROWD_SHIFT 4 /* default for joining: 16 times as much */

#define CLASS_BITS  3 /* log2 of the places for the classes of a service */
_Static_assert(CLASS_BUDGETS <= 1 << CLASS_BITS, "more classes than bits");

/*
 * Limits of allowed sources without `unlimited`: datagrams per second that each source
 * may send beyond the limits of its class, the same for all of a service, and log2 of a
 * factor on the allowance of the amplification limit.
 */
#define ALLOWED_RATE		    100
#define ALLOWED_BURST		    200
#define ALLOWED_SERVICE_RATE	    1000
#define ALLOWED_SERVICE_BURST	    2000
#define ALLOWED_AMPLIFICATION_SHIFT 6 /* 64 times the allowance */

/* Limit of a master server's queries beyond those of their class: master_limit. */
#define MASTER_EVERY_NS 2000000000ull
#define MASTER_BURST	8

/*
 * The same as initialisers of struct limit, for acl.bpf.h and, to show them, for
 * listed_limits() in userland.
 */
#define LIMIT_EVERY(ns, burst)       \
	{                            \
		(ns), (burst) * (ns) \
	}
#define ALLOWED_LIMIT LIMIT_EVERY(1000000000ull / ALLOWED_RATE, ALLOWED_BURST)
#define ALLOWED_SERVICE_LIMIT \
	LIMIT_EVERY(1000000000ull / ALLOWED_SERVICE_RATE, ALLOWED_SERVICE_BURST)
#define MASTER_LIMIT LIMIT_EVERY(MASTER_EVERY_NS, MASTER_BURST)

/*
 * The settings of a service. Written by the daemon in the generation that no packet uses;
 * service_finish() computes class_of and the seeds. Its place in the array is its slot.
 */
struct service {
	char name[NAME_MAX_LEN];
	__u8 family; /* enum wire_family */
	__u8 observe; /* 1: count the verdict, and pass the datagram */
	__u8 policy[CLASS_COUNT - CLASS_BUDGETS]; /* enum policy of the classes without
						     limits, from CLASS_REPLY on */
	__u8 active; /* 0: the slot is free in this generation */
	__u8 validation; /* enum validation */
	__u8 cache; /* enum cache_mode */
	/* Most players of one source, and of one prefix: connlimit.h. 0: no limit. */
	__u16 players_source, players_prefix;
	__u32 pad;
	struct budget budget[CLASS_BUDGETS];
	/*
	 * By kind: enum wire_class, with the flags CLASS_VALIDATION and CLASS_CACHED.
	 * Also for KIND_COUNT: service_finish().
	 */
	__u8 class_of[(KIND_COUNT / 8 + 1) * 8];
};
_Static_assert(sizeof(struct service) == 48 + CLASS_BUDGETS * sizeof(struct budget) +
						 (KIND_COUNT / 8 + 1) * 8,
	       "struct service has a hole");

/*
 * Place in struct live.service_due_ns of what all allowed sources of a service have
 * together; the classes use the places below.
 */
#define BUDGET_ALLOWED ((1u << CLASS_BITS) - 1)
_Static_assert(BUDGET_ALLOWED >= CLASS_BUDGETS, "a class has that budget");

/*
 * Return the index in struct live.service_due_ns of the limit of @class_ of the service
 * in @slot, and in that of struct validation_state, where greylisted clients have the
 * place of CLASS_UNKNOWN. Called in the programs and in userland. @slot: below
 * SERVICES_MAX; @class_: at most BUDGET_ALLOWED. service_finish() makes the seeds of it.
 */
static __always_inline __u32 budget_index(__u32 slot, __u32 class_)
{
	slot <<= CLASS_BITS;
	/*
	 * Without it the compiler makes an "or", of which Linux 6.1's verifier derives no
	 * bounds.
	 */
	asm volatile("" : "+r"(slot));
	return slot + class_;
}

/* Flags in class_of. */
#define CLASS_VALIDATION \
	0x80 /* it takes part in address validation: validation_applies() */
#define CLASS_CACHED 0x40 /* it may be served from the cache: cacheable() */
#define CLASS_MASK   0x3f
_Static_assert(CLASS_COUNT <= CLASS_CACHED,
	       "refuse() takes a class with a flag for none that it decides about");

/*
 * Return true if @s has @flag for @kind and enforces. Always false in observe mode.
 * @flag: CLASS_VALIDATION or CLASS_CACHED. Called by validation_applies() and
 * cacheable(), and by about_limits() in userland.
 */
static __always_inline bool service_flagged(const struct service *s, enum wire_kind kind,
					    __u8 flag)
{
	__u32 index = kind;

	return index_below(&index, KIND_COUNT) && s->class_of[index] & flag &&
	       !s->observe;
}

/*
 * Return true if @kind takes part in address validation on a service of @family. Called
 * by service_finish(), and by challenges() and requests_count() in
 * user/shield/shield_shares.c, which give a share of the challenges to services with such
 * requests. shield_validate() must decide about each of these kinds; kind_queries() and
 * not_challenged() name the queries among them. challenges() takes KIND_ECHO_RETURN for
 * all queries: if the queries of a family are challenged, the family must have both. A
 * family that is added takes part with the first two kinds: it then needs its text in
 * challenge_form(), and a branch in cookie_check() and connect_has_cookie().
 */
static inline bool kind_takes_part(enum wire_family family, enum wire_kind kind)
{
	switch (kind) {
	case KIND_GETCHALLENGE:
	case KIND_CONNECT:
		return family != FAMILY_AUTO && family != FAMILY_QUAKE_ENHANCED &&
		       family != FAMILY_MASTER;
	case KIND_DTLS_CLIENT_HELLO:
	case KIND_DTLS_HELLO_COOKIE:
		return family == FAMILY_QUAKE_ENHANCED;
	case KIND_CCREQ_CONNECT:
		return family == FAMILY_NETQUAKE || family == FAMILY_AUTO;
	case KIND_D0PK:
		return family == FAMILY_NETQUAKE;
	case KIND_ECHO_RETURN:
		return family == FAMILY_QUAKE2 || family == FAMILY_QUAKE3;
	case KIND_GETINFO:
	case KIND_GETSTATUS:
		return family == FAMILY_QUAKE3;
	case KIND_INFO:
	case KIND_STATUS:
		return family == FAMILY_QUAKE2;
	default:
		return false;
	}
}

/*
 * Compute what follows from the other members of @s: class_of, the seeds, and the form of
 * limits. Call it after each change of a service that is written into @slot. @keys: of
 * struct live. Called by plan_service(), before the programs can see @s. A seed has an
 * even multiple of keys[1], below 2 * (SERVICES_MAX << CLASS_BITS): budget_hash() adds
 * one for IPv6, and budget_cell() adds multiples from there on.
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
 * Return log2 of how much more a source, its prefix and network may send while at least
 * half of the service's limit is left at @now_ns; @due_ns: its state. So many clients
 * behind one address can join at once, and no source takes the half that is left for
 * others. 0 if the service has no limit. Called by the programs and, to show it, by
 * class_limits() (user/shield/shield_about.c). The callers must agree on the requests
 * that have no more in a crowd: a CCREQ_CONNECT has not, and queries have @b->crowd 0,
 * since query_exceeds() and prefix_exceeded() do not ask.
 */
static __always_inline __u32 budget_crowd(const struct budget *b, __u64 due_ns,
					  __u64 now_ns)
{
	__s64 left = (__s64)(now_ns + (b->service.burst_ns >> 1) - due_ns);

	return b->service.cost_ns && left >= (__s64)b->service.cost_ns ? b->crowd : 0;
}

/*
 * Return the part of budget_cell()'s hash that does not depend on the service and class.
 * Called by budget_cell() and plain_hash().
 */
static __always_inline __u64 budget_hash(const __u64 keys[3], __u64 net, __u32 ipv6)
{
	return net * keys[0] + (keys[1] & -(__u64)ipv6);
}

/*
 * The sets of clients. Each has cells of its own, with the same limits, so that others
 * cannot use up what is left to it.
 */
enum budget_set {
	SET_UNVALIDATED,
	SET_VALIDATED,
	/*
	 * A CCREQ_CONNECT, of a client that is validated or only sent it twice.
	 * DarkPlaces' client also sends NetQuake's request each second, and would leave
	 * itself nothing to connect with.
	 */
	SET_GREYLISTED,
	BUDGET_SETS
};
_Static_assert(SET_UNVALIDATED == 0,
	       "limits_exceeded() takes the seed as it is for the cell of this set");

/*
 * Return the cell, of 2^@bits, of the source, prefix or network @net under @b for the
 * clients of @set: a keyed hash of all these and of the IP version. Two sources that
 * share a cell share its limit. Called by the programs and by userland, which shows the
 * same cells; limits_exceeded() computes the same from plain_hash(). Another hash gives
 * each source the debt of another until that has passed. @net: address_net() for
 * SOURCE_BITS; for PREFIX_BITS that >> 8, or network_net(). @ipv6: 0 or 1.
 */
static __always_inline __u32 budget_cell(const struct budget *b, const __u64 keys[3],
					 enum budget_set set, __u64 net, __u32 ipv6,
					 __u32 bits)
{
	__u64 seed = b->seed + 2 * (__u64)set * (SERVICES_MAX << CLASS_BITS) * keys[1];

	return (budget_hash(keys, net, ipv6) + seed) >> (64 - bits);
}

/*
 * Return the key of the network around the prefix of @net, an address_net(): /20 or /48.
 * Bit 57 tells it from keys of prefixes. A network has a third more than one prefix: an
 * attacker with 16 or 256 prefixes must not have as many times the limit. Called by
 * budget_charge() and prefix_exceeded(), and by cell_prefix() in userland.
 */
static __always_inline __u64 network_net(__u64 net, __u32 ipv6)
{
	return (ipv6 ? net >> 16 : net >> 12) | 1ull << 57;
}

/*
 * Return the limit of a network, from that of a prefix: a third more per second. Called
 * by budget_scopes() and prefix_exceeded().
 */
static __always_inline struct limit network_limit(const struct limit *prefix)
{
	return (struct limit){ prefix->cost_ns - (prefix->cost_ns >> 2),
			       prefix->burst_ns };
}

/* The limits that one request is charged to. */
struct scopes {
	struct limit source, prefix, network, service;
};

/*
 * Return the limits of one request under @b. @times: what it costs of the source's own
 * limit; @others: of the limits of prefix, network and service; in requests. @crowd: of
 * budget_crowd(), or 0. Called by admit_net() and validated_charge(), and to show it by
 * class_limits() (user/shield/shield_about.c).
 */
static __always_inline struct scopes budget_scopes(const struct budget *b, __u32 times,
						   __u32 others, __u32 crowd)
{
	struct scopes s = { .source = b->source,
			    .prefix = limit_scaled(&b->prefix, others, 1),
			    .service = limit_scaled(&b->service, others, 1) };

	if (times > 1) /* Linux 6.1 has no stack left to do it always. */
		s.source = limit_scaled(&b->source, times, 1);
	s.source.cost_ns >>= crowd;
	s.prefix.cost_ns >>= crowd;
	s.network = network_limit(&s.prefix);
	return s;
}

#endif /* SERVICE_H */
