// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Real traffic: how many datagrams of which kind each recording holds, toward the server
 * and from it. Recordings are looked for in CAPTURES and skipped by name.
 */
#include "include/classify_support.h"
#include "datagrams.h"

static const struct capture {
	const char *name;
	enum wire_family family;
	const char *to_server; /* kind=count, in the order of wire.h */
	const char *from_server;
} captures[] = {
	{
		"dp-darkplaces-dp7-2clients-mapchange.pcap",
		FAMILY_NETQUAKE,
		" nq-reliable=40 nq-ack=71 nq-unreliable=836 getchallenge=2"
		" connect=2 rcon=1 ccreq-connect=2",
		" nq-reliable=71 nq-ack=40 nq-unreliable=3555 a2c-print=1"
		" challenge=2 accept=2",
	},
	{
		"dp-darkplaces-queries.pcap",
		FAMILY_NETQUAKE,
		" oob-unknown=1 getstatus=4 getinfo=3 getchallenge=1 rcon=2"
		" status=1 ping=1 ccreq-connect=2 ccreq-server-info=4"
		" ccreq-player-info=1 ccreq-rule-info=1",
		" a2c-print=1 ack=1 challenge=1 statusResponse=3 infoResponse=3",
	},
	{
		"dp-darkplaces-server-quake15-quakespasm-client.pcap",
		FAMILY_NETQUAKE,
		" nq-reliable=6 nq-ack=13 nq-unreliable=127 ccreq-connect=1",
		" nq-reliable=13 nq-ack=6 nq-unreliable=375 ccreq-server-info=2"
		" ccrep-accept=1",
	},
	{
		"dp-nexuiz-2clients-mapchange.pcap",
		FAMILY_NETQUAKE,
		" nq-reliable=34 nq-ack=144 nq-unreliable=993 getchallenge=2"
		" connect=2 srcon=1 ccreq-connect=2",
		" nq-reliable=144 nq-ack=34 nq-unreliable=4437 a2c-print=1"
		" challenge=2 accept=2",
	},
	{
		"dp-nexuiz-queries.pcap",
		FAMILY_NETQUAKE,
		" oob-unknown=1 getstatus=4 getinfo=3 getchallenge=1 rcon=2"
		" status=1 ping=1 ccreq-connect=2 ccreq-server-info=4"
		" ccreq-player-info=1 ccreq-rule-info=1",
		" ack=1 challenge=1 statusResponse=3 infoResponse=3",
	},
	{
		"dtls12-dhe-psk-aes128-gcm-sha256.pcap",
		FAMILY_QUAKE_ENHANCED,
		" dtls-client-hello-cookie=1 dtls-data=36 dtls-client-hello=1"
		" dtls-client-key-exchange=1",
		" dtls-data=24 dtls-server-hello=1 dtls-hello-verify-request=1"
		" dtls-new-session-ticket=1",
	},
	{
		"dtls12-psk-aes128-cbc-sha256.pcap",
		FAMILY_QUAKE_ENHANCED,
		" dtls-client-hello-cookie=1 dtls-data=35 dtls-client-hello=1"
		" dtls-client-key-exchange=1",
		" dtls-data=25 dtls-server-hello=1 dtls-hello-verify-request=1"
		" dtls-new-session-ticket=1",
	},
	{
		"dtls12-psk-aes128-gcm-sha256-wrongpsk.pcap",
		FAMILY_QUAKE_ENHANCED,
		" dtls-client-hello-cookie=1 dtls-encrypted-handshake=1"
		" dtls-change-cipher-spec=1 dtls-client-hello=1"
		" dtls-client-key-exchange=2",
		" dtls-server-hello=2 dtls-hello-verify-request=1"
		" dtls-server-key-exchange=1 dtls-server-hello-done=1",
	},
	{
		"dtls12-psk-aes128-gcm-sha256.pcap",
		FAMILY_QUAKE_ENHANCED,
		" dtls-client-hello-cookie=1 dtls-data=31 dtls-client-hello=1"
		" dtls-client-key-exchange=1",
		" dtls-data=29 dtls-server-hello=1 dtls-hello-verify-request=1"
		" dtls-new-session-ticket=1",
	},
	{
		"dtls12-psk-aes256-cbc-sha-nocookie.pcap",
		FAMILY_QUAKE_ENHANCED,
		" dtls-client-hello-cookie=1 dtls-data=6 dtls-client-hello=1"
		" dtls-client-key-exchange=1",
		" dtls-change-cipher-spec=1 dtls-data=4 dtls-server-hello=1"
		" dtls-hello-verify-request=1 dtls-new-session-ticket=1",
	},
	{
		"dtls12-psk-aes256-cbc-sha.pcap",
		FAMILY_QUAKE_ENHANCED,
		" dtls-client-hello-cookie=1 dtls-data=35 dtls-client-hello=1"
		" dtls-client-key-exchange=1",
		" dtls-data=25 dtls-server-hello=1 dtls-hello-verify-request=1"
		" dtls-new-session-ticket=1",
	},
	{
		"dtls12-psk-chacha20-poly1305.pcap",
		FAMILY_QUAKE_ENHANCED,
		" dtls-client-hello-cookie=1 dtls-data=35 dtls-client-hello=1"
		" dtls-client-key-exchange=1",
		" dtls-data=25 dtls-server-hello=1 dtls-hello-verify-request=1"
		" dtls-new-session-ticket=1",
	},
	{
		"nq-quakespasm-impaired-client-side.pcap",
		FAMILY_NETQUAKE,
		" nq-reliable=7 nq-ack=8 nq-unreliable=190 ccreq-connect=1",
		" nq-reliable=7 nq-ack=7 nq-unreliable=124 ccreq-server-info=2"
		" ccrep-accept=1 ccrep-server-info=2",
	},
	{
		"nq-quakespasm-impaired-server-side.pcap",
		FAMILY_NETQUAKE,
		" nq-reliable=7 nq-ack=9 nq-unreliable=190 ccreq-connect=1",
		" nq-reliable=8 nq-ack=7 nq-unreliable=133 ccreq-server-info=2"
		" ccrep-accept=1 ccrep-server-info=2",
	},
	{
		"nq-quakespasm-proto15-1client-mapchange.pcap",
		FAMILY_NETQUAKE,
		" nq-reliable=14 nq-ack=27 nq-unreliable=249 ccreq-connect=1",
		" nq-reliable=26 nq-ack=14 nq-unreliable=243 ccreq-server-info=2"
		" ccrep-accept=1 ccrep-server-info=2",
	},
	{
		"nq-quakespasm-proto666-2clients-mapchange.pcap",
		FAMILY_NETQUAKE,
		" nq-reliable=23 nq-ack=35 nq-unreliable=457 ccreq-connect=2",
		" nq-reliable=34 nq-ack=23 nq-unreliable=452 ccreq-server-info=4"
		" ccrep-accept=2 ccrep-server-info=4",
	},
	{
		"nq-quakespasm-proto999-1client.pcap",
		FAMILY_NETQUAKE,
		" nq-reliable=7 nq-ack=8 nq-unreliable=150 ccreq-connect=1",
		" nq-reliable=7 nq-ack=7 nq-unreliable=223 ccreq-server-info=2"
		" ccrep-accept=1 ccrep-server-info=2",
	},
	{
		"nq-quakespasm-queries.pcap",
		FAMILY_NETQUAKE,
		" malformed=2 getstatus=1 ccreq-connect=2 ccreq-server-info=4"
		" ccreq-player-info=2 ccreq-rule-info=11 ccreq-rcon=1",
		" nq-unreliable=4 ccrep-accept=1 ccrep-reject=1 ccrep-server-info=3"
		" ccrep-rule-info=11",
	},
	{
		"q2-yamagi-q2ded-queries.pcap",
		FAMILY_QUAKE2,
		" oob-unknown=1 getstatus=1 getchallenge=1 connect=1 rcon=3"
		" status=3 info=3 ping=1 ack=1",
		" info=3 ack=1 challenge=1 print=8",
	},
	{
		"q2-yamagi-q2ded-scripted-client.pcap",
		FAMILY_QUAKE2,
		" netchan=222 getchallenge=2 connect=2",
		" netchan=230 challenge=2 client_connect=2",
	},
	{
		"q3-ioq3-proto71-checksum.pcap",
		FAMILY_QUAKE3,
		" netchan=722 getinfo=1 getchallenge=1 connect=1",
		" netchan=542 netchan-fragment=6 infoResponse=1 challengeResponse=1"
		" connectResponse=1",
	},
	{
		"q3-oa-1client-mapchange.pcap",
		FAMILY_QUAKE3,
		" netchan=1328 getchallenge=1 connect=1 rcon=1",
		" netchan=985 netchan-fragment=8 challengeResponse=1"
		" connectResponse=1 print=1",
	},
	{
		"q3-oa-2clients-full-kick-timeout.pcap",
		FAMILY_QUAKE3,
		" netchan=5003 getchallenge=5 connect=10",
		" netchan=3622 netchan-fragment=15 challengeResponse=5"
		" connectResponse=5 print=5",
	},
	{
		"q3-oa-impaired-client-side.pcap",
		FAMILY_QUAKE3,
		" netchan=793 getchallenge=1 connect=1",
		" netchan=595 netchan-fragment=10 challengeResponse=1"
		" connectResponse=1",
	},
	{
		"q3-oa-impaired-server-side.pcap",
		FAMILY_QUAKE3,
		" netchan=771 getchallenge=1 connect=1",
		" netchan=609 netchan-fragment=9 challengeResponse=1"
		" connectResponse=1",
	},
	{
		"q3-oa-ipv6.pcap",
		FAMILY_QUAKE3,
		" netchan=263 getstatus=1 getinfo=1 getchallenge=2 connect=1",
		" netchan=220 netchan-fragment=3 statusResponse=1 infoResponse=1"
		" challengeResponse=2 connectResponse=1",
	},
	{
		"q3-oa-queries.pcap",
		FAMILY_QUAKE3,
		" runt=2 oob-empty=1 oob-unusual=1 oob-unknown=2 netchan=1"
		" getstatus=48 getinfo=10 getchallenge=8 connect=2 rcon=8 ping=2"
		" disconnect=2 getservers=2",
		" statusResponse=18 infoResponse=10 challengeResponse=6 print=31",
	},
	{
		"qw-mvdsv-ezquake-2clients-mapchange.pcap",
		FAMILY_QUAKEWORLD,
		" netchan=2922 getchallenge=2 connect=2 status=1 ip=2",
		" netchan=2920 s2c-challenge=2 a2c-print=1 j=2",
	},
	{
		"qw-mvdsv-ezquake-disconnect-kick.pcap",
		FAMILY_QUAKEWORLD,
		" netchan=386 getchallenge=2 connect=2 ip=2",
		" netchan=383 s2c-challenge=2 j=2",
	},
	{
		"qw-mvdsv-ezquake-download.pcap",
		FAMILY_QUAKEWORLD,
		" netchan=1294 getchallenge=1 connect=1 ip=1",
		" netchan=1293 s2c-challenge=1 qw-chunk=279 j=1",
	},
	{
		"qw-mvdsv-ezquake-spectator-timeout.pcap",
		FAMILY_QUAKEWORLD,
		" netchan=1063 getchallenge=2 connect=2 ip=2",
		" netchan=1059 s2c-challenge=2 j=2",
	},
	{
		"qw-mvdsv-ktx-queries-session.pcap",
		FAMILY_QUAKEWORLD,
		" netchan=798 getchallenge=1 connect=1 status=2 ping=1",
		" netchan=797 s2c-challenge=1 a2c-print=2 raw-ack=1 j=1",
	},
	{
		"qw-mvdsv-queries.pcap",
		FAMILY_QUAKEWORLD,
		" oob-unknown=1 a2s-reply=1 getstatus=1 getinfo=1 getchallenge=1"
		" connect=1 rcon=3 status=70 ping=1 k=1 log=1 lastscores=1",
		" s2c-challenge=1 a2c-print=77 raw-ack=2 raw-nack=1",
	},
};

