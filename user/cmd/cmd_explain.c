// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_explain.c - `explain`: why the shield treats an address or a datagram as it does;
 * `watch`: what happens to an address, until it is interrupted.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "cmd/commands.h"
#include "config/config_text.h"
#include "daemon/pidfile.h"
#include "explain/explain.h"
#include "explain/explain_frames.h"
#include "explain/explain_watch.h"
#include "lib/log.h"

#define ADDRESS_LIKE "like 203.0.113.7, 203.0.113.7:27005 or [2001:db8::1]:27005"

static int show(const struct call *call, struct explain *e)
{
	const char *file = call_value(call, OPTION_CONFIG);

	explain_lines(e, file ? file : CONFIG_PATH);
	if (call_has(call, OPTION_JSON))
		return print_json(explain_to_json(e));
	explain_print(e, stdout);
	return print_end("explain");
}

/* The operand, as it was read. */
struct subject {
	bool datagram; /* in input; otherwise an address, in query */
	struct explain_query query;
	struct explain_input input;
	__u8 bytes[EXPLAIN_FRAME];
};

/* The sender of a payload. 0, or the exit status after a message. */
static int take_from(const struct call *call, struct explain_query *ret)
{
	const char *from = call_value(call, OPTION_FROM);

	if (!from || explain_parse(from, ret))
		return 0;
	log_error("explain: --from: '%s' is not " ADDRESS_LIKE, from);
	return EXIT_USAGE;
}

/* An address, a file or digits, in this order. 0, or the exit status after a message. */
static int take_subject(const struct call *call, struct subject *ret)
{
	const char *text = call->operands[0], *wrong;
	int status, err;

	if (explain_parse(text, &ret->query)) {
		if (!call_has(call, OPTION_FROM))
			return 0;
		log_error("explain: --from is for a datagram, and '%s' is an address",
			  text);
		return EXIT_USAGE;
	}
	ret->datagram = true;
	ret->input.bytes = ret->bytes;
	status = take_from(call, &ret->query);
	if (status)
		return status;
	if (!access(text, F_OK)) {
		err = explain_read_file(text, &ret->input);
		return err == -EINVAL || err == -E2BIG ? EXIT_USAGE : exit_status(err);
	}
	wrong = explain_read_hex(text, &ret->input);
	if (!wrong)
		return 0;
	log_error("explain: '%s' %s; an address is " ADDRESS_LIKE, text, wrong);
	return EXIT_USAGE;
}

/*
 * Check that the configuration that is given can be read. 0, or the exit status after a
 * message.
 */
static int take_file(const struct call *call)
{
	const char *file = call_value(call, OPTION_CONFIG);
	char *text = NULL;
	size_t n;
	int err = file ? config_text_read(file, &text, &n) : 0;

	free(text);
	return exit_status(err);
}

static int collect(const struct shield *shield, struct trial *trial,
		   struct subject *subject, struct explain **ret)
{
	int err = subject->datagram
			  ? explain_datagram(shield, trial, &subject->query,
					     &subject->input, ret)
			  : explain_address(shield, trial, &subject->query, ret);

	return err == -EINVAL ? EXIT_USAGE : exit_status(err);
}

int cmd_explain(const struct call *call)
{
	struct subject subject = { .query.service = call_value(call, OPTION_SERVICE) };
	struct explain *explain = NULL;
	struct trial *trial = NULL;
	struct shield *shield;
	int status = take_subject(call, &subject);

	if (!status)
		status = take_file(call);
	if (status)
		return status;
	status = call_open(call, &shield);
	if (status)
		return status;
	subject.query.daemon = pidfile_pid(call_value(call, OPTION_PIN)) > 0;
	status = exit_status(trial_open(shield, &trial));
	if (!status)
		status = collect(shield, trial, &subject, &explain);
	if (!status) {
		status = show(call, explain);
		explain_free(explain);
	}
	trial_close(trial);
	shield_close(shield);
	return status;
}

/* --- watch ------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/* While one look is shown. */
struct showing {
	bool json;
	struct timespec time;
	char text[16]; /* the time of day */
	int status;
};

static void show_line(const struct watch_line *line, void *context)
{
	struct showing *s = context;

	if (s->status)
		return;
	if (s->json)
		s->status = print_json(watch_to_json(
			line, (double)s->time.tv_sec + (double)s->time.tv_nsec / 1e9));
	else
		watch_print(line, s->text, stdout);
}

static int watch_loop(struct watcher *watcher, bool json)
{
	struct showing s = { .json = json };
	struct sigaction action = { .sa_handler = interrupt };
	struct tm tm;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (!interrupted && !s.status) {
		clock_gettime(CLOCK_REALTIME, &s.time);
		strftime(s.text, sizeof(s.text), "%H:%M:%S",
			 localtime_r(&s.time.tv_sec, &tm));
		watch_look(watcher, show_line, &s);
		if (!s.status && (fflush(stdout) || ferror(stdout))) {
			log_error("watch: cannot write: %s", strerror(errno));
			s.status = EXIT_REST;
		}
		/* A signal ends it. */
		if (!interrupted && !s.status)
			nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);
	}
	return s.status;
}

int cmd_watch(const struct call *call)
{
	struct explain_query query = { .service = call_value(call, OPTION_SERVICE) };
	struct watcher *watcher = NULL;
	struct shield *shield;
	int status;

	if (!explain_parse(call->operands[0], &query)) {
		log_error("watch: '%s' is no address " ADDRESS_LIKE, call->operands[0]);
		return EXIT_USAGE;
	}
	status = call_open(call, &shield);
	if (status)
		return status;
	status = exit_status(watch_begin(shield, &query, &watcher));
	if (!status)
		status = watch_loop(watcher, call_has(call, OPTION_JSON));
	watch_end(watcher);
	shield_close(shield);
	return status;
}
