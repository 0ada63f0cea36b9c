/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * session.h - what the decoder remembers of one pair of addresses. Called by decode.c and
 * identify.c; a family sees only its own state block.
 *
 * A session is keyed by the unordered pair (address, port), so both directions meet. The
 * table is bounded in number and bytes. The least recently used session that was never
 * answered goes first; only when there is none, the least recently used of all. A family
 * keeps its state in a block (family.h), zeroed when handed out and counted with all that
 * it has allocated. When the bytes are needed, blocks are taken back in the same order.
 * So a source that sends to many ports pushes out its own sessions.
 */
#ifndef SESSION_H
#define SESSION_H

#include "decode/family.h"

struct session_table;

/* Two ends in a fixed order: 36 bytes that compare and hash as they are. */
struct session_key {
	uint8_t low[16];
	uint8_t high[16];
	uint16_t low_port;
	uint16_t high_port;
	uint32_t length; /* of the addresses */
};

struct session {
	struct session_key key;
	enum wire_family family; /* that owns the flow; FAMILY_AUTO: not known yet */
	enum wire_family guess; /* when not known: what a request made likely */
	bool certain; /* the server itself, or the flow's structure, said so */
	bool server_known; /* the next line means something */
	bool server_is_low; /* which end serves */
	int64_t served_ns; /* when its server spoke last */
	bool connected; /* a connect was seen: its sender is the client */
	bool foreign; /* known to be none of ours */
	bool asked_raw; /* a word was spoken that QuakeWorld may answer with one byte */
	const char *dialect; /* or NULL */
	int64_t first_ns, last_ns;
	uint64_t datagrams;
	void *state; /* the family's block, or NULL; see session_state() */
	enum wire_family state_family;
	size_t state_bytes; /* that it takes, as far as is counted */
	bool spoke[2]; /* by end, 0: the low one */
	bool forgotten; /* its state was taken back for others */
	/* State of the heuristics on headers, by sender (0: the low end). */
	uint32_t last_sequence[2];
	uint16_t seen[2];
	int16_t scores[FAMILY_COUNT];
	int16_t server_score; /* above zero: the low end serves */
	struct session *newer, *older; /* by last use */
	struct session *state_newer, *state_older;
	struct session *chain; /* in the hash table, or the free list */
	struct session_table *table;
};

/*
 * Return the state block of @s for @family, zeroed on first use. NULL: the family has
 * none, or there is no memory; then the decoder goes on without state, and the record is
 * opaque.
 */
void *session_state(struct session *s, enum wire_family family);

/*
 * Count the block again, which may have grown, and take back others if that is too much.
 */
void session_state_count(struct session *s);

/*
 * Return a table for @sessions sessions, which may take @state_bytes of state in all.
 * NULL: no memory. All of its own memory is allocated here.
 */
struct session_table *session_table_create(size_t sessions, size_t state_bytes);
/* Free the table, its sessions and their state. @table may be NULL. */
void session_table_free(struct session_table *table);

/*
 * Return the session of a datagram, new if there is none; *from_low: its sender is the
 * low end. Never NULL. May end the least recently used one.
 */
struct session *session_get(struct session_table *table,
			    const struct record_address *source,
			    const struct record_address *destination, int64_t time_ns,
			    bool *from_low);

#define SESSION_MOVED_MAX 64

/*
 * Take over the state of the session that owns @payload, if there is one among the
 * SESSION_MOVED_MAX last used with state. Call it for a new session @s and its first
 * datagram to a known server of @family: a client behind a NAT may have got another port.
 * Returns true if it took over a state.
 */
bool session_move(struct session *s, bool from_low, enum wire_family family,
		  struct span payload);

/*
 * Return the number of sessions that lost their state to others, or were ended with it.
 */
uint64_t session_table_forgotten(const struct session_table *table);

/* Return the bytes now in state blocks; for tests. */
size_t session_table_bytes(const struct session_table *table);
/* Return the number of sessions in the table; for tests. */
size_t session_table_count(const struct session_table *table);

/*
 * Single addresses known to serve, or to be clients, of some family: they outlive their
 * sessions. As many as sessions; in each set of four the oldest gives way.
 */
enum host_role {
	HOST_NONE,
	HOST_SERVER,
	HOST_CLIENT,
};

struct host {
	struct record_address address;
	enum wire_family family;
	enum host_role role;
	int64_t time_ns;
};

/*
 * Note that @address has @role in @family at @time_ns (capture time), over what was noted
 * before.
 */
void host_learn(struct session_table *table, const struct record_address *address,
		enum wire_family family, enum host_role role, int64_t time_ns);

/*
 * Return what is noted about @address, port included, or NULL. Valid until the next
 * host_learn().
 */
const struct host *host_find(const struct session_table *table,
			     const struct record_address *address);

#endif /* SESSION_H */
