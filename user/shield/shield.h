/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shield.h - the programs and maps in the kernel. Only user/shield/ includes libbpf;
 * every other room uses these functions.
 *
 * State lives in pinned objects under PIN_ROOT/<abi>/ and outlives every process:
 *
 *	PIN_ROOT/<abi>/xdp		the program at ingress
 *	PIN_ROOT/<abi>/egress		the program at egress
 *	PIN_ROOT/<abi>/joined		the one at TC ingress, in generic mode
 *	PIN_ROOT/<abi>/<map>		live, services, counters, ...
 *	PIN_ROOT/<abi>/link-<interface>	the attachment
 *	PIN_ROOT/<abi>/netns		its network namespace: netns.c
 *
 * All functions return 0 or -errno after one message by log_error(), unless said
 * otherwise. Several processes may have a shield open: functions that edit tables take
 * the directory's lock. A struct shield belongs to one thread.
 */
#ifndef SHIELD_H
#define SHIELD_H

#include <linux/types.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "counters.h"
#include "config/config.h"

#define PIN_ROOT "/sys/fs/bpf/quakeshield"

struct shield;

/*
 * Return the name of the directory for this build's tables: version and a hash of all
 * rows. A constant of the process.
 */
const char *shield_abi(void);

/* Mount /sys/fs/bpf if it is not there; the daemon's lock depends on it. */
int shield_mount(void);

/*
 * Become the one daemon of the shield in @pin_dir (NULL: the default directory). *@ret:
 * the lock, for shield_serve_end(). 0; -EBUSY after a message: another daemon, which may
 * be in a container with a /run of its own; or another -errno. Call it after
 * shield_mount().
 */
int shield_serve(const char *pin_dir, int *ret);

/*
 * Return 0, or -EBUSY after a message: a daemon serves the shield in @pin_dir (NULL: the
 * default directory). Called by `detach` when the daemon that it knows of has ended:
 * another one's pid file is in another /run.
 */
int shield_check_served(const char *pin_dir);

/* Give up *@ret of shield_serve(), before another daemon can find no pid file. */
void shield_serve_end(const char *pin_dir, int lock);

/* How long what is pinned in /sys/fs/bpf lives, if nothing detaches it. */
enum pins_life {
	PINS_MACHINE, /* until the machine stops, or nothing says otherwise */
	PINS_CONTAINER, /* until this container does: the mount was made in it */
	PINS_PROCESS, /* until this process ends: its mount namespace is its own */
};
/* Return how long the pins live. Only root can tell. */
enum pins_life shield_pins_life(void);

/*
 * Load the programs, taking over the maps already pinned in @pin_dir (NULL: the default
 * directory), or creating and pinning them there, and apply @config: of tables that are
 * in use, in shield_load_apply() only. Nothing is attached.
 * Where the default directory is new and an older quakeshield's tables are of another
 * shape, its live list entries and its players come over: see shield_migrate.c.
 */
int shield_load(const char *pin_dir, const struct config *config, struct shield **ret);

/*
 * Apply @config, the one that shield_load() got, if an attached interface was using the
 * tables then. 0, or -errno after a message. Call it as the last step of a start that can
 * fail: until then, what a daemon before has put in force stays in force.
 */
int shield_load_apply(struct shield *shield, const struct config *config);

/*
 * Return the generation of the configuration that this process has applied last, or 0. If
 * shield_generation() returns another one, another process has applied one since.
 */
__u32 shield_applied(const struct shield *shield);

/*
 * Return true if the kernel refused the programs for validation and cached responses at
 * the last shield_load() of this directory. Both are off then for every service, whatever
 * its configuration says.
 */
bool shield_fallback(const struct shield *shield);

/*
 * Open what is pinned in @pin_dir (NULL: the default directory), to read or edit. 0 and
 * *@ret, for shield_close(); -ENOENT, without a message, if there is nothing.
 */
int shield_open(const char *pin_dir, struct shield **ret);

/*
 * Close all descriptors, and free @shield, which may be NULL. Pins and attachments stay.
 */
void shield_close(struct shield *shield);

/*
 * Which quakeshield has an interface: found by the link that is pinned, whether its
 * daemon runs or not.
 */
enum holder {
	HOLDER_NONE,
	HOLDER_US, /* this directory, or, for the default one, a quakeshield before us */
	HOLDER_DEFAULT, /* the machine's quakeshield, and @pin_dir is another directory */
};

