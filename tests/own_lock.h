/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own_lock.h - a file of this process alone for flock(), in place of the directory that a
 * shield locks. Tests that run side by side would wait for each other on a directory that
 * all have.
 */
#ifndef OWN_LOCK_H
#define OWN_LOCK_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

/* Descriptor of a new empty file in memory, or -1. */
static inline int own_lock(void)
{
	return memfd_create("lock", MFD_CLOEXEC);
}

/* Descriptor of the file behind @lock, opened anew, so that flock() sees another owner,
 * or -1. */
static inline int own_lock_again(int lock)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", lock);
	return open(path, O_RDWR | O_CLOEXEC);
}

#endif
