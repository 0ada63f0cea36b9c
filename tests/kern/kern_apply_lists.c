// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_apply_lists.c - the lists over reloads: whose an entry is, how long it stays, and
 * what it says meanwhile.
 * stubs: shield_out shield_joined
 */
#include "kern/kern_apply.h"
#include "shield/list_one.h"

/* --- lists ---------------------------------------------------------------------------
 */

static struct cidr net_of(const char *text)
{
	struct cidr ret;

	assert_true(cidr_parse(text, &ret));
	return ret;
}

static struct {
	const char *text;
	__u32 origins;
	struct list_entry entry;
	size_t count;
} wanted_entry;

static const struct list_terms plain = { 0 }, unlimited = { .unlimited = true };

static void see_entry(const struct cidr *cidr, const struct list_entry *entry,
		      void *context)
{
	char text[CIDR_TEXT];
	size_t *all = context;

	cidr_format(cidr, text);
	++*all;
	if (strcmp(text, wanted_entry.text) != 0)
		return;
	wanted_entry.count++;
	wanted_entry.origins = entry->origins;
	wanted_entry.entry = *entry;
}

/* Who put @text into @list: 0: nobody did. */
static __u32 origins_of(enum list list, const char *text)
{
	size_t all = 0;

	wanted_entry.text = text;
	wanted_entry.count = wanted_entry.origins = 0;
	assert_int_equal(shield_list_each(&shield, list, see_entry, &all), 0);
	assert_in_range(wanted_entry.count, 0, 1);
	return wanted_entry.origins;
}

static struct cidr *configured(enum list list, size_t **ret_count)
{
	*ret_count = list == LIST_ALLOW	 ? &config->allow_count
		     : list == LIST_DENY ? &config->deny_count
					 : &config->follow_count;
	return list == LIST_ALLOW  ? config->allow
	       : list == LIST_DENY ? config->deny
				   : config->follow;
}

static bool marked(enum list list)
{
	return list == LIST_FOLLOW ? kern.live->sampling.follow_listed
				   : kern.live->lists & (list == LIST_ALLOW ? LISTS_ALLOW
									    : LISTS_DENY);
}

/* What was typed in survives every reload, and goes when it is typed out. */
static void typed_entries_outlive_reloads(void **state)
{
	static const enum list lists[] = { LIST_ALLOW, LIST_DENY, LIST_FOLLOW };
	static const char typed[] = "192.0.2.0/24", both[] = "198.51.100.7";
	static const char filed[] = "2001:db8::/32", kept[] = "203.0.113.0/24";

	(void)state;
	add("a", 27960);
	for (size_t i = 0; i < COUNT(lists); i++) {
		struct cidr first = net_of(typed), second = net_of(both);
		struct cidr third = net_of(kept);
		size_t *count;
		struct cidr *want = configured(lists[i], &count);

		assert_false(marked(lists[i]));
		assert_int_equal(shield_list_add(&shield, lists[i], &first, &plain), 0);
		assert_int_equal(shield_list_add(&shield, lists[i], &second, &plain), 0);
		want[(*count)++] = net_of(both);
		want[(*count)++] = net_of(filed);
		want[(*count)++] = net_of(kept);
		assert_int_equal(shield_list_add(&shield, lists[i], &third, &plain), 0);
		for (int reload = 0; reload < 3; reload++) {
			apply();
			assert_int_equal(origins_of(lists[i], typed), LIST_RUNTIME);
			assert_int_equal(origins_of(lists[i], both),
					 LIST_RUNTIME | LIST_CONFIG);
			assert_int_equal(origins_of(lists[i], filed), LIST_CONFIG);
		}
		/* Typed out: what the file says stays, and cannot be typed out. */
		assert_int_equal(shield_list_del(&shield, lists[i], &second), 0);
		assert_int_equal(origins_of(lists[i], both), LIST_CONFIG);
		assert_int_equal(shield_list_del(&shield, lists[i], &second), -ENOENT);
		/* Out of the file: what was typed in besides stays. */
		*count = 0;
		apply();
		assert_int_equal(origins_of(lists[i], kept), LIST_RUNTIME);
		assert_int_equal(shield_list_del(&shield, lists[i], &third), 0);
		assert_int_equal(origins_of(lists[i], both), 0);
		assert_int_equal(origins_of(lists[i], filed), 0);
		assert_int_equal(origins_of(lists[i], typed), LIST_RUNTIME);
		assert_true(marked(lists[i]));
		assert_int_equal(shield_list_del(&shield, lists[i], &first), 0);
		assert_false(marked(lists[i]));
		assert_int_equal(shield_list_del(&shield, lists[i], &first), -ENOENT);
	}
}

