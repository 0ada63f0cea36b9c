// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * One frame in, one verdict and one counter out: every way to wrap a datagram, through
 * the program in the kernel.
 * stubs: shield_cache shield_out shield_joined
 */
#include "kern/kern_support.h"

#include "spellings.h"

#define STATUS "\xff\xff\xff\xffgetstatus"
#define Q      .payload = STATUS, .n = sizeof(STATUS) - 1
#define TAG    ETH_P_8021Q
#define AD     ETH_P_8021AD
#define HOP    0
#define ROUTE  43
#define FRAG   44
#define AH     51
#define NONE   59
#define DEST   60
#define MH     135
#define EXTS(...)                              \
	.ipv6 = true, .exts = { __VA_ARGS__ }, \
	.ext_count = sizeof((__u8[]){ __VA_ARGS__ })

static struct kern kern;

enum expected {
	SEEN,
	OTHER
};

/* SEEN: a query to the service, within its budget. */
#define IS_QUERY   SEEN, KIND_GETSTATUS, REASON_WITHIN_LIMITS, XDP_PASS
#define IS_FRAG	   SEEN, KIND_FRAGMENT, REASON_FRAGMENT, XDP_DROP
#define IS_BAD	   SEEN, KIND_BAD_LENGTH, REASON_MALFORMED, XDP_DROP
#define IS_ODD	   SEEN, KIND_MALFORMED, REASON_MALFORMED, XDP_DROP
#define IS_RUNT	   SEEN, KIND_RUNT, REASON_MALFORMED, XDP_DROP
#define PASSED(as) OTHER, OTHER_##as, 0, XDP_PASS
#define TOO_LONG   OTHER, OTHER_TOO_MANY_HEADERS, 0, XDP_DROP

