// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * trace_clients.c - see trace_clients.h.
 *
 * A user command is known again by its serverTime (Quake III), by the number of its move
 * (DarkPlaces), or by its place: in QuakeWorld and Quake II a datagram holds its own
 * command behind those of the datagrams before.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "decode/trace_clients_internal.h"
#include "lib/info.h"

/* The names of a setting in a client's info string or in its commands. */
static const struct {
	const char *key;
	enum setting setting;
} names[] = {
	{ "rate", SETTING_RATE },
	{ "snaps", SETTING_SNAPS },
	{ "cl_maxpackets", SETTING_MAXPACKETS },
	{ "cl_packetdup", SETTING_PACKETDUP },
	{ "cl_timenudge", SETTING_TIMENUDGE },
	{ "cg_cmdtimenudge", SETTING_TIMENUDGE },
};

struct trace_clients *trace_clients_create(void)
{
	return calloc(1, sizeof(struct trace_clients));
}

void trace_clients_free(struct trace_clients *c)
{
	for (size_t i = 0; c && i < c->n; i++)
		free(c->clients[i]);
	free(c);
}

/* The client of @r, which is new if need be; NULL: there is no room for it. */
static struct client *client_of(struct trace_clients *c, const struct record *r)
{
	bool up = r->direction == DIRECTION_C2S;
	const struct record_address *client = up ? &r->source : &r->destination;
	const struct record_address *server = up ? &r->destination : &r->source;
	struct client *p;

	for (size_t i = 0; i < c->n; i++) {
		p = c->clients[i];
		if (record_address_equal(&p->client, client) &&
		    record_address_equal(&p->server, server))
			return p;
	}
	p = c->n < TRACE_CLIENTS_MAX ? calloc(1, sizeof(*p)) : NULL;
	if (!p) {
		c->passed_over++;
		return NULL;
	}
	p->client = *client;
	p->server = *server;
	c->clients[c->n++] = p;
	return p;
}

/* --- what it says ------------------------------------------------------------------ */

static void say(struct client *p, enum setting s, const void *bytes, size_t n,
		bool by_command)
{
	if (!n || n >= VALUE_MAX)
		return;
	memcpy(p->value[s], bytes, n);
	p->value[s][n] = '\0';
	p->by_command[s] = by_command;
}

static bool is_named(const char *name, const void *key, size_t n)
{
	return strlen(name) == n && !strncasecmp(name, key, n);
}

/* The next word, in quotes with its blanks, of a command; empty: there is none. */
static struct span word(struct span *text)
{
	struct span ret;
	bool quoted = false;

	while (text->n && !quoted && (*text->bytes == ' ' || *text->bytes == '"')) {
		quoted = *text->bytes == '"';
		text->bytes++;
		text->n--;
	}
	ret = (struct span){ text->bytes, 0 };
	while (text->n && (quoted || *text->bytes != ' ') && *text->bytes != '"' &&
	       *text->bytes != '\n') {
		text->bytes++;
		text->n--;
		ret.n++;
	}
	if (text->n && *text->bytes == '"') {
		text->bytes++;
		text->n--;
	}
	return ret;
}

/* userinfo "\rate\25000...", setinfo "rate" "25000", or rate 25000. */
static void say_command(struct client *p, struct span text)
{
	struct span key = word(&text), value, found;
	size_t count = sizeof(names) / sizeof(*names);

	if (is_named("userinfo", key.bytes, key.n)) {
		value = word(&text);
		for (size_t i = 0; i < count; i++)
			if (info_find(value.bytes, value.n, names[i].key, &found))
				say(p, names[i].setting, found.bytes, found.n, true);
		return;
	}
	if (is_named("setinfo", key.bytes, key.n))
		key = word(&text);
	value = word(&text);
	for (size_t i = 0; i < count; i++)
		if (is_named(names[i].key, key.bytes, key.n))
			say(p, names[i].setting, value.bytes, value.n, true);
}

static void read_settings(struct client *p, const struct record *r)
{
	const struct record_tape *tape = r->tape;

	for (size_t i = 0; i < tape->items_used; i++) {
		const struct record_item *item = &tape->items[i];
		const uint8_t *bytes;

		if (item->type != RECORD_TYPE_STRING && item->type != RECORD_TYPE_PAIR)
			continue;
		bytes = tape->bytes + item->at;
		if (item->type == RECORD_TYPE_STRING && item->key &&
		    !strcmp(item->key, "text"))
			say_command(p, (struct span){ bytes, item->size });
		if (item->type != RECORD_TYPE_PAIR)
			continue;
		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
			if (is_named(names[k].key, bytes, item->key_size))
				say(p, names[k].setting, bytes + item->key_size,
				    item->size, r->facts.has & FACT_SEQUENCE);
	}
}

