/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shield_internal.h - shared by the files of user/shield only: shield.c (programs and
 * links), its parts, and shield_maps.c (what is in the maps).
 */
#ifndef SHIELD_INTERNAL_H
#define SHIELD_INTERNAL_H

#include <limits.h>

#include "shield/shield.h"

/*
 * Every pinned map, as in bpf/maps.bpf.h.
 *	  name		type		key	value	entries; 0: by the configuration
 */
/* clang-format off */
#define SHIELD_MAPS(X)							\
	X(live,		ARRAY,		__u32,	struct live, 1)		\
	X(endpoints,	HASH,		struct endpoint, __u32, 2 * SERVICES_MAX) \
	X(allow,	LPM_TRIE,	struct cidr, struct list_entry, LIST_MAX) \
	X(deny,		LPM_TRIE,	struct cidr, struct list_entry, LIST_MAX) \
	X(prefixes,	ARRAY,		__u32,	__u64,	1 << PREFIX_BITS) \
	X(counters,	PERCPU_ARRAY,	__u32,	struct counter_row, 0)	\
	X(spilled,	ARRAY,		__u32,	struct counter_sums, 0)	\
	X(refused,	PERCPU_ARRAY,	__u32,	struct refused, 0)	\
	X(others,	PERCPU_ARRAY,	__u32,	struct counter, OTHER_COUNT) \
	X(qports,	HASH,		struct qport_key, __u16, PLAYERS_MAX) \
	X(amplification,	ARRAY,		__u32,	struct amplification_line, 1 << AMPLIFICATION_BITS) \
	X(fragments,	ARRAY,		__u32,	__u64,	1 << FRAGMENT_BITS) \
	X(follow,	LPM_TRIE,	struct cidr, struct list_entry, LIST_MAX) \
	X(samples,	RINGBUF,	struct nothing, struct nothing, SAMPLES_BYTES) \
	X(sampled,	PERCPU_ARRAY,	__u32,	struct sampled, SAMPLER_COUNT) \
	X(sample_dues,	ARRAY,		__u32,	__u64,	SAMPLER_COUNT)	\
	X(tail_calls,	PROG_ARRAY,	__u32,	__u32,	TAIL_CALLS)
/* clang-format on */

/* clang-format off */
/* The structures within these, and in what the ring buffer brings: shield_abi.c. */
#define SHIELD_PARTS(X)	\
	X(player_cell) X(player) X(player_table)	\
	X(service) X(budget) X(port)	\
	X(tables) X(amplification_limit) X(sampling)	\
	X(sample) X(cidr) X(list_entry)	\
	X(limit) X(volume) X(counter)	\
	X(refused_source) X(local_macs) X(player_address)	\
	X(player_key) X(detected) X(unjudged)	\
	X(unrun) X(owner) X(validation_state)	\
	X(cookie_secret) X(validated_table) X(validated_cell)	\
	X(host_keys) X(cache_state) X(cache_cap)	\
	X(reputation_table) X(reputation_cell) X(cache_pair)	\
	X(cache_entry) X(cache_cut) X(cookie_peer)	\
	X(recent_window)
/* clang-format on */

/* A ring buffer has neither keys nor values. */
struct nothing {
};

struct ring_buffer;

#define ABI_NAME 16 /* bytes of shield_abi(), with the NUL */

struct shield {
	char dir[PATH_MAX];
	bool dir_new; /* shield_load() has made it, or found it empty */
	bool unapplied; /* it has left it to shield_load_apply() to apply */
	__u32 applied; /* generation that this process has applied last; 0: none */
	/*
	 * Interfaces that were taken from another quakeshield: shield_abandon() gives
	 * them back. A configuration has no more.
	 */
	struct taken {
		__u32 ifindex;
		char former[sizeof(PIN_ROOT) + ABI_NAME]; /* where they were pinned */
	} taken[CONFIG_INTERFACES];
	size_t taken_count;
	int lock; /* the directory, for flock() */
	unsigned int lock_depth; /* calls of shield_lock() without shield_unlock() */
	int program; /* at the interface's ingress; -1: opened to read only */
	int egress; /* the program at its egress */
	int joined; /* the one behind @program in generic mode */
#define AS_FD(name, ...) int name;
	SHIELD_MAPS(AS_FD)
#undef AS_FD
	bool fallback; /* loaded without the programs of tail_calls */
	__u32 capacity; /* services that counters has room for */
	struct live *shared; /* the live map, in our memory */
	struct ring_buffer *ring; /* while samples are read */
	void (*each_sample)(const struct sample *sample, const void *frame,
			    void *context);
	void *sample_context;
	/* State of shield_recent_update(): last look, last move, marks at the last look.
	 */
	__u64 recent_looked_ns;
	__u64 recent_moved_ns;
	__u32 recent_marked[RECENT_TABLES][SERVICES_MAX];
	/* State of shield_demand_look(): requests at the last look, by processor, and how
	 * many come now, in 1 / SHARE_UNIT per second. */
	__u64 requests[RECENT_TABLES][CHALLENGE_USES][SERVICES_MAX];
	__u64 demand[CHALLENGE_USES][SERVICES_MAX];
	__u8 counted[SERVICES_MAX]; /* at the last look: the family, plus 1; 0: not */
	__u64 turned_ns; /* when shield_counters_turn() has returned a new number last */
	bool owners_logged[SERVICES_MAX]; /* shield_owners() has said what it knows */
};

