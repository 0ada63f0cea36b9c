// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kern_attach.c - the shield's programs onto interfaces and off them: both halves or
 * none, exchanged in place, taken over from an older quakeshield. Interfaces and the BPF
 * file system are the test's own. No packet meets the programs.
 * stubs: all
 */
#include <sys/stat.h>

#include "kern/kern_maps.h"

#include "apart.h"
#include "stderr.h"

#define FS    "/sys/fs/bpf"
#define OURS  FS "/ours"
#define OLDER PIN_ROOT "/v1-0000000a"

static struct config *config;
static struct shield *shield;
static enum attach_mode mode;
static char said[2048];

/* A load of the shield takes a second of processor time. */
static int load(void **state)
{
	struct config_service *s;

	(void)state;
	config = calloc(1, sizeof(*config));
	if (!config || !apart_mount("bpf", FS))
		return -1;
	config_empty(config);
	s = &config->services[config->service_count++];
	s->service.family = FAMILY_QUAKE3;
	config_service_defaults(FAMILY_QUAKE3, &s->service);
	strcpy(s->service.name, "a");
	s->service.active = 1;
	s->ports[s->port_count++] = 27960;
	return shield_load(OURS, config, &shield);
}

static int unload(void **state)
{
	(void)state;
	shield_close(shield);
	free(config);
	return umount2(FS, MNT_DETACH);
}

static int begin(void **state)
{
	(void)state;
	shield->shared->veths = 0;
	return system("ip link add left type veth peer name right");
}

static int end(void **state)
{
	(void)state;
	return system("ip link del left 2>/dev/null; true");
}

static int begin_alone(void **state)
{
	return load(state) || begin(state);
}

static int end_alone(void **state)
{
	return end(state) | unload(state);
}

/* shield_attach(), and what it said. */
static int attach(const char *interface, enum attach_mode wanted)
{
	int ret;

	stderr_catch();
	ret = shield_attach(shield, interface, wanted, &mode);
	stderr_release(said, sizeof(said));
	return ret;
}

static bool pinned(const char *name)
{
	char path[PATH_MAX];

	assert_int_equal(pin_path(path, sizeof(path), shield->dir, name), 0);
	return !access(path, F_OK);
}

static __u32 id_of(int program)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(program, &info, &size), 0);
	return info.id;
}

/* The id of the program of the link that is pinned as @name. */
static __u32 program_of(const char *name)
{
	struct bpf_link_info info = { 0 };
	__u32 size = sizeof(info);
	int fd = pin_open(shield->dir, name);

	assert_true(fd >= 0);
	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
	close(fd);
	return info.prog_id;
}

/* The only link there is. */
static struct shield_link only_link(void)
{
	struct shield_link ret[2];

	assert_int_equal(shield_links(shield, ret, 2), 1);
	return ret[0];
}

/* --- one interface ------------------------------------------------------------- */

static void both_halves_are_on_it(void **state)
{
	unsigned int left = if_nametoindex("left");
	struct shield_link link;

	(void)state;
	assert_int_equal(shield->shared->veths, 0);
	assert_int_equal(attach("left", MODE_AUTO), 1);
	assert_string_equal(said, "");
	assert_int_equal(mode, MODE_NATIVE);
	assert_int_equal(shield->shared->veths, 1u << left % 32);
	link = only_link();
	assert_string_equal(link.interface, "left");
	assert_int_equal(link.mode, MODE_NATIVE);
	assert_true(link.attached && link.ingress && link.egress);
	assert_int_equal(shield_program_on("left"), id_of(shield->program));
	assert_int_equal(program_of("link-left"), id_of(shield->program));
	assert_int_equal(program_of("out-left"), id_of(shield->egress));
	assert_false(pinned("in-left"));
	assert_int_equal(shield_program_on("right"), 0);

	/* Once more is an exchange, which is no new link. */
	assert_int_equal(attach("left", MODE_AUTO), 0);
	assert_string_equal(said, "");
	assert_int_equal(attach("left", MODE_SKB), 0);
	assert_int_equal(mode, MODE_NATIVE);
	assert_non_null(strstr(said, "'left' stays attached in native mode"));
	assert_true(only_link().attached);

	shield_release(shield, "left");
	assert_int_equal(shield_program_on("left"), 0);
	assert_false(pinned("link-left") || pinned("out-left"));
	assert_int_equal(shield_links(shield, NULL, 0), 0);
	assert_int_equal(attach("none", MODE_AUTO), -ENODEV);
	assert_non_null(strstr(said, "no such interface: 'none'"));
}

