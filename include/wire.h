/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wire.h - what may travel to or from a game port, and what we call it.
 *
 * The one description of the protocols. From these rows come the enums, the matcher in
 * the kernel, the limits a request is charged to, the labels in statistics, the decoder
 * registry, the fuzz dictionary and the completeness tests. The steps for a new word or
 * protocol: docs/HACKING.md. Sources: docs/PROTOCOLS.md.
 *
 * Out-of-band datagram, of all families but Quake Enhanced; read on its services too:
 *
 *	+----+----+----+----+------- ... -+-------------------+---- ... --+
 *	| ff | ff | ff | ff | word        | blank, LF, NUL, \ | arguments |
 *	+----+----+----+----+------- ... -+-------------------+---- ... --+
 *
 * NetQuake control, big-endian length of the whole payload:
 *
 *	+----+----+---------+----+---- ... --+
 *	| 80 | 00 | length  | op | fields    |
 *	+----+----+---------+----+---- ... --+
 *
 * NetQuake game: 00 { 01 data, 09 data+end, 02 ack, 10 unreliable }, length, sequence.
 * QuakeWorld, Quake II, Quake III game: little-endian sequence first.
 * Quake Enhanced: DTLS 1.2 records, type 14..18h, version fe fd or fe ff.
 */
#ifndef WIRE_H
#define WIRE_H

#include <linux/types.h>

/*
 * How a datagram to a server gets its kind. As an engine would read it, or stricter.
 * classify.h implements these rules, and tests/reader.h a second time: change all three.
 *
 * After the marker: nothing, NUL or LF first is OOB_EMPTY. In Quake II and III '2' to '9'
 * first and six bytes more is ECHO_RETURN. All else but an ASCII letter first is
 * OOB_UNUSUAL.
 * What stands before the first byte <= 20h (a space: CR and TAB too) is the word; it is
 * looked for among the rows in every family, and 7Fh counts as `_`. Where there is no
 * row:
 *   - `connect\` is CONNECT and, in lower case, `d0pk\` D0PK; no other word ends with
 *     a backslash;
 *   - on QuakeWorld and `auto`: `n\chunk` in any case; and in this case only, `c` with a
 *     digit or `-` after it, `n` with `\` or LF, `d` with LF. Other text after `n` or
 *     `B` is a reply only on its way out: an unknown word may begin so;
 *   - Valve's, whose first letter has this case: the word TSource; `U` and `V` with four
 *     bytes behind them, `W` with four at most, `i` with one at most, `A`, `D`, `E`, `I`
 *     with one at least;
 *   - the rest is OOB_UNKNOWN.
 *
 * Without it, on NetQuake, QuakeWorld, Quake Enhanced and `auto`:
 *   - NetQuake, if flags (or opcode) are known and the length is right: 8 at least, of a
 *     control packet 5 at least, of an acknowledgement 8. On QuakeWorld and `auto` a NAK
 *     is a sequence;
 *   - DTLS, if the first record is whole and not empty: that record decides, and what
 *     follows it may be anything. Its epoch 0 is clear. Encrypted, an alert is
 *     DTLS_DATA and a handshake DTLS_ENCRYPTED; data in the clear is malformed. Of a
 *     handshake message the type is looked at, and whether anything is in it (else
 *     DTLS_OTHER, but for ServerHelloDone, which is empty); of a ClientHello of 36
 *     bytes or more, fragment or not, where its cookie begins: malformed if the session
 *     has more than 32 bytes or no room is left;
 *   - else, on NetQuake and Quake Enhanced, RUNT below five bytes. NetQuake's, of 24 or
 *     more, is NQ_ENCRYPTED unless it begins as something in the clear: an encrypted
 *     datagram begins with anything. The rest is malformed.
 *   BAD_LENGTH is none of these: UDP's length then does not fit IP's. A
 *   datagram behind IPv4 options or an IPv6 extension header, but for a fragment's, is
 *   malformed where the service drops such.
 *
 * Then QuakeWorld's and `auto`'s: `a` LF digit, `stdlog` blank, and if this is all, `k`
 * NUL, `l`, `m`, `C` LF and `c` LF with one byte more at most. Quake II's: `query`, not
 * in capitals, of five to eight bytes. What is left is a sequence: RUNT below eight
 * bytes; malformed above 1472 (Quake III 1400), or, in Quake II and III, if all bits but
 * the top one are 0.
 * A master's datagrams are classified as those of `auto`, and Quake II's `query` too.
 * NETCHAN_FRAGMENT is Quake III's with the top bit; the fragments of others are NETCHAN.
 */