/* --- shield_lock.c ----------------------------------------------------------- */

/* Open s->dir, and take the lock as shield_lock() does. 0 or -errno after a message. */
int shield_lock_dir(struct shield *s);

/*
 * Take the lock as shield_lock() does, but wait for 30 seconds: a start of the daemon
 * holds it while it loads. Called for changes of a list by a command.
 */
int shield_lock_for_list(struct shield *s);

/* --- shield_cache.c ---------------------------------------------------------- */

#define CACHE_BURST_NS 250000000ull /* of the bytes per second of the cache */

/*
 * Divide the part of the cache's bytes per second that is kept (CACHE_KEPT) among those
 * of @services that are under load at @now, as shield_clock() has it, or always respond
 * from the cache. One that begins to be under load has a share at once.
 */
void shield_cache_keep(struct shield *s, const struct service *services, __u64 now);

/* --- shield_shares.c --------------------------------------------------------- */

#define SHARE_UNIT (1 << 20) /* so many parts of a challenge per second */

/*
 * Find out for how many requests per second to each service a processor has sent a
 * challenge, or would have with a larger share. @past: nanoseconds since the last look;
 * 0: this is the first, which finds no rate.
 */
void shield_demand_look(struct shield *s, __u64 past);

/*
 * Divide the rate of challenges of a processor among @services by their demand, see
 * lib/fair.h. The slots of others, which send none, have the whole rate.
 */
void shield_challenge_shares(struct shield *s, const struct service *services);

/*
 * Return how many services tables are made for that a configuration of @services gets.
 */
__u32 shield_capacity(size_t services);

/*
 * Load a second instance of the programs, over maps of its own that nothing pins and no
 * interface leads to, with room for @capacity services. Its tables are empty. @fallback:
 * without the programs of tail_calls, and without a word about that: for a copy of a
 * shield that lacks them. 0 and *@ret, for shield_close(); or -errno after a message.
 */
int shield_private(__u32 capacity, bool fallback, struct shield **ret);

/* --- shield_owners.c --------------------------------------------------------- */

/* The users with sockets at the port of one service. */
struct users {
	bool some, several;
	bool spread; /* two of them at two addresses, each for its own */
	__be32 at[4]; /* of one with an address of its own; all zero: there is none */
	__u32 at_user;
	bool home, kept, root; /* one is struct owner.home, .user, root */
	__u32 one; /* as struct owner.user */
};

/* Count a socket of @user, as uid + 1, at the port of a service that @was speaks for. */
void users_note(struct users *users, const struct owner *was, __u32 user);
/* Count a socket at @address likewise. */
void users_note_at(struct users *users, const __be32 address[4], __u32 user);
/*
 * Return the user that speaks for a service next, if @was did, and @users have sockets
 * there. @now_s: of 2^30 ns, not 0.
 */
struct owner owner_choose(const struct owner *was, const struct users *users,
			  __u32 now_s);
/* Find the user that speaks for each service, and tell the egress program. Logs what is
 * new. */
void shield_owners(struct shield *shield);

/* Map live into this process's memory; fill in its keys if no process did yet. */
int shield_map_shared(struct shield *shield);
/* Unmap it again, and set shield->shared to NULL, which it may be already. */
void shield_unmap_shared(struct shield *shield);

/*
 * Make a new key for cookies in place @turn, which must hold a key that no valid cookie
 * uses any more. -EIO after a message, and the old key stays.
 */
int shield_new_secret(struct shield *shield, __u32 turn);

/*
 * Empty the logs of refused sources of the service in @slot, which is below the capacity.
 * 0 or -errno.
 */
int shield_refused_forget(const struct shield *shield, __u32 slot);

/* --- shield_abi.c ------------------------------------------------------------ */

/* Shape of a pinned map. */
struct map_row {
	const char *name;
	__u32 type; /* enum bpf_map_type */
	__u32 key_size, value_size; /* octets */
	__u32 entries; /* 0: whatever number */
};

struct bpf_map_info;