/* Bytes of such a sentence, with the NUL. */
#define SHIELD_WHY 512

/*
 * Return 0 if the quakeshield of @pin_dir (NULL: the default directory) could attach to
 * @interface, with its present holder in *@ret; -ENODEV: there is no such interface;
 * -EBUSY: it carries a foreign program; or another -errno. @ret_why: what an operator
 * should know of that, as a sentence, or "". Changes nothing, and writes no message.
 */
int shield_may_attach(const char *pin_dir, const char *interface, enum holder *ret,
		      char ret_why[SHIELD_WHY]);

/* Return the same, with the reason as a message; for -ENODEV there is none. */
int shield_check_attach(const char *pin_dir, const char *interface, enum holder *ret);

/* Return the id of the XDP program on @interface, ours or foreign; 0: none. */
__u32 shield_program_on(const char *interface);

/*
 * Return true if @interface is one end of a veth. Frames that the shield sends by it
 * arrive only if the other end has GRO on or an XDP program, or if the mode is generic.
 * False if there is no such interface.
 */
bool shield_on_veth(const char *interface);
/*
 * Return true if @interface is a veth in native mode: that of the XDP program on it,
 * since a link keeps its mode, or @mode of the configuration where there is no program.
 */
bool shield_veth_native(const char *interface, enum attach_mode mode);

/*
 * Attach to @interface, ingress and egress or neither: new links, or, where this or an
 * older quakeshield's are pinned, an exchange of their programs in one step each. Never
 * replaces a foreign program. *@ret_mode: the mode it got. 1: newly attached, 0:
 * exchanged.
 */
int shield_attach(struct shield *shield, const char *interface, enum attach_mode mode,
		  enum attach_mode *ret_mode);

/* Detach what this directory's links attach to @interface, and forget the links. */
void shield_release(struct shield *shield, const char *interface);

/*
 * Give the interfaces that shield_attach() has taken from a quakeshield of another
 * directory back to it, and remove the directory if shield_load() has made it and nothing
 * is attached from it. Called after a start that failed.
 */
void shield_abandon(struct shield *shield);

/*
 * Remove the programs and tables that a quakeshield of another version left: nothing is
 * given back to it any more. Call it when all interfaces are attached and the start
 * cannot fail any more; the state worth keeping was taken over by shield_load().
 */
void shield_retire(struct shield *shield);

/*
 * Return 0, or -EACCES or another -errno after a message: shield_detach() would fail,
 * since a directory of pins is another user's, or others may write to it. Called by
 * `detach` before it ends the daemon.
 */
int shield_check_detach(const char *pin_dir);

/* Remove every link of any ABI, then every pin. *@ret_count: how many links there were.
 */
int shield_detach(const char *pin_dir, size_t *ret_count);

/*
 * Keep other processes from loading the shield, applying a configuration and changing
 * lists, until shield_unlock(). Calls nest.
 * 0; -EWOULDBLOCK: another process has held the lock for 2 seconds; -ESTALE: the
 * directory was removed; or another -errno, after a message. Hold it from before the
 * configuration in force is read until the one that was applied is written (in_force.h):
 * else a second process applies, or writes, a configuration that the first has replaced.
 */
int shield_lock(struct shield *shield);
/* Let go of the lock, at the call that pairs with the first shield_lock(). */
void shield_unlock(struct shield *shield);

/*
 * Apply @config in one step: programs see the old or the new one, never a mixture.
 * Services keep their state if they keep their name. Takes the lock of
 * shield_lock().
 */
int shield_apply(struct shield *shield, const struct config *config);

/*
 * Return the generation number of the configuration in force: it grows by one with each
 * apply.
 */
__u32 shield_generation(const struct shield *shield);

/* --- reading ----------------------------------------------------------------- */

/* Read the service in @slot, 0 to SERVICES_MAX - 1. False: the slot is free. */
bool shield_service(const struct shield *shield, __u32 slot, struct service *ret);

/*
 * Return how many ports the service in @slot has on any address. Ports that it has on
 * some addresses only, and game ports that the programs have learned, are not counted.
 */
size_t shield_ports(const struct shield *shield, __u32 slot);

/*
 * Sum over all CPUs the counters of the service in @slot: datagrams that came for it, and
 * that it sent.
 */
int shield_counters(const struct shield *shield, __u32 slot, struct counters *ret_in,
		    struct counters *ret_out);