/* How many stretches of addresses are marked for @list: see acl.h. */
static size_t stretches(enum list list)
{
	size_t count = 0;

	for (size_t i = 0; i < ACL_PREFILTER_CELLS; i++)
		count += !!(kern.live->acl_prefilter[i] &
			    (list == LIST_ALLOW ? LISTS_ALLOW : LISTS_DENY));
	return count;
}

/* Of several that are typed in at once, those that there is room for. */
static void a_full_list_takes_what_it_can(void **state)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	const struct cidr all[] = { net_of("192.0.2.1"), net_of("192.0.2.2"),
				    net_of("192.0.2.3"), net_of("192.0.2.4") };
	size_t added = 7;
	int whole = shield.deny;

	(void)state;
	shield.deny = bpf_map_create(BPF_MAP_TYPE_LPM_TRIE, "small", sizeof(struct cidr),
				     sizeof(struct list_entry), 2, &opts);
	assert_true(shield.deny >= 0);
	assert_int_equal(shield_list_add_all(&shield, LIST_DENY, all, COUNT(all), &plain,
					     &added),
			 -ENOSPC);
	assert_int_equal(added, 2);
	assert_int_equal(origins_of(LIST_DENY, "192.0.2.1"), LIST_RUNTIME);
	assert_int_equal(origins_of(LIST_DENY, "192.0.2.2"), LIST_RUNTIME);
	assert_int_equal(origins_of(LIST_DENY, "192.0.2.3"), 0);
	assert_true(marked(LIST_DENY));
	close(shield.deny);
	shield.deny = whole;
}

/* A list that has no room for the configuration's entries leaves all lists as they were.
 */
static void a_reload_that_fails_changes_no_list(void **state)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	struct cidr typed = net_of("192.0.2.1");
	__u32 generation;
	int whole = shield.deny;

	(void)state;
	shield.deny = bpf_map_create(BPF_MAP_TYPE_LPM_TRIE, "small", sizeof(struct cidr),
				     sizeof(struct list_entry), 3, &opts);
	assert_true(shield.deny >= 0);
	add("a", 27960);
	config->allow[config->allow_count++] = net_of("198.51.100.1");
	config->deny[config->deny_count++] = net_of("203.0.113.1");
	assert_int_equal(shield_list_add(&shield, LIST_DENY, &typed, &plain), 0);
	apply();
	generation = shield_generation(&shield);
	config->allow[0] = net_of("198.51.100.2");
	config->deny[0] = net_of("203.0.113.2");
	config->deny[config->deny_count++] = typed;
	config->deny[config->deny_count++] = net_of("203.0.113.3");
	assert_int_equal(shield_apply(&shield, config), -ENOSPC);
	assert_int_equal(shield_generation(&shield), generation);
	assert_int_equal(origins_of(LIST_ALLOW, "198.51.100.1"), LIST_CONFIG);
	assert_int_equal(origins_of(LIST_ALLOW, "198.51.100.2"), 0);
	assert_int_equal(origins_of(LIST_DENY, "203.0.113.1"), LIST_CONFIG);
	assert_int_equal(origins_of(LIST_DENY, "203.0.113.2"), 0);
	assert_int_equal(origins_of(LIST_DENY, "192.0.2.1"), LIST_RUNTIME);
	close(shield.deny);
	shield.deny = whole;
}