/* Return the row of SHIELD_MAPS called @name, or NULL if this version has no such map. */
const struct map_row *map_row(const char *name);

/*
 * Return true if the pinned map of @info has the type, the sizes and the capacity that
 * @row wants.
 */
bool map_fits(const struct map_row *row, const struct bpf_map_info *info);
/* Add @row to the hash that names this version's tables. */
void map_hash(const struct map_row *row, __u32 *hash);
/* Return true if a directory of that name may hold the tables of a quakeshield. */
bool abi_is_name(const char *name);

/* --- pins.c: 0 or -errno after a message ------------------------------------ */

/* Return advice against @err, to follow its text in a message; "": none is known. */
const char *pins_hint(int err);
/* Mount a BPF file system at /sys/fs/bpf, if there is none. */
int pins_mount(void);
/* Create @path and its parents; it must be on a BPF file system. *@ret_new: it was not
 * there. */
int pins_make_dir(const char *path, bool *ret_new);
/* Write @pin_dir, or if that is NULL the default directory of this ABI, to @ret. */
int pins_default_dir(const char *pin_dir, char *ret, size_t size);
/*
 * Open a directory of pins that pins_check() takes. Returns its descriptor, or -errno
 * after a message; -ENOENT: there is none, without a message. Called by shield_open().
 */
int pins_open_dir(const char *path);
/* Write "@dir/@name" to @ret. 0, or -ENAMETOOLONG after a message. */
int pin_path(char *ret, size_t size, const char *dir, const char *name);
/* Pin @fd as @dir/@name, in place of what is pinned there, in one step. */
int pin_replace(int fd, const char *dir, const char *name);
/* Open @dir/@name. Returns a descriptor, or -errno without a message. */
int pin_open(const char *dir, const char *name);
/*
 * Open the map of @row that is pinned in @dir. Returns a descriptor, -EMEDIUMTYPE if it
 * is of another version, or another -errno.
 */
int map_open(const char *dir, const struct map_row *row);
/* Log what that error of map_open() means. */
void map_explain(const char *dir, const struct map_row *row, int err);
/*
 * Call @each with the directory of every ABI, ours included, until it returns non-zero,
 * which is returned; -errno without a message: it cannot be read. A directory that
 * pins_check() does not take is left out after a message, so that it does not keep a
 * start from protecting.
 */
int pins_each_dir(int (*each)(const char *dir, void *context), void *context);
/*
 * Return 0 if pins_check() takes @pin_dir, or where that is NULL, PIN_ROOT and each
 * directory that pins_each_dir() would visit; otherwise -EACCES after a message, or
 * another -errno.
 */
int pins_check_all(const char *pin_dir);
/* The subdirectory of a directory that --pin names: shield_serve.c. */
#define SERVE_DIR "daemon"
/* Return true if @dir is empty but for SERVE_DIR. */
bool pins_none(const char *dir);
/* Unlink every pin in @dir, then @dir. */
void pins_remove_dir(const char *dir);

struct bpf_link_info;

/*
 * Call @each with every link pinned in @pin_dir (NULL: in every ABI's directory, ours and
 * older ones, but those of another network namespace) until it returns non-zero, which is
 * returned; -errno: it cannot be read. @each may unlink that pin, and must not close @fd.
 */
int each_link(const char *pin_dir,
	      int (*each)(const char *dir, const char *name, int fd,
			  const struct bpf_link_info *info, void *context),
	      void *context);

/*
 * Give every link pinned in @dir the name that its interface has now. Called before links
 * are exchanged, made or released by name: two interfaces may have each other's names,
 * and a pin that replaces another's detaches that one. 0 or -errno after a message.
 */
int links_rename(const char *dir);

/*
 * Give a link back to the quakeshield in @dir, which is not ours: its program is that
 * pinned there as @program again, and its pin is @name there. False: the program or the
 * pin stays ours, for instance since the former program is not pinned. Called after an
 * upgrade that failed, and after links_rename(@dir), so that no other link has the name.
 */
bool link_give_back(const struct shield *shield, const char *dir, const char *name,
		    const char *program);

/* --- netns.c ------------------------------------------------------------------- */

/*
 * Return true if the links pinned in @dir are of another network namespace than this
 * process's. A directory without a note, as older quakeshields leave it, is of this one.
 */
bool netns_is_other(const char *dir);
/*
 * Note that the links pinned in @dir are of this network namespace. The caller holds the
 * directory's lock. 0 or -errno after a message.
 */
int netns_note(const char *dir);

/* --- attach_tc.c --------------------------------------------------------------- */

enum tc_side {
	TC_OUT, /* shield_out */
	TC_IN, /* shield_joined: behind a program in generic mode */
};

