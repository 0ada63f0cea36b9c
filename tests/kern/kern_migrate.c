// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_migrate.c - what comes over from an older quakeshield: its players and ports, each
 * to the slot that its service has now, and what was typed into its lists. The old tables
 * are of our shape, but other slots; an interface of the test's own holds them.
 * stubs: shield_cache shield_out shield_joined
 */
#include "kern/kern_maps.h"

#include <bpf/btf.h>
#include <linux/if_link.h>
#include <sys/stat.h>

#include "apart.h"
#include "lib/log.h"
#include "stderr.h"

#define FS    "/sys/fs/bpf"
#define OLDER PIN_ROOT "/v1-0000000a"

static struct shield before, now;
static struct shield_bpf *skel; /* whose types the tables are of */
static char said[2048];

/* A program on lo, by a link that is pinned in @dir. */
static bool attach(const char *dir)
{
	static const struct bpf_insn pass[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = XDP_FLAGS_SKB_MODE);
	int program = bpf_prog_load(BPF_PROG_TYPE_XDP, "old", "GPL", pass, 2, NULL);
	int link = -1;
	bool done;

	/* The kernel takes a link that nobody has any more down a little later. */
	for (int i = 0; i < 1000 && link < 0; i++) {
		link = bpf_link_create(program, 1, BPF_XDP, &opts);
		if (link < 0)
			usleep(1000);
	}
	done = link >= 0 && !pin_replace(link, dir, "link-lo");
	close(link);
	close(program);
	return done;
}

static int begin(void **state)
{
	(void)state;
	if (!apart_mount("bpf", FS) || mkdir(PIN_ROOT, 0700) || mkdir(OLDER, 0700) ||
	    !maps_open(&before) || !maps_open(&now))
		return -1;
	skel = shield_bpf__open();
	strcpy(before.dir, OLDER);
	if (!skel || pins_default_dir(NULL, now.dir, sizeof(now.dir)) ||
	    mkdir(now.dir, 0700))
		return -1;
	before.shared->generation = 3;
	now.shared->generation = 6;
	return pin_replace(before.live, OLDER, "live") ||
	       pin_replace(before.allow, OLDER, "allow") ||
	       pin_replace(before.deny, OLDER, "deny") ||
	       types_pin(&before, bpf_object__btf(skel->obj)) || !attach(OLDER);
}

static int end(void **state)
{
	(void)state;
	shield_bpf__destroy(skel);
	maps_close(&before);
	maps_close(&now);
	return umount2(FS, MNT_DETACH);
}

static void migrate(void)
{
	stderr_catch();
	assert_int_equal(migrate_lists(&now, bpf_object__btf(skel->obj)), 0);
	assert_int_equal(migrate_games(&now, bpf_object__btf(skel->obj)), 0);
	stderr_release(said, sizeof(said));
}

/* --- services
 * -----------------------------------------------------------------------------
 */

static struct tables *tables_of(struct shield *s)
{
	return &s->shared->tables[s->shared->generation & 1];
}

static void serve_as(struct shield *s, __u32 slot, const char *name, bool active)
{
	struct service *service = &tables_of(s)->services[slot];

	service->family = FAMILY_QUAKE3;
	service->active = active;
	strcpy(service->name, name);
}

/* Old slots 0 and 5 are 2 and 0 now; of the others no service is left as it was. */
static void serve_both(void)
{
	serve_as(&before, 0, "first", true);
	serve_as(&before, 1, "gone", true);
	serve_as(&before, 3, "idle", false);
	serve_as(&before, 5, "fifth", true);
	serve_as(&now, 0, "fifth", true);
	serve_as(&now, 1, "firstborn", true);
	serve_as(&now, 2, "first", true);
	serve_as(&now, 3, "fir", true);
	serve_as(&now, 4, "idle", true);
	/* Its protocol was corrected. */
	serve_as(&before, 6, "other", true);
	serve_as(&now, 5, "other", true);
	tables_of(&before)->services[6].family = FAMILY_QUAKE2;
}

/* --- players
 * ------------------------------------------------------------------------------
 */

static void player_on(struct shield *s, __u16 slot, __u16 port, const struct player *p)
{
	struct player_key key;
	struct player_id id;

	player_at(PEER, port, &key);
	key.slot = slot;
	id = player_id(&key);
	assert_true(players_enter(&s->shared->players, &id, s->shared->keys, p,
				  p->sent_ns) < PLAYERS_MAX);
}

/* The player as he is in @slot now; NULL: he is not. */
static const struct player *player_in(__u16 slot, __u16 port)
{
	struct player_key key;
	struct player_id id;
	__u32 at;

	player_at(PEER, port, &key);
	key.slot = slot;
	id = player_id(&key);
	at = players_find(&now.shared->players, &id, now.shared->keys);
	return at < PLAYERS_MAX ? &now.shared->players.cells[at].player : NULL;
}

