/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conntrack.bpf.h - find a player's entry, read the fields of its datagrams, and learn
 * what only that player sends: its qport, its sequence, its checksum.
 *
 * Entries are made by the egress program alone (conntrack_egress.bpf.h), so no flood can
 * fill the table. A datagram in a player's name must also match what only that player
 * knows (sequence.bpf.h); one that does not is dropped.
 *
 * Called by conntrack_ingress.bpf.h for what the slow path decides. Egress calls the
 * look-ups too (player_confirm(), detect_kind()). The fast path calls player_first(),
 * player_record(), may_have_moved() and may_have_narrow(), and learns nothing.
 *
 * Locking: none. The datagrams of one peer mostly come to one CPU. Where they do not, a
 * lost race loses one step of learning, or lets one datagram more through a limit.
 *
 * The functions from qport_learn() to player_record() are called after a look-up of a
 * player that is alive (player_alive()), on ingress alone. The datagrams of every player
 * pay for player_first() and player_record().
 */
#ifndef CONNTRACK_BPF_H
#define CONNTRACK_BPF_H

#include "classify.h"
#include "service.bpf.h"
#include "sequence.bpf.h"
#include "players.h"

#define AGREED_QPORT	8 /* agreeing datagrams after the first; then it is enforced */
#define AGREED_CONNECT	2 /* the same for a qport that an unproved connect named */
#define AGREED_CHECKSUM 16 /* valid checksums, then one is demanded */

/*
 * Limit of one player: more than any client sends (250 frames per second, each sent three
 * times). A constant to the programs; the benchmark sets another before it loads them.
 * docs/explain/ and docs/howto/tune-limits.md name the 800 per second and 400 at once.
 */
const volatile struct limit player_limit = { 1000000000ull / 800,
					     400 * (1000000000ull / 800) };

/*
 * Read a Quake II datagram, which may end after its acknowledgement: the qport has 16
 * bits, 8 or none. False: too short. Called by netchan_read() alone. The fields must be
 * those that netchan_head() reads from a whole header, which the fast path uses.
 */
static __always_inline bool netchan_read_q2(struct cursor c, struct netchan *ret)
{
	const __u8 *head = cursor_take(&c, 10);

	if (head) {
		netchan_head(FAMILY_QUAKE2, head, ret);
		return true;
	}
	head = cursor_take(&c, 8);
	if (!head)
		return false;
	ret->sequence = load_u32(head) & 0x3fffffff;
	ret->ack = load_u32(head + 4) & 0x3fffffff;
	head = cursor_take(&c, 1);
	ret->qport = head ? *head : 0;
	return true;
}

/*
 * Read a DTLS record, its epoch as the qport, or a sequence of FAMILY_AUTO with unknown
 * flag bits, which has no qport. False: too short. Called by netchan_read() alone. The
 * fast path has no counterpart: game_kind() leaves these datagrams to the slow path.
 */
static __always_inline bool netchan_read_auto(enum wire_kind kind, struct cursor c,
					      struct netchan *ret)
{
	const __u8 *head;

	if (kind != KIND_DTLS_DATA) {
		head = cursor_take(&c, 4);
		if (head)
			ret->sequence = load_u32(head) & 0x3fffffff;
		return head;
	}
	/* type, version 2, epoch 2, number 6: of which the lower 4 */
	head = cursor_take(&c, 11);
	if (!head)
		return false;
	ret->qport = load_be16(head + 3);
	ret->sequence = bpf_ntohl(load_u32(head + 7));
	return true;
}

/*
 * Read the fields of a payload into *@ret, which is zero or of the same payload: a field
 * that the protocol lacks stays. @family: of match_family(), or a service's that is
 * family_is_little(). False: too short. Called by player_decide() and player_admit() on
 * the slow path. It must read what netchan_head() reads on the fast path.
 */
static __always_inline bool netchan_read(enum wire_family family, enum wire_kind kind,
					 struct cursor c, struct netchan *ret)
{
	const __u8 *head;

