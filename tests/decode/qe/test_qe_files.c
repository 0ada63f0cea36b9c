// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Captures of DTLS 1.2 with a pre-shared key: with the key, or the key log, every record
 * opens to what was written (by its SHA-256), both Finished verify, and all is decoded;
 * without, with another key, or with another name, each encrypted record says why not.
 */
#include <openssl/evp.h>

#include "decode/decode_support.h"
#include "lib/secret.h"
#include "recordings.h"

static json_t *keys(void)
{
	FILE *file = recording_open("live/dtls-keys.json");
	json_error_t error;
	json_t *all;

	if (!file)
		return NULL;
	all = json_loadf(file, 0, &error);
	fclose(file);
	assert_non_null(all);
	return all;
}

/* NULL behind the last one. */
static json_t *item(json_t *object, const char *key, size_t i)
{
	return json_array_get(json_object_get(object, key), i);
}

struct counter {
	unsigned int of[RECORD_STATUS_COUNT];
	unsigned int verified;
	const char *reason; /* of the first that is not decoded */
	char digests[2][256][17]; /* c2s, s2c: of what records opened to */
	unsigned int count[2];
};

static void sink(void *context, const struct record *r)
{
	struct counter *t = context;
	int side = r->direction == DIRECTION_S2C;

	t->of[r->status]++;
	/* The talks have no serverinfo, so no baselines either. */
	if (r->reason && !t->reason && !strstr(r->reason, "baseline"))
		t->reason = r->reason;
	for (size_t i = 0; i < r->tape->items_used; i++)
		t->verified += r->tape->items[i].type == RECORD_TYPE_BOOL &&
			       !strcmp(r->tape->items[i].key, "verified");
	for (unsigned int i = 0; i < r->plains_n; i++) {
		uint8_t digest[32];
		char *to = t->digests[side][t->count[side]++];

		EVP_Digest(r->plains[i].bytes, r->plains[i].n, digest, NULL, EVP_sha256(),
			   NULL);
		for (int k = 0; k < 8; k++)
			sprintf(to + 2 * k, "%02x", digest[k]);
	}
}

static void run(const char *name, const struct decoder_options *options,
		struct counter *t)
{
	struct decoder *decoder;
	struct capture *capture;
	struct datagram dg;
	char text[256];

	memset(t, 0, sizeof(*t));
	snprintf(text, sizeof(text), "live/%s", name);
	assert_int_equal(capture_open(recording_open(text), &capture, text, sizeof(text)),
			 0);
	decoder = decoder_create(options, sink, t);
	assert_non_null(decoder);
	while (capture_next(capture, &dg) == 1)
		decoder_datagram(decoder, &dg);
	decoder_flush(decoder);
	decoder_free(decoder);
	capture_close(capture);
}

