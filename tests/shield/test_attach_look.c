// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_attach_look.c - may we attach, who has the interface, and what there is: with
 * interfaces and a BPF file system of the test's own, and programs that only pass.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include <linux/bpf.h>
#include <linux/if_link.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "apart.h"
#include "shield/shield_internal.h"
#include "stderr.h"

#define FS    "/sys/fs/bpf"
#define OURS  FS "/ours"
#define OLDER PIN_ROOT "/v1-0000000a"

static char why[SHIELD_WHY];
static enum holder holder;

static int begin(void **state)
{
	static const char *const dirs[] = { OURS, PIN_ROOT, OLDER };

	(void)state;
	if (!apart_mount("bpf", FS))
		return -1;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		if (mkdir(dirs[i], 0700))
			return -1;
	return system("ip link add left type veth peer name right");
}

static int end(void **state)
{
	(void)state;
	return umount2(FS, MNT_DETACH) | system("ip link del left 2>/dev/null; true");
}

/* A program of that name, which lets everything pass. */
static int program_of(const char *name)
{
	static const struct bpf_insn pass[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, name, "GPL", pass, 2, NULL);

	assert_true(fd >= 0);
	return fd;
}

static __u32 id_of(int program)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(program, &info, &size), 0);
	return info.id;
}

/* A link to @interface, pinned as @pin; the id of its program. */
static __u32 link_to(const char *interface, __u32 flags, const char *pin)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = flags);
	int program = program_of("shield");
	__u32 id = id_of(program);
	int fd = -1;

	/* The kernel takes a link that nobody has any more down a little later. */
	for (int i = 0; i < 1000 && fd < 0; i++) {
		fd = bpf_link_create(program, (int)if_nametoindex(interface), BPF_XDP,
				     &opts);
		if (fd < 0)
			usleep(1000);
	}
	assert_true(fd >= 0);
	assert_int_equal(bpf_obj_pin(fd, pin), 0);
	close(fd);
	close(program);
	return id;
}

static void is_held(const char *pin_dir, const char *interface, enum holder by)
{
	assert_int_equal(shield_may_attach(pin_dir, interface, &holder, why), 0);
	assert_int_equal(holder, by);
	assert_string_equal(why, "");
}

/* --- may we?
 * ----------------------------------------------------------------------------
 */

static void what_carries_no_ethernet_is_refused(void **state)
{
	char said[1024];

	(void)state;
	assert_int_equal(system("ip tuntap add wire mode tap"), 0);
	assert_int_equal(system("ip tuntap add tunnel mode tun"), 0);
	is_held(OURS, "wire", HOLDER_NONE);
	is_held(OURS, "left", HOLDER_NONE);
	is_held(OURS, "lo", HOLDER_NONE);
	assert_int_equal(shield_may_attach(OURS, "tunnel", &holder, why), -EOPNOTSUPP);
	assert_non_null(strstr(why, "'tunnel' carries no Ethernet frames (type 65534)"));
	assert_int_equal(shield_may_attach(NULL, "tunnel", &holder, why), -EOPNOTSUPP);
	stderr_catch();
	assert_int_equal(shield_check_attach(OURS, "tunnel", &holder), -EOPNOTSUPP);
	assert_int_equal(shield_check_attach(OURS, "none", &holder), -ENODEV);
	assert_int_equal(shield_check_attach(OURS, "lo", &holder), 0);
	stderr_release(said, sizeof(said));
	assert_non_null(strstr(said, "'tunnel' carries no"));
	assert_ptr_equal(strchr(said, '\n') + 1, said + strlen(said)); /* once */

	strcpy(why, "left over");
	holder = HOLDER_US;
	assert_int_equal(shield_may_attach(OURS, "none", &holder, why), -ENODEV);
	assert_string_equal(why, "");
	assert_int_equal(holder, HOLDER_NONE);
	assert_int_equal(system("ip link del wire; ip link del tunnel"), 0);
}

