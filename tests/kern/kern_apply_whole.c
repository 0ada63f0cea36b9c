// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_apply_whole.c - all that a configuration makes of the maps, and all that it leaves
 * as it was: every octet of struct live and every entry of the other maps, held against
 * what is worked out here from the configuration and the slots that services are to get.
 * stubs: shield_cache shield_out shield_joined
 */
#include <sys/file.h>

#include "kern/kern_whole.h"

#include "stderr.h"

static char said[4096];

static useconds_t lock_waited; /* for the lock of another process, without a wait */
static int *lost_map; /* usleep() loses it once the settings of amplification changed */
static struct amplification_limit lost_from;

/* As libc's, and something may go wrong meanwhile. */
int usleep(useconds_t us)
{
	static const useconds_t poll = 5000;

	lock_waited += us == poll ? us : 0;
	if (us == poll)
		return 0;
	struct timespec time = { .tv_nsec = (long)us * 1000 };

	if (lost_map &&
	    memcmp(&shield.shared->amplification, &lost_from, sizeof(lost_from)) != 0)
		*lost_map = -1;
	return nanosleep(&time, NULL);
}

/* --- tests ----------------------------------------------------------------------------
 */

/* A service of each sort, and nobody there before. */
static void rich_services(void)
{
	struct config_service *s;

	add("ffa", FAMILY_QUAKE3, 27960)->ports[1] = 27961;
	config->services[0].port_count = 2;
	config->services[0].service.validation = VALIDATION_UNDER_LOAD;
	config->services[0].service.cache = CACHE_ALWAYS;
	s = add("duel", FAMILY_QUAKEWORLD, 27500);
	s->ports[s->port_count++] = 65535;
	at(s, "198.51.100.7");
	at(s, "2001:db8::7");
	s = add("coop", FAMILY_NETQUAKE, 1);
	s->service.observe = 1;
	s->service.validation = VALIDATION_ALWAYS;
	s->service.policy[1] = 1;
	s->service.budget[CLASS_RCON].service = (struct limit){ 0, 0 };
	s->service.budget[CLASS_QUERY].source = (struct limit){ SECOND, 1 };
	/* On a port of another's, at an address of its own. */
	s = add("one", FAMILY_QUAKE2, 27960);
	at(s, "203.0.113.5");
}

static bool challenges(const struct service *s, int use)
{
	return s->validation && !s->observe &&
	       (use == CHALLENGE_JOIN || s->family == FAMILY_QUAKE2 ||
		s->family == FAMILY_QUAKE3);
}

/* Services that challenge have equal shares of the rate, other slots all of it. */
static void assert_shares(void)
{
	const struct service *services = was->tables[was->generation & 1].services;

	for (int use = 0; use < CHALLENGE_USES; use++) {
		const struct limit *rate = &was->validation.rate[use];
		__u64 count = 0;

		for (int slot = 0; slot < SERVICES_MAX; slot++)
			count += challenges(&services[slot], use);
		for (int slot = 0; slot < SERVICES_MAX; slot++) {
			struct limit *is = &shield.shared->validation.share[slot][use];
			__u64 cost = rate->cost_ns *
				     (challenges(&services[slot], use) ? count : 1);

			assert_in_range(is->cost_ns, cost, cost + 1);
			assert_int_equal(is->burst_ns, rate->burst_ns);
			was->validation.share[slot][use] = *is;
		}
	}
}

