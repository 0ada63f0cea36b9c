// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The fast path decides what the slow path decides, about the same frame: one shield is
 * sent each frame as it is; the other is sent the same bytes, and believes that every
 * sender may be in a list, so that its slow path decides. Address validation and the
 * cache are on, and frames come in every shape: tags, IPv4 options, IPv6 extension
 * headers, padding, and none behind payloads of 0 to 23 bytes. Afterwards both frames,
 * counters and tables are the same. kern_ways.c compares the shapes with each other.
 *
 * Each run sends something else: SEED=n, which each prints, sends it again, and EACH=1
 * compares all counters after each frame.
 */
#include <linux/pkt_cls.h>

#include "cache/cache_request.h"
#include "kern/kern_same.h"
#include "kern/kern_ways.h"
#include "rounds.h"
#include "validated.h"

#define ROUNDS	 1500 /* for each family and setting */
#define LOAD	 0 /* settings: the limits of services are low */
#define QUIET	 1 /* only those of sources and prefixes: no service is under load */
#define ALWAYS	 2 /* validation and cache without load */
#define SETTINGS 3
#define HOST4	 "198.51.100.1"
#define HOST6	 "2001:db8:2::1"
#define SPORT	 27960
#define STATUS	 OOB "statusResponse\n\\version\\x\n1 50 \"a\"\n22 48 \"bc\"\n"

enum {
	FAST,
	SLOW,
	SHIELDS
};

static struct kern kerns[SHIELDS];
static unsigned int seed;
static struct counters was; /* of the fast one, before a setting */
static __u64 reasons[REASON_COUNT]; /* how often each was counted */

/* The first of each version is known to the cache, and its neighbours are not. */
static const struct peer peers[] = {
	{ "192.0.2.1", false, 40000 },	   { "192.0.2.1", false, 40001 },
	{ "192.0.2.7", false, 40001 },	   { "203.0.113.9", false, 1 },
	{ "2001:db8:1::1", true, 40000 },  { "2001:db8:1::1", true, 40001 },
	{ "2001:db8:1:7::1", true, 4001 }, { "2001:db8:9:1::2", true, 65535 },
};

/* A frame, and where its payload begins. */
struct sent {
	const struct peer *peer;
	enum wire_family family;
	__u8 frame[FRAME_MAX];
	size_t n, at;
};

/* The reply of a client to a challenge: the same peer sends it next. */
static struct {
	const struct peer *peer; /* NULL: there is none */
	char payload[512];
	size_t n;
} back;

static void complain(const struct sent *s, const char *what)
{
	print_error("SEED=%u: %s differs: %s, payload at %zu of %zu:", seed, what,
		    family_name((int)s->family), s->at, s->n);
	for (size_t i = 0; i < s->n; i++)
		print_error(" %02x", s->frame[i]);
	print_error("\n");
	fail();
}

/* --- what both have to agree about -------------------------------------------------- */

static void same_counters(const struct sent *s)
{
	static struct counters one, two;
	bool alike = true;

	for (int way = DIRECTION_C2S; way <= DIRECTION_S2C; way++) {
		kern_sum_way(&kerns[FAST], 0, (enum direction)way, &one);
		kern_sum_way(&kerns[SLOW], 0, (enum direction)way, &two);
		for (int kind = 0; kind < KIND_COUNT; kind++)
			for (int r = 0; r < REASON_COUNT; r++) {
				if (!memcmp(&one.by[kind][r], &two.by[kind][r],
					    sizeof(one.by[kind][r])))
					continue;
				print_error("%s, %s: %llu packets, and %llu of the slow "
					    "path\n",
					    kind_name(kind), reason_name(r),
					    one.by[kind][r].packets,
					    two.by[kind][r].packets);
				alike = false;
			}
		if (!alike)
			complain(s, "a counter");
		if (memcmp(&one.unverified, &two.unverified, sizeof(one.unverified)) != 0)
			complain(s, "the volume");
	}
	for (__u32 sampler = 0; sampler < SAMPLER_COUNT; sampler++)
		if (sampled_of(&kerns[FAST], sampler) !=
		    sampled_of(&kerns[SLOW], sampler))
			complain(s, "what was sampled");
}

/* Count what this setting has shown. */
static void note_reasons(void)
{
	static struct counters now;

	kern_sum_way(&kerns[FAST], 0, DIRECTION_C2S, &now);
	for (int kind = 0; kind < KIND_COUNT; kind++)
		for (int r = 0; r < REASON_COUNT; r++)
			reasons[r] += now.by[kind][r].packets - was.by[kind][r].packets;
	was = now;
}

