/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * search.h - the frame that costs the shield most.
 *
 * Whoever floods will look for it, so it is looked for here: random frames, each changed
 * again and again as long as the shield then takes no fewer steps. What changes is the
 * family, the spelling, tags, options, extension headers, fragments and lengths. Steps
 * are counted, not timed, so the search hears no noise; what it finds is then a row of
 * the bench as any other.
 */
#ifndef SEARCH_H
#define SEARCH_H

#include "count.h"
#include "lib/names.h"
#include "spellings.h"

#define SEARCH_TEXT    64 /* octets of payload that are chosen; behind them are zeros */
#define SEARCH_LONGEST 1400
#define SEARCH_CLIMB   1500 /* frames after one start */

struct finding {
	struct frame_spec frame;
	char text[SEARCH_LONGEST];
	long steps;
};

enum sought {
	SOUGHT_PLAIN, /* no tags, options, extension headers; whole */
	SOUGHT_ANY,
	SOUGHT
};

/* What whoever searches knows, and where. */
static const struct quest {
	const char *name;
	enum program program; /* with a service of each family */
	bool player; /* the address and port of one who plays there */
	bool listed; /* an address near one that a list names */
	long most[FAMILY_COUNT][SOUGHT]; /* steps: see kern_steps.c */
} quests[] = {
	{ "",
	  SHIELD_FAMILIES,
	  false,
	  false,
	  {
		  [FAMILY_NETQUAKE] = { 321, 500 },
		  [FAMILY_QUAKEWORLD] = { 366, 520 },
		  [FAMILY_QUAKE2] = { 338, 500 },
		  [FAMILY_QUAKE3] = { 321, 500 },
		  [FAMILY_QUAKE_ENHANCED] = { 321, 500 },
		  [FAMILY_AUTO] = { 328, 500 },
		  [FAMILY_MASTER] = { 340, 500 },
	  } },
	{ ", as shipped",
	  SHIELD_SHIPPED,
	  false,
	  false,
	  {
		  [FAMILY_NETQUAKE] = { 580, 690 },
		  [FAMILY_QUAKEWORLD] = { 604, 695 },
		  [FAMILY_QUAKE2] = { 631, 775 },
		  [FAMILY_QUAKE3] = { 690, 860 },
		  [FAMILY_QUAKE_ENHANCED] = { 580, 750 },
		  [FAMILY_AUTO] = { 570, 690 },
		  [FAMILY_MASTER] = { 340, 500 },
	  } },
	{ ", in a player's name",
	  SHIELD_FAMILIES,
	  true,
	  false,
	  {
		  [FAMILY_NETQUAKE] = { 780, 980 },
		  [FAMILY_QUAKEWORLD] = { 975, 1165 },
		  [FAMILY_QUAKE2] = { 909, 1100 },
		  [FAMILY_QUAKE3] = { 930, 1120 },
		  [FAMILY_QUAKE_ENHANCED] = { 960, 1150 },
		  [FAMILY_AUTO] = { 1060, 1255 },
		  [FAMILY_MASTER] = { 1090, 1285 },
	  } },
	{ ", near one listed",
	  SHIELD_FAMILIES,
	  false,
	  true,
	  {
		  [FAMILY_NETQUAKE] = { 740, 1056 },
		  [FAMILY_QUAKEWORLD] = { 830, 1056 },
		  [FAMILY_QUAKE2] = { 820, 1056 },
		  [FAMILY_QUAKE3] = { 790, 1056 },
		  [FAMILY_QUAKE_ENHANCED] = { 740, 1056 },
		  [FAMILY_AUTO] = { 756, 1056 },
		  [FAMILY_MASTER] = { 758, 1056 },
	  } },
};

#define QUESTS COUNT(quests)

static struct finding findings[QUESTS][FAMILY_COUNT][SOUGHT];
static unsigned int search_random = 20261122;

static unsigned int search_below(unsigned int n)
{
	return (unsigned int)rand_r(&search_random) % n;
}

