// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What `decode --summary` says of a capture: every member, with a comma between two. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/summary.h"

static struct summary summary;

static void expect(const char *text)
{
	struct jsonl *json = calloc(1, sizeof(*json));
	char *said = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&said, &n);

	assert_non_null(json);
	assert_non_null(out);
	jsonl_init(json, out);
	summary_write(&summary, "a.pcap", json);
	assert_int_equal(jsonl_flush(json), 0);
	fclose(out);
	assert_string_equal(said, text);
	free(said);
	free(json);
}

static void an_empty_one(void **state)
{
	(void)state;
	memset(&summary, 0, sizeof(summary));
	expect("{\"file\":\"a.pcap\",\"packets\":0,\"datagrams\":0,\"protocols\":{},"
	       "\"unknown\":0}\n");
}

static void what_was_passed_over(void **state)
{
	(void)state;
	memset(&summary, 0, sizeof(summary));
	summary.packets = 9;
	summary.passed[PASS_TCP] = 4;
	expect("{\"file\":\"a.pcap\",\"packets\":9,\"datagrams\":0,\"protocols\":{},"
	       "\"unknown\":0,\"passed\":{\"tcp\":4}}\n");
	summary.passed[PASS_LINK_CUT] = 2;
	summary.passed[PASS_UDP_CUT] = 3;
	expect("{\"file\":\"a.pcap\",\"packets\":9,\"datagrams\":0,\"protocols\":{},"
	       "\"unknown\":0,\"passed\":{\"link-cut\":2,\"tcp\":4,\"udp-cut\":3}}\n");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_one),
		cmocka_unit_test(what_was_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