/* --- what is seen ------------------------------------------------------------------ */

static void sample(struct samples *s, int64_t us)
{
	int64_t ms = us / 1000;

	/* Clocks of two maps: what is further apart is no delay. */
	if (ms < -10000 || ms > 10000)
		return;
	s->ms[s->count++ % SAMPLES_KEPT] = (int32_t)ms;
}

static void count_packet(struct client *p, int64_t now_ns)
{
	if (!p->packets++)
		p->first_ns = p->second_ns = now_ns;
	p->last_ns = now_ns;
	if (now_ns - p->second_ns >= SECOND_NS) {
		p->second_ns = now_ns;
		p->in_second = 0;
	}
	if (++p->in_second > p->most)
		p->most = p->in_second;
}

static bool is_object_end(const struct record_tape *tape, size_t i, unsigned int *depth)
{
	if (tape->items[i].type == RECORD_TYPE_OBJECT ||
	    tape->items[i].type == RECORD_TYPE_ARRAY)
		++*depth;
	return tape->items[i].type == RECORD_TYPE_CLOSE && !--*depth;
}

/* The integer @key of the object that opens at @i; false: it has none. */
static bool number_of(const struct record_tape *tape, size_t i, const char *key,
		      int64_t *ret)
{
	unsigned int depth = 0;

	for (; i < tape->items_used; i++) {
		const struct record_item *item = &tape->items[i];

		if (is_object_end(tape, i, &depth))
			return false;
		if (depth == 1 && item->key && item->type <= RECORD_TYPE_UINT &&
		    !strcmp(item->key, key)) {
			*ret = item->i;
			return true;
		}
	}
	return false;
}

static bool seen_at(const struct client *p, uint32_t sequence)
{
	for (size_t i = 0; i < MOVES_KEPT; i++)
		if (p->moves[i].seen && p->moves[i].sequence == sequence)
			return true;
	return false;
}

/* How many earlier datagrams held a command of @number, or a later one. */
static unsigned int held_by(const struct client *p, int64_t number)
{
	unsigned int n = 0;

	for (size_t i = 0; i < MOVES_KEPT; i++)
		n += p->moves[i].seen && p->moves[i].newest >= number;
	return n;
}

static void repeat(struct trace_clients *c, size_t item)
{
	if (c->repeated_n < REPEATS_MAX)
		c->repeated[c->repeated_n++] = (uint32_t)item;
}

/*
 * Return the next element of an array, an object or an array itself; 0: there is none.
 * *@i: first where the array opens, then where the walk goes on. *@depth: first 0.
 */
static size_t element_next(const struct record_tape *tape, size_t *i, unsigned int *depth)
{
	while (*i < tape->items_used) {
		size_t at = (*i)++;
		unsigned int before = *depth;

		if (is_object_end(tape, at, depth))
			break;
		if (before == 1 && *depth == 2)
			return at;
	}
	*i = tape->items_used;
	return 0;
}

/* Count the elements of the array that opens at @i. */
static size_t elements_count(const struct record_tape *tape, size_t i)
{
	unsigned int depth = 0;
	size_t n = 0;

	while (element_next(tape, &i, &depth))
		n++;
	return n;
}

/* An array of commands, which opens at @i. Returns the newest serverTime, or -1. */
static int64_t read_commands(struct trace_clients *c, struct client *p,
			     const struct record *r, size_t i)
{
	const struct record_tape *tape = r->tape;
	size_t n = elements_count(tape, i), element;
	unsigned int depth = 0, oldest = 0;
	int64_t number, newest = -1;
	bool timed = false;

	for (size_t k = 0; (element = element_next(tape, &i, &depth)); k++) {
		uint32_t back = (uint32_t)(n - 1 - k);

		if (number_of(tape, element, "serverTime", &number)) {
			unsigned int held = held_by(p, number);

			timed = true;
			if (held)
				repeat(c, element);
			oldest = held > oldest ? held : oldest;
			newest = number > newest ? number : newest;
		} else if (back && seen_at(p, r->facts.sequence - back)) {
			repeat(c, element);
		}
	}
	if (timed && p->moves_n >= MOVES_KEPT)
		p->dups[oldest < DUPS_MAX ? oldest : DUPS_MAX]++;
	else if (!timed && n)
		p->fixed = n - 1;
	return newest;
}

