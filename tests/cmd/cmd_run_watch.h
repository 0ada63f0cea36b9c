/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_run_watch.h - stand-ins for the monitor of the interfaces, the witness and the
 * check of programs that do not run, and for the file of the lagometer. A part of
 * cmd_run_world.h, which includes it after does() and note().
 */
#ifndef CMD_RUN_WATCH_H
#define CMD_RUN_WATCH_H

struct witness *witness_open(struct shield *shield, const struct config *config)
{
	assert_ptr_equal(shield, SHIELD);
	return (struct witness *)(void *)config;
}

void witness_reload(struct witness *witness, const struct config *config)
{
	assert_non_null(witness);
	assert_non_null(config);
}

void witness_look(struct witness *witness)
{
	(void)witness;
}

void witness_close(struct witness *witness)
{
	(void)witness;
}

/* --- the monitor of the interfaces ------------------------------------------ */

int attach_monitor_precheck(const struct attach_monitor *monitor,
			    const struct config *config)
{
	note("of %s%s%s: ", text(monitor->pin), monitor->take_over ? ", takes over" : "",
	     monitor->wait ? ", waits" : "");
	return does_config("attach_monitor_precheck", config);
}

int attach_monitor_start(struct attach_monitor *monitor, const struct config *config)
{
	assert_ptr_equal(monitor->shield, SHIELD);
	monitor->count = config->interface_count;
	return does_config("attach_monitor_start", config);
}

void attach_monitor_let_go(struct attach_monitor *monitor)
{
	assert_ptr_equal(monitor->shield, SHIELD);
	does("attach_monitor_let_go");
}

void attach_monitor_undo(struct attach_monitor *monitor)
{
	assert_ptr_equal(monitor->shield, SHIELD);
	does("attach_monitor_undo");
}

void attach_monitor_reload(struct attach_monitor *monitor, const struct config *config)
{
	monitor->count = config->interface_count;
	does_config("attach_monitor_reload", config);
}

/* The check of programs that do not run sees nothing here: test_run_check tests it. */
struct run_check *run_check_open(struct shield *shield, struct attach_monitor *monitor)
{
	(void)shield;
	return (struct run_check *)(void *)monitor;
}

void run_check_look(struct run_check *check)
{
	assert_non_null(check);
}

void run_check_close(struct run_check *check)
{
	(void)check;
}

size_t attach_monitor_repair(struct attach_monitor *monitor)
{
	assert_ptr_equal(monitor->shield, SHIELD);
	does("attach_monitor_repair");
	return (size_t)w->protected_count;
}

void lag_file_path(const char *pin_dir, char ret[LAG_FILE_PATH_MAX])
{
	snprintf(ret, LAG_FILE_PATH_MAX, "figures of %s", text(pin_dir));
}

void lag_file_remove(const char *path)
{
	note("removed: %s\n", path);
}

#endif
