/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conntrack_egress.bpf.h - enter players, by what the server sends: words of acceptance
 * and game traffic.
 *
 * Only here are players entered. Also noted is what only the player receives: challenges,
 * sequences, and marks in NetQuake's clocks. player_confirm() is called by egress_admit()
 * for each datagram from a server.
 *
 * A new entry is verified (PLAYER_VERIFIED) if the server accepts a client only after a
 * challenge; NetQuake's is not, since a spoofed CCREQ_CONNECT is enough to draw game
 * traffic: conntrack_netquake.bpf.h.
 *
 * All functions run at TC egress, called by player_confirm() unless their comment says
 * otherwise. The amplification limit does not apply to game traffic to a verified player,
 * so no function may set PLAYER_VERIFIED for what a spoofed request alone can draw from a
 * server.
 */
#ifndef CONNTRACK_EGRESS_BPF_H
#define CONNTRACK_EGRESS_BPF_H

#include "conntrack_ingress.bpf.h"
#include "connects.bpf.h"
#include "sample.bpf.h"
#include "connlimit.bpf.h"

#define REACCEPT_NS 1000000000ull
#define SVC_TIME    7

/*
 * Return the decimal number, perhaps negative, @skip bytes into the payload at @offset;
 * 0: there is none. Reads up to 11 characters, modulo 2^32. @skip: 0 to 63. Called by
 * player_accept() and egress_validated(). connect_word() and userinfo_pair() must read
 * the same 32 bits of the same text: connect_answers() compares theirs with this one. The
 * loop's bound and the mask of @skip must stay, for the verifier.
 */
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

/* Bits of kind_marks: the meaning of a kind that a server sends. */
enum kind_mark {
	/*
	 * The server accepts a client that has returned its challenge. Such a kind enters
	 * a verified player: add no kind that a server sends to an address that has
	 * returned nothing. flags_new() and player_accept() name some of these kinds
	 * apart.
	 */
	KIND_ACCEPTS = 1,
	/*
	 * The last flight of a DTLS handshake, which follows the client's Finished: a
	 * ticket or the change of ciphers, whichever is first in its datagram, and the
	 * server's own Finished.
	 */
	KIND_FINISHES = 2,
	/*
	 * Game traffic that a server sends only after a challenge. It enters a verified
	 * player (flags_new()), so NetQuake's must stay out.
	 */
	KIND_GAME = 4,
	/*
	 * NetQuake's game traffic, which a spoofed CCREQ_CONNECT is enough to draw. Its
	 * players start unverified.
	 */
	KIND_NETQUAKE = 8,
	/*
	 * The server's half of a handshake. The follow sampler needs these, and validated
	 * clients are not charged for them. Others may use the whole allowance.
	 */
	KIND_HANDSHAKE = 16,
	/*
	 * A server's challenge, after which its client may go on joining: it enters its
	 * receiver in the table of validated.h, not validated. challenge_at() says where
	 * its number is.
	 */
	KIND_CHALLENGES = 32,
	/*
	 * A server's word to a master server or an authorization server: it raises the
	 * limit of its receiver. Add only kinds that no client can make a server send
	 * to a third address.
	 */
	KIND_REPORTS = 64,
};

/* By kind: a mask of enum kind_mark. Two zeros end it, as detect_speakers. */
static const __u8 kind_marks[KIND_COUNT + 2] = {
	[KIND_CONNECTRESPONSE] = KIND_HANDSHAKE | KIND_ACCEPTS,
	[KIND_CLIENT_CONNECT] = KIND_HANDSHAKE | KIND_ACCEPTS,
	[KIND_S2C_CONNECTION] = KIND_HANDSHAKE | KIND_ACCEPTS,
	[KIND_ACCEPT] = KIND_HANDSHAKE | KIND_ACCEPTS,
	[KIND_DTLS_SESSION_TICKET] = KIND_HANDSHAKE | KIND_ACCEPTS | KIND_FINISHES,
	[KIND_DTLS_CCS] = KIND_HANDSHAKE | KIND_ACCEPTS | KIND_FINISHES,
	[KIND_DTLS_ENCRYPTED] = KIND_HANDSHAKE | KIND_ACCEPTS | KIND_FINISHES,
	[KIND_CHALLENGERESPONSE] = KIND_HANDSHAKE | KIND_CHALLENGES,
	[KIND_CHALLENGE] = KIND_HANDSHAKE | KIND_CHALLENGES,
	[KIND_S2C_CHALLENGE] = KIND_HANDSHAKE | KIND_CHALLENGES,
	[KIND_DTLS_HELLO_VERIFY] = KIND_HANDSHAKE | KIND_CHALLENGES,
	[KIND_CCREP_ACCEPT] = KIND_HANDSHAKE,
	[KIND_D0PK] = KIND_HANDSHAKE,
	[KIND_DTLS_SERVER_HELLO] = KIND_HANDSHAKE,
	[KIND_DTLS_SERVER_KEY] = KIND_HANDSHAKE,
	[KIND_DTLS_HELLO_DONE] = KIND_HANDSHAKE,
	[KIND_NETCHAN] = KIND_GAME,
	[KIND_NETCHAN_FRAGMENT] = KIND_GAME,
	[KIND_DTLS_DATA] = KIND_GAME,
	[KIND_NQ_ENCRYPTED] = KIND_GAME,
	[KIND_NQ_RELIABLE] = KIND_NETQUAKE,
	[KIND_NQ_UNRELIABLE] = KIND_NETQUAKE,
	[KIND_NQ_ACK] = KIND_NETQUAKE,
	[KIND_HEARTBEAT] = KIND_REPORTS,
	[KIND_S2M_HEARTBEAT] = KIND_REPORTS,
	[KIND_GETIPAUTHORIZE] = KIND_REPORTS,
};

