// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shield_migrate.c - takes over the state that is worth keeping of an older quakeshield
 * with tables of another shape: runtime list entries, players of running games, and the
 * ports that their games have moved to. Counters, limits and debts begin anew.
 *
 * The old tables describe themselves: next to them is pinned, as "types", the BTF of the
 * object that made them, by which view.h finds members by name. So a member with a new
 * meaning needs another name. Services are matched by name too.
 *
 * Called by shield_load() under the lock of the tables: migrate_lists() before the
 * configuration is applied, migrate_games() after it, since services are matched by the
 * names in force. Nothing old may be trusted: view.h bounds each member, and what is
 * missing is zero. A table that cannot be read is logged and left.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "lib/log.h"
#include "lib/util.h"
#include "players.h"
#include "shield/shield_internal.h"
#include "shield/view.h"

#define TYPES_MAX	(1u << 20) /* octets of BTF; an object of ours has some 40,000 */
#define OLD_ENTRIES_MAX (1u << 22) /* of a list, in any version */
#define SLOTS_MAX	65536 /* services of the old tables; a slot has 16 bits */

/* --- types beside the tables ------------------------------------------------- */

int types_pin(const struct shield *s, const struct btf *btf)
{
	__u32 size, zero = 0;
	const void *raw = btf__raw_data(btf, &size);
	int fd, err = 0;

	if (!raw || size > TYPES_MAX)
		return -E2BIG;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "types", sizeof(zero), size, 1, NULL);
	if (fd < 0)
		return -errno;
	if (bpf_map_update_elem(fd, &zero, raw, BPF_ANY))
		err = -errno;
	if (!err)
		err = pin_replace(fd, s->dir, "types");
	close(fd);
	return err;
}

/*
 * Value 0 of the array @name in @dir, in memory of its own. NULL: cannot be read. The
 * caller frees it. @most: bytes; *@ret_size is set only if the map is there.
 */
static void *array_read(const char *dir, const char *name, __u32 most, __u32 *ret_size)
{
	struct bpf_map_info info = { 0 };
	__u32 length = sizeof(info), zero = 0;
	int fd = pin_open(dir, name);
	void *value = NULL;

	if (fd < 0)
		return NULL;
	if (!bpf_obj_get_info_by_fd(fd, &info, &length) &&
	    info.type == BPF_MAP_TYPE_ARRAY && info.key_size == sizeof(zero) &&
	    info.value_size <= most)
		value = malloc(info.value_size);
	if (value && bpf_map_lookup_elem(fd, &zero, value)) {
		free(value);
		value = NULL;
	}
	close(fd);
	*ret_size = info.value_size;
	return value;
}

/* --- old tables --------------------------------------------------------------- */

struct old {
	struct shield *shield;
	const struct btf *ours;
	struct btf *btf;
	__u8 *memory;
	struct view live, tables; /* struct live, and of its tables those in force */
	int slots[SLOTS_MAX]; /* by old slot: ours, -1: no service of that name */
	__u32 slot_count;
	__u32 players, ports, refused; /* come over; found no room */
};

/*
 * The variable live in the section that its map is of. Nothing (size 0) if there is none.
 */
static struct view find_live(const struct btf *btf, __u8 *memory, __u32 size)
{
	__s32 section = btf__find_by_name_kind(btf, ".bss", BTF_KIND_DATASEC);
	const struct btf_type *t =
		section > 0 ? btf__type_by_id(btf, (__u32)section) : NULL;

	for (__u32 i = 0; t && i < btf_vlen(t); i++) {
		const struct btf_var_secinfo *info = &btf_var_secinfos(t)[i];
		const struct btf_type *var = btf__type_by_id(btf, info->type);

		const char *name = var ? btf__name_by_offset(btf, var->name_off) : NULL;

		if (name && info->offset <= size && !strcmp(name, "live"))
			return view_of(btf, (__s32)var->type, memory + info->offset,
				       size - info->offset);
	}
	return (struct view){ 0 };
}