/* The servers of all recordings in live/. */
static bool is_server(const char *address)
{
	return !strcmp(address, "10.66.0.1") || !strcmp(address, "fd66::1") ||
	       !strcmp(address, "10.67.0.1");
}

struct counter_of {
	enum wire_family family;
	unsigned int kinds[DIRECTION_COUNT][KIND_COUNT];
};

static void counter_datagram(const struct seen *seen, void *context)
{
	struct counter_of *t = context;
	enum direction direction = is_server(seen->to) ? DIRECTION_C2S : DIRECTION_S2C;

	t->kinds[direction][kind_of(t->family, direction, seen->payload, seen->n)]++;
}

static void counter_print(const unsigned int kinds[KIND_COUNT], char *out, size_t size)
{
	size_t at = 0;

	*out = '\0';
	for (int kind = 0; kind < KIND_COUNT && at < size; kind++) {
		if (kinds[kind])
			at += (size_t)snprintf(out + at, size - at, " %s=%u",
					       kind_name(kind), kinds[kind]);
	}
}

/* NULL: there are none. */
static const char *capture_path(const char *folder, const char *name)
{
	static char path[4096];
	const char *root = getenv("CAPTURES");

	if (!root || !*root)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s/%s", root, folder, name);
	return access(path, R_OK) ? NULL : path;
}