/*
 * Return the marks of @kind, enum kind_mark; 0 of one that does not exist. Called for
 * each datagram from a server, and wherever one mark of a kind matters.
 */
static __always_inline __u32 kind_marks_of(__u32 kind)
{
	return index_below(&kind, KIND_COUNT) ? kind_marks[kind] : 0;
}

/* Return true if @kind is NetQuake's game traffic: see KIND_NETQUAKE. */
static __always_inline bool kind_is_netquake(enum wire_kind kind)
{
	return kind_marks_of(kind) & KIND_NETQUAKE;
}

/*
 * Return the sequence of the server's game datagram in @p; 0: too short. Called by
 * sequence_restarts() and sequence_note() alone; the field of struct player with this
 * name is what sequence_note() keeps. The highest bit of a little-endian sequence is
 * cleared as in netchan_head(), and in Quake II the next by the caller, since
 * acknowledgements are compared with the result.
 */
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
 * Return true if an unreliable datagram of NetQuake is of another connection than those
 * before: servers count them from 0, and never back. Then what was learned belongs to a
 * connection that has ended. Called by player_confirm() alone, for KIND_NQ_UNRELIABLE and
 * before clock_note(), which notes the sequence. On true player_confirm() enters the
 * player anew, and all that was learned is lost.
 */
static __always_inline bool sequence_restarts(const struct player *player,
					      const struct packet *p)
{
	__u32 sequence = sent_sequence(KIND_NQ_UNRELIABLE, p);

	return player->flags & PLAYER_CLOCKS &&
	       (__s32)(sequence - player->updates_sent) < 0;
}

/*
 * Note the server's clock in a NetQuake update, which a client's moves return:
 * clock_verify(). Returns the marked clock that clock_write() is to write in its place.
 * Returns 0 if the clock stays as it is, since the player's moves are known. Called by
 * player_confirm() alone, for KIND_NQ_UNRELIABLE, after the player was found or entered.
 * The first clock sets PLAYER_CLOCKS, also where none is marked. The clock that leaves
 * must equal the one that clock_verify() expects: clock_marked() of the same player and
 * clock.
 */
static __always_inline __u32 clock_note(const struct player_id *id, struct player *player,
					const struct packet *p)
{
	struct cursor c = packet_payload(p);
	const __u8 *head = cursor_take(&c, 13);
	__u32 clock, marked, mask;

	if (!head)
		return 0;
	if (head[8] == SVC_TIME && !(player->flags & PLAYER_CLOCKS)) {
		player->flags |= PLAYER_CLOCKS;
		player->proofs = 0;
		player->heard_sequence = 0;
		player->clock_latest = 0x7fffffff;
	}
	if (!(player->flags & PLAYER_CLOCKS))
		return 0;
	player->updates_sent = bpf_ntohl(load_u32(head + 4));
	if ((player->flags & (PLAYER_SEQUENCE | PLAYER_TAKEN)) == PLAYER_SEQUENCE ||
	    head[8] != SVC_TIME)
		return 0;
	clock = load_u32(head + 9);
	marked = clock_marked(id->word[0], id->word[1], id->word[2], clock);
	if (player->flags & PLAYER_TAKEN) {
		if (!marked)
			return 0;
		/*
		 * It was verified while no clock was marked (PLAYER_TAKEN): now it must
		 * return marks.
		 */
		player->flags &= ~(PLAYER_TAKEN | PLAYER_VERIFIED | PLAYER_SEQUENCE);
		player->proofs = 0;
		player->clock_latest = 0x7fffffff;
	}
	mask = marked ? clock_mask(clock) : 0;
	/*
	 * The mark's bits are set, so that a wrong guess is not taken for a later clock.
	 */
	clock |= mask;
	/*
	 * The first clock, or the clock of the next level begins anew. Earlier ones had
	 * no mark.
	 */
	if ((__s32)clock < (__s32)player->clock_latest)
		player->clock_named = (clock & ~mask) - 1;
	player->clock_latest = clock;
	return marked;
}

