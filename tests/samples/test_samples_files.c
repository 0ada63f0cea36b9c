// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Our own recordings of real servers and clients: every frame and datagram counted,
 * every datagram in its family, every line valid JSON with no key twice, and no status
 * worse than what is known of the file.
 *
 * Read from $CAPTURES/live; without them each file's test is skipped by name.
 */
#include <glob.h>

#include "decode/decode_support.h"
#include "lib/names.h"
#include "recordings.h"

struct expected {
	const char *name;
	unsigned int packets;
	unsigned int datagrams; /* less than packets where IP fragments are */
	enum wire_family family;
	unsigned int others; /* datagrams of other families: shared and foreign words */
	unsigned int refused; /* made wrong on purpose: malformed, opaque if whole */
	unsigned int partial; /* truly lost on the path */
	bool whole; /* the family is decoded to the last bit */
};

/* clang-format off */
static const struct expected files[] = {
	{ "dp-darkplaces-dp7-2clients-mapchange", 4625, 4625, FAMILY_NETQUAKE, 3, 0, 0, false },
	{ "dp-darkplaces-queries", 30, 30, FAMILY_NETQUAKE, 17, 1, 1, true },
	{ "dp-darkplaces-server-quake15-quakespasm-client", 544, 544, FAMILY_NETQUAKE, 0, 0, 0, false },
	{ "dp-nexuiz-2clients-mapchange", 5798, 5798, FAMILY_NETQUAKE, 2, 0, 0, false },
	{ "dp-nexuiz-queries", 29, 29, FAMILY_NETQUAKE, 17, 1, 1, true },
	{ "dtls12-dhe-psk-aes128-gcm-sha256", 66, 66, FAMILY_QUAKE_ENHANCED, 0, 0, 0, false },
	{ "dtls12-psk-aes128-cbc-sha256", 66, 66, FAMILY_QUAKE_ENHANCED, 0, 0, 0, false },
	{ "dtls12-psk-aes128-gcm-sha256-wrongpsk", 11, 11, FAMILY_QUAKE_ENHANCED, 0, 0, 0, false },
	{ "dtls12-psk-aes128-gcm-sha256", 66, 66, FAMILY_QUAKE_ENHANCED, 0, 0, 0, false },
	{ "dtls12-psk-aes256-cbc-sha-nocookie", 17, 17, FAMILY_QUAKE_ENHANCED, 0, 0, 0, false },
	{ "dtls12-psk-aes256-cbc-sha", 66, 66, FAMILY_QUAKE_ENHANCED, 0, 0, 0, false },
	{ "dtls12-psk-chacha20-poly1305", 66, 66, FAMILY_QUAKE_ENHANCED, 0, 0, 0, false },
	{ "nq-quakespasm-impaired-client-side", 354, 352, FAMILY_NETQUAKE, 0, 0, 1, false },
	{ "nq-quakespasm-impaired-server-side", 364, 362, FAMILY_NETQUAKE, 0, 0, 0, false },
	{ "nq-quakespasm-proto15-1client-mapchange", 583, 581, FAMILY_NETQUAKE, 0, 0, 0, false },
	{ "nq-quakespasm-proto666-2clients-mapchange", 1042, 1039, FAMILY_NETQUAKE, 0, 0, 0, false },
	{ "nq-quakespasm-proto999-1client", 412, 410, FAMILY_NETQUAKE, 0, 0, 0, false },
	{ "nq-quakespasm-queries", 85, 64, FAMILY_NETQUAKE, 1, 2, 0, false },
	{ "q2-yamagi-q2ded-queries", 28, 28, FAMILY_QUAKE2, 1, 1, 0, true },
	{ "q2-yamagi-q2ded-scripted-client", 460, 460, FAMILY_QUAKE2, 0, 0, 0, false },
	{ "q3-ioq3-proto71-checksum", 1276, 1276, FAMILY_QUAKE3, 0, 0, 0, true },
	{ "q3-oa-1client-mapchange", 2327, 2327, FAMILY_QUAKE3, 0, 0, 0, true },
	{ "q3-oa-2clients-full-kick-timeout", 8670, 8670, FAMILY_QUAKE3, 0, 0, 2, true },
	{ "q3-oa-impaired-client-side", 1402, 1402, FAMILY_QUAKE3, 0, 0, 3, true },
	{ "q3-oa-impaired-server-side", 1393, 1393, FAMILY_QUAKE3, 0, 0, 0, true },
	{ "q3-oa-ipv6", 496, 496, FAMILY_QUAKE3, 0, 0, 0, true },
	{ "q3-oa-queries", 154, 154, FAMILY_QUAKE3, 0, 9, 0, true },
	{ "qw-mvdsv-ezquake-2clients-mapchange", 5854, 5854, FAMILY_QUAKEWORLD, 0, 0, 0, false },
	{ "qw-mvdsv-ezquake-disconnect-kick", 779, 779, FAMILY_QUAKEWORLD, 0, 0, 0, false },
	{ "qw-mvdsv-ezquake-download", 2871, 2871, FAMILY_QUAKEWORLD, 0, 0, 0, false },
	{ "qw-mvdsv-ezquake-spectator-timeout", 2132, 2132, FAMILY_QUAKEWORLD, 0, 0, 0, false },
	{ "qw-mvdsv-ktx-queries-session", 1605, 1605, FAMILY_QUAKEWORLD, 0, 0, 0, false },
	{ "qw-mvdsv-queries", 164, 164, FAMILY_QUAKEWORLD, 2, 2, 0, true },
};
/* clang-format on */

