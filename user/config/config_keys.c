// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * config_keys.c - see config_keys.h.
 */
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "config/config_keys.h"

#define AS_TEXT(x) #x
#define TEXT(x)	   AS_TEXT(x) /* of a constant */

#define ONE_IN_MAX (1ul << 24)
#define EACH_MAX   1000000 /* samples or datagrams a second */

/* clang-format off */
const struct config_key config_keys[] = {
	{ CONFIG_FILE, "include", KEY_LIST, 0, 256, "files or patterns of glob(7)", NULL,
	  "Files that are read as if they stood after this one." },
	{ CONFIG_FILE, "interface", KEY_LIST, 0, CONFIG_INTERFACES, "interfaces", NULL,
	  "Interfaces that packets come in by. One that does not exist yet is waited for." },
	{ CONFIG_FILE, "mode", KEY_CHOICE, 0, 0, "auto, native, skb", "auto",
	  "How to attach: native XDP, generic XDP (skb), or native if the driver can." },
	{ CONFIG_FILE, "observe", KEY_SWITCH, 0, 0, NULL, "no",
	  "Count verdicts, and drop nothing." },
	{ CONFIG_FILE, "on-exit", KEY_CHOICE, 0, 0, "keep, detach", "keep",
	  "Keep or detach the shield when the daemon ends." },
	{ CONFIG_FILE, "on-attack", KEY_TEXT, 0, CONFIG_COMMAND - 1, "command", NULL,
	  "Command that is run when an attack starts and when it ends. Default: none." },
	{ CONFIG_FILE, "allow", KEY_LIST, 0, CONFIG_LIST, "networks", NULL,
	  "Sources that limits of classes do not apply to; `unlimited` after a network takes all limits away." },
	{ CONFIG_FILE, "deny", KEY_LIST, 0, CONFIG_LIST, "networks", NULL,
	  "Sources that are dropped, unless they are allowed." },

	{ "amplification", "mode", KEY_CHOICE, 0, 0, "off, limit, strict", "limit",
	  "limit: a prefix without a player is sent as many bytes as it has sent, and the allowance. strict: no more than it has sent. off: no limit." },
	/* At the shortest refill the highest allowance is a byte per 10 ns: never 0 ns. */
	{ "amplification", "allowance", KEY_NUMBER, 1, 100000000, "bytes", TEXT(AMPLIFICATION_ALLOWANCE),
	  "Bytes that a prefix without a player may be sent beyond what it has sent. The default is for each " TEXT(AMPLIFICATION_SERVERS) " servers, at most " TEXT(AMPLIFICATION_MOST) " times; any other value is for the whole host." },
	{ "amplification", "refill", KEY_NUMBER, 1, 3600, "seconds", TEXT(AMPLIFICATION_REFILL_S),
	  "Time in which a used up allowance is whole again." },

	{ "validation", "rate", KEY_RATE, 0, 0, "challenges", VALIDATION_RATE,
	  "Challenges that each processor sends, of all services together." },

	{ "cache", "bytes-per-second", KEY_NUMBER_OR_0, CACHE_BYTES_MIN, CACHE_BYTES_MAX, "bytes per second",
	  TEXT(CACHE_BYTES_PER_S),
	  "Cached responses to clients that are not known, of all services together; 0: none." },

	{ "metrics", "listen", KEY_TEXT, 0, 0, "address:port or off", METRICS_LISTEN,
	  "Where the daemon serves metrics and its page over HTTP." },
	{ "metrics", "public", KEY_SWITCH, 0, 0, NULL, "no",
	  "Permit an address that is not a loopback address." },

	{ "sample", "one-in", KEY_POWER, 0, ONE_IN_MAX, "datagrams per sample", TEXT(SAMPLE_EVERY),
	  "The first datagram of each kind and reason on each processor, and then one in so many; 0: none. Without the section: none." },
	{ "sample", "rate", KEY_NUMBER, 1, EACH_MAX, "samples per second", TEXT(SAMPLE_RATE),
	  "Samples at most." },

	{ "follow", "first", KEY_NUMBER, 0, PLAYERS_MAX, "players", "0",
	  "Follow new players while fewer than so many are followed." },
	{ "follow", "one-in", KEY_POWER, 0, ONE_IN_MAX, "players per followed player", "0",
	  "Follow one in so many new players; 0: none." },
	{ "follow", "addresses", KEY_LIST, 0, CONFIG_LIST, "networks", NULL,
	  "Follow players from these networks." },
	{ "follow", "rate", KEY_NUMBER, 1, EACH_MAX, "datagrams per second", TEXT(FOLLOW_RATE),
	  "Datagrams of all followed players at most." },
	{ "follow", "psk-identity", KEY_TEXT, 0, PSK_IDENTITY - 1, "name", NULL,
	  "Name of the key that opens what followed players of Quake Enhanced send." },
	{ "follow", "psk-file", KEY_TEXT, 0, PSK_FILE - 1, "path", NULL,
	  "File with that key in hexadecimal digits; only root may read it." },

	{ "output", "json", KEY_TEXT, 0, OUTPUT_NAME - 1, "/path, |/path or unix:/path", NULL,
	  "Where the daemon writes decoded samples, as lines of JSON. Default: nowhere." },
	{ "output", "pcapng", KEY_TEXT, 0, OUTPUT_NAME - 1, "/path, |/path or unix:/path", NULL,
	  "Where the daemon writes samples as a capture. Default: nowhere." },
	{ "output", "cpu-percent", KEY_NUMBER, 1, 100, "percent of one processor", TEXT(OUTPUT_CPU),
	  "Processor time that the daemon may use for decoding." },

	{ CONFIG_SERVICE, "protocol", KEY_TEXT, 0, 0, "protocol or engine", NULL,
	  "Protocol of the server. Required." },
	{ CONFIG_SERVICE, "port", KEY_LIST, 0, CONFIG_PORTS, "ports or ranges, 1 to 65535", NULL,
	  "UDP ports of the server. Required." },
	{ CONFIG_SERVICE, "address", KEY_LIST, 0, CONFIG_ADDRESSES, "addresses", NULL,
	  "Protect datagrams to these addresses of the host only. Default: to any." },
	{ CONFIG_SERVICE, "template", KEY_TEXT, 0, 0, "name of a section template", NULL,
	  "Keys that the service takes from there, unless it has them itself." },
	{ CONFIG_SERVICE, "observe", KEY_SWITCH, 0, 0, NULL, "no",
	  "Count verdicts, and drop nothing for this service." },
	{ CONFIG_SERVICE, "replies", KEY_CHOICE, 0, 0, "drop, limit, pass", "drop",
	  "Messages that only servers send." },
	{ CONFIG_SERVICE, "malformed", KEY_CHOICE, 0, 0, "drop, limit, pass", "drop",
	  "Datagrams that no engine sends; with `drop` those behind IP options or IPv6 extension headers, too." },
	{ CONFIG_SERVICE, "fragments", KEY_CHOICE, 0, 0, "drop, limit, pass", "drop",
	  "Fragmented datagrams. `limit` applies the limits of class `unknown`." },
	{ CONFIG_SERVICE, "validation", KEY_CHOICE, 0, 0, "off, under-load, always", "under-load",
	  "When a new client must return a cookie sent to its address before it may join. Default of protocol `auto`: off." },
	{ CONFIG_SERVICE, "cache", KEY_CHOICE, 0, 0, "off, under-load, always", "under-load",
	  "When the shield sends cached responses. Default of protocols `auto` and `quake-enhanced`: off." },

	{ CONFIG_CLASS, "source", KEY_RATE, 0, 0, "requests", NULL,
	  "Limit of one IPv4 address or IPv6 /64. Default: by protocol and class, in defaults.md." },
	{ CONFIG_CLASS, "prefix", KEY_RATE, 0, 0, "requests", NULL,
	  "Limit of one IPv4 /24 or IPv6 /56. Default: as above." },
	{ CONFIG_CLASS, "service", KEY_RATE, 0, 0, "requests", NULL,
	  "Limit of the service. Default: as above." },

	{ CONFIG_PLAYERS, "source", KEY_NUMBER_OR_0, 1, PLAYERS_MOST, "players", TEXT(PLAYERS_SOURCE),
	  "Players of one IPv4 address or IPv6 /64 in the service at most; 0: no limit. As many again are let in for those that the server keeps and that are silent." },
	{ CONFIG_PLAYERS, "prefix", KEY_NUMBER_OR_0, 1, PLAYERS_MOST, "players", TEXT(PLAYERS_PREFIX),
	  "Players of one IPv4 /24 or IPv6 /56 likewise. Default: at least `source`." },
	{ NULL, NULL, KEY_SWITCH, 0, 0, NULL, NULL, NULL },
};
/* clang-format on */