/* clang-format off */

/*	  family		name in configuration, labels and JSON; in C */
#define WIRE_PROTOCOLS(X)						\
	X(NETQUAKE,		"netquake",		netquake)	\
	X(QUAKEWORLD,		"quakeworld",		quakeworld)	\
	X(QUAKE2,		"quake2",		quake2)		\
	X(QUAKE3,		"quake3",		quake3)		\
	X(QUAKE_ENHANCED,	"quake-enhanced",	quake_enhanced)
#define WIRE_FAMILIES(X)						\
	WIRE_PROTOCOLS(X)						\
	/* From here on: the words of every protocol. */		\
	X(AUTO,			"auto",			auto)		\
	X(MASTER,		"master",		master)

/*
 * The class of a datagram that an unvalidated client sends to a server. Those before
 * REPLY have limits of their own; the others have a policy (drop, limit as UNKNOWN, or
 * pass).
 */
#define WIRE_CLASSES(X)							\
	X(QUERY,	"query")	/* answered with data */	\
	X(CHALLENGE,	"challenge")	/* first step of joining */	\
	X(CONNECT,	"connect")	/* later steps of joining */	\
	X(RCON,		"rcon")		/* password guesses */		\
	X(UNKNOWN,	"unknown")	/* all that is not recognised */ \
	X(NETCHAN,	"netchan")	/* game traffic of no player */ \
	X(REPLY,	"reply")	/* no server needs to receive it */ \
	X(MALFORMED,	"malformed")	/* no engine sends it */	\
	X(FRAGMENT,	"fragment")	/* IP fragment with the ports */

/* Protocols with servers that act on a row; on others it is UNKNOWN. */
#define NQ (1 << FAMILY_NETQUAKE)
#define QW (1 << FAMILY_QUAKEWORLD)
#define Q2 (1 << FAMILY_QUAKE2)
#define Q3 (1 << FAMILY_QUAKE3)
#define QE (1 << FAMILY_QUAKE_ENHANCED)

/*
 * Kinds that are recognised by their shape and have no command word. They are the first
 * kinds, and counters are by their order (COUNTER_SETS in counters.h): game traffic must
 * be here, and each row of class MALFORMED or FRAGMENT before ECHO_RETURN, or the counter
 * of its drops is another's.
 */
