// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * other_object.c - loaded before libbpf: a program that has the shield in it loads the
 * one in the file that $SHIELD_OBJECT names instead. Its maps and programs must have the
 * same names. So fresh.py breaks bpf/ without building a test again.
 */
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef int open_skeleton(struct bpf_object_skeleton *s,
			  const struct bpf_object_open_opts *opts);

int bpf_object__open_skeleton(struct bpf_object_skeleton *s,
			      const struct bpf_object_open_opts *opts)
{
	open_skeleton *libbpf =
		(open_skeleton *)dlsym(RTLD_NEXT, "bpf_object__open_skeleton");
	const char *path = getenv("SHIELD_OBJECT");
	struct stat st;
	void *object;
	int fd;

	if (!path || strcmp(s->name, "shield_bpf") != 0)
		return libbpf(s, opts);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		close(fd);
		return -EIO;
	}
	object = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (object == MAP_FAILED)
		return -ENOMEM;
	s->data = object;
	s->data_sz = (size_t)st.st_size;
	return libbpf(s, opts);
}
