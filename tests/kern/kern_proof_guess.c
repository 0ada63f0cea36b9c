// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Who guesses at proofs without seeing a word that is sent: so many guesses of each form
 * in one name, and nobody is let in. GUESSES=N: how many of each (default: 100000); by
 * N / 2^32 of seven letters and N / (5 * 10^8) of ten digits one is right by chance, so
 * both the guesses and the keys are always the same.
 * stubs: shield_cache shield_out shield_joined
 */
#include "kern/kern_proof.h"

#define GUESSES_DEFAULT 100000

static const char letters_[] = "abcdefghijklmnopqrstuvwxyz234567";

static __u64 dice_ = 0x9e3779b97f4a7c15;

/* xorshift64* of Vigna. */
static __u64 dice(void)
{
	dice_ ^= dice_ >> 12;
	dice_ ^= dice_ << 25;
	dice_ ^= dice_ >> 27;
	return dice_ * 0x2545f4914f6cdd1d;
}

static void guess_letters(char *at, size_t n)
{
	__u64 bits = dice();

	for (size_t i = 0; i < n; i++, bits >>= 5)
		at[i] = letters_[bits & 31];
	at[0] = (char)('2' + (bits & 7));
}

/* Ten digits that a cookie can have. */
static void guess_number(char *at, size_t n)
{
	__u64 v = 1000000000 + dice() % 1000000000;

	while (n--) {
		at[n] = (char)('0' + v % 10);
		v /= 10;
	}
}

static const struct form {
	enum wire_family family;
	const char *text; /* @ stands for what is guessed */
	size_t guessed;
	void (*guess)(char *at, size_t n);
} forms[] = {
	{ FAMILY_QUAKE3, OOB "@", 7, guess_letters },
	{ FAMILY_QUAKE3, OOB "@123xQuake3Arena", 8, guess_letters },
	{ FAMILY_QUAKE3, OOB "@i", 8, guess_letters },
	{ FAMILY_QUAKEWORLD, OOB "connect 28 1 @ \"\"", 10, guess_number },
	{ FAMILY_QUAKE2, OOB "connect 34 1 @ \"\"", 10, guess_number },
	{ FAMILY_QUAKE2, OOB "@i", 8, guess_letters },
	{ FAMILY_NETQUAKE, OOB "connect\\challenge\\@", 10, guess_letters },
};

static unsigned long guesses(void)
{
	const char *text = getenv("GUESSES");

	return text ? strtoul(text, NULL, 10) : GUESSES_DEFAULT;
}

/* The payload with room where the guess goes: *@ret_at. Returns its length. */
static size_t form_text(const struct form *f, char ret[128], size_t *ret_at)
{
	const char *hole = strchr(f->text, '@');

	*ret_at = (size_t)(hole - f->text);
	memcpy(ret, f->text, *ret_at);
	memset(ret + *ret_at, 'a', f->guessed);
	strcpy(ret + *ret_at + f->guessed, hole + 1);
	return strlen(ret);
}

static size_t validated_count(void)
{
	const struct validated_table *t = &kern.live->validation.validated;
	size_t count = 0;

	for (size_t i = 0; i < VALIDATED_MAX; i++)
		count += t->cells[i].name.word[2] != 0;
	return count;
}

static void nobody_is_let_in_by_guessing(void **state)
{
	static __u8 frame[FRAME_MAX], out[FRAME_MAX];
	unsigned long passed = 0, count = guesses();
	char text[128];

	(void)state;
	for (size_t i = 0; i < COUNT(forms); i++) {
		const struct form *f = &forms[i];
		struct frame_spec spec = { .sport = HERE, .payload = text };
		LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_out = out,
			    .data_size_out = sizeof(out), .repeat = 1);
		struct service s;
		size_t at, offset;

		demand(f->family, VALIDATION_ALWAYS);
		s = kern.live->tables[0].services[0];
		s.budget[CLASS_UNKNOWN].service = (struct limit){ SECOND, 0 };
		kern_service(&kern, 0, 0, &s);
		spec.n = form_text(f, text, &at);
		run.data_size_in = (__u32)frame_build(&spec, frame);
		offset = 14 + 20 + 8 + at;
		assert_memory_equal(frame + offset - at, OOB, 4);
		for (unsigned long n = 0; n < count; n++) {
			f->guess((char *)frame + offset, f->guessed);
			run.data_size_out = sizeof(out);
			assert_int_equal(bpf_prog_test_run_opts(kern.program, &run), 0);
			passed += run.retval != XDP_DROP;
		}
		print_message("%lu guesses like '%s': %lu were right\n", count,
			      f->text + 4, passed);
		assert_int_equal(passed, 0);
	}
	assert_int_equal(validated_count(), 0);
}

/* The right one is believed with the same keys, so the guesses could have been, too. */
static void who_knows_it_is_let_in(void **state)
{
	struct said said;
	char token[16] = OOB;

	(void)state;
	demand(FAMILY_QUAKE3, VALIDATION_ALWAYS);
	say(&wraps[0], BYTES(OOB "getchallenge"), &said);
	assert_answer(&said, 0);
	memcpy(token + 4, said.text + 9, 7);
	say(&wraps[0], token, 11, &said);
	assert_int_equal(said.action, XDP_PASS);
	assert_int_equal(validated_count(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nobody_is_let_in_by_guessing),
		TEST(who_knows_it_is_let_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
