// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ethtool.c - features by name: the kernel gives their names in one order, and bits in
 * it; drivers, queues and rings; and the MTU.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "shield/ethtool.h"

#define FEATURES_MAX 1024 /* the kernel has some 60 */

/*
 * Send the ethtool @command about @interface by the socket @fd; the answer replaces it. 0
 * or -errno, without a message.
 */
static int ask(int fd, const char *interface, void *command)
{
	struct ifreq request = { 0 };

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	request.ifr_data = command;
	return ioctl(fd, SIOCETHTOOL, &request) ? -errno : 0;
}

/*
 * Put the number of features that the kernel knows into *@ret. 0 or -errno; -EOPNOTSUPP:
 * more than FEATURES_MAX, which bounds what the callers allocate.
 */
static int feature_count(int fd, const char *interface, __u32 *ret)
{
	/* With room for one number behind it, which is head.data[0]. */
	union {
		struct ethtool_sset_info head;
		__u32 room[sizeof(struct ethtool_sset_info) / 4 + 1];
	} info = { .head = { .cmd = ETHTOOL_GSSET_INFO,
			     .sset_mask = 1ull << ETH_SS_FEATURES } };
	int err = ask(fd, interface, &info);
	__u32 count = info.room[sizeof(struct ethtool_sset_info) / 4];

	if (err)
		return err;
	if (!info.head.sset_mask || count > FEATURES_MAX)
		return -EOPNOTSUPP;
	*ret = count;
	return 0;
}

/*
 * The number of @feature, or @count. In *@ret. 0 or -errno. @count: of feature_count().
 */
static int feature_find(int fd, const char *interface, const char *feature, __u32 count,
			__u32 *ret)
{
	struct ethtool_gstrings *names;
	int err;

	names = calloc(1, sizeof(*names) + (size_t)count * ETH_GSTRING_LEN);
	if (!names)
		return -ENOMEM;
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_FEATURES;
	names->len = count;
	err = ask(fd, interface, names);
	for (*ret = 0; !err && *ret < count; ++*ret)
		if (!strncmp((const char *)&names->data[*ret * ETH_GSTRING_LEN], feature,
			     ETH_GSTRING_LEN))
			break;
	free(names);
	return err;
}

/*
 * Return 1 if feature @number of @count is on, 0 if not, or -errno. @number: of
 * feature_find(), below @count.
 */
static int feature_is_on(int fd, const char *interface, __u32 number, __u32 count)
{
	__u32 blocks = (count + 31) / 32;
	struct ethtool_gfeatures *features;
	int ret;

	features = calloc(1, sizeof(*features) + blocks * sizeof(*features->features));
	if (!features)
		return -ENOMEM;
	features->cmd = ETHTOOL_GFEATURES;
	features->size = blocks;
	ret = ask(fd, interface, features);
	if (!ret)
		ret = features->features[number / 32].active >> number % 32 & 1;
	free(features);
	return ret;
}

int ethtool_feature(const char *interface, const char *feature)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	__u32 count, number;
	int ret;

	if (fd < 0)
		return -errno;
	ret = feature_count(fd, interface, &count);
	if (!ret)
		ret = feature_find(fd, interface, feature, count, &number);
	if (!ret && number < count)
		ret = feature_is_on(fd, interface, number, count);
	close(fd);
	return ret;
}

/* One command about @interface; 0 or -errno. */
static int ask_once(const char *interface, void *command)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err = fd < 0 ? -errno : ask(fd, interface, command);

	if (fd >= 0)
		close(fd);
	return err;
}

void ethtool_driver(const char *interface, char ret[ETHTOOL_DRIVER])
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };

	_Static_assert(sizeof(info.driver) == ETHTOOL_DRIVER, "a driver's name is cut");
	*ret = 0;
	if (ask_once(interface, &info))
		return;
	memcpy(ret, info.driver, ETHTOOL_DRIVER);
	ret[ETHTOOL_DRIVER - 1] = 0;
}

bool ethtool_driven_by(const char *interface, const char *driver)
{
	char name[ETHTOOL_DRIVER];

	ethtool_driver(interface, name);
	return *name && !strcmp(name, driver);
}

bool ethtool_queues(const char *interface, struct ethtool_count *ret, bool *ret_combined)
{
	struct ethtool_channels c = { .cmd = ETHTOOL_GCHANNELS };

	if (ask_once(interface, &c))
		return false;
	*ret_combined = c.max_combined > 0;
	ret->now = c.combined_count + c.rx_count;
	ret->most = c.max_combined ? c.max_combined : c.max_rx;
	return ret->now > 0;
}

bool ethtool_ring(const char *interface, struct ethtool_count *ret)
{
	struct ethtool_ringparam ring = { .cmd = ETHTOOL_GRINGPARAM };

	if (ask_once(interface, &ring) || !ring.rx_max_pending)
		return false;
	ret->now = ring.rx_pending;
	ret->most = ring.rx_max_pending;
	return true;
}

int ethtool_udp_hash(const char *interface, bool ipv6)
{
	struct ethtool_rxnfc hash = { .cmd = ETHTOOL_GRXFH,
				      .flow_type = ipv6 ? UDP_V6_FLOW : UDP_V4_FLOW };
	int err = ask_once(interface, &hash);

	return err ? err : (int)(hash.data & 0xffff);
}

__u32 ethtool_mtu(const char *interface)
{
	struct ifreq request = { 0 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return 0;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	err = ioctl(fd, SIOCGIFMTU, &request);
	close(fd);
	return err || request.ifr_mtu < 0 ? 0 : (__u32)request.ifr_mtu;
}
