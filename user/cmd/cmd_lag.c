// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_lag.c - `lag`: the daemon's verdicts on the last minute of the followed players.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "cmd/commands.h"
#include "lag/lag_file.h"
#include "lag/lag_json.h"
#include "lib/log.h"

#define LINE_MAX_BYTES 512

/* A player of the output: keys of players.json. */
static const struct json_key player_keys[] = {
	JSON_KEY("service", "string", NULL, "Name of the service."),
	JSON_KEY("address", "string", NULL, "IP address of the player."),
	JSON_KEY("port", "integer", NULL, "UDP port of the player."),
	JSON_KEY("name", "string", NULL, "Name of the player; empty: not known."),
	JSON_KEY("map", "string", NULL, "Map of the game; empty: not known."),
	JSON_OBJECT(
		"lag", "object?", NULL,
		"The verdict on the last whole minute; absent in the player's first one.",
		lag_verdict_keys),
	JSON_END,
};

const struct json_key lag_json_keys[] = {
	JSON_OBJECT("players", "object[]", NULL, "Followed players; at most 256.",
		    player_keys),
	JSON_END,
};

static const char *text_of(const json_t *object, const char *key, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text && *text ? text : otherwise;
}

/* The local time of the minute's begin, as 14:03. */
static void clock_text(const json_t *verdict, char ret[8])
{
	time_t at = (time_t)json_number_value(json_object_get(verdict, "minute"));
	struct tm local;

	strcpy(ret, "-");
	if (at && localtime_r(&at, &local))
		strftime(ret, 8, "%H:%M", &local);
}

/*
 * Print @line. Names are bytes of players, and the daemon, which holds fewer rights than
 * the reader, has written the rest: a control character becomes a question mark.
 */
static void print_line(char *line)
{
	log_make_plain(line);
	for (char *c = line; *c; c++)
		if (*c == '\n' || *c == '\t')
			*c = '?';
	puts(line);
}

static void print_player(const json_t *player)
{
	json_t *verdict = json_object_get(player, "lag");
	const char *ip = text_of(player, "address", "?");
	char line[LINE_MAX_BYTES], address[64], minute[8];
	bool v6 = strchr(ip, ':');

	snprintf(address, sizeof(address), "%s%s%s:%u", v6 ? "[" : "", ip, v6 ? "]" : "",
		 (unsigned int)json_integer_value(json_object_get(player, "port")));
	clock_text(verdict, minute);
	snprintf(line, sizeof(line), "%-16s %-21s %-15s %-6s %-8s %s",
		 text_of(player, "service", "?"), address, text_of(player, "name", "-"),
		 minute, text_of(verdict, "cause", "-"),
		 text_of(verdict, "text", "its first minute is not over"));
	print_line(line);
	if (!verdict)
		return;
	snprintf(line, sizeof(line), "%70s %s", "", text_of(verdict, "history", ""));
	print_line(line);
}

static void print_all(const json_t *players)
{
	const json_t *player;
	size_t i;

	if (!json_array_size(players)) {
		puts("no player is followed; see `follow` in the configuration");
		return;
	}
	printf("%-16s %-21s %-15s %-6s %-8s %s\n", "service", "player", "name", "minute",
	       "cause", "why, and the last minutes");
	json_array_foreach ((json_t *)players, i, player) {
		print_player(player);
	}
}

/* Return @players with the keys of player_keys alone, or NULL: no memory. */
static json_t *shortened(const json_t *players)
{
	json_t *all = json_array(), *player;
	size_t i;

	json_array_foreach ((json_t *)players, i, player) {
		json_t *one = json_object();

		for (const struct json_key *key = player_keys; key->name; key++)
			if (json_object_get(player, key->name))
				json_object_set(one, key->name,
						json_object_get(player, key->name));
		if (json_array_append_new(all, one)) {
			json_decref(all);
			return NULL;
		}
	}
	return all;
}

int cmd_lag(const struct call *call)
{
	char path[LAG_FILE_PATH_MAX];
	struct timespec now;
	json_t *players;
	int err, status = 0;

	lag_file_path(call_value(call, OPTION_PIN), path);
	clock_gettime(CLOCK_REALTIME, &now);
	players = lag_file_read_players(path, now.tv_sec * 1000000000ll + now.tv_nsec,
					&err);
	if (!players && err == -ENOENT) {
		log_error("lag: no daemon writes '%s': start `quakeshield run`", path);
		return EXIT_NOT_LOADED;
	}
	if (!players) {
		log_error("lag: cannot read '%s': %s", path, strerror(-err));
		return exit_status(err);
	}
	if (call_has(call, OPTION_JSON)) {
		status = print_json(json_pack("{s:o}", "players", shortened(players)));
	} else {
		print_all(players);
		status = print_end("lag");
	}
	json_decref(players);
	return status;
}
