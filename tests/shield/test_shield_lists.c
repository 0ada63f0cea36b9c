// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_shield_lists.c - the three lists through all that can be done to them: after each
 * step every entry, every mark and the time of the next end, as text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>
#include <cmocka.h>

#include "shield/fake_maps.h"
#include "shield/list_one.h"
#include "stderr.h"

#define HOUR (3600 * SECOND)

static __u8 late_value, *late; /* written when programs are waited for; NULL: nothing */

static __u64 waited; /* us that usleep() was asked for */
static int holder = -1; /* a descriptor with the lock, let go after HELD_US */
#define HELD_US 2500000

/* master_note(), which had read a byte of the prefilter before it was changed. */
int usleep(useconds_t us)
{
	waited += us;
	if (holder >= 0 && waited >= HELD_US) {
		close(holder);
		holder = -1;
	}
	if (late)
		*late = late_value;
	late = NULL;
	return 0;
}

static __u64 begun; /* the time that "+N" is from */
static char text[4096];

static struct cidr net(const char *words)
{
	struct cidr ret;

	assert_true(cidr_parse(words, &ret));
	return ret;
}

static void add_entry(const struct cidr *cidr, const struct list_entry *entry,
		      void *context)
{
	char network[CIDR_TEXT], until[40] = "";

	cidr_format(cidr, network);
	assert_int_equal(entry->length, cidr->length);
	assert_int_equal(entry->pad, 0);
	if (entry->until_ns)
		snprintf(until, sizeof(until), " until +%llu",
			 (unsigned long long)((entry->until_ns - begun) / SECOND));
	sprintf(text + strlen(text), "%s%s %s%s%s%s%s%s%s\n", (const char *)context,
		network, entry->origins & LIST_RUNTIME ? "L" : "",
		entry->origins & LIST_RUNTIME_UNLIMITED ? "l" : "",
		entry->origins & LIST_CONFIG ? "C" : "",
		entry->origins & LIST_CONFIG_UNLIMITED ? "c" : "", until,
		*entry->comment ? " # " : "", entry->comment);
}

/* All that there is of lists. */
static void is(const char *want)
{
	__u32 cells[2] = { 0 }, first[2] = { 0 };
	const struct live *live = shield.shared;

	text[0] = '\0';
	shield_list_each(&shield, LIST_ALLOW, add_entry, (char[]){ "+" });
	shield_list_each(&shield, LIST_DENY, add_entry, (char[]){ "-" });
	shield_list_each(&shield, LIST_FOLLOW, add_entry, (char[]){ "~" });
	for (__u32 i = ACL_PREFILTER_CELLS; i-- > 0;)
		for (int l = 0; l < 2; l++)
			if (live->acl_prefilter[i] & (l ? LISTS_DENY : LISTS_ALLOW)) {
				cells[l]++;
				first[l] = i;
			}
	for (int l = 0; l < 2; l++)
		if (cells[l])
			sprintf(text + strlen(text), "%s %u from %x\n",
				l ? "denied" : "allowed", cells[l], first[l]);
	sprintf(text + strlen(text), "%s%s%s", live->lists & LISTS_ALLOW ? "allow " : "",
		live->lists & LISTS_DENY ? "deny " : "",
		live->sampling.follow_listed ? "follow " : "");
	if (live->acl_end_ns)
		sprintf(text + strlen(text), "end +%llu",
			(unsigned long long)((live->acl_end_ns - begun) / SECOND));
	assert_string_equal(text, want);
	assert_int_equal(live->lists & ~(LISTS_ALLOW | LISTS_DENY), 0);
}

static int add(enum list list, const char *network, bool unlimited, __u64 for_ns,
	       const char *comment)
{
	struct list_terms terms = { unlimited, for_ns, comment };
	struct cidr cidr = net(network);

	return shield_list_add(&shield, list, &cidr, &terms);
}

static int del(enum list list, const char *network)
{
	struct cidr cidr = net(network);

	return shield_list_del(&shield, list, &cidr);
}

static struct list_changes changes; /* of all apply() since the last undo() */

static void undo(void)
{
	shield_lists_undo(&shield, &changes);
	free(changes.rows);
	changes = (struct list_changes){ 0 };
}