/* --- frames ------------------------------------------------------------------------- */

static void search_word(struct finding *f)
{
	static const struct {
		const char *text;
		size_t n;
	} words[] = {
#define AS_WORD(kind, word, class_, families, sent) { word, sizeof(word) - 1 },
		WIRE_WORDS(AS_WORD)
#undef AS_WORD
	};
	unsigned int at = search_below(COUNT(words) + COUNT(spellings));
	bool known = at < COUNT(words);
	const char *text = known ? words[at].text : spellings[at - COUNT(words)].text;
	size_t n = known ? words[at].n : spellings[at - COUNT(words)].n;

	memset(f->text, 0xff, 4);
	memcpy(f->text + 4, text, n);
	f->frame.n = 4 + n + search_below(8);
}

static void search_head(struct finding *f)
{
	static const struct {
		const char *bytes;
		size_t n;
	} heads[] = {
		{ "\x16\xfe\xfd\0\0\0\0\0\0\0\0\0\x30\1", 14 },
		{ "\x17\xfe\xfd\0\1\0\0\0\0\0\0\0\4", 13 },
		{ "\0\1\0\x18\0\0\0\1", 8 },
		{ "\0\x10\0\x18\0\0\0\1", 8 },
		{ "\0\2\0\x08\0\0\0\1", 8 },
		{ "\x80\0\0\x0c\1QUAKE", 10 },
		{ "a\n17\n4\n", 7 },
		{ "stdlog 1\n", 9 },
		{ "query\n", 6 },
		{ "\5\0\0\0\x34\x12\0\0\x34\x12", 10 },
	};
	unsigned int at = search_below(COUNT(heads));

	memcpy(f->text, heads[at].bytes, heads[at].n);
	f->frame.n = heads[at].n + search_below(40);
}

static void search_start(struct finding *f, enum wire_family family)
{
	*f = (struct finding){ .frame = { .dport = (__u16)(PORT + family),
					  .ipv6 = search_below(2) } };
	if (search_below(3))
		search_word(f);
	else
		search_head(f);
}

static void search_payload(struct finding *f)
{
	static const char dear[] = "\0\n \t\"*\\\x14/c\x7f\xff";
	unsigned int at = search_below(SEARCH_TEXT);

	switch (search_below(7)) {
	case 0:
		f->text[at] = (char)search_below(256);
		break;
	case 1:
		f->text[at] = dear[search_below(sizeof(dear) - 1)];
		break;
	case 2:
		f->text[at] ^= 0x20;
		break;
	case 3:
		f->frame.n = search_below(SEARCH_TEXT);
		break;
	case 4:
		f->frame.n = search_below(SEARCH_LONGEST);
		break;
	case 5: /* the length that NetQuake wants */
		f->text[2] = (char)(f->frame.n >> 8);
		f->text[3] = (char)f->frame.n;
		break;
	default:
		search_below(2) ? search_word(f) : search_head(f);
	}
}

static void search_wrapping(struct finding *f)
{
	static const __u8 exts[] = { 0, 43, 44, 51, 60, 135 };
	struct frame_spec *s = &f->frame;
	unsigned int tags = search_below(4);

	switch (search_below(6)) {
	case 0:
		for (unsigned int i = 0; i < 3; i++)
			s->tags[i] = i >= tags	       ? 0
				     : search_below(2) ? ETH_P_8021Q
						       : ETH_P_8021AD;
		break;
	case 1:
		s->options = (__u8)search_below(11);
		break;
	case 2:
		s->ext_count = (__u8)search_below(8);
		break;
	case 3:
		s->exts[search_below(7)] = exts[search_below(sizeof(exts))];
		break;
	case 4:
		s->ext_words = (__u8)search_below(4);
		break;
	default:
		s->more = s->ipv6 ? false : search_below(4) == 0;
		s->fragment = search_below(4) == 0;
	}
}