#define WIRE_SHAPES(X)							\
	X(RUNT,			"runt",			MALFORMED,	NQ|QW|Q2|Q3|QE)	\
	X(BAD_LENGTH,		"bad-length",		MALFORMED,	NQ|QW|Q2|Q3|QE)	\
	X(MALFORMED,		"malformed",		MALFORMED,	NQ|QW|Q2|Q3|QE)	\
	X(COALESCED,		"coalesced",		MALFORMED,	NQ|QW|Q2|Q3|QE)	\
	X(OTHER_PROTOCOL,	"other-protocol",	MALFORMED,	NQ|QW|Q2|Q3|QE)	\
	X(FRAGMENT,		"fragment",		FRAGMENT,	NQ|QW|Q2|Q3|QE)	\
	X(OOB_EMPTY,		"oob-empty",		UNKNOWN,	NQ|QW|Q2|Q3|QE)	\
	X(OOB_UNUSUAL,		"oob-unusual",		UNKNOWN,	NQ|QW|Q2|Q3|QE)	\
	X(OOB_UNKNOWN,		"oob-unknown",		UNKNOWN,	NQ|QW|Q2|Q3|QE)	\
	/* what came back of an echo, or looks like it: see challenge.h */ \
	X(ECHO_RETURN,		"echo-return",		UNKNOWN,	Q2|Q3)		\
	X(NETCHAN,		"netchan",		NETCHAN,	QW|Q2|Q3)	\
	X(NETCHAN_FRAGMENT,	"netchan-fragment",	NETCHAN,	QW|Q2|Q3)	\
	X(NQ_RELIABLE,		"nq-reliable",		NETCHAN,	NQ|QW|QE)	\
	X(NQ_ACK,		"nq-ack",		NETCHAN,	NQ|QW|QE)	\
	X(NQ_UNRELIABLE,	"nq-unreliable",	NETCHAN,	NQ|QW|QE)	\
	X(NQ_ENCRYPTED,		"nq-encrypted",		NETCHAN,	NQ)		\
	X(NQ_NAK,		"nq-nak",		UNKNOWN,	NQ|QE)		\
	X(S2C_CHALLENGE,	"s2c-challenge",	REPLY,		QW)		\
	X(A2C_PRINT,		"a2c-print",		REPLY,		QW|NQ)		\
	X(A2C_CLIENT_COMMAND,	"a2c-client-command",	REPLY,		QW)		\
	X(M2C_SERVERS,		"m2c-servers",		REPLY,		QW)		\
	X(QW_CHUNK,		"qw-chunk",		REPLY,		QW)		\
	X(S2M_HEARTBEAT,	"s2m-heartbeat",	UNKNOWN,	QW)		\
	X(S2M_SHUTDOWN,		"s2m-shutdown",		UNKNOWN,	QW)		\
	X(S2M_PING,		"s2m-ping",		UNKNOWN,	QW)		\
	X(C2M_QUERY,		"c2m-query",		UNKNOWN,	QW)		\
	X(RAW_ACK,		"raw-ack",		UNKNOWN,	QW)		\
	X(RAW_NACK,		"raw-nack",		UNKNOWN,	QW)		\
	X(RAW_STDLOG,		"stdlog",		REPLY,		QW)		\
	X(Q2_MASTER_QUERY,	"q2-master-query",	UNKNOWN,	Q2)		\
	X(A2S_INFO,		"a2s-info",		UNKNOWN,	NQ|QW|Q2|Q3|QE)	\
	X(A2S_PLAYER,		"a2s-player",		UNKNOWN,	NQ|QW|Q2|Q3|QE)	\
	X(A2S_RULES,		"a2s-rules",		UNKNOWN,	NQ|QW|Q2|Q3|QE)	\
	X(A2S_CHALLENGE,	"a2s-challenge",	UNKNOWN,	NQ|QW|Q2|Q3|QE)	\
	X(A2S_PING,		"a2s-ping",		UNKNOWN,	NQ|QW|Q2|Q3|QE)	\
	X(A2S_REPLY,		"a2s-reply",		UNKNOWN,	NQ|QW|Q2|Q3|QE)	\
	X(DTLS_OTHER,		"dtls-other",		UNKNOWN,	NQ|QW|QE)	\
	X(DTLS_HELLO_COOKIE,	"dtls-client-hello-cookie", CONNECT,	NQ|QW|QE)	\
	X(DTLS_ENCRYPTED,	"dtls-encrypted-handshake", CONNECT,	NQ|QW|QE)	\
	X(DTLS_CCS,		"dtls-change-cipher-spec", CONNECT,	NQ|QW|QE)	\
	X(DTLS_ALERT,		"dtls-alert",		UNKNOWN,	NQ|QW|QE)	\
	X(DTLS_DATA,		"dtls-data",		NETCHAN,	NQ|QW|QE)	\
	X(DTLS_HEARTBEAT,	"dtls-heartbeat",	UNKNOWN,	NQ|QW|QE)