/* A move of DarkPlaces has a number, and is sent again under it. */
static int64_t read_numbered(struct trace_clients *c, struct client *p,
			     const struct record_tape *tape, size_t i,
			     unsigned int *oldest)
{
	int64_t number;
	unsigned int held;

	if (!number_of(tape, i, "sequence", &number))
		return -1;
	held = held_by(p, number);
	if (held)
		repeat(c, i);
	*oldest = held > *oldest ? held : *oldest;
	return number;
}

static bool is_move(const struct record_tape *tape, size_t i)
{
	const struct record_item *op = &tape->items[i + 1];

	return tape->items[i].type == RECORD_TYPE_OBJECT && i + 1 < tape->items_used &&
	       op->type == RECORD_TYPE_STRING && op->key && !strcmp(op->key, "op") &&
	       op->size == 4 && !memcmp(tape->bytes + op->at, "move", 4);
}

static void read_moves(struct trace_clients *c, struct client *p, const struct record *r)
{
	const struct record_tape *tape = r->tape;
	int64_t newest = -1, number;
	unsigned int oldest = 0;
	bool moved = false, numbered = false;

	for (size_t i = 0; i < tape->items_used; i++) {
		const struct record_item *item = &tape->items[i];

		if (item->type == RECORD_TYPE_ARRAY && item->key &&
		    (!strcmp(item->key, "usercmds") || !strcmp(item->key, "frames"))) {
			number = read_commands(c, p, r, i);
			moved = true;
		} else if (is_move(tape, i)) {
			number = read_numbered(c, p, tape, i, &oldest);
			numbered |= number >= 0;
		} else {
			continue;
		}
		newest = number > newest ? number : newest;
	}
	if (!moved && !numbered)
		return;
	if (numbered && p->moves_n >= MOVES_KEPT)
		p->dups[oldest < DUPS_MAX ? oldest : DUPS_MAX]++;
	p->moves[p->moves_n++ % MOVES_KEPT] =
		(struct move){ r->facts.sequence, newest, true };
}

static void read_server(struct client *p, const struct record *r)
{
	const struct facts *f = &r->facts;
	uint32_t at = f->sequence % SERVER_KEPT;

	if (!(f->has & FACT_SEQUENCE) || f->has & (FACT_RELIABLE | FACT_ACKNOWLEDGES))
		return;
	if (p->server_sent[at].seen && p->server_sent[at].sequence == f->sequence)
		return;
	p->server_sent[at].sequence = f->sequence;
	p->server_sent[at].ns = r->time_ns;
	p->server_sent[at].seen = true;
	p->server_sent[at].acked = false;
	p->server_sent[at].timed = f->has & FACT_TIME;
	p->server_sent[at].time_us = f->time_us;
}

static void read_ack(struct client *p, const struct record *r)
{
	const struct facts *f = &r->facts;
	uint32_t at = f->ack % SERVER_KEPT;

	if (!(f->has & FACT_ACK) || !p->server_sent[at].seen ||
	    p->server_sent[at].sequence != f->ack)
		return;
	if (!p->server_sent[at].acked)
		sample(&p->age, (r->time_ns - p->server_sent[at].ns) / 1000);
	p->server_sent[at].acked = true;
	if (f->has & FACT_COMMAND_TIME && p->server_sent[at].timed)
		sample(&p->lead, f->command_us - p->server_sent[at].time_us);
}

void trace_clients_record(struct trace_clients *c, const struct record *r)
{
	struct client *p;

	c->repeated_n = 0;
	if (!r->source.length || !r->tape || r->status > RECORD_PARTIAL ||
	    r->direction == DIRECTION_UNKNOWN)
		return;
	/* Queries are of no client. */
	if (!(r->facts.has & FACT_SEQUENCE) && strcmp(r->kind, "connect") != 0)
		return;
	p = client_of(c, r);
	if (!p)
		return;
	p->family = r->family;
	if (r->direction != DIRECTION_C2S) {
		read_server(p, r);
		return;
	}
	read_settings(p, r);
	if (!(r->facts.has & FACT_SEQUENCE))
		return;
	count_packet(p, r->time_ns);
	read_moves(c, p, r);
	read_ack(p, r);
}

bool trace_clients_repeated(const struct trace_clients *c, uint32_t item)
{
	for (size_t i = 0; i < c->repeated_n; i++)
		if (c->repeated[i] == item)
			return true;
	return false;
}