static void all_may_be_listed(bool may)
{
	struct live *l = kerns[SLOW].live;

	l->lists = may ? LISTS_ALLOW : 0;
	memset(l->acl_prefilter, may ? LISTS_ALLOW : 0, sizeof(l->acl_prefilter));
}

static void same_everything(const struct sent *s)
{
	const __u8 *one = (const __u8 *)kerns[FAST].live;
	const __u8 *two = (const __u8 *)kerns[SLOW].live;
	size_t at = 0;

	all_may_be_listed(false);
	if (memcmp(one, two, sizeof(struct live)) != 0) {
		while (one[at] == two[at])
			at++;
		print_error("byte %zu of struct live\n", at);
		complain(s, "a table");
	}
	all_may_be_listed(true);
}

/* --- frames ------------------------------------------------------------------------- */

/* In any shape, honest or not, mostly without padding. */
static void shape(struct frame_spec *s)
{
	static const __u8 exts[] = { IPPROTO_DSTOPTS, IPPROTO_HOPOPTS, IPPROTO_ROUTING };
	unsigned int tags = below(3) ? 0 : 1 + below(2);

	for (unsigned int i = 0; i < tags; i++)
		s->tags[i] = i ? ETH_P_8021Q : ETH_P_8021AD;
	if (!below(3) && s->ipv6)
		for (s->ext_count = (__u8)(1 + below(2)); s->exts[s->ext_count - 1] == 0;)
			for (int i = 0; i < s->ext_count; i++)
				s->exts[i] = exts[below(2) * 2];
	else if (!below(3))
		s->options = (__u8)(1 + below(10));
	if (!below(3))
		s->padding = 1 + below(40);
	if (!below(60))
		s->udp_length = FRAME_SAYS(below(40));
	s->more = !below(60);
	s->fragment = s->more && s->ipv6;
}

static void both(struct sent *s, __u8 out[FRAME_MAX], int ret[SHIELDS],
		 __u32 size[SHIELDS])
{
	static __u8 other[FRAME_MAX];

	for (int i = 0; i < SHIELDS; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = s->frame,
			    .data_size_in = (__u32)s->n, .data_out = i ? other : out,
			    .data_size_out = FRAME_MAX, .repeat = 1);

		assert_int_equal(bpf_prog_test_run_opts(kerns[i].program, &run), 0);
		ret[i] = (int)run.retval;
		size[i] = run.data_size_out;
	}
	if (ret[FAST] != ret[SLOW]) {
		print_error("%d, and %d of the slow path\n", ret[FAST], ret[SLOW]);
		same_counters(s);
		complain(s, "the verdict");
	}
	if (ret[FAST] != XDP_DROP &&
	    (size[FAST] != size[SLOW] || memcmp(out, other, size[FAST]) != 0))
		complain(s, "what becomes of the frame");
}

/* The client of @s returns what it was sent: its payload is at @text, of @n bytes. */
static void answer(const struct sent *s, const char *text, size_t n)
{
	char word[64] = "";

	if (n > 4)
		memcpy(word, text + 4, n - 4 < 63 ? n - 4 : 63);
	word[strcspn(word, " ") + 1 + strcspn(word + strcspn(word, " ") + 1, " ")] = '\0';
	back.peer = s->peer;
	if (!strncmp(word, "echo ", 5) && n > 9 && n < sizeof(back.payload)) {
		memcpy(back.payload, OOB, 4);
		memcpy(back.payload + 4, text + 9, n - 9);
		back.n = n - 5;
		return;
	}
	if (!strncmp(word, "challenge ", 10) && s->family == FAMILY_NETQUAKE)
		snprintf(back.payload, sizeof(back.payload),
			 OOB "connect\\protocol\\darkplaces 3\\challenge\\%s", word + 10);
	else if (!strncmp(word, "challenge ", 10))
		snprintf(back.payload, sizeof(back.payload),
			 OOB "connect 34 52 %s \"\\name\\x\"\n", word + 10);
	else if (word[0] == 'c')
		snprintf(back.payload, sizeof(back.payload),
			 OOB "connect 28 4660 %s \"\\name\\x\"\n", word + 1);
	else
		back.peer = NULL;
	back.n = strlen(back.payload);
}

