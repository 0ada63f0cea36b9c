// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_reload.c - `reload`: apply a configuration, say what it changed, and go back to the
 * one before with --undo, or with --confirm unless the operator confirms it.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "cmd/cmd_trial.h"
#include "cmd/commands.h"
#include "cmd/run_config.h"
#include "config/config.h"
#include "config/config_diff.h"
#include "daemon/in_force.h"
#include "daemon/pidfile.h"
#include "lib/json_key.h"
#include "lib/log.h"
#include "shield/shield.h"

#define DAEMON_WAIT_MS	5000 /* for what a daemon does at once, as a rule */
#define WRITTEN_WAIT_MS 2000 /* for the file that it writes then */
#define CHANGES_SHOWN	40 /* of one reload; --json has all */
#define CONFIRM_MOST	3600 /* seconds */

/* One call of `reload`. */
struct reload {
	const struct call *call;
	const char *pin;
	struct shield *shield;
	struct daemon_facts daemon; /* pid 0: none runs */
	struct config *before; /* in force when it began; NULL: not known */
	bool file; /* the command line says which, or how */
	bool undo; /* the previous configuration in place of a file */
	long confirm; /* seconds to wait for the operator; 0: it stays in any case */
};

/* Check what the daemon would say in its log only: the line of the file, a foreign
 * program. */
static int check_first(const char *pin, const struct daemon_facts *daemon)
{
	struct config *config = calloc(1, sizeof(*config));
	enum holder holder;
	int err = -ENOMEM;

	if (!config)
		return err;
	err = config_load(daemon->config, config);
	for (size_t i = 0; !err && !daemon->interfaces && i < config->interface_count;
	     i++) {
		err = shield_check_attach(pin, config->interfaces[i], &holder);
		if (err == -ENODEV) /* it is waited for */
			err = 0;
	}
	free(config);
	if (err)
		log_error(
			"the daemon (process %d) was not asked: its configuration stays in "
			"force",
			(int)daemon->pid);
	return err;
}

static const struct json_key change_keys[] = {
	JSON_KEY(
		"key", "string", NULL,
		"Key as `--set` takes it; `service.NAME` for a whole service; a list for one network."),
	JSON_KEY("before", "string|null", NULL, "Its value; null: it was not there."),
	JSON_KEY("after", "string|null", NULL, "Its value; null: it is there no more."),
	JSON_END,
};

const struct json_key reload_json_keys[] = {
	JSON_KEY("applied_by", "string", NULL,
		 "`daemon`, or `reload` where a file was given."),
	JSON_KEY("daemon", "integer|null", NULL,
		 "Process of the daemon; null: none runs."),
	JSON_KEY("observe", "boolean", NULL,
		 "The daemon runs with --observe: nothing is dropped."),
	JSON_KEY("generation", "integer", NULL, "Number of the configuration in force."),
	JSON_OBJECT("changes", "object[]?", NULL,
		    "Keys that differ from what was in force; absent: that is not known.",
		    change_keys),
	JSON_END,
};

struct changes {
	const struct shield *shield;
	json_t *array; /* NULL: they are printed */
	size_t count;
};

static void on_change(const struct config_change *change, void *context)
{
	struct changes *changes = context;
	char text[CONFIG_CHANGE];

	changes->count++;
	if (!strcmp(change->key, "mode"))
		shield_warn_mode(changes->shield,
				 !strcmp(change->after, "skb") ? MODE_SKB : MODE_NATIVE);
	if (changes->array) {
		json_array_append_new(changes->array,
				      json_pack("{s:s, s:s?, s:s?}", "key", change->key,
						"before", change->before, "after",
						change->after));
		return;
	}
	if (changes->count > CHANGES_SHOWN)
		return;
	config_change_format(change, text);
	printf("  %s\n", text);
}

/* Compare what was in force with what is now; false: one of them is not known. */
static bool compare(const struct reload *r, struct changes *ret)
{
	struct config *now = r->before ? calloc(1, sizeof(*now)) : NULL;
	bool known = now && !in_force_read(r->pin, IN_FORCE, now) &&
		     config_diff(r->before, now, on_change, ret) >= 0;

	free(now);
	return known;
}

static void print_changes(const struct reload *r)
{
	struct changes changes = { .shield = r->shield };

	if (!compare(r, &changes))
		return;
	if (!changes.count)
		printf("  nothing changed\n");
	if (changes.count > CHANGES_SHOWN)
		printf("  and %zu more: --json has all\n", changes.count - CHANGES_SHOWN);
}