static const struct {
	const char *name;
	struct frame_spec spec;
	enum expected expected;
	int kind; /* enum wire_kind, or enum other */
	enum reason reason;
	int action;
} rows[] = {
	{ "plain", { Q }, IS_QUERY },
	{ "plain v6", { Q, .ipv6 = true }, IS_QUERY },
	{ "padded to the Ethernet minimum", { Q, .padding = 5 }, IS_QUERY },
	{ "much padding", { Q, .padding = 900 }, IS_QUERY },
	{ "padded v6", { Q, .ipv6 = true, .padding = 40 }, IS_QUERY },
	/* VLAN tags. Linux strips any number of those with id 0. */
	{ "one tag", { Q, .tags = { TAG } }, IS_QUERY },
	{ "one service tag", { Q, .tags = { AD } }, IS_QUERY },
	{ "two tags", { Q, .tags = { AD, TAG } }, IS_QUERY },
	{ "two tags v6", { Q, .tags = { TAG, TAG }, .ipv6 = true }, IS_QUERY },
	{ "three tags", { Q, .tags = { TAG, TAG, TAG } }, TOO_LONG },
	{ "three service tags", { Q, .tags = { AD, AD, AD } }, TOO_LONG },
	{ "six tags v6",
	  { Q, .tags = { AD, TAG, TAG, TAG, TAG, TAG }, .ipv6 = true },
	  TOO_LONG },
	{ "a tag Linux does not know", { Q, .tags = { 0x9100 } }, PASSED(NOT_IP) },
	{ "ARP", { Q, .ethertype = 0x0806 }, PASSED(NOT_IP) },
	{ "IPv4 called IPv6", { Q, .ethertype = ETH_P_IPV6 }, PASSED(UNPARSED) },
	{ "IPv6 called IPv4",
	  { Q, .ipv6 = true, .ethertype = ETH_P_IP },
	  PASSED(UNPARSED) },
	/* IPv4 header. */
	{ "one option", { Q, .options = 1 }, IS_ODD },
	{ "all options", { Q, .options = 10 }, IS_ODD },
	{ "all options and two tags", { Q, .options = 10, .tags = { AD, TAG } }, IS_ODD },
	{ "header shorter than a header", { Q, .ihl = 4 }, PASSED(UNPARSED) },
	{ "version 6 in IPv4", { Q, .version = 6 }, PASSED(UNPARSED) },
	{ "version 5 in IPv6", { Q, .version = 5, .ipv6 = true }, PASSED(UNPARSED) },
	{ "UDP-Lite", { Q, .protocol = 136 }, PASSED(NOT_UDP) },
	{ "TCP", { Q, .protocol = 6 }, PASSED(NOT_UDP) },
	{ "TCP v6", { Q, .protocol = 6, .ipv6 = true }, PASSED(NOT_UDP) },
	{ "another port", { Q, .dport = 27961 }, PASSED(NO_SERVICE) },
	{ "from the port", { Q, .dport = 27961, .sport = 27960 }, PASSED(NO_SERVICE) },
	/* Fragments: the first has the ports, the others are nothing without it. */
	{ "first fragment", { Q, .more = true }, IS_FRAG },
	{ "first fragment, options", { Q, .more = true, .options = 3 }, IS_FRAG },
	{ "middle fragment", { Q, .more = true, .offset = 5 }, PASSED(LATER_FRAGMENT) },
	{ "last fragment", { Q, .offset = 1 }, PASSED(LATER_FRAGMENT) },
	{ "furthest fragment", { Q, .offset = 0x1fff }, PASSED(LATER_FRAGMENT) },
	{ "first fragment of another port",
	  { Q, .more = true, .dport = 9 },
	  PASSED(NO_SERVICE) },
	{ "first fragment v6",
	  { Q, .ipv6 = true, .fragment = true, .more = true },
	  IS_FRAG },
	{ "first fragment of 8 bytes",
	  { .payload = STATUS, .n = 8, .more = true },
	  IS_FRAG },
	{ "first fragment of 7 bytes",
	  { .payload = STATUS, .n = 7, .more = true },
	  IS_BAD },
	{ "first fragment of a header",
	  { .payload = STATUS, .n = 0, .more = true },
	  IS_BAD },
	{ "first fragment of a header v6",
	  { .payload = STATUS, .n = 0, .ipv6 = true, .fragment = true, .more = true },
	  IS_BAD },
	{ "atomic fragment v6", { Q, .ipv6 = true, .fragment = true }, IS_QUERY },
	{ "atomic fragment v6, before options",
	  { Q, EXTS(DEST), .fragment = true, .fragment_first = true },
	  IS_ODD },
	{ "atomic fragment v6, behind options",
	  { Q, EXTS(DEST), .fragment = true },
	  IS_ODD },
	{ "two atomic fragments v6", { Q, EXTS(FRAG), .fragment = true }, IS_ODD },
	{ "later fragment v6",
	  { Q, .ipv6 = true, .fragment = true, .offset = 1 },
	  PASSED(LATER_FRAGMENT) },
	{ "later fragment v6, before options",
	  { Q, EXTS(DEST), .fragment = true, .fragment_first = true, .offset = 1 },
	  PASSED(LATER_FRAGMENT) },
	{ "first fragment v6, before options",
	  { Q, EXTS(DEST), .fragment = true, .fragment_first = true, .more = true },
	  IS_FRAG },
	{ "first fragment v6, behind options",
	  { Q, EXTS(DEST), .fragment = true, .more = true },
	  IS_FRAG },
	/* IPv6 extension headers. */
	{ "hop-by-hop", { Q, EXTS(HOP) }, IS_ODD },
	{ "routing", { Q, EXTS(ROUTE) }, IS_ODD },
	{ "destination", { Q, EXTS(DEST) }, IS_ODD },
	{ "authentication", { Q, EXTS(AH), .ext_words = 4 }, IS_ODD },
	{ "mobility", { Q, EXTS(MH) }, IS_ODD },
	{ "all of them", { Q, EXTS(HOP, DEST, ROUTE, FRAG, AH, DEST) }, IS_ODD },
	{ "long options", { Q, EXTS(DEST), .ext_words = 31 }, IS_ODD },
	{ "the longest options", { Q, EXTS(DEST), .ext_words = 255 }, IS_ODD },
	{ "two tags and six headers",
	  { Q, EXTS(HOP, DEST, ROUTE, FRAG, AH, DEST), .tags = { AD, TAG } },
	  IS_ODD },
	{ "six of one kind", { Q, EXTS(DEST, DEST, DEST, DEST, DEST, DEST) }, IS_ODD },
	{ "seven", { Q, EXTS(DEST, DEST, DEST, DEST, DEST, DEST, DEST) }, TOO_LONG },
	{ "seven, to another port",
	  { Q, EXTS(DEST, DEST, DEST, DEST, DEST, DEST, DEST), .dport = 9 },
	  TOO_LONG },
	{ "twenty",
	  { Q, EXTS(60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60,
		    60, 60, 60) },
	  TOO_LONG },
	{ "no next header", { Q, EXTS(DEST), .protocol = NONE }, PASSED(NOT_UDP) },
	{ "ESP", { Q, .ipv6 = true, .protocol = 50 }, PASSED(NOT_UDP) },
	{ "ICMPv6 behind options", { Q, EXTS(HOP), .protocol = 58 }, PASSED(NOT_UDP) },
	/* Lengths that lie. */
	{ "total below the header",
	  { Q, .ip_length = FRAME_SAYS(19) },
	  PASSED(UNPARSED) },
	{ "total beyond the frame",
	  { Q, .ip_length = FRAME_SAYS(42) },
	  PASSED(UNPARSED) },
	{ "total of zero", { Q, .ip_length = FRAME_SAYS(0) }, PASSED(UNPARSED) },
	{ "total without a UDP header",
	  { Q, .ip_length = FRAME_SAYS(27) },
	  PASSED(UNPARSED) },
	{ "total that cuts the payload", { Q, .ip_length = FRAME_SAYS(40) }, IS_BAD },
	{ "UDP length of zero", { Q, .udp_length = FRAME_SAYS(0) }, IS_BAD },
	{ "UDP length of 7", { Q, .udp_length = FRAME_SAYS(7) }, IS_BAD },
	{ "UDP length of 8", { Q, .udp_length = FRAME_SAYS(8) }, IS_RUNT },
	{ "UDP length beyond the packet", { Q, .udp_length = FRAME_SAYS(22) }, IS_BAD },
	{ "UDP length into the padding",
	  { Q, .udp_length = FRAME_SAYS(22), .padding = 60 },
	  IS_BAD },
	{ "the longest UDP length", { Q, .udp_length = FRAME_SAYS(65535) }, IS_BAD },
	{ "UDP length that cuts the word",
	  { Q, .udp_length = FRAME_SAYS(8 + 9) },
	  SEEN,
	  KIND_OOB_UNKNOWN,
	  REASON_WITHIN_LIMITS,
	  XDP_PASS },
	{ "payload beyond the frame v6",
	  { Q, .ipv6 = true, .ip_length = FRAME_SAYS(22) },
	  PASSED(UNPARSED) },
	{ "payload of zero v6",
	  { Q, .ipv6 = true, .ip_length = FRAME_SAYS(0) },
	  PASSED(UNPARSED) },
	/* These two Linux delivers: up to the end of the frame, of the packet. */
	{ "payload of zero and hop-by-hop",
	  { Q, EXTS(HOP), .ip_length = FRAME_SAYS(0) },
	  IS_ODD },
	{ "UDP length of zero v6",
	  { Q, .ipv6 = true, .udp_length = FRAME_SAYS(0) },
	  IS_BAD },
	{ "payload that ends in the chain",
	  { Q, EXTS(DEST, DEST), .ip_length = FRAME_SAYS(12) },
	  PASSED(UNPARSED) },
	{ "payload that cuts UDP",
	  { Q, EXTS(DEST), .ip_length = FRAME_SAYS(15) },
	  PASSED(UNPARSED) },
};