static int apply(enum list list, const char *a, const char *b, bool second_unlimited)
{
	const struct cidr want[] = { net(a ? a : "::"), net(b ? b : "::") };
	const bool unlimited[] = { false, second_unlimited };

	return shield_list_apply(&shield, list, want, second_unlimited ? unlimited : NULL,
				 !!a + !!b, &changes);
}

static int begin(void **state)
{
	begun = fake_now;
	changes.count = 0;
	return fake_begin(state);
}

/* --- tests ----------------------------------------------------------------------------
 */

static void what_is_typed(void **state)
{
	(void)state;
	is("");
	assert_int_equal(add(LIST_ALLOW, "192.0.2.0/24", false, 0, NULL), 0);
	is("+192.0.2.0/24 L\nallowed 1 from c000\nallow ");
	assert_int_equal(add(LIST_ALLOW, "192.0.2.7", true, HOUR, "a friend"), 0);
	assert_int_equal(add(LIST_DENY, "10.0.0.0/14", false, 2 * HOUR, NULL), 0);
	assert_int_equal(add(LIST_FOLLOW, "2001:db8::/32", false, 0, "of theirs"), 0);
	is("+192.0.2.0/24 L\n+192.0.2.7 Ll until +3600 # a friend\n"
	   "-10.0.0.0/14 L until +7200\n~2001:db8::/32 L # of theirs\n"
	   "allowed 1 from c000\ndenied 4 from a00\nallow deny follow end +3600");
	/* Once more: what was typed last counts, all of it; the next end may be early. */
	assert_int_equal(add(LIST_ALLOW, "192.0.2.7", false, 0, NULL), 0);
	assert_int_equal(add(LIST_DENY, "10.0.0.0/14", false, HOUR / 2, "b"), 0);
	is("+192.0.2.0/24 L\n+192.0.2.7 L\n-10.0.0.0/14 L until +1800 # b\n"
	   "~2001:db8::/32 L # of theirs\n"
	   "allowed 1 from c000\ndenied 4 from a00\nallow deny follow end +1800");
	assert_int_equal(del(LIST_ALLOW, "192.0.2.8"), -ENOENT);
	assert_int_equal(del(LIST_ALLOW, "192.0.2.0/25"), -ENOENT);
	assert_int_equal(del(LIST_DENY, "192.0.2.7"), -ENOENT);
	assert_int_equal(del(LIST_ALLOW, "192.0.2.0/24"), 0);
	assert_int_equal(del(LIST_FOLLOW, "2001:db8::/32"), 0);
	is("+192.0.2.7 L\n-10.0.0.0/14 L until +1800 # b\n"
	   "allowed 1 from c000\ndenied 4 from a00\nallow deny end +1800");
	assert_int_equal(del(LIST_ALLOW, "192.0.2.7"), 0);
	assert_int_equal(del(LIST_DENY, "10.0.0.0/14"), 0);
	is("end +1800");
	assert_int_equal(del(LIST_DENY, "10.0.0.0/14"), -ENOENT);
}

/* A program that notes a master server at the same time loses no list's mark. */
static void a_late_mark_of_a_program_is_mended(void **state)
{
	__u8 *cells = shield.shared->acl_prefilter;

	(void)state;
	late = &cells[0xa00];
	late_value = LISTS_MASTER;
	assert_int_equal(add(LIST_DENY, "10.0.0.0/16", false, 0, NULL), 0);
	assert_null(late);
	assert_int_equal(cells[0xa00], LISTS_DENY | LISTS_MASTER);
	is("-10.0.0.0/16 L\ndenied 1 from a00\ndeny ");
	/* Nothing changes in the prefilter: no program is waited for. */
	late = &cells[0xa00];
	assert_int_equal(add(LIST_DENY, "10.0.7.0/24", false, 0, NULL), 0);
	assert_ptr_equal(late, &cells[0xa00]);
	assert_int_equal(del(LIST_DENY, "10.0.7.0/24"), 0);
	late_value = LISTS_DENY | LISTS_MASTER;
	assert_int_equal(del(LIST_DENY, "10.0.0.0/16"), 0);
	assert_null(late);
	assert_int_equal(cells[0xa00], LISTS_MASTER);
	is("");
}

