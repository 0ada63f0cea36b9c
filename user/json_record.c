// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * json_record.c - one record, one line. The faces are fixed: see docs/PROTOCOLS.md.
 */
#include <arpa/inet.h>
#include <string.h>

#include "json.h"
#include "names.h"

const char *const record_status_names[RECORD_STATUS_COUNT] = {
	[RECORD_DECODED] = "decoded",
	[RECORD_PARTIAL] = "partial",
	[RECORD_OPAQUE] = "opaque",
	[RECORD_MALFORMED] = "malformed",
};

static void json_literal(struct json *json, const char *key, const char *value)
{
	json_text(json, key);
	if (value)
		json_string(json, value, strlen(value));
	else
		json_text(json, "null");
}

static void json_address(struct json *json, const char *host, const char *port,
			 const struct record_address *address)
{
	char text[INET6_ADDRSTRLEN];

	if (!address->length)
		return;
	inet_ntop(address->length == 4 ? AF_INET : AF_INET6, address->bytes, text,
		  sizeof(text));
	json_literal(json, host, text);
	json_text(json, port);
	json_uint(json, address->port);
}

static void json_value(struct json *json, const struct record_tape *tape,
		       const struct record_item *item)
{
	switch ((enum record_type)item->type) {
	case RECORD_TYPE_INT:
		json_int(json, item->i);
		break;
	case RECORD_TYPE_UINT:
		json_uint(json, item->u);
		break;
	case RECORD_TYPE_FLOAT:
		json_float(json, item->f);
		break;
	case RECORD_TYPE_BOOL:
		json_text(json, item->b ? "true" : "false");
		break;
	case RECORD_TYPE_STRING:
		json_string(json, tape->bytes + item->at, item->size);
		break;
	case RECORD_TYPE_HEX:
		json_hex(json, tape->bytes + item->at, item->size);
		break;
	case RECORD_TYPE_PAIR:
		json_string(json, tape->bytes + item->at + item->key_size, item->size);
		break;
	case RECORD_TYPE_OBJECT:
		json_text(json, "{");
		break;
	case RECORD_TYPE_ARRAY:
		json_text(json, "[");
		break;
	case RECORD_TYPE_CLOSE:
		break;
	}
}

static void json_key(struct json *json, const struct record_tape *tape,
		     const struct record_item *item)
{
	if (item->type == RECORD_TYPE_PAIR)
		json_string(json, tape->bytes + item->at, item->key_size);
	else if (item->key)
		json_string(json, item->key, strlen(item->key));
	else
		return;
	json_text(json, ":");
}

void json_fields(struct json *json, const struct record *r)
{
	const struct record_tape *tape = r->tape;
	char closing[RECORD_DEPTH_MAX];
	size_t depth = 0;
	bool first = false; /* something always stands before */

	for (size_t i = 0; tape && i < tape->items_used; i++) {
		const struct record_item *item = &tape->items[i];

		if (item->type == RECORD_TYPE_CLOSE) {
			char text[2] = { closing[--depth], 0 };

			json_text(json, text);
			first = false;
			continue;
		}
		if (!first)
			json_text(json, ",");
		json_key(json, tape, item);
		json_value(json, tape, item);
		first = item->type == RECORD_TYPE_OBJECT ||
			item->type == RECORD_TYPE_ARRAY;
		if (first)
			closing[depth++] = item->type == RECORD_TYPE_OBJECT ? '}' : ']';
	}
	while (depth) {
		char text[2] = { closing[--depth], 0 };

		json_text(json, text);
	}
}

void json_record(struct json *json, const struct record *r)
{
	static const char *const directions[DIRECTION_COUNT] = {
		[DIRECTION_C2S] = "c2s",
		[DIRECTION_S2C] = "s2c",
	};

	json_text(json, "{\"frame\":");
	json_uint(json, r->frame);
	json_text(json, ",\"time\":");
	json_time(json, r->time_ns);
	json_literal(json, ",\"protocol\":",
		     r->family == FAMILY_AUTO ? NULL : family_name(r->family));
	json_literal(json, ",\"direction\":", directions[r->direction]);
	json_literal(json, ",\"kind\":", r->kind);
	json_literal(json, ",\"status\":", record_status_names[r->status]);
	if (r->reason)
		json_literal(json, ",\"reason\":", r->reason);
	if (r->dialect)
		json_literal(json, ",\"dialect\":", r->dialect);
	json_address(json, ",\"src\":", ",\"sport\":", &r->source);
	json_address(json, ",\"dst\":", ",\"dport\":", &r->destination);
	json_fields(json, r);
	if (r->overflow)
		json_text(json, ",\"overflow\":true");
	json_text(json, "}\n");
}