/*
 * Return the slot of our service with this name of @length letters, which need not end
 * with NUL; -1: there is none.
 */
static int our_slot(const struct shield *s, const char *name, size_t length)
{
	struct service service;

	for (__u32 slot = 0; slot < s->capacity; slot++)
		if (shield_service(s, slot, &service) && length < sizeof(service.name) &&
		    !strncmp(service.name, name, length) && !service.name[length])
			return (int)slot;
	return -1;
}

/*
 * Fill old->slots with our slot for each old one, of the same name and protocol: what was
 * learned of players by the rules of another would have all of their moves dropped
 * (forget_other_protocols()). Called after old_open(), before players and ports are
 * migrated.
 */
static void match_services(struct old *old)
{
	struct view services = view_member(&old->tables, "services");
	__u32 count = view_count(&services);

	old->slot_count = count < SLOTS_MAX ? count : SLOTS_MAX;
	for (__u32 i = 0; i < old->slot_count; i++) {
		struct view service = view_element(&services, i);
		struct view name = view_member(&service, "name");
		const char *text = (const char *)name.at;
		struct service ours;
		int slot = -1;

		if (name.size && view_member_number(&service, "active"))
			slot = our_slot(old->shield, text, strnlen(text, name.size));
		if (slot >= 0 && shield_service(old->shield, (__u32)slot, &ours) &&
		    ours.family != view_member_number(&service, "family"))
			slot = -1;
		old->slots[i] = slot;
	}
}

/*
 * False, with nothing to close: the tables in @dir do not explain themselves. On true the
 * caller frees old->btf and old->memory.
 */
static bool old_open(struct old *old, const char *dir)
{
	__u32 types_size, size;
	void *types = array_read(dir, "types", TYPES_MAX, &types_size);
	struct view tables;

	old->btf = types ? btf__new(types, types_size) : NULL;
	free(types);
	if (!old->btf || libbpf_get_error(old->btf)) {
		old->btf = NULL;
		return false;
	}
	old->memory = array_read(dir, "live", 1u << 30, &size);
	if (old->memory)
		old->live = find_live(old->btf, old->memory, size);
	tables = view_member(&old->live, "tables");
	old->tables =
		view_element(&tables, view_member_number(&old->live, "generation") & 1);
	if (old->tables.size)
		return true;
	btf__free(old->btf);
	free(old->memory);
	old->btf = NULL;
	old->memory = NULL;
	return false;
}

/* --- players ------------------------------------------------------------------ */

/*
 * @player is in our table: let its qport lead to it. If two have one qport, the one heard
 * later has it. As player_index() in the programs does: the map qports and the count in
 * struct live.moved change together. Called by migrate_player().
 */
static void migrate_qport(struct shield *s, const struct player_key *key,
			  const struct player *player)
{
	struct qport_key by = { .qport = player->qport, .slot = key->slot };
	struct player_key other_key = *key;
	struct player_id id = player_id(key), other;
	__be16 port = key->port;
	struct service service;
	__u32 at, cell;
	int narrow;

	if (!shield_service(s, key->slot, &service))
		return;
	narrow = player_qport((enum wire_family)service.family, player);
	if (narrow == QPORT_NONE)
		return;
	by.slot |= (__u16)narrow;
	memcpy(by.addr, key->addr, sizeof(by.addr));
	cell = qport_cell(&id, by.qport, (__u32)narrow, s->shared->keys);
	if (!bpf_map_update_elem(s->qports, &by, &port, BPF_NOEXIST)) {
		__atomic_fetch_add(&s->shared->moved[cell], 1, __ATOMIC_RELAXED);
		return;
	}
	if (bpf_map_lookup_elem(s->qports, &by, &other_key.port))
		return;
	other = player_id(&other_key);
	at = players_find(&s->shared->players, &other, s->shared->keys);
	if (at == PLAYERS_MAX ||
	    s->shared->players.cells[at].player.heard_ns < player->heard_ns)
		bpf_map_update_elem(s->qports, &by, &port, BPF_EXIST);
}

