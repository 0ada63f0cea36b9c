// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * vlan.c - see vlan.h. Read from sysfs: the daemon attaches when it is confined, too, and
 * may open files then.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "shield/ethtool.h"
#include "shield/vlan.h"

#define NET	"/sys/class/net/"
#define ABOVE	"upper_" /* and the name of what lies above */
#define BELOW	"lower_" /* and the name of what lies below */
#define DEEPEST 4 /* devices above each other */

/* Return true if @interface is a VLAN. A file that cannot be read says no. */
static bool is_vlan(const char *interface)
{
	char path[PATH_MAX], line[128];
	bool ret = false;
	FILE *file;

	snprintf(path, sizeof(path), NET "%s/uevent", interface);
	file = fopen(path, "re");
	while (file && !ret && fgets(line, sizeof(line), file))
		ret = !strcmp(line, "DEVTYPE=vlan\n");
	if (file)
		fclose(file);
	return ret;
}

/*
 * Find a VLAN above @interface, at most DEEPEST devices up, and put its name into @ret.
 * Called by vlan_above() and itself. False: there is none.
 */
static bool look(const char *interface, int depth, char ret[IF_NAMESIZE])
{
	const struct dirent *entry;
	char path[PATH_MAX];
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), NET "%s", interface);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		const char *name = entry->d_name + strlen(ABOVE);

		if (strncmp(entry->d_name, ABOVE, strlen(ABOVE)) != 0)
			continue;
		if (is_vlan(name)) {
			snprintf(ret, IF_NAMESIZE, "%s", name);
			found = true;
		} else if (depth < DEEPEST) {
			found = look(name, depth + 1, ret);
		}
	}
	if (dir)
		closedir(dir);
	return found;
}

bool vlan_above(const char *interface, char ret[IF_NAMESIZE])
{
	return look(interface, 1, ret);
}

/* Return true if @card itself does so. A veth never does, whatever it says. */
static bool untags(const char *card)
{
	return ethtool_feature(card, "rx-vlan-hw-parse") == 1 &&
	       !ethtool_driven_by(card, "veth");
}

bool vlan_untags(const char *interface, char ret[IF_NAMESIZE])
{
	const struct dirent *entry;
	bool found = false, joins = false;
	char path[PATH_MAX];
	DIR *dir;

	snprintf(path, sizeof(path), NET "%s", interface);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		const char *name = entry->d_name + strlen(BELOW);

		if (strncmp(entry->d_name, BELOW, strlen(BELOW)) != 0)
			continue;
		joins = true;
		found = untags(name);
		if (found)
			snprintf(ret, IF_NAMESIZE, "%s", name);
	}
	if (dir)
		closedir(dir);
	if (joins || !untags(interface))
		return found;
	snprintf(ret, IF_NAMESIZE, "%s", interface);
	return true;
}