static void whoever_holds_it_is_told_apart(void **state)
{
	(void)state;
	link_to("left", 0, OURS "/link-left");
	is_held(OURS, "left", HOLDER_US);
	is_held(OURS, "right", HOLDER_NONE);
	is_held(NULL, "right", HOLDER_NONE);
	/* Of who is pinned elsewhere only the program is seen. */
	assert_int_equal(shield_may_attach(FS "/lab", "left", &holder, why), -EBUSY);
	assert_int_equal(holder, HOLDER_NONE);
	assert_non_null(
		strstr(why, "'left' already carries the program of a quakeshield"));

	/* An older quakeshield of the machine is the one before us; for others it is the
	 * machine's. */
	link_to("right", 0, OLDER "/link-right");
	is_held(NULL, "right", HOLDER_US);
	is_held(OLDER, "right", HOLDER_US);
	is_held(OURS, "right", HOLDER_DEFAULT);
	is_held(OURS, "left", HOLDER_US);
}

static void what_is_foreign_is_left_alone(void **state)
{
	static const struct {
		const char *name, *words;
	} rows[] = {
		{ "theirs", "not ours (id %u, name 'theirs'): it is left alone" },
		{ NULL, "not ours (id %u, name '?'): it is left alone" },
		{ "shield", "a quakeshield (id %u) that is pinned in another directory" },
	};
	int left = (int)if_nametoindex("left");

	(void)state;
	assert_int_equal(shield_program_on("left"), 0);
	assert_int_equal(shield_program_on("none"), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int program = program_of(rows[i].name);
		char words[128];

		assert_int_equal(bpf_xdp_attach(left, program, 0, NULL), 0);
		assert_int_equal(shield_program_on("left"), id_of(program));
		assert_int_equal(shield_may_attach(OURS, "left", &holder, why), -EBUSY);
		assert_int_equal(holder, HOLDER_NONE);
		/* clang-format off */
		snprintf(words, sizeof(words), "%.*s%u%s",
			 (int)strcspn(rows[i].words, "%"), rows[i].words, id_of(program),
			 strchr(rows[i].words, '%') + 2);
		/* clang-format on */
		if (!strstr(why, words))
			fail_msg("'%s' is not in '%s'", words, why);
		assert_int_equal(!strstr(why, "ip link set dev left xdp off"), i == 2);
		is_held(OURS, "right", HOLDER_NONE);
		assert_int_equal(bpf_xdp_detach(left, 0, NULL), 0);
		close(program);
	}
	is_held(OURS, "left", HOLDER_NONE);
}

static void a_mode_is_that_of_the_program(void **state)
{
	__u32 left = if_nametoindex("left");
	int program = program_of("theirs");

	(void)state;
	assert_int_equal(mode_on(left), MODE_NATIVE);
	assert_int_equal(bpf_xdp_attach((int)left, program, XDP_FLAGS_SKB_MODE, NULL), 0);
	assert_int_equal(mode_on(left), MODE_SKB);
	assert_int_equal(bpf_xdp_detach((int)left, XDP_FLAGS_SKB_MODE, NULL), 0);
	assert_int_equal(bpf_xdp_attach((int)left, program, XDP_FLAGS_DRV_MODE, NULL), 0);
	assert_int_equal(mode_on(left), MODE_NATIVE);
	close(program);
}

/* --- what there is
 * ------------------------------------------------------------------------
 */

static struct live live;
static struct shield shield = { .dir = OURS, .shared = &live };

/* The one of @count links that is of @interface. */
static const struct shield_link *link_of(const struct shield_link *links, size_t count,
					 const char *interface)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(links[i].interface, interface))
			return &links[i];
	fail_msg("no link of %s", interface);
	return NULL;
}

/* As 802.1X leaves a port that has a carrier: up, and no more. */
static void dormant_link_is_not_down(void **state)
{
	struct shield_link links[4];

	(void)state;
	link_to("left", 0, OURS "/link-left");
	assert_int_equal(
		system("ip link set left mode dormant && ip link set left down && "
		       "ip link set left up && ip link set right up"),
		0);
	for (int i = 0; i < 200 && (!i || !links[0].dormant); i++) {
		assert_int_equal(shield_links(&shield, links, 4), 1);
		usleep(10000);
	}
	assert_true(links[0].dormant && !links[0].down && !links[0].loopback);
	assert_int_equal(system("ip link set left mode default && ip link set left down"),
			 0);
	assert_int_equal(shield_links(&shield, links, 4), 1);
	assert_true(links[0].down && !links[0].dormant);
}

