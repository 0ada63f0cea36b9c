// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How many instructions the shield takes for a frame, which is the price of a flood, and
 * the same on every machine: each row of the bench (rows.h), and what a search for the
 * dearest frame finds (search.h), keeps the bound that is written beside it.
 *
 * SEED= searches elsewhere, CLIMBS= longer (how often, for each family with plain frames
 * and with any), and STEPS=1 shows what was counted.
 */
#include "kern/kern_support.h"
/* What takes that long is another's: first its COUNT(), which is the same. */
#include "bench/count.h"
#include "bench/search.h"
#include "rounds.h"

/*
 * Bounds are what was counted of the compiler that Debian 12 has, and three of a hundred.
 * Versions 16 and 19 took no more than four of a hundred more for any row.
 */
#define COMPILER       "clang version 14."
#define OTHERS_PERCENT 5

#define CLIMBS	       12
#define NOW	       (1ull << 40) /* nanoseconds: some eighteen minutes of uptime */

/*
 * What a stranger's frame may take beside a getstatus that floods the same shield, in
 * tenths: one that is plain, and one with tags, options or extension headers or in
 * pieces. docs/HACKING.md says so, and what is dearer.
 */
#define PLAIN_TENTHS   21
#define WRAPPED_TENTHS 29

static struct shield_bpf *shield;
static struct steps stepped[2]; /* at the interface, at egress */
static long counts[COUNT(rows_known)];
static int percent = 100; /* of what is written here */

/* What the environment says, or not. */
static int asked(const char *name, int otherwise)
{
	const char *text = getenv(name);

	return text ? (int)strtol(text, NULL, 10) : otherwise;
}

static bool is_within(const char *name, long count, long most)
{
	most = most * percent / 100;
	if (asked("STEPS", 0))
		print_message("%5ld of %5ld  %s\n", count, most, name);
	if (count <= most)
		return true;
	print_error("%s: %ld steps, no more than %ld are allowed\n", name, count, most);
	return false;
}

/* Another shield, of which nobody has heard: in the memory of the same. */
static void begin(enum program program)
{
	struct live *live = &shield->bss->live;

	memset(live, 0, sizeof(*live));
	live->clock_ns = NOW;
	candidate_set(live, &settings[program]);
	for (size_t i = 0; i < COUNT(stepped); i++) {
		steps_close(&stepped[i]);
		assert_int_equal(steps_open_shield(&stepped[i], shield, i), 0);
		stepped[i].now_ns = NOW;
	}
}

static int open_shield(void **state)
{
	static const char compiler[] = COMPILER;
	const void *object;
	size_t size;

	(void)state;
	libbpf_set_print(kern_quiet);
	if (candidate_load(SERVICES_MAX, &shield)) {
		assert_int_equal(errno, EPERM);
		shield_bpf__destroy(shield);
		shield = NULL;
		return 0;
	}
	object = shield_bpf__elf_bytes(&size);
	if (!memmem(object, size, compiler, sizeof(compiler) - 1))
		percent += OTHERS_PERCENT;
	return 0;
}

static int close_shield(void **state)
{
	(void)state;
	for (size_t i = 0; shield && i < COUNT(stepped); i++)
		steps_close(&stepped[i]);
	shield_bpf__destroy(shield);
	return 0;
}

/* --- rows --------------------------------------------------------------------------- */

static bool is_shield(const struct row *row)
{
	return settings[row->program].services;
}

/* What became of the next frame: with the kernel, and here. */
static int kernel_action(struct batch *b)
{
	__u8 after[FRAME_MAX];
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = b->frame, .data_size_in = b->n,
		    .data_out = after, .data_size_out = sizeof(after), .repeat = 1);
	struct bpf_program *program =
		b->row->program >= OUT ? shield->progs.shield_out : shield->progs.shield;

	batch_next(b);
	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(program), &run), 0);
	return (int)run.retval;
}

static int stepped_action(struct batch *b)
{
	int action;

	batch_next(b);
	assert_true(steps_run(&stepped[b->row->program >= OUT], b->frame, b->n, &action) >
		    0);
	return action;
}

static void no_row_takes_more_than_it_may(void **state)
{
	enum program before = PROGRAMS;
	static struct batch batch;
	bool good = true;

	(void)state;
	if (!shield)
		skip();
	for (size_t i = 0; i < COUNT(rows_known); i++) {
		const struct row *row = &rows_known[i];
		struct steps *s = &stepped[row->program >= OUT];

		assert_int_equal(is_shield(row), row->most > 0);
		if (!is_shield(row))
			continue;
		if (row->program != before)
			begin(row->program);
		before = row->program;
		batch_begin(&batch, row);
		if (count_steps(s, &shield->bss->live, &batch, &counts[i]))
			fail_msg("%s: cannot be stepped through", row->name);
		/* Or what was counted is not what the kernel executes. */
		if (stepped_action(&batch) != kernel_action(&batch))
			fail_msg("%s: the kernel does something else", row->name);
		good &= is_within(row->name, counts[i], row->most);
	}
	assert_true(good);
}

