// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * record_text.c - frame, time, who to whom, protocol and kind, the status if it is not a
 * plain "decoded", then the fields as JSON has them.
 */
#include <arpa/inet.h>
#include <string.h>

#include "lib/names.h"
#include "decode/record_text.h"

static void text_address(struct jsonl *json, const struct record_address *address)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(address->length == 4 ? AF_INET : AF_INET6, address->bytes, text,
		  sizeof(text));
	jsonl_text(json, address->length == 4 ? "" : "[");
	jsonl_text(json, text);
	jsonl_text(json, address->length == 4 ? ":" : "]:");
	jsonl_uint(json, address->port);
}

void record_text(struct jsonl *json, const struct record *r)
{
	static const char *const directions[DIRECTION_COUNT] = {
		[DIRECTION_UNKNOWN] = " ",
		[DIRECTION_C2S] = " c2s ",
		[DIRECTION_S2C] = " s2c ",
	};

	jsonl_uint(json, r->frame);
	jsonl_text(json, " ");
	jsonl_time(json, r->time_ns);
	jsonl_text(json, " ");
	if (r->source.length) {
		text_address(json, &r->source);
		jsonl_text(json, " > ");
		text_address(json, &r->destination);
		jsonl_text(json, " ");
	}
	jsonl_text(json, r->family == FAMILY_AUTO ? "-" : family_name(r->family));
	if (r->dialect) {
		jsonl_text(json, "/");
		jsonl_text(json, r->dialect);
	}
	jsonl_text(json, directions[r->direction]);
	jsonl_text(json, r->kind);
	if (r->status != RECORD_DECODED) {
		jsonl_text(json, " ");
		jsonl_text(json, record_status_names[r->status]);
		jsonl_text(json, " (");
		jsonl_text(json, r->reason ? r->reason : "");
		jsonl_text(json, ")");
	}
	if (r->tape && r->tape->items_used) {
		jsonl_text(json, " {\"frame\":");
		jsonl_uint(json, r->frame);
		jsonl_fields(json, r);
		jsonl_text(json, "}");
	}
	jsonl_text(json, r->overflow ? " overflow\n" : "\n");
}