static void recordings_hold_what_was_recorded(void **state)
{
	size_t read = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(captures); i++) {
		const struct capture *c = &captures[i];
		struct counter_of t = { .family = c->family };
		const char *path = capture_path("live", c->name);
		char text[1024];

		if (!path) {
			print_message("not there: %s\n", c->name);
			continue;
		}
		assert_int_equal(seen_each(path, counter_datagram, &t), 0);
		counter_print(t.kinds[DIRECTION_C2S], text, sizeof(text));
		assert_string_equal(text, c->to_server);
		counter_print(t.kinds[DIRECTION_S2C], text, sizeof(text));
		assert_string_equal(text, c->from_server);
		read++;
	}
	if (!read)
		skip();
}

/* In a recorded game, nothing that a client sends is dropped or charged strictly. */
static void players_are_never_strangers(void **state)
{
	size_t read = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(captures); i++) {
		const struct capture *c = &captures[i];
		const char *path = capture_path("live", c->name);
		struct counter_of t = { .family = c->family };

		if (strstr(c->name, "queries") || !path)
			continue;
		assert_int_equal(seen_each(path, counter_datagram, &t), 0);
		for (int kind = 0; kind < KIND_COUNT; kind++) {
			enum wire_class class = wire_class(c->family, kind);

			if (!t.kinds[DIRECTION_C2S][kind] || class < CLASS_UNKNOWN ||
			    class == CLASS_NETCHAN)
				continue;
			print_error("%s: %s\n", c->name, kind_name(kind));
			fail();
		}
		read++;
	}
	if (!read)
		skip();
}

