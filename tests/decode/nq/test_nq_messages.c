// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * NetQuake's messages, one by one: each op of each dialect from bytes made by its rules,
 * those that no recording holds above all; what every cut of them is; and what breaks
 * the rules.
 */
#include "decode/nq/nq_support.h"

static const struct vector {
	const char *dialect;
	uint32_t flags, pext2;
	enum direction direction;
	const char *bytes;
	size_t n;
	const char *json; /* is in it */
} vectors[] = {
	{ "quake15", 0, 0, S2C, B("\1"), "[{\"op\":\"nop\"}]" },
	{ "quake15", 0, 0, S2C, B("\2"), "[{\"op\":\"disconnect\"}]" },
	{ "dp8", 0, 0, S2C, B("\2bye\0"), "{\"op\":\"disconnect\",\"text\":\"bye\"}" },
	{ "quake15", 0, 0, S2C, B("\3\4\xff\xff\xff\xff"),
	  "{\"op\":\"updatestat\",\"stat\":4,\"value\":-1}" },
	{ "dp7", 0, 0, S2C, B("\3\xc8\2\0\0\0"),
	  "{\"op\":\"updatestat\",\"stat\":200,\"value\":2}" },
	{ "quake15", 0, 0, S2C, B("\4\x0f\0\0\0"),
	  "{\"op\":\"version\",\"protocol\":15}" },
	{ "quake15", 0, 0, S2C, B("\5\1\0"), "{\"op\":\"setview\",\"number\":1}" },
	{ "quake15", 0, 0, S2C, B("\6\3\x80\x40\x0a\0\5" VEC_13_3),
	  "{\"op\":\"sound\",\"volume\":128,\"attenuation\":1,\"number\":1,\"channel\":2,"
	  "\"sound\":5,\"origin\":[1,2,-1]}" },
	{ "fitzquake666", 0, 0, S2C, B("\6\x18\x01\x20\3\0\1" VEC_13_3),
	  "\"volume\":255,\"attenuation\":1,\"number\":8193,\"channel\":3,\"sound\":256" },
	/* Of BJP's three the first has them narrow. */
	{ "bjp1", 0, 0, S2C, B("\6\0\x0a\0\5" VEC_13_3), "\"sound\":5,\"origin\":[1,2" },
	{ "bjp2", 0, 0, S2C, B("\6\0\x0a\0\0\1" VEC_13_3), "\"sound\":256" },
	{ "bjp3", 0, 0, S2C, B("\6\0\x0a\0\0\1" VEC_13_3), "\"sound\":256" },
	{ "dp7", 0, 0, S2C, B("\6\x20\xa0\x0f\x0a\0\5" VEC_F32), "\"speed\":1" },
	{ "dp3", 0, 0, S2C, B("\x36\0\x0a\0\0\1\1\0\2\0\3\0"),
	  "{\"op\":\"precache\",\"volume\":255,\"attenuation\":1,\"number\":1,"
	  "\"channel\":2,\"sound\":256,\"origin\":[1,2,3]}" },
	{ "fitzquake666", 0, NQ_PREDINFO, S2C,
	  B("\6\xc4\1\x64\x0a\0\x08\0\x10\0\x18\0\x0a\0\5" VEC_13_3),
	  "\"pitch\":100,\"timeofs\":10,\"velocity\":[1,2,3],\"number\":1" },
	{ "quake15", 0, 0, S2C, B("\7" ONE), "{\"op\":\"time\",\"time\":1}" },
	{ "fitzquake666", 0, NQ_PREDINFO, S2C, B("\7" ONE "\5\0"),
	  "{\"op\":\"time\",\"time\":1,\"move_ack\":5}" },
	{ "quake15", 0, 0, S2C, B("\x08hi\n\0"),
	  "{\"op\":\"print\",\"text\":\"hi\\n\"}" },
	{ "quake15", 0, 0, S2C, B("\x0a\x40\xc0\0"),
	  "{\"op\":\"setangle\",\"angles\":[90,-90,0]}" },
	{ "rmq999", 0x82, 0, S2C, B("\x0a\0\x40\0\xc0\0\0"),
	  "{\"op\":\"setangle\",\"angles\":[90,-90,0]}" },
	{ "quake15", 0, 0, S2C, B("\x0b\x0f\0\0\0\4\1Hi\0maps/a.bsp\0*1\0\0w.wav\0\0"),
	  "{\"op\":\"serverinfo\",\"protocol\":15,\"maxclients\":4,\"gametype\":1,"
	  "\"levelname\":\"Hi\",\"models\":[\"maps/a.bsp\",\"*1\"],\"sounds\":[\"w.wav\"]}" },
	{ "quake15", 0, 0, S2C,
	  B("\x0b"
	    "FTE2\x20\0\0\0\xe7\3\0\0\x82\0\0\0id1\0\4\1Hi\0m\0\0\0"),
	  "\"pext2\":32,\"protocol\":999,\"flags\":130,\"gamedir\":\"id1\"" },
	{ "quake15", 0, 0, S2C, B("\x0c\3mamama\0"),
	  "{\"op\":\"lightstyle\",\"style\":3,\"text\":\"mamama\"}" },
	{ "quake15", 0, 0, S2C, B("\x0d\1bob\0"),
	  "{\"op\":\"updatename\",\"slot\":1,\"name\":\"bob\"}" },
	{ "quake15", 0, 0, S2C, B("\x0e\1\xff\xff"),
	  "{\"op\":\"updatefrags\",\"slot\":1,\"frags\":-1}" },
	{ "quake15", 0, 0, S2C,
	  B("\x0f\xe3\x70\x16\1\2\xff\1\2\1\0\0\3\4\5\x64\0\1\2\3\4\5\6"),
	  "\"onground\":false,\"inwater\":false,\"viewheight\":22,\"idealpitch\":1,"
	  "\"velocity\":[32,-16,16],\"items\":258" },
	{ "fitzquake666", 0, 0, S2C,
	  B("\x0f\x04\xb0\x03\5\1\0\0\0\3\4\x64\0\1\2\3\4\5\6\1\2"),
	  "\"punchangle\":[5,null,null],\"items\":1,\"weaponframe\":3,\"armor\":516" },
	{ "fitzquake666", 0, 0, S2C,
	  B("\x0f\0\x80\x7c\1\0\0\0\x64\0\x0b\x0c\x0d\x0e\x0f\6\1\2\3\4\5"),
	  "\"ammo\":267,\"shells\":524,\"nails\":781,\"rockets\":1038,\"cells\":1295,"
	  "\"activeweapon\":6" },
	{ "bjp3", 0, 0, S2C, B("\x0f\0\x40\1\0\0\0\5\1\x64\0\1\2\3\4\5\6"),
	  "\"weapon\":261,\"health\":100" },
	{ "dp5", 0, 0, S2C, B("\x0f\x20\0" ONE "\1\0\0\0\x64\0\1\0\2\0\3\0\4\0\5\0\6\0"),
	  "\"velocity\":[1,null,null],\"items\":1,\"health\":100,\"ammo\":1" },
	{ "dp7", 0, 0, S2C, B("\x0f\x04\x80\x09\0\x40" ONE "\x5a\0"),
	  "\"punchangle\":[90,null,null],\"punchvector\":[1,null,null],\"viewzoom\":90" },
	{ "quake15", 0, 0, S2C, B("\x10\x0a\0"),
	  "{\"op\":\"stopsound\",\"number\":1,\"channel\":2}" },
	{ "quake15", 0, 0, S2C, B("\x11\1\x4d"),
	  "\"slot\":1,\"colors\":77,\"shirt\":4,\"pants\":13" },
	{ "quake15", 0, 0, S2C, B("\x12" VEC_13_3 "\x10\xf0\0\x14\x49"),
	  "\"origin\":[1,2,-1],\"direction\":[1,-1,0],\"count\":20,\"color\":73" },
	{ "quake15", 0, 0, S2C, B("\x13\1\2" VEC_13_3),
	  "{\"op\":\"damage\",\"armor\":1,\"blood\":2,\"origin\":[1,2,-1]}" },
	{ "quake15", 0, 0, S2C, B("\x14\1\2\3\4\x08\0\x40\x10\0\0\x18\0\xc0"),
	  "{\"op\":\"spawnstatic\",\"modelindex\":1,\"frame\":2,\"colormap\":3,\"skinnum\":4,"
	  "\"origin\":[1,2,3],\"angles\":[90,0,-90]}" },
	{ "quake15", 0, 0, S2C, B("\x16\5\0\1\2\3\4\x08\0\x40\x10\0\0\x18\0\xc0"),
	  "{\"op\":\"spawnbaseline\",\"number\":5,\"modelindex\":1" },
	{ "bjp1", 0, 0, S2C, B("\x14\1\1\2\3\4\x08\0\x40\x10\0\0\x18\0\xc0"),
	  "\"modelindex\":257,\"frame\":2" },
	{ "fitzquake666", 0, 0, S2C,
	  B("\x2a\5\0\x0f\1\1\2\1\3\4\x08\0\x40\x10\0\0\x18\0\xc0\x80\x20"),
	  "\"number\":5,\"modelindex\":257,\"frame\":258,\"colormap\":3,\"skinnum\":4,"
	  "\"origin\":[1,2,3],\"angles\":[90,0,-90],\"alpha\":128,\"scale\":32" },
	{ "dp4", 0, 0, S2C, B("\x38\1\1\2\1\3\4\1\0\x40\2\0\0\3\0\xc0"),
	  "{\"op\":\"spawnstatic2\",\"modelindex\":257,\"frame\":258,\"colormap\":3,"
	  "\"skinnum\":4,\"origin\":[1,2,3],\"angles\":[90,0,-90]}" },
	{ "dp4", 0, 0, S2C, B("\x37\5\0\1\1\2\1\3\4\1\0\x40\2\0\0\3\0\xc0"),
	  "\"number\":5,\"modelindex\":257,\"frame\":258,\"colormap\":3,\"skinnum\":4,"
	  "\"origin\":[1,2,3],\"angles\":[90,0,-90]" },
	{ "rmq999", 8, 0, S2C, B("\x17\3\1\0\xff\2\0\0\xff\xff\0"),
	  "{\"op\":\"temp_entity\",\"type\":3,\"name\":\"explosion\",\"origin\":[2,2,-1]}" },
	{ "rmq999", 0x10, 0, S2C, B("\x17\3" VEC_F32), "\"origin\":[1,2,1]" },
	{ "quake15", 0, 0, S2C, B("\x17\5\1\0" VEC_13_3 VEC_13_3),
	  "\"name\":\"lightning1\",\"number\":1,\"start\":[1,2,-1],\"end\":[1,2,-1]" },
	{ "nehahra250", 0, 0, S2C, B("\x17\x11m\0\1\0" VEC_13_3 VEC_13_3),
	  "\"name\":\"lightning4\",\"model\":\"m\",\"number\":1" },
	{ "dp7", 0, 0, S2C, B("\x17\x36" VEC_F32 VEC_F32 VEC_F32 "\5\0\6\7" ONE),
	  "\"count\":5,\"color\":6,\"gravity\":7,\"randomvel\":1" },
	{ "quake15", 0, 0, S2C, B("\x18\1"), "{\"op\":\"setpause\",\"paused\":1}" },
	{ "quake15", 0, 0, S2C, B("\x19\1"), "{\"op\":\"signonnum\",\"signon\":1}" },
	{ "quake15", 0, 0, S2C, B("\x1ahi\0"),
	  "{\"op\":\"centerprint\",\"text\":\"hi\"}" },
	{ "quake15", 0, 0, S2C, B("\x1d" VEC_13_3 "\1\2\x40"),
	  "\"origin\":[1,2,-1],\"sound\":1,\"volume\":2,\"attenuation\":1" },
	{ "fitzquake666", 0, 0, S2C, B("\x2c" VEC_13_3 "\1\1\2\x40"), "\"sound\":257" },
	{ "quake15", 0, 0, S2C, B("\x20\2\3"),
	  "{\"op\":\"cdtrack\",\"track\":2,\"loop\":3}" },
	{ "nehahra15", 0, 0, S2C, B("\x23s\0i\0\1\2"),
	  "{\"op\":\"showpic\",\"name\":\"s\",\"pic\":\"i\",\"x\":1,\"y\":2}" },
	{ "fitzquake666", 0, 0, S2C, B("\x29\xff\1\2\3\x64\0"),
	  "{\"op\":\"fog\",\"density\":1,\"color\":[1,2,3],\"time\":1}" },
	{ "nehahra15", 0, 0, S2C, B("\x33\1" ONE "\1\2\3"),
	  "{\"op\":\"fog\",\"enable\":1,\"density\":1,\"color\":[1,2,3]}" },
	{ "dp7", 0, 0, S2C, B("\x32\5\0\0\0\2\0\xab\xcd"),
	  "{\"op\":\"downloaddata\",\"start\":5,\"size\":2,\"data\":\"abcd\"}" },
	{ "dp7", 0, 0, S2C, B("\x33\1\2"),
	  "{\"op\":\"updatestatbyte\",\"stat\":1,\"value\":2}" },
	{ "dp7", 0, 0, S2C, B("\x34" VEC_F32 "\1\2\3\4"),
	  "\"modelindex\":1,\"startframe\":2,\"framecount\":3,\"framerate\":4" },
	{ "dp7", 0, 0, S2C, B("\x35" VEC_F32 "\1\1\2\1\3\4"),
	  "\"modelindex\":257,\"startframe\":258" },
	{ "dp7", 0, 0, S2C, B("\x36\5\x80s\0"),
	  "{\"op\":\"precache\",\"type\":\"sound\",\"index\":5,\"name\":\"s\"}" },
	{ "dp7", 0, 0, S2C, B("\x3c\1\0\2\0" VEC_F32 VEC_F32),
	  "{\"op\":\"trailparticles\",\"number\":1,\"effect\":2" },
	{ "dp7", 0, 0, S2C, B("\x3d\1\0" VEC_F32 VEC_F32 "\2\0"), "\"count\":2" },
	{ "dp7", 0, 0, S2C,
	  B("\x39\5\0\0\0\7\0\0\0\1\0\x8f\2\x08\0\x10\0\x18\0\x40\0\xc0\3\x80\2\x80\0\x80"),
	  "\"frame\":5,\"move_ack\":7,\"entities\":[{\"number\":1,\"reset\":true,"
	  "\"origin\":[1,2,3],\"angles\":[90,0,-90],\"modelindex\":3,\"alpha\":128},"
	  "{\"number\":2,\"removed\":true}]" },
	{ "quake15", 0, 0, S2C, B("\x81\x3f\5\1\2\3\4\x40\x80"),
	  "\"number\":5,\"modelindex\":1,\"colormap\":2,\"skinnum\":3,\"effects\":4,"
	  "\"angles\":[90,null,-180]" },
	{ "quake15", 0, 0, S2C, B("\xce\5\6\x08\0\x10\0\x18\0"),
	  "{\"op\":\"update\",\"number\":5,\"frame\":6,\"origin\":[1,2,3]}" },
	{ "quake15", 0, 0, S2C, B("\x81\x44\1\1\7"),
	  "{\"op\":\"update\",\"number\":257,\"modelindex\":7}" },
	{ "bjp3", 0, 0, S2C, B("\x81\4\5\1\1"), "\"number\":5,\"modelindex\":257" },
	{ "fitzquake666", 0, 0, S2C, B("\xc1\x84\x0f\5\1\2\x80\3\4\xff"),
	  "{\"op\":\"update\",\"number\":5,\"modelindex\":1025,\"frame\":770,\"alpha\":128,"
	  "\"lerpfinish\":1}" },
	{ "nehahra15", 0, 0, S2C, B("\x81\x80\5" TWO ONE ONE),
	  "\"number\":5,\"transparency\":2,\"alpha\":1,\"fullbright\":1" },
	{ "quakedp", 0, 0, S2C, B("\xc1\x84\x82\x0c\5\1\2\x80\3\4"),
	  "\"modelindex\":1025,\"frame\":770,\"alpha\":128" },
	/* FTE's */
	{ "fitzquake666", 0, NQ_REPLACEMENTDELTAS, S2C,
	  B("\x56" ONE "\1\0\6\x08\0\x10\0\x18\0\2\x80\0\0"),
	  "{\"op\":\"updateentities\",\"time\":1,\"entities\":[{\"number\":1,\"origin\":"
	  "[1,2,3]},{\"number\":2,\"removed\":true}]}" },
	{ "fitzquake666", 0, NQ_REPLACEMENTDELTAS, S2C, B("\x15\x81\2\5\0"),
	  "{\"op\":\"spawnstatic2\",\"frame\":5}" },
	{ "fitzquake666", 0, NQ_REPLACEMENTDELTAS, S2C, B("\x42\x05\x80\1\1\7"),
	  "{\"op\":\"spawnbaseline2\",\"number\":1281" },
	{ "fitzquake666", 0, 1, S2C, B("\x4e\5hi\0"),
	  "{\"op\":\"updatestatstring\",\"stat\":5,\"text\":\"hi\"}" },
	{ "fitzquake666", 0, 1, S2C, B("\x4f\5" ONE), "\"stat\":5,\"value\":1" },
	{ "fitzquake666", 0, NQ_VOICECHAT, S2C, B("\x54\1\x12\3\1\0\xab"),
	  "\"slot\":1,\"codec\":1,\"generation\":2,\"sequence\":3,\"data\":\"ab\"" },
	{ "fitzquake666", 0, NQ_SETANGLEDELTA, S2C, B("\x55\0\x40\0\xc0\0\0"),
	  "{\"op\":\"setangledelta\",\"angles\":[90,-90,0]}" },
	/* From the client. */
	{ "quake15", 0, 0, C2S, B("\3" ONE "\x40\xc0\0\1\0\xff\xff\0\0\1\2"),
	  "{\"op\":\"move\",\"time\":1,\"angles\":[90,-90,0],\"forwardmove\":1,"
	  "\"sidemove\":-1,\"upmove\":0,\"buttons\":1,\"impulse\":2}" },
	{ "proquake15", 0, 0, C2S, B("\3" ONE "\0\x40\0\xc0\0\0\1\0\xff\xff\0\0\1\2"),
	  "\"angles\":[90,-90,0],\"forwardmove\":1" },
	{ "rmq999", 4, 0, C2S, B("\3" ONE VEC_F32 "\1\0\xff\xff\0\0\1\2"),
	  "\"angles\":[1,2,1],\"forwardmove\":1" },
	{ "dp3", 0, 0, C2S, B("\3" ONE VEC_F32 "\1\0\xff\xff\0\0\1\2"),
	  "\"angles\":[1,2,1],\"forwardmove\":1" },
	{ "dp6", 0, 0, C2S,
	  B("\3" ONE
	    "\0\x40\0\xc0\0\0\1\0\xff\xff\0\0\1\0\0\0\2\xff\x7f\1\x80" VEC_F32 VEC_F32
	    "\5\0"),
	  "\"buttons\":1,\"impulse\":2,\"cursor_screen\":[1,-1],\"cursor_start\":[1,2,1],"
	  "\"cursor_impact\":[1,2,1],\"cursor_entitynumber\":5" },
	{ "dp7", 0, 0, C2S,
	  B("\3\7\0\0\0" ONE
	    "\0\x40\0\xc0\0\0\1\0\xff\xff\0\0\1\0\0\0\2\xff\x7f\1\x80" VEC_F32 VEC_F32
	    "\5\0"),
	  "\"sequence\":7,\"time\":1" },
	{ "quake15", 0, 0, C2S, B("\4spawn\0"),
	  "{\"op\":\"stringcmd\",\"text\":\"spawn\"}" },
	{ "dp7", 0, 0, C2S, B("\x32\xff\xff\xff\xff"),
	  "{\"op\":\"ackframe\",\"frame\":-1}" },
	{ "dp7", 0, 0, C2S, B("\x33\1\0\0\0\2\0"),
	  "{\"op\":\"ackdownloaddata\",\"start\":1,\"size\":2}" },
	{ "fitzquake666", 0, NQ_VRINPUTS, C2S, B("\x55\7\0\x09\1\5\x09\x0a\x40\2"),
	  "\"sequence\":7,\"loss\":5,\"usercmds\":[{\"servertime_delta\":10,\"angles\":[90,null,null],"
	  "\"forwardmove\":10}]" },
	{ "fitzquake666", 0, NQ_VRINPUTS, C2S,
	  B("\x55\7\0\x1f\1\1\5\6\1\xff\xff\xff\xff\xc4\x17\xff\x0a\x0d\0\x40\0\xc0\0\x80"
	    "\x83\x20\1\4\5\6\7\x08"),
	  "\"loss\":5,\"delay\":6,\"acks\":[-1],\"usercmds\":[{\"servertime_delta\":10,\"msec\":13,"
	  "\"angles\":[90,-90,-180],\"forwardmove\":400,\"sidemove\":-1,"
	  "\"upmove\":2,\"buttons\":5,\"impulse\":6,\"weapon\":7,\"lightlevel\":8}]" },
	{ "fitzquake666", 0, NQ_VRINPUTS, C2S,
	  B("\x55\7\0\x08\1\xa8\0\1\1\0\2\0" VEC_F32 VEC_F32
	    "\5\0\x3f\7\0\x40\0\xc0\0\0\0\x80\0\x40\0\0" VEC_F32 TWO ONE TWO "\x09"),
	  "\"cursor_screen\":[1,2],\"cursor_start\":[1,2,1],\"cursor_impact\":[1,2,1],"
	  "\"cursor_entitynumber\":5,\"devices\":[{\"status\":7,\"angles\":[90,-90,0],"
	  "\"avelocity\":[-180,90,0],\"origin\":[1,2,1],\"velocity\":[2,1,2],"
	  "\"weapon\":9}]}" },
};

