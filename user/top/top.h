/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * top.h - what `quakeshield top` shows: the model, which knows no terminal, and the
 * drawing, which knows nothing else.
 *
 *	cmd_top.c	collects once a second, reads keys
 *	top_screen.c	the terminal, once a second or at a key
 *	top_draw.c	the frame and the page of services
 *	top_service.c	what is drawn of the service that is chosen
 *	top_players.c	the page of players, with the lagometer
 *	top_paint.c	text in colours, within the screen
 *	top.c		changes the model: another snapshot, keys
 *	top_order.c	the order of services, and which of them are quiet
 *	top_model.c	reads the model: what is chosen, rates, attacks
 */
#ifndef TOP_H
#define TOP_H

#include "incident/incident_sources.h"
#include "stats/stats_rates.h"
#include "lag/lag_file.h"
#include "stats/stats.h"

enum top_page {
	TOP_SERVICES,
	TOP_PLAYERS,
	TOP_HELP,
	TOP_PAGES,
};

enum top_order {
	TOP_BY_PACE,
	TOP_BY_TOTAL,
	TOP_BY_NAME,
	TOP_ORDERS,
};

/* A service is one of these, and stands in this order, unless sorted by name. */
enum top_state {
	TOP_ATTACKED,
	TOP_ACTIVE,
	TOP_QUIET, /* no player, and nothing received or sent for TOP_QUIET_S */
	TOP_STATES,
};
#define TOP_QUIET_S 60

/* Keys that are no character. */
enum top_key {
	TOP_KEY_UP = 256,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
};

/* One kind and reason of a service. */
struct top_row {
	enum wire_kind kind;
	enum reason reason;
	bool out;
	struct stats_pace_counter rates;
	struct counter total;
};
#define TOP_ROWS (2 * KIND_COUNT * REASON_COUNT)

struct top_player {
	struct player_key key;
	struct player player;
};

struct top {
	/* Collected. */
	struct stats now, before;
	__s64 now_ns; /* CLOCK_MONOTONIC; 0: nothing yet */
	double seconds; /* between before and now; 0: there is no pace yet */
	struct top_player players[PLAYERS_MAX];
	size_t player_count;
	size_t shown[SERVICES_MAX]; /* indices of now's services, in order */
	/* When of each of now's services something was counted last; 0: not yet. */
	__s64 stirred_ns[SERVICES_MAX];
	__u64 clock_ns; /* shield_clock() then */
	struct lag_file *figures; /* of followed players; NULL: the daemon has none */
	json_t *attacks; /* that go on, as incident_now_read() has them; NULL: none */
	int daemon; /* its process; 0: none */
	char trouble[160]; /* why there is nothing newer; "": nothing is wrong */
	/* Chosen. */
	enum top_page page;
	enum top_order order;
	bool paused;
	char service[NAME_MAX_LEN]; /* by name, as services may move */
	struct player_key player;
	size_t scroll; /* rows of the service that are above the screen */
};

/* Take over @stats (and free it in time), collected at @now_ns. */
void top_feed(struct top *top, struct stats *stats, __s64 now_ns);
/*
 * Begin to take players, one by one, by top_players_add(); they are in order after
 * top_players_end().
 */
void top_players_begin(struct top *top);

/*
 * Add one player. @top is a struct top: the signature is that of shield_players()'s
 * callback. More than PLAYERS_MAX are left out.
 */
void top_players_add(const struct player_key *key, const struct player *player,
		     void *top);
/* Put the players in order: those that have played longest first. */
void top_players_end(struct top *top);
/* Free @top, which must come from calloc(3), and all that it holds. */
void top_free(struct top *top);

/*
 * Put now's services in order, after a change of them, of attacks or of the order. Uses a
 * static buffer: one thread may call it.
 */
void top_services_sort(struct top *top);

/* Return the state of @service, one of now's. Before there is a rate none is quiet. */
enum top_state top_state(const struct top *top, const struct stats_service *service);

/*
 * Count how many services in the places @from to @to, the last one not included, are in
 * each state.
 */
void top_states(const struct top *top, size_t from, size_t to, size_t ret[TOP_STATES]);