/* Answers of real servers, kept by other projects; "neg": none of ours. */
static const struct {
	const char *name;
	enum wire_family family;
	enum wire_kind kind;
} payloads[] = {
	{ "cod2_1.bin", FAMILY_QUAKE3, KIND_STATUSRESPONSE },
	{ "cod4_1.bin", FAMILY_QUAKE3, KIND_STATUSRESPONSE },
	{ "cod_1.bin", FAMILY_QUAKE3, KIND_STATUSRESPONSE },
	{ "codmw2_1.bin", FAMILY_QUAKE3, KIND_STATUSRESPONSE },
	{ "codmw2_3.bin", FAMILY_QUAKE3, KIND_STATUSRESPONSE },
	{ "coduo_1.bin", FAMILY_QUAKE3, KIND_STATUSRESPONSE },
	{ "coduo_3.bin", FAMILY_QUAKE3, KIND_STATUSRESPONSE },
	{ "et_1.bin", FAMILY_QUAKE3, KIND_STATUSRESPONSE },
	{ "gta5m_1.bin", FAMILY_QUAKE3, KIND_INFORESPONSE },
	{ "gta5m_3.bin", FAMILY_QUAKE3, KIND_INFORESPONSE },
	{ "jediacademy_1.bin", FAMILY_QUAKE3, KIND_STATUSRESPONSE },
	{ "jediacademy_3.bin", FAMILY_QUAKE3, KIND_STATUSRESPONSE },
	{ "jedioutcast_1.bin", FAMILY_QUAKE3, KIND_STATUSRESPONSE },
	{ "jedioutcast_3.bin", FAMILY_QUAKE3, KIND_STATUSRESPONSE },
	{ "kingpin_1.bin", FAMILY_QUAKE2, KIND_PRINT },
	{ "neg_cs15_1_0.bin", FAMILY_QUAKE3, KIND_OOB_UNKNOWN },
	{ "neg_cs15_1_1.bin", FAMILY_QUAKE3, KIND_A2S_REPLY },
	{ "neg_cs15_1_2.bin", FAMILY_QUAKE3, KIND_NETCHAN_FRAGMENT },
	{ "neg_cs15_1_3.bin", FAMILY_QUAKE3, KIND_NETCHAN_FRAGMENT },
	{ "neg_cs16_1_0.bin", FAMILY_QUAKE3, KIND_A2S_REPLY },
	{ "neg_cs16_1_1.bin", FAMILY_QUAKE3, KIND_A2S_REPLY },
	{ "neg_cs16_1_2.bin", FAMILY_QUAKE3, KIND_NETCHAN_FRAGMENT },
	{ "neg_cs16_1_3.bin", FAMILY_QUAKE3, KIND_NETCHAN_FRAGMENT },
	{ "neg_cs16_3_0.bin", FAMILY_QUAKE3, KIND_OOB_UNKNOWN },
	{ "neg_cs16_3_1.bin", FAMILY_QUAKE3, KIND_A2S_REPLY },
	{ "neg_cs16_3_2.bin", FAMILY_QUAKE3, KIND_A2S_REPLY },
	{ "neg_cs16_3_4.bin", FAMILY_QUAKE3, KIND_NETCHAN_FRAGMENT },
	{ "neg_cs16_3_5.bin", FAMILY_QUAKE3, KIND_NETCHAN_FRAGMENT },
	{ "neg_doom3_1.bin", FAMILY_QUAKE3, KIND_NETCHAN },
	{ "neg_etqw_1.bin", FAMILY_QUAKE3, KIND_MALFORMED },
	{ "neg_etqw_3.bin", FAMILY_QUAKE3, KIND_NETCHAN },
	{ "neg_hl1_1_0.bin", FAMILY_QUAKE3, KIND_OOB_UNKNOWN },
	{ "neg_hl1_1_1.bin", FAMILY_QUAKE3, KIND_A2S_REPLY },
	{ "neg_hl1_1_2.bin", FAMILY_QUAKE3, KIND_A2S_REPLY },
	{ "neg_hl1_1_3.bin", FAMILY_QUAKE3, KIND_A2S_REPLY },
	{ "neg_quake4_1.bin", FAMILY_QUAKE3, KIND_MALFORMED },
	{ "neg_teeworlds_1.bin", FAMILY_QUAKE3, KIND_OOB_UNUSUAL },
	{ "neg_teeworlds_3.bin", FAMILY_QUAKE3, KIND_OOB_UNUSUAL },
	{ "quake2_1.bin", FAMILY_QUAKE2, KIND_PRINT },
	{ "quake2_3.bin", FAMILY_QUAKE2, KIND_PRINT },
	{ "quake3_1.bin", FAMILY_QUAKE3, KIND_STATUSRESPONSE },
	{ "req_getinfo_quake3.bin", FAMILY_QUAKE3, KIND_GETINFO },
	{ "req_getstatus_quake3.bin", FAMILY_QUAKE3, KIND_GETSTATUS },
	{ "sof2_1.bin", FAMILY_QUAKE3, KIND_STATUSRESPONSE },
	{ "urbanterror_1.bin", FAMILY_QUAKE3, KIND_STATUSRESPONSE },
	{ "warsow_1.bin", FAMILY_QUAKE3, KIND_STATUSRESPONSE },
};

static void payloads_are_what_they_are(void **state)
{
	size_t read = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(payloads); i++) {
		const char *path = capture_path("pcap/oob-payloads", payloads[i].name);
		FILE *file = path ? fopen(path, "rb") : NULL;
		__u8 bytes[4096];
		enum wire_kind kind;
		size_t n;

		if (!file) {
			print_message("not there: %s\n", payloads[i].name);
			continue;
		}
		n = fread(bytes, 1, sizeof(bytes), file);
		fclose(file);
		kind = kind_of(payloads[i].family, DIRECTION_S2C, bytes, n);
		if (kind != payloads[i].kind)
			print_bytes(payloads[i].name, bytes, n);
		assert_int_equal(kind, payloads[i].kind);
		read++;
	}
	if (!read)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recordings_hold_what_was_recorded),
		cmocka_unit_test(players_are_never_strangers),
		cmocka_unit_test(payloads_are_what_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