	/*
	 * Separate calls, since Linux 6.1's verifier does not relate the family to the
	 * bytes that were compared.
	 */
	if (family == FAMILY_QUAKE2)
		return netchan_read_q2(c, ret);
	if (family == FAMILY_NETQUAKE) {
		head = cursor_take(&c, 8);
		if (head)
			netchan_head(FAMILY_NETQUAKE, head, ret);
		return head;
	}
	if (!family_is_little(family))
		return netchan_read_auto(kind, c, ret);
	head = cursor_take(&c, 10);
	if (head)
		netchan_head(family, head, ret);
	return head;
}

/* --- learning ---------------------------------------------------------------- */

/*
 * Learn the qport from one more datagram. The first is noted. It is enforced
 * (PLAYER_QPORT) after AGREED_QPORT more with the same qport, each 1 to 63 ahead of the
 * one before; another qport, or one that is late or further ahead, begins the count anew.
 * A repeated sequence must not count, or one spoofed datagram sent eight times would set
 * the qport. Called by player_learn() alone, before PLAYER_QPORT is set. @n->qport: in
 * Quake II masked, by player_learn_field(). The caller must call player_record() with
 * @settled false next: it notes the sequence that is compared here. connect_recall()
 * begins the count at AGREED_QPORT - AGREED_CONNECT, with the qport of a connect.
 */
static __always_inline void qport_learn(struct player *player, const struct netchan *n)
{
	if (player->qport != n->qport) {
		player->qport = n->qport;
		player->proofs = 0;
	} else if (n->sequence == player->heard_sequence) {
		return;
	} else if (n->sequence - player->heard_sequence >= 64) {
		player->proofs = 0;
	} else if (++player->proofs >= AGREED_QPORT) {
		player->flags |= PLAYER_QPORT;
		player->proofs = 0;
	}
}

/*
 * Learn that the player sends checksums, from one more datagram that has a valid one.
 * OpenArena announces protocol 71 and sends none; so the checksum is demanded only after
 * AGREED_CHECKSUM valid ones (by chance: 2^-32 each). Sequence 1 does not count, since
 * its checksum is 0 for every challenge. Called by player_learn() alone, after
 * PLAYER_QPORT is set, for a near sequence: q3_match() alone returns MATCH_LEARNS for
 * one. Enforcing the checksum too early drops all datagrams of a client that sends none.
 */
static __always_inline void checksum_learn(struct player *player, const struct netchan *n)
{
	if (n->sequence > 1 && ++player->proofs >= AGREED_CHECKSUM) {
		player->flags |= PLAYER_CHECKSUM;
		player->proofs = 0;
	}
}

/*
 * Learn that a stream goes on at @sequence, which is far from its highest. False: the
 * first such datagram, which is noted in @player->jumped; drop it. True: it is 1 to
 * SEQUENCE_NEAR ahead of the noted one. If @sequence is behind, the stream begins anew
 * there; ahead, player_record() moves it there. Called by player_learn(), player_follow()
 * and netquake_learn(); in NetQuake only with PLAYER_SEQUENCE, since clock_latest has the
 * same place before. One datagram must never move the stream: an attacker that spoofs one
 * could end the player's game.
 */
static __always_inline bool gap_learn(struct player *player, __u32 sequence)
{
	if (!player->jumped || sequence - player->jumped - 1 >= SEQUENCE_NEAR) {
		player->jumped = sequence;
		return false;
	}
	player->jumped = 0;
	if (sequence_ahead(player, sequence) < 0)
		player->heard_sequence = sequence;
	return true;
}

/*
 * Learn from @n, of which player_match() said MATCH_LEARNS. False: drop it. True: the
 * limit is not charged yet; call player_record(). Called by player_learn_field() alone.
 * @n is not of NetQuake, and the qport of Quake II is masked. If PLAYER_QPORT is new the
 * caller calls player_index() too, or a change of port is not followed.
 *
 * At most one thing may be learned from a datagram. Near means what it means in
 * sequence_check(): with the qport known, a near sequence comes here from q3_match()
 * alone, with a valid checksum, and counts as one.
 */
