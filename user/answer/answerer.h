/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * answerer.h - keeps the templates of answers fresh, before services are flooded and
 * while they are, by asking their servers over loopback: where no budget is in the way,
 * nor can anybody from outside be. And keeps who is known over reboots: known_file.h.
 *
 * A service is asked for as far as config_unasked() has nothing against it. Without
 * the daemon templates are too old within seconds, and all is as without answers.
 */
#ifndef ANSWERER_H
#define ANSWERER_H

#include "config/config.h"
#include "shield/shield.h"

struct answerer;

/*
 * 0 and *@ret, or -errno after a message. @config is only read here. @pin: NULL, or the
 * directory of a daemon of its own, which knows others.
 */
int answerer_start(struct shield *shield, const struct config *config, const char *pin,
		   struct answerer **ret);
void answerer_reload(struct answerer *answerer, const struct config *config);
void answerer_stop(struct answerer *answerer);

#endif /* ANSWERER_H */
