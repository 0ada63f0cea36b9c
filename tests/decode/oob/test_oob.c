// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Out-of-band words: one row each, whole and cut at every byte; and that no word of
 * include/wire.h is without its decoder.
 */
#include "decode/decode_support.h"
#include "lib/huffman.h"
#include "decode/oob/oob.h"

struct row {
	const uint8_t *payload;
	size_t n;
	const char *protocol;
	const char *direction;
	const char *kind;
	const char *status;
	const char *path; /* of one field, or NULL */
	const char *value;
};

#define LIST_V4 "\\\x01\x02\x03\x04\x6d\x38\\\x5c\x5c\x5c\x5c\x5c\x5c"
#define EOT	"\\EOT\0\0\0"
#define IPV6	"\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01"

/* clang-format off */
static const struct row rows[] = {
	{ BYTES(MARK "getstatus"), "quake3", "c2s", "getstatus", "decoded", "challengeText", "(none)" },
	{ BYTES(MARK "getstatus xyz\n"), "quake3", "c2s", "getstatus", "decoded", "challengeText", "xyz" },
	{ BYTES(MARK "getinfo xxx"), "quake3", "c2s", "getinfo", "decoded", "challengeText", "xxx" },
	{ BYTES(MARK " \tGetInfo \"a b\""), "quake3", "c2s", "getinfo", "decoded", "challengeText", "a b" },
	{ BYTES(MARK "\"getinfo\" x"), "quake3", "c2s", "getinfo", "decoded", "unusual_spelling", "true" },
	{ BYTES(MARK "getinfo x y"), "quake3", "c2s", "getinfo", "malformed", "reason", "bytes after the last argument" },
	{ BYTES(MARK "infoResponse\n\\protocol\\71\\hostname\\a b"), "quake3", "s2c", "infoResponse", "decoded", "info.hostname", "a b" },
	{ BYTES(MARK "infoResponse\n\\a\\1\\A\\2"), "quake3", "s2c", "infoResponse", "decoded", "info.A#2", "2" },
	{ BYTES(MARK "infoResponse\n\\a"), "quake3", "s2c", "infoResponse", "malformed", "reason", "not an info string" },
	{ BYTES(MARK "infoResponse \\a\\b"), "quake3", "s2c", "infoResponse", "malformed", NULL, NULL },
	{ BYTES(MARK "statusResponse\n\\a\\1\n-3 25 \"^1bob \xe9\"\n0 0 \"x\"\n"), "quake3", "s2c", "statusResponse", "decoded", "players.0.score", "-3" },
	{ BYTES(MARK "statusResponse\n\\a\\1\n1 2 3 \"x\"\n"), "quake3", "s2c", "statusResponse", "decoded", "players.0.team", "3" },
	{ BYTES(MARK "statusResponse\n\\a\\1\n1 2 \"x\" 4\n"), "quake3", "s2c", "statusResponse", "decoded", "players.0.team", "4" },
	{ BYTES(MARK "statusResponse\n\\a\\1\n1 2 \"red\" \"x\"\n"), "quake3", "s2c", "statusResponse", "decoded", "players.0.team", "red" },
	{ BYTES(MARK "statusResponse\n\\a\\1\n1 2 \"x\"\n\0" "3 4 \"y\"\n"), "quake3", "s2c", "statusResponse", "malformed", "players.1.score", "(none)" },
	{ BYTES(MARK "statusResponse\n\\a\\1\n1 two \"x\"\n"), "quake3", "s2c", "statusResponse", "malformed", NULL, NULL },
	{ BYTES(MARK "getchallenge"), "quake3", "c2s", "getchallenge", "decoded", NULL, NULL },
	{ BYTES(MARK "getchallenge 12345 Quake3Arena"), "quake3", "c2s", "getchallenge", "decoded", "gamename", "Quake3Arena" },
	{ BYTES(MARK "challengeResponse -1234 12345 71"), "quake3", "s2c", "challengeResponse", "decoded", "challenge", "-1234" },
	{ BYTES(MARK "challengeResponse"), "quake3", "s2c", "challengeResponse", "malformed", "reason", "argument missing" },
	{ BYTES(MARK "challengeResponse 4294967296"), "quake3", "s2c", "challengeResponse", "malformed", NULL, NULL },
	{ BYTES(MARK "connectResponse 99"), "quake3", "s2c", "connectResponse", "decoded", "challenge", "99" },
	{ BYTES(MARK "connect \"\\name\\x\""), "quake3", "c2s", "connect", "malformed", NULL, NULL },
	{ BYTES(MARK "rcon secret map oa_dm1\0"), "quake3", "c2s", "rcon", "partial", "command", "map oa_dm1" },
	{ BYTES(MARK "print\nBad rconpassword.\n"), "quake3", "s2c", "print", "partial", "text", "Bad rconpassword.\n" },
	{ BYTES(MARK "disconnect"), "quake3", "null", "disconnect", "decoded", NULL, NULL },
	{ BYTES(MARK "echo hello"), "quake3", "s2c", "echo", "partial", "text", "hello" },
	{ BYTES(MARK "heartbeat QuakeArena-1\n"), "quake3", "s2c", "heartbeat", "decoded", "game", "QuakeArena-1" },
	{ BYTES(MARK "getservers 68 empty full"), "quake3", "c2s", "getservers", "decoded", "filters.1", "full" },
	{ BYTES(MARK "getservers Xonotic 3 empty"), "quake3", "c2s", "getservers", "decoded", "gamename", "Xonotic" },
	{ BYTES(MARK "getserversExt Quake3Arena 71 ipv6"), "quake3", "c2s", "getserversExt", "decoded", "protocolVersion", "71" },
	{ BYTES(MARK "getserversResponse" LIST_V4 EOT), "quake3", "s2c", "getserversResponse", "decoded", "servers.0.port", "27960" },
	{ BYTES(MARK "getserversResponse" LIST_V4 EOT), "quake3", "s2c", "getserversResponse", "decoded", "servers.1.address", "92.92.92.92" },
	{ BYTES(MARK "getserversResponse" LIST_V4 EOT), "quake3", "s2c", "getserversResponse", "decoded", "last", "true" },
	{ BYTES(MARK "getserversResponse" LIST_V4 EOT), "quake3", "s2c", "getserversResponse", "decoded", "servers.2", "(none)" },
	{ BYTES(MARK "getserversResponse" LIST_V4), "quake3", "s2c", "getserversResponse", "decoded", "last", "false" },
	{ BYTES(MARK "getserversResponse\\\x01\x02"), "quake3", "s2c", "getserversResponse", "malformed", NULL, NULL },
	{ BYTES(MARK "getserversExtResponse/" IPV6 "\x6d\x38" EOT), "quake3", "s2c", "getserversExtResponse", "decoded", "servers.0.address", "2001:db8::1" },
	{ BYTES(MARK "getKeyAuthorize 0 abcdefgh"), "quake3", "c2s", "getKeyAuthorize", "decoded", "keyLength", "8" },
	{ BYTES(MARK "keyAuthorize 0 deny"), "quake3", "s2c", "keyAuthorize", "decoded", "text", "0 deny" },
	{ BYTES(MARK "getIpAuthorize 5 1.2.3.4 baseq3 0 1"), "quake3", "s2c", "getIpAuthorize", "decoded", "address", "1.2.3.4" },
	{ BYTES(MARK "ipAuthorize 5 accept"), "quake3", "c2s", "ipAuthorize", "decoded", "verdict", "accept" },
	{ BYTES(MARK "getmotd \"\\challenge\\1\"\n"), "quake3", "c2s", "getmotd", "decoded", "info.challenge", "1" },
	{ BYTES(MARK "motd \"\\motd\\hi\""), "quake3", "s2c", "motd", "decoded", "info.motd", "hi" },
	/* Quake II */
	{ BYTES(MARK "status"), "quake2", "c2s", "status", "partial", NULL, NULL },
	{ BYTES(MARK "info 34"), "quake2", "c2s", "info", "partial", "protocolVersion", "34" },
	{ BYTES(MARK "info\n            box   box1  0/ 8\n"), "quake2", "s2c", "info", "decoded", "text", "            box   box1  0/ 8" },
	{ BYTES(MARK "print\n\\a\\1\n7 12 \"x\"\n"), "quake2", "s2c", "print", "decoded", "players.0.ping", "12" },
	{ BYTES(MARK "challenge 1234 p=34,35,36"), "quake2", "s2c", "challenge", "decoded", "extensions.0", "p=34,35,36" },
	{ BYTES(MARK "connect 34 1 2 \"\\name\\x\\rate\\5000\"\n"), "quake2", "c2s", "connect", "decoded", "userinfo.rate", "5000" },
	{ BYTES(MARK "connect 35 7 2 \"\\name\\x\" 1390 1904\n"), "quake2", "c2s", "connect", "decoded", "minor", "1904" },
	{ BYTES(MARK "connect 36 7 2 \"\\name\\x\" 1390 1 1 1021\n"), "quake2", "c2s", "connect", "decoded", "netchan", "1" },
	{ BYTES(MARK "connect 34 x 2 \"\\name\\x\"\n"), "quake2", "c2s", "connect", "malformed", "reason", "argument is not a number" },
	{ BYTES(MARK "client_connect nc=1 map=q2dm1"), "quake2", "s2c", "client_connect", "decoded", "options.map", "q2dm1" },
	{ BYTES(MARK "passive_connect\n"), "quake2", "s2c", "passive_connect", "decoded", NULL, NULL },
	{ BYTES(MARK "heartbeat\n\\a\\1\n"), "quake2", "s2c", "heartbeat", "decoded", "info.a", "1" },
	{ BYTES(MARK "servers \x01\x02\x03\x04\x6d\x06"), "quake2", "s2c", "servers", "decoded", "servers.0.port", "27910" },
	{ BYTES(MARK "servers \x01\x02\x03\x04\x6d"), "quake2", "s2c", "servers", "malformed", NULL, NULL },
	{ BYTES(MARK "shutdown"), "quake2", "s2c", "shutdown", "decoded", NULL, NULL },
	{ BYTES("query\n\0"), "quake2", "c2s", "q2-master-query", "decoded", NULL, NULL },
	/* QuakeWorld */
	{ BYTES(MARK "status 23\n"), "quakeworld", "c2s", "status", "partial", "flags", "23" },
	{ BYTES(MARK "c-123456789\0"), "quakeworld", "s2c", "s2c-challenge", "decoded", "challenge", "-123456789" },
	{ BYTES(MARK "c0\0"), "quakeworld", "s2c", "s2c-challenge", "decoded", "challenge", "0" },
	{ BYTES(MARK "c-9\0"), "quakeworld", "s2c", "s2c-challenge", "decoded", "challenge", "-9" },
	{ BYTES(MARK "c5\0FTEX\1\2\3\4"), "quakeworld", "s2c", "s2c-challenge", "decoded", "extensions.0.value", "67305985" },
	{ BYTES(MARK "c5\0FTEX\1\2\3"), "quakeworld", "s2c", "s2c-challenge", "malformed", NULL, NULL },
	{ BYTES(MARK "connect 28 77 -5 \"\\name\\x\"\n0x58455446 0x2140f000\n"), "quakeworld", "c2s", "connect", "decoded", "extensions.0.mask", "0x2140f000" },
	{ BYTES(MARK "connect 28 77 -5 \"\\name\\x\"\n\0"), "quakeworld", "c2s", "connect", "decoded", "qport", "77" },
	{ BYTES(MARK "connect 28 77 -5 \"\\name\\x\"\n\0xy"), "quakeworld", "c2s", "connect", "malformed", "reason", "bytes after the last argument" },
	{ BYTES(MARK "j"), "quakeworld", "s2c", "j", "decoded", NULL, NULL },
	{ BYTES(MARK "n\\map\\dm3\n5 1 2 33 \"a\" \"base\" 4 4 \"red\"\n\0"), "quakeworld", "s2c", "a2c-print", "decoded", "players.0.team", "red" },
	{ BYTES(MARK "n\\map\\dm3\n5 1 2 33 \"a\" \"base\" 4 4 \"\" \"bob\" \"b\"\n\0"), "quakeworld", "s2c", "a2c-print", "decoded", "players.0.type", "b" },
	{ BYTES(MARK "n\\map\\dm3\n5 1 2 33 \"a\" \"base\" 4 4\n\0" "6 1 2 33 \"b\" \"base\" 4 4\n"), "quakeworld", "s2c", "a2c-print", "malformed", "players.1", "(none)" },
	{ BYTES(MARK "n\\map\\dm3\n5 S 2 -33 \"a\" \"\" 4 4\n\0"), "quakeworld", "s2c", "a2c-print", "decoded", "players.0.spectator", "true" },
	{ BYTES(MARK "n\nserver is full\n\n\0"), "quakeworld", "s2c", "a2c-print", "partial", "text", "\nserver is full\n\n" },
	{ BYTES(MARK "k"), "quakeworld", NULL, "k", "decoded", NULL, NULL },
	{ BYTES(MARK "log 3"), "quakeworld", "c2s", "log", "decoded", "sequence", "3" },
	{ BYTES(MARK "lastscores 2"), "quakeworld", "c2s", "lastscores", "decoded", "arguments.0", "2" },
	{ BYTES(MARK "ip 3 12345"), "quakeworld", "c2s", "ip", "decoded", "key", "12345" },
	{ BYTES(MARK "dtlsopened"), "quakeworld", "s2c", "dtlsopened", "decoded", NULL, NULL },
	{ BYTES(MARK "pingstatus ext"), "quakeworld", "c2s", "pingstatus", "decoded", "arguments.0", "ext" },
	{ BYTES(MARK "B" "say hi\0" "abc\0"), "quakeworld", "s2c", "a2c-client-command", "decoded", "id", "abc" },
	{ BYTES(MARK "d\n\x01\x02\x03\x04\x6b\x6c"), "quakeworld", "s2c", "m2c-servers", "decoded", "servers.0.port", "27500" },
	{ BYTES("a\n12\n3\n"), "quakeworld", "s2c", "s2m-heartbeat", "decoded", "players", "3" },
	/* DarkPlaces */
	{ BYTES(MARK "challenge abcdefghijk\0"), "netquake", "s2c", "challenge", "decoded", "challengeText", "abcdefghijk" },
	{ BYTES(MARK "challenge abcdefghijk\0vlen\1\0\0\0d0pk\0"), "netquake", "s2c", "challenge", "partial", "crypto", "766c656e010000006430706b00" },
	{ BYTES(MARK "challenge "), "netquake", "s2c", "challenge", "decoded", "challengeText", "" },
	{ BYTES(MARK "challenge"), "quake2", "s2c", "challenge", "malformed", NULL, NULL },
	{ BYTES(MARK "d0pk\\cnt\\0\\id\\1\\challenge\\x\0key\0"), "netquake", NULL, "d0pk", "partial", "step.challenge", "x" },
	{ BYTES(MARK "d0pk\\cnt\\6\\id\\1\0\1\2"), "netquake", NULL, "d0pk", "partial", "crypto", "0102" },
	{ BYTES(MARK "d0pk\\id\\1\0\1"), "netquake", NULL, "d0pk", "malformed", "reason", "argument missing" },
	{ BYTES(MARK "d0pk\\cnt\\2"), "netquake", NULL, "d0pk", "malformed", "reason", "argument missing" },
	{ BYTES(MARK "d0pk cnt\0\1"), "netquake", NULL, "d0pk", "malformed", "reason", "step is not an info string" },
	{ BYTES(MARK "connect\\protocol\\darkplaces 3\\challenge\\x"), "netquake", "c2s", "connect", "decoded", "userinfo.protocol", "darkplaces 3" },
	{ BYTES(MARK "accept"), "netquake", "s2c", "accept", "decoded", NULL, NULL },
	{ BYTES(MARK "reject server full"), "netquake", "s2c", "reject", "decoded", "rejectReason", "server full" },
	{ BYTES(MARK "srcon HMAC-MD4 TIME 0123456789abcdef 1.5 status"), "netquake", "c2s", "srcon", "partial", "command", "status" },
	{ BYTES(MARK "extResponse x"), "netquake", "c2s", "extResponse", "decoded", "text", "x" },
	/* Passwords are nobody's business, NetQuake's no more than others'. */
	{ BYTES(MARK "rcon secret map oa_dm1\0"), "quake3", "c2s", "rcon", "partial", "password", "***" },
	{ BYTES("\x80\0\0\x11\x05" "pass\0status\0"), "netquake", "c2s", "ccreq-rcon", "decoded", "password", "***" },
	{ BYTES("\x80\0\0\x13\1QUAKE\0\3\1\x22\0\x92\x10\0\0"), "netquake", "c2s", "ccreq-connect", "decoded", "mod_password", "***" },
	/* none of ours */
	{ BYTES(MARK "TSource Engine Query\0"), "null", NULL, "unknown", "opaque", NULL, NULL },
	{ BYTES(MARK "U\xff\xff\xff\xff"), "null", NULL, "unknown", "opaque", NULL, NULL },
	{ BYTES(MARK "getchallenge steam\n"), "null", NULL, "unknown", "opaque", NULL, NULL },
	{ BYTES(MARK "infostring\n\0"), "null", NULL, "unknown", "opaque", NULL, NULL },
	{ BYTES(MARK "xyzzy"), "null", NULL, "unknown", "opaque", NULL, NULL },
	{ BYTES("\xff\xffinfoResponse\0"), "null", NULL, "unknown", "opaque", NULL, NULL },
};
/* clang-format on */