/*
 * Enter the player of an old @cell, if it has not left and its service has a slot here.
 * Called by migrate_players(). Members are copied by name and size: if the meaning of one
 * changes, it needs another name, or a line here. A player that NetQuake's clocks have
 * verified has to return marks once more.
 */
static void migrate_player(struct old *old, const struct view *cell, __u64 now)
{
	struct shield *s = old->shield;
	__s32 key_type = btf__find_by_name_kind(old->ours, "player_key", BTF_KIND_STRUCT);
	__s32 type = btf__find_by_name_kind(old->ours, "player", BTF_KIND_STRUCT);
	struct view old_key = view_member(cell, "key");
	struct view old_player = view_member(cell, "player");
	struct player_key key = { 0 };
	struct player player = { 0 };
	struct view key_view, player_view;
	struct player_id id;

	key_view = view_of(old->ours, key_type, (__u8 *)&key, sizeof(key));
	player_view = view_of(old->ours, type, (__u8 *)&player, sizeof(player));
	view_copy(&old_key, &key_view);
	view_copy(&old_player, &player_view);
	if (!player_alive(&player, now) || key.slot >= old->slot_count ||
	    old->slots[key.slot] < 0)
		return;
	key.slot = (__u16)old->slots[key.slot];
	/* Older tables hold a clock there; 0 is below whatever the server sends next. */
	if (player.flags & PLAYER_NETQUAKE &&
	    !view_member(&old_player, "updates_sent").size)
		player.updates_sent = 0;
	/*
	 * By which rule its clocks verified it is not known: it has to return marks once
	 * more. Without clocks, the server's acceptance did; an encrypted game has none.
	 */
	if (player.flags & PLAYER_NETQUAKE && player.flags & PLAYER_CLOCKS &&
	    player.flags & PLAYER_VERIFIED)
		player.flags |= PLAYER_TAKEN;
	id = player_id(&key);
	if (players_enter(&s->shared->players, &id, s->shared->keys, &player, now) ==
	    PLAYERS_MAX) {
		old->refused++;
		return;
	}
	old->players++;
	if (player.flags & PLAYER_QPORT)
		migrate_qport(s, &key, &player);
}

/* Enter all players of the old table. The programs do not run on our tables yet. */
static void migrate_players(struct old *old)
{
	struct view table = view_member(&old->live, "players");
	struct view cells = view_member(&table, "cells");
	__u32 count = view_count(&cells);
	__u64 now = shield_clock();

	for (__u32 i = 0; i < count; i++) {
		struct view cell = view_element(&cells, i);

		if (view_member_number(&cell, "state") == PLAYER_HERE)
			migrate_player(old, &cell, now);
	}
}

/*
 * Ports that a NetQuake server has moved a game to. A port that the configuration names,
 * or that is learned already, stays as it is. Called after the configuration is applied.
 */
static void migrate_ports(struct old *old)
{
	struct shield *s = old->shield;
	struct tables *now = &s->shared->tables[shield_generation(s) & 1];
	struct view ports = view_member(&old->tables, "ports");
	__s32 type = btf__find_by_name_kind(old->ours, "port", BTF_KIND_STRUCT);
	__u32 count = view_count(&ports);

	for (__u32 i = 1; i < count && i < PORTS; i++) {
		struct view from = view_element(&ports, i);
		struct port port = { 0 };
		struct view to = view_of(old->ours, type, (__u8 *)&port, sizeof(port));

		if (!view_member_number(&from, "any"))
			continue;
		view_copy(&from, &to);
		if (!(port.flags & PORT_LEARNED) || port.any - 1u >= old->slot_count ||
		    old->slots[port.any - 1] < 0 || now->ports[i].any ||
		    now->ports[i].flags)
			continue;
		port.any = (__u16)(old->slots[port.any - 1] + 1);
		now->ports[i] = port;
		old->ports++;
	}
}

/* --- all of it ---------------------------------------------------------------- */