static size_t players_in_all(void)
{
	size_t count = 0;

	for (__u32 i = 0; i < PLAYERS_MAX; i++)
		count += now.shared->players.cells[i].state == PLAYER_HERE;
	return count;
}

static void players_come_to_the_slot_of_their_service(void **state)
{
	const struct player alive = { .sent_ns = shield_clock(),
				      .heard_sequence = 4711,
				      .challenge = 815 };
	struct player left = alive;

	(void)state;
	serve_both();
	left.sent_ns -= 61 * SECOND;
	player_on(&before, 0, 1000, &alive);
	player_on(&before, 5, 1005, &alive);
	player_on(&before, 1, 1001, &alive);
	player_on(&before, 3, 1003, &alive);
	player_on(&before, 6, 1006, &alive);
	player_on(&before, 7, 1007, &alive);
	player_on(&before, 0, 2000, &left);
	player_on(&before, SERVICES_MAX + 5, 1009, &alive); /* of a table that lies */
	migrate();
	assert_non_null(strstr(said, "players 2, game ports 0"));
	assert_int_equal(players_in_all(), 2);
	assert_non_null(player_in(2, 1000));
	assert_int_equal(player_in(2, 1000)->heard_sequence, 4711);
	assert_int_equal(player_in(2, 1000)->challenge, 815);
	assert_non_null(player_in(0, 1005));
	assert_int_equal(player_in(0, 1005)->sent_ns, alive.sent_ns);
}

/* By another build's rule it was verified: it has to be by this one's, too. */
static void netquake_players_come_unproven(void **state)
{
	static const struct {
		__u8 was, is;
	} rows[] = {
		{ PLAYER_NETQUAKE | PLAYER_CLOCKS, PLAYER_NETQUAKE | PLAYER_CLOCKS },
		{ PLAYER_NETQUAKE | PLAYER_CLOCKS | PLAYER_VERIFIED | PLAYER_SEQUENCE,
		  PLAYER_NETQUAKE | PLAYER_CLOCKS | PLAYER_VERIFIED | PLAYER_SEQUENCE |
			  PLAYER_TAKEN },
		/* Accepted: signing on, or, if encrypted by DarkPlaces, for good. */
		{ PLAYER_NETQUAKE | PLAYER_VERIFIED, PLAYER_NETQUAKE | PLAYER_VERIFIED },
		/* The same bit is another's to those that count by sequences. */
		{ PLAYER_VERIFIED | PLAYER_QPORT, PLAYER_VERIFIED | PLAYER_QPORT },
		{ PLAYER_VERIFIED | PLAYER_CHECKSUM, PLAYER_VERIFIED | PLAYER_CHECKSUM },
		{ PLAYER_VERIFIED | PLAYER_RECORDS, PLAYER_VERIFIED | PLAYER_RECORDS },
	};

	(void)state;
	serve_both();
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct player p = { .sent_ns = shield_clock(), .flags = rows[i].was };

		player_on(&before, 0, (__u16)(1000 + i), &p);
	}
	migrate();
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(player_in(2, (__u16)(1000 + i))->flags, rows[i].is);
}

static int led_to(__u16 slot, __u16 qport)
{
	struct qport_key by = { .qport = qport, .slot = slot };
	__be16 port;

	kern_address(PEER, by.addr);
	return bpf_map_lookup_elem(now.qports, &by, &port) ? -1 : ntohs(port);
}

/* Of two with the same qport the one who was heard later; without one, none. */
static void qports_lead_to_whoever_spoke_last(void **state)
{
	static const struct {
		__u16 port, qport;
		__u64 heard_s;
		__u8 flags;
	} rows[] = {
		{ 1000, 77, 9, PLAYER_QPORT }, { 1001, 77, 8, PLAYER_QPORT },
		{ 1002, 77, 7, PLAYER_QPORT }, { 1010, 78, 5, PLAYER_QPORT },
		{ 1011, 78, 6, PLAYER_QPORT }, { 1020, 79, 5, 0 },
	};
	__u64 moved = 0;

	(void)state;
	serve_both();
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct player p = { .sent_ns = shield_clock(),
				    .heard_ns = rows[i].heard_s * SECOND,
				    .qport = rows[i].qport,
				    .flags = rows[i].flags };

		player_on(&before, 0, rows[i].port, &p);
	}
	migrate();
	assert_int_equal(players_in_all(), COUNT(rows));
	assert_int_equal(led_to(2, 77), 1000);
	assert_int_equal(led_to(2, 78), 1011);
	assert_int_equal(led_to(2, 79), -1);
	assert_int_equal(led_to(0, 77), -1);
	for (size_t i = 0; i < COUNT(now.shared->moved); i++)
		moved += now.shared->moved[i];
	assert_int_equal(moved, 2);
}