static void every_wrapping(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct outcome o = kern_send(&kern, &rows[i].spec);
		bool right = o.action == rows[i].action &&
			     o.other == (rows[i].expected == OTHER);

		if (o.other)
			right = right && (int)o.what == rows[i].kind;
		else
			right = right && (int)o.kind == rows[i].kind && o.slot == 0 &&
				o.reason == rows[i].reason;
		if (!right)
			print_outcome(rows[i].name, &o);
		assert_true(right);
	}
}

/* A frame that ends early is never delivered, so it is passed, or judged as it was. */
static void every_truncation(void **state)
{
	__u8 frame[FRAME_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t n = frame_build(&rows[i].spec, frame);

		if (rows[i].spec.padding || rows[i].expected == OTHER)
			continue;
		if (rows[i].spec.ip_length && rows[i].spec.ip_length != FRAME_SAYS(0))
			continue;
		for (size_t cut = ETH_HLEN; cut < n; cut++) {
			struct outcome o = kern_run(&kern, frame, cut);

			/* Its length said "up to the end of the frame". */
			if (!o.other && rows[i].spec.ip_length == FRAME_SAYS(0) &&
			    o.kind == KIND_BAD_LENGTH)
				continue;
			if (!o.other || o.what != OTHER_UNPARSED) {
				print_error("cut to %zu of %zu: ", cut, n);
				print_outcome(rows[i].name, &o);
			}
			assert_true(o.other && o.what == OTHER_UNPARSED);
			assert_int_equal(o.action, XDP_PASS);
		}
	}
}

static const struct frame_spec wrappings[] = {
	{ .padding = 0 },
	{ .padding = 30 },
	{ .tags = { TAG } },
	{ .tags = { AD, TAG } },
	{ .options = 10 },
	{ .ipv6 = true },
	{ EXTS(HOP, DEST, ROUTE, FRAG, AH, DEST) },
	{ EXTS(HOP), .ip_length = FRAME_SAYS(0) },
	{ .ipv6 = true, .fragment = true },
};

/*
 * The budget of a word, or the strict one, however it is spelt and wrapped: for each
 * family, what is charged is what its class says, or UNKNOWN, or nothing and it is
 * dropped: so is each word behind options or extension headers.
 */
