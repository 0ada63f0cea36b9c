/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * page.h - user/daemon/page.html and page.js, inside the program.
 */
#ifndef PAGE_H
#define PAGE_H

#include <stddef.h>

extern const char page_html[];
extern const size_t page_html_size;

#endif /* PAGE_H */
