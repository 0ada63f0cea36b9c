// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * priv.c - see priv.h.
 */
#include <cap-ng.h>
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include "lib/log.h"
#include "daemon/priv.h"

int priv_drop(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) {
		log_error("cannot set no_new_privs: %s", strerror(errno));
		return -errno;
	}
	capng_clear(CAPNG_SELECT_BOTH);
	capng_updatev(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET,
		      CAP_BPF, CAP_NET_ADMIN, -1);
	if (capng_apply(CAPNG_SELECT_BOTH)) {
		log_error("cannot give up capabilities");
		return -EPERM;
	}
	return 0;
}
