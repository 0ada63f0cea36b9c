// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nq_entities.c - DarkPlaces' svc_entities of DP5 and later.
 *
 *	i32 frame, DP7: u32 last move, { u16 number (bit 15: removed), entity } u16 8000
 *
 * Each entity names its own widths, so no earlier frame is needed to read it, but to know
 * the fields that it does not name. Sources: darkplaces cl_ents5.c, sv_ents5.c,
 * protocol.h.
 */
#include "decode/nq/nq_tables.h"
#include "decode/nq/nq_update.h"

#define REMOVED 0x8000U

static void one(struct ops *o, uint16_t number)
{
	struct nq_e5 entity;

	record_open_object(o->record, NULL);
	record_uint(o->record, "number", number & ~REMOVED);
	if (number & REMOVED)
		record_bool(o->record, "removed", true);
	else if (!nq_e5_read(&o->rd, &entity))
		ops_wrong(o, "entity has a flag or an animation that there is not");
	else if (!reader_failed(&o->rd))
		nq_e5_record(o->record, &entity);
	record_close(o->record);
	if (!reader_failed(&o->rd) && !o->m->wrong)
		nq_walk_entity(o, number & ~REMOVED,
			       !(number & REMOVED) && entity.bits & NQ_E5_RESET,
			       number & REMOVED);
}

void nq_op_entities(struct ops *o)
{
	struct nq_walk *w = nq_walk_of(o);
	int32_t frame;

	if (nq_has(&w->format, NQ_DP_OLD)) {
		ops_unknown(o, "svc_entities of DP1 to DP4 is not known here");
		return;
	}
	if (!nq_has(&w->format, NQ_DP)) {
		ops_wrong(o, "svc_entities in a protocol without it");
		return;
	}
	frame = (int32_t)reader_le32(&o->rd);
	record_int(o->record, "frame", frame);
	nq_walk_frame(o, (uint32_t)frame);
	if (nq_has(&w->format, NQ_DP_NUMBERS))
		nq_put_u32(o, "move_ack");
	record_open_array(o->record, "entities");
	while (!reader_failed(&o->rd) && !o->m->wrong) {
		uint16_t number = reader_le16(&o->rd);

		if (number == REMOVED || reader_failed(&o->rd))
			break;
		one(o, number);
	}
	record_close(o->record);
}