static void each(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(vectors); i++) {
		const struct vector *v = &vectors[i];
		struct record r;
		char *text;

		enter(v->dialect, v->flags, v->pext2);
		know_entities();
		parse(v->direction, v->bytes, v->n, &r);
		text = json_of(&r);
		if (r.status != RECORD_DECODED || !strstr(text, v->json))
			fail_msg("%s, vector %zu: %s not in %s", v->dialect, i, v->json,
				 text);
		free(text);
	}
}

static void every_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(vectors); i++)
		for (size_t n = 1; n < vectors[i].n; n++) {
			const struct vector *v = &vectors[i];
			struct record r;

			enter(v->dialect, v->flags, v->pext2);
			parse(v->direction, v->bytes, n, &r);
			/* A disconnect of DP8 need not say why. */
			if ((*v->bytes != 2 || n > 1) && r.status != RECORD_MALFORMED)
				fail_msg("%s, vector %zu cut to %zu: %s", v->dialect, i,
					 n, record_status_names[r.status]);
		}
}

/* The numbers of every dialect's ops that have a row: all are in a vector or recorded. */
static void rows_are_whole(void **state)
{
	(void)state;
	for (unsigned int i = 0; nq_dialects[i]; i++) {
		const struct nq_dialect *d = nq_dialects[i];

		for (size_t k = 0; k < d->update.count; k++)
			assert_non_null(d->update.rows[k].key);
		assert_true(d->clientdata.count > 0);
		for (size_t k = 0; k < d->clientdata.count; k++)
			assert_non_null(d->clientdata.rows[k].key);
		for (int op = 128; op < 256; op++)
			assert_string_equal(d->svc[op].name, "update");
	}
}

