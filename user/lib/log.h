/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * log.h - messages to the operator, on stderr (systemd's journal takes them from there).
 *
 * One message for each failure, at the place that knows the input, quoting it. Nothing is
 * ever logged for a packet: packets are counted.
 */
#ifndef LOG_H
#define LOG_H

void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Show log_info() lines too (off by default: commands stay silent when all is well). */
void log_verbose(void);

#endif /* LOG_H */
