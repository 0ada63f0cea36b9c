// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * q2_temp.c - svc_temp_entity: a type, and a layout of one letter a field.
 *
 * Sources: Quake-2 client/cl_tent.c, game/q_shared.h; q2pro src/client/tent.c.
 */
#include "decode/q2/q2_message.h"

/*
 *	p place, q a second one, o an offset; d direction; c count; k color; e, f entities
 *	n effect's number, m magnitude, i interval if the number is not -1; s screen; g
 *	damage
 */
struct temp {
	const char *name;
	const char *layout;
	bool plain; /* 3.21's client knows it */
};

#define DAMAGE_DEALT 128 /* of games with extensions alone */

static const struct temp temps[256] = {
	[0] = { "TE_GUNSHOT", "pd", true },
	[1] = { "TE_BLOOD", "pd", true },
	[2] = { "TE_BLASTER", "pd", true },
	[3] = { "TE_RAILTRAIL", "pq", true },
	[4] = { "TE_SHOTGUN", "pd", true },
	[5] = { "TE_EXPLOSION1", "p", true },
	[6] = { "TE_EXPLOSION2", "p", true },
	[7] = { "TE_ROCKET_EXPLOSION", "p", true },
	[8] = { "TE_GRENADE_EXPLOSION", "p", true },
	[9] = { "TE_SPARKS", "pd", true },
	[10] = { "TE_SPLASH", "cpdk", true },
	[11] = { "TE_BUBBLETRAIL", "pq", true },
	[12] = { "TE_SCREEN_SPARKS", "pd", true },
	[13] = { "TE_SHIELD_SPARKS", "pd", true },
	[14] = { "TE_BULLET_SPARKS", "pd", true },
	[15] = { "TE_LASER_SPARKS", "cpdk", true },
	[16] = { "TE_PARASITE_ATTACK", "epq", true },
	[17] = { "TE_ROCKET_EXPLOSION_WATER", "p", true },
	[18] = { "TE_GRENADE_EXPLOSION_WATER", "p", true },
	[19] = { "TE_MEDIC_CABLE_ATTACK", "epq", true },
	[20] = { "TE_BFG_EXPLOSION", "p", true },
	[21] = { "TE_BFG_BIGEXPLOSION", "p", true },
	[22] = { "TE_BOSSTPORT", "p", true },
	[23] = { "TE_BFG_LASER", "pq", true },
	[24] = { "TE_GRAPPLE_CABLE", "epqo", true },
	[25] = { "TE_WELDING_SPARKS", "cpdk", true },
	[26] = { "TE_GREENBLOOD", "pd", true },
	[27] = { "TE_BLUEHYPERBLASTER", "pq", true },
	[28] = { "TE_PLASMA_EXPLOSION", "p", true },
	[29] = { "TE_TUNNEL_SPARKS", "cpdk", true },
	[30] = { "TE_BLASTER2", "pd", true },
	[31] = { "TE_RAILTRAIL2", "pq", false },
	[33] = { "TE_LIGHTNING", "efpq", true },
	[34] = { "TE_DEBUGTRAIL", "pq", true },
	[35] = { "TE_PLAIN_EXPLOSION", "p", true },
	[36] = { "TE_FLASHLIGHT", "pe", true },
	[37] = { "TE_FORCEWALL", "pqk", true },
	[38] = { "TE_HEATBEAM", "epq", true },
	[39] = { "TE_MONSTER_HEATBEAM", "epq", true },
	[40] = { "TE_STEAM", "ncpdkmi", true },
	[41] = { "TE_BUBBLETRAIL2", "pq", true },
	[42] = { "TE_MOREBLOOD", "pd", true },
	[43] = { "TE_HEATBEAM_SPARKS", "pd", true },
	[44] = { "TE_HEATBEAM_STEAM", "pd", true },
	[45] = { "TE_CHAINFIST_SMOKE", "p", true },
	[46] = { "TE_ELECTRIC_SPARKS", "pd", true },
	[47] = { "TE_TRACKER_EXPLOSION", "p", true },
	[48] = { "TE_TELEPORT_EFFECT", "p", true },
	[49] = { "TE_DBALL_GOAL", "p", true },
	[50] = { "TE_WIDOWBEAMOUT", "np", true },
	[51] = { "TE_NUKEBLAST", "p", true },
	[52] = { "TE_WIDOWSPLASH", "p", true },
	[53] = { "TE_EXPLOSION1_BIG", "p", true },
	[54] = { "TE_EXPLOSION1_NP", "p", true },
	[55] = { "TE_FLECHETTE", "pd", true },
	[56] = { "TE_BLUEHYPERBLASTER_2", "pd", false },
	[57] = { "TE_BFG_ZAP", "pq", false },
	[58] = { "TE_BERSERK_SLAM", "pd", false },
	[59] = { "TE_GRAPPLE_CABLE_2", "epq", false },
	[60] = { "TE_POWER_SPLASH", "es", false },
	[61] = { "TE_LIGHTNING_BEAM", "epq", false },
	[62] = { "TE_EXPLOSION1_NL", "p", false },
	[63] = { "TE_EXPLOSION2_NL", "p", false },
	[DAMAGE_DEALT] = { "TE_DAMAGE_DEALT", "g", false },
};

static void parse_steam_interval(struct ops *o, int id)
{
	if (id != -1)
		record_int(o->record, "interval", (int32_t)reader_le32(&o->rd));
}

/* Those that 3.21 does not know are for the clients of 35 and 36. */
static bool is_there(const struct q2_dialect *d, uint8_t type)
{
	if (!temps[type].name || temps[type].plain || d->extensions)
		return temps[type].name;
	return d->enhanced && type != DAMAGE_DEALT;
}

void q2_parse_temp_entity(struct ops *o)
{
	uint8_t type = reader_u8(&o->rd);
	const struct temp *t = &temps[type];
	struct record *r = o->record;
	int id = -1;

	record_uint(r, "type", type);
	if (!is_there(&q2_of(o)->dialect, type)) {
		ops_wrong(o, "no such temporary entity");
		return;
	}
	record_string(r, "name", t->name, strlen(t->name));
	for (const char *field = t->layout; *field; field++)
		switch (*field) {
		case 'p':
			q2_place(o, "origin");
			break;
		case 'q':
			q2_place(o, "end");
			break;
		case 'o':
			q2_place(o, "offset");
			break;
		case 'd':
			q2_direction(o, "direction");
			break;
		case 'c':
			record_uint(r, "count", reader_u8(&o->rd));
			break;
		case 'k':
			record_uint(r, "color", reader_u8(&o->rd));
			break;
		case 'e':
			q2_entity_number(o, "number", reader_le16(&o->rd), 0);
			break;
		case 'f':
			q2_entity_number(o, "target", reader_le16(&o->rd), 0);
			break;
		case 'n':
			id = (int16_t)reader_le16(&o->rd);
			record_int(r, "id", id);
			break;
		case 'm':
			record_int(r, "magnitude", (int16_t)reader_le16(&o->rd));
			break;
		case 'i':
			parse_steam_interval(o, id);
			break;
		case 's':
			record_uint(r, "screen", reader_u8(&o->rd));
			break;
		default:
			record_int(r, "damage", (int16_t)reader_le16(&o->rd));
			break;
		}
}