/* --- ports
 * ----------------------------------------------------------------------------------
 */

static void learned_ports_come_too(void **state)
{
	static const struct {
		__u16 number;
		struct port was, is;
	} rows[] = {
		{ 1, { 1, PORT_LEARNED, 5 }, { 3, PORT_LEARNED, 5 } },
		{ 45000, { 1, PORT_LEARNED, 7 }, { 3, PORT_LEARNED, 7 } },
		{ 45005, { 6, PORT_LEARNED, 8 }, { 1, PORT_LEARNED, 8 } },
		{ 65535, { 6, PORT_LEARNED, 9 }, { 1, PORT_LEARNED, 9 } },
		{ 45001, { 2, PORT_LEARNED, 7 }, { 0, 0, 0 } }, /* of one that is gone */
		{ 45002, { 1, 0, 7 }, { 0, 0, 0 } }, /* configured then */
		{ 45003, { 0, PORT_LEARNED, 7 }, { 0, 0, 0 } },
		{ 45006, { 7, PORT_LEARNED, 7 }, { 0, 0, 0 } }, /* another protocol's */
		{ 45004, { 60000, PORT_LEARNED, 7 }, { 0, 0, 0 } },
		{ 27960, { 1, PORT_LEARNED, 7 }, { 5, 0, 0 } }, /* somebody's now */
		{ 27961, { 1, PORT_LEARNED, 7 }, { 0, PORT_EXACT, 0 } },
	};

	(void)state;
	serve_both();
	tables_of(&now)->ports[27960].any = 5;
	tables_of(&now)->ports[27961].flags = PORT_EXACT;
	for (size_t i = 0; i < COUNT(rows); i++)
		tables_of(&before)->ports[rows[i].number] = rows[i].was;
	migrate();
	assert_non_null(strstr(said, "players 0, game ports 4"));
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct port *p = &tables_of(&now)->ports[rows[i].number];

		assert_memory_equal(p, &rows[i].is, sizeof(*p));
	}
}

/* --- lists
 * ------------------------------------------------------------------------------------
 */

static void list(int map, const char *address, __u8 origins, const char *comment)
{
	struct list_entry entry = { .origins = origins, .length = 128, .until_ns = 0 };
	struct cidr cidr = { .length = 128 };

	kern_address(address, cidr.addr);
	strcpy(entry.comment, comment);
	assert_int_equal(bpf_map_update_elem(map, &cidr, &entry, BPF_ANY), 0);
}

/* The origins of what stands in @map, and its comment in @ret; 0: it is not there. */
static __u8 listed(int map, const char *address, char ret[LIST_COMMENT])
{
	struct list_entry entry = { 0 };
	struct cidr cidr = { .length = 128 };

	kern_address(address, cidr.addr);
	if (bpf_map_lookup_elem(map, &cidr, &entry))
		return 0;
	memcpy(ret, entry.comment, LIST_COMMENT);
	return entry.origins;
}

static void fill_lists(void)
{
	list(before.allow, "192.0.2.1", LIST_RUNTIME, "a friend");
	list(before.allow, "192.0.2.2", LIST_RUNTIME_ALL | LIST_CONFIG, "");
	list(before.allow, "192.0.2.3", LIST_CONFIG | LIST_CONFIG_UNLIMITED, "");
	list(before.deny, "192.0.2.4", LIST_RUNTIME, "");
}

static void what_was_typed_in_comes_over(void **state)
{
	char comment[LIST_COMMENT] = "";

	(void)state;
	fill_lists();
	migrate();
	assert_int_equal(listed(now.allow, "192.0.2.1", comment), LIST_RUNTIME);
	assert_string_equal(comment, "a friend");
	assert_int_equal(listed(now.allow, "192.0.2.2", comment), LIST_RUNTIME_ALL);
	assert_int_equal(listed(now.allow, "192.0.2.3", comment), 0);
	assert_int_equal(listed(now.deny, "192.0.2.4", comment), LIST_RUNTIME);
	assert_int_equal(listed(now.allow, "192.0.2.4", comment), 0);
	assert_int_equal(listed(now.deny, "192.0.2.1", comment), 0);
	assert_int_equal(now.shared->lists, LISTS_ALLOW | LISTS_DENY);
	assert_non_null(strstr(said, "entries 2, of '" OLDER "/allow'"));
	assert_non_null(strstr(said, "entries 1, of '" OLDER "/deny'"));
}

