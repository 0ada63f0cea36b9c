// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * message.c - parse, judge, commit; and the walk along ops. See message.h.
 */
#include "decode/message.h"
#include "lib/record_trace.h"

/* The second parse: it has no output, and the state takes over what it reads. */
static void commit(message_parse *parse, const struct message *m)
{
	struct message again = *m;
	struct record silent;

	record_reset(&silent, NULL);
	silent.kind = m->record->kind;
	again.record = &silent;
	again.commit = true;
	again.wrong = again.missing = again.opaque = NULL;
	parse(&again);
}

bool message_decode(message_parse *parse, struct message *m)
{
	bool good = parse(m);

	if (m->opaque) {
		record_opaque(m->record, m->opaque);
		return false;
	}
	if (!good || m->wrong) {
		record_malformed(m->record,
				 m->wrong ? m->wrong : "message ends too early");
		return false;
	}
	if (m->missing)
		record_partial(m->record, m->missing);
	if (m->state && m->stateful)
		commit(parse, m);
	return true;
}

void ops_unknown(struct ops *o, const char *why)
{
	struct span rest = reader_rest(&o->rd);

	record_hex(o->record, "rest", rest.bytes, rest.n);
	message_missing(o->m, why);
	o->ended = true;
}

static void one(struct ops *o, const struct op *op)
{
	size_t at = o->m->bytes.n - reader_left(&o->rd) - 1;

	record_open_object(o->record, NULL);
	if (!op->name) {
		record_uint(o->record, "op", o->code);
		record_uint(o->record, "at", at);
		ops_wrong(o, "no such message");
		record_close(o->record);
		return;
	}
	record_string(o->record, "op", op->name, strlen(op->name));
	if (op->parse)
		op->parse(o);
	if (reader_failed(&o->rd) && !o->m->wrong) {
		record_uint(o->record, "at", at);
		ops_wrong(o, "message ends within an op");
	}
	record_close(o->record);
	if (op->rank > o->rank)
		o->rank = op->rank;
}

uint8_t message_ops(struct message *m, const struct op *table, void *context)
{
	struct ops o = {
		.rd = reader_of(m->bytes.bytes, m->bytes.n),
		.m = m,
		.record = m->record,
		.table = table,
		.context = context,
	};

	record_reads(o.record, m->bytes.bytes, m->bytes.n, &o.rd.pos);
	record_open_array(o.record, "ops");
	while (!m->wrong && !m->opaque && !o.ended && reader_left(&o.rd)) {
		o.code = reader_u8(&o.rd);
		one(&o, &o.table[o.code]);
	}
	if (o.ended && reader_left(&o.rd) && !m->wrong)
		ops_wrong(&o, "bytes after the end of the message");
	record_close(o.record);
	record_reads_end(o.record);
	return o.rank;
}