/* Attach or exchange the program of that side: 0 or -errno after a message. */
int tc_attach(struct shield *shield, enum tc_side side, const char *interface,
	      __u32 ifindex);

/*
 * Detach the program of that side: its pinned link, and a filter of ours. A missing one
 * is no error.
 */
void tc_detach(struct shield *shield, enum tc_side side, const char *interface,
	       __u32 ifindex);
/* Do what link_give_back() does for that side, whether link or clsact filter. */
bool tc_give_back(struct shield *shield, enum tc_side side, const char *interface,
		  __u32 ifindex, const char *dir);

/*
 * Detach the program of that side where it is a clsact filter; a link goes with its pin.
 */
void tc_detach_filter(enum tc_side side, __u32 ifindex);

/*
 * Return true if our program of that side is on the interface. @dir: where it, or its
 * link, is pinned.
 */
bool tc_is_ours(const char *dir, enum tc_side side, const char *interface, __u32 ifindex);

/* --- attach_look.c ------------------------------------------------- */

/*
 * Return the mode of the XDP program on the interface; MODE_NATIVE too where there is
 * none.
 */
enum attach_mode mode_on(__u32 ifindex);
/* Return true if an interface is attached by a link that is pinned in @dir. */
bool dir_attached(const char *dir);

/* --- attach_xdp.c -------------------------------------------------- */

/*
 * Make the directory of @shield one of this network namespace. 0; -EBUSY after a message:
 * interfaces of another namespace are attached from there, or from the directory of an
 * older quakeshield that this one would replace; or another -errno. Called by
 * shield_load(), under the lock, before it changes anything.
 */
int netns_claim(struct shield *shield);

/* --- shield_migrate.c ------------------------------------------------------------ */

struct btf;

/* Pin @btf, of the object that made the tables, beside them: for migrate_games() of
 * another version. 0 or -errno. */
int types_pin(const struct shield *shield, const struct btf *btf);
/*
 * Take over the runtime list entries of older tables that are in use, or that wait for an
 * interface if @shield's are new, before a configuration is applied; migrate_games()
 * follows after that. @ours: the types of our own tables. An unreadable table is logged
 * and left. 0 or -errno.
 */
int migrate_lists(struct shield *shield, const struct btf *ours);

/*
 * Take over the players and game ports of the older tables, after a configuration was
 * applied: services are matched by name. 0 or -errno.
 */
int migrate_games(struct shield *shield, const struct btf *ours);

/* --- the maps' contents ---------------------------------------------------------- */

/* Do what shield_apply() does, for a caller that holds the lock. */
int shield_apply_locked(struct shield *shield, const struct config *config);
/*
 * Forget the players of the service in @slot, and their qports. A player in the game is
 * entered again by the server's next datagram to it.
 */
void shield_forget_players(const struct shield *shield, __u32 slot);
/* Forget the players and limits of @slot, which gets another service. */
void shield_forget_slot(const struct shield *shield, __u32 slot);
/* The entries that a configuration has changed, in that order. */
struct list_changes {
	struct list_change {
		enum list list;
		struct cidr cidr;
		struct list_entry was; /* without origins: it was not there */
	} * rows; /* the caller of shield_list_apply() frees them */
	size_t count, room;
};

/*
 * Make the entries of @list that the configuration owns those of @want, no others, and
 * @unlimited those of which that is true (NULL: none). Adds what it changes to @changes,
 * also if it fails. The caller holds the lock. 0 or -errno.
 */
int shield_list_apply(struct shield *shield, enum list list, const struct cidr *want,
		      const bool *unlimited, size_t count, struct list_changes *changes);
/*
 * Undo @changes: the configuration was not applied. The caller holds the lock since the
 * changes were made, so there is room for what was there.
 */
void shield_lists_undo(struct shield *shield, struct list_changes *changes);
/*
 * Remove all runtime entries of @list, which is of tables that were not in use: those of
 * the tables in use are the ones that an operator has changed since. The caller holds the
 * lock. 0 or -ENOMEM.
 */
int shield_list_forget(struct shield *shield, enum list list);
/*
 * Add the runtime terms of @theirs to the entry of @cidr. After the last one call
 * shield_list_migrated().
 */
int shield_list_migrate(struct shield *shield, enum list list, const struct cidr *cidr,
			const struct list_entry *theirs);
/* Remove players that have left, and qports that lead to none. */
void shield_players_sweep(struct shield *shield);
/* Remove runtime entries that have ended. */
void shield_lists_expire(struct shield *shield);

/*
 * Tell the programs which parts of @list are in use, after all entries were added by
 * shield_list_migrate().
 */
void shield_list_migrated(struct shield *shield, enum list list);

#endif /* SHIELD_INTERNAL_H */