/*
 * Out-of-band words, at most WIRE_WORD_MAX letters, compared without regard to case.
 * The end that sends them is UNKNOWN of those that both do, or masters.
 * Where a kind means more than its class says, other tables have it: kind_marks
 * (bpf/conntrack_egress.bpf.h), by which a server challenges and accepts clients,
 * kind_takes_part() and kind_cacheable().
 *	  kind			word			class		families	sent */
#define WIRE_WORDS(X)							\
	X(GETSTATUS,		"getstatus",		QUERY,		NQ|QW|Q3,	C2S)		\
	X(GETINFO,		"getinfo",		QUERY,		NQ|QW|Q3,	C2S)		\
	X(GETCHALLENGE,		"getchallenge",		CHALLENGE,	NQ|QW|Q2|Q3,	C2S)		\
	X(CONNECT,		"connect",		CONNECT,	NQ|QW|Q2|Q3,	C2S)		\
	X(RCON,			"rcon",			RCON,		NQ|QW|Q2|Q3,	C2S)		\
	X(SRCON,		"srcon",		RCON,		NQ|Q3,		C2S)		\
	X(RCONINFO,		"rconinfo",		QUERY,		Q3,		C2S)		\
	X(STATUS,		"status",		QUERY,		QW|Q2,		C2S)		\
	X(INFO,			"info",			QUERY,		QW|Q2,		UNKNOWN)	\
	X(PING,			"ping",			QUERY,		NQ|QW|Q2|Q3,	C2S)		\
	X(ACK,			"ack",			UNKNOWN,	NQ|QW|Q2|Q3,	S2C)		\
	/* QuakeWorld, mvdsv, FTE */					\
	X(A2A_PING,		"k",			QUERY,		QW,		UNKNOWN)	\
	X(A2A_ACK,		"l",			UNKNOWN,	QW,		UNKNOWN)	\
	X(A2A_NACK,		"m",			UNKNOWN,	QW,		UNKNOWN)	\
	X(S2C_CONNECTION,	"j",			REPLY,		QW,		S2C)		\
	X(LOG,			"log",			QUERY,		QW,		C2S)		\
	X(LASTSCORES,		"lastscores",		QUERY,		QW,		C2S)		\
	X(LASTSTATS,		"laststats",		QUERY,		QW,		C2S)		\
	X(DLIST,		"dlist",		QUERY,		QW,		C2S)		\
	X(DLISTR,		"dlistr",		QUERY,		QW,		C2S)		\
	X(DLISTREGEX,		"dlistregex",		QUERY,		QW,		C2S)		\
	X(DEMOLIST,		"demolist",		QUERY,		QW,		C2S)		\
	X(DEMOLISTR,		"demolistr",		QUERY,		QW,		C2S)		\
	X(DEMOLISTREGEX,	"demolistregex",	QUERY,		QW,		C2S)		\
	X(QTVUSERS,		"qtvusers",		QUERY,		QW,		C2S)		\
	X(BROADCAST,		"broadcast",		RCON,		QW,		C2S)		\
	X(IP,			"ip",			CONNECT,	QW,		C2S)		\
	X(REALIP,		"realip",		CONNECT,	QW,		C2S)		\
	X(DTLSCONNECT,		"dtlsconnect",		CONNECT,	NQ|QW,		C2S)		\
	X(DTLSOPENED,		"dtlsopened",		REPLY,		NQ|QW,		S2C)		\
	X(PINGSTATUS,		"pingstatus",		QUERY,		QW,		C2S)		\
	X(ICE_OFFER,		"ice_offer",		CONNECT,	NQ|QW,		UNKNOWN)	\
	X(ICE_CCAND,		"ice_ccand",		CONNECT,	NQ|QW,		UNKNOWN)	\
	/* Quake II, R1Q2, Q2PRO */					\
	X(CHEATERNETREPLY,	"cheaternetreply",	UNKNOWN,	Q2,		C2S)		\
	X(CHALLENGE,		"challenge",		REPLY,		NQ|Q2,		S2C)		\
	X(CLIENT_CONNECT,	"client_connect",	REPLY,		Q2,		S2C)		\
	X(PASSIVE_CONNECT,	"passive_connect",	REPLY,		Q2,		S2C)		\
	X(CMD,			"cmd",			REPLY,		Q2,		S2C)		\
	X(SERVERS,		"servers",		REPLY,		Q2,		S2C)		\
	X(QUERY,		"query",		UNKNOWN,	Q2,		S2C)		\
	X(SHUTDOWN,		"shutdown",		UNKNOWN,	Q2,		S2C)		\
	/* Quake III and kin */						\
	X(STATUSRESPONSE,	"statusResponse",	REPLY,		NQ|QW|Q3,	S2C)		\
	X(INFORESPONSE,		"infoResponse",		REPLY,		NQ|QW|Q3,	S2C)		\
	X(CHALLENGERESPONSE,	"challengeResponse",	REPLY,		Q3,		S2C)		\
	X(CONNECTRESPONSE,	"connectResponse",	REPLY,		Q3,		S2C)		\
	X(PRINT,		"print",		REPLY,		Q2|Q3,		S2C)		\
	X(DISCONNECT,		"disconnect",		REPLY,		Q3,		S2C)		\
	X(ECHO,			"echo",			REPLY,		Q2|Q3,		S2C)		\
	X(ERROR,		"error",		REPLY,		Q3,		S2C)		\
	X(NEEDCDKEY,		"needcdkey",		REPLY,		Q3,		S2C)		\
	X(RCONINFORESPONSE,	"rconInfoResponse",	REPLY,		Q3,		S2C)		\
	X(IPAUTHORIZE,		"ipAuthorize",		CONNECT,	Q3,		C2S)		\
	X(AUTH_SV,		"AUTH:SV",		CONNECT,	Q3,		C2S)		\
	X(AUTH_CL,		"AUTH:CL",		REPLY,		Q3,		S2C)		\
	X(GETKEYAUTHORIZE,	"getKeyAuthorize",	UNKNOWN,	Q3,		C2S)		\
	X(KEYAUTHORIZE,		"keyAuthorize",		REPLY,		Q3,		S2C)		\
	X(GETIPAUTHORIZE,	"getIpAuthorize",	UNKNOWN,	Q3,		S2C)		\
	X(BANUSER,		"banUser",		UNKNOWN,	Q3,		S2C)		\
	X(GETMOTD,		"getmotd",		UNKNOWN,	Q3,		C2S)		\
	X(MOTD,			"motd",			REPLY,		Q3,		S2C)		\
	X(GETUPDATEINFO,	"getUpdateInfo",	UNKNOWN,	Q3,		C2S)		\
	X(UPDATERESPONSE,	"updateResponse",	UNKNOWN,	Q3,		S2C)		\
	X(GAMECOMPLETESTATUS,	"gameCompleteStatus",	UNKNOWN,	Q3,		S2C)		\
	X(GETBLOCKEDSERVERS,	"getBlockedServers",	UNKNOWN,	Q3,		C2S)		\
	X(GETBLOCKEDRESPONSE,	"getBlockedServersResponse", REPLY,	Q3,		S2C)		\
	/* DarkPlaces */						\
	/* d0_blind_id's words have a class of their first step: four to a join */ \
	X(D0PK,			"d0pk",			CHALLENGE,	NQ,		UNKNOWN)	\
	X(ACCEPT,		"accept",		REPLY,		NQ,		S2C)		\
	X(REJECT,		"reject",		REPLY,		NQ,		S2C)		\
	X(EXTRESPONSE,		"extResponse",		UNKNOWN,	NQ,		C2S)		\
	/* masters */							\
	X(HEARTBEAT,		"heartbeat",		UNKNOWN,	NQ|Q2|Q3,	S2C)		\
	X(GETSERVERS,		"getservers",		UNKNOWN,	NQ|Q2|Q3,	C2S)		\
	X(GETSERVERSEXT,	"getserversExt",	UNKNOWN,	NQ|Q3,		C2S)		\
	X(GETSERVERSRESPONSE,	"getserversResponse",	REPLY,		NQ|Q3,		S2C)		\
	X(GETSERVERSEXTRESPONSE, "getserversExtResponse", REPLY,	NQ|Q3,		S2C)		\
	/* GoldSrc words on the same marker: no Quake server answers them */ \
	X(GOLDSRC_INFOSTRING,	"infostring",		UNKNOWN,	Q3,		C2S)		\
	X(GOLDSRC_PLAYERS,	"players",		UNKNOWN,	Q3,		C2S)		\
	X(GOLDSRC_RULES,	"rules",		UNKNOWN,	Q3,		C2S)		\
	X(GOLDSRC_DETAILS,	"details",		UNKNOWN,	Q3,		C2S)

