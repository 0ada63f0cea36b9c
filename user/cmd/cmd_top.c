// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_top.c - `top`: look at what is pinned, once a second, daemon alive or not.
 */
#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "daemon/pidfile.h"
#include "lib/log.h"
#include "cmd/options.h"
#include "shield/shield.h"
#include "top/top.h"

#define EVERY_MS 1000

static __s64 clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* Messages must not be written across the screen: kept, the first line is shown. */
struct quiet {
	int saved, kept;
};

static bool quiet_begin(struct quiet *q)
{
	q->saved = dup(STDERR_FILENO);
	q->kept = memfd_create("quakeshield-top", MFD_CLOEXEC);
	return q->saved >= 0 && q->kept >= 0 && dup2(q->kept, STDERR_FILENO) >= 0;
}

static void quiet_take(struct quiet *q, char *ret, size_t size)
{
	ssize_t n = pread(q->kept, ret, size - 1, 0);

	ret[n < 0 ? 0 : n] = 0;
	ret[strcspn(ret, "\n")] = 0;
	if (ftruncate(q->kept, 0) == 0)
		lseek(q->kept, 0, SEEK_SET);
}

static void quiet_end(struct quiet *q)
{
	dup2(q->saved, STDERR_FILENO);
	close(q->saved);
	close(q->kept);
}

/* What the daemon tells of the players it follows; stale figures are nobody's. */
static void collect_figures(struct top *top, const char *pin)
{
	char path[LAG_FILE_PATH_MAX];
	struct timespec now;

	free(top->figures);
	top->figures = NULL;
	lag_file_path(pin, path);
	if (lag_file_read(path, &top->figures))
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	if (now.tv_sec * 1000000000ll + now.tv_nsec - top->figures->time_ns >
	    LAG_FILE_STALE_NS) {
		free(top->figures);
		top->figures = NULL;
	}
}

/* Opened anew each time: it may be detached, upgraded or loaded while we look. */
static void collect(struct top *top, const char *pin, struct quiet *quiet)
{
	struct shield *shield;
	struct stats stats;
	int err = shield_open(pin, &shield);

	top->trouble[0] = 0;
	top->daemon = (int)pidfile_pid(pin);
	if (!err) {
		err = stats_collect(shield, &stats);
		if (!err) {
			top_feed(top, &stats, clock_ns());
			top_players_begin(top);
			shield_players(shield, top_players_add, top);
			top_players_end(top);
			top->clock_ns = shield_clock();
			collect_figures(top, pin);
		}
		shield_close(shield);
	} else if (err == -ENOENT) {
		snprintf(top->trouble, sizeof(top->trouble),
			 "nothing is loaded: start `quakeshield run`");
	}
	if (err && err != -ENOENT)
		quiet_take(quiet, top->trouble, sizeof(top->trouble));
}

static int translate(int key)
{
	switch (key) {
	case KEY_UP:
		return TOP_KEY_UP;
	case KEY_DOWN:
		return TOP_KEY_DOWN;
	case KEY_PPAGE:
		return TOP_KEY_PAGE_UP;
	case KEY_NPAGE:
		return TOP_KEY_PAGE_DOWN;
	default:
		return key < 256 ? key : 0;
	}
}

/* Until the next look is due, or forever when paused; false: the user quits. */
static bool read_keys(struct top *top, __s64 due_ns)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	size_t rows = top_draw(top);

	for (;;) {
		__s64 left = (due_ns - clock_ns()) / 1000000;
		int key;

		if (left <= 0 && !top->paused)
			return true;
		if (poll(&input, 1, top->paused ? EVERY_MS : (int)left + 1) > 0 &&
		    input.revents & (POLLHUP | POLLERR | POLLNVAL))
			return false;
		while ((key = getch()) != ERR) {
			if (!top_key(top, translate(key), rows))
				return false;
			/* A new size, or a new choice. */
			rows = top_draw(top);
		}
	}
}

static void colours(void)
{
	if (!has_colors())
		return;
	start_color();
	use_default_colors();
	init_pair(TOP_PLAIN, -1, -1);
	init_pair(TOP_GOOD, COLOR_GREEN, -1);
	init_pair(TOP_BAD, COLOR_RED, -1);
	init_pair(TOP_NOTE, COLOR_YELLOW, -1);
	init_pair(TOP_FAINT, COLOR_CYAN, -1);
}

static int show(struct top *top, const char *pin)
{
	struct quiet quiet;
	SCREEN *screen;

	setlocale(LC_ALL, "");
	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		log_error("top: no such terminal: '%s' (set TERM)",
			  getenv("TERM") ? getenv("TERM") : "");
		return 1;
	}
	if (!quiet_begin(&quiet)) {
		endwin();
		log_error("top: cannot set messages aside: %s", strerror(errno));
		return 1;
	}
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	colours();
	do {
		if (!top->paused)
			collect(top, pin, &quiet);
	} while (read_keys(top, clock_ns() + EVERY_MS * 1000000ll));
	endwin();
	delscreen(screen);
	quiet_end(&quiet);
	return 0;
}

int cmd_top(int argc, char **argv)
{
	static const char usage[] =
		"usage: quakeshield top [--pin DIR]\n"
		"h shows the keys; it reads what is pinned, daemon alive or not";
	struct options o = { 0 };
	struct shield *shield;
	struct top *top;
	int err;

	err = options_parse(argc, argv, OPTION_PIN, 0, usage, &o);
	if (err)
		return err < 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		log_error("top: needs a terminal: see `quakeshield stats`");
		return 1;
	}
	/* Said before the screen is taken. That nothing is loaded may change. */
	err = shield_open(o.pin, &shield);
	if (!err)
		shield_close(shield);
	else if (err != -ENOENT)
		return 1;
	top = calloc(1, sizeof(*top));
	if (!top)
		return 1;
	err = show(top, o.pin);
	top_free(top);
	return err;
}