static __always_inline bool player_learn(struct player *player, const struct netchan *n)
{
	if (!(player->flags & PLAYER_QPORT))
		qport_learn(player, n);
	else if (!sequence_near(sequence_ahead(player, n->sequence)))
		return gap_learn(player, n->sequence);
	else
		checksum_learn(player, n);
	return true;
}

/*
 * Take @cost_ns from the limit with state *@due_ns. False: exceeded, and nothing changes.
 * No compare-and-swap: the datagrams of a peer mostly come to one CPU, and elsewhere two
 * at the same moment count as one. Called by player_record(), player_follow() and
 * netquake_spoofable().
 */
static __always_inline bool player_take(__u64 *due_ns, __u64 cost_ns, __u64 burst_ns,
					__u64 now)
{
	__u64 due = *(volatile __u64 *)due_ns;

	due = (due > now ? due : now) + cost_ns;
	if (due > now + burst_ns)
		return false;
	*(volatile __u64 *)due_ns = due;
	return true;
}

/*
 * Count a datagram of the player, charge its limit, and move its stream to @sequence.
 * @settled: the sequence matched; false while the qport is learned: any source could have
 * sent it, and the stream takes it as it is. A datagram 2 to SEQUENCE_NEAR ahead costs as
 * much as those between, so that nothing carries the stream away faster than the limit.
 * Returns REASON_PLAYER, or REASON_PLAYER_LIMIT: then nothing changes. Called by
 * player_learn_field(), player_decide(), netquake_learn() and, on the fast path,
 * fast_path_player(): both paths must charge the same. The fast path calls it before it
 * counts, and leaves a refused datagram to the slow path.
 */
static __always_inline enum reason player_record(struct player *player, __u32 sequence,
						 bool settled, __u64 now)
{
	__s32 ahead = sequence_ahead(player, sequence);
	__u64 cost = player_limit.cost_ns;

	if (unlikely((__u32)(ahead - 2) <= SEQUENCE_NEAR - 2))
		cost *= ahead;
	if (!player_take(&player->due_ns, cost, player_limit.burst_ns, now))
		return REASON_PLAYER_LIMIT;
	if (!settled || ahead > 0)
		player->heard_sequence = sequence;
	player->heard_ns = now;
	player->packets++;
	return REASON_PLAYER;
}

/* --- the table --------------------------------------------------------------- */

/*
 * Return the index of the player of these words in its table, or PLAYERS_MAX. Searches
 * all cells of the bucket; analysed once by the verifier. Called by player_find() alone,
 * if the first cell with the tag is another player's. Changes nothing.
 */
__noinline int player_search(__u64 first, __u64 second, __u64 third)
{
	struct player_id id = { { first, second, third } };

	return players_find(&live.players, &id, live.keys);
}

/*
 * Return cell @at of the table, or NULL if @at is not below PLAYERS_MAX. Called by
 * player_first(), player_find() and player_moved(), and at egress by player_new() and
 * connect_recall(), with an index of players_find(), players_enter() or a tag. The
 * comparison must stand right before the address, for the verifier.
 */
static __always_inline struct player_cell *player_cell(struct live *l, __u32 at)
{
	struct player_cell *cell;

	if (!index_below(&at, PLAYERS_MAX))
		return NULL;
	cell = &l->players.cells[at];
	once_here(cell);
	__builtin_assume(cell);
	return cell;
}

/*
 * Return the first cell with the tag of @id, which is mostly the right one: the caller
 * must check it with cell_is(), and on false use player_find() or leave the datagram to
 * the slow path. NULL: @id is surely not in the table. Called by player_find() and, on
 * the fast path, by is_no_player() and fast_path_player(). It must touch one word for a
 * source that is no player: each datagram of a flood of game traffic pays for it.
 */
static __always_inline struct player_cell *player_first(struct live *l,
							const struct player_id *id)
{
	__u64 hash = players_hash(id, l->keys);
	__u32 at = players_bucket(hash);
	__u64 flags = tags_like(l->players.tags[at], players_tag(hash));

	if (!flags)
		return NULL;
	return player_cell(l, at * PLAYER_WAYS + lowest_byte(flags));
}