/*
 * The words that floods are made of, most of them first: 4 to 12 letters. Each has a row
 * of the same kind in WIRE_WORDS.
 *	  kind			word
 */
#define WIRE_HOT(X)							\
	X(GETSTATUS,		"getstatus")				\
	X(GETINFO,		"getinfo")				\
	X(GETCHALLENGE,		"getchallenge")				\
	X(STATUS,		"status")				\
	X(CONNECT,		"connect")

/* NetQuake control packets (FTE answers the requests on QuakeWorld ports too).
 *	  kind			opcode	name			class	families */
#define WIRE_CONTROL(X)							\
	X(CCREQ_CONNECT,	0x01,	"ccreq-connect",	CONNECT, NQ|QW|QE)	\
	X(CCREQ_SERVER_INFO,	0x02,	"ccreq-server-info",	QUERY,	NQ|QW|QE)	\
	X(CCREQ_PLAYER_INFO,	0x03,	"ccreq-player-info",	QUERY,	NQ|QW|QE)	\
	X(CCREQ_RULE_INFO,	0x04,	"ccreq-rule-info",	QUERY,	NQ|QW|QE)	\
	X(CCREQ_RCON,		0x05,	"ccreq-rcon",		RCON,	NQ|QW|QE)	\
	X(CCREP_ACCEPT,		0x81,	"ccrep-accept",		REPLY,	NQ|QW|QE)	\
	X(CCREP_REJECT,		0x82,	"ccrep-reject",		REPLY,	NQ|QW|QE)	\
	X(CCREP_SERVER_INFO,	0x83,	"ccrep-server-info",	REPLY,	NQ|QW|QE)	\
	X(CCREP_PLAYER_INFO,	0x84,	"ccrep-player-info",	REPLY,	NQ|QW|QE)	\
	X(CCREP_RULE_INFO,	0x85,	"ccrep-rule-info",	REPLY,	NQ|QW|QE)	\
	X(CCREP_RCON,		0x86,	"ccrep-rcon",		REPLY,	NQ|QW|QE)

