/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * egress.bpf.h - what the server sends: it says who is a player, and closes the ledger.
 *
 * The twin of shield(), at TC egress. The server's own words and its game traffic enter
 * players; everything else that it sends must be paid for by the prefix it goes to.
 */
#ifndef EGRESS_BPF_H
#define EGRESS_BPF_H

#include <linux/pkt_cls.h>

#include "ledger.bpf.h"
#include "netquake.bpf.h"
#include "sample.bpf.h"

#define PULL_BYTES   128 /* of headers and payload that we may look at */
#define PENDING_S    2 /* an answer comes within so many (of 2^30 ns), or is no answer */
#define PROOF_AGE_NS 1000000000ull
#define SVC_TIME     7

/* The kind of what leaves; see classify_packet(). */
__noinline int classify_out(struct __sk_buff *ctx, __u32 family, __u32 offset,
			    __u32 length)
{
	struct cursor c = {
		.pos = (void *)(long)ctx->data,
		.end = (void *)(long)ctx->data_end,
	};

	if (!cursor_take(&c, offset & OFFSET_MASK))
		return KIND_MALFORMED;
	return classify(family, DIRECTION_S2C, c, length & 0xffff);
}

/* The decimal number @skip bytes into the payload at @offset: modern connectResponse. */
__noinline int decimal_at(struct __sk_buff *ctx, __u32 offset, __u32 skip)
{
	struct cursor c = {
		.pos = (void *)(long)ctx->data,
		.end = (void *)(long)ctx->data_end,
	};
	const __u8 *digit;
	bool minus = false;
	__u32 value = 0;

	if (!cursor_take(&c, offset & OFFSET_MASK) || !cursor_take(&c, skip & 0x3f))
		return 0;
	for (int i = 0; i < 11; i++) {
		digit = cursor_take(&c, 1);
		if (!digit)
			break;
		if (!i && *digit == '-') {
			minus = true;
			continue;
		}
		if (!is_digit(*digit))
			break;
		value = value * 10 + (*digit - '0');
	}
	return minus ? -value : value;
}

/* --- learning ---------------------------------------------------------------- */

/* An id engine moves the game to a port of its own: CCREP_ACCEPT, little-endian i32. */
static __always_inline void learn_port(const struct live *l, struct tables *t, __u32 slot,
				       const struct packet *p)
{
	struct cursor c = packet_payload(p);
	const __u8 *accept = cursor_take(&c, 9);
	struct port *port;
	__u32 number;

	if (!accept)
		return;
	number = load_u16(accept + 5);
	if (!number || number == p->server_port || accept[7] | accept[8])
		return;
	port = &t->ports[number];
	/* Never over a service of the configuration. */
	if ((port->any && !(port->flags & PORT_LEARNED)) || port->flags & PORT_EXACT)
		return;
	port->any = slot + 1;
	port->seen_s = clock_s(l);
	port->flags = PORT_LEARNED;
}

static __always_inline void refresh_port(const struct live *l, struct tables *t,
					 const struct packet *p)
{
	struct port *port = &t->ports[p->server_port];

	if (port->flags & PORT_LEARNED)
		port->seen_s = clock_s(l);
}

/* Book @p as the answer to what its receiver asked last. */
static __always_inline void learn_answer(const struct live *l, __u32 slot,
					 const struct packet *p)
{
	__u64 *cell = pending_cell(l, p, RECEIVER, slot);
	__u64 note = cell ? *cell : 0;
	__u32 kind = (__u16)(note >> 32);
	struct answers *a;
	__u32 index;

	if (!note || note >> 48 != slot || kind >= KIND_COUNT ||
	    clock_s(l) - (__u32)note > PENDING_S)
		return;
	index = slot * KIND_COUNT + kind;
	a = bpf_map_lookup_elem(&answers, &index);
	if (a)
		__sync_fetch_and_add(&a->bytes, p->length);
}

/* --- players ----------------------------------------------------------------- */