static const struct {
	const char *dialect;
	enum direction direction;
	const char *bytes;
	size_t n;
	enum record_status status;
	const char *reason;
} bad[] = {
	{ "quake15", S2C, B("\0"), RECORD_MALFORMED, "no such message" },
	{ "quake15", S2C, B("\x39\1\0\0\0\0\x80"), RECORD_MALFORMED, "no such message" },
	{ "quake15", S2C, B("\2\1"), RECORD_MALFORMED,
	  "bytes after the end of the message" },
	{ "quake15", S2C, B("\x0d\4bob\0"), RECORD_MALFORMED, "no such player slot" },
	{ "quake15", S2C, B("\x0e\xff\0\0"), RECORD_MALFORMED, "no such player slot" },
	{ "quake15", S2C, B("\x0c\x40m\0"), RECORD_MALFORMED, "no such light style" },
	{ "quake15", S2C, B("\3\x20\0\0\0\0"), RECORD_MALFORMED, "no such stat" },
	{ "quake15", S2C, B("\x19\5"), RECORD_MALFORMED, "signon does not go forward" },
	{ "quake15", S2C, B("\x19\2\x19\2"), RECORD_MALFORMED,
	  "signon does not go forward" },
	{ "quake15", S2C, B("\x08hi"), RECORD_MALFORMED, "message ends within an op" },
	{ "quake15", S2C, B("\x17\x63"), RECORD_MALFORMED, "no such temporary entity" },
	{ "quake15", S2C, B("\x81\x80\5"), RECORD_MALFORMED,
	  "update has a flag that this protocol does not" },
	{ "quake15", S2C, B("\6\x18\1\x20\3\0\1" VEC_13_3), RECORD_MALFORMED,
	  "sound has a flag that this protocol does not" },
	{ "quake15", S2C, B("\x0b\x0f\0\0\0\0\1a\0b\0\0\0"), RECORD_MALFORMED,
	  "a server of no clients" },
	{ "quake15", S2C, B("\x0b\x1c\0\0\0\1"), RECORD_PARTIAL,
	  "serverinfo names an unknown protocol" },
	{ "dp4", S2C, B("\x39\1\0\0\0\1\2\3"), RECORD_PARTIAL,
	  "svc_entities of DP1 to DP4 is not known here" },
	{ "dp7", S2C, B("\x39\1\0\0\0\0\0\0\0\1\0\x80\x80\x80\x08\0\x80"),
	  RECORD_MALFORMED, "entity has a flag or an animation that there is not" },
	{ "dp7", S2C, B("\x3a\5\0\xff\xff"), RECORD_PARTIAL,
	  "svc_csqcentities: what the game's code sends to itself" },
	{ "quake15", C2S, B("\5\1"), RECORD_MALFORMED, "no such message" },
	{ "quake15", C2S, B("\xff"), RECORD_MALFORMED, "no such message" },
};