/*
 * Begin a look at the counters. Those of many services on many CPUs are megabytes, and
 * most of them do not change. Returns the number of this turn, which grows by one, at
 * most once a second. Called by the daemon alone, before it reads counters.
 */
__u32 shield_counters_turn(struct shield *shield);
/*
 * Return true if a counter of the service in @slot may have changed since it was read in
 * @turn. On false it has not, if no other configuration was applied since.
 */
bool shield_counters_changed(const struct shield *shield, __u32 slot, __u32 turn);

/*
 * Return how much says that the server in @slot speaks another protocol than its service:
 * words and shapes that left (a reply that ends a handshake counts twice) since the last
 * word of its own protocol; 0: nothing does. *@ret_families: a mask of 1 << enum
 * wire_family, the protocols that it may be. See include/detect.h.
 */
__u64 shield_protocol_mismatch(const struct shield *shield, __u32 slot,
			       __u32 *ret_families);
/*
 * Return how many datagrams left from the port of the service in @slot by sockets of
 * other users than its server's, *@ret_user, as uid + 1 (0: not known).
 */
__u64 shield_other_sockets(const struct shield *shield, __u32 slot, __u32 *ret_user);
/* Sum over all CPUs the frames that were for no service, by enum other. */
int shield_others(const struct shield *shield, struct counter ret[OTHER_COUNT]);

/*
 * Let the programs sample another one in REFUSED_EVERY from now on: for the daemon to
 * call once a second. Returns the refused_tick() that has begun and is not over.
 */
__u32 shield_refused_advance(struct shield *shield);
/*
 * Call @each with the sources that the programs have kept of datagrams that they refused
 * or challenged for the service in @slot, from @since on and before @until,
 * refused_tick() both. Those of more than REFUSED_KEPT periods ago are gone. 0 or -errno.
 */
int shield_refused(const struct shield *shield, __u32 slot, __u32 since, __u32 until,
		   void (*each)(enum wire_class class, const struct refused_source *from,
				void *context),
		   void *context);

/* Whether the programs see the datagrams for a service. */
enum judged {
	JUDGED_UNKNOWN, /* none has come yet, as far as this host can tell */
	JUDGED_YES,
	JUDGED_PARTLY, /* some come in by an interface without our programs */
	JUDGED_NO, /* all come in that way */
};

/*
 * Return whether the programs see the datagrams for the service in @slot, for which they
 * have counted @received; and in *@ret_interface by which other interface the rest comes
 * in, or "". A running daemon notes that (shield_unjudged_put()); without one it is not
 * known.
 */
enum judged shield_judged(const struct shield *shield, __u32 slot, __u64 received,
			  char ret_interface[IF_NAMESIZE]);
/*
 * Note that a datagram for the service in @slot came in by @ifindex, where no program
 * sees it. @all: and none came in by a protected interface lately. @ifindex 0: forget
 * the note. Called by the daemon (witness.c).
 */
void shield_unjudged_put(struct shield *shield, __u32 slot, int ifindex, bool all);

/* Where a service listens, as configured. */
struct shield_endpoint {
	__u32 slot;
	__be32 address[4]; /* all zero: any */
	__u16 port;
};
/* Fill @ret with the places of all services. Returns how many, at most @max. */
size_t shield_endpoints(const struct shield *shield, struct shield_endpoint *ret,
			size_t max);

struct shield_link {
	char interface[IF_NAMESIZE];
	bool missing; /* there is no interface of that name now */
	enum attach_mode mode; /* MODE_NATIVE or MODE_SKB; MODE_AUTO: neither any more */
	bool attached; /* all our programs are on the interface, as pinned here */
	bool ingress, egress; /* the one half, the other */
	bool down; /* the interface is down, or has no carrier */
	bool dormant; /* it waits for another program, such as an 802.1X supplicant */
	bool loopback;
	__u32 program_id; /* the XDP program on the interface; 0: none */
	time_t unrun_since; /* when the daemon saw first that frames come in by the
			       interface, and that the program does not run; 0: it runs,
			       as far as is known */
	time_t since; /* when it was attached; 0: no link of ours is pinned for it */
};
/* Return true if all our programs are on the interface, and run as far as is known. */
static inline bool shield_link_protects(const struct shield_link *link)
{
	return link->attached && !link->unrun_since;
}
/*
 * Note in the row @i, 0 to UNRUN_MAX - 1, that the interface @ifindex carries our program
 * and has not run it since @since; 0: no interface. Called by the daemon (run_check.c).
 */