/* Words by which a server accepts a client that has answered its challenge. */
static __always_inline bool kind_accepts(enum wire_kind kind)
{
	return kind == KIND_CONNECTRESPONSE || kind == KIND_CLIENT_CONNECT ||
	       kind == KIND_S2C_CONNECTION || kind == KIND_ACCEPT;
}

/* Game traffic, which a server sends to clients only, after the challenge... */
static __always_inline bool kind_is_game(enum wire_kind kind)
{
	return kind == KIND_NETCHAN || kind == KIND_NETCHAN_FRAGMENT ||
	       kind == KIND_DTLS_DATA || kind == KIND_NQ_ENCRYPTED;
}

/* ... and NetQuake's, which has none: a spoofed CCREQ_CONNECT is enough to draw it. */
static __always_inline bool kind_is_netquake(enum wire_kind kind)
{
	return kind == KIND_NQ_RELIABLE || kind == KIND_NQ_UNRELIABLE ||
	       kind == KIND_NQ_ACK;
}

static __always_inline __u32 sent_sequence(enum wire_kind kind, const struct packet *p)
{
	struct cursor c = packet_payload(p);
	const __u8 *head = cursor_take(&c, 8);

	if (!head)
		return 0;
	if (kind_is_netquake(kind))
		return bpf_ntohl(load_u32(head + 4));
	return load_u32(head) & 0x7fffffff;
}

/*
 * NetQuake's challenge, since it has none: each update begins with the server's clock,
 * and clients send back the clock that they got last. Keep one until it is answered, or
 * for a second; and two more until the client is past them, because one who moves 10
 * times a second answers one in six of 60 updates. They are held where the sequences of
 * the sign-on were, which is over; qport counts the updates since.
 */
static __always_inline void clock_hold(struct player *player, const struct packet *p,
				       __u64 now)
{
	struct cursor c = packet_payload(p);
	const __u8 *head = cursor_take(&c, 13);
	__u32 clock, dice;

	if (!head || head[8] != SVC_TIME)
		return;
	if (!(player->flags & PLAYER_CHALLENGE)) {
		player->flags |= PLAYER_CHALLENGE;
		player->proofs = 0;
		player->challenge = 0;
		player->heard_sequence = 0;
		player->sent_sequence = 0;
		player->qport = 0;
	}
	clock = load_u32(head + 9);
	if (!player->challenge || now >> 30 != player->sent_ns >> 30)
		player->challenge = clock;
	/*
	 * Any of those since, with equal chances; and any but the next, which in a steady
	 * pace would be the wrong one each time, for those who answer late.
	 */
	dice = clock * 2654435761u;
	player->qport++;
	if (!player->heard_sequence || (dice >> 16) * player->qport < 1 << 16)
		player->heard_sequence = clock;
	else if (!player->sent_sequence && (dice & 0xc000) == 0)
		player->sent_sequence = clock;
}

/* The number of its cell in the table, or PLAYERS_MAX: no room. */
__noinline int player_enter(__u64 first, __u64 second, __u64 third, __u64 now,
			    __u32 flags)
{
	struct player_id id = { { first, second, third } };
	struct player fresh = { .since_ns = now, .sent_ns = now, .flags = flags };
	struct live *l = &live;

	if (follow_this(l, &id)) {
		fresh.flags |= PLAYER_FOLLOWED;
		__sync_fetch_and_add(&l->followed, 1);
	}
	return players_enter(&l->players, &id, l->keys, &fresh, now);
}

/* NULL: no room, see maps.bpf.h. */
static __always_inline struct player *
player_new(struct live *l, const struct player_id *id, __u64 now, __u8 flags)
{
	struct player_cell *cell = player_cell(l, player_enter(id->word[0], id->word[1],
							       id->word[2], now, flags));

	return cell ? &cell->player : NULL;
}

/*
 * Keep @players in step with what the server says. Returns whether the receiver is a
 * player who cannot be a spoofer's victim; *@ret_followed, whether the daemon follows it.
 */