/* An entry that ours have from before, and that was removed since, stays away. */
static void entries_of_tables_in_use_replace_older_ones(void **state)
{
	char comment[LIST_COMMENT] = "";

	(void)state;
	fill_lists();
	list(now.allow, "192.0.2.5", LIST_RUNTIME, "removed since");
	list(now.allow, "192.0.2.1", LIST_RUNTIME_ALL, "limited since");
	list(now.deny, "192.0.2.6", LIST_RUNTIME | LIST_CONFIG, "removed since");
	migrate();
	assert_int_equal(listed(now.allow, "192.0.2.5", comment), 0);
	assert_int_equal(listed(now.allow, "192.0.2.1", comment), LIST_RUNTIME);
	assert_string_equal(comment, "a friend");
	assert_int_equal(listed(now.allow, "192.0.2.2", comment), LIST_RUNTIME_ALL);
	assert_int_equal(listed(now.deny, "192.0.2.4", comment), LIST_RUNTIME);
	assert_int_equal(listed(now.deny, "192.0.2.6", comment), LIST_CONFIG);
	assert_string_equal(comment, "");
	/* Tables that are not in use say nothing of ours. */
	list(now.allow, "192.0.2.5", LIST_RUNTIME, "");
	assert_int_equal(unlink(OLDER "/link-lo"), 0);
	migrate();
	assert_int_equal(listed(now.allow, "192.0.2.5", comment), LIST_RUNTIME);
}

/* Lists of our shape are read all the same; of players it is said that they are not. */
static void without_types_lists_come_alone(void **state)
{
	const struct player alive = { .sent_ns = shield_clock() };
	char comment[LIST_COMMENT];

	(void)state;
	serve_both();
	fill_lists();
	player_on(&before, 0, 1000, &alive);
	assert_int_equal(unlink(OLDER "/types"), 0);
	migrate();
	assert_int_equal(listed(now.allow, "192.0.2.1", comment), LIST_RUNTIME);
	assert_int_equal(players_in_all(), 0);
	assert_non_null(strstr(said, "the players of '" OLDER "' cannot be read"));
}

/* --- whether
 * ----------------------------------------------------------------------------------
 */

/* Tables that nobody uses are no source of players, and ours that are used know more. */
static void only_an_upgrade_takes_over(void **state)
{
	const struct player alive = { .sent_ns = shield_clock() };
	char comment[LIST_COMMENT], root[PATH_MAX];
	int link = pin_open(OLDER, "link-lo");

	(void)state;
	assert_true(link >= 0);
	serve_both();
	fill_lists();
	player_on(&before, 0, 1000, &alive);
	strcpy(root, now.dir);
	strcpy(now.dir, FS "/lab");
	migrate();
	assert_string_equal(said, "");
	assert_int_equal(players_in_all(), 0);
	assert_int_equal(listed(now.allow, "192.0.2.1", comment), 0);

	strcpy(now.dir, root);
	assert_int_equal(pin_replace(link, now.dir, "link-lo"), 0);
	migrate();
	assert_string_equal(said, "");
	assert_int_equal(players_in_all(), 0);

	assert_int_equal(unlink(strcat(root, "/link-lo")), 0);
	assert_int_equal(unlink(OLDER "/link-lo"), 0);
	migrate();
	assert_string_equal(said, "");
	assert_int_equal(players_in_all(), 0);
	assert_int_equal(listed(now.allow, "192.0.2.1", comment), 0);

	/* They may wait for an interface: then what was typed in comes over. */
	now.dir_new = true;
	migrate();
	assert_int_equal(players_in_all(), 0);
	assert_int_equal(listed(now.allow, "192.0.2.1", comment), LIST_RUNTIME);
	now.dir_new = false;

	assert_int_equal(pin_replace(link, OLDER, "link-lo"), 0);
	migrate();
	assert_int_equal(players_in_all(), 1);
	assert_int_equal(listed(now.allow, "192.0.2.1", comment), LIST_RUNTIME);
	close(link);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(players_come_to_the_slot_of_their_service),
		TEST(netquake_players_come_unproven),
		TEST(qports_lead_to_whoever_spoke_last),
		TEST(learned_ports_come_too),
		TEST(what_was_typed_in_comes_over),
		TEST(entries_of_tables_in_use_replace_older_ones),
		TEST(without_types_lists_come_alone),
		TEST(only_an_upgrade_takes_over),
	};

	log_verbose();
	if (!apart(CLONE_NEWNS | CLONE_NEWNET) || !apart_mount("bpf", FS))
		return apart_refused();
	if (!maps_open(&now))
		return maps_skip();
	maps_close(&now);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
