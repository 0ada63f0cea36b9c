// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * summary.c - see summary.h. Kinds are found by the address of their name; two addresses
 * with the same text meet when the object is written.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/json_key.h"
#include "lib/names.h"
#include "decode/summary.h"

static void kind_count(struct summary_family *family, const char *name)
{
	size_t slot = ((uintptr_t)name ^ (uintptr_t)name >> 8) % SUMMARY_KINDS;

	for (size_t i = 0; i < SUMMARY_KINDS; i++) {
		struct summary_kind *kind = &family->kinds[(slot + i) % SUMMARY_KINDS];

		if (!kind->name)
			kind->name = name;
		if (kind->name == name) {
			kind->count++;
			return;
		}
	}
}

void summary_count(struct summary *summary, const struct record *r)
{
	struct summary_family *family;

	summary->datagrams++;
	if (r->family == FAMILY_AUTO) {
		summary->unknown++;
		return;
	}
	family = &summary->families[r->family];
	family->datagrams++;
	family->status[r->status]++;
	kind_count(family, r->kind);
}

static const struct json_key kind_count_keys[] = {
	JSON_KEY("*", "integer", "datagrams", "By kind."),
	JSON_END,
};

static const struct json_key family_keys[] = {
	JSON_KEY("datagrams", "integer", "datagrams", "Datagrams of the protocol."),
	JSON_KEY("decoded", "integer", "datagrams", "Every bit accounted for."),
	JSON_KEY("partial", "integer", "datagrams", "Readable in part."),
	JSON_KEY("opaque", "integer", "datagrams",
		 "Needs a state, a key or a decoder that is not there."),
	JSON_KEY("malformed", "integer", "datagrams", "Breaks the protocol."),
	JSON_OBJECT("kinds", "object", "datagrams", "Datagrams by kind.",
		    kind_count_keys),
	JSON_END,
};

static const struct json_key families_keys[] = {
	JSON_OBJECT("*", "object", NULL, "By protocol.", family_keys),
	JSON_END,
};

static const struct json_key passed_keys[] = {
	JSON_KEY(
		"*", "integer", "packets",
		"By the reason that they hold no datagram: `link-cut`, `not-ip`, `ip-broken`, `tcp`, `icmp`, `tunnel`, `other-ip-protocol`, `udp-cut` or `unknown-link`."),
	JSON_END,
};

const struct json_key summary_keys[] = {
	JSON_KEY("file", "string", NULL, "The file."),
	JSON_KEY("packets", "integer", "packets",
		 "Packets, or blocks of a demo, in the file."),
	JSON_KEY("datagrams", "integer", "datagrams",
		 "Sum over the protocols, and `unknown`."),
	JSON_OBJECT("protocols", "object", NULL, "Protocols that were decoded.",
		    families_keys),
	JSON_KEY("unknown", "integer", "datagrams", "Datagrams of other protocols."),
	JSON_OBJECT("passed", "object?", "packets", "Packets that hold no datagram.",
		    passed_keys),
	JSON_KEY("forgotten", "integer?", "sessions",
		 "Sessions that were forgotten to make room for others."),
	JSON_END,
};

static void key_write(struct jsonl *json, const char *key, uint64_t value)
{
	jsonl_text(json, ",");
	jsonl_string(json, key, strlen(key));
	jsonl_text(json, ":");
	jsonl_uint(json, value);
}

static int by_name(const void *a, const void *b)
{
	const struct summary_kind *one = a, *other = b;

	return strcmp(one->name, other->name);
}

/* By name: their addresses are others in each run. */
static void kinds_write(const struct summary_family *family, struct jsonl *json)
{
	struct summary_kind kinds[SUMMARY_KINDS] = { 0 };
	const char *comma = "";
	size_t n = 0;

	for (size_t i = 0; i < SUMMARY_KINDS; i++)
		if (family->kinds[i].name)
			kinds[n++] = family->kinds[i];
	qsort(kinds, n, sizeof(*kinds), by_name);
	jsonl_text(json, ",\"kinds\":{");
	for (size_t i = 0; i < n; i++) {
		uint64_t count = kinds[i].count;

		for (; i + 1 < n && !by_name(&kinds[i], &kinds[i + 1]); i++)
			count += kinds[i + 1].count;
		jsonl_text(json, comma);
		jsonl_string(json, kinds[i].name, strlen(kinds[i].name));
		jsonl_text(json, ":");
		jsonl_uint(json, count);
		comma = ",";
	}
	jsonl_text(json, "}");
}

static void family_write(const struct summary_family *family, const char *name,
			 struct jsonl *json)
{
	jsonl_string(json, name, strlen(name));
	jsonl_text(json, ":{\"datagrams\":");
	jsonl_uint(json, family->datagrams);
	for (int status = 0; status < RECORD_STATUS_COUNT; status++)
		key_write(json, record_status_names[status], family->status[status]);
	kinds_write(family, json);
	jsonl_text(json, "}");
}

/* Only what there is: most captures hold nothing else. */
static void passed_write(const struct summary *summary, struct jsonl *json)
{
	const char *comma = "";

	for (int i = 0; i < PASS_COUNT; i++) {
		if (!summary->passed[i])
			continue;
		jsonl_text(json, *comma ? comma : ",\"passed\":{");
		jsonl_string(json, packet_pass_names[i], strlen(packet_pass_names[i]));
		jsonl_text(json, ":");
		jsonl_uint(json, summary->passed[i]);
		comma = ",";
	}
	jsonl_text(json, *comma ? "}" : "");
}

void summary_write(const struct summary *summary, const char *file, struct jsonl *json)
{
	const char *comma = "";

	jsonl_text(json, "{\"file\":");
	jsonl_string(json, file, strlen(file));
	key_write(json, "packets", summary->packets);
	key_write(json, "datagrams", summary->datagrams);
	jsonl_text(json, ",\"protocols\":{");
	for (int family = 0; family < FAMILY_AUTO; family++) {
		if (!summary->families[family].datagrams)
			continue;
		jsonl_text(json, comma);
		family_write(&summary->families[family],
			     family_name((enum wire_family)family), json);
		comma = ",";
	}
	jsonl_text(json, "}");
	key_write(json, "unknown", summary->unknown);
	passed_write(summary, json);
	if (summary->forgotten)
		key_write(json, "forgotten", summary->forgotten);
	jsonl_text(json, "}\n");
}
