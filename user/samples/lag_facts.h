/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lag_facts.h - what one record says about a connection: numbers, flags, names.
 */
#ifndef LAG_FACTS_H
#define LAG_FACTS_H

#include "lib/reader.h"
#include "lib/record.h"

struct lag_facts {
	bool has_sequence;
	uint32_t sequence;
	bool reliable; /* NetQuake: of the reliable messages, which count apart */
	bool acknowledges; /* NetQuake: and this is the acknowledgement of one */
	bool slice; /* not the first part of a message */
	bool has_ack;
	uint32_t ack; /* the newest message of the other side that has arrived */
	bool delayed; /* a snapshot after one that was held back */
	struct span name, map; /* bytes of the record's tape; n = 0: not said */
};

void lag_facts_read(const struct record *r, struct lag_facts *ret);

#endif /* LAG_FACTS_H */