static void no_evasion_has_a_looser_budget(void **state)
{
	static const __u16 ports[] = { 26000, 27500, 27910, 27960, 26001, 26002, 27950 };
	char bytes[128] = "\xff\xff\xff\xff";

	(void)state;
	for (size_t i = 0; i < COUNT(spellings); i++) {
		memcpy(bytes + 4, spellings[i].text, spellings[i].n);
		for (size_t w = 0; w < COUNT(wrappings); w++) {
			for (int f = 0; f < FAMILY_COUNT; f++) {
				struct frame_spec spec = wrappings[w];
				bool odd = spec.options || spec.ext_count;
				enum wire_kind kind =
					odd ? KIND_MALFORMED : spellings[i].kind;
				enum wire_class own = odd ? NOBODY : wire_class(f, kind);
				struct outcome o;

				spec.payload = bytes;
				spec.n = 4 + spellings[i].n;
				spec.dport = ports[f];
				o = kern_send(&kern, &spec);
				if (o.other || o.kind != kind)
					print_outcome(spellings[i].text, &o);
				assert_false(o.other);
				assert_int_equal(o.kind, kind);
				assert_int_equal(o.charged, own);
			}
		}
	}
}

/* And the words themselves, of every family, at every family's server. */
static void every_word_has_its_budget(void **state)
{
	static const struct {
		enum wire_kind kind;
		const char *word;
	} words[] = {
#define AS_ROW(kind, word, class_, families, sent) { KIND_##kind, word },
		WIRE_WORDS(AS_ROW)
#undef AS_ROW
	};
	static const __u16 ports[] = { 26000, 27500, 27910, 27960, 26001, 26002, 27950 };
	char bytes[64] = "\xff\xff\xff\xff";

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++) {
		size_t n = strlen(words[i].word);

		memcpy(bytes + 4, words[i].word, n);
		bytes[4 + n] = '\n';
		for (int f = 0; f < FAMILY_COUNT; f++) {
			struct frame_spec spec = { .payload = bytes,
						   .n = 4 + n + 1,
						   .dport = ports[f] };
			enum wire_class class = wire_class(f, words[i].kind);
			struct outcome o = kern_send(&kern, &spec);

			assert_false(o.other);
			assert_int_equal(o.kind, words[i].kind);
			assert_int_equal(o.charged,
					 class < CLASS_BUDGETS ? class : NOBODY);
			assert_int_equal(o.action,
					 class < CLASS_BUDGETS ? XDP_PASS : XDP_DROP);
		}
	}
}

/*
 * Where malformed datagrams are not dropped, one behind options has the rules of any
 * other: no policy must let it pass without them.
 */
static void options_lift_no_rule(void **state)
{
	static const __u8 policies[] = { POLICY_LIMIT, POLICY_PASS };
	const struct service before = kern.live->tables[0].services[0];
	struct service s = before;

	(void)state;
	for (size_t i = 0; i < COUNT(policies); i++) {
		s.policy[CLASS_MALFORMED - CLASS_BUDGETS] = policies[i];
		kern_service(&kern, 0, 0, &s);
		for (size_t row = 0; row < COUNT(rows); row++) {
			struct frame_spec spec = rows[row].spec;
			struct outcome o;

			if (rows[row].kind != KIND_MALFORMED ||
			    rows[row].expected != SEEN)
				continue;
			o = kern_send(&kern, &spec);
			assert_int_equal(o.kind, KIND_GETSTATUS);
			assert_int_equal(o.charged, CLASS_QUERY);
		}
	}
	kern_service(&kern, 0, 0, &before);
}

static int enter(void **state)
{
	static const __u16 ports[] = { 26000, 27500, 27910, 27960, 26001, 26002, 27950 };
	/* Slot 0 is Quake III's: what a test does not name goes there. */
	static const int slots[] = { 1, 2, 3, 0, 4, 5, 6 };

	_Static_assert(COUNT(slots) == FAMILY_COUNT && COUNT(ports) == FAMILY_COUNT,
		       "a service of each protocol");

	(void)state;
	if (kern_open(&kern)) {
		print_message("not allowed to load BPF programs: nothing tested\n");
		return 0;
	}
	for (int f = 0; f < FAMILY_COUNT; f++) {
		struct service s = kern_open_service((enum wire_family)f);

		kern_service(&kern, 0, (__u32)slots[f], &s);
		kern_port(&kern, 0, ports[f], slots[f], false);
	}
	return 0;
}

static int leave(void **state)
{
	(void)state;
	kern_close(&kern);
	return 0;
}

static int need_kernel(void **state)
{
	(void)state;
	if (!kern.skel)
		skip();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_wrapping, need_kernel),
		cmocka_unit_test_setup(every_truncation, need_kernel),
		cmocka_unit_test_setup(no_evasion_has_a_looser_budget, need_kernel),
		cmocka_unit_test_setup(every_word_has_its_budget, need_kernel),
		cmocka_unit_test_setup(options_lift_no_rule, need_kernel),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
