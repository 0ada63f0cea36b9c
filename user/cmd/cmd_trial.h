/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cmd_trial.h - `reload --trial`, a part of `reload`. */
#ifndef CMD_TRIAL_H
#define CMD_TRIAL_H

struct call;

/*
 * Judge the present traffic by the configuration of --trial, for the time of --for, and
 * print what it would decide otherwise. Called by cmd_reload() alone. Returns the exit
 * status.
 */
int reload_trial(const struct call *call);

#endif /* CMD_TRIAL_H */