/* The MTU that the message names is the largest with which native mode works on a veth.
 */
static void largest_mtu_is_the_one_that_is_named(void **state)
{
	char command[80];
	const char *at;
	unsigned int most;

	(void)state;
	assert_int_equal(system("ip link set left mtu 9000; ip link set right mtu 9000"),
			 0);
	assert_int_equal(attach("left", MODE_NATIVE), -ERANGE);
	at = strstr(said, "it is 9000; the largest is ");
	assert_non_null(at);
	assert_int_equal(sscanf(at, "it is 9000; the largest is %u", &most), 1);
	for (unsigned int more = 1; more <= 1; more--) {
		snprintf(command, sizeof(command),
			 "ip link set left mtu 1500; ip link set right mtu %u",
			 most + more);
		assert_int_equal(system(command), 0);
		assert_int_equal(attach("left", MODE_NATIVE), more ? -ERANGE : 1);
		if (more)
			assert_non_null(strstr(said, "the MTU of its other end"));
	}
	shield_release(shield, "left");
	assert_int_equal(system("ip link set right mtu 1500"), 0);
}

/* Where frames are joined, what is behind the first is judged by a third program. */
static void generic_mode_has_a_third(void **state)
{
	(void)state;
	assert_int_equal(attach("lo", MODE_NATIVE), -EOPNOTSUPP);
	assert_non_null(strstr(said, "cannot attach to 'lo' in native mode"));
	assert_non_null(strstr(said, "(try --mode skb)"));
	assert_false(pinned("link-lo") || pinned("out-lo") || pinned("in-lo"));
	assert_int_equal(attach("lo", MODE_AUTO), 1);
	assert_int_equal(mode, MODE_SKB);
	assert_non_null(strstr(said, "the driver of 'lo' takes no native XDP program"));
	assert_int_equal(shield->shared->veths, 0);
	assert_int_equal(program_of("in-lo"), id_of(shield->joined));
	assert_true(only_link().attached);
	assert_int_equal(only_link().mode, MODE_SKB);
	/* Without it some of what comes is judged by nobody. */
	assert_int_equal(unlink(OURS "/in-lo"), 0);
	assert_false(only_link().attached);
	assert_true(only_link().ingress && only_link().egress);
	assert_int_equal(attach("lo", MODE_AUTO), 0);
	assert_true(only_link().attached);
	shield_release(shield, "lo");
	assert_false(pinned("link-lo") || pinned("out-lo") || pinned("in-lo"));
	assert_int_equal(shield_program_on("lo"), 0);
}

/* The one released is the one that was named. */
static void each_interface_is_its_own(void **state)
{
	(void)state;
	assert_int_equal(system("ip link add name a.5 type veth peer name b.5"), 0);
	assert_int_equal(attach("a.5", MODE_SKB), 1);
	assert_int_equal(mode, MODE_SKB);
	assert_true(pinned("link-a,5") && pinned("out-a,5") && pinned("in-a,5"));
	assert_int_equal(attach("left", MODE_NATIVE), 1);
	assert_int_equal(attach("right", MODE_NATIVE), 1);
	shield_release(shield, "left");
	assert_int_equal(shield_program_on("left"), 0);
	assert_int_equal(shield_program_on("right"), id_of(shield->program));
	assert_true(pinned("out-right"));
	shield_release(shield, "right");
	assert_string_equal(only_link().interface, "a.5");
	assert_true(only_link().attached);
	/* Of one that is gone, and of the one that has its name now. */
	assert_int_equal(system("ip link del a.5"), 0);
	assert_int_equal(system("ip link add name a.5 type veth peer name b.5"), 0);
	assert_false(only_link().attached);
	assert_int_equal(attach("a.5", MODE_NATIVE), 1);
	assert_true(only_link().attached);
	shield_release(shield, "a.5");
	assert_false(pinned("link-a,5") || pinned("out-a,5") || pinned("in-a,5"));
	assert_int_equal(system("ip link del a.5"), 0);
}