struct migration {
	struct shield *shield;
	const struct btf *ours;
	bool forgotten[LIST_FOLLOW]; /* by enum list: our own entries are */
};

/* Tables that are in use, and not ours. Called by the two callbacks for directories. */
static bool is_source(const struct migration *c, const char *dir)
{
	return strcmp(dir, c->shield->dir) != 0 && dir_attached(dir);
}

/*
 * Return true if the lists in @dir come over: also of tables that wait for an interface,
 * if ours are new. Players of such tables have left.
 */
static bool is_list_source(const struct migration *c, const char *dir)
{
	return is_source(c, dir) ||
	       (c->shield->dir_new && strcmp(dir, c->shield->dir) != 0);
}

#define ENTRY_MAX 64 /* octets of a key or a value of a list, in any version */

struct old_list {
	struct shield *shield;
	enum list list;
	const struct btf *ours, *theirs;
	int fd;
	__u32 key_size, value_size;
	__u32 count; /* entries that came over */
};

/*
 * The structure @name in *@to, of our types, from what is at @at in the old ones. False:
 * one of the two has no such structure.
 */
static bool entry_copy(const struct old_list *l, const char *name, __u8 *at, __u32 size,
		       void *to, __u32 room)
{
	struct view from =
		view_of(l->theirs,
			btf__find_by_name_kind(l->theirs, name, BTF_KIND_STRUCT), at,
			size);
	struct view into =
		view_of(l->ours, btf__find_by_name_kind(l->ours, name, BTF_KIND_STRUCT),
			to, room);

	view_copy(&from, &into);
	return from.size && into.size;
}

/*
 * Take over one entry of an old list, if it is a runtime one. 0, or -errno; -EMEDIUMTYPE:
 * it cannot be read. Called by entries_migrate().
 */
static int entry_migrate(struct old_list *l, __u8 *key, __u8 *value)
{
	struct list_entry entry = { 0 };
	struct cidr cidr = { 0 };
	int err;

	if (!entry_copy(l, "cidr", key, l->key_size, &cidr, sizeof(cidr)) ||
	    !entry_copy(l, "list_entry", value, l->value_size, &entry, sizeof(entry)))
		return -EMEDIUMTYPE;
	if (!(entry.origins & LIST_RUNTIME))
		return 0;
	err = shield_list_migrate(l->shield, l->list, &cidr, &entry);
	l->count += !err;
	return err;
}

/*
 * Take over the runtime entries of the list l->fd. 0 or -errno of the first that failed.
 * shield_list_migrated() must be called in any case: it makes the entries count.
 */
static int entries_migrate(struct old_list *l)
{
	__u8 key[ENTRY_MAX], value[ENTRY_MAX], *previous = NULL;
	int err = 0;

	for (__u32 i = 0; !err && i < OLD_ENTRIES_MAX; i++, previous = key) {
		if (bpf_map_get_next_key(l->fd, previous, key))
			break;
		if (!bpf_map_lookup_elem(l->fd, key, value))
			err = entry_migrate(l, key, value);
	}
	shield_list_migrated(l->shield, l->list);
	return err;
}

/*
 * @l->fd: the list of @dir that @row is called like. -EMEDIUMTYPE: cannot be read. 0 or
 * -errno. Called by migrate_lists_from(). Tables in use have the last word: what a failed
 * upgrade left in ours, and was removed there since, must not stand again.
 */
