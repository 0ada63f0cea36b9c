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

/*
 * Return which sets are to be changed. Without CAP_SETPCAP, as under the systemd unit,
 * the bounding set cannot be, and libcap-ng would warn of that in the system's log at
 * each start. The unit has bounded it then, and no_new_privs holds all the same.
 */
static capng_select_t sets(void)
{
	capng_clear(CAPNG_SELECT_BOTH);
	return !capng_get_caps_process() &&
			       capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP)
		       ? CAPNG_SELECT_BOTH
		       : CAPNG_SELECT_CAPS;
}

int priv_drop(void)
{
	capng_select_t changed = sets();

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) {
		log_error("cannot set no_new_privs: %s", strerror(errno));
		return -errno;
	}
	capng_clear(CAPNG_SELECT_BOTH);
	capng_updatev(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET,
		      CAP_BPF, CAP_NET_ADMIN, -1);
	if (capng_apply(changed)) {
		log_error("cannot give up capabilities");
		return -EPERM;
	}
	return 0;
}
