/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * anew.h - how long frames are that are written anew for each run, and what answers them.
 */
#ifndef ANEW_H
#define ANEW_H

/* Octets: a frame of 74, and padding with a number that nobody looks at. */
#define ANEW	  80
#define BARE_TEXT 800

#endif /* ANEW_H */
