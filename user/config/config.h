/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * config.h - the configuration file as data. Grammar: quakeshield.conf(5).
 *
 * config_load() is called by the commands, and by the daemon at each reload. It checks
 * every value; whether the interfaces exist is for config_check_interfaces(). struct
 * config holds no pointers, so it may be copied.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>

#include "abi.h"
#include "lib/cidr.h"
#include "lib/listen.h"

#define CONFIG_PATH		"/etc/quakeshield.conf"
#define CONFIG_PORTS		64 /* of one service */
#define CONFIG_ADDRESSES	16 /* of one service */
#define CONFIG_INTERFACES	16
#define CONFIG_LIST		4096 /* allow or deny entries in the file */

#define CONFIG_FILE_NAME	256 /* of one, in complaints; a longer one is cut */

#define AMPLIFICATION_ALLOWANCE 16384 /* defaults: docs/explain/anti-amplification.md */
#define AMPLIFICATION_REFILL_S	20
#define AMPLIFICATION_SERVERS	8 /* so many servers share one default allowance */
#define AMPLIFICATION_MOST	32 /* default allowances that a prefix may have */
#define VALIDATION_RATE		"1000000/s burst 250000"
#define CACHE_BYTES_PER_S	2500000 /* bytes a second: 20 Mbit/s */
#define CACHE_BYTES_MIN		8192
#define CACHE_BYTES_MAX		100000000
#define PLAYERS_SOURCE		32 /* players of one source in a service */
#define PLAYERS_PREFIX		64 /* and of one prefix */
#define METRICS_LISTEN		"127.0.0.1:9127"
#define SAMPLE_EVERY		1024 /* where there is a section sample */
#define SAMPLE_RATE		50 /* samples a second */
#define FOLLOW_RATE		5000 /* datagrams a second */
#define OUTPUT_CPU		20 /* per cent of one processor */
#define PSK_IDENTITY		129 /* with the NUL, as is the next */
#define PSK_FILE		256
#define CONFIG_COMMAND		256 /* with the NUL */
#define CONFIG_WORDS		16 /* of a command */
#define OUTPUT_NAME		108 /* of a path: a Unix socket takes no more */

_Static_assert(CONFIG_INTERFACES == UNRUN_MAX, "each has a struct unrun");

enum attach_mode {
	MODE_AUTO, /* native, else skb, saying so */
	MODE_NATIVE,
	MODE_SKB,
};

struct config_service {
	struct service service; /* as the kernel takes it; active = 1 */
	__u16 ports[CONFIG_PORTS];
	size_t port_count;
	__be32 addresses[CONFIG_ADDRESSES][4]; /* none: any */
	size_t address_count;
	/* The section says so; otherwise config_resolve() decides. */
	bool validation_given, cache_given;
};

struct config {
	struct config_service services[SERVICES_MAX];
	size_t service_count;
	char interfaces[CONFIG_INTERFACES][IF_NAMESIZE];
	/* Where each is named, as complaints tell it; line 0: by no file. */
	char interface_files[CONFIG_INTERFACES][CONFIG_FILE_NAME];
	int interface_lines[CONFIG_INTERFACES];
	size_t interface_count;
	enum attach_mode mode;
	bool observe; /* all services */
	bool replay_clock; /* for replay, never from a file: time is live.clock_ns */
	bool detach_on_exit; /* SIGTERM takes the shield down; default: it stays */
	/* The anti-amplification limit of a /24 or /56 without a player. */
	__u32 amplification_allowance; /* bytes each refill; 0: mode = off */
	__u32 amplification_refill_s;
	bool amplification_strict; /* no allowance: never more out than in */
	struct limit validation; /* challenges per second, of all services */
	__u32 cache_bytes_per_s; /* bytes per second of cached responses; 0: none */
	struct listen_at metrics; /* where the daemon serves metrics and pages */
	/* Which datagrams the daemon samples: struct sampling in abi.h. */
	__u32 sample_every; /* power of two; 0: none */
	__u32 sample_rate; /* at most so many a second */
	__u32 follow_first;
	__u32 follow_every; /* power of two; 0: none */
	__u32 follow_rate; /* datagrams a second, of all followed players together */
	struct cidr follow[CONFIG_LIST];
	size_t follow_count;
	/*
	 * The key of Quake Enhanced's followed flows; "": none. Both or neither are set.
	 */
	char follow_psk_identity[PSK_IDENTITY];
	char follow_psk_file[PSK_FILE]; /* it holds the key: only root may read it */
	/* Where the daemon writes records and samples: user/lib/sink.h; "": nowhere. */
	char output_json[OUTPUT_NAME];
	char output_pcapng[OUTPUT_NAME];
	char on_attack[CONFIG_COMMAND]; /* the command run at an attack; "": none */
	__u32 output_cpu; /* per cent of one processor, for decoding */
	struct cidr allow[CONFIG_LIST];
	bool allow_unlimited[CONFIG_LIST];
	size_t allow_count;
	struct cidr deny[CONFIG_LIST];
	size_t deny_count;
};