static void hear(enum wire_family family, const struct peer *peer, const __u8 *payload,
		 size_t n, const struct frame_spec *shaped, struct sent *s)
{
	struct frame_spec spec = *shaped;
	static __u8 out[FRAME_MAX];
	int action[SHIELDS];
	__u32 size[SHIELDS];

	spec.payload = (const char *)payload;
	spec.n = n;
	spec.ipv6 = peer->ipv6;
	spec.sport = peer->port;
	spec.dport = SPORT;
	spec.from = peer->address;
	spec.to = peer->ipv6 ? HOST6 : HOST4;
	s->peer = peer;
	s->family = family;
	s->n = frame_build(&spec, s->frame);
	s->at = s->n - spec.padding - n;
	both(s, out, action, size);
	if (action[FAST] == XDP_TX && size[FAST] > s->at)
		answer(s, (const char *)out + s->at,
		       (size_t)(out[s->at - 4] << 8 | out[s->at - 3]) - 8);
	if (getenv("EACH")) {
		same_counters(s);
		if (kerns[FAST].live->validation.until_ns[0] !=
			    kerns[SLOW].live->validation.until_ns[0] ||
		    kerns[FAST].live->cache.until_ns[0] !=
			    kerns[SLOW].live->cache.until_ns[0])
			complain(s, "what is under load");
	}
}

/* The server speaks to @peer: that makes players. */
static void say(enum wire_family family, const struct peer *peer)
{
	struct player_cell *cell = cell_of(&kerns[FAST], peer);
	__u8 payload[LONGEST], frame[FRAME_MAX];
	struct frame_spec s = { .ipv6 = peer->ipv6,
				.sport = SPORT,
				.dport = peer->port,
				.from = peer->ipv6 ? HOST6 : HOST4,
				.to = peer->address };
	size_t n;

	/* Some servers of QuakeWorld have players of NetQuake. */
	if (family == FAMILY_QUAKEWORLD && !below(3))
		family = FAMILY_NETQUAKE;
	s.n = from_server(family, cell ? &cell->player : NULL, payload);
	if (family == FAMILY_QUAKE_ENHANCED && below(2)) {
		static const char hvr[] =
			"\x16\xfe\xff\0\0\0\0\0\0\0\0\0\x17\3\0\0\x0b\0\0\0\0\0\0\0\x0b\xfe\xff\x08"
			"abcdefgh";
		memcpy(payload, hvr, sizeof(hvr) - 1);
		s.n = sizeof(hvr) - 1;
	}
	s.payload = (const char *)payload;
	n = frame_build(&s, frame);
	for (int i = 0; i < SHIELDS; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame,
			    .data_size_in = (__u32)n, .repeat = 1);

		assert_int_equal(bpf_prog_test_run_opts(
					 bpf_program__fd(kerns[i].skel->progs.shield_out),
					 &run),
				 0);
	}
}

/* A ClientHello of few kinds, so that the same comes twice. */
static size_t hello(__u8 *to)
{
	static const __u8 head[] = { 0x16, 0xfe, 0xfd, 0,  0, 0, 0, 0, 0, 0, 0, 0, 52,
				     1,	   0,	 0,    40, 0, 0, 0, 0, 0, 0, 0, 40 };

	memset(to, 0, 65);
	memcpy(to, head, sizeof(head));
	memset(to + sizeof(head) + 2, (int)below(3), 32);
	to[60] = below(2) ? 4 : 0;
	return 65;
}

static size_t draw(enum wire_family family, const struct peer *peer, __u8 *to)
{
	static const struct player nobody = { .heard_sequence = 500 };
	static const char *const asks[] = {
		"getstatus",	  "getstatus",	  "getstatus",
		"getinfo xxx",	  "getchallenge", "getchallenge 1 Quake3Arena",
		"getchallenge\n", "status",	  "info 34",
		"status 23"
	};
	struct player_cell *cell = cell_of(&kerns[FAST], peer),
			   *first = cell_of(&kerns[FAST], &peers[0]);
	static const char connects[] = "\x80\0\0\x0c\1QUAKE\0\3";
	const char *word;

	cell = cell ? cell : first;
	switch (below(8)) {
	case 0:
	case 1:
	case 2:
		word = below(3) ? asks[below(COUNT(asks))] : words[below(COUNT(words))];
		memcpy(to, OOB, 4);
		return 4 + strlen(strcpy((char *)to + 4, word));
	case 3:
		if (below(2))
			return hello(to);
		memcpy(to, connects, sizeof(connects) - 1);
		return sizeof(connects) - 1;
	default:
		return from_peer(family, cell ? &cell->player : &nobody, peer->ipv6, to);
	}
}