/*
 * Note how far the server's sequence is. Returns true if this is a block of a NetQuake
 * level that may pass beyond the amplification limit: netquake_signs_on(). Called by
 * player_confirm() alone, for game traffic other than KIND_NQ_ACK, KIND_NQ_UNRELIABLE and
 * KIND_DTLS_DATA. Outside of NetQuake sent_sequence must not move back: ack_in_window()
 * could refuse the player's acknowledgements. With PLAYER_CLOCKS a block notes nothing:
 * updates_sent has the place.
 */
static __always_inline bool sequence_note(const struct live *l, struct player *player,
					  enum wire_family family, enum wire_kind kind,
					  const struct packet *p)
{
	__u32 sequence = sent_sequence(kind, p);
	bool signs_on = false;

	if (kind == KIND_NQ_RELIABLE) {
		signs_on = !(player->flags & PLAYER_VERIFIED) &&
			   !l->amplification.strict &&
			   netquake_signs_on(player, sequence);
		if (!(player->flags & PLAYER_CLOCKS))
			player->sent_sequence = sequence;
		return signs_on;
	}
	if (family == FAMILY_QUAKE2)
		sequence &= 0x3fffffff;
	if ((__s32)(sequence - player->sent_sequence) > 0)
		player->sent_sequence = sequence;
	return false;
}

/*
 * Enter a new player of these words with @flags. Returns its index, or PLAYERS_MAX: no
 * room (include/players.h). Analysed once by the verifier. Called by player_new() alone.
 * Decides here alone whether the daemon follows the player. No other function of the
 * programs may call players_enter().
 */
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

/*
 * Enter @id and return its entry. NULL: no room; its datagrams are then limited as an
 * unvalidated client's, and the server's to it are charged. @flags: of flags_new().
 * Called by player_confirm() alone. An entry that exists is overwritten: call it only if
 * nothing that was learned counts any more.
 */
static __always_inline struct player *
player_new(struct live *l, const struct player_id *id, __u64 now, __u8 flags)
{
	struct player_cell *cell = player_cell(l, player_enter(id->word[0], id->word[1],
							       id->word[2], now, flags));

	return cell ? &cell->player : NULL;
}

/*
 * Return the flags of a player that is entered for a datagram of @kind, which has
 * KIND_ACCEPTS, KIND_GAME or KIND_NETQUAKE. PLAYER_VERIFIED may be set only for a kind
 * that a server sends after a challenge has returned. Other rules trust the flag, too:
 * connlimit_note(), detect_kind() and, in userland, know_player(), which makes the
 * address a known client's. Called by player_confirm() alone. kind_transport() must
 * return the same PLAYER_NETQUAKE or PLAYER_RECORDS for what the client sends.
 */
static __always_inline __u8 flags_new(enum wire_kind kind)
{
	if (kind_is_netquake(kind))
		return PLAYER_NETQUAKE;
	if (kind == KIND_ACCEPT || kind == KIND_NQ_ENCRYPTED)
		return PLAYER_NETQUAKE | PLAYER_VERIFIED;
	if (kind == KIND_DTLS_DATA || kind_marks_of(kind) & KIND_FINISHES)
		return PLAYER_RECORDS | PLAYER_VERIFIED;
	return PLAYER_VERIFIED;
}

/*
 * Note the address of @player when the server sends to it, for player_address_check().
 * The function notes no player with DTLS, and no NetQuake player if its moves are not
 * known or it was silent for NETQUAKE_HEARD_NS. Called by player_confirm() alone, for
 * each datagram to a player, so it must write seldom: player_address_note() writes about
 * once per second.
 */
static __always_inline void player_note(const struct player_id *id,
					const struct player *player, __u64 now)
{
	__u32 what = 0;

	if (player->flags & PLAYER_SEQUENCE)
		what = (__s64)(now - player->heard_ns) < NETQUAKE_HEARD_NS
			       ? ADDRESS_NETQUAKE
			       : 0;
	else if (!(player->flags & (PLAYER_NETQUAKE | PLAYER_RECORDS)))
		what = ADDRESS_LITTLE;
	if (what)
		player_address_note(id->word[0], id->word[1], id->word[2], what);
}

