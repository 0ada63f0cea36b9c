// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cursor.h"
#include "guard.h"

static void takes_what_is_there(void **state)
{
	static const __u8 bytes[] = { 1, 2, 3, 4, 5 };

	(void)state;
	for (__u32 size = 0; size <= sizeof(bytes); size++) {
		for (__u32 n = 0; n <= sizeof(bytes) + 3; n++) {
			const __u8 *at = guard_page(bytes, size);
			struct cursor c = { .pos = at, .end = at + size };
			const __u8 *got = cursor_take(&c, n);

			if (n <= size) {
				assert_ptr_equal(got, at);
				assert_ptr_equal(c.pos, at + n);
			} else {
				assert_null(got);
				assert_ptr_equal(c.pos, at);
			}
			assert_ptr_equal(c.end, at + size);
		}
	}
}

static void a_refused_take_spends_nothing(void **state)
{
	static const __u8 bytes[] = { 10, 11, 12, 13 };
	struct cursor c = { .pos = bytes, .end = bytes + sizeof(bytes) };
	const __u8 *got;

	(void)state;
	assert_non_null(cursor_take(&c, 3));
	assert_null(cursor_take(&c, 2));
	got = cursor_take(&c, 1);
	assert_non_null(got);
	assert_int_equal(*got, 13);
	assert_null(cursor_take(&c, 1));
	assert_non_null(cursor_take(&c, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_what_is_there),
		cmocka_unit_test(a_refused_take_spends_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