void shield_unrun_put(struct shield *shield, size_t i, int ifindex, time_t since);
/* Return how many links there are; fills at most @max of @ret. */
size_t shield_links(const struct shield *shield, struct shield_link *ret, size_t max);
/*
 * Log a warning for each interface that is attached in another mode than @wanted. A link
 * has one mode: another mode takes another link, and no program would judge meanwhile.
 * Called by the daemon and `reload` when a reload changes the mode.
 */
void shield_warn_mode(const struct shield *shield, enum attach_mode wanted);
/*
 * Write to @ret the own name of the interface that @name, perhaps an alternative name, is
 * a name of now: shield_links() lists interfaces by that. @name itself if there is no
 * such interface.
 */
void shield_own_name(const char *name, char ret[IF_NAMESIZE]);
/*
 * Add a row to the @count @links of shield_links() for each of the @named interfaces that
 * has none: nothing of ours is attached to it. Returns how many rows there are then.
 * @links must have room for @named_count more. Called wherever it is judged whether the
 * interfaces of the configuration are protected.
 */
size_t shield_links_named(struct shield_link *links, size_t count,
			  const char (*named)[IF_NAMESIZE], size_t named_count);
/* The most links that are pinned, and as many interfaces that have none. */
#define SHIELD_LINKS (2 * CONFIG_INTERFACES)

/*
 * Return true if an interface is a veth in native mode, over which what the shield sends
 * might not arrive; then its name is in @ret_interface, which else stays as it is. Called
 * by `status`, which says so, and by `reload`, which gives the result to
 * config_resolve().
 */
bool shield_return_path_unavailable(const struct shield *shield,
				    char ret_interface[IF_NAMESIZE]);

/*
 * Note which Ethernet addresses lead to this host, for the daemon to call every few
 * seconds: containers come and go. If an address cannot be found out, the old ones stay.
 */
void shield_here(struct shield *shield);

/*
 * Return the smallest MTU of its interfaces in bytes; 0: it has none, or none is known.
 */
__u32 shield_mtu(const struct shield *shield);

/* --- players ----------------------------------------------------------------- */

/* Call @each with every player that the server has sent to lately. */
int shield_players(const struct shield *shield,
		   void (*each)(const struct player_key *key, const struct player *player,
				void *context),
		   void *context);

/*
 * Do the housekeeping that may wait, for the daemon to call every five seconds: replace
 * secrets that are due, forget players that left and count the followed ones, delete list
 * entries whose time is over, enter players and their networks into the client history,
 * and look which sockets own the ports.
 */
void shield_maintain(struct shield *shield);

/* --- answers ------------------------------------------------------------------ */

/*
 * Return true if the service in @slot receives more queries than its server is to answer.
 */
bool shield_under_load(const struct shield *shield, __u32 slot);

/*
 * Cache @t as the response of the service in @slot to query @form, both in range. A
 * response that is being sent at this moment is sent whole, or not at all. Only one
 * process may call it at a time.
 */
void shield_cache_put(struct shield *shield, __u32 slot, __u32 form,
		      const struct cache_entry *t);
/*
 * Do the same if the service in @slot is still @name: another process may apply a
 * configuration. False: it is another one, or the tables are being changed right now.
 */
bool shield_cache_put_for(struct shield *shield, const char *name, __u32 slot, __u32 form,
			  const struct cache_entry *t);

/* One cached response. */
struct cached_response {
	char request[CACHE_REQUEST + 1]; /* in letters, or the name of its kind */
	bool nonce; /* the client's nonce follows, and is part of the response */
	bool fresh; /* young enough to be sent */
	__u32 bytes; /* of the answer, without that word */
	__u64 age_ns; /* since the server said it */
};

/* Describe @t as of @now_ns. False: it holds no response. */
bool cached_response_describe(const struct cache_entry *t, __u64 now_ns,
			      struct cached_response *ret);
/*
 * Describe all cached responses of the service in @slot. Returns how many, at most
 * CACHE_FORMS.
 */
size_t shield_cached_responses(const struct shield *shield, __u32 slot,
			       struct cached_response ret[CACHE_FORMS]);

/* Forget the cached responses of @slot: none is sent until new ones are put. */
void shield_cache_forget(struct shield *shield, __u32 slot);