/*
 * Act on a key: a character or enum top_key. @page_rows: how many rows a page has. False:
 * the user quits.
 */
bool top_key(struct top *top, int key, size_t page_rows);

/* Return the service that is shown in place @at, counted from 0. */
const struct stats_service *top_service_at(const struct top *top, size_t at);
/* Return the chosen service, and its place; NULL: there is none at all. */
const struct stats_service *top_service(const struct top *top, size_t *ret_at);
/* Compute how fast @service's counters grow, between the last two snapshots. */
void top_rates(const struct top *top, const struct stats_service *service,
	       struct stats_rates *ret);

/*
 * Fill @ret, of TOP_ROWS, with the service's rows that counted anything, in order.
 * Returns how many.
 */
size_t top_rows(const struct top *top, const struct stats_service *service,
		struct top_row *ret);

/* Write where the attack on @service comes from, as words; "": there is none. */
void top_from(const struct top *top, const char *service, char ret[INCIDENT_FROM]);

/* Return true if the service (or "", the machine) is being attacked. */
bool top_attacked(const struct top *top, const char *service);
/* Bytes of that line, with the NUL. */
#define TOP_LINE 256
/* Write all services under attack, and how many if several, in one line; "": none is. */
void top_attacks(const struct top *top, char ret[TOP_LINE]);

/* Return the chosen player, and its place; NULL: there is no player. */
const struct top_player *top_player(const struct top *top, size_t *ret_index);
/* Return the daemon's figures of one player, or NULL: it has none. Belongs to @top. */
const struct lag_file_row *top_figures(const struct top *top,
				       const struct player_key *key);

/* Bytes of a short number or age, with the NUL. */
#define TOP_NUMBER 8

/*
 * Write @x in at most five characters: "0", "<0.1", "7.5", "320", "1.2k", "34M"; "-" if
 * it is negative or not finite.
 */
void top_number(double x, char ret[TOP_NUMBER]);
/* Write a duration in at most five characters: "12s", "3m05", "2h10", "9d". */
void top_age(__u64 ns, char ret[TOP_NUMBER]);
#define TOP_ADDRESS 56
/* Write a player's address and port: "192.0.2.7:27005", "[2001:db8::1]:27005". */
void top_address(const struct player_key *key, char ret[TOP_ADDRESS]);

/* --- the screen --------------------------------------------------------------- */

/*
 * Fills @top anew at @now_ns of the monotonic clock. False: what was written to stderr
 * meanwhile is the trouble that the screen shows.
 */
typedef bool top_collect(struct top *top, __s64 now_ns, void *context);

/* Show the screen until the user quits. 0, or -errno after a message. */
int top_run(struct top *top, top_collect *collect, void *context);

/*
 * Print one screen as text on stdout, after a second. 0 or -errno after a message;
 * -ENOENT: nothing is loaded. LINES and COLUMNS of the environment are its size.
 */
int top_once(struct top *top, top_collect *collect, void *context);

/* --- drawing, within curses -------------------------------------------------- */

/* Draw the whole screen. Returns how many rows of counters had room. */
size_t top_draw(const struct top *top);
/* Draw the players from line @from to @to, the last one not included. */
void top_draw_players(const struct top *top, int from, int to);
/* Return how many lines the rate limits of a service take. */
int top_budget_lines(void);

/*
 * Draw one service from line @from to @to, the last one not included. Returns how many
 * rows of counters had room.
 */
size_t top_draw_service(const struct top *top, const struct stats_service *service,
			int from, int to);

#define TOP_COLUMNS 80 /* the columns of what is drawn whole need no more */
/* Return how many columns a wide screen has to spare, up to @most. */
int top_spare(int most);

extern bool top_coloured; /* the terminal has colours, and they are wanted */

enum top_colour {
	TOP_PLAIN,
	TOP_GOOD,
	TOP_BAD,
	TOP_NOTE,
	TOP_FAINT,
};
/* Print text at line @y, column @x; it is cut at the edge of the screen. */
void top_put(int y, int x, int attributes, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Return the attributes of a colour, or of what stands for it on a screen without
 * colours.
 */
int top_attributes(enum top_colour colour);

#endif /* TOP_H */