static void links_are_what_is_on_interfaces(void **state)
{
	struct shield_link links[4];
	const struct shield_link *l;
	time_t now = time(NULL);
	__u32 left, lo;

	(void)state;
	assert_int_equal(shield_links(&shield, links, 4), 0);
	left = link_to("left", 0, OURS "/link-left");
	lo = link_to("lo", XDP_FLAGS_SKB_MODE, OURS "/link-lo");
	link_to("right", 0, OURS "/elsewhere-right");
	assert_int_equal(shield_links(&shield, links, 4), 2);
	l = link_of(links, 2, "left");
	assert_int_equal(l->program_id, left);
	assert_int_equal(l->mode, MODE_NATIVE);
	assert_true(l->ingress);
	assert_false(l->egress || l->attached || l->missing);
	assert_in_range(l->since, now - 2, now + 10);
	l = link_of(links, 2, "lo");
	assert_int_equal(l->program_id, lo);
	assert_int_equal(l->mode, MODE_SKB);
	assert_true(l->ingress);
	/* As many as there is room for. */
	memset(links, 0, sizeof(links));
	assert_int_equal(shield_links(&shield, links, 1), 2);
	assert_string_not_equal(links[0].interface, "");
	assert_string_equal(links[1].interface, "");
	unlink(OURS "/link-lo");
	unlink(OURS "/elsewhere-right");
}

/* An interface that is named and has no link has a row of its own, as it is now. */
static void what_is_named_has_a_row(void **state)
{
	static const char named[][IF_NAMESIZE] = { "left", "lo", "right", "wire9" };
	static const char other[][IF_NAMESIZE] = { "wan9" }; /* of left */
	struct shield_link links[8];
	const struct shield_link *l;
	__u32 right;

	(void)state;
	memset(links, 0x5a, sizeof(links));
	link_to("left", 0, OURS "/link-left");
	right = link_to("right", 0, OURS "/elsewhere-right");
	assert_int_equal(shield_links(&shield, links, 4), 1);
	assert_int_equal(shield_links_named(links, 1, named, 1), 1);
	assert_int_equal(system("ip link property add dev left altname wan9"), 0);
	assert_int_equal(shield_links_named(links, 1, other, 1), 1);
	assert_int_equal(shield_links_named(links, 1, named, 4), 4);
	assert_true(link_of(links, 4, "left")->ingress);
	l = link_of(links, 4, "lo");
	assert_true(l->loopback && !l->missing && !l->program_id);
	l = link_of(links, 4, "right");
	assert_int_equal(l->program_id, right);
	assert_true(l->down && !l->missing);
	assert_true(link_of(links, 4, "wire9")->missing);
	for (size_t i = 1; i < 4; i++)
		assert_false(links[i].since || links[i].ingress || links[i].egress ||
			     shield_link_protects(&links[i]));
	unlink(OURS "/elsewhere-right");
}

/* The daemon's note on an interface is told of its link, and of no other. */
static void a_program_that_does_not_run_is_told(void **state)
{
	struct shield_link links[4];

	(void)state;
	link_to("left", 0, OURS "/link-left");
	link_to("lo", XDP_FLAGS_SKB_MODE, OURS "/link-lo");
	shield_unrun_put(&shield, UNRUN_MAX - 1, (int)if_nametoindex("left"), 1234);
	shield_unrun_put(&shield, UNRUN_MAX, (int)if_nametoindex("lo"), 1234);
	shield_links(&shield, links, 4);
	assert_int_equal(link_of(links, 2, "left")->unrun_since, 1234);
	assert_int_equal(link_of(links, 2, "lo")->unrun_since, 0);
	assert_false(shield_link_protects(link_of(links, 2, "left")));
	links[0] = (struct shield_link){ .attached = true };
	assert_true(shield_link_protects(&links[0]));
	links[0].unrun_since = 1234;
	assert_false(shield_link_protects(&links[0]));
	shield_unrun_put(&shield, UNRUN_MAX - 1, 0, 0);
	shield_links(&shield, links, 4);
	assert_int_equal(link_of(links, 2, "left")->unrun_since, 0);
	unlink(OURS "/link-lo");
}