static int print_reloaded(const struct reload *r, bool here)
{
	json_t *value =
		json_pack("{s:s, s:o, s:b, s:I}", "applied_by",
			  here ? "reload" : "daemon", "daemon",
			  r->daemon.pid > 0 ? json_integer(r->daemon.pid) : json_null(),
			  "observe", r->daemon.observe, "generation",
			  (json_int_t)shield_generation(r->shield));
	struct changes changes = { .shield = r->shield, .array = json_array() };

	if (compare(r, &changes))
		json_object_set(value, "changes", changes.array);
	json_decref(changes.array);
	return print_json(value) ? -EIO : 0;
}

/* Say what was done, by the daemon or @here, and what it changed. */
static int reloaded(const struct reload *r, bool here)
{
	if (call_has(r->call, OPTION_JSON))
		return print_reloaded(r, here);
	if (here)
		printf("applied%s%s\n",
		       r->daemon.pid > 0 ? "; the daemon's own file is unchanged" : "",
		       r->daemon.observe ? "; it runs with --observe: nothing is dropped"
					 : "");
	else
		printf("%s by the daemon (process %d)%s\n",
		       r->undo ? "undone" : "reloaded", (int)r->daemon.pid,
		       r->daemon.observe
			       ? ", which runs with --observe: nothing is dropped"
			       : "");
	print_changes(r);
	return 0;
}

/*
 * Wait until the daemon has written what is in force, after @written. Then what changed
 * is known; if the daemon could not write the file, that is gone. False, after a message:
 * the daemon has done neither, and --confirm could not undo it.
 */
static bool written_since(struct reload *r, __u64 written)
{
	char path[PATH_MAX];
	__u64 now = 0;

	for (int waited = 0; waited < WRITTEN_WAIT_MS; waited += 20) {
		now = in_force_written(r->pin);
		/* The file is gone for a moment while it is replaced, too. */
		if (now && now != written)
			return true;
		usleep(20000);
	}
	if (now != written)
		return true;
	free(r->before);
	r->before = NULL;
	if (!r->confirm || r->undo)
		return true;
	in_force_path(r->pin, IN_FORCE, path);
	log_error(
		"reload --confirm: the daemon has reloaded, but not written '%s': what it "
		"changed is not known, and is not undone; its log says why",
		path);
	return false;
}

/*
 * Ask the daemon, which knows its file, and the one before. It changes the generation,
 * and then writes what is in force: before that, compare() and is_before() would read the
 * configuration of before.
 */
static int reload_daemon(struct reload *r)
{
	__u32 before = shield_generation(r->shield);
	__u64 written = in_force_written(r->pin);
	int pid = (int)r->daemon.pid;

	/* With --set the file is not all of it. */
	if (!r->undo && *r->daemon.config && !r->daemon.set &&
	    check_first(r->pin, &r->daemon))
		return -EINVAL;
	if (kill(r->daemon.pid, r->undo ? SIGUSR2 : SIGHUP)) {
		log_error("cannot signal the daemon (process %d): %s", pid,
			  strerror(errno));
		return -errno;
	}
	for (int waited = 0; waited < DAEMON_WAIT_MS; waited += 20) {
		if (shield_generation(r->shield) != before)
			return written_since(r, written) ? reloaded(r, false) : -EIO;
		usleep(20000);
	}
	log_error(
		"the daemon (process %d) has not taken the configuration: if its log says why, "
		"the old one stays in force; if it was only busy, it takes the new one later, "
		"and nothing undoes that",
		pid);
	return -ETIMEDOUT;
}

/*
 * Keep what the daemon alone does as it was in force: `reload -c` attaches and detaches
 * nothing, and changes no listener or output. The daemon does these things by in_force.h
 * when it undoes a reload, so the values of the file must not be written there.
 */
static void keep_daemons(const struct reload *r, struct config *config)
{
	const struct config *before = r->before;
	struct shield_link links[CONFIG_INTERFACES];
	size_t n;

	if (before) {
		memcpy(config->interfaces, before->interfaces,
		       sizeof(config->interfaces));
		config->interface_count = before->interface_count;
		config->mode = before->mode;
		config->detach_on_exit = before->detach_on_exit;
		config->metrics = before->metrics;
		config->output_cpu = before->output_cpu;
		strcpy(config->output_json, before->output_json);
		strcpy(config->output_pcapng, before->output_pcapng);
		strcpy(config->on_attack, before->on_attack);
		strcpy(config->follow_psk_identity, before->follow_psk_identity);
		strcpy(config->follow_psk_file, before->follow_psk_file);
		return;
	}
	n = shield_links(r->shield, links, CONFIG_INTERFACES);
	config->interface_count = n < CONFIG_INTERFACES ? n : CONFIG_INTERFACES;
	for (size_t i = 0; i < config->interface_count; i++)
		memcpy(config->interfaces[i], links[i].interface, IF_NAMESIZE);
}

