// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * guard.c - see guard.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/guard.h"
#include "daemon/pidfile.h"
#include "lib/log.h"

#define PAUSE_MIN_S 30
#define PAUSE_MAX_S 300 /* between two tries that fail */

/* --- may we? --------------------------------------------------------------------- */

/* 0, -ENODEV without a message, or -errno after one. */
static int interface_check(const struct guard *g, const char *interface)
{
	enum holder holder;
	int err = shield_look_at(g->pin, interface, &holder);
	pid_t daemon;

	if (err || holder != HOLDER_DEFAULT || g->take_over)
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

int guard_check(const struct guard *g, const struct config *config)
{
	for (size_t i = 0; i < config->interface_count; i++) {
		int err = interface_check(g, config->interfaces[i]);

		if (err == -ENODEV && g->wait)
			continue;
		if (err == -ENODEV)
			log_error("no such interface: '%s'", config->interfaces[i]);
		if (err)
			return err;
	}
	return 0;
}

/* --- attaching ------------------------------------------------------------------- */

static const char *mode_text(enum attach_mode mode)
{
	return mode == MODE_SKB ? "generic (skb)" : "native";
}

static void wait_for(struct post *p)
{
	if (p->state != POST_ABSENT)
		log_warn("interface '%s' %s: it is protected as soon as it is there",
			 p->interface, p->once ? "is gone" : "is not there yet");
	p->state = POST_ABSENT;
	p->ifindex = 0;
}

/* 0, or -errno after a message, the one that an absent interface is worth included. */
static int post_attach(struct guard *g, struct post *p)
{
	enum attach_mode mode = g->mode;
	int err = interface_check(g, p->interface);

	if (err == -ENODEV) {
		wait_for(p);
		return err;
	}
	if (!err)
		err = shield_attach(g->shield, p->interface, g->mode, &mode);
	if (err < 0) {
		p->state = POST_FAILED;
		return err;
	}
	p->fresh = err == 1;
	log_info("protecting %s%s, %s mode%s", p->interface, p->once ? " again" : "",
		 mode_text(mode),
		 g->observe ? ", observing only: nothing is dropped" : "");
	p->state = POST_OURS;
	p->once = true;
	return 0;
}

int guard_start(struct guard *g, const struct config *config)
{
	g->mode = config->mode;
	g->observe = config->observe;
	g->count = config->interface_count;
	memset(g->posts, 0, sizeof(g->posts));
	for (size_t i = 0; i < g->count; i++) {
		int err;

		memcpy(g->posts[i].interface, config->interfaces[i], IF_NAMESIZE);
		err = post_attach(g, &g->posts[i]);
		if (err && (err != -ENODEV || !g->wait)) {
			guard_undo(g);
			return err;
		}
	}
	return 0;
}

void guard_undo(struct guard *g)
{
	for (size_t i = 0; i < g->count; i++)
		if (g->posts[i].fresh)
			shield_release(g->shield, g->posts[i].interface);
	g->count = 0;
}

static struct post *post_find(struct guard *g, const char *interface)
{
	for (size_t i = 0; i < g->count; i++)
		if (!strcmp(g->posts[i].interface, interface))
			return &g->posts[i];
	return NULL;
}

static bool config_names(const struct config *config, const char *interface)
{
	for (size_t i = 0; i < config->interface_count; i++)
		if (!strcmp(config->interfaces[i], interface))
			return true;
	return false;
}

void guard_reload(struct guard *g, const struct config *config)
{
	struct post posts[CONFIG_INTERFACES] = { 0 };
	size_t count = config->interface_count;

	g->mode = config->mode;
	g->observe = config->observe;
	for (size_t i = 0; i < g->count; i++) {
		if (config_names(config, g->posts[i].interface))
			continue;
		shield_release(g->shield, g->posts[i].interface);
		log_info("'%s' is protected no more: the configuration does not name it",
			 g->posts[i].interface);
	}
	for (size_t i = 0; i < count; i++) {
		const struct post *old = post_find(g, config->interfaces[i]);

		if (old)
			posts[i] = *old;
		else
			memcpy(posts[i].interface, config->interfaces[i], IF_NAMESIZE);
	}
	memcpy(g->posts, posts, sizeof(posts));
	g->count = count;
	for (size_t i = 0; i < count; i++)
		if (posts[i].state == POST_NEW)
			post_attach(g, &g->posts[i]);
}

/* --- looking after ----------------------------------------------------------------- */

static const struct shield_link *link_find(const struct shield_link *links, size_t count,
					   const char *interface)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(links[i].interface, interface))
			return &links[i];
	return NULL;
}

/* What the operator should know before it is mended. */
static void say_lost(const struct post *p, const struct shield_link *l)
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

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/*
 * A try that failed is repeated ever more rarely, so that its message does not fill a
 * log; at once if it is about something else now.
 */
static bool post_rests(struct post *p)
{
	unsigned int ifindex = if_nametoindex(p->interface);
	__u32 program_id = shield_program_on(p->interface);
	bool same = p->ifindex == ifindex && p->program_id == program_id;

	p->ifindex = ifindex;
	p->program_id = program_id;
	if (p->state == POST_FAILED && same)
		return seconds() < p->next;
	p->pause_s = 0;
	return false;
}

static void post_pause(struct post *p)
{
	p->pause_s = p->pause_s ? p->pause_s * 2 : PAUSE_MIN_S;
	if (p->pause_s > PAUSE_MAX_S)
		p->pause_s = PAUSE_MAX_S;
	p->next = seconds() + p->pause_s;
}

static bool post_look(struct guard *g, struct post *p, const struct shield_link *l)
{
	if (l && l->ours) {
		if (p->state == POST_FAILED)
			log_info("'%s' is protected again", p->interface);
		p->state = POST_OURS;
		return true;
	}
	if (!if_nametoindex(p->interface)) {
		wait_for(p);
		return false;
	}
	if (p->state == POST_OURS)
		say_lost(p, l);
	if (post_rests(p))
		return false;
	if (!post_attach(g, p))
		return true;
	if (p->state == POST_FAILED)
		post_pause(p);
	return false;
}

size_t guard_look(struct guard *g)
{
	struct shield_link links[CONFIG_INTERFACES * 2];
	size_t max = sizeof(links) / sizeof(*links);
	size_t count = shield_links(g->shield, links, max);
	size_t ours = 0;

	if (count > max)
		count = max;
	for (size_t i = 0; i < g->count; i++)
		ours += post_look(g, &g->posts[i],
				  link_find(links, count, g->posts[i].interface));
	return ours;
}