/*
 * Return the player @id, which may have left (player_alive()), or NULL if it is not in
 * the table. Changes nothing. Called by player_admit(), player_followed() and
 * connlimit_refuse() on ingress, and by player_confirm() and detect_kind() at egress;
 * each checks player_alive() before it trusts the entry. It must find what
 * players_enter() entered, and must be NULL where player_first() is: is_no_player() and
 * fast_path_player() rely on that.
 */
static __always_inline struct player *player_find(struct live *l,
						  const struct player_id *id)
{
	struct player_cell *cell = player_first(l, id);

	if (cell && !cell_is(cell, id))
		cell = player_cell(l,
				   player_search(id->word[0], id->word[1], id->word[2]));
	return cell ? &cell->player : NULL;
}

/*
 * Make the name of the client at @peer's end of @p, for the service in @slot. Called with
 * a parsed @p by each look-up of a player, a connect, a list entry or a validated client
 * that has a struct packet: SENDER on ingress, RECEIVER at egress (keys_place() names a
 * server by SENDER). plain_player() must make the same words on the fast path, and the
 * daemon the same struct player_key.
 */
static __always_inline void packet_player(const struct packet *p, enum side peer,
					  __u32 slot, struct player_id *ret)
{
	const __u8 *at = p->start + (p->addresses & OFFSET_MASK);

	ret->word[0] = 0;
	ret->word[1] = PLAYER_WORD_IPV4;
	ret->word[2] = PLAYER_WORD_HERE | slot << 16 | packet_port(p, peer);
	/* The parser has compared them; the verifier does not know. */
	if (p->ipv6) {
		if (at + 32 > p->end)
			return;
		at += peer == SENDER ? 0 : 16;
		ret->word[0] = load_u64(at);
		ret->word[1] = load_u64(at + 8);
	} else {
		if (at + 8 > p->end)
			return;
		ret->word[1] |= (__u64)load_u32(at + (peer == SENDER ? 0 : 4)) << 32;
	}
}

/* --- port changes ------------------------------------------------------------ */

/*
 * Make the key in the map qports of a player at the address and service of @id. @narrow:
 * 0, or QPORT_NARROW. Called by player_by_qport() and player_index(). migrate_qport()
 * makes the same key, and forget_qport() removes entries by it (user/shield).
 */
static __always_inline void qport_key(const struct player_id *id, __u16 qport,
				      __u16 narrow, struct qport_key *ret)
{
	__builtin_memcpy(ret->addr, id->word, sizeof(ret->addr));
	ret->qport = qport;
	ret->slot = id->word[2] >> 16 | narrow;
}

/*
 * Return the index of the player that has @qport at the address of @id, whatever its
 * port, or PLAYERS_MAX. The map may be out of date: moved_match() compares the qport
 * again. Called by player_search_qport() alone. The load from struct live.moved must stay
 * first: it spares nearly all datagrams the look-up in the map.
 */
static __always_inline __u32 player_by_qport(struct live *l, const struct player_id *id,
					     __u16 qport, __u16 narrow)
{
	struct player_id other = *id;
	struct qport_key by;
	__u16 *port;

	if (!l->moved[qport_cell(id, qport, narrow, l->keys)])
		return PLAYERS_MAX;
	qport_key(id, qport, narrow, &by);
	port = bpf_map_lookup_elem(&qports, &by);
	if (!port)
		return PLAYERS_MAX;
	other.word[2] = (other.word[2] & ~0xffffull) | *port;
	return players_find(&l->players, &other, l->keys);
}

/*
 * player_by_qport() of a qport of 16 bits, or else, if @narrow, of its lower 8. Analysed
 * once by the verifier. Called by player_moved() alone. Changes nothing. may_have_qport()
 * must look at the same counts.
 */