/* Typed in once more, it is what was typed last; and where it was, no look-up remains. */
static void what_is_typed_last_counts(void **state)
{
	struct cidr wide = net_of("10.0.0.0/14"), one = net_of("192.0.2.1");

	(void)state;
	add("a", 27960);
	apply();
	assert_int_equal(shield_list_add(&shield, LIST_ALLOW, &one, &unlimited), 0);
	assert_int_equal(origins_of(LIST_ALLOW, "192.0.2.1"),
			 LIST_RUNTIME | LIST_RUNTIME_UNLIMITED);
	assert_int_equal(shield_list_add(&shield, LIST_ALLOW, &one, &plain), 0);
	assert_int_equal(origins_of(LIST_ALLOW, "192.0.2.1"), LIST_RUNTIME);
	assert_int_equal(shield_list_add(&shield, LIST_DENY, &wide, &plain), 0);
	assert_int_equal(stretches(LIST_ALLOW), 1);
	assert_int_equal(stretches(LIST_DENY), 4);
	assert_int_equal(shield_list_del(&shield, LIST_DENY, &wide), 0);
	assert_int_equal(stretches(LIST_ALLOW), 1);
	assert_int_equal(stretches(LIST_DENY), 0);

	/* Of the file's entries each is unlimited or not for itself. */
	config->allow[0] = net_of("198.51.100.1");
	config->allow[1] = net_of("198.51.100.2");
	config->allow[2] = net_of("198.51.100.3");
	config->allow_unlimited[1] = true;
	config->allow_count = 3;
	apply();
	assert_int_equal(origins_of(LIST_ALLOW, "198.51.100.1"), LIST_CONFIG);
	assert_int_equal(origins_of(LIST_ALLOW, "198.51.100.2"),
			 LIST_CONFIG | LIST_CONFIG_UNLIMITED);
	assert_int_equal(origins_of(LIST_ALLOW, "198.51.100.3"), LIST_CONFIG);
}

/* Whom the file names no more is let go, however like the address it names now. */
static void one_that_takes_anothers_place(void **state)
{
	static const enum list lists[] = { LIST_ALLOW, LIST_DENY, LIST_FOLLOW };
	static const char *const texts[] = { "192.0.2.1", "192.0.2.2", "2001:db8::1",
					     "2001:db8::2", "192.0.2.0/24" };

	(void)state;
	add("a", 27960);
	for (size_t i = 0; i < COUNT(lists); i++) {
		size_t *count;
		struct cidr *want = configured(lists[i], &count);

		*count = 1;
		for (size_t now = 0; now < COUNT(texts); now++) {
			want[0] = net_of(texts[now]);
			apply();
			for (size_t t = 0; t < COUNT(texts); t++)
				assert_int_equal(origins_of(lists[i], texts[t]),
						 t == now ? LIST_CONFIG : 0);
		}
		*count = 0;
	}
}

/* A network and one in it are two entries; and both do what they say. */
static void entries_are_of_one_length(void **state)
{
	struct frame_spec s = { .payload = OOB "getstatus", .n = 13 };
	struct cidr wide = net_of("192.0.2.0/24"), one = net_of("192.0.2.1");

	(void)state;
	add("a", 27960);
	apply();
	assert_int_equal(shield_list_add(&shield, LIST_DENY, &wide, &plain), 0);
	assert_int_equal(shield_list_del(&shield, LIST_DENY, &one), -ENOENT);
	assert_int_equal(kern_send(&kern, &s).reason, REASON_DENY_LIST);
	assert_int_equal(shield_list_add(&shield, LIST_ALLOW, &one, &unlimited), 0);
	assert_int_equal(kern_send(&kern, &s).reason, REASON_ALLOW_LIST);
	s.from = "192.0.2.2";
	assert_int_equal(kern_send(&kern, &s).reason, REASON_DENY_LIST);
	assert_int_equal(shield_list_del(&shield, LIST_DENY, &wide), 0);
	assert_int_equal(kern_send(&kern, &s).reason, REASON_WITHIN_LIMITS);
}

/* The programs' time, for this moment only. */
static enum reason sent_at(__u64 ns)
{
	const struct frame_spec s = { .payload = OOB "getstatus", .n = 13 };

	kern.live->tick_ns = 0;
	kern.live->clock_ns = ns;
	return kern_send(&kern, &s).reason;
}

/* What is allowed may be within strangers' budgets, too. */
static bool befriended_at(__u64 ns)
{
	enum reason reason = sent_at(ns);

	return reason == REASON_ALLOW_LIST || reason == REASON_WITHIN_LIMITS;
}

/* An entry made for a time ends in the kernel at once. The programs then see an entry
 * that it hid, as when it is taken out, and what the configuration says of it stays. */