static void the_rest_by_default(void)
{
	was->amplification =
		(struct amplification_limit){ .window_ns = 20 * SECOND,
					      .byte_ns = 20 * SECOND / 16384 };
	was->sampling.limit[SAMPLER_STATISTIC] = (struct limit){ 1, 0 };
	was->sampling.limit[SAMPLER_FOLLOW] = (struct limit){ 1, 0 };
	if (config->sample_rate)
		was->sampling.limit[SAMPLER_STATISTIC] =
			(struct limit){ SECOND / config->sample_rate, SECOND };
	if (config->follow_rate)
		was->sampling.limit[SAMPLER_FOLLOW] =
			(struct limit){ SECOND / config->follow_rate, SECOND };
	was->validation.rate[CHALLENGE_JOIN] = (struct limit){ 1000, 250000000 };
	was->validation.rate[CHALLENGE_QUERY] = (struct limit){ 4000, 250000000 };
	assert_shares();
	was->cache.cap = (struct cache_cap){ .byte_ns = SECOND * 8 / 7 / 2500000,
					     .burst_ns = SECOND / 4,
					     .kept_burst_ns = SECOND / 4 };
	was->cache.cap.kept_byte_ns = was->cache.cap.byte_ns * 7;
}

static void one_after_the_other(void **state)
{
	struct config_service *s;

	(void)state;
	fill();
	fill_counters();
	rich_services();
	apply((const __u32[]){ 0, 1, 2, 3 }, 0xf, 0);
	the_rest_by_default();
	assert_live();
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
		assert_slot(slot, slot < 4);
	assert_endpoints("198.51.100.7 27500 1 2\n198.51.100.7 65535 1 2\n"
			 "2001:db8::7 27500 1 2\n2001:db8::7 65535 1 2\n"
			 "203.0.113.5 27960 1 4\n");

	/* One leaves, two come, one is another family now, the order is another. */
	fill();
	fill_counters();
	config->service_count = 0;
	add("new", FAMILY_QUAKE3, 28000);
	s = add("one", FAMILY_QUAKE3, 27960);
	at(s, "203.0.113.6");
	add("duel", FAMILY_QUAKEWORLD, 27500);
	add("ffa", FAMILY_QUAKE2, 27910);
	add("newer", FAMILY_AUTO, 28001)->service.cache = CACHE_UNDER_LOAD;
	config->observe = true;
	apply((const __u32[]){ 4, 3, 1, 0, 5 }, 0x30, 0);
	the_rest_by_default();
	assert_live();
	for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
		assert_slot(slot, slot == 4 || slot == 5);
	assert_endpoints("198.51.100.7 27500 1 2\n198.51.100.7 65535 1 2\n"
			 "2001:db8::7 27500 1 2\n2001:db8::7 65535 1 2\n"
			 "203.0.113.5 27960 1 4\n203.0.113.6 27960 0 4\n");

	/* Nobody is left; and of what was before the one before nothing is. */
	fill();
	config->service_count = 0;
	apply(nobody, 0, 0);
	the_rest_by_default();
	assert_live();
	assert_endpoints("203.0.113.6 27960 0 4\n");
	apply(nobody, 0, 0);
	assert_live();
	assert_endpoints("");
}

/* Names are told apart by each of their letters, and by how many there are. */
static void names_alike_are_two(void **state)
{
	static const char *const names[] = { "abcdefghijklmnopqrstuvwxyzabcd1",
					     "abcdefghijklmnopqrstuvwxyzabcd2", "abc",
					     "ab" };

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		add(names[i], FAMILY_QUAKE3, (__u16)(1000 + i));
	apply((const __u32[]){ 0, 1, 2, 3 }, 0xf, 0);
	the_rest_by_default();
	assert_live();
	config->service_count = 0;
	for (size_t i = COUNT(names); i-- > 0;)
		add(names[i], FAMILY_QUAKE3, (__u16)(1000 + i));
	apply((const __u32[]){ 3, 2, 1, 0 }, 0, 0);
	assert_live();
}