/* Under its new name an interface keeps its links: never two programs at one side. */
static void a_renamed_interface_has_one_of_each(void **state)
{
	int second;

	(void)state;
	assert_int_equal(attach("left", MODE_SKB), 1);
	assert_int_equal(system("ip link set left name port"), 0);
	assert_int_equal(attach("port", MODE_AUTO), 0);
	assert_true(pinned("link-port") && pinned("out-port") && pinned("in-port"));
	assert_false(pinned("link-left") || pinned("out-left") || pinned("in-left"));
	assert_int_equal(program_of("out-port"), id_of(shield->egress));
	assert_true(only_link().attached);
	/* If there are two, as an earlier version left them, one stays. */
	second = bpf_link_create(shield->joined, (int)if_nametoindex("port"),
				 (enum bpf_attach_type)47, NULL);
	assert_true(second >= 0);
	assert_int_equal(pin_replace(second, OURS, "out-left"), 0);
	close(second);
	assert_int_equal(attach("port", MODE_AUTO), 0);
	assert_false(pinned("out-left"));
	assert_true(only_link().attached);
	/* Renamed again and let go, it keeps none. */
	assert_int_equal(system("ip link set port name left"), 0);
	shield_release(shield, "left");
	assert_false(pinned("link-port") || pinned("out-port") || pinned("in-port"));
}

/* A filter, as kernels have it that know no tcx: seen, and taken off with the rest. */
static void filters_are_ours_too(void **state)
{
	int left = (int)if_nametoindex("left");
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = left, .attach_point = BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = 0x7173, .priority = 7173,
		    .prog_fd = shield->egress);

	(void)state;
	assert_int_equal(attach("left", MODE_NATIVE), 1);
	assert_int_equal(unlink(OURS "/out-left"), 0);
	assert_false(only_link().egress || only_link().attached);
	assert_int_equal(bpf_tc_hook_create(&hook), 0);
	assert_int_equal(bpf_tc_attach(&hook, &opts), 0);
	assert_true(only_link().egress && only_link().attached);
	assert_false(tc_is_ours(OURS, TC_IN, "left", (__u32)left));
	shield_release(shield, "left");
	assert_false(tc_is_ours(OURS, TC_OUT, "left", (__u32)left));
	assert_int_equal(shield_program_on("left"), 0);
}

static void what_is_foreign_stays(void **state)
{
	static const struct bpf_insn pass[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int theirs = bpf_prog_load(BPF_PROG_TYPE_XDP, "theirs", "GPL", pass, 2, NULL);

	(void)state;
	assert_int_equal(bpf_xdp_attach((int)if_nametoindex("left"), theirs, 0, NULL), 0);
	assert_int_equal(attach("left", MODE_AUTO), -EBUSY);
	assert_non_null(strstr(said, "not ours"));
	assert_int_equal(shield_program_on("left"), id_of(theirs));
	assert_false(pinned("link-left") || pinned("out-left"));
	close(theirs);
}

/* --- one quakeshield after another ---------------------------------------------- */

/* The next daemon's programs take the place of these: never both, never none. */
static void the_next_one_exchanges_them(void **state)
{
	struct shield *before = shield;
	__u32 program = id_of(shield->program), egress = id_of(shield->egress);

	(void)state;
	assert_int_equal(attach("left", MODE_AUTO), 1);
	assert_int_equal(shield_load(OURS, config, &shield), 0);
	assert_int_equal(shield_program_on("left"), program);
	assert_int_equal(attach("left", MODE_AUTO), 0);
	assert_int_not_equal(id_of(shield->program), program);
	assert_int_equal(shield_program_on("left"), id_of(shield->program));
	assert_int_not_equal(program_of("out-left"), egress);
	assert_int_equal(program_of("out-left"), id_of(shield->egress));
	assert_true(only_link().attached);
	shield_close(before);
	/* Nobody looks after it any more: it protects all the same. */
	assert_int_equal(shield_program_on("left"), id_of(shield->program));
}

/* One of other tables: its links become ours, and what is not named is let go. */
static void an_older_one_is_taken_over(void **state)
{
	struct shield *older = shield;

	(void)state;
	strcpy(older->dir, OLDER);
	assert_int_equal(mkdir(PIN_ROOT, 0700) | mkdir(OLDER, 0700), 0);
	assert_int_equal(attach("left", MODE_NATIVE), 1);
	assert_int_equal(attach("right", MODE_NATIVE), 1);
	assert_int_equal(shield_load(NULL, config, &shield), 0);
	assert_int_equal(attach("left", MODE_AUTO), 0);
	assert_int_equal(shield_program_on("left"), id_of(shield->program));
	assert_int_equal(shield_program_on("right"), id_of(older->program));
	assert_true(only_link().attached);
	assert_string_equal(only_link().interface, "left");
	assert_true(access(OLDER "/link-left", F_OK) && access(OLDER "/out-left", F_OK));
	assert_int_equal(access(OLDER "/link-right", F_OK), 0);

	stderr_catch();
	shield_retire(shield);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "'right' is protected no more"));
	assert_null(strstr(said, "'left' is protected no more"));
	assert_int_equal(shield_program_on("right"), 0);
	assert_int_not_equal(access(OLDER, F_OK), 0);
	assert_true(only_link().attached);
	shield_close(older);
}