static json_t *one(const uint8_t *payload, size_t n)
{
	struct harness *h = harness_open(FAMILY_AUTO);

	harness_c2s(h, payload, n);
	return harness_close(h);
}

static void words_decode(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *row = &rows[i];
		json_t *all = one(row->payload, row->n), *r = json_array_get(all, 0);

		print_message("%zu %s %s: %.*s\n", i, row->protocol, row->kind,
			      (int)row->n, (const char *)row->payload);
		assert_int_equal(json_array_size(all), 1);
		assert_string_equal(text_at(r, "protocol"), row->protocol);
		assert_string_equal(text_at(r, "kind"), row->kind);
		assert_string_equal(text_at(r, "status"), row->status);
		if (row->direction)
			assert_string_equal(text_at(r, "direction"), row->direction);
		if (row->path)
			assert_string_equal(text_at(r, row->path), row->value);
		json_decref(all);
	}
}

/*
 * A client's word keeps its direction, whatever role its receiver had elsewhere. A word
 * that both ends may say goes to the server, if the receiver is known as one.
 */
static void words_direction_before_a_guess(void **state)
{
	struct harness *h = harness_open(FAMILY_AUTO);
	struct record_address server = harness_address(1, 6000);
	json_t *all;

	(void)state;
	/* A server answers, so 9:5000 is a client of Quake II's. */
	harness_c2s(h, BYTES(MARK "getchallenge\n"));
	harness_s2c(h, BYTES(MARK "challenge 1234 p=34"));
	/* It is asked by another. */
	harness_send(h, harness_address(7, 1), harness_address(9, 5000),
		     BYTES(MARK "getservers 68 full"));
	harness_send(h, harness_address(7, 1), server, BYTES(MARK "ack"));
	harness_send(h, harness_address(7, 2), server, BYTES(MARK "disconnect"));
	all = harness_close(h);
	assert_string_equal(text_at(json_array_get(all, 2), "direction"), "c2s");
	assert_string_equal(text_at(json_array_get(all, 3), "direction"), "c2s");
	assert_string_equal(text_at(json_array_get(all, 4), "direction"), "c2s");
	json_decref(all);
}