const struct config_key *config_key(const char *section, const char *name)
{
	const struct config_key *k = config_keys;

	while (k->name &&
	       (strcmp(k->section, section) != 0 || strcmp(k->name, name) != 0))
		k++;
	return k->name ? k : NULL;
}

bool config_key_own(const char *name)
{
	return !strcmp(name, "port") || !strcmp(name, "address") ||
	       !strcmp(name, "template");
}

void config_range(const struct config_key *key, char ret[CONFIG_RANGE])
{
	switch (key->type) {
	case KEY_SWITCH:
		strcpy(ret, "switch: yes or no");
		break;
	case KEY_CHOICE:
		snprintf(ret, CONFIG_RANGE, "one of: %s", key->unit);
		break;
	case KEY_NUMBER:
		snprintf(ret, CONFIG_RANGE, "a number from %lu to %lu", key->low,
			 key->high);
		break;
	case KEY_NUMBER_OR_0:
		snprintf(ret, CONFIG_RANGE, "0 or a number from %lu to %lu", key->low,
			 key->high);
		break;
	case KEY_POWER:
		snprintf(ret, CONFIG_RANGE, "0 or a power of two up to %lu", key->high);
		break;
	case KEY_RATE:
		strcpy(ret, "rate, as 30/s or \"2/s burst 6\"; unlimited; 0");
		break;
	case KEY_TEXT:
		snprintf(ret, CONFIG_RANGE, "%s", key->unit);
		if (key->high)
			snprintf(ret + strlen(ret), CONFIG_RANGE - strlen(ret),
				 ", 1 to %lu characters", key->high);
		break;
	case KEY_LIST:
		snprintf(ret, CONFIG_RANGE, "list of at most %lu %s", key->high,
			 key->unit);
		break;
	}
}
