/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * log.h - messages to the operator, on stderr. Where that is the journal, each line has
 * its priority in front (sd-daemon(3)), and no name of ours: the journal knows it.
 *
 * One message for each failure, at the place that knows the input, quoting it. Nothing is
 * ever logged for a packet: packets are counted.
 */
#ifndef LOG_H
#define LOG_H

#include <stdbool.h>

/* Log a line of progress, which is shown only after log_verbose(). */
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Log a warning: the program goes on, and something is lost or doubtful. */
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Log an error: what was asked for has failed. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Log what is wrong (@warning: doubtful) on @line of @path; line 0: no line. @message is
 * printable.
 */
void log_at(const char *path, int line, bool warning, const char *message);

/*
 * Replace in @text what a terminal obeys, or what turns the direction of text, by
 * question marks. Messages quote names and arguments that others chose; every message of
 * this file goes through it.
 */
void log_make_plain(char *text);

/* Log a line with nothing in front. */
void log_plain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Show log_info() lines too (off by default: commands stay silent when all is well). */
void log_verbose(void);

#endif /* LOG_H */
