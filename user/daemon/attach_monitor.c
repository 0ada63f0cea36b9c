// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * attach_monitor.c - see attach_monitor.h.
 *
 * Called by the daemon's main loop and at its start, in its one thread. The state of an
 * interface is that which was last logged, so each change of it goes with its message.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/attach_monitor.h"
#include "daemon/pidfile.h"
#include "lib/log.h"

#define RETRY_MIN_S 30
#define RETRY_MAX_S 300 /* between two tries that fail */

/* --- may we? --------------------------------------------------------------------- */

/*
 * 0, -ENODEV without a message, or -errno after one. Called before each attachment:
 * another quakeshield may have come meanwhile.
 */
static int interface_check(const struct attach_monitor *m, const char *interface)
{
	enum holder holder;
	int err = shield_check_attach(m->pin, interface, &holder);
	pid_t daemon;

	if (err || holder != HOLDER_DEFAULT || m->take_over)
		return err;
	daemon = pidfile_pid(NULL);
	if (daemon <= 0)
		return 0;
	log_error(
		"interface '%s' is protected by the quakeshield of process %d, whose state "
		"is in " PIN_ROOT ": stop that one first, or --take-over the interface",
		interface, (int)daemon);
	return -EBUSY;
}

int attach_monitor_precheck(const struct attach_monitor *m, const struct config *config)
{
	for (size_t i = 0; i < config->interface_count; i++) {
		int err = interface_check(m, config->interfaces[i]);

		if (err == -ENODEV && m->wait)
			continue;
		if (err == -ENODEV)
			log_error("no such interface: '%s'", config->interfaces[i]);
		if (err)
			return err;
	}
	return 0;
}

/* --- attaching ------------------------------------------------------------------- */

/* Return how messages call @mode. */
static const char *mode_text(enum attach_mode mode)
{
	return mode == MODE_SKB ? "generic (skb)" : "native";
}

/*
 * Log once that the interface of @p is not there, and note it as absent. Its index is
 * forgotten, so that an interface of the same name counts as new.
 */
static void warn_absent(struct watched_if *p)
{
	if (p->state != WATCHED_ABSENT)
		log_warn("interface '%s' %s: it is protected as soon as it is there",
			 p->interface, p->was_attached ? "is gone" : "is not there yet");
	p->state = WATCHED_ABSENT;
	p->ifindex = 0;
}

/*
 * Let @p, which is zero, watch the interface that the configuration calls @name. Called
 * at the start and at a reload.
 */
static void watched_begin(struct watched_if *p, const char *name)
{
	memcpy(p->named, name, IF_NAMESIZE);
	shield_own_name(p->named, p->interface);
}

/*
 * Attach in the mode @wanted. 0, or -errno after a message, the one that an absent
 * interface is worth included. Called at the start, at a reload, by watched_repair() and
 * by attach_monitor_renew().
 */
static int watched_attach(struct attach_monitor *m, struct watched_if *p,
			  enum attach_mode wanted)
{
	enum attach_mode mode = wanted;
	int err = interface_check(m, p->interface);

	if (err == -ENODEV) {
		warn_absent(p);
		return err;
	}
	if (!err)
		err = shield_attach(m->shield, p->interface, wanted, &mode);
	if (err < 0) {
		p->state = WATCHED_FAILED;
		return err;
	}
	p->newly_attached = err == 1;
	log_info("protecting %s%s, %s mode%s", p->interface,
		 p->was_attached ? " again" : "", mode_text(mode),
		 m->observe ? ", observing only: nothing is dropped" : "");
	p->state = WATCHED_ATTACHED;
	p->was_attached = true;
	return 0;
}

/* Return true if @config names an interface @name. */
static bool config_names(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->interface_count; i++)
		if (!strcmp(config->interfaces[i], name))
			return true;
	return false;
}

/*
 * Detach from @interface, which the configuration names no more, unless one that it names
 * is the same by another name. Called after all that it names were attached to: those
 * have then taken over the links of the former name.
 */
static void let_go(struct attach_monitor *m, const char *interface)
{
	unsigned int ifindex = if_nametoindex(interface);

	for (size_t i = 0; ifindex && i < m->count; i++)
		if (if_nametoindex(m->interfaces[i].named) == ifindex)
			return;
	shield_release(m->shield, interface);
	log_info("'%s' is protected no more: the configuration does not name it",
		 interface);
}

int attach_monitor_start(struct attach_monitor *m, const struct config *config)
{
	m->mode = config->mode;
	m->observe = config->observe;
	m->count = config->interface_count;
	memset(m->interfaces, 0, sizeof(m->interfaces));
	for (size_t i = 0; i < m->count; i++) {
		int err;

		watched_begin(&m->interfaces[i], config->interfaces[i]);
		err = watched_attach(m, &m->interfaces[i], m->mode);
		if (err && (err != -ENODEV || !m->wait)) {
			attach_monitor_undo(m);
			return err;
		}
	}
	return 0;
}

void attach_monitor_let_go(struct attach_monitor *m)
{
	struct shield_link links[SHIELD_LINKS];
	size_t count = shield_links(m->shield, links, SHIELD_LINKS);

	for (size_t i = 0; i < count && i < SHIELD_LINKS; i++)
		if (!attach_monitor_watches(m, links[i].interface))
			let_go(m, links[i].interface);
}

void attach_monitor_undo(struct attach_monitor *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->interfaces[i].newly_attached)
			shield_release(m->shield, m->interfaces[i].interface);
	m->count = 0;
}

