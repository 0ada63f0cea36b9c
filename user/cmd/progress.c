// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * progress.c - see progress.h.
 */
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/progress.h"
#include "lib/log.h"

#define STEPS	  1024
#define SECOND_NS 1000000000LL
#define MB	  1e6

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * SECOND_NS + t.tv_nsec;
}

/* The unpacked size of a packed file is not known. */
static int64_t size_of(FILE *file)
{
	struct stat st;
	int fd = fileno(file);

	return fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) ? st.st_size : 0;
}

void progress_begin(struct progress *p, const char *name, FILE *file, bool asked)
{
	memset(p, 0, sizeof(*p));
	snprintf(p->name, sizeof(p->name), "%s", name);
	log_make_plain(p->name);
	p->file = file;
	p->size = size_of(file);
	p->began_ns = p->printed_ns = now();
	/* Not into the lines that are shown on the same terminal. */
	p->on = asked || (p->size >= PROGRESS_LARGE && isatty(STDERR_FILENO) &&
			  !isatty(STDOUT_FILENO));
}

static void tell(struct progress *p, int64_t now_ns)
{
	double seconds = (double)(now_ns - p->began_ns) / SECOND_NS;
	double done = (double)ftello(p->file), rate = seconds > 0 ? done / seconds : 0;

	if (done < 0)
		done = rate = 0;
	fprintf(stderr, "\r%s: %.1f MB", p->name, done / MB);
	if (p->size)
		fprintf(stderr, " of %.1f, %.0f %%", (double)p->size / MB,
			100 * done / (double)p->size);
	fprintf(stderr, ", %.1f MB/s", rate / MB);
	if (p->size && rate > 0)
		fprintf(stderr, ", %.0f s left", ((double)p->size - done) / rate);
	fputs("\033[K", stderr);
	p->printed = true;
}

void progress_step(struct progress *p)
{
	int64_t now_ns;

	if (!p->on || ++p->steps % STEPS)
		return;
	now_ns = now();
	if (now_ns - p->printed_ns < SECOND_NS)
		return;
	p->printed_ns = now_ns;
	tell(p, now_ns);
}

void progress_end(struct progress *p)
{
	if (!p->on)
		return;
	tell(p, now());
	fputc('\n', stderr);
}
