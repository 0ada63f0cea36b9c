// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lag_facts.c - one walk along the tape. Keys are those of docs/PROTOCOLS.md; a family
 * whose decoder does not write them just has fewer figures.
 */
#include <string.h>

#include "lib/info.h"
#include "samples/lag_facts.h"

#define SNAP_DELAYED 1 /* of Quake III's snapFlags */

struct walk {
	const struct record *record;
	struct lag_facts *facts;
	unsigned int depth;
	bool serverinfo_next; /* the text that follows is configstring 0 */
};

static struct span text_of(const struct walk *w, const struct record_item *item)
{
	struct span s = { w->record->tape->bytes + item->at, item->size };

	return s;
}

static bool starts(struct span s, const char *with, struct span *ret_rest)
{
	size_t n = strlen(with);

	if (s.n < n || memcmp(s.bytes, with, n) != 0)
		return false;
	ret_rest->bytes = s.bytes + n;
	ret_rest->n = s.n - n;
	if (ret_rest->n && ret_rest->bytes[ret_rest->n - 1] == '"')
		ret_rest->n--;
	return true;
}

static void find(struct span info, const char *key, struct span *ret)
{
	struct span found;

	if (info_find(info.bytes, info.n, key, &found))
		*ret = found;
}

static void see_text(struct walk *w, const struct record_item *item)
{
	struct span text = text_of(w, item), rest;

	if (w->serverinfo_next || starts(text, "cs 0 \"", &rest)) {
		find(w->serverinfo_next ? text : rest, "mapname", &w->facts->map);
		w->serverinfo_next = false;
	} else if (starts(text, "userinfo \"", &rest)) {
		find(rest, "name", &w->facts->name);
	}
}

/* A key and value that both came from the wire: of userinfo, in a connect. */
static void see_pair(struct walk *w, const struct record_item *item)
{
	const uint8_t *key = w->record->tape->bytes + item->at;

	if (item->key_size == 4 && !memcmp(key, "name", 4) && w->depth == 1) {
		w->facts->name.bytes = key + item->key_size;
		w->facts->name.n = item->size;
	}
}

static void see_number(struct walk *w, const char *key, uint64_t value)
{
	struct lag_facts *f = w->facts;

	if (!w->depth && !strcmp(key, "sequence")) {
		f->has_sequence = true;
		f->sequence = (uint32_t)value;
	} else if (!w->depth &&
		   (!strcmp(key, "acked") || !strcmp(key, "messageAcknowledge"))) {
		f->has_ack = true;
		f->ack = (uint32_t)value;
	} else if (!w->depth && !strcmp(key, "fragmentStart")) {
		f->slice = value != 0;
	} else if (!strcmp(key, "snapFlags")) {
		f->delayed = value & SNAP_DELAYED;
	} else if (!strcmp(key, "index")) {
		w->serverinfo_next = !value;
	}
}

static void see(struct walk *w, const struct record_item *item)
{
	switch ((enum record_type)item->type) {
	case RECORD_TYPE_OBJECT:
	case RECORD_TYPE_ARRAY:
		w->depth++;
		break;
	case RECORD_TYPE_CLOSE:
		w->depth -= w->depth > 0;
		break;
	case RECORD_TYPE_INT:
	case RECORD_TYPE_UINT:
		if (item->key)
			see_number(w, item->key, item->u);
		break;
	case RECORD_TYPE_STRING:
		if (item->key && !strcmp(item->key, "text"))
			see_text(w, item);
		break;
	case RECORD_TYPE_PAIR:
		see_pair(w, item);
		break;
	case RECORD_TYPE_FLOAT:
	case RECORD_TYPE_BOOL:
	case RECORD_TYPE_HEX:
		break;
	}
}

void lag_facts_read(const struct record *r, struct lag_facts *ret)
{
	struct walk w = { .record = r, .facts = ret };

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; r->tape && i < r->tape->items_used; i++)
		see(&w, &r->tape->items[i]);
	if (!r->kind)
		return;
	ret->acknowledges = !strcmp(r->kind, "nq-ack");
	ret->reliable = ret->acknowledges || !strcmp(r->kind, "nq-reliable");
	/* What breaks the protocol may name any number. */
	if (r->status == RECORD_MALFORMED || !strcmp(r->kind, "stdlog"))
		ret->has_sequence = ret->has_ack = false;
}