/* A comment of the longest, and one that is cut. */
static void comments_have_an_end(void **state)
{
	char longest[LIST_COMMENT + 1], want[256];

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[LIST_COMMENT] = '\0';
	assert_int_equal(add(LIST_DENY, "10.0.0.1", false, 0, longest), 0);
	longest[LIST_COMMENT - 1] = '\0';
	snprintf(want, sizeof(want), "-10.0.0.1 L # %s\ndenied 1 from a00\ndeny ",
		 longest);
	is(want);
}

static void what_the_file_says(void **state)
{
	(void)state;
	assert_int_equal(add(LIST_ALLOW, "192.0.2.1", true, HOUR, "typed"), 0);
	assert_int_equal(apply(LIST_ALLOW, "192.0.2.1", "198.51.100.0/24", true), 0);
	assert_int_equal(apply(LIST_DENY, "203.0.113.9", NULL, false), 0);
	assert_int_equal(apply(LIST_FOLLOW, "203.0.113.9", "::/0", false), 0);
	is("+192.0.2.1 LlC until +3600 # typed\n+198.51.100.0/24 Cc\n-203.0.113.9 C\n"
	   "~203.0.113.9 C\n~::/0 C\nallowed 2 from c000\ndenied 1 from cb00\n"
	   "allow deny follow end +3600");
	/* Typed out: what the file says stays, and is nobody's to type out. */
	assert_int_equal(del(LIST_ALLOW, "192.0.2.1"), 0);
	assert_int_equal(del(LIST_ALLOW, "192.0.2.1"), -ENOENT);
	assert_int_equal(del(LIST_DENY, "203.0.113.9"), -ENOENT);
	/* Typed in over it. */
	assert_int_equal(add(LIST_DENY, "203.0.113.9", false, 0, "both"), 0);
	/* Unlimited no more; the other now, and they change places. */
	assert_int_equal(apply(LIST_ALLOW, "198.51.100.0/24", "192.0.2.1", true), 0);
	assert_int_equal(apply(LIST_FOLLOW, "::/0", NULL, false), 0);
	is("+192.0.2.1 Cc\n+198.51.100.0/24 C\n-203.0.113.9 LC # both\n~::/0 C\n"
	   "allowed 2 from c000\ndenied 1 from cb00\nallow deny follow end +3600");
	assert_int_equal(apply(LIST_ALLOW, "198.51.100.0/25", NULL, false), 0);
	assert_int_equal(apply(LIST_DENY, NULL, NULL, false), 0);
	assert_int_equal(apply(LIST_FOLLOW, NULL, NULL, false), 0);
	is("+198.51.100.0/25 C\n-203.0.113.9 L # both\nallowed 1 from c633\n"
	   "denied 1 from cb00\nallow deny end +3600");
}

/* All entries are as they were, with what was typed of them. */
static void what_is_undone_was_never_there(void **state)
{
	(void)state;
	assert_int_equal(add(LIST_ALLOW, "192.0.2.1", true, HOUR, "typed"), 0);
	assert_int_equal(apply(LIST_ALLOW, "192.0.2.1", NULL, false), 0);
	assert_int_equal(apply(LIST_DENY, "203.0.113.9", NULL, false), 0);
	assert_int_equal(add(LIST_DENY, "203.0.113.8", false, 0, NULL), 0);
	assert_int_equal(apply(LIST_FOLLOW, "::/0", NULL, false), 0);
	is("+192.0.2.1 LlC until +3600 # typed\n-203.0.113.9 C\n-203.0.113.8 L\n~::/0 C\n"
	   "allowed 1 from c000\ndenied 1 from cb00\nallow deny follow end +3600");
	changes.count = 0;
	assert_int_equal(apply(LIST_ALLOW, "198.51.100.1", "192.0.2.1", true), 0);
	assert_int_equal(apply(LIST_ALLOW, NULL, NULL, false), 0);
	assert_int_equal(apply(LIST_DENY, "203.0.113.8", NULL, false), 0);
	assert_int_equal(apply(LIST_FOLLOW, "::/0", "192.0.2.1", false), 0);
	is("+192.0.2.1 Ll until +3600 # typed\n-203.0.113.8 LC\n~::/0 C\n"
	   "~192.0.2.1 C\nallowed 1 from c000\ndenied 1 from cb00\n"
	   "allow deny follow end +3600");
	undo();
	/* Its order is that of the stand-in for the map. */
	is("+192.0.2.1 LlC until +3600 # typed\n-203.0.113.8 L\n-203.0.113.9 C\n"
	   "~::/0 C\nallowed 1 from c000\ndenied 1 from cb00\nallow deny follow end "
	   "+3600");
}