/*
 * Read @path; NULL: CONFIG_PATH. On an error, "file:line: message" that quotes what is
 * wrong goes to stderr, -EINVAL (or -errno of the file) is returned and *@ret is
 * undefined. struct config is large: allocate it.
 */
int config_load(const char *path, struct config *ret);

/*
 * Do the same with values that override the file's: @sets is "key=value" or, in sections,
 * "metrics.listen=off" or "service.NAME.port=27960", up to a NULL; NULL: none.
 */
int config_load_set(const char *path, const char *const *sets, struct config *ret);

/* One complaint about a configuration. */
struct config_complaint {
	const char *path;
	int line; /* 0: none */
	bool warning; /* it would be taken all the same */
	const char *message; /* printable */
};

/*
 * Call @each with @context for every later complaint about a configuration, instead of
 * writing it to stderr; NULL: stderr again. For `check --json`, and for in_force.c, which
 * keeps warnings silent.
 */
void config_listen(void (*each)(const struct config_complaint *complaint, void *context),
		   void *context);

/*
 * Return true if @path is in a directory that a unit of docs/ does not see, or sees as
 * another: ProtectHome=, PrivateTmp=. Symbolic links are not followed.
 */
bool config_is_hidden(const char *path);

/*
 * Warn from now on of each file or pattern that is included from such a directory. For
 * `check`, which an operator runs outside of the unit.
 */
void config_warn_hidden(bool warn);

/*
 * Return how many interfaces of @config are not on this machine, after a warning about
 * each, and about each second name of one interface. Not part of config_load(), so that a
 * file can be loaded, replayed and printed elsewhere.
 */
size_t config_check_interfaces(const struct config *config);

/*
 * How many services get no validation or no cache here, though their section does not
 * turn it off, and their protocol has it by default.
 */
struct config_adjusted {
	size_t validation, cache; /* because what the shield sends might not arrive */
	size_t uncacheable; /* no cache, because their servers cannot be queried */
};

#define CONFIG_ADJUSTED 80

/*
 * Return the bytes that a prefix may be sent beyond what it has sent, in one window: what
 * the configuration says, or, where that is the default, one default allowance for each
 * AMPLIFICATION_SERVERS servers begun, at most AMPLIFICATION_MOST. A server is a port of
 * a service, at each of its addresses. 0: the anti-amplification limit is off.
 */
__u64 config_allowance(const struct config *config);

/*
 * Give each service without `validation` or `cache` in its section the default of its
 * protocol. @no_return_path: what the shield sends might not arrive, so these services
 * get neither, but for the validation of Quake Enhanced, which sends nothing. A server
 * that cannot be queried has no cache. *@ret: what is off for these reasons.
 */
void config_resolve(struct config *config, bool no_return_path,
		    struct config_adjusted *ret);

/*
 * Write what is off because the shield's datagrams might not arrive: "validation for 2
 * services, cache for 1 service"; "": nothing. adjusted->uncacheable is left out.
 */
void config_adjusted_format(const struct config_adjusted *adjusted,
			    char ret[CONFIG_ADJUSTED]);

/*
 * Return why the server of @c cannot be queried for the cache, as words for a message
 * that say what to change; NULL: it can be.
 */
const char *config_uncacheable(const struct config_service *c);

/* Set @ret to what an empty file means: no service, everything else by default. */
void config_empty(struct config *ret);

/*
 * Set @ret to the embedded default: one Quake III service "default" on any address, port
 * 27960.
 */
void config_default(struct config *ret);

/*
 * Set the limits and policies that a service of @family has where the file says nothing.
 */
void config_service_defaults(enum wire_family family, struct service *ret);

/* Print @config in the file's own grammar; what it prints, config_load() reads alike. */
void config_print(const struct config *config, void *file);

#endif /* CONFIG_H */