/* --- all that a word says ---------------------------------------------------------- */

#define PLAYER_QW "5 -1 2 33 \"a\" \"base\" 4 3"

/* clang-format off */
static const struct {
	const uint8_t *payload;
	size_t n;
	const char *json; /* stands in the record */
} says[] = {
	{ BYTES(MARK "getchallenge 12345 Quake3Arena"), "\"clientChallenge\":12345,\"gamename\":\"Quake3Arena\"}" },
	{ BYTES(MARK "challengeResponse -1234 12345 71"), "\"challenge\":-1234,\"clientChallenge\":12345,\"protocolVersion\":71}" },
	{ BYTES(MARK "statusResponse\n\\a\\1\n-3 25 \"bob\"\n1 2 3 \"x\"\n4 5 \"y\" red\n"), "\"info\":{\"a\":\"1\"},\"players\":[{\"score\":-3,\"ping\":25,\"name\":\"bob\"},{\"score\":1,\"ping\":2,\"team\":\"3\",\"name\":\"x\"},{\"score\":4,\"ping\":5,\"name\":\"y\",\"team\":\"red\"}]}" },
	{ BYTES(MARK "getIpAuthorize 5 1.2.3.4 baseq3 0 1"), "\"challenge\":5,\"address\":\"1.2.3.4\",\"game\":\"baseq3\",\"zero\":0,\"strict\":1}" },
	{ BYTES(MARK "ipAuthorize 5 deny \"in use\""), "\"challenge\":5,\"verdict\":\"deny\",\"text\":\"in use\"}" },
	{ BYTES(MARK "getKeyAuthorize 1 abcdefgh"), "\"anonymous\":1,\"keyLength\":8}" },
	{ BYTES(MARK "getservers Xonotic 3 empty full"), "\"gamename\":\"Xonotic\",\"protocolVersion\":3,\"filters\":[\"empty\",\"full\"]}" },
	{ BYTES(MARK "getserversExt Quake3Arena 71 ipv6"), "\"gamename\":\"Quake3Arena\",\"protocolVersion\":71,\"filters\":[\"ipv6\"]}" },
	{ BYTES(MARK "getserversExtResponse" LIST_V4 "/" IPV6 "\x6d\x38" EOT), "\"servers\":[{\"address\":\"1.2.3.4\",\"port\":27960},{\"address\":\"92.92.92.92\",\"port\":23644},{\"address\":\"2001:db8::1\",\"port\":27960}],\"last\":true}" },
	/* Quake II */
	{ BYTES(MARK "challenge 1234 p=34,35,36 x=1"), "\"challenge\":1234,\"extensions\":[\"p=34,35,36\",\"x=1\"]}" },
	{ BYTES(MARK "connect 35 7 2 \"\\name\\x\" 1390 1904\n"), "\"protocolVersion\":35,\"qport\":7,\"challenge\":2,\"userinfo\":{\"name\":\"x\"},\"maxLength\":1390,\"minor\":1904}" },
	{ BYTES(MARK "connect 36 7 2 \"\\name\\x\" 1390 1 0 1021\n"), "\"maxLength\":1390,\"netchan\":1,\"zlib\":0,\"minor\":1021}" },
	{ BYTES(MARK "client_connect nc=1 map=q2dm1"), "\"options\":{\"nc\":\"1\",\"map\":\"q2dm1\"}}" },
	{ BYTES(MARK "print\n\\a\\1\n7 12 \"x\"\n"), "\"info\":{\"a\":\"1\"},\"players\":[{\"score\":7,\"ping\":12,\"name\":\"x\"}]}" },
	{ BYTES(MARK "heartbeat\n\\a\\1\n7 12 \"x\"\n"), "\"info\":{\"a\":\"1\"},\"players\":[{\"score\":7,\"ping\":12,\"name\":\"x\"}]}" },
	{ BYTES(MARK "servers \x01\x02\x03\x04\x6d\x06\x05\x06\x07\x08\x6d\x07"), "\"servers\":[{\"address\":\"1.2.3.4\",\"port\":27910},{\"address\":\"5.6.7.8\",\"port\":27911}]}" },
	/* QuakeWorld */
	{ BYTES(MARK "n\\map\\dm3\n" PLAYER_QW " \"red\" \"bo\" \"b\"\n\0"), "\"info\":{\"map\":\"dm3\"},\"players\":[{\"userid\":5,\"frags\":-1,\"minutes\":2,\"ping\":33,\"name\":\"a\",\"skin\":\"base\",\"top\":4,\"bottom\":3,\"team\":\"red\",\"login\":\"bo\",\"type\":\"b\"}]}" },
	{ BYTES(MARK "n\\map\\dm3\n" PLAYER_QW "\n\0"), "\"top\":4,\"bottom\":3}]}" },
	{ BYTES(MARK "c5\0FTEX\1\2\3\4FTE2\5\0\0\0"), "\"challenge\":5,\"extensions\":[{\"id\":\"FTEX\",\"value\":67305985},{\"id\":\"FTE2\",\"value\":5}]}" },
	{ BYTES(MARK "c5\0vlen\2\0\0\0\7\0\0\0ab"), "\"extensions\":[{\"id\":\"vlen\",\"key\":7,\"data\":\"6162\"}]}" },
	{ BYTES(MARK "connect 28 77 -5 \"\\name\\x\"\n0x58455446 0x2140f000\n0x32455446 0x1\n"), "\"protocolVersion\":28,\"qport\":77,\"challenge\":-5,\"userinfo\":{\"name\":\"x\"},\"extensions\":[{\"id\":\"0x58455446\",\"mask\":\"0x2140f000\"},{\"id\":\"0x32455446\",\"mask\":\"0x1\"}]}" },
	{ BYTES(MARK "ip 3 12345"), "\"slot\":3,\"key\":12345}" },
	{ BYTES(MARK "B" "say hi\0" "abc\0"), "\"command\":\"say hi\",\"id\":\"abc\"}" },
	{ BYTES(MARK "d\n\x01\x02\x03\x04\x6b\x6c\x05\x06\x07\x08\x6b\x6d"), "\"servers\":[{\"address\":\"1.2.3.4\",\"port\":27500},{\"address\":\"5.6.7.8\",\"port\":27501}]}" },
	{ BYTES("a\n12\n3\n"), "\"sequence\":12,\"players\":3}" },
	/* DarkPlaces */
	{ BYTES(MARK "challenge abcdefghijk\0d0"), "\"challengeText\":\"abcdefghijk\",\"crypto\":\"6430\"}" },
	{ BYTES(MARK "srcon HMAC-MD4 TIME 0123456789abcdef 1.5 status 1"), "\"mode\":\"TIME\",\"mac\":\"***\",\"nonce\":\"1.5\",\"command\":\"status 1\"}" },
	/* NetQuake */
	{ BYTES("\x80\0\0\x17\1QUAKE\0\3\1\x22\4\0\0\0\0FTE\0"), "\"game\":\"QUAKE\",\"version\":3,\"mod\":1,\"mod_version\":34,\"mod_flags\":4,\"mod_password\":0,\"extension\":\"FTE\"}" },
	{ BYTES("\x80\0\0\x0c\2QUAKE\0\3"), "\"game\":\"QUAKE\",\"version\":3}" },
	{ BYTES("\x80\0\0\6\3\7"), "\"player\":7}" },
	{ BYTES("\x80\0\0\x08\4fo\0"), "\"previous\":\"fo\"}" },
	{ BYTES("\x80\0\0\x0c\x81\x39\x30\0\0\1\x22\4"), "\"port\":12345,\"mod\":1,\"mod_version\":34,\"mod_flags\":4}" },
	{ BYTES("\x80\0\0\x20\x83" "1.2.3.4:26000\0host\0e1m1\0\2\4\3"), "\"address\":\"1.2.3.4:26000\",\"hostname\":\"host\",\"map\":\"e1m1\",\"players\":2,\"maxplayers\":4,\"version\":3}" },
	{ BYTES("\x80\0\0\x1e\x84\1" "bob\0\x4d\0\0\0\xfe\xff\xff\xff\x3c\0\0\0" "1.2.3.4\0"), "\"player\":1,\"name\":\"bob\",\"shirt\":4,\"pants\":13,\"colors\":77,\"frags\":-2,\"seconds\":60,\"address\":\"1.2.3.4\"}" },
	{ BYTES("\x80\0\0\x0a\x85" "fo\0" "1\0"), "\"name\":\"fo\",\"value\":\"1\"}" },
};
/* clang-format on */