/* An unknown client queries like a browser, once in @ns. */
static void browse(enum wire_family family, __u64 ns, struct sent *s)
{
	if (family == FAMILY_QUAKE3 && ns > SECOND / 2)
		hear(family, &peers[COUNT(peers) - 1], (const __u8 *)OOB "getstatus", 13,
		     &(struct frame_spec){ 0 }, s);
}

static void step(enum wire_family family, struct sent *s)
{
	static const __u64 ms[] = { 1, 4, 4, 50, 550, 550, 1000, 2500 };
	const struct peer *peer = &peers[below(COUNT(peers))];
	__u8 payload[LONGEST] = { 0 };
	struct frame_spec spec = { .ipv6 = peer->ipv6 };
	__u64 ns = ms[below(COUNT(ms))] * 1000000;
	size_t n;

	if (!below(300))
		ns = 12 * SECOND;
	if (!below(10)) {
		for (int i = 0; i < SHIELDS; i++)
			kerns[i].live->clock_ns += ns;
		browse(family, ns, s);
	}
	if (!below(10) && peer->port != 40001) {
		say(family, peer);
		return;
	}
	shape(&spec);
	if (back.peer && !below(3)) {
		hear(family, back.peer, (const __u8 *)back.payload, back.n,
		     &(struct frame_spec){ .padding = below(30) }, s);
		return;
	}
	n = draw(family, peer, payload);
	if (!below(4))
		n = below(24);
	hear(family, peer, payload, n, &spec, s);
}

/* --- services ----------------------------------------------------------------------- */

static __u64 net_of(const char *address)
{
	__be32 addr[4];

	kern_address(address, addr);
	return addr[0] ? (__u64)ntohl(addr[0]) << 32 | ntohl(addr[1]) : ntohl(addr[3]);
}

static void forget(struct kern *k)
{
	static const struct recent nobody;
	struct live *l = k->live;
	struct qport_key by;
	__u32 table = 0;
	int fd = bpf_map__fd(k->skel->maps.qports);

	memset(&l->players, 0, sizeof(l->players));
	memset(l->moved, 0, sizeof(l->moved));
	memset(&l->validation, 0, sizeof(l->validation));
	memset(&l->cache, 0, sizeof(l->cache));
	memset(l->service_due_ns, 0, sizeof(l->service_due_ns));
	while (!bpf_map_get_next_key(fd, NULL, &by))
		bpf_map_delete_elem(fd, &by);
	assert_int_equal(bpf_map_update_elem(bpf_map__fd(k->skel->maps.recent), &table,
					     &nobody, BPF_ANY),
			 0);
	l->clock_ns += 100 * SECOND;
}

/* A known client of each IP version, a player, and what is cached for Quake III. */
static void fill_cache(struct live *l)
{
	static const char *const known[] = { "192.0.2.1", "2001:db8:1::1" };
	__u32 minute = reputation_minute(l->clock_ns);
	const struct cache_request *forms;
	size_t count;

	for (size_t i = 0; i < COUNT(known); i++)
		for (__u32 ago = 3; ago; ago--)
			reputation_note(&l->cache.reputation, net_of(known[i]), 64, 0,
					minute - ago, l->keys);
	reputation_note(&l->cache.reputation, net_of("203.0.113.9"), 64,
			REPUTATION_PLAYER, minute, l->keys);
	l->cache.cap = (struct cache_cap){ .byte_ns = SECOND / 200, .burst_ns = SECOND };
	forms = cache_requests(FAMILY_QUAKE3, &count);
	assert_in_range(count, 4, 64);
	assert_null(cache_entry_make(FAMILY_QUAKE3, &forms[3], "", 0, STATUS,
				     sizeof(STATUS) - 1, CACHE_TEXT, l->clock_ns,
				     &l->cache.entries[3].half[1]));
	l->cache.entries[3].generation = 1;
}

/* The cached responses are as fresh as the daemon keeps them. */
static void refresh(enum wire_family family)
{
	if (family != FAMILY_QUAKE3)
		return;
	for (int i = 0; i < SHIELDS; i++)
		kerns[i].live->cache.entries[3].half[1].made_ns = kerns[i].live->clock_ns;
}

static struct service service_of(enum wire_family family, int setting)
{
	struct service s = kern_open_service(family);