static __always_inline bool player_confirm(struct __sk_buff *ctx, struct live *l,
					   __u32 slot, enum wire_family family,
					   enum wire_kind kind, const struct packet *p,
					   __u32 offset, bool *ret_followed)
{
	bool accepts = kind_accepts(kind);
	bool game = kind_is_game(kind) || kind_is_netquake(kind);
	bool signs_on = false;
	struct player_id id;
	struct player *player;
	__u64 now = clock_now(l);
	__u32 sequence;

	if (!accepts && !game)
		return false;
	packet_player(p, RECEIVER, slot, &id);
	player = player_find(l, &id);
	/* Accepted anew, or back after a long silence: nothing learned before counts. */
	if (!player || !player_alive(player, now) ||
	    (accepts && now - player->since_ns > PROOF_AGE_NS))
		player = player_new(l, &id, now,
				    kind_is_netquake(kind) ? 0 : PLAYER_VERIFIED);
	if (!player)
		return false;

	if (kind == KIND_NQ_UNRELIABLE && !(player->flags & PLAYER_SEQUENCE))
		clock_hold(player, p, now);
	player->sent_ns = now;
	*ret_followed = player->flags & PLAYER_FOLLOWED;
	if (game && kind != KIND_NQ_ACK && kind != KIND_NQ_UNRELIABLE &&
	    kind != KIND_DTLS_DATA) {
		sequence = sent_sequence(kind, p);
		signs_on = kind == KIND_NQ_RELIABLE && !l->ledger.strict &&
			   netquake_signs_on(player, sequence);
		if (family == FAMILY_QUAKE2)
			sequence &= 0x3fffffff;
		if (kind_is_netquake(kind)
			    ? !(player->flags & PLAYER_CHALLENGE)
			    : (__s32)(sequence - player->sent_sequence) > 0)
			player->sent_sequence = sequence;
	}
	if (family == FAMILY_QUAKE3 && kind == KIND_CONNECTRESPONSE && p->length > 20) {
		player->challenge = decimal_at(ctx, offset, 20);
		if (player->challenge)
			player->flags |= PLAYER_CHALLENGE;
	}
	return game && (player->flags & PLAYER_VERIFIED || signs_on);
}

/* --- fragments --------------------------------------------------------------- */

#define FRAGMENT_PASS 1
#define FRAGMENT_DROP 2

/* Only the first fragment has ports: the others share its fate, by address and IP id. */
static __always_inline __u64 *fragment_cell(const struct live *l, const struct packet *p,
					    __u64 *ret_tag)
{
	__u64 net = address_net(p, RECEIVER);
	__u32 index = limit_cell(l->keys, net, p->id, FRAGMENT_BITS);

	*ret_tag = (net ^ (__u64)p->id << 24) << 2;
	return bpf_map_lookup_elem(&fragments, &index);
}

static __always_inline void fragment_note(const struct live *l, const struct packet *p,
					  bool dropped)
{
	__u64 tag, *cell = fragment_cell(l, p, &tag);

	if (cell)
		*cell = tag | (dropped ? FRAGMENT_DROP : FRAGMENT_PASS);
}

/* TC_ACT_SHOT if the first fragment of this datagram was dropped. */
static __always_inline int fragment_follow(const struct live *l, const struct packet *p)
{
	__u64 tag, *cell = fragment_cell(l, p, &tag);

	return cell && *cell == (tag | FRAGMENT_DROP) ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}

/* --- the program ------------------------------------------------------------- */

/* Of a whole datagram, even if this frame is only its first fragment. */
static __always_inline __u64 datagram_bytes(const struct packet *p, __u64 frame,
					    __u32 offset)
{
	if (p->whole != FIRST_FRAGMENT)
		return frame;
	/* Each 1024 bytes at most one more set of headers. */
	return offset + p->length + (p->length >> 10) * 64;
}

/* What a peer that is no player must have paid for. */
static __always_inline enum reason egress_judge(const struct live *l,
						const struct packet *p, __u64 bytes)
{
	if (admit_lists(l, p, RECEIVER) == REASON_ALLOW_LIST)
		return REASON_EXEMPT;
	return ledger_debit(l, p, RECEIVER, bytes) ? REASON_WITHIN_BUDGET : REASON_LEDGER;
}

