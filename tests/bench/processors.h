/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * processors.h - the processors that this process may use, and the cores they are on.
 */
#ifndef PROCESSORS_H
#define PROCESSORS_H

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lanes.h"

struct processor {
	int cpu; /* its number */
	int core; /* lowest number of a processor on its core */
	int turn; /* how many processors before it share its core */
};

struct processors {
	struct processor at[LANES]; /* one of each core first */
	int count; /* at most as many as the caller wants */
	int found, cores; /* of all that this process may use */
	char model[128];
};

/* Return the lowest number of a processor on the core of @cpu; @cpu, if the kernel does
 * not say. */
static int processor_core(int cpu)
{
	char path[96];
	int core = cpu;
	FILE *file;

	snprintf(path, sizeof(path),
		 "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	file = fopen(path, "r");
	if (!file)
		return cpu;
	if (fscanf(file, "%d", &core) != 1)
		core = cpu;
	fclose(file);
	return core;
}

static void processor_model(char *ret, size_t size)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[256];

	snprintf(ret, size, "unknown");
	while (file && fgets(line, sizeof(line), file)) {
		char *colon = strstr(line, ": ");

		if (strncmp(line, "model name", 10) != 0 || !colon)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(ret, size, "%s", colon + 2);
		break;
	}
	if (file)
		fclose(file);
}

static int by_turn(const void *a, const void *b)
{
	const struct processor *x = a, *y = b;

	return x->turn != y->turn ? x->turn - y->turn : x->cpu - y->cpu;
}

/*
 * Fill @ret with at most @most processors. False: the kernel does not say which ones this
 * process may use.
 */
static bool processors_read(int most, struct processors *ret)
{
	cpu_set_t set;

	memset(ret, 0, sizeof(*ret));
	if (sched_getaffinity(0, sizeof(set), &set))
		return false;
	for (int cpu = 0; cpu < LANES; cpu++) {
		struct processor *p = &ret->at[ret->found];

		if (!CPU_ISSET((size_t)cpu, &set))
			continue;
		*p = (struct processor){ .cpu = cpu, .core = processor_core(cpu) };
		for (int i = 0; i < ret->found; i++)
			p->turn += ret->at[i].core == p->core;
		ret->cores += !p->turn;
		ret->found++;
	}
	qsort(ret->at, (size_t)ret->found, sizeof(*ret->at), by_turn);
	ret->count = ret->found < most ? ret->found : most;
	processor_model(ret->model, sizeof(ret->model));
	return ret->count > 0;
}

#endif /* PROCESSORS_H */