static void bad_ones(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct record r;

		enter(bad[i].dialect, 0, 0);
		parse(bad[i].direction, bad[i].bytes, bad[i].n, &r);
		if (r.status != bad[i].status || strcmp(r.reason, bad[i].reason) != 0)
			fail_msg("row %zu: %s, %s", i, record_status_names[r.status],
				 r.reason ? r.reason : "no reason");
	}
}

/* What is malformed teaches nothing. */
static void nothing_learnt(void **state)
{
	static const char info[] = "\x0b\x9a\2\0\0\4\1Hi\0m\0\0\0\x63";
	struct nq_game before;
	struct record r;

	(void)state;
	enter("quake15", 0, 0);
	before = game;
	parse(S2C, info, sizeof(info) - 1, &r);
	assert_int_equal(r.status, RECORD_MALFORMED);
	assert_memory_equal(&before, &game, sizeof(game));
	parse(S2C, info, sizeof(info) - 2, &r);
	assert_int_equal(r.status, RECORD_DECODED);
	assert_string_equal(game.format.dialect->name, "fitzquake666");
	assert_true(r.facts.has & FACT_MAP);
}

/* Protocol 15 has two moves: which one is spoken the first of them says. */
static void a_move_tells_the_dialect(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *dialect;
	} rows[] = {
		{ B("\3" ONE "\x40\xc0\0\1\0\xff\xff\0\0\1\2"), "quake15" },
		{ B("\3" ONE "\0\x40\0\xc0\0\0\1\0\xff\xff\0\0\1\2"), "proquake15" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct record r;

		memset(&game, 0, sizeof(game));
		parse(S2C, B("\x0b\x0f\0\0\0\4\1Hi\0m\0\0\0"), &r);
		assert_int_equal(r.status, RECORD_DECODED);
		parse(C2S, rows[i].bytes, rows[i].n, &r);
		assert_int_equal(r.status, RECORD_DECODED);
		assert_string_equal(game.format.dialect->name, rows[i].dialect);
	}
}