	for (int i = 0; i < CLASS_BUDGETS; i++) {
		/* No two classes alike, or it would not matter which of them pays. */
		s.budget[i].source = kern_rate(2 + i % 3, 3 + i % 3);
		s.budget[i].prefix = kern_rate(4 + i % 2, 4 + i % 2);
		if (setting == LOAD)
			s.budget[i].service = kern_rate(1, 1 + i % 2);
	}
	for (size_t i = 0; i < COUNT(s.policy); i++)
		s.policy[i] = (__u8)((i + family) % (POLICY_PASS + 1));
	s.validation = setting == ALWAYS ? VALIDATION_ALWAYS : VALIDATION_UNDER_LOAD;
	s.cache = setting == ALWAYS ? CACHE_ALWAYS : CACHE_UNDER_LOAD;
	return s;
}

static void serve(enum wire_family family, int setting, const __u64 spent[2])
{
	struct service s = service_of(family, setting);

	back.peer = NULL;
	for (int i = 0; i < SHIELDS; i++) {
		struct live *l = kerns[i].live;

		forget(&kerns[i]);
		kern_service(&kerns[i], 0, 0, &s);
		kern_port(&kerns[i], 0, SPORT, 0, false);
		l->sampling = (struct sampling){ .every = 4, .any = 1, .phase = 3 };
		l->amplification =
			(struct amplification_limit){ .byte_ns = 20 * SECOND / 16384,
						      .window_ns = 20 * SECOND };
		for (int use = 0; use < CHALLENGE_USES; use++)
			l->validation.share[0][use] = kern_rate(spent[0], spent[1]);
		/* A server with a key, without one, and one with a key that is not known.
		 */
		l->validation.keys[0].state = setting == QUIET ? KEYS_NONE : KEYS_KNOWN;
		if (setting == ALWAYS && spent[0] == 1)
			l->validation.keys[0].state = KEYS_UNKNOWN;
		l->validation.keys[0].length = 60;
		fill_cache(l);
	}
	all_may_be_listed(true);
}

static void agree(enum wire_family family, int setting, const __u64 spent[2])
{
	const char *text = getenv("KERN_ROUNDS");
	__u64 rounds = text ? strtoul(text, NULL, 10) / 20 : rounds_of(ROUNDS);
	static struct sent s;

	serve(family, setting, spent);
	for (__u64 n = 0; n < rounds; n++) {
		refresh(family);
		step(family, &s);
		if (n % 32 == 31)
			same_counters(&s);
	}
	same_counters(&s);
	same_everything(&s);
	note_reasons();
}

static void both_paths_agree_about_a_frame_of_any_shape(void **state)
{
	static const enum wire_family families[] = {
		FAMILY_QUAKE3,	 FAMILY_QUAKEWORLD,	FAMILY_QUAKE2,
		FAMILY_NETQUAKE, FAMILY_QUAKE_ENHANCED, FAMILY_AUTO
	};
	static const __u64 shares[][2] = { { 20, 5 }, { 1, 1 } };
	static const enum reason wanted[] = {
		REASON_CHALLENGED,    REASON_GREYLISTED,      REASON_VALIDATED,
		REASON_CACHED_KNOWN,  REASON_CACHED_PLAYER,   REASON_CACHED_RECURRING,
		REASON_SERVICE_LIMIT, REASON_SOURCE_LIMIT,    REASON_PREFIX_LIMIT,
		REASON_PLAYER,	      REASON_PLAYER_MISMATCH, REASON_INVALID_COOKIE,
		REASON_FRAGMENT,      REASON_CACHED_IN_LIMITS
	};

	(void)state;
	random_state = seed;
	for (size_t f = 0; f < COUNT(families); f++) {
		for (int setting = 0; setting < SETTINGS; setting++)
			for (size_t i = 0; i < COUNT(shares); i++)
				agree(families[f], setting, shares[i]);
		kern_same_maps(&kerns[FAST], &kerns[SLOW]);
	}
	for (size_t i = 0; i < COUNT(wanted); i++) {
		/* So few need not meet all. */
		if (getenv("KERN_ROUNDS") || rounds_are_few() || reasons[wanted[i]])
			continue;
		print_error("SEED=%u: never %s\n", seed, reason_name(wanted[i]));
		fail();
	}
}

static int enter(void **state)
{
	(void)state;
	ways_open(kerns, SHIELDS);
	memset(&was, 0, sizeof(was));
	return 0;
}

static int leave(void **state)
{
	(void)state;
	for (int i = 0; i < SHIELDS; i++)
		kern_close(&kerns[i]);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			both_paths_agree_about_a_frame_of_any_shape, enter, leave),
	};

	seed = ways_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
