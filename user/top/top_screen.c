// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * top_screen.c - the terminal of `top`: taken, drawn once a second or at a key, given
 * back.
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

#include "lib/log.h"
#include "top/top.h"

#define EVERY_MS   1000
#define ONCE_LINES 60 /* of `--once`, unless LINES says otherwise */

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
	const char *unwanted = getenv("NO_COLOR"); /* no-color.org */

	if (!has_colors() || (unwanted && *unwanted))
		return;
	start_color();
	top_coloured = true;
	use_default_colors();
	init_pair(TOP_PLAIN, -1, -1);
	init_pair(TOP_GOOD, COLOR_GREEN, -1);
	init_pair(TOP_BAD, COLOR_RED, -1);
	init_pair(TOP_NOTE, COLOR_YELLOW, -1);
	init_pair(TOP_FAINT, COLOR_CYAN, -1);
}

int top_run(struct top *top, top_collect *collect, void *context)
{
	struct quiet quiet;
	SCREEN *screen;

	setlocale(LC_ALL, "");
	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		log_error("top: no such terminal: '%s' (set TERM)",
			  getenv("TERM") ? getenv("TERM") : "");
		return -ENOTTY;
	}
	if (!tigetstr("cup")) {
		endwin();
		delscreen(screen);
		log_error(
			"top: the terminal '%s' has no cursor to place: use --once, or set "
			"TERM",
			getenv("TERM"));
		return -ENOTTY;
	}
	if (!quiet_begin(&quiet)) {
		endwin();
		log_error("top: cannot set messages aside: %s", strerror(errno));
		return -errno;
	}
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	colours();
	do {
		if (!top->paused && !collect(top, clock_ns(), context))
			quiet_take(&quiet, top->trouble, sizeof(top->trouble));
	} while (read_keys(top, clock_ns() + EVERY_MS * 1000000ll));
	endwin();
	delscreen(screen);
	quiet_end(&quiet);
	return 0;
}

/* The screen as it was drawn, without its last line, which tells keys. */
static void print_screen(FILE *out)
{
	int last = LINES - 2;
	char text[512];

	for (; last > 0; last--)
		if (mvinnstr(last, 0, text, sizeof(text) - 1) > 0 &&
		    strspn(text, " ") != strlen(text))
			break;
	for (int y = 0; y <= last; y++) {
		size_t n;

		mvinnstr(y, 0, text, sizeof(text) - 1);
		n = strlen(text);
		while (n && text[n - 1] == ' ')
			n--;
		fprintf(out, "%.*s\n", (int)n, text);
	}
}

int top_once(struct top *top, top_collect *collect, void *context)
{
	FILE *nowhere = fopen("/dev/null", "r+e");
	SCREEN *screen = NULL;
	bool good;
	int err;

	if (nowhere) {
		char lines[16];

		snprintf(lines, sizeof(lines), "%d", ONCE_LINES);
		setenv("LINES", lines, 0);
		setenv("COLUMNS", "80", 0);
		screen = newterm("dumb", nowhere, nowhere);
	}
	if (!screen) {
		log_error("top: cannot draw: %s", strerror(errno));
		if (nowhere)
			fclose(nowhere);
		return -EIO;
	}
	/* Rates are between two looks. */
	good = collect(top, clock_ns(), context);
	if (good && !*top->trouble) {
		usleep(EVERY_MS * 1000);
		good = collect(top, clock_ns(), context);
	}
	if (good && !*top->trouble) {
		top_draw(top);
		print_screen(stdout);
	}
	endwin();
	delscreen(screen);
	fclose(nowhere);
	if (!good)
		return -EIO;
	if (*top->trouble) {
		log_error("top: %s", top->trouble);
		return -ENOENT;
	}
	if (!fflush(stdout))
		return 0;
	err = -errno;
	log_error("top: cannot write: %s", strerror(-err));
	return err;
}
