// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * probe_say.c - adds a finding, and what fixes it. Called by the files that judge.
 */
#include <stdarg.h>
#include <stdio.h>

#include "probe/probe.h"

void probe_say(struct probe_findings *to, const char *check, enum probe_result result,
	       const char *format, ...)
{
	struct probe_finding *f;
	va_list arguments;

	if (to->count == PROBE_FINDINGS)
		return;
	f = &to->rows[to->count++];
	f->check = check;
	f->result = result;
	*f->fix = 0;
	va_start(arguments, format);
	vsnprintf(f->text, sizeof(f->text), format, arguments);
	va_end(arguments);
}

void probe_fix(struct probe_findings *to, const char *format, ...)
{
	struct probe_finding *f = &to->rows[to->count - 1];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(f->fix, sizeof(f->fix), format, arguments);
	va_end(arguments);
}
