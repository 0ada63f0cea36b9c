// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_run.c - the daemon: load, attach, pin, then wait for signals and look after it all.
 *
 * The shield itself lives in the kernel. This process may be killed, replaced or
 * restarted at any time; the next one takes over what is pinned.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#include "cmd/commands.h"
#include "config/config.h"
#include "daemon/pidfile.h"
#include "samples/samples.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "daemon/priv.h"
#include "daemon/serve.h"
#include "shield/shield.h"

#define LOOK_AFTER_MS 5000 /* how often the attachments are checked */

struct daemon {
	const char *config_path;
	const char *pin;
	bool observe;
	struct config *config;
	struct shield *shield;
	struct serve *serve; /* metrics, health and a page */
	struct samples_view *live; /* what the samples tell */
	int signals; /* signalfd */
	bool lost; /* an interface is not ours any more; said once */
};

static const char usage[] =
	"usage: quakeshield run [-c FILE] [-i IFACE]... [--mode auto|native|skb] [--observe]\n"
	"                       [--pin DIR]\n"
	"  -c, --config FILE  configuration, default " CONFIG_PATH "\n"
	"  -i, --interface IFACE  protect this interface (may be repeated; instead of the file's)\n"
	"      --mode MODE    auto tries native XDP, then generic (skb)\n"
	"      --observe      count verdicts, drop nothing\n"
	"      --pin DIR      keep state below DIR instead of " PIN_ROOT;

static int parse_mode(const char *text, enum attach_mode *ret)
{
	if (!strcmp(text, "auto"))
		*ret = MODE_AUTO;
	else if (!strcmp(text, "native"))
		*ret = MODE_NATIVE;
	else if (!strcmp(text, "skb"))
		*ret = MODE_SKB;
	else {
		log_error("run: no such mode: '%s' (auto, native or skb)", text);
		return -EINVAL;
	}
	return 0;
}

struct arguments {
	char interfaces[CONFIG_INTERFACES][IF_NAMESIZE];
	size_t count;
	int mode; /* enum attach_mode, or -1 */
};

static int add_interface(struct arguments *a, const char *name)
{
	if (a->count == CONFIG_INTERFACES) {
		log_error("run: more than %d interfaces: '%s'", CONFIG_INTERFACES, name);
		return -EINVAL;
	}
	if (strlen(name) >= IF_NAMESIZE || !*name) {
		log_error("run: not an interface name: '%s'", name);
		return -EINVAL;
	}
	strcpy(a->interfaces[a->count++], name);
	return 0;
}