static void entries_end(void **state)
{
	const __u64 hour = 3600 * 1000000000ull;
	const struct list_terms terms = { .for_ns = hour, .comment = "a bot net" };
	struct cidr wide = net_of("192.0.2.0/24"), one = net_of("192.0.2.1");
	__u64 end;

	(void)state;
	add("a", 27960);
	config->deny[config->deny_count++] = one;
	apply();
	assert_int_equal(shield_list_add(&shield, LIST_ALLOW, &wide, &unlimited), 0);
	assert_int_equal(shield_list_add(&shield, LIST_ALLOW, &one, &terms), 0);
	assert_int_equal(shield_list_add(&shield, LIST_DENY, &one, &terms), 0);
	apply(); /* a reload changes nothing of that */
	assert_int_equal(origins_of(LIST_ALLOW, "192.0.2.1"), LIST_RUNTIME);
	assert_string_equal(wanted_entry.entry.comment, "a bot net");
	end = wanted_entry.entry.until_ns;
	assert_in_range(end, shield_clock() + hour - 60000000000ull,
			shield_clock() + hour);
	assert_in_range(kern.live->acl_end_ns, end - 60000000000ull, end);
	assert_int_equal(origins_of(LIST_DENY, "192.0.2.1"), LIST_RUNTIME | LIST_CONFIG);

	assert_true(befriended_at(end - 1));
	/* The network is allowed, and its entry overrides that of the deny list. */
	assert_int_equal(sent_at(end + hour), REASON_ALLOW_LIST);
	/* Nothing is due yet. */
	shield_lists_expire(&shield);
	assert_int_equal(origins_of(LIST_ALLOW, "192.0.2.1"), LIST_RUNTIME);
	/* Typed in again for good: it does not end. */
	assert_int_equal(shield_list_add(&shield, LIST_ALLOW, &one, &plain), 0);
	assert_true(befriended_at(end + hour));
	assert_int_equal(origins_of(LIST_ALLOW, "192.0.2.1"), LIST_RUNTIME);
	assert_int_equal(wanted_entry.entry.until_ns, 0);
	assert_string_equal(wanted_entry.entry.comment, "");
}

static void entries_are_taken_out(void **state)
{
	const struct list_terms brief = { .for_ns = 1 };
	const struct list_terms longer = { .for_ns = 3600 * 1000000000ull };
	const struct list_terms longest = { .for_ns = 7200 * 1000000000ull };
	struct cidr wide = net_of("192.0.2.0/24"), one = net_of("192.0.2.1");
	struct cidr both = net_of("198.51.100.7"), later = net_of("203.0.113.0/24");
	struct cidr latest = net_of("198.18.0.0/15");

	(void)state;
	add("a", 27960);
	config->deny[config->deny_count++] = both;
	apply();
	assert_int_equal(shield_list_add(&shield, LIST_ALLOW, &wide, &unlimited), 0);
	assert_int_equal(shield_list_add(&shield, LIST_ALLOW, &one, &brief), 0);
	assert_int_equal(shield_list_add(&shield, LIST_DENY, &both, &brief), 0);
	assert_int_equal(shield_list_add(&shield, LIST_DENY, &later, &longer), 0);
	assert_int_equal(shield_list_add(&shield, LIST_DENY, &latest, &longest), 0);
	usleep(20000); /* the clock has ticks of 10 ms at most */
	/* Over, though nobody has taken it out: it is not there to be deleted. */
	assert_int_not_equal(sent_at(shield_clock()), REASON_DENY_LIST);
	shield_lists_expire(&shield);
	assert_int_equal(origins_of(LIST_ALLOW, "192.0.2.1"), 0);
	assert_int_equal(sent_at(shield_clock()), REASON_ALLOW_LIST);
	assert_int_equal(origins_of(LIST_DENY, "198.51.100.7"), LIST_CONFIG);
	assert_int_equal(wanted_entry.entry.until_ns, 0);
	assert_int_equal(origins_of(LIST_DENY, "203.0.113.0/24"), LIST_RUNTIME);
	assert_int_equal(kern.live->acl_end_ns, wanted_entry.entry.until_ns);
	/* One that is over counts as gone. */
	assert_int_equal(shield_list_add(&shield, LIST_ALLOW, &one, &brief), 0);
	usleep(20000);
	assert_int_equal(shield_list_del(&shield, LIST_ALLOW, &one), -ENOENT);
	assert_int_equal(origins_of(LIST_ALLOW, "192.0.2.1"), 0);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(typed_entries_outlive_reloads),
		TEST(one_that_takes_anothers_place),
		TEST(a_full_list_takes_what_it_can),
		TEST(entries_are_of_one_length),
		TEST(what_is_typed_last_counts),
		TEST(entries_end),
		TEST(entries_are_taken_out),
		TEST(a_reload_that_fails_changes_no_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