static const struct row *row_named(const char *name)
{
	for (size_t i = 0; i < COUNT(rows_known); i++)
		if (!strcmp(rows_known[i].name, name))
			return &rows_known[i];
	fail_msg("no row '%s'", name);
	return NULL;
}

#define RETURNS_MORE 120 /* a look at the table of the validated */

/*
 * A look at a refused source costs no more than this, and is one in REFUSED_EVERY:
 * refused.h. All other rows are counted without one.
 */
#define LOOK_MOST 90

static void a_look_at_a_source_costs_little(void **state)
{
	static struct batch batch;
	long least, most, n;
	int action, looks = 0;

	(void)state;
	if (!shield)
		skip();
	begin(SHIELD);
	batch_begin(&batch, &rows_known[R_FIRST + 1]);
	if (count_steps(&stepped[0], &shield->bss->live, &batch, &least))
		fail();
	most = least;
	shield->bss->live.sampling.phase = 3;
	for (int i = 0; i < 4 * REFUSED_EVERY; i++) {
		batch_next(&batch);
		n = steps_run(&stepped[0], batch.frame, batch.n, &action);
		assert_int_equal(action, XDP_DROP);
		most = n > most ? n : most;
		looks += n > least;
	}
	assert_int_equal(looks, 4);
	assert_true(is_within("a look at a refused source", most - least, LOOK_MOST));
}

static bool is_plain(const struct frame_spec *s)
{
	return !s->tags[0] && !s->options && !s->ext_count && !s->fragment && !s->more &&
	       !s->offset;
}

/*
 * What a getstatus takes that floods this shield, or one like it. As shipped, all sources
 * are marked, as in the first second of a flood.
 */
static long flood_of(enum program program)
{
	bool shipped = program == SHIELD_SHIPPED;

	for (size_t i = 0; i < COUNT(rows_known); i++)
		if (!strcmp(rows_known[i].name, shipped ? "getstatus, all marked"
							: "getstatus flood, 4M sources"))
			return counts[i];
	return 0;
}

static bool is_near_flood(enum program program, const char *name,
			  const struct frame_spec *frame, long count)
{
	int tenths = is_plain(frame) ? PLAIN_TENTHS : WRAPPED_TENTHS;
	long most = flood_of(program) * tenths / 10;

	if (count <= most)
		return true;
	print_error("%s: %ld steps, more than %d tenths of a flooding getstatus\n", name,
		    count, tenths);
	return false;
}

static void no_shape_is_dear(void **state)
{
	bool good = true;
	int compared = 0;

	(void)state;
	if (!shield)
		skip();
	assert_true(flood_of(SHIELD) > 0 && flood_of(SHIELD_SHIPPED) > 0);
	for (size_t i = 0; i < COUNT(rows_known); i++) {
		const struct row *row = &rows_known[i];

		if (row->program < SHIELD || row->program > SHIELD_SHIPPED)
			continue;
		good &= is_near_flood(row->program, row->name, &row->frame, counts[i]);
		compared++;
	}
	assert_in_range(compared, 30, COUNT(rows_known));
	assert_true(good);
}

/*
 * A client that answers each challenge that others ask for in its name returns a right
 * cookie each time. From the second on within two seconds that is refused, and costs
 * little more than a cookie that is made up.
 */
static void a_cookie_that_returns_again_costs_a_refusal(void **state)
{
	static const char word[] = "getchallenge 123 Quake3Arena";
	struct frame_spec spec = { OOB("getchallenge 123 Quake3Arena") };
	__u8 frame[FRAME_MAX], sent[FRAME_MAX];
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_out = sent,
		    .data_size_out = sizeof(sent), .repeat = 1);
	int fd, action;
	long most = 0;

	(void)state;
	if (!shield)
		skip();
	fd = bpf_program__fd(shield->progs.shield);
	begin(SHIELD_ASKS);
	most = counts[row_named("made-up proofs") - rows_known] + RETURNS_MORE;
	run.data_size_in = frame_of(&spec, frame);
	assert_int_equal(bpf_prog_test_run_opts(fd, &run), 0);
	assert_int_equal(run.retval, XDP_TX);
	/* The client returns the token that follows `echo `. */
	spec.n = sizeof(word) - 1 + 4 - 5;
	spec.payload = memcpy(sent + 42 + 5, "\xff\xff\xff\xff", 4);
	run.data_size_in = frame_of(&spec, frame);
	run.data_size_out = sizeof(sent);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(bpf_prog_test_run_opts(fd, &run), 0);
		assert_int_equal(run.retval, i ? XDP_DROP : XDP_PASS);
		run.data_size_out = sizeof(sent);
	}
	assert_true(is_within("a right cookie that returns again",
			      steps_run(&stepped[0], frame, run.data_size_in, &action),
			      most));
	assert_int_equal(action, XDP_DROP);
}