/* Who has a directory of his own retires nobody. */
static void beside_the_machines(void **state)
{
	(void)state;
	assert_int_equal(mkdir(PIN_ROOT, 0700) | mkdir(OLDER, 0700), 0);
	shield_retire(shield);
	assert_int_equal(access(OLDER, F_OK), 0);
	assert_int_equal(rmdir(OLDER) | rmdir(PIN_ROOT), 0);
}

/* --- the end ---------------------------------------------------------------------- */

static void detached_is_all_of_it(void **state)
{
	size_t count = 7;

	(void)state;
	assert_int_equal(attach("left", MODE_NATIVE), 1);
	assert_int_equal(attach("lo", MODE_SKB), 1);
	assert_int_equal(shield_detach(OURS, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(shield_program_on("left") + shield_program_on("lo"), 0);
	assert_int_not_equal(access(OURS, F_OK), 0);
	assert_int_equal(shield_detach(OURS, &count), 0);
	assert_int_equal(count, 0);
}

static void detached_is_whatever_the_machine_has(void **state)
{
	size_t count;

	(void)state;
	assert_int_equal(attach("left", MODE_NATIVE), 1);
	shield_close(shield);
	assert_int_equal(shield_load(NULL, config, &shield), 0);
	assert_int_equal(attach("right", MODE_NATIVE), 1);
	assert_int_equal(shield_detach(NULL, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(shield_program_on("right"), 0);
	assert_int_not_equal(access(PIN_ROOT, F_OK), 0);
	/* But not what somebody has pinned for himself. */
	assert_int_not_equal(shield_program_on("left"), 0);
	assert_int_equal(access(OURS "/link-left", F_OK), 0);
}

/* A start that fails leaves nothing behind, but for what was there before. */
static void a_start_that_failed_leaves_nothing(void **state)
{
	struct shield *next;

	(void)state;
	assert_true(shield->dir_new);
	assert_int_equal(attach("left", MODE_NATIVE), 1);
	shield_abandon(shield);
	assert_true(pinned("link-left") && pinned("live"));
	assert_int_equal(shield_load(OURS, config, &next), 0);
	assert_false(next->dir_new);
	shield_release(shield, "left");
	shield_abandon(next);
	assert_true(pinned("live"));
	shield_close(next);
	shield->dir_new = true;
	shield_abandon(shield);
	assert_int_not_equal(access(OURS, F_OK), 0);
}

/* Links at TC, which came with Linux 6.6: without them pins have other names. */
static bool has_tcx(void)
{
	static const struct bpf_insn pass[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "may", "GPL", pass, 2, NULL);
	int link = bpf_link_create(fd, 1, (enum bpf_attach_type)47, NULL);

	close(fd);
	close(link);
	return link >= 0;
}

#undef TEST
#define TEST(name)  cmocka_unit_test_setup_teardown(name, begin, end)
#define ALONE(name) cmocka_unit_test_setup_teardown(name, begin_alone, end_alone)

int main(void)
{
	/* They share one shield, and leave one. */
	const struct CMUnitTest tests[] = {
		TEST(both_halves_are_on_it),
		TEST(generic_mode_has_a_third),
		TEST(largest_mtu_is_the_one_that_is_named),
		TEST(each_interface_is_its_own),
		TEST(a_renamed_interface_has_one_of_each),
		TEST(filters_are_ours_too),
		TEST(what_is_foreign_stays),
		TEST(beside_the_machines),
		TEST(the_next_one_exchanges_them),
		TEST(detached_is_all_of_it),
	};
	/* The shield is another afterwards, or has no directory. */
	const struct CMUnitTest alone[] = {
		ALONE(an_older_one_is_taken_over),
		ALONE(detached_is_whatever_the_machine_has),
		ALONE(a_start_that_failed_leaves_nothing),
	};

	if (!apart(CLONE_NEWNS | CLONE_NEWNET) ||
	    bpf_map_create(BPF_MAP_TYPE_ARRAY, "may", 4, 4, 1, NULL) < 0 || !has_tcx() ||
	    system("ip link set lo up && ip link add left type veth peer name right && "
		   "ip link del left"))
		return apart_refused();
	return cmocka_run_group_tests(tests, load, unload) |
	       cmocka_run_group_tests(alone, NULL, NULL);
}
