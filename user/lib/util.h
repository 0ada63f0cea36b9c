/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* util.h - macros that C lacks. */
#ifndef UTIL_H
#define UTIL_H

#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))

#endif /* UTIL_H */
