// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * text.c - frame, time, who to whom, protocol and kind, the status if it is not a plain
 * "decoded", then the fields as JSON has them.
 */
#include <arpa/inet.h>
#include <string.h>

#include "names.h"
#include "text.h"

static void text_address(struct json *json, const struct record_address *address)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(address->length == 4 ? AF_INET : AF_INET6, address->bytes, text,
		  sizeof(text));
	json_text(json, address->length == 4 ? "" : "[");
	json_text(json, text);
	json_text(json, address->length == 4 ? ":" : "]:");
	json_uint(json, address->port);
}

void text_record(struct json *json, const struct record *r)
{
	static const char *const directions[DIRECTION_COUNT] = {
		[DIRECTION_UNKNOWN] = " ",
		[DIRECTION_C2S] = " c2s ",
		[DIRECTION_S2C] = " s2c ",
	};

	json_uint(json, r->frame);
	json_text(json, " ");
	json_time(json, r->time_ns);
	json_text(json, " ");
	if (r->source.length) {
		text_address(json, &r->source);
		json_text(json, " > ");
		text_address(json, &r->destination);
		json_text(json, " ");
	}
	json_text(json, r->family == FAMILY_AUTO ? "-" : family_name(r->family));
	if (r->dialect) {
		json_text(json, "/");
		json_text(json, r->dialect);
	}
	json_text(json, directions[r->direction]);
	json_text(json, r->kind);
	if (r->status != RECORD_DECODED) {
		json_text(json, " ");
		json_text(json, record_status_names[r->status]);
		json_text(json, " (");
		json_text(json, r->reason ? r->reason : "");
		json_text(json, ")");
	}
	if (r->tape && r->tape->items_used) {
		json_text(json, " {\"frame\":");
		json_uint(json, r->frame);
		json_fields(json, r);
		json_text(json, "}");
	}
	json_text(json, r->overflow ? " overflow\n" : "\n");
}