/*
 * Return the steps of a CCREQ_CONNECT to @family from a source that is over its limit,
 * while the service is within its own. @program: with validation or without.
 */
static long steps_in_a_crowd(enum program program, enum wire_family family)
{
	const struct frame_spec spec = { CCREQ, .dport = (__u16)(PORT + family) };
	__u8 frame[FRAME_MAX];
	size_t n = frame_of(&spec, frame);
	int action = XDP_ABORTED;
	long steps = 0;

	begin(program);
	for (int i = 0; i < SPENDING; i++)
		steps_run(&stepped[0], frame, n, &action);
	shield->bss->live.clock_ns += 1100000000;
	for (int i = 0; i < 4; i++)
		steps = steps_run(&stepped[0], frame, n, &action);
	assert_int_equal(action, XDP_DROP);
	return steps;
}

/* CCREQ_CONNECT is exempt from the higher limits of a crowd: the fast path refuses it. */
static void a_connect_of_a_crowd_costs_a_refusal(void **state)
{
	static const struct {
		const char *name;
		enum wire_family family;
	} rows[] = { { "NetQuake", FAMILY_NETQUAKE },
		     { "QuakeWorld", FAMILY_QUAKEWORLD },
		     { "Quake Enhanced", FAMILY_QUAKE_ENHANCED },
		     { "auto", FAMILY_AUTO } };
	long most = 0;

	(void)state;
	if (!shield)
		skip();
	most = counts[row_named("CCREQ_CONNECT flood, shipped") - rows_known] +
	       RETURNS_MORE;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_true(is_within(rows[i].name,
				      steps_in_a_crowd(SHIELD_SHIPPED, rows[i].family),
				      most));
		assert_true(is_within(rows[i].name,
				      steps_in_a_crowd(SHIELD_FAMILIES, rows[i].family),
				      most));
	}
}

/* A flood of getchallenge is refused at once, but for a look at the greylist. */
static void a_getchallenge_to_host_keys_costs_a_look(void **state)
{
	static const struct {
		enum host_keys_state state;
		long most;
	} rows[] = { { KEYS_UNKNOWN, 256 },
		     { KEYS_KNOWN, 488 },
		     { KEYS_LONG, 256 },
		     { KEYS_SEVERAL, 256 } };
	static struct batch batch;
	char name[64];
	long steps;

	(void)state;
	if (!shield)
		skip();
	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(SHIELD_SHIPPED);
		for (size_t slot = 0; slot < SERVICES_MAX; slot++)
			shield->bss->live.validation.keys[slot].state = rows[i].state;
		batch_begin(&batch, row_named("getchallenge, shipped, DarkPlaces"));
		assert_int_equal(
			count_steps(&stepped[0], &shield->bss->live, &batch, &steps), 0);
		assert_int_equal(stepped_action(&batch), XDP_DROP);
		snprintf(name, sizeof(name), "getchallenge, host keys %d",
			 (int)rows[i].state);
		assert_true(is_within(name, steps, rows[i].most));
	}
	begin(SHIELD);
}

/* --- the search --------------------------------------------------------------------- */

static bool is_no_news(const struct quest *quest, enum wire_family family,
		       enum sought sought)
{
	const struct finding *f = &findings[quest - quests][family][sought];
	char name[64];
	bool good;

	search_name(quest, family, sought, name);
	good = is_within(name, f->steps, quest->most[family][sought]);
	if (!quest->player && !quest->listed)
		good &= is_near_flood(quest->program, name, &f->frame, f->steps);
	if (!good)
		search_show(stderr, &f->frame);
	return good;
}

static void no_frame_is_dearer_than_those_known(void **state)
{
	bool good = true;

	(void)state;
	if (!shield)
		skip();
	search_random = (unsigned int)asked("SEED", (int)search_random);
	for (size_t i = 0; i < QUESTS; i++) {
		begin(quests[i].program);
		assert_int_equal(search_all(&stepped[0], &shield->bss->live, &quests[i],
					    asked("CLIMBS", (int)rounds_of(CLIMBS)), 0),
				 0);
		for (int family = 0; family < FAMILY_COUNT; family++)
			for (int sought = 0; sought < SOUGHT; sought++)
				good &= is_no_news(&quests[i], (enum wire_family)family,
						   (enum sought)sought);
	}
	assert_true(good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_row_takes_more_than_it_may),
		cmocka_unit_test(a_look_at_a_source_costs_little),
		cmocka_unit_test(a_cookie_that_returns_again_costs_a_refusal),
		cmocka_unit_test(a_connect_of_a_crowd_costs_a_refusal),
		cmocka_unit_test(a_getchallenge_to_host_keys_costs_a_look),
		cmocka_unit_test(no_shape_is_dear),
		cmocka_unit_test(no_frame_is_dearer_than_those_known),
	};

	return cmocka_run_group_tests(tests, open_shield, close_shield);
}