static void search_change(struct finding *f, enum sought sought)
{
	unsigned int what = search_below(sought == SOUGHT_ANY ? 12 : 6);

	if (what < 5)
		search_payload(f);
	else if (what == 5)
		f->frame.ipv6 = !f->frame.ipv6;
	else
		search_wrapping(f);
}

/* --- climbing ----------------------------------------------------------------------- */

/* All budgets are spent for a long time. */
static void search_begin(struct live *live, const struct quest *quest, __u64 now)
{
	for (size_t i = 0; i < COUNT(live->service_due_ns); i++)
		live->service_due_ns[i] = now + (1ull << 50);
	live->lists = quest->listed ? LISTS_ALLOW | LISTS_DENY : 0;
	memset(live->acl_prefilter, (int)live->lists, sizeof(live->acl_prefilter));
}

static long search_count(struct steps *s, struct live *live, const struct quest *quest,
			 struct finding *f)
{
	struct frame_spec *spec = &f->frame;
	__u8 frame[FRAME_MAX];
	int action;
	__u32 n;

	spec->payload = f->text;
	if (quest->player) {
		spec->from = spec->ipv6 ? PLAYER_ADDRESS6 : PLAYER_ADDRESS4;
		spec->sport = PLAYER_PORT;
		if (enter_player(live, (__u16)(spec->dport - PORT), spec->ipv6, false,
				 s->now_ns))
			return -1;
	}
	n = frame_of(spec, frame);
	return steps_run(s, frame, n, &action);
}

/* False: the program did what none does. */
static bool search_climb(struct steps *s, struct live *live, const struct quest *quest,
			 enum wire_family family, enum sought sought,
			 struct finding *best)
{
	struct finding now, next;

	search_start(&now, family);
	now.steps = search_count(s, live, quest, &now);
	for (int i = 0; i < SEARCH_CLIMB && now.steps >= 0; i++) {
		next = now;
		for (unsigned int changes = 1 + search_below(3); changes; changes--)
			search_change(&next, sought);
		next.steps = search_count(s, live, quest, &next);
		if (next.steps < 0)
			return false;
		if (next.steps >= now.steps)
			now = next;
	}
	if (now.steps > best->steps)
		*best = now;
	best->frame.payload = best->text;
	return now.steps >= 0;
}

/* As often as is said, and then until so many ms of this processor's time are over, for
 * each family and each sought. */
static int search_all(struct steps *s, struct live *live, const struct quest *quest,
		      int climbs, int ms)
{
	search_begin(live, quest, s->now_ns);
	for (int family = 0; family < FAMILY_COUNT; family++) {
		for (int sought = 0; sought < SOUGHT; sought++) {
			struct finding *best = &findings[quest - quests][family][sought];
			clock_t end = clock() + (clock_t)ms * CLOCKS_PER_SEC / 1000;

			for (int i = 0; i < climbs || clock() < end; i++)
				if (!search_climb(s, live, quest,
						  (enum wire_family)family,
						  (enum sought)sought, best))
					return -EINVAL;
		}
	}
	return 0;
}

/* Into @ret, of 64 octets. */
static void search_name(const struct quest *quest, enum wire_family family,
			enum sought sought, char *ret)
{
	snprintf(ret, 64, "found: %s%s%s", family_name(family), quest->name,
		 sought == SOUGHT_PLAIN ? ", plain" : "");
}

/* What was found. */
static void search_show(FILE *to, const struct frame_spec *s)
{
	int tags = 0;

	while (s->tags[tags])
		tags++;
	fprintf(to,
		"\t%s, %d tags, %d words of options, %d headers of %d words%s, %zu octets:",
		s->ipv6 ? "IPv6" : "IPv4", tags, s->ipv6 ? 0 : s->options,
		s->ipv6 ? s->ext_count : 0, s->ext_words,
		s->more || s->fragment ? ", a fragment" : "", s->n);
	for (size_t i = 0; i < s->n && i < 48; i++)
		fprintf(to, " %02x", (__u8)s->payload[i]);
	fprintf(to, "\n");
}

#endif /* SEARCH_H */
