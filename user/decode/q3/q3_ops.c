// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q3_ops.c - what the ops of clients, servers and old demos share: the parse itself,
 * strings, and the record's facts. See q3_message.h.
 */
#include <string.h>

#include "decode/q3/q3_message.h"
#include "lib/info.h"

void q3_parse_init(struct q3_parse *p, const uint8_t *message, size_t n,
		   const struct q3_dialect *d, struct q3_game *g, struct record *r)
{
	p->b = q3_bits_of(message, n);
	p->dialect = d;
	p->game = g;
	p->record = r;
	p->wrong = NULL;
	p->missing = NULL;
	p->sequence = 0;
	p->server_time = 0;
	p->base = 0;
	p->content = Q3_HOLDS_NOTHING;
	p->commit = false;
	p->stateful = false;
	p->key_known = false;
	p->key = 0;
}

void q3_open_op(struct q3_parse *p, const char *name)
{
	record_open_object(p->record, NULL);
	record_string(p->record, "op", name, strlen(name));
}

void q3_string(struct q3_parse *p, const char *key, size_t max, size_t *ret_n)
{
	size_t n = q3_get_string(&p->b, p->text, max);

	record_string(p->record, key, p->text, n);
	if (ret_n)
		*ret_n = n;
}

/* Bytes that remain after the last op. */
void q3_parse_end(struct q3_parse *p)
{
	size_t used = p->b.pos / 8 + 1;

	if (q3_failed(p))
		return;
	if (p->b.size < used)
		q3_wrong(p, "message ends too early");
	else if (p->b.size > used + 1 && p->dialect->flags & Q3_TRAILING_DATA)
		record_hex(p->record, "trailing", p->b.data + used, p->b.size - used);
	else if (p->b.size > used + 1)
		q3_wrong(p, "bytes after the end of the message");
	else if (p->b.size == used + 1)
		record_uint(p->record, "extraBytes", 1);
}

#define SNAP_DELAYED 1 /* of snapFlags: the rate held it back */

void q3_fact_text(struct q3_parse *p, const char *head, size_t n)
{
	size_t head_n = strlen(head);
	struct facts *f = &p->record->facts;
	struct span found;

	if (n < head_n || memcmp(p->text, head, head_n) != 0)
		return;
	n -= head_n;
	/* A head that ends in a quote has one at the end too. */
	if (head_n && n && p->text[head_n + n - 1] == '"')
		n--;
	if (*head == 'u') {
		if (info_find(p->text + head_n, n, "name", &found))
			facts_name(f, found.bytes, found.n);
	} else if (info_find(p->text + head_n, n, "mapname", &found)) {
		facts_map(f, found.bytes, found.n);
	}
}

int32_t q3_command(struct q3_parse *p, const char *name, const char *head, size_t *ret_n)
{
	int32_t number;

	q3_open_op(p, name);
	number = q3_get_long(&p->b);
	record_int(p->record, "number", number);
	q3_string(p, "text", Q3_STRING_MAX, ret_n);
	q3_fact_text(p, head, *ret_n);
	record_close(p->record);
	if (number < 0)
		q3_wrong(p, "negative command number");
	p->stateful = true;
	return number;
}

void q3_configstring_end(struct q3_parse *p, unsigned int index, size_t n)
{
	if (!index)
		q3_fact_text(p, "", n);
	record_close(p->record);
	if (index >= p->dialect->configstrings)
		q3_wrong(p, "configstring index out of range");
	if (p->commit)
		q3_configstring_set(p->game, index, p->text, n);
}

void q3_fact_snapshot(struct q3_parse *p, unsigned int flags)
{
	struct facts *f = &p->record->facts;

	f->has |= FACT_SNAPSHOT | FACT_TIME;
	f->time_us = p->server_time * 1000LL;
	if (flags & SNAP_DELAYED)
		f->has |= FACT_DELAYED;
}