/*
 * Interfaces are the daemon's: warn of one in the file that it does not protect, or that
 * has another mode.
 */
static void say_unattached(const struct shield *shield, const struct config *config)
{
	struct shield_link links[CONFIG_INTERFACES];
	size_t n = shield_links(shield, links, CONFIG_INTERFACES);

	for (size_t i = 0; i < config->interface_count; i++) {
		char own[IF_NAMESIZE];
		bool found = false;

		shield_own_name(config->interfaces[i], own);
		for (size_t j = 0; j < n && j < CONFIG_INTERFACES; j++)
			found |= !strcmp(links[j].interface, own);
		if (!found)
			log_warn("reload -c attaches nothing: '%s' is not protected",
				 config->interfaces[i]);
	}
	if (config->mode != MODE_AUTO)
		shield_warn_mode(shield, config->mode);
}

static bool in_force(const struct shield *shield, const char *name)
{
	struct service service;

	for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
		if (shield_service(shield, slot, &service) &&
		    !strncmp(service.name, name, NAME_MAX_LEN))
			return true;
	return false;
}

/* Services that come with @config, to be answered for; the first of them. */
static size_t newcomers(const struct shield *shield, const struct config *config,
			const char **ret_first)
{
	size_t count = 0;

	for (size_t i = 0; i < config->service_count; i++) {
		const struct service *s = &config->services[i].service;

		if (!s->cache || s->observe || in_force(shield, s->name))
			continue;
		if (!count++)
			*ret_first = s->name;
	}
	return count;
}

/* The daemon alone queries servers: warn of a service that it does not know. */
static void say_unasked(const char *first, size_t count)
{
	char more[32] = "";

	if (count > 1)
		snprintf(more, sizeof(more), " and %zu more", count - 1);
	log_warn("reload -c asks no server, and the daemon asks those of its own file: "
		 "unless '%s'%s %s in that, too, nothing is answered for %s",
		 first, more, count == 1 ? "is" : "are", count == 1 ? "it" : "them");
}

static void read_before(struct reload *r)
{
	free(r->before);
	r->before = calloc(1, sizeof(*r->before));
	if (r->before && in_force_read(r->pin, IN_FORCE, r->before)) {
		free(r->before);
		r->before = NULL;
	}
}

/*
 * Apply @config, or for --undo the previous one, which is read into it, and write that it
 * is in force. Called by reload_here(), under the lock of the shield. 0, or -errno after
 * a message.
 */
static int apply_here(struct reload *r, struct config *config)
{
	struct config_adjusted adjusted;
	const char *first = NULL;
	char veth[IF_NAMESIZE];
	size_t fresh = 0;
	int err = r->undo ? in_force_read(r->pin, IN_FORCE_PREVIOUS, config) : 0;

	if (err)
		return err;
	/* Another process may have applied one since reload_once(). */
	read_before(r);
	config_resolve(config, shield_return_path_unavailable(r->shield, veth),
		       &adjusted);
	if (r->daemon.pid <= 0)
		without_daemon(config);
	if (r->daemon.observe)
		config->observe = true; /* it was started so, and is to be ended so */
	if (r->daemon.pid > 0 && !config->observe)
		fresh = newcomers(r->shield, config, &first);
	err = shield_apply(r->shield, config);
	if (err)
		return err;
	say_unattached(r->shield, config);
	keep_daemons(r, config);
	in_force_write(r->pin, config);
	if (fresh)
		say_unasked(first, fresh);
	return 0;
}

/* Apply a file that need not be the daemon's, or without a daemon the previous one. */
static int reload_here(struct reload *r)
{
	struct config *config = calloc(1, sizeof(*config));
	int err = -ENOMEM;

	if (!config)
		return err;
	err = r->undo ? 0 : call_config(r->call, config);
	if (!err)
		err = shield_lock(r->shield);
	if (!err) {
		err = apply_here(r, config);
		shield_unlock(r->shield);
	}
	if (!err)
		err = reloaded(r, true);
	free(config);
	return err;
}