/* 0: go on; 1: help was shown; -EINVAL. */
static int parse(int argc, char **argv, struct daemon *d, struct arguments *a)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "interface", required_argument, NULL, 'i' },
		{ "mode", required_argument, NULL, 'm' },
		{ "observe", no_argument, NULL, 'o' },
		{ "pin", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	enum attach_mode mode;
	int c, err = 0;

	optind = 1;
	opterr = 0;
	while (!err && (c = getopt_long(argc, argv, ":c:i:h", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			d->config_path = optarg;
			break;
		case 'i':
			err = add_interface(a, optarg);
			break;
		case 'm':
			err = parse_mode(optarg, &mode);
			if (!err)
				a->mode = (int)mode;
			break;
		case 'o':
			d->observe = true;
			break;
		case 'p':
			d->pin = optarg;
			break;
		case 'h':
			puts(usage);
			return 1;
		case ':':
			log_error("run: '%s' needs a value", argv[optind - 1]);
			return -EINVAL;
		default:
			log_error("run: no such option: '%s'", argv[optind - 1]);
			return -EINVAL;
		}
	}
	if (!err && optind < argc) {
		log_error("run: unexpected argument: '%s'", argv[optind]);
		err = -EINVAL;
	}
	return err;
}

static int read_config(const struct daemon *d, struct config *ret)
{
	int err = config_load(d->config_path, ret);

	if (!err && d->observe)
		ret->observe = true;
	return err;
}

static const char *mode_text(enum attach_mode mode)
{
	return mode == MODE_SKB ? "generic (skb)" : "native";
}

static int attach_all(struct daemon *d)
{
	const struct config *c = d->config;
	enum attach_mode mode;
	int err;

	for (size_t i = 0; i < c->interface_count; i++) {
		err = shield_attach(d->shield, c->interfaces[i], c->mode, &mode);
		if (err)
			return err;
		log_info("protecting %s, %s mode, %zu service%s%s", c->interfaces[i],
			 mode_text(mode), c->service_count,
			 c->service_count == 1 ? "" : "s",
			 c->observe ? ", observing only: nothing is dropped" : "");
	}
	shield_retire(d->shield);
	return 0;
}

static void reload(struct daemon *d)
{
	struct config *fresh = calloc(1, sizeof(*fresh));

	sd_notify(0, "RELOADING=1");
	if (fresh && !read_config(d, fresh) && !shield_apply(d->shield, fresh)) {
		/* Interfaces are a matter of the command line and of restarts. */
		memcpy(fresh->interfaces, d->config->interfaces,
		       sizeof(fresh->interfaces));
		fresh->interface_count = d->config->interface_count;
		serve_reload(d->serve, fresh);
		free(d->config);
		d->config = fresh;
		fresh = NULL;
		if (samples_reload(d->live, d->config))
			log_error("records go on to where they went");
		log_info("reloaded, %zu services", d->config->service_count);
	} else {
		log_error("the old configuration stays in force");
	}
	free(fresh);
	sd_notify(0, "READY=1");
}

/* Is it still our program that every interface carries? Say so once when it is not. */
static void look_after(struct daemon *d)
{
	struct shield_link links[CONFIG_INTERFACES * 2];
	size_t count = shield_links(d->shield, links, sizeof(links) / sizeof(*links));
	size_t ours = 0;

	shield_tend(d->shield);
	for (size_t i = 0; i < count && i < sizeof(links) / sizeof(*links); i++)
		ours += links[i].ours;
	if (ours < d->config->interface_count && !d->lost)
		log_error(
			"%zu of %zu interfaces carry our program: see `quakeshield status`",
			ours, d->config->interface_count);
	if (ours >= d->config->interface_count && d->lost)
		log_info("all interfaces are protected again");
	d->lost = ours < d->config->interface_count;
	sd_notifyf(0, "WATCHDOG=1\nSTATUS=%zu of %zu interfaces protected", ours,
		   d->config->interface_count);
}

static void on_signal(void *context)
{
	struct daemon *d = context;
	struct signalfd_siginfo info;

	if (read(d->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGHUP)
		reload(d);
	else if (info.ssi_signo == SIGUSR1)
		samples_rotate(d->live);
	else
		loop_stop();
}

static void on_tick(void *context)
{
	look_after(context);
}

static int run(struct daemon *d)
{
	int err;

	if (!loop_add(d->signals, on_signal, d) || !loop_every(LOOK_AFTER_MS, on_tick, d))
		return 1;
	sd_notify(0, "READY=1");
	log_info("ready");
	err = loop_run();
	if (err)
		log_error("cannot wait for events: %s", strerror(-err));
	return err != 0;
}

static int stop(struct daemon *d)
{
	size_t count;

	sd_notify(0, "STOPPING=1");
	if (!d->config->detach_on_exit) {
		log_info(
			"stopping; the shield stays up (on_exit = keep). `quakeshield detach` takes "
			"it down");
		return 0;
	}
	samples_close(d->live);
	d->live = NULL;
	shield_close(d->shield);
	d->shield = NULL;
	if (shield_detach(d->pin, &count))
		return 1;
	log_info("stopped; the shield is down (on_exit = detach)");
	return 0;
}

static int start(struct daemon *d, const struct arguments *a)
{
	int err = read_config(d, d->config);

	if (err)
		return err;
	if (a->mode >= 0)
		d->config->mode = (enum attach_mode)a->mode;
	if (a->count) {
		memcpy(d->config->interfaces, a->interfaces, sizeof(a->interfaces));
		d->config->interface_count = a->count;
	}
	if (!d->config->interface_count) {
		log_error("no interface: name one with -i or in the configuration");
		return -EINVAL;
	}
	err = shield_mount();
	if (!err)
		err = pidfile_claim(d->pin);
	if (!err)
		err = shield_load(d->pin, d->config, &d->shield);
	if (!err)
		err = attach_all(d);
	/* Before privileges go: its port may need them. */
	if (!err)
		err = serve_start(d->shield, d->config, &d->serve);
	if (!err)
		err = samples_open(d->shield, d->config, d->pin, &d->live);
	if (!err) {
		serve_players(d->serve, d->live);
		err = priv_drop();
	}
	if (!err)
		err = priv_confine();
	return err;
}

int cmd_run(int argc, char **argv)
{
	struct arguments a = { .mode = -1 };
	struct daemon d = { 0 };
	int err, status = 1;
	sigset_t mask;

	setvbuf(stderr, NULL, _IOLBF, 0);
	log_verbose();
	err = parse(argc, argv, &d, &a);
	if (err)
		return err < 0;
	d.config = calloc(1, sizeof(*d.config));
	if (!d.config)
		return 1;

	sigemptyset(&mask);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGUSR1);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	d.signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (d.signals >= 0 && !start(&d, &a)) {
		status = run(&d);
		status |= stop(&d);
		pidfile_release(d.pin);
	}

	serve_stop(d.serve);
	samples_close(d.live);
	shield_close(d.shield);
	free(d.config);
	return status;
}
