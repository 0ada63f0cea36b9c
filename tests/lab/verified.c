// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * verified.c - how many instructions the verifier walked before it took a program.
 *
 *	verified PIN...		PROGRAM COUNT, a line each; 0: unknown here
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

static int show(const char *path)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);
	int fd = bpf_obj_get(path);
	int err = fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size);

	if (err)
		fprintf(stderr, "verified: '%s': %s\n", path, strerror(errno));
	else
		printf("%s %u\n", info.name, info.verified_insns);
	if (fd >= 0)
		close(fd);
	return err;
}

int main(int argc, char **argv)
{
	int err = argc < 2;

	if (err)
		fputs("usage: verified PIN...\n", stderr);
	for (int i = 1; i < argc; i++)
		err |= show(argv[i]);
	return err;
}