/* DTLS 1.2 handshake messages in the clear (RFC 6347).
 *	  kind			type	name				class	families */
#define WIRE_HANDSHAKE(X)						\
	X(DTLS_CLIENT_HELLO,	1,	"dtls-client-hello",	CHALLENGE, NQ|QW|QE)	\
	X(DTLS_SERVER_HELLO,	2,	"dtls-server-hello",	REPLY,	NQ|QW|QE)	\
	X(DTLS_HELLO_VERIFY,	3,	"dtls-hello-verify-request", REPLY, NQ|QW|QE)	\
	X(DTLS_SESSION_TICKET,	4,	"dtls-new-session-ticket", REPLY, NQ|QW|QE)	\
	X(DTLS_CERTIFICATE,	11,	"dtls-certificate",	CONNECT, NQ|QW|QE)	\
	X(DTLS_SERVER_KEY,	12,	"dtls-server-key-exchange", REPLY, NQ|QW|QE)	\
	X(DTLS_HELLO_DONE,	14,	"dtls-server-hello-done", REPLY, NQ|QW|QE)	\
	X(DTLS_CERT_VERIFY,	15,	"dtls-certificate-verify", CONNECT, NQ|QW|QE)	\
	X(DTLS_CLIENT_KEY,	16,	"dtls-client-key-exchange", CONNECT, NQ|QW|QE)