__noinline int player_search_qport(__u64 first, __u64 second, __u64 third, __u32 qport,
				   __u32 narrow)
{
	struct player_id id = { { first, second, third } };
	__u32 at = player_by_qport(&live, &id, qport, 0);

	if (at == PLAYERS_MAX && narrow)
		at = player_by_qport(&live, &id, qport & 0xff, QPORT_NARROW);
	return at;
}

/*
 * Return the player at the address of @id that has the qport of @n, and another port;
 * NULL: none. Servers of Quake III, QuakeWorld and Quake II follow a qport to its new
 * port; egress will then enter that. Called by player_admit() alone, for game traffic
 * that belongs to no player at its port and begins with a sequence. The caller must ask
 * player_alive(), then player_follow(). may_have_qport() on the fast path must be true
 * whenever this finds a player.
 */
static __always_inline struct player *player_moved(struct live *l,
						   const struct player_id *id,
						   enum wire_family family,
						   const struct netchan *n)
{
	struct player_cell *cell;

	cell = player_cell(l, player_search_qport(id->word[0], id->word[1], id->word[2],
						  n->qport, family == FAMILY_QUAKE2));
	return cell ? &cell->player : NULL;
}

/*
 * Return true if a player at the address of @id may have @qport. True is a hint from a
 * table of counts; false is certain: player_moved() finds no player where it is false.
 * Called by may_have_moved() and may_have_narrow(), on the fast path alone.
 */
static __always_inline bool may_have_qport(const struct live *l,
					   const struct player_id *id,
					   enum wire_family family, __u16 qport)
{
	return l->moved[qport_cell(id, qport, 0, l->keys)] ||
	       (family == FAMILY_QUAKE2 &&
		l->moved[qport_cell(id, qport & 0xff, QPORT_NARROW, l->keys)]);
}

/*
 * may_have_qport() of the payload at @at: true if the port of its player may have
 * changed. Called by fast_path_player() and is_no_player(), which have compared GAME_HEAD
 * bytes at @at.
 */
static __always_inline bool may_have_moved(const struct live *l,
					   const struct player_id *id,
					   enum wire_family family, const __u8 *at)
{
	return family_is_little(family) &&
	       may_have_qport(l, id, family, load_u16(qport_at(family, at)));
}

/*
 * may_have_qport() of the player @first .. @third, of struct player_id, and a datagram of
 * Quake II that ends before its qport of 16 bits: @qport as netchan_read_q2() reads it.
 * A function of its own, since the registers of others would pay for it. Called by
 * is_no_player() alone. It must be true wherever player_moved() finds a player, which
 * looks for @qport among those of 16 bits, too.
 */
__noinline int may_have_narrow(__u64 first, __u64 second, __u64 third, __u32 qport)
{
	struct player_id id = { { first, second, third } };

	return may_have_qport(&live, &id, FAMILY_QUAKE2, qport & 0xff);
}

/*
 * Enter the qport of @player, which is known (PLAYER_QPORT), in the map qports, so that
 * the player is found when its port changes. Full: the player is not found then. Called
 * by player_learn_field() and connect_recall() when PLAYER_QPORT is set; migrate_qport()
 * does the same. An entry that exists leads to the newer port, and is not counted again:
 * forget_qport() takes one off struct live.moved for each entry that it removes. If the
 * count is too low, a player is not found after its port has changed. The key must hold
 * player->qport as it is: qport_held() (user/shield/shield_players.c) lets the daemon
 * delete an entry if its player has another qport.
 */
static __always_inline void player_index(struct live *l, const struct player_id *id,
					 enum wire_family family,
					 const struct player *player)
{
	int narrow = player_qport(family, player);
	__u16 port = id->word[2];
	struct qport_key by;
	__u32 cell;

	if (narrow == QPORT_NONE)
		return;
	qport_key(id, player->qport, narrow, &by);
	cell = qport_cell(id, player->qport, narrow, l->keys);
	if (bpf_map_update_elem(&qports, &by, &port, BPF_NOEXIST))
		bpf_map_update_elem(&qports, &by, &port, BPF_EXIST);
	else
		__sync_fetch_and_add(&l->moved[cell], 1);
}

#endif /* CONNTRACK_BPF_H */