/* Return the watched interface that the configuration calls @name, or NULL. */
static const struct watched_if *watched_named(const struct attach_monitor *m,
					      const char *name)
{
	for (size_t i = 0; i < m->count; i++)
		if (!strcmp(m->interfaces[i].named, name))
			return &m->interfaces[i];
	return NULL;
}

/* Return the watched interface of this own name, or NULL. */
static struct watched_if *watched_find(struct attach_monitor *m, const char *interface)
{
	for (size_t i = 0; i < m->count; i++)
		if (!strcmp(m->interfaces[i].interface, interface))
			return &m->interfaces[i];
	return NULL;
}

void attach_monitor_reload(struct attach_monitor *m, const struct config *config)
{
	struct watched_if interfaces[CONFIG_INTERFACES] = { 0 };
	struct watched_if before[CONFIG_INTERFACES];
	size_t count = config->interface_count, before_count = m->count;
	bool mode_changed = config->mode != m->mode;

	m->mode = config->mode;
	m->observe = config->observe;
	memcpy(before, m->interfaces, sizeof(before));
	for (size_t i = 0; i < count; i++) {
		const struct watched_if *old = watched_named(m, config->interfaces[i]);

		if (old)
			interfaces[i] = *old;
		else
			watched_begin(&interfaces[i], config->interfaces[i]);
	}
	memcpy(m->interfaces, interfaces, sizeof(interfaces));
	m->count = count;
	if (mode_changed)
		shield_warn_mode(m->shield, config->mode);
	for (size_t i = 0; i < count; i++)
		if (interfaces[i].state == WATCHED_NEW)
			watched_attach(m, &m->interfaces[i], m->mode);
	/* Last: one that only has another name now is protected all the time. */
	for (size_t i = 0; i < before_count; i++)
		if (!config_names(config, before[i].named))
			let_go(m, before[i].interface);
}

bool attach_monitor_watches(const struct attach_monitor *m, const char *interface)
{
	for (size_t i = 0; i < m->count; i++)
		if (!strcmp(m->interfaces[i].interface, interface))
			return true;
	return false;
}

int attach_monitor_renew(struct attach_monitor *m, const char *interface,
			 enum attach_mode mode)
{
	struct watched_if *p = watched_find(m, interface);

	if (!p)
		return -ENOENT;
	shield_release(m->shield, interface);
	return watched_attach(m, p, mode);
}

/* --- looking after ----------------------------------------------------------------- */

/* Return the link of @interface among @count @links, or NULL. */
static const struct shield_link *link_find(const struct shield_link *links, size_t count,
					   const char *interface)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(links[i].interface, interface))
			return &links[i];
	return NULL;
}

/*
 * Log which program was removed, before it is attached again. @l: NULL if no link of ours
 * is pinned.
 */
static void warn_removed(const struct watched_if *p, const struct shield_link *l)
{
	if (!l || !l->ingress)
		log_warn("'%s' does not carry our program any more", p->interface);
	else if (!l->egress)
		log_warn(
			"what leaves by '%s' is judged no more: our program was taken off",
			p->interface);
	else
		log_warn(
			"what the machine joins on '%s' is judged no more: our program was "
			"taken off",
			p->interface);
}

/* Return the steady time in seconds. */
static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/*
 * A try that failed is repeated ever more rarely, so that its message does not fill a
 * log; at once if it is about something else now. Called by watched_repair() for an
 * interface that is there.
 */
static bool retry_is_pending(struct watched_if *p)
{
	unsigned int ifindex = if_nametoindex(p->interface);
	__u32 program_id = shield_program_on(p->interface);
	bool same = p->ifindex == ifindex && p->program_id == program_id;

	p->ifindex = ifindex;
	p->program_id = program_id;
	if (p->state == WATCHED_FAILED && same)
		return seconds() < p->retry_at;
	p->retry_s = 0;
	return false;
}

/*
 * Set when watched_repair() may try @p again: after RETRY_MIN_S, then twice as long each
 * time, at most RETRY_MAX_S.
 */
static void retry_later(struct watched_if *p)
{
	p->retry_s = p->retry_s ? p->retry_s * 2 : RETRY_MIN_S;
	if (p->retry_s > RETRY_MAX_S)
		p->retry_s = RETRY_MAX_S;
	p->retry_at = seconds() + p->retry_s;
}

/*
 * Return true if the interface of @p is protected; if it is not, attach again, unless a
 * retry is pending. @l: its link, or NULL. Called by attach_monitor_repair().
 */
static bool watched_repair(struct attach_monitor *m, struct watched_if *p,
			   const struct shield_link *l)
{
	if (l && l->attached) {
		if (p->state == WATCHED_FAILED)
			log_info("'%s' is protected again", p->interface);
		p->state = WATCHED_ATTACHED;
		return shield_link_protects(l);
	}
	if (!if_nametoindex(p->interface)) {
		warn_absent(p);
		return false;
	}
	if (p->state == WATCHED_ATTACHED)
		warn_removed(p, l);
	if (retry_is_pending(p))
		return false;
	if (!watched_attach(m, p, m->mode))
		return true;
	if (p->state == WATCHED_FAILED)
		retry_later(p);
	return false;
}

size_t attach_monitor_repair(struct attach_monitor *m)
{
	struct shield_link links[SHIELD_LINKS];
	size_t count = shield_links(m->shield, links, SHIELD_LINKS);
	size_t ours = 0;

	if (count > SHIELD_LINKS)
		count = SHIELD_LINKS;
	for (size_t i = 0; i < m->count; i++) {
		struct watched_if *p = &m->interfaces[i];

		/* It may have been renamed, or be called so only since the last look. */
		shield_own_name(p->named, p->interface);
		ours += watched_repair(m, p, link_find(links, count, p->interface));
	}
	return ours;
}
