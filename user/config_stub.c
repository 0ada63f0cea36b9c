// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Until config.c is here: links, and says what is missing. */
#include <errno.h>

#include "config.h"
#include "log.h"

__attribute__((weak)) int config_load(const char *path, struct config *ret)
{
	(void)path;
	(void)ret;
	log_error("this build has no configuration parser");
	return -ENOSYS;
}
