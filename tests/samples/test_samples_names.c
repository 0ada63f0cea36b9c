// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_samples_names.c - a daemon that begins in the middle of games knows what the one
 * before knew of their players, and no more.
 */
#include <stdlib.h>
#include <unistd.h>

#include "decode/decode_support.h"
#include "lag/lag_file.h"
#include "samples/players_file.h"
#include "samples/samples.h"
#include "samples/samples_names.h"

#define SECOND 1000000000LL
#define SLOT   7
#define NAME   "d\"ora\x01"

static char path[] = "/tmp/test_samples_names.XXXXXX";
static struct service services[SERVICES_MAX];
static struct lagometer *l;
static struct record_tape tape;

/* A message of the server's to the client at @port, which says @name unless that is "".
 */
static void say(uint16_t port, const char *name, int64_t time_ns)
{
	struct record r;

	record_reset(&r, &tape);
	r.time_ns = time_ns;
	r.family = FAMILY_QUAKE3;
	r.direction = DIRECTION_S2C;
	r.source = harness_address(1, 27960);
	r.destination = harness_address(9, port);
	r.kind = "snapshot";
	r.facts.has = FACT_SEQUENCE;
	r.facts.sequence = (uint32_t)(time_ns / SECOND);
	if (*name)
		facts_name(&r.facts, name, strlen(name));
	lagometer_record(l, SLOT, &r);
}

static const char *name_of(uint16_t port)
{
	const struct lag_player *p;
	size_t at = 0;

	while ((p = lagometer_next(l, &at)))
		if (p->client.port == port)
			return p->name;
	fail_msg("nobody plays from port %u", port);
	return NULL;
}

static void begin_anew(void)
{
	lagometer_free(l);
	l = lagometer_create(4, LAG_BESIDE_SERVER);
	assert_non_null(l);
}

/* One daemon has seen somebody join at port 5000, another at 5001, and ends at 12 s. */
static int begin(void **state)
{
	struct samples_stats stats = { 0 };

	(void)state;
	begin_anew();
	strcpy(services[SLOT].name, "ffa");
	say(5000, NAME, 10 * SECOND);
	say(5001, "bob", 11 * SECOND);
	assert_int_equal(players_file_write(path, 12 * SECOND, &stats, l, services), 0);
	begin_anew();
	return 0;
}

static int make(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	return record_tape_create(&tape, 16, 256);
}

static int end(void **state)
{
	(void)state;
	lagometer_free(l);
	record_tape_free(&tape);
	return unlink(path);
}

static void names_come_over(void **state)
{
	struct samples_names *names = samples_names_load(path, 15 * SECOND);

	(void)state;
	assert_non_null(names);
	assert_true(samples_names_recall(names, l, services, 16 * SECOND)); /* nobody */
	say(5000, "", 17 * SECOND);
	say(5001, "alice", 17 * SECOND); /* who has another name now */
	say(5002, "", 17 * SECOND); /* nobody knew */
	assert_string_equal(name_of(5000), "");
	assert_true(samples_names_recall(names, l, services, 18 * SECOND));
	assert_string_equal(name_of(5000), NAME);
	assert_string_equal(name_of(5001), "alice");
	assert_string_equal(name_of(5002), "");
	/* What is said is believed. */
	say(5000, "eve", 19 * SECOND);
	assert_true(samples_names_recall(names, l, services, 20 * SECOND));
	assert_string_equal(name_of(5000), "eve");
	samples_names_free(names);
}

static void of_another_service_it_is_another(void **state)
{
	struct samples_names *names = samples_names_load(path, 15 * SECOND);

	(void)state;
	strcpy(services[SLOT].name, "duel");
	say(5000, "", 17 * SECOND);
	assert_true(samples_names_recall(names, l, services, 18 * SECOND));
	assert_string_equal(name_of(5000), "");
	samples_names_free(names);
}

static void after_a_minute_it_is_another(void **state)
{
	struct samples_names *names = samples_names_load(path, 15 * SECOND);

	(void)state;
	say(5000, "", 71 * SECOND);
	assert_false(samples_names_recall(names, l, services, 12 * SECOND + LAG_IDLE_NS));
	assert_string_equal(name_of(5000), "");
	samples_names_free(names);
	assert_null(samples_names_load(path, 12 * SECOND + LAG_IDLE_NS));
	assert_null(samples_names_load(path, 11 * SECOND)); /* the clock went back */
}

static void a_file_that_is_none(void **state)
{
	FILE *file = fopen(path, "w");

	(void)state;
	assert_non_null(file);
	fputs("{\"time\":12,\"players\":[{\"address\":7},[],{\"name\":\"x\"}]}", file);
	fclose(file);
	samples_names_free(samples_names_load(path, 12 * SECOND));
	assert_null(samples_names_load("/nowhere", 12 * SECOND));
	assert_null(samples_names_load("/dev/null", 12 * SECOND));
}

int main(void)
{
#define T(test) cmocka_unit_test_setup(test, begin)
	const struct CMUnitTest tests[] = {
		T(names_come_over),
		T(of_another_service_it_is_another),
		T(after_a_minute_it_is_another),
		T(a_file_that_is_none),
	};

	return cmocka_run_group_tests(tests, make, end);
}