static void words_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(says) / sizeof(*says); i++) {
		json_t *all = one(says[i].payload, says[i].n);
		char *text = json_dumps(json_array_get(all, 0), JSON_COMPACT);

		assert_non_null(text);
		if (!strstr(text, says[i].json))
			fail_msg("%zu: no %s in %s", i, says[i].json, text);
		free(text);
		json_decref(all);
	}
}

/* Cut anywhere, in an exact copy, by each family: valid JSON, no access out of bounds. */
static void words_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int family = 0; family < FAMILY_COUNT; family++) {
			struct harness *h = harness_open((enum wire_family)family);
			json_t *all;

			for (size_t n = 0; n <= rows[i].n; n++)
				harness_c2s(h, rows[i].payload, n);
			all = harness_close(h);
			assert_int_equal(json_array_size(all), rows[i].n + 1);
			json_decref(all);
		}
}

static void connect_decompresses(void **state)
{
	static const char userinfo[] =
		"\"\\challenge\\-5\\qport\\4000\\protocol\\71\\name\\x\"";
	uint8_t payload[1024] = MARK "connect ";
	int n = huffman_adaptive_encode((const uint8_t *)userinfo, sizeof(userinfo) - 1,
					payload + 12, sizeof(payload) - 12);
	json_t *all, *r;

	(void)state;
	assert_true(n > 0);
	all = one(payload, 12 + (size_t)n);
	r = json_array_get(all, 0);
	assert_string_equal(text_at(r, "status"), "decoded");
	assert_string_equal(text_at(r, "userinfo.qport"), "4000");
	json_decref(all);
	for (size_t cut = 12; cut < 12 + (size_t)n; cut++) {
		all = one(payload, cut);
		assert_string_equal(text_at(json_array_get(all, 0), "status"),
				    "malformed");
		json_decref(all);
	}
}

