// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * nq_temp.c - svc_temp_entity: u8 type, then what the type's row says.
 *
 * Sources: Quake WinQuake/cl_tent.c; Quakespasm cl_tent.c; darkplaces protocol.h,
 * cl_parse.c; fteqw client/cl_tent.c.
 */
#include <string.h>

#include "decode/nq/nq_csqc.h"
#include "decode/nq/nq_tables.h"

#define PRIVATE 100 /* from here on they are the game code's own */

/* How a field comes: v three coordinates, r one, e an entity, b u8, c i8 x3, u u8 x3,
 * w u16, s text. */
struct field {
	const char *key;
	char type;
};

struct temp {
	const char *name;
	struct field fields[8];
};

#define AT                    \
	{                     \
		"origin", 'v' \
	}
#define LINE               \
	{ "start", 'v' },  \
	{                  \
		"end", 'v' \
	}
#define BEAM { "number", 'e' }, LINE
#define POINT(name)        \
	{                  \
		name,      \
		{          \
			AT \
		}          \
	}

static const struct temp temps[] = {
	[0] = POINT("spike"),
	[1] = POINT("superspike"),
	[2] = POINT("gunshot"),
	[3] = POINT("explosion"),
	[4] = POINT("tarexplosion"),
	[5] = { "lightning1", { BEAM } },
	[6] = { "lightning2", { BEAM } },
	[7] = POINT("wizspike"),
	[8] = POINT("knightspike"),
	[9] = { "lightning3", { BEAM } },
	[10] = POINT("lavasplash"),
	[11] = POINT("teleport"),
	[12] = { "explosion2", { AT, { "colorstart", 'b' }, { "colorlength", 'b' } } },
	[13] = { "beam", { BEAM } },
	[14] = POINT("implosion"),
	[15] = { "railtrail", { LINE } },
	[16] = { "explosion3", { AT, { "color", 'v' } } },
	[17] = { "lightning4", { { "model", 's' }, BEAM } },
	[20] = POINT("qwexplosion"),
	[21] = { "qwgunshot", { { "count", 'b' }, AT } },
	[50] = { "blood", { AT, { "velocity", 'c' }, { "count", 'b' } } },
	[51] = { "spark", { AT, { "velocity", 'c' }, { "count", 'b' } } },
	[52] = { "bloodshower",
		 { { "mins", 'v' },
		   { "maxs", 'v' },
		   { "speed", 'r' },
		   { "count", 'w' } } },
	[53] = { "explosionrgb", { AT, { "color", 'u' } } },
	[54] = { "particlecube",
		 { { "mins", 'v' },
		   { "maxs", 'v' },
		   { "velocity", 'v' },
		   { "count", 'w' },
		   { "color", 'b' },
		   { "gravity", 'b' },
		   { "randomvel", 'r' } } },
	[55] = { "particlerain",
		 { { "mins", 'v' },
		   { "maxs", 'v' },
		   { "velocity", 'v' },
		   { "count", 'w' },
		   { "color", 'b' } } },
	[56] = { "particlesnow",
		 { { "mins", 'v' },
		   { "maxs", 'v' },
		   { "velocity", 'v' },
		   { "count", 'w' },
		   { "color", 'b' } } },
	[57] = POINT("gunshotquad"),
	[58] = POINT("spikequad"),
	[59] = POINT("superspikequad"),
	[70] = POINT("explosionquad"),
	[72] = POINT("smallflash"),
	[73] = { "customflash",
		 { AT, { "radius", 'b' }, { "lifetime", 'b' }, { "color", 'u' } } },
	[74] = { "flamejet", { AT, { "velocity", 'v' }, { "count", 'b' } } },
	[75] = POINT("plasmaburn"),
	[76] = { "tei_g3", { LINE, { "angles", 'v' } } },
	[77] = { "smoke", { AT, { "direction", 'v' }, { "count", 'b' } } },
	[78] = POINT("bigexplosion"),
	[79] = { "plasmahit", { AT, { "direction", 'v' }, { "count", 'b' } } },
};

static void put_bytes(struct ops *o, const char *key, bool is_signed)
{
	record_open_array(o->record, key);
	for (int i = 0; i < 3; i++)
		record_int(o->record, NULL,
			   is_signed ? reader_i8(&o->rd) : (int)reader_u8(&o->rd));
	record_close(o->record);
}

static void put_field(struct ops *o, const struct field *field)
{
	switch (field->type) {
	case 'v':
		nq_put_origin(o, field->key);
		break;
	case 'r':
		nq_put_coord(o, field->key);
		break;
	case 'e':
		nq_put_entity(o, field->key);
		break;
	case 'b':
		nq_put_u8(o, field->key);
		break;
	case 'c':
		put_bytes(o, field->key, true);
		break;
	case 'u':
		put_bytes(o, field->key, false);
		break;
	case 'w':
		nq_put_u16(o, field->key);
		break;
	default:
		nq_put_text(o, field->key);
		break;
	}
}

/* Game code that DarkPlaces' server has announced is asked first, whatever the type. */
static bool is_private(struct ops *o, uint8_t type)
{
	return nq_has(nq_format_at(o), NQ_DP | NQ_QUAKEDP) &&
	       (type >= PRIVATE || nq_walk_of(o)->private_code);
}

void nq_op_temp_entity(struct ops *o)
{
	uint8_t type = reader_u8(&o->rd);
	const struct temp *temp =
		type < sizeof(temps) / sizeof(*temps) ? &temps[type] : NULL;

	record_uint(o->record, "type", type);
	if (reader_failed(&o->rd))
		return;
	if (temp && temp->name) {
		record_string(o->record, "name", temp->name, strlen(temp->name));
		for (const struct field *f = temp->fields; f->key; f++)
			put_field(o, f);
	} else if (is_private(o, type)) {
		nq_private_temp(o, type);
	} else {
		ops_wrong(o, "no such temporary entity");
	}
}
