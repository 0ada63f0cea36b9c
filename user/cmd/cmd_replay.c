// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cmd_replay.c - `replay`: what the shield would decide about the packets of captures.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "cmd/progress.h"
#include "config/config.h"
#include "lib/jsonl.h"
#include "lib/log.h"
#include "lib/pcapng.h"
#include "replay/replay.h"

struct run {
	struct replay *replay;
	struct jsonl json; /* rows, to stdout */
	bool rows, as_json, named, other;
	FILE *write; /* pcapng, or NULL */
	uint8_t block[PCAPNG_BLOCK_MAX];
	bool write_failed;
	bool asked; /* to tell how far it is */
	struct progress progress;
};

static void put(struct run *run, const void *bytes, size_t n)
{
	if (run->write && fwrite(bytes, 1, n, run->write) != n)
		run->write_failed = true;
}

static void each(const struct replay_packet *packet, void *context)
{
	struct run *run = context;

	if (run->other && !packet->differs)
		return;
	if (run->rows && run->as_json)
		replay_to_json(&run->json, packet, run->named, run->other);
	else if (run->rows)
		replay_to_text(&run->json, packet, run->named, run->other);
	if (run->write)
		put(run, run->block, replay_to_pcapng(run->block, packet, run->other));
}

static void file_begins(void *context, const char *name, FILE *file)
{
	struct run *run = context;

	progress_begin(&run->progress, name, file, run->asked);
}

static void file_steps(void *context)
{
	struct run *run = context;

	progress_step(&run->progress);
}

/* --- configurations --------------------------------------------------------------- */

/* As on a card, where a client hears what the shield sends. */
static int settled(int err, struct config *config)
{
	struct config_adjusted adjusted;

	if (!err)
		config_resolve(config, false, &adjusted);
	return err;
}

static int open_replay(const struct call *call, struct run *run)
{
	const char *diff = call_value(call, OPTION_DIFF);
	struct config *config = calloc(1, sizeof(*config));
	struct config *other = diff ? calloc(1, sizeof(*other)) : NULL;
	int err = config && (other || !diff) ? 0 : -ENOMEM;

	if (err)
		log_error("replay: not enough memory");
	if (!err)
		err = settled(call_config(call, config), config);
	if (!err && other)
		err = settled(config_load(diff, other), other);
	if (!err)
		err = replay_open(config, other, each, run, &run->replay);
	free(config);
	free(other);
	return err;
}

/* --- the file that is written ------------------------------------------------------- */

static int open_write(const char *path, struct run *run)
{
	uint8_t head[PCAPNG_BEGIN_MAX];
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), err;
	size_t n;

	if (fd >= 0)
		run->write = fdopen(fd, "w");
	if (run->write) {
		n = pcapng_begin(head, "replay", "quakeshield " VERSION " replay");
		put(run, head, n);
		return 0;
	}
	err = -errno;
	if (fd >= 0)
		close(fd);
	log_error("replay: cannot create '%s': %s%s", path, strerror(-err),
		  err == -EEXIST ? ": name another file, or remove this one" : "");
	return err;
}

/* --- the command ----------------------------------------------------------------------
 */

/* Stay on one processor: each has its own part of some tables. */
static void stay_on_processor(void)
{
	cpu_set_t one;
	int cpu = sched_getcpu();

	CPU_ZERO(&one);
	CPU_SET(cpu < 0 ? 0 : cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static int files(const struct call *call, struct run *run)
{
	const struct replay_how how = {
		.filter = call_value(call, OPTION_FILTER),
		.begin = file_begins,
		.step = file_steps,
		.context = run,
	};
	int status = 0;

	for (int i = 0; i < call->operand_count; i++) {
		if (replay_file(run->replay, call->operands[i], &how))
			status = EXIT_REST;
		progress_end(&run->progress);
	}
	return status;
}

static int finish(const struct call *call, struct run *run)
{
	bool failed = jsonl_flush(&run->json);
	int status = 0, error = errno;

	replay_print(run->replay, run->as_json ? stderr : stdout);
	if (!failed && (fflush(stdout) || ferror(stdout))) {
		failed = true;
		error = errno;
	}
	if (failed) {
		log_error("replay: cannot write: %s", strerror(error));
		status = EXIT_REST;
	}
	if (run->write && (fclose(run->write) || run->write_failed)) {
		log_error("replay: cannot write '%s': %s", call_value(call, OPTION_WRITE),
			  strerror(errno));
		status = EXIT_REST;
	}
	run->write = NULL;
	return status;
}

int cmd_replay(const struct call *call)
{
	const char *write = call_value(call, OPTION_WRITE);
	struct run *run = calloc(1, sizeof(*run));
	int status;

	if (!run) {
		log_error("replay: not enough memory");
		return EXIT_REST;
	}
	jsonl_init(&run->json, stdout);
	run->as_json = call_has(call, OPTION_JSON);
	run->rows = run->as_json || call_has(call, OPTION_VERBOSE);
	run->named = call->operand_count > 1;
	run->other = call_has(call, OPTION_DIFF);
	run->asked = call_has(call, OPTION_PROGRESS);
	stay_on_processor();
	status = exit_status(open_replay(call, run));
	if (!status && write)
		status = exit_status(open_write(write, run));
	if (!status) {
		status = files(call, run);
		status |= finish(call, run);
	}
	if (run->write)
		fclose(run->write);
	replay_close(run->replay);
	free(run);
	return status;
}