static void chunk(void **state)
{
	uint8_t payload[1044] = MARK "n\\chunk\x07\0\0\0\x29\x02\0\0\0";
	json_t *all;

	(void)state;
	all = one(payload, sizeof(payload));
	assert_string_equal(text_at(json_array_get(all, 0), "kind"), "qw-chunk");
	assert_string_equal(text_at(json_array_get(all, 0), "status"), "decoded");
	assert_string_equal(text_at(json_array_get(all, 0), "chunk"), "2");
	json_decref(all);
	all = one(payload, sizeof(payload) - 1);
	assert_string_equal(text_at(json_array_get(all, 0), "status"), "malformed");
	json_decref(all);
}

/* Every word that the kernel knows is decoded here, under the same name. */
static void words_complete(void **state)
{
	static const struct {
		const char *word;
		unsigned int families;
	} words[] = {
#define AS_ROW(kind, word, class_, families, sent) { word, families },
		WIRE_WORDS(AS_ROW)
#undef AS_ROW
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		bool found = false;

		for (size_t j = 0; j < oob_rows_count; j++) {
			if (strcmp(oob_rows[j].word, words[i].word) != 0)
				continue;
			found = true;
			assert_string_equal(oob_rows[j].label, words[i].word);
			/* GoldSrc's words are known, but have no parser. */
			assert_true(oob_rows[j].parse || !oob_rows[j].families);
			if (oob_rows[j].families)
				assert_true(oob_rows[j].families & words[i].families);
		}
		if (!found)
			fail_msg("no decoder for the word '%s'", words[i].word);
	}
}