/* Of ports that were learned those stay that lead to who is still where they lead. */
static void ports_that_were_learned(void **state)
{
	static const struct port learned = { .any = 2,
					     .flags = PORT_LEARNED,
					     .seen_s = 77 };
	struct tables *now;

	(void)state;
	add("gone", FAMILY_NETQUAKE, 25999);
	add("stays", FAMILY_NETQUAKE, 26000);
	for (__u16 i = 0; i < KERN_SLOTS - 2; i++)
		add((const char[]){ (char)('a' + i), 0 }, FAMILY_NETQUAKE,
		    (__u16)(30000 + i));
	apply((const __u32[]){ 0, 1, 2, 3, 4, 5, 6, 7 }, 0xff, 0);
	now = &shield.shared->tables[1];
	now->ports[0] = now->ports[1] = now->ports[65535] = learned;
	now->ports[45000] = learned;
	now->ports[45000].any = 1; /* of who goes, and whose slot another gets */
	now->ports[45001] = learned;
	now->ports[45001].any = 0;
	now->ports[45002] = learned;
	now->ports[45002].flags = PORT_EXACT;
	now->ports[28000] = learned; /* another's, by its configuration */
	now->ports[28001] = learned; /* at one address, which it is not */
	strcpy(config->services[0].service.name, "comes");
	config->services[0].ports[0] = 28000;
	config->services[2].ports[0] = 28001;
	at(&config->services[2], "198.51.100.7");
	apply((const __u32[]){ 0, 1, 2, 3, 4, 5, 6, 7 }, 1, 65535);
	was->tables[0].ports[1] = learned;
	the_rest_by_default();
	assert_live();
}

static void put_amplification(__u32 key, __u64 value)
{
	struct amplification_line line;

	for (int way = 0; way < AMPLIFICATION_WAYS; way++)
		line.cells[way] = value;
	assert_int_equal(bpf_map_update_elem(shield.amplification, &key, &line, BPF_ANY),
			 0);
}

static __u64 amplification_at(__u32 key)
{
	struct amplification_line line;

	assert_int_equal(bpf_map_lookup_elem(shield.amplification, &key, &line), 0);
	for (int way = 1; way < AMPLIFICATION_WAYS; way++)
		assert_int_equal(line.cells[way], line.cells[0]);
	return line.cells[0];
}

/*
 * Debts are forgotten when their sort changes or the window shrinks, all of them, and
 * only then.
 */
static void debts_of_one_sort(void **state)
{
	static const struct {
		bool strict;
		__u32 allowance, refill_s;
		bool forgotten;
	} rows[] = {
		{ false, 16384, 20, false }, { false, 100, 20, false },
		{ true, 0, 20, true },	     { true, 16384, 20, false },
		{ false, 0, 20, true },	     { false, 7, 20, false },
		{ false, 7, 3600, false },   { false, 7, 3599, true },
		{ false, 0, 3599, true },
	};
	static const __u32 keys[] = { 0, 1, 1000, (1 << AMPLIFICATION_BITS) - 1 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct amplification_limit want = { 0 };

		for (size_t k = 0; k < COUNT(keys); k++)
			put_amplification(keys[k], 5 + k);
		config->amplification_strict = rows[i].strict;
		config->amplification_allowance = rows[i].allowance;
		config->amplification_refill_s = rows[i].refill_s;
		apply(nobody, 0, 0);
		for (size_t k = 0; k < COUNT(keys); k++)
			assert_int_equal(amplification_at(keys[k]),
					 rows[i].forgotten ? 0 : 5 + k);
		if (rows[i].strict)
			want = (struct amplification_limit){
				.byte_ns = AMPLIFICATION_GRAIN_NS,
				.credit_ns = AMPLIFICATION_GRAIN_NS << 20,
				.strict = 1
			};
		else if (rows[i].allowance)
			want = (struct amplification_limit){
				.byte_ns = rows[i].refill_s * SECOND / rows[i].allowance,
				.window_ns = rows[i].refill_s * SECOND
			};
		assert_memory_equal(&shield.shared->amplification, &want, sizeof(want));
	}
}