/*
 * Make each service's mark window (include/recent.h) as wide as the rate of marks allows,
 * once a second, and move it on, every RECENT_TURN_S seconds; divide the rate of
 * challenges among the services that are flooded, once a second. For the daemon to call
 * some times a second. @now: shield_clock().
 */
void shield_recent_update(struct shield *shield, __u64 now);

/* Enter the present players into the client history. */
void shield_known_add_players(struct shield *shield);
/* Enter the prefixes around all known clients. */
void shield_known_add_networks(struct shield *shield);
/*
 * Return the client history, as include/reputation.h has it, and in *@ret_keys the keys
 * of its hash. Belongs to @shield; the programs write it at the same time.
 */
struct reputation_table *shield_reputation(struct shield *shield, const __u64 **ret_keys);
/* Return how many clients are known. */
__u32 shield_known_count(const struct shield *shield);

/* --- samples ----------------------------------------------------------------- */

/*
 * Make shield_samples_poll() call @each with every sample: its head and @kept bytes of
 * Ethernet frame. One reader at a time: what it takes, no other reader gets.
 */
int shield_samples_open(struct shield *shield,
			void (*each)(const struct sample *sample, const void *frame,
				     void *context),
			void *context);
/* Return a descriptor that is readable when there are samples, for poll(2). */
int shield_samples_fd(const struct shield *shield);
/*
 * Take the samples that are there, waiting at most @timeout_ms for the first. Returns how
 * many, or -errno.
 */
int shield_samples_poll(struct shield *shield, int timeout_ms);
/* Sum over all CPUs what became of the samples so far. */
int shield_sampled(const struct shield *shield, struct sampled ret[SAMPLER_COUNT]);

/* --- gauges ------------------------------------------------------------------ */

/*
 * Compute how much of each of the service's own limits is used up in @slot: 0 nothing, 1
 * all.
 */
int shield_limits_used(const struct shield *shield, __u32 slot,
		       double ret[CLASS_BUDGETS]);
/* Return the same for one limit: the share of it that is used at @now_ns, 0 to 1. */
double limit_used_share(const struct limit *limit, __u64 due_ns, __u64 now_ns);

/* Maps that can fill up. */
enum usage_table {
	TABLE_PLAYERS,
	TABLE_ALLOW,
	TABLE_DENY,
	TABLE_FOLLOW,
	TABLE_KNOWN, /* include/reputation.h */
	TABLE_COUNT,
};

struct table_usage {
	__u32 used, capacity; /* entries */
};

/*
 * Fill in how full each table is. Counts the entries of the lists and players one by one.
 */
void shield_table_usage(const struct shield *shield, struct table_usage ret[TABLE_COUNT]);

/*
 * Return the clock of the programs, in ns, which also the times in struct player have:
 * shield_clock.h.
 */
__u64 shield_clock(void);

/* --- allow and deny lists ---------------------------------------------------- */

enum list {
	LIST_ALLOW,
	LIST_DENY,
	LIST_FOLLOW, /* by the configuration only */
};

struct list_terms {
	bool unlimited; /* what is allowed has no limits */
	__u64 for_ns; /* then it ends by itself; 0: it stays */
	const char *comment; /* printable, up to LIST_COMMENT - 1 octets, or NULL */
};

/*
 * Add all of @count networks. An entry that was added before gets these @terms.
 * *@ret_added of them, from the first on, are there now: all, unless -errno is returned,
 * after a message if the list is full or another process has the lock of shield_lock().
 * Work that a list needs beyond each entry (its prefilter is made anew) is done once.
 */
int shield_list_add_all(struct shield *shield, enum list list, const struct cidr *cidrs,
			size_t count, const struct list_terms *terms, size_t *ret_added);
/*
 * Remove @count runtime entries. @ret_missing, of @count: which were not in the list, or
 * only by the configuration. 0 or -errno, as shield_list_add_all().
 */
int shield_list_del_all(struct shield *shield, enum list list, const struct cidr *cidrs,
			size_t count, bool *ret_missing);

/*
 * Find the entry in force that decides about all of @cidr, itself included. False: none
 * does.
 */
bool shield_list_covers(const struct shield *shield, enum list list,
			const struct cidr *cidr, struct cidr *ret);
/*
 * Call @each with every entry, also with ended ones that no daemon has removed yet: see
 * list_origins().
 */
int shield_list_each(const struct shield *shield, enum list list,
		     void (*each)(const struct cidr *cidr, const struct list_entry *entry,
				  void *context),
		     void *context);

#endif /* SHIELD_H */