/*
 * The requests that a master server (dpmaster, QuakeWorld's, Quake II's) handles. A
 * request for a list is a query. A heartbeat is a game server's first step onto the list,
 * and its answer to the master's query a later one. Any other request is UNKNOWN, and game
 * traffic is NETCHAN.
 *	     kind, compared		kind			class */
#define WIRE_MASTER(X, compared)					\
	X(compared,			GETSERVERS,		QUERY)		\
	X(compared,			GETSERVERSEXT,		QUERY)		\
	X(compared,			GETMOTD,		QUERY)		\
	X(compared,			QUERY,			QUERY)		\
	X(compared,			Q2_MASTER_QUERY,	QUERY)		\
	X(compared,			C2M_QUERY,		QUERY)		\
	X(compared,			HEARTBEAT,		CHALLENGE)	\
	X(compared,			S2M_HEARTBEAT,		CHALLENGE)	\
	X(compared,			INFORESPONSE,		CONNECT)	\
	X(compared,			STATUSRESPONSE,		CONNECT)	\
	X(compared,			GAMECOMPLETESTATUS,	CONNECT)	\
	X(compared,			PRINT,			CONNECT)	\
	X(compared,			A2C_PRINT,		CONNECT)	\
	X(compared,			ACK,			CONNECT)	\
	X(compared,			RAW_ACK,		CONNECT)	\
	X(compared,			A2A_ACK,		CONNECT)	\
	X(compared,			S2M_PING,		CONNECT)	\
	X(compared,			PING,			CONNECT)	\
	X(compared,			S2M_SHUTDOWN,		CONNECT)	\
	X(compared,			SHUTDOWN,		CONNECT)

/* clang-format on */

#define WIRE_WORD_MAX 32 /* letters */

enum wire_family {
#define AS_FAMILY(family, name, symbol) FAMILY_##family,
	WIRE_FAMILIES(AS_FAMILY)
#undef AS_FAMILY
	FAMILY_COUNT,
};

enum wire_class {
#define AS_CLASS(class_, name) CLASS_##class_,
	WIRE_CLASSES(AS_CLASS)
#undef AS_CLASS
	CLASS_COUNT,
};
#define CLASS_BUDGETS CLASS_REPLY /* classes before it have limits of their own */

/* Which end sent a datagram. UNKNOWN: not decided yet. */
enum direction {
	DIRECTION_UNKNOWN,
	DIRECTION_C2S, /* toward the server */
	DIRECTION_S2C,
	DIRECTION_COUNT,
};

enum wire_kind {
#define AS_SHAPE(kind, name, class_, families, ...)  KIND_##kind,
#define AS_CODED(kind, code, name, class_, families) KIND_##kind,
	WIRE_SHAPES(AS_SHAPE)
	WIRE_WORDS(AS_SHAPE) WIRE_CONTROL(AS_CODED) WIRE_HANDSHAKE(AS_CODED)
#undef AS_SHAPE
#undef AS_CODED
		KIND_COUNT,
};