static int reload_once(struct reload *r)
{
	char previous[PATH_MAX];

	read_before(r);
	if (r->confirm && !r->undo && !r->before) {
		log_error("reload --confirm: what is in force is not known, so the "
			  "reload could not be undone: nothing is reloaded");
		return -ENOENT;
	}
	in_force_path(r->pin, IN_FORCE_PREVIOUS, previous);
	if (r->undo && access(previous, R_OK)) {
		log_error("reload --undo: nothing to go back to ('%s': %s)", previous,
			  strerror(errno));
		return -ENOENT;
	}
	return r->daemon.pid > 0 && (r->undo || !r->file) ? reload_daemon(r)
							  : reload_here(r);
}

static void ignore_change(const struct config_change *change, void *context)
{
	(void)change;
	(void)context;
}

/* Return true if the configuration of @which is known to equal the one before. */
static bool is_before(const struct reload *r, enum in_force which)
{
	struct config *config = calloc(1, sizeof(*config));
	bool same = config && !in_force_read(r->pin, which, config) &&
		    !config_diff(r->before, config, ignore_change, NULL);

	free(config);
	return same;
}

/*
 * Undo a reload that was not confirmed. The daemon may have ended meanwhile: then the
 * configuration is applied here. After a reload by another process, the previous
 * configuration is the one that was not confirmed.
 */
static int reload_revert(struct reload *r)
{
	if (!is_before(r, IN_FORCE_PREVIOUS)) {
		log_error("reload --confirm: not undone: another reload has changed the "
			  "configuration meanwhile");
		return -EBUSY;
	}
	r->daemon = (struct daemon_facts){ 0 };
	pidfile_facts(r->pin, &r->daemon);
	r->undo = true;
	return reload_once(r);
}

static void interrupted(int signal)
{
	(void)signal; /* poll() ends with EINTR */
}

/* Wait for the operator: true if a line came within @seconds. A hang-up, or ^C, is none.
 */
static bool confirmed(long seconds)
{
	struct sigaction action = { .sa_handler = interrupted };
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	char line[64];

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	printf("undone in %ld seconds unless you press Enter\n", seconds);
	fflush(stdout);
	return poll(&in, 1, (int)(seconds * 1000)) == 1 && in.revents & POLLIN &&
	       read(STDIN_FILENO, line, sizeof(line)) > 0;
}

/* The seconds of --confirm; 0: it was not given; -EINVAL after a message. */
static long confirm_seconds(const struct call *call)
{
	const char *text = call_value(call, OPTION_CONFIRM);
	char *end;
	long seconds;

	if (!text)
		return 0;
	seconds = strtol(text, &end, 10);
	if (*end || end == text || seconds < 1 || seconds > CONFIRM_MOST) {
		log_error("reload: --confirm '%s' is not 1 to %d seconds", text,
			  CONFIRM_MOST);
		return -EINVAL;
	}
	if (!isatty(STDIN_FILENO) || call_has(call, OPTION_JSON)) {
		log_error(
			"reload: --confirm asks, so it needs a terminal, and no --json");
		return -EINVAL;
	}
	return seconds;
}

int cmd_reload(const struct call *call)
{
	struct reload r = {
		.call = call,
		.pin = call_value(call, OPTION_PIN),
		.file = call_has(call, OPTION_CONFIG) || call_has(call, OPTION_SET),
		.undo = call_has(call, OPTION_UNDO),
	};
	int err;

	if (call_has(call, OPTION_TRIAL))
		return reload_trial(call);
	if (call_has(call, OPTION_FOR)) {
		log_error("reload: --for goes with --trial alone");
		return EXIT_USAGE;
	}
	r.confirm = confirm_seconds(call);
	if (r.confirm < 0)
		return EXIT_USAGE;
	if (r.undo && (r.file || r.confirm)) {
		log_error("reload: --undo goes with no other file, --set or --confirm");
		return EXIT_USAGE;
	}
	err = call_open(call, &r.shield);
	if (err)
		return err;
	pidfile_facts(r.pin, &r.daemon);
	err = reload_once(&r);
	/* If nothing has changed, the previous configuration is an older one. */
	if (!err && r.confirm && !is_before(&r, IN_FORCE) && !confirmed(r.confirm))
		err = reload_revert(&r);
	free(r.before);
	shield_close(r.shield);
	return exit_status(err);
}