/*
 * Note what follows from an acceptance: the challenge (Quake III), and the qport of the
 * client's connect. Called by player_confirm() alone, last, of KIND_ACCEPTS, after the
 * player was entered, up to REACCEPT_NS before: servers repeat an acceptance, and what
 * was learned from it since must stay, unless new keys begin. The challenge must come
 * from the server's own datagram; connect_recall() decides how far the qport of the
 * client's connect is trusted.
 */
static __always_inline void player_accept(struct __sk_buff *ctx,
					  const struct player_id *id,
					  struct player *player, enum wire_family family,
					  enum wire_kind kind, const struct packet *p)
{
	/* New keys: the numbers of its records begin anew. */
	if (kind_marks_of(kind) & KIND_FINISHES) {
		player->flags &= ~PLAYER_QPORT;
		player->proofs = 0;
	}
	if (family == FAMILY_QUAKE3 && kind == KIND_CONNECTRESPONSE && p->length > 20) {
		player->challenge = decimal_at(ctx, p->payload, 20);
		if (player->challenge)
			player->flags |= PLAYER_CHALLENGE;
	}
	if (kind == KIND_CONNECTRESPONSE || kind == KIND_CLIENT_CONNECT ||
	    kind == KIND_S2C_CONNECTION)
		connect_recall(id->word[0], id->word[1], id->word[2], family);
}

/*
 * Keep the table of players in step with a datagram from the server. Returns true for
 * game traffic, or a chunk of a QuakeWorld download, to a verified player: then the
 * caller must not charge it. An acceptance returns false. *@ret_followed: the daemon
 * follows the receiver. *@ret_signs_on: this is a block of a NetQuake level that may pass
 * beyond the amplification limit. *@ret_clock: as of clock_note(). All three are 0
 * before, and mostly stay. @marks: of @kind. Called by egress_admit() alone, first, with
 * a parsed @p. Keep the order: spoke_ns is read before player_new() and sent_ns overwrite
 * the time for connlimit_note(), and clock_note() must see the entry of this connection.
 * egress_admit() and shield_out() know the chunk by its kind, too.
 */
static __always_inline bool player_confirm(struct __sk_buff *ctx, struct live *l,
					   __u32 slot, enum wire_family family,
					   enum wire_kind kind, __u32 marks,
					   const struct packet *p, bool *ret_followed,
					   __u32 *ret_signs_on, __u32 *ret_clock)
{
	bool accepts = marks & KIND_ACCEPTS;
	bool game = marks & (KIND_GAME | KIND_NETQUAKE);
	struct player_id id;
	struct player *player;
	__u64 now, spoke_ns;

	if (!(marks & (KIND_ACCEPTS | KIND_GAME | KIND_NETQUAKE)) &&
	    kind != KIND_QW_CHUNK)
		return false;
	now = clock_now(l);
	packet_player(p, RECEIVER, slot, &id);
	player = player_find(l, &id);
	/* A part of a download beside the game, which players alone ask for. */
	if (kind == KIND_QW_CHUNK)
		return player && player_alive(player, now) &&
		       player->flags & PLAYER_VERIFIED;
	spoke_ns = player && player_alive(player, now) ? player->sent_ns : 0;
	/*
	 * Accepted again, or back after a long silence: nothing that was learned counts.
	 */
	if (!player || !player_alive(player, now) ||
	    (accepts && (__s64)(now - player->since_ns) > (__s64)REACCEPT_NS) ||
	    (kind == KIND_NQ_UNRELIABLE && sequence_restarts(player, p)))
		player = player_new(l, &id, now, flags_new(kind));
	if (!player)
		return false;

	if (kind == KIND_NQ_UNRELIABLE)
		*ret_clock = clock_note(&id, player, p);
	connlimit_note(&id, player, spoke_ns, now);
	player->sent_ns = now;
	player_note(&id, player, now);
	*ret_followed = player->flags & PLAYER_FOLLOWED;
	if (game && kind != KIND_NQ_ACK && kind != KIND_NQ_UNRELIABLE &&
	    kind != KIND_DTLS_DATA && sequence_note(l, player, family, kind, p))
		*ret_signs_on = 1;
	if (accepts)
		player_accept(ctx, &id, player, family, kind, p);
	return game && player->flags & PLAYER_VERIFIED;
}

#endif /* CONNTRACK_EGRESS_BPF_H */