/* Anything of these is enough for something to be shown. */
static void what_is_shown(void **state)
{
	static const struct {
		__u32 every, first, follow_every;
		size_t listed;
		__u32 rate, follow_rate;
	} rows[] = {
		{ 0, 0, 0, 0, 0, 0 }, { 16, 0, 0, 0, 50, 0 }, { 0, 3, 0, 0, 0, 2000 },
		{ 0, 0, 8, 0, 3, 7 }, { 0, 0, 0, 1, 7, 3 },   { 2, 4, 8, 2, 1, 1000000 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sampling want = {
			.every = rows[i].every,
			.follow_first = rows[i].first,
			.follow_every = rows[i].follow_every,
			.follow_listed = rows[i].listed > 0,
			.any = i > 0,
			.limit = { { 1, 0 }, { 1, 0 } },
		};

		config->sample_every = rows[i].every;
		config->follow_first = rows[i].first;
		config->follow_every = rows[i].follow_every;
		config->sample_rate = rows[i].rate;
		config->follow_rate = rows[i].follow_rate;
		config->follow_count = rows[i].listed;
		config->follow[0] = (struct cidr){ .length = 128 };
		config->follow[1] = (struct cidr){ .length = 64 };
		if (rows[i].rate)
			want.limit[SAMPLER_STATISTIC] =
				(struct limit){ SECOND / rows[i].rate, SECOND };
		if (rows[i].follow_rate)
			want.limit[SAMPLER_FOLLOW] =
				(struct limit){ SECOND / rows[i].follow_rate, SECOND };
		apply(nobody, 0, 0);
		assert_memory_equal(&shield.shared->sampling, &want, sizeof(want));
	}
}

/* --- what goes wrong -------------------------------------------------------------------
 */

/* That error and that message; and datagrams are judged as they were. */
static void refused(int err, const char *message)
{
	memcpy(was, shield.shared, sizeof(*was));
	stderr_catch();
	assert_int_equal(shield_apply(&shield, config), err);
	stderr_release(said, sizeof(said));
	assert_string_equal(said, message);
	SAME(generation);
	SAME(tables);
	SAME(amplification);
}

static void what_does_not_fit(void **state)
{
	struct config_service *s;

	(void)state;
	add("stays", FAMILY_QUAKE3, 27960);
	apply((const __u32[]){ 0 }, 1, 0);
	for (__u16 i = 0; i < KERN_SLOTS; i++)
		add((const char[]){ (char)('a' + i), 0 }, FAMILY_QUAKE3, i);
	refused(-ENOSPC, "quakeshield: the pinned counters have room for 8 services, the "
			 "configuration names 9: `quakeshield detach` and start again to "
			 "make room\n");
	config->service_count = 0;
	s = add("wide", FAMILY_QUAKE3, 27960);
	for (__u16 i = 0; i < CONFIG_ADDRESSES; i++) {
		at(s, "198.51.100.0");
		s->addresses[i][3] |= htonl(i);
	}
	for (__u16 i = 0; i < CONFIG_PORTS; i++)
		s->ports[i] = (__u16)(1000 + i);
	s->port_count = CONFIG_PORTS;
	refused(-E2BIG,
		"quakeshield: cannot add an address of service 'wide': Argument list too "
		"long (at most 256 addresses and ports together)\n");
	/* All of that is gone again with the next. */
	s->address_count = 1;
	s->port_count = 1;
	apply((const __u32[]){ 1 }, 2, 0);
	the_rest_by_default();
	assert_live();
	assert_endpoints("198.51.100.0 1000 0 2\n");
	/* And as many as may be go, too. */
	s->address_count = 16;
	s->port_count = 16;
	apply((const __u32[]){ 1 }, 0, 0);
	apply((const __u32[]){ 1 }, 0, 0);
	s->address_count = 0;
	apply((const __u32[]){ 1 }, 0, 0);
	apply((const __u32[]){ 1 }, 0, 0);
	assert_endpoints("");
}

#define UNWRITTEN                                                                  \
	"quakeshield: cannot write the configuration to '/a/directory': Bad file " \
	"descriptor\n"

/* Whatever cannot be written: the configuration before stays in force. */
static void what_cannot_be_written(void **state)
{
	int *const maps[] = { &shield.counters, &shield.allow, &shield.deny,
			      &shield.follow, &shield.amplification };

	(void)state;
	add("stays", FAMILY_QUAKE3, 27960);
	apply((const __u32[]){ 0 }, 1, 0);
	add("comes", FAMILY_QUAKE3, 27961);
	config->allow[config->allow_count++] = (struct cidr){ .length = 128 };
	config->deny[config->deny_count++] = (struct cidr){ .length = 128 };
	config->follow[config->follow_count++] = (struct cidr){ .length = 128 };
	config->amplification_strict = true;
	for (size_t i = 0; i < COUNT(maps); i++) {
		int map = *maps[i];

		*maps[i] = -1;
		refused(-EBADF, UNWRITTEN);
		*maps[i] = map;
	}
	config->amplification_strict = false;
	memset(shield.shared->source_due_ns, 1, 64);
	assert_int_equal(shield_apply(&shield, config), 0);
	assert_int_equal(shield.shared->generation, 2);
	close(shield.lock);
	shield.lock = -1;
	refused(-EBADF, "quakeshield: cannot lock '/a/directory': Bad file descriptor\n");
	shield.lock = own_lock();
}

/* The settings are stored, and what they need then fails: those before are in force. */
static void what_fails_half_way(void **state)
{
	int map = shield.amplification;

	(void)state;
	add("stays", FAMILY_QUAKE3, 27960);
	apply((const __u32[]){ 0 }, 1, 0);
	config->amplification_strict = true;
	lost_from = shield.shared->amplification;
	lost_map = &shield.amplification;
	refused(-EBADF, UNWRITTEN);
	lost_map = NULL;
	assert_int_equal(shield.amplification, -1);
	shield.amplification = map;
}

/* A map that no entry can be deleted from is not walked for ever. */
static void players_that_cannot_be_forgotten(void **state)
{
	int frozen = bpf_map_create(BPF_MAP_TYPE_HASH, "qports", sizeof(struct qport_key),
				    2, 2048, NULL);
	struct qport_key key = { .slot = 3 };

	(void)state;
	assert_true(frozen >= 0);
	for (key.qport = 0; key.qport < 1500; key.qport++)
		assert_int_equal(bpf_map_update_elem(frozen, &key, &key.qport, BPF_ANY),
				 0);
	assert_int_equal(bpf_map_freeze(frozen), 0);
	shield.qports = frozen;
	alarm(60);
	shield_forget_players(&shield, 3);
	alarm(0);
	close(frozen);
}

/* It is let go of, when it went well and when it did not. */
static void the_lock_is_let_go(void **state)
{
	int other = own_lock_again(shield.lock);

	(void)state;
	assert_true(other >= 0);
	for (int i = 0; i < 2; i++) {
		for (__u16 n = 0; i && n <= KERN_SLOTS; n++)
			add((const char[]){ (char)('a' + n), 0 }, FAMILY_QUAKE3, n);
		stderr_catch();
		assert_int_equal(shield_apply(&shield, config), i ? -ENOSPC : 0);
		stderr_release(said, sizeof(said));
		assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
		flock(other, LOCK_UN);
	}
	/* And it is waited for for a while; what is applied meanwhile stays. */
	config->service_count = 0;
	assert_int_equal(flock(other, LOCK_EX), 0);
	refused(-EWOULDBLOCK, "quakeshield: cannot lock '/a/directory': another process "
			      "has held it for 2 seconds: `lslocks` shows which\n");
	assert_in_range(lock_waited, 2000000, 2100000);
	flock(other, LOCK_UN);
	/* The caller's own lasts until the caller lets go. */
	assert_int_equal(shield_lock(&shield), 0);
	assert_int_equal(shield_apply(&shield, config), 0);
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), -1);
	shield_unlock(&shield);
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
	close(other);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_after_the_other),
		TEST(names_alike_are_two),
		TEST(ports_that_were_learned),
		TEST(debts_of_one_sort),
		TEST(what_is_shown),
		TEST(what_does_not_fit),
		TEST(what_cannot_be_written),
		TEST(what_fails_half_way),
		TEST(players_that_cannot_be_forgotten),
		TEST(the_lock_is_let_go),
	};
	struct shield probe;

	if (!maps_open(&probe))
		return maps_skip();
	maps_close(&probe);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