/* At its end and not before; what the file says of it stays; the next end is the next. */
static void what_ends(void **state)
{
	(void)state;
	assert_int_equal(add(LIST_ALLOW, "192.0.2.1", true, HOUR, "one"), 0);
	assert_int_equal(add(LIST_DENY, "192.0.2.1", false, 2 * HOUR, "two"), 0);
	assert_int_equal(add(LIST_DENY, "192.0.2.3", false, 4 * HOUR, "four"), 0);
	assert_int_equal(add(LIST_DENY, "192.0.2.2", false, 3 * HOUR, "three"), 0);
	assert_int_equal(add(LIST_FOLLOW, "192.0.2.1", false, HOUR, "five"), 0);
	assert_int_equal(add(LIST_FOLLOW, "192.0.2.9", false, 0, "stays"), 0);
	assert_int_equal(apply(LIST_FOLLOW, "192.0.2.1", NULL, false), 0);
	fake_now = begun + HOUR - 1;
	shield_lists_expire(&shield);
#define REST                                                                 \
	"-192.0.2.1 L until +7200 # two\n-192.0.2.3 L until +14400 # four\n" \
	"-192.0.2.2 L until +10800 # three\n"
	is("+192.0.2.1 Ll until +3600 # one\n" REST
	   "~192.0.2.1 LC until +3600 # five\n~192.0.2.9 L # stays\n"
	   "allowed 1 from c000\ndenied 1 from c000\nallow deny follow end +3600");
	fake_now++;
	/* Over, and nobody has looked: it is not there any more. */
	assert_int_equal(del(LIST_FOLLOW, "192.0.2.1"), -ENOENT);
	is("+192.0.2.1 Ll until +3600 # one\n" REST "~192.0.2.1 C\n~192.0.2.9 L # stays\n"
	   "allowed 1 from c000\ndenied 1 from c000\nallow deny follow end +3600");
	shield_lists_expire(&shield);
	is(REST "~192.0.2.1 C\n~192.0.2.9 L # stays\n"
		"denied 1 from c000\ndeny follow end +7200");
	fake_now = begun + 3 * HOUR;
	shield_lists_expire(&shield);
	is("-192.0.2.3 L until +14400 # four\n~192.0.2.1 C\n~192.0.2.9 L # stays\n"
	   "denied 1 from c000\ndeny follow end +14400");
	fake_now = begun + 5 * HOUR;
	shield_lists_expire(&shield);
	is("~192.0.2.1 C\n~192.0.2.9 L # stays\nfollow ");
	shield_lists_expire(&shield);
	is("~192.0.2.1 C\n~192.0.2.9 L # stays\nfollow ");
}

/* The lock of another: then nothing is touched. */
static void without_the_lock(void **state)
{
	bool missing[1] = { false };
	struct cidr one = net("192.0.2.1");
	const struct list_terms terms = { .for_ns = 1 };
	size_t added = 7;

	(void)state;
	assert_int_equal(add(LIST_DENY, "192.0.2.1", false, HOUR, NULL), 0);
	close(shield.lock);
	shield.lock = -1;
	assert_int_equal(shield_list_add_all(&shield, LIST_ALLOW, &one, 1, &terms,
					     &added),
			 -EBADF);
	assert_int_equal(added, 0);
	assert_int_equal(shield_list_del_all(&shield, LIST_DENY, &one, 1, missing),
			 -EBADF);
	fake_now += 2 * HOUR;
	shield_lists_expire(&shield);
	is("-192.0.2.1 L until +3600\ndenied 1 from c000\ndeny end +3600");
}

