/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reference_tables.h - writes the table of tables in docs/ARCHITECTURE.md: the rows of
 * tables.h.
 */
#ifndef REFERENCE_TABLES_H
#define REFERENCE_TABLES_H

#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reference_limits.h"
#include "lab/tables.h"
#include "shield/shield_internal.h"

/* Entries and bytes of the map @name, as the loader has it. */
static void tables_map(const char *name, size_t *ret_entry, size_t *ret_entries)
{
	static const struct {
		const char *name;
		size_t entry, entries;
	} maps[] = {
#define AS_MAP(name, type, key, value, entries)                                         \
	{ #name,                                                                        \
	  sizeof(value) + (BPF_MAP_TYPE_##type == BPF_MAP_TYPE_HASH ||                  \
					   BPF_MAP_TYPE_##type == BPF_MAP_TYPE_LPM_TRIE \
				   ? sizeof(key)                                        \
				   : 0),                                                \
	  entries },
		SHIELD_MAPS(AS_MAP)
#undef AS_MAP
	};

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		if (strcmp(maps[i].name, name) != 0)
			continue;
		*ret_entry = maps[i].entry;
		if (!*ret_entries)
			*ret_entries = maps[i].entries;
		return;
	}
	fprintf(stderr, "reference: no map '%s'\n", name);
	exit(1);
}

static void tables_size(FILE *out, size_t bytes)
{
	if (bytes < 1024)
		fprintf(out, "%zu B", bytes);
	else
		limits_size(out, bytes);
}

static void tables_part(FILE *out, const char *title, const struct tables_row *row)
{
	fprintf(out,
		"\n### %s\n\n| table | key | entry | total | written by | when full | a refused datagram |\n"
		"| --- | --- | --- | --- | --- | --- | --- |\n",
		title);
	for (; row->name; row++) {
		size_t entry = row->entry, entries = row->entries;

		if (!entry)
			tables_map(row->name, &entry, &entries);
		fprintf(out, "| %s | %s | ", row->name, row->key);
		tables_size(out, entry);
		fputs(" | ", out);
		tables_size(out, entry * entries);
		fprintf(out, "%s%s | %s | %s | %s |\n", row->each ? " " : "",
			row->each ? row->each : "", row->writer, row->full, row->refused);
	}
}

static void tables_page(FILE *out)
{
	tables_part(out, "By a remote end", tables_by_end);
	tables_part(out, "By a port or service", tables_by_service);
	tables_part(out, "Others", tables_other);
	fputc('\n', out);
}

#endif /* REFERENCE_TABLES_H */