/* Numbers of frames as far apart as numbers can be (found by fuzzing). */
static void frames_far_apart(void **state)
{
	struct record r;

	(void)state;
	enter("dp7", 0, 0);
	game.has_frame = true;
	game.frame = INT32_MIN;
	parse(S2C, B("\x3a\5\0\xff\xff\x39\xff\xff\xff\x7f\0\0\0\0\0\x80"), &r);
	assert_int_equal(r.status, RECORD_PARTIAL);
	assert_int_equal(game.frame, INT32_MIN);
}

/* What an entity does not name is known from its reset on, until a frame is missing. */
static void entities_since_their_reset(void **state)
{
	static const struct {
		const char *bytes;
		enum record_status status;
	} rows[] = {
		{ "\x39\x01\0\0\0\0\0\0\0\x05\0\x02\x08\0\x10\0\x18\0\0\x80",
		  RECORD_PARTIAL },
		{ "\x39\x02\0\0\0\0\0\0\0\x05\0\x03\x08\0\x10\0\x18\0\0\x80",
		  RECORD_DECODED },
		{ "\x39\x03\0\0\0\0\0\0\0\x05\0\x02\x08\0\x10\0\x18\0\0\x80",
		  RECORD_DECODED },
		{ "\x39\x05\0\0\0\0\0\0\0\x05\0\x02\x08\0\x10\0\x18\0\0\x80",
		  RECORD_PARTIAL },
		{ "\x39\x06\0\0\0\0\0\0\0\x05\x80\0\x80", RECORD_DECODED },
		{ "\x39\x07\0\0\0\0\0\0\0\x05\0\x02\x08\0\x10\0\x18\0\0\x80",
		  RECORD_PARTIAL },
	};

	(void)state;
	enter("dp7", 0, 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct record r;

		parse(S2C, rows[i].bytes, i == 4 ? 13 : 20, &r);
		if (r.status != rows[i].status)
			fail_msg("row %zu: %s", i, r.reason ? r.reason : "decoded");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each),
		cmocka_unit_test(every_cut),
		cmocka_unit_test(rows_are_whole),
		cmocka_unit_test(bad_ones),
		cmocka_unit_test(nothing_learnt),
		cmocka_unit_test(frames_far_apart),
		cmocka_unit_test(entities_since_their_reset),
		cmocka_unit_test(a_move_tells_the_dialect),
	};

	return cmocka_run_group_tests(tests, tape_begin, tape_end);
}