/* clang-format off */
#define NQ_CLASS(kind, name, c, families, ...) [KIND_##kind] = (families) & NQ ? CLASS_##c : CLASS_UNKNOWN,
#define QW_CLASS(kind, name, c, families, ...) [KIND_##kind] = (families) & QW ? CLASS_##c : CLASS_UNKNOWN,
#define Q2_CLASS(kind, name, c, families, ...) [KIND_##kind] = (families) & Q2 ? CLASS_##c : CLASS_UNKNOWN,
#define Q3_CLASS(kind, name, c, families, ...) [KIND_##kind] = (families) & Q3 ? CLASS_##c : CLASS_UNKNOWN,
#define QE_CLASS(kind, name, c, families, ...) [KIND_##kind] = (families) & QE ? CLASS_##c : CLASS_UNKNOWN,
#define AUTO_CLASS(kind, name, c, families, ...) [KIND_##kind] = CLASS_##c,
#define MASTER_IS(compared, kind, c) (compared) == KIND_##kind ? CLASS_##c :
#define MASTER_REST(c) ((c) < CLASS_UNKNOWN ? CLASS_UNKNOWN : (c))
#define MASTER_CLASS(kind, name, c, families, ...) [KIND_##kind] = WIRE_MASTER(MASTER_IS, KIND_##kind) MASTER_REST(CLASS_##c),
#define NQ_CODED(kind, code, name, c, families)  NQ_CLASS(kind, name, c, families)
#define QW_CODED(kind, code, name, c, families)  QW_CLASS(kind, name, c, families)
#define Q2_CODED(kind, code, name, c, families)  Q2_CLASS(kind, name, c, families)
#define Q3_CODED(kind, code, name, c, families)  Q3_CLASS(kind, name, c, families)
#define QE_CODED(kind, code, name, c, families)  QE_CLASS(kind, name, c, families)
#define AUTO_CODED(kind, code, name, c, families) AUTO_CLASS(kind, name, c, families)
#define MASTER_CODED(kind, code, name, c, families) MASTER_CLASS(kind, name, c, families)
#define EACH_KIND(SHAPE, CODED) \
	WIRE_SHAPES(SHAPE) WIRE_WORDS(SHAPE) WIRE_CONTROL(CODED) WIRE_HANDSHAKE(CODED)

#define NO_KIND [KIND_COUNT] = CLASS_MALFORMED

static const __u8 wire_classes[FAMILY_COUNT][KIND_COUNT + 1] = {
	[FAMILY_NETQUAKE] =	  { EACH_KIND(NQ_CLASS, NQ_CODED) NO_KIND },
	[FAMILY_QUAKEWORLD] =	  { EACH_KIND(QW_CLASS, QW_CODED) NO_KIND },
	[FAMILY_QUAKE2] =	  { EACH_KIND(Q2_CLASS, Q2_CODED) NO_KIND },
	[FAMILY_QUAKE3] =	  { EACH_KIND(Q3_CLASS, Q3_CODED) NO_KIND },
	[FAMILY_QUAKE_ENHANCED] = { EACH_KIND(QE_CLASS, QE_CODED) NO_KIND },
	[FAMILY_AUTO] =		  { EACH_KIND(AUTO_CLASS, AUTO_CODED) NO_KIND },
	[FAMILY_MASTER] =	  { EACH_KIND(MASTER_CLASS, MASTER_CODED) NO_KIND },
};
/* clang-format on */

/*
 * Return true if *@index may index an array of @count. It includes same_copy()
 * (bpf/hints.bpf.h). Called in the programs right before the access, and in code that
 * they share with userland. Index by *@index itself: the verifier knows no bound of
 * another copy.
 */
static inline __attribute__((always_inline)) int index_below(__u32 *index, __u32 count)
{
	asm volatile("" : "+r"(*index));
	return *index < count;
}

/*
 * Return the class of @kind on a service of @family: which limits or policy apply.
 * KIND_COUNT has CLASS_MALFORMED; a @kind above that may get one of another family.
 * Called in userland alone: the programs read struct service.class_of, which
 * service_finish() makes of it (service_class()).
 */
static inline enum wire_class wire_class(enum wire_family family, enum wire_kind kind)
{
	__u32 row = (__u32)family * (KIND_COUNT + 1) + kind;

	if (!index_below(&row, FAMILY_COUNT * (KIND_COUNT + 1)))
		return CLASS_MALFORMED;
	return (enum wire_class)((const __u8 *)wire_classes)[row];
}

#endif /* WIRE_H */