/* A command waits for the lock longer than a start holds it, but not for ever. */
static void the_lock_of_another(void **state)
{
	struct cidr one = net("192.0.2.2");
	const struct list_terms terms = { .for_ns = HOUR };
	bool missing = false;
	size_t added = 7;
	char said[1024];
	int other, errs[2];

	(void)state;
	holder = own_lock_again(shield.lock);
	assert_int_equal(flock(holder, LOCK_EX), 0);
	waited = 0;
	assert_int_equal(add(LIST_DENY, "192.0.2.1", false, HOUR, NULL), 0);
	assert_int_equal(holder, -1);

	other = own_lock_again(shield.lock);
	assert_int_equal(flock(other, LOCK_EX), 0);
	waited = 0;
	stderr_catch();
	errs[0] = shield_list_add_all(&shield, LIST_DENY, &one, 1, &terms, &added);
	assert_in_range(waited, 30000000, 30100000);
	one = net("192.0.2.1");
	errs[1] = shield_list_del_all(&shield, LIST_DENY, &one, 1, &missing);
	stderr_release(said, sizeof(said));
	assert_int_equal(errs[0], -EWOULDBLOCK);
	assert_int_equal(errs[1], -EWOULDBLOCK);
	assert_int_equal(added, 0);
	assert_false(missing);
	assert_non_null(strstr(said, "another process has held it for 30 seconds"));
	close(other);
	is("-192.0.2.1 L until +3600\ndenied 1 from c000\ndeny end +3600");
}

static void the_lock_is_let_go(void **state)
{
	int other = own_lock_again(shield.lock);

	(void)state;
	assert_true(other >= 0);
	for (int i = 0; i < 3; i++) {
		if (!i)
			assert_int_equal(add(LIST_DENY, "192.0.2.1", false, 1, NULL), 0);
		else if (i == 1)
			assert_int_equal(del(LIST_DENY, "192.0.2.2"), -ENOENT);
		fake_now += SECOND;
		if (i == 2)
			shield_lists_expire(&shield);
		assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
		flock(other, LOCK_UN);
	}
	close(other);
	is("");
}

/* What there is room for, and which list is full. */
static void a_full_list_is_named(void **state)
{
	static const struct {
		enum list list;
		const char *says;
	} rows[] = {
		{ LIST_ALLOW, "quakeshield: the allow list is full: it holds 65536 "
			      "entries\n" },
		{ LIST_DENY, "quakeshield: the deny list is full: it holds 65536 "
			     "entries\n" },
		{ LIST_FOLLOW, "quakeshield: the follow list is full: it holds 65536 "
			       "entries\n" },
	};
	const struct list_terms terms = { .for_ns = HOUR };
	struct cidr many[66];
	char said[256];
	size_t added;

	(void)state;
	for (size_t i = 0; i < COUNT(many); i++) {
		many[i] = net("192.0.2.0");
		((__u8 *)many[i].addr)[15] = (__u8)i;
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		shield.shared->acl_end_ns = 0;
		stderr_catch();
		assert_int_equal(shield_list_add_all(&shield, rows[i].list, many,
						     COUNT(many), &terms, &added),
				 -ENOSPC);
		stderr_release(said, sizeof(said));
		assert_int_equal(added, 64);
		assert_string_equal(said, rows[i].says);
		assert_int_equal(shield.shared->acl_end_ns, fake_now + HOUR);
		/* Of what is not there nothing ends; and what is there can be changed. */
		shield.shared->acl_end_ns = 0;
		stderr_catch();
		assert_int_equal(shield_list_add_all(&shield, rows[i].list, many + 64, 1,
						     &terms, &added),
				 -ENOSPC);
		stderr_release(said, sizeof(said));
		assert_int_equal(added, 0);
		assert_int_equal(shield.shared->acl_end_ns, 0);
		assert_int_equal(shield_list_add_all(&shield, rows[i].list, many + 60, 4,
						     &terms, &added),
				 0);
		assert_int_equal(added, 4);
	}
	assert_int_equal(shield.shared->lists, LISTS_ALLOW | LISTS_DENY);
}

/* Of several each is missing or not for itself; what fails ends it. */
static void several_go_at_once(void **state)
{
	struct cidr all[] = { net("192.0.2.1"), net("192.0.2.2"), net("192.0.2.3") };
	bool missing[3] = { true, true, true };

	(void)state;
	assert_int_equal(add(LIST_DENY, "192.0.2.1", false, 0, NULL), 0);
	assert_int_equal(add(LIST_DENY, "192.0.2.3", false, 0, NULL), 0);
	assert_int_equal(shield_list_del_all(&shield, LIST_DENY, all, 3, missing), 0);
	assert_false(missing[0]);
	assert_true(missing[1]);
	assert_false(missing[2]);
	is("");
}