/* The pin says whose it was, with a comma for a dot. */
static void an_interface_that_is_gone_has_its_name(void **state)
{
	struct shield_link links[4];
	const struct shield_link *l;

	(void)state;
	assert_int_equal(system("ip link add name a.5 type veth peer name b.5"), 0);
	link_to("a.5", 0, OURS "/link-a,5");
	link_to("b.5", 0, OURS "/link-b,5");
	assert_int_equal(shield_links(&shield, links, 4), 2);
	assert_false(link_of(links, 2, "a.5")->missing);
	assert_int_equal(system("ip link del a.5"), 0);
	/* Another one of that name, on which nothing of ours is. */
	assert_int_equal(system("ip link add name b.5 type veth peer name c.5"), 0);
	assert_int_equal(shield_links(&shield, links, 4), 2);
	l = link_of(links, 2, "a.5");
	assert_true(l->missing);
	assert_false(l->ingress || l->egress || l->attached);
	assert_int_equal(l->mode, MODE_AUTO);
	l = link_of(links, 2, "b.5");
	assert_false(l->missing || l->ingress || l->attached);
	assert_int_equal(l->program_id, 0);
	assert_int_equal(system("ip link del b.5"), 0);
}

/* A veth in native mode, and no other. */
static void nobody_may_hear_what_a_veth_sends_back(void **state)
{
	char interface[IF_NAMESIZE] = "";

	(void)state;
	assert_false(shield_return_path_unavailable(&shield, interface));
	link_to("lo", XDP_FLAGS_SKB_MODE, OURS "/link-lo");
	assert_false(shield_return_path_unavailable(&shield, interface));
	/* Without a program the mode counts that is wanted, else that of the program. */
	assert_true(shield_veth_native("left", MODE_AUTO));
	assert_false(shield_veth_native("left", MODE_SKB));
	assert_false(shield_veth_native("lo", MODE_NATIVE));
	link_to("left", XDP_FLAGS_SKB_MODE, OURS "/link-left");
	assert_false(shield_veth_native("left", MODE_NATIVE));
	assert_false(shield_return_path_unavailable(&shield, interface));
	assert_int_equal(unlink(OURS "/link-left"), 0);
	assert_string_equal(interface, "");
	link_to("right", XDP_FLAGS_DRV_MODE, OURS "/link-right");
	assert_true(shield_return_path_unavailable(&shield, interface));
	assert_string_equal(interface, "right");
	assert_true(shield_veth_native("right", MODE_SKB));
	unlink(OURS "/link-lo");
}

static void an_interface_in_another_mode_is_told(void **state)
{
	static const enum attach_mode wanted[] = { MODE_AUTO, MODE_NATIVE, MODE_SKB };

	(void)state;
	link_to("left", XDP_FLAGS_SKB_MODE, OURS "/link-left");
	link_to("right", XDP_FLAGS_DRV_MODE, OURS "/link-right");
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		bool skb = wanted[i] == MODE_SKB;
		char said[512];

		stderr_catch();
		shield_warn_mode(&shield, wanted[i]);
		stderr_release(said, sizeof(said));
		assert_int_equal(!strstr(said, "'left' stays attached in skb mode"), skb);
		assert_int_equal(!!strstr(said, "'right' stays attached in native mode"),
				 skb);
	}
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_carries_no_ethernet_is_refused),
		TEST(whoever_holds_it_is_told_apart),
		TEST(what_is_foreign_is_left_alone),
		TEST(a_mode_is_that_of_the_program),
		TEST(dormant_link_is_not_down),
		TEST(links_are_what_is_on_interfaces),
		TEST(what_is_named_has_a_row),
		TEST(a_program_that_does_not_run_is_told),
		TEST(an_interface_that_is_gone_has_its_name),
		TEST(nobody_may_hear_what_a_veth_sends_back),
		TEST(an_interface_in_another_mode_is_told),
	};

	if (!apart(CLONE_NEWNS | CLONE_NEWNET) ||
	    bpf_map_create(BPF_MAP_TYPE_ARRAY, "may", 4, 4, 1, NULL) < 0 ||
	    system("ip link add left type veth peer name right && ip link del left && "
		   "ip tuntap add wire mode tap && ip link del wire"))
		return apart_refused();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