static json_t *decode_all(struct capture *capture, uint64_t *packets)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	struct datagram dg;
	int result;

	while ((result = capture_next(capture, &dg)) == 1)
		decoder_datagram(h->decoder, &dg);
	assert_int_equal(result, 0);
	*packets = capture_packets(capture);
	capture_close(capture);
	return harness_close(h);
}

static void live(void **state)
{
	const struct expected *e = *state;
	unsigned int others = 0, status[RECORD_STATUS_COUNT] = { 0 };
	uint64_t packets;
	struct capture *capture = recording_live(e->name);
	json_t *all;

	if (!capture)
		skip();
	all = decode_all(capture, &packets);
	assert_int_equal(packets, e->packets);
	assert_int_equal(json_array_size(all), e->datagrams);
	for (size_t i = 0; i < json_array_size(all); i++) {
		json_t *r = json_array_get(all, i);
		const char *text = text_at(r, "status");

		assert_string_not_equal(text_at(r, "direction"), "null");
		assert_string_not_equal(text_at(r, "protocol"), "null");
		assert_string_equal(text_at(r, "overflow"), "(none)");
		for (int s = 0; s < RECORD_STATUS_COUNT; s++)
			status[s] += !strcmp(text, record_status_names[s]);
		others += strcmp(text_at(r, "protocol"), family_name(e->family)) != 0;
	}
	assert_int_equal(others, e->others);
	assert_int_equal(status[RECORD_PARTIAL], e->partial);
	if (e->whole)
		assert_int_equal(status[RECORD_DECODED],
				 e->datagrams - e->refused - e->partial);
	else
		assert_int_equal(status[RECORD_MALFORMED], e->refused);
	json_decref(all);
}

static void other_port(struct record_address *address)
{
	static const uint8_t client[] = { 10, 66, 0, 11 };

	if (!memcmp(address->bytes, client, sizeof(client)) && address->port == 27960)
		address->port = 40001;
}

/* A NAT gives the client another port in mid-game: its connection goes on. */
static void port_changes(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	struct capture *capture = recording_live("q3-oa-1client-mapchange");
	struct datagram dg;
	json_t *all;

	(void)state;
	if (!capture) {
		json_decref(harness_close(h));
		skip();
	}
	while (capture_next(capture, &dg) == 1) {
		if (dg.frame > 800) {
			other_port(&dg.source);
			other_port(&dg.destination);
		}
		decoder_datagram(h->decoder, &dg);
	}
	capture_close(capture);
	all = harness_close(h);
	assert_int_equal(json_array_size(all), 2327);
	for (size_t i = 0; i < json_array_size(all); i++)
		assert_string_equal(text_at(json_array_get(all, i), "status"), "decoded");
	json_decref(all);
}

/* Replies and requests from other people's captures: neg_* are look-alikes. */
static void payloads(void **state)
{
	static uint8_t bytes[65536];
	const char *captures = getenv("CAPTURES");
	char pattern[1024];
	glob_t paths;

	(void)state;
	snprintf(pattern, sizeof(pattern), "%s/pcap/oob-payloads/*.bin",
		 captures ? captures : "");
	if (glob(pattern, 0, NULL, &paths)) {
		print_message("skip payloads: no $CAPTURES/pcap/oob-payloads\n");
		skip();
	}
	for (size_t i = 0; i < paths.gl_pathc; i++) {
		bool foreign = strstr(paths.gl_pathv[i], "/neg_") != NULL;
		struct harness *h = harness_open(FAMILY_AUTO);
		FILE *file = fopen(paths.gl_pathv[i], "rb");
		json_t *all;

		assert_non_null(file);
		harness_c2s(h, bytes, fread(bytes, 1, sizeof(bytes), file));
		fclose(file);
		all = harness_close(h);
		print_message("%s\n", paths.gl_pathv[i]);
		assert_string_equal(text_at(json_array_get(all, 0), "status"),
				    foreign ? "opaque" : "decoded");
		assert_int_equal(!strcmp(text_at(json_array_get(all, 0), "protocol"),
					 "null"),
				 foreign);
		json_decref(all);
	}
	globfree(&paths);
}

int main(void)
{
	static struct CMUnitTest tests[2 + sizeof(files) / sizeof(*files)] = {
		cmocka_unit_test(payloads),
		cmocka_unit_test(port_changes),
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		tests[i + 2] = (struct CMUnitTest){
			.name = files[i].name,
			.test_func = live,
			.initial_state = (void *)&files[i],
		};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