/* What decides about all of a network: the longest that has it, which is alive. */
static void what_covers(void **state)
{
	static const struct {
		const char *asked, *by;
	} rows[] = {
		{ "192.0.2.1", "192.0.2.0/25" },
		{ "192.0.2.200", "192.0.2.0/24" },
		{ "192.0.2.0/24", "192.0.2.0/24" },
		{ "192.0.0.0/16", NULL },
		{ "10.0.0.1", "10.0.0.1" },
		{ "10.0.0.2", NULL },
		{ "2001:db8:ff:ff::1", "2001:db8:c0::/42" },
		{ "2001:db8:ffff::", NULL },
		{ "203.0.113.77", "203.0.112.0/20" },
	};
	struct cidr asked, by;
	char words[CIDR_TEXT];

	(void)state;
	assert_int_equal(add(LIST_DENY, "192.0.2.0/24", false, 0, NULL), 0);
	assert_int_equal(add(LIST_DENY, "192.0.2.0/25", false, HOUR, NULL), 0);
	assert_int_equal(add(LIST_DENY, "10.0.0.1", false, 0, NULL), 0);
	assert_int_equal(add(LIST_DENY, "2001:db8:c0::/42", false, 0, NULL), 0);
	assert_int_equal(add(LIST_DENY, "203.0.112.0/20", false, 0, NULL), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		bool covered;

		asked = net(rows[i].asked);
		covered = shield_list_covers(&shield, LIST_DENY, &asked, &by);
		assert_int_equal(covered, !!rows[i].by);
		assert_false(shield_list_covers(&shield, LIST_ALLOW, &asked, &by));
		if (!covered)
			continue;
		cidr_format(&by, words);
		assert_string_equal(words, rows[i].by);
		asked = net(rows[i].by);
		assert_memory_equal(&asked, &by, sizeof(by));
	}
	/* An entry that has ended hides no shorter one. */
	assert_int_equal(add(LIST_DENY, "10.0.0.9/32", false, HOUR, NULL), 0);
	fake_now += HOUR;
	asked = net("192.0.2.1");
	assert_true(shield_list_covers(&shield, LIST_DENY, &asked, &by));
	cidr_format(&by, words);
	assert_string_equal(words, "192.0.2.0/24");
	asked = net("10.0.0.9");
	assert_false(shield_list_covers(&shield, LIST_DENY, &asked, &by));
}

/* Of another version's what is live comes over, beside what the file says here. */
static void runtime_entries_are_migrated(void **state)
{
	struct list_entry theirs = { .origins = 0xff,
				     .until_ns = begun + HOUR,
				     .comment = "theirs" };
	struct cidr one = net("192.0.2.1"), two = net("2001:db8::/32");

	(void)state;
	assert_int_equal(apply(LIST_DENY, "192.0.2.1", NULL, false), 0);
	assert_int_equal(shield_list_migrate(&shield, LIST_DENY, &one, &theirs), 0);
	theirs = (struct list_entry){ .origins = LIST_RUNTIME | LIST_CONFIG,
				      .until_ns = begun + HOUR / 2 };
	assert_int_equal(shield_list_migrate(&shield, LIST_ALLOW, &two, &theirs), 0);
	is("+2001:db8::/32 L until +1800\n-192.0.2.1 LlC until +3600 # theirs\n"
	   "denied 1 from c000\ndeny end +1800");
	shield_list_migrated(&shield, LIST_ALLOW);
	is("+2001:db8::/32 L until +1800\n-192.0.2.1 LlC until +3600 # theirs\n"
	   "allowed 1 from db8\ndenied 1 from c000\nallow deny end +1800");
	theirs.until_ns = 0;
	memset(theirs.comment, 'y', sizeof(theirs.comment));
	assert_int_equal(shield_list_migrate(&shield, LIST_ALLOW, &two, &theirs), 0);
	is("+2001:db8::/32 L # yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\n"
	   "-192.0.2.1 LlC until +3600 # theirs\n"
	   "allowed 1 from db8\ndenied 1 from c000\nallow deny end +1800");
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_typed),
		TEST(a_late_mark_of_a_program_is_mended),
		TEST(comments_have_an_end),
		TEST(what_the_file_says),
		TEST(what_ends),
		TEST(without_the_lock),
		TEST(the_lock_of_another),
		TEST(the_lock_is_let_go),
		TEST(a_full_list_is_named),
		TEST(several_go_at_once),
		TEST(what_covers),
		TEST(runtime_entries_are_migrated),
		TEST(what_is_undone_was_never_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