/* The server's half of a handshake: a follower needs it to make sense of the rest. */
static __always_inline bool kind_is_handshake(enum wire_kind kind)
{
	return kind_accepts(kind) || kind == KIND_CHALLENGERESPONSE ||
	       kind == KIND_CHALLENGE || kind == KIND_S2C_CHALLENGE ||
	       kind == KIND_CCREP_ACCEPT || kind == KIND_DTLS_HELLO_VERIFY ||
	       kind == KIND_DTLS_SERVER_HELLO || kind == KIND_DTLS_SERVER_KEY ||
	       kind == KIND_DTLS_HELLO_DONE || kind == KIND_DTLS_SESSION_TICKET ||
	       kind == KIND_DTLS_CCS || kind == KIND_DTLS_ENCRYPTED;
}

static __always_inline enum sampler sampler_out(const struct live *l, enum wire_kind kind,
						bool followed, __u64 counted)
{
	if (followed || (follows(l) && kind_is_handshake(kind)))
		return SAMPLER_FOLLOW;
	return sample_statistic(l, counted) ? SAMPLER_STATISTIC : SAMPLER_COUNT;
}

SEC("tc")
int shield_out(struct __sk_buff *ctx)
{
	void *data, *data_end;
	struct packet packet = { 0 };
	const struct service *service;
	struct tables *tab;
	enum wire_kind kind;
	enum reason reason;
	struct tally_row *row = NULL;
	struct tally *tally;
	struct live *l = &live;
	__u32 offset, slot = 0;
	enum sampler sampler;
	bool followed = false;
	enum other other;
	__u64 bytes, counted;

	if (ctx->data_end - ctx->data < PULL_BYTES &&
	    ctx->data_end - ctx->data < ctx->len)
		bpf_skb_pull_data(ctx, ctx->len < PULL_BYTES ? ctx->len : PULL_BYTES);
	data = (void *)(long)ctx->data;
	data_end = (void *)(long)ctx->data_end;
	tab = tables_now(l);
	other = packet_parse(data, data_end, ctx->len, SENDER, &packet);
	if (other == OTHER_LATER_FRAGMENT)
		return fragment_follow(l, &packet);
	if (other != PARSED)
		return TC_ACT_UNSPEC;
	packet.start = (void *)(long)*(volatile __u32 *)&ctx->data; /* see shield() */
	packet_forget(&packet, ctx->len);
	service = service_find(l, tab, &packet, SENDER, &slot);
	if (!service)
		return TC_ACT_UNSPEC;

	offset = packet.payload;
	bytes = datagram_bytes(&packet, ctx->len, offset);
	kind = classify_out(ctx, service->family, offset, packet.length);
	if (kind == KIND_CCREP_ACCEPT)
		learn_port(l, tab, slot, &packet);
	else
		refresh_port(l, tab, &packet);

	if (player_confirm(ctx, l, slot, service->family, kind, &packet, offset,
			   &followed)) {
		reason = REASON_PLAYER;
	} else {
		learn_answer(l, slot, &packet);
		reason = egress_judge(l, &packet, bytes);
	}
	/* A player's too: an older note may have the same id. */
	if (packet.whole == FIRST_FRAGMENT)
		fragment_note(l, &packet, reason == REASON_LEDGER && !service->observe);
	tally = tally_find(slot, DIRECTION_S2C, kind, reason, &row);
	if (!tally)
		return TC_ACT_UNSPEC;
	counted = count(tally, bytes);
	sampler = SAMPLER_COUNT;
	if (l->sampling.any)
		sampler = sampler_out(l, kind, followed, counted);
	if (sampler != SAMPLER_COUNT)
		sample_out(ctx, SAMPLE_WHAT(slot, kind, reason, DIRECTION_S2C, sampler),
			   ctx->len);
	if (reason == REASON_LEDGER && !service->observe)
		return TC_ACT_SHOT;
	if (reason != REASON_PLAYER)
		count_stranger_out(row, packet.length, bytes);
	return TC_ACT_UNSPEC;
}

#endif /* EGRESS_BPF_H */
