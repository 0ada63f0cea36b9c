// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * meanings.c - see meanings.h.
 */
#include "lib/meanings.h"

/* clang-format off */
static const struct meaning reasons[] = {
	[REASON_WITHIN_LIMITS] = {
		"The request is within the limits of its source, its prefix and the service.",
		NULL },
	[REASON_ALLOW_LIST] = { "The source is on the allow list.", NULL },
	[REASON_PLAYER] = { "The server has accepted this player.", NULL },
	[REASON_POLICY] = {
		"The class has no limits, and the service passes it (`replies`, `malformed`, `fragments`).",
		NULL },
	[REASON_EXEMPT] = {
		"Sent: the receiver is on the allow list as `unlimited`.", NULL },
	[REASON_OTHER_SOCKET] = {
		"Sent: from a socket of another user than the server's. The shield learns nothing from it.",
		"If the server runs as several users, run it as one." },
	[REASON_DENY_LIST] = { "The source is on the deny list.", NULL },
	[REASON_SOURCE_LIMIT] = {
		"The source, an IPv4 address or IPv6 /64, has exceeded its limit.",
		"If the source is a monitoring or administration tool: `quakeshield allow add ADDRESS`." },
	[REASON_PREFIX_LIMIT] = {
		"The prefix, an IPv4 /24 or IPv6 /56, has exceeded its limit.",
		"If many clients play behind one prefix, raise `prefix` of the class." },
	[REASON_SERVICE_LIMIT] = {
		"The service has exceeded its limit for this class of requests.",
		"If it lasts all day and the server has capacity, raise the limit of the class, and allow the trackers." },
	[REASON_CONTENDED] = {
		"Several processors charged one limit at the same time.", NULL },
	[REASON_MALFORMED] = {
		"The datagram breaks the protocol, or has IP options: no engine sends it.", NULL },
	[REASON_FRAGMENT] = {
		"The datagram is fragmented.",
		"If a player's path fragments, set `fragments = limit` for that service." },
	[REASON_REPLY_TO_SERVER] = {
		"The message is one that only servers send: the server is the target of a reflection.",
		NULL },
	[REASON_AMPLIFICATION] = {
		"Sent: the prefix of the receiver would get more bytes than it has sent, plus its allowance. Received: the response would be that.",
		"If legitimate queries remain unanswered, raise `allowance`. For a remote console: `quakeshield allow add ADDRESS`." },
	[REASON_PLAYER_LIMIT] = {
		"More datagrams come from the address and port of a player than a client sends.",
		NULL },
	[REASON_PLAYER_MISMATCH] = {
		"The datagram comes from the address and port of a player and does not continue that player's stream.",
		NULL },
	[REASON_ADDRESS_IN_USE] = {
		"A player is at this address, and the datagram would replace it or be taken for its own.",
		"If two clients of a NetQuake server share the address: `quakeshield allow add ADDRESS`. A spoofed `CCREQ_CONNECT` then ends a game there." },
	[REASON_PLAYER_SLOTS] = {
		"The source or its prefix has as many players in this service as it may have (`players`), and would join once more.",
		"If more players share an address or a network: raise `source` or `prefix` of `players`, or `quakeshield allow add ADDRESS`." },
	[REASON_VALIDATED] = {
		"The client has validated its address during the last minute, and is within limits of its own. Sent: to such a client, or a part of a download to a player of QuakeWorld.",
		NULL },
	[REASON_CHALLENGED] = {
		"The shield has sent the client a cookie in place of forwarding its request. Sent: that cookie.",
		"If `getchallenge` reaches the limit of the service as well, and the uplink has capacity, raise `rate` of address validation." },
	[REASON_INVALID_COOKIE] = {
		"The cookie is not the one of this client, or is too old.", NULL },
	[REASON_GREYLISTED] = {
		"The request is forwarded only when the client repeats it after 1 to 8 seconds.",
		NULL },
	[REASON_CACHED_PLAYER] = {
		"Cached response: the server has a player at this address.", NULL },
	[REASON_CACHED_ALLOW_LIST] = {
		"Cached response: the source is on the allow list.", NULL },
	[REASON_CACHED_VALIDATED] = {
		"Cached response: the client has validated its address.", NULL },
	[REASON_CACHED_KNOWN] = {
		"Cached response: the client is known from queries while the service was not under load.",
		NULL },
	[REASON_CACHED_PREFIX] = {
		"Cached response: the prefix of the client has a known client or had a player.",
		NULL },
	[REASON_CACHED_RECURRING] = {
		"Cached response: the source repeats its query like a server browser.",
		"If the bytes sent reach the rate of the cache, a flood imitates browsers: lower the rate, or do nothing." },
	[REASON_CACHED_IN_LIMITS] = {
		"Cached response: the query is within the limits of its source, its prefix and the service.",
		NULL },
	[REASON_CACHED_RESPONSE] = {
		"Sent: a cached response, in place of the server's own.", NULL },
};

static const struct meaning others[] = {
	[OTHER_NOT_IP] = { "The frame holds neither IPv4 nor IPv6.", NULL },
	[OTHER_NOT_UDP] = { "The packet holds no UDP.", NULL },
	[OTHER_NO_SERVICE] = { "The datagram is for no service of the configuration.", NULL },
	[OTHER_LATER_FRAGMENT] = {
		"The packet is a fragment that holds no UDP header.", NULL },
	[OTHER_UNPARSED] = { "The headers are cut off or contradict each other.", NULL },
	[OTHER_TOO_MANY_HEADERS] = {
		"The frame has more VLAN tags or IPv6 extension headers than the standards allow.",
		NULL },
};
/* clang-format on */

_Static_assert(sizeof(reasons) / sizeof(*reasons) == REASON_COUNT,
	       "each reason has a meaning");
_Static_assert(sizeof(others) / sizeof(*others) == OTHER_COUNT,
	       "each reason of a frame for no service has a meaning");

const struct meaning *reason_meaning(enum reason reason)
{
	return &reasons[reason];
}

const struct meaning *other_meaning(enum other other)
{
	return &others[other];
}