static void controls_complete(void **state)
{
	static const struct {
		uint8_t op;
		const char *name;
	} controls[] = {
#define AS_ROW(kind, op, name, class_, families) { op, name },
		WIRE_CONTROL(AS_ROW)
#undef AS_ROW
	};

	(void)state;
	for (size_t i = 0; i < sizeof(controls) / sizeof(*controls); i++) {
		uint8_t payload[] = { 0x80, 0, 0, 5, controls[i].op };
		json_t *all = one(payload, sizeof(payload));

		assert_string_equal(text_at(json_array_get(all, 0), "kind"),
				    controls[i].name);
		assert_string_equal(text_at(json_array_get(all, 0), "protocol"),
				    "netquake");
		json_decref(all);
	}
}

static void handshakes_complete(void **state)
{
	static const struct {
		uint8_t type;
		const char *name;
	} handshakes[] = {
#define AS_ROW(kind, type, name, class_, families) { type, name },
		WIRE_HANDSHAKE(AS_ROW)
#undef AS_ROW
	};

	(void)state;
	for (size_t i = 0; i < sizeof(handshakes) / sizeof(*handshakes); i++) {
		uint8_t payload[13 + 12] = { 0x16, 0xfe, 0xfd, [12] = 12 };
		json_t *all;

		payload[13] = handshakes[i].type;
		all = one(payload, sizeof(payload));
		assert_string_equal(text_at(json_array_get(all, 0), "kind"),
				    handshakes[i].name);
		assert_string_equal(text_at(json_array_get(all, 0), "protocol"),
				    "quake-enhanced");
		json_decref(all);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_decode),
		cmocka_unit_test(words_direction_before_a_guess),
		cmocka_unit_test(words_say),
		cmocka_unit_test(words_cut),
		cmocka_unit_test(connect_decompresses),
		cmocka_unit_test(chunk),
		cmocka_unit_test(words_complete),
		cmocka_unit_test(controls_complete),
		cmocka_unit_test(handshakes_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