static int list_migrate(struct migration *c, struct old_list *l, const char *dir,
			const struct map_row *row)
{
	struct bpf_map_info info = { 0 };
	__u32 length = sizeof(info), size;
	struct btf *btf = NULL;
	void *types;
	int err = 0;

	if (bpf_obj_get_info_by_fd(l->fd, &info, &length))
		return -errno;
	l->key_size = info.key_size;
	l->value_size = info.value_size;
	types = array_read(dir, "types", TYPES_MAX, &size);
	if (types)
		btf = btf__new(types, size);
	free(types);
	if (libbpf_get_error(btf))
		btf = NULL;
	/* Tables of our shape need no description. */
	l->theirs = btf ? btf : map_fits(row, &info) ? l->ours : NULL;
	if (!l->theirs || info.type != BPF_MAP_TYPE_LPM_TRIE ||
	    info.key_size > ENTRY_MAX || info.value_size > ENTRY_MAX)
		err = -EMEDIUMTYPE;
	if (!err && !c->forgotten[l->list] && is_source(c, dir)) {
		c->forgotten[l->list] = true;
		err = shield_list_forget(l->shield, l->list);
	}
	if (!err)
		err = entries_migrate(l);
	btf__free(btf);
	return err;
}

/*
 * Take over the runtime entries of the allow and deny lists in @dir, if is_list_source()
 * says so. A callback of pins_each_dir(); @context: struct migration. Always
 * 0, after a message about what is lost, so that the next directory is read too.
 */
static int migrate_lists_from(const char *dir, void *context)
{
	static const enum list lists[] = { LIST_ALLOW, LIST_DENY };
	static const char *const names[] = { "allow", "deny" };
	struct migration *c = context;

	for (size_t i = 0; i < ARRAY_SIZE(lists) && is_list_source(c, dir); i++) {
		struct old_list l = { .shield = c->shield,
				      .list = lists[i],
				      .ours = c->ours,
				      .fd = pin_open(dir, names[i]) };
		int err = l.fd;

		if (l.fd >= 0) {
			err = list_migrate(c, &l, dir, map_row(names[i]));
			close(l.fd);
		}
		if (err < 0)
			log_error("live entries of '%s/%s' are lost: %s", dir, names[i],
				  err == -EMEDIUMTYPE
					  ? "nothing says of what shape they are"
					  : strerror(-err));
		if (l.count)
			log_info("carried over: entries %u, of '%s/%s'", l.count, dir,
				 names[i]);
	}
	return 0;
}

/*
 * Take over the players and the learned game ports of the tables in @dir, if these are in
 * use and not ours. A callback of pins_each_dir(), for migrate_games(), under the lock of
 * the tables and before our programs are attached; @context: struct migration. 0 also if
 * the tables cannot be read, with a warning; -ENOMEM ends the walk. The order matters:
 * slots are matched first, since players and ports name their service by its slot.
 */
static int migrate_games_from(const char *dir, void *context)
{
	const struct migration *c = context;
	struct old *old;

	if (!is_source(c, dir))
		return 0;
	old = calloc(1, sizeof(*old));
	if (!old)
		return -ENOMEM;
	old->shield = c->shield;
	old->ours = c->ours;
	if (old_open(old, dir)) {
		match_services(old);
		migrate_players(old);
		migrate_ports(old);
		log_info("carried over: players %u, game ports %u, of '%s'%s",
			 old->players, old->ports, dir,
			 old->refused ? "; for some players there was no room" : "");
		btf__free(old->btf);
		free(old->memory);
	} else {
		log_warn(
			"the players of '%s' cannot be read: they count as strangers until "
			"their server sends to them",
			dir);
	}
	free(old);
	return 0;
}

/*
 * Return true if older tables may be taken over: ours are those of the default directory,
 * and not in use yet. Tables in use know more than older ones. So a shield of --pin takes
 * nothing over.
 */
static bool is_upgrade(const struct shield *s)
{
	char ours[PATH_MAX];

	return !pins_default_dir(NULL, ours, sizeof(ours)) && !strcmp(ours, s->dir) &&
	       !dir_attached(s->dir);
}

int migrate_lists(struct shield *s, const struct btf *ours)
{
	struct migration c = { .shield = s, .ours = ours };

	return is_upgrade(s) ? pins_each_dir(migrate_lists_from, &c) : 0;
}

int migrate_games(struct shield *s, const struct btf *ours)
{
	struct migration c = { .shield = s, .ours = ours };

	return is_upgrade(s) ? pins_each_dir(migrate_games_from, &c) : 0;
}
