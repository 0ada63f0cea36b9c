// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_config.c - any bytes as a configuration. What is taken must survive being printed
 * and read again; a file that we know to be good must be taken after any other.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config/config.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct config first, second;
static char path[32], path_again[32], path_good[32];

static FILE *memory_file(const char *name, char *ret_path, size_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	snprintf(ret_path, size, "/proc/self/fd/%d", fd);
	return fdopen(fd, "w");
}

static FILE *input, *printed;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	FILE *good = memory_file("good", path_good, sizeof(path_good));

	(void)argc;
	(void)argv;
	input = memory_file("input", path, sizeof(path));
	printed = memory_file("printed", path_again, sizeof(path_again));
	config_default(&first);
	config_print(&first, good);
	fflush(good);
	/* Complaints are not what we look for, and would drown what is; the fuzzer and
	 * the sanitizers write to the descriptor. */
	stderr = fopen("/dev/null", "we");
	return !stderr;
}

static void file_empty(FILE *file)
{
	rewind(file);
	if (ftruncate(fileno(file), 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	file_empty(input);
	if (fwrite(data, 1, size, input) != size || fflush(input))
		abort();
	if (!config_load(path, &first)) {
		file_empty(printed);
		config_print(&first, printed);
		if (fflush(printed) || config_load(path_again, &second))
			abort();
		/* All that is printed is said. */
		for (size_t i = 0; i < second.service_count; i++) {
			second.services[i].validation_given =
				first.services[i].validation_given;
			second.services[i].cache_given = first.services[i].cache_given;
		}
		memcpy(second.interface_files, first.interface_files,
		       sizeof(second.interface_files));
		memcpy(second.interface_lines, first.interface_lines,
		       sizeof(second.interface_lines));
		/* Both were zeroed whole: their padding is equal too. */
		if (memcmp(&first, &second, sizeof(first)) != 0) /* NOLINT */
			abort();
	}
	if (config_load(path_good, &second))
		abort();
	return 0;
}