static const char *string_of(json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* With the key of the server, or of the client where they differ. */
static void run_psk(json_t *entry, const char *key, const char *identity,
		    struct counter *t)
{
	struct secret_key secret;
	struct decoder_options options = { .fields = true, .forced = FAMILY_AUTO };

	assert_int_equal(secret_key_parse(key, &secret), 0);
	options.psk = (struct keys_psk){ identity, secret.bytes, secret.n };
	run(string_of(entry, "file"), &options, t);
}

static void run_keylog(json_t *entry, struct counter *t)
{
	struct decoder_options options = { .fields = true, .forced = FAMILY_AUTO };
	struct keylog keylog;
	char message[256];
	FILE *lines = tmpfile();
	json_t *line;
	size_t i;

	for (i = 0; (line = item(entry, "keylog", i)); i++)
		fprintf(lines, "%s\n", json_string_value(line));
	rewind(lines);
	assert_int_equal(keylog_read(lines, &keylog, message, sizeof(message)), 0);
	fclose(lines);
	options.keylog = &keylog;
	run(string_of(entry, "file"), &options, t);
	keylog_free(&keylog);
}

static void assert_all_opened(json_t *entry, const struct counter *t)
{
	unsigned int at[2] = { 0, 0 };
	json_t *record;
	size_t i;

	if (t->reason)
		fail_msg("%s: %s", string_of(entry, "file"), t->reason);
	assert_int_equal(t->verified, 2);
	for (i = 0; (record = item(entry, "records", i)); i++) {
		int side = !strcmp(string_of(record, "dir"), "s2c");

		assert_string_equal(t->digests[side][at[side]++],
				    string_of(record, "sha256"));
	}
	assert_int_equal(at[0], t->count[0]);
	assert_int_equal(at[1], t->count[1]);
	assert_true(i > 0);
}

static bool is_forward_secret(json_t *entry)
{
	return strstr(string_of(entry, "suite"), "DHE");
}

static bool keys_differ(json_t *entry)
{
	return strcmp(string_of(entry, "psk"), string_of(entry, "client_psk")) != 0;
}

static void test_opened(void **state)
{
	json_t *all = keys(), *entry;
	unsigned int opened = 0;
	struct counter t;
	size_t i;

	(void)state;
	if (!all)
		skip();
	for (i = 0; (entry = item(all, "captures", i)); i++) {
		if (keys_differ(entry))
			continue;
		run_keylog(entry, &t);
		assert_all_opened(entry, &t);
		if (is_forward_secret(entry))
			continue;
		run_psk(entry, string_of(entry, "psk"), string_of(entry, "identity"), &t);
		assert_all_opened(entry, &t);
		opened++;
	}
	assert_int_equal(opened, 5);
	json_decref(all);
}

/* Nothing is opened, and each record that is encrypted says @reason. */
static void assert_closed(json_t *entry, const struct counter *t, const char *reason)
{
	assert_int_equal(t->count[0] + t->count[1], 0);
	assert_int_equal(t->verified, 0);
	assert_int_equal(t->of[RECORD_MALFORMED] + t->of[RECORD_PARTIAL], 0);
	assert_true(t->of[RECORD_OPAQUE] >=
		    json_array_size(json_object_get(entry, "records")));
	assert_non_null(t->reason);
	assert_string_equal(t->reason, reason);
}

static void test_closed(void **state)
{
	struct decoder_options none = { .fields = true, .forced = FAMILY_AUTO };
	json_t *all = keys(), *entry;
	struct counter t;
	size_t i;

	(void)state;
	if (!all)
		skip();
	for (i = 0; (entry = item(all, "captures", i)); i++) {
		const char *identity = string_of(entry, "identity");
		const char *key = string_of(entry, "psk");

		run(string_of(entry, "file"), &none, &t);
		assert_closed(entry, &t, "no key was given that opens it");
		if (is_forward_secret(entry)) {
			run_psk(entry, key, identity, &t);
			assert_closed(entry, &t,
				      "forward secret: only a key log opens "
				      "this suite");
			continue;
		}
		run_psk(entry, "0123456789abcdef0123456789abcdef", identity, &t);
		assert_closed(entry, &t, "the key does not fit this connection");
		run_psk(entry, key, "somebody-else", &t);
		assert_closed(entry, &t,
			      "no key was given for the identity that the "
			      "client names");
	}
	json_decref(all);
}

/* The two ends have different keys: the client's opens what the client said. */
static void test_differ(void **state)
{
	json_t *all = keys(), *entry;
	unsigned int seen = 0;
	struct counter t;
	size_t i;

	(void)state;
	if (!all)
		skip();
	for (i = 0; (entry = item(all, "captures", i)); i++) {
		if (!keys_differ(entry))
			continue;
		seen++;
		run_psk(entry, string_of(entry, "client_psk"),
			string_of(entry, "identity"), &t);
		assert_int_equal(t.of[RECORD_DECODED], 11);
		assert_null(t.reason);
		assert_int_equal(t.verified, 1);
		run_psk(entry, string_of(entry, "psk"), string_of(entry, "identity"), &t);
		assert_closed(entry, &t, "the key does not fit this connection");
	}
	assert_int_equal(seen, 1);
	json_decref(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opened),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
