// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stubs.c - a library that is preloaded: the BPF programs that TEST_STUBS names,
 * separated by blanks, are loaded as stubs of two instructions, which let each packet
 * pass. The verifier takes most of the time of a load, and a test that runs none of these
 * programs does without them. tests/run.sh says for which tests.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ATTR_WORDS 6

static bool is_stub(const char *name)
{
	const char *names = getenv("TEST_STUBS");
	size_t n = strlen(name), width;

	for (; names && *names; names += width + (names[width] == ' ')) {
		width = strcspn(names, " ");
		if (n && width == n && !memcmp(names, name, n))
			return true;
	}
	return false;
}

/* Load a stub in place of the program that @attr of @size bytes describes. */
static long stub_load(long (*real)(long, ...), const void *attr, size_t size, long more)
{
	struct bpf_insn pass[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr stub = { 0 };

	memcpy(&stub, attr, size < sizeof(stub) ? size : sizeof(stub));
	pass[0].imm = stub.prog_type == BPF_PROG_TYPE_XDP ? XDP_PASS : TC_ACT_UNSPEC;
	stub.insns = (__u64)(unsigned long)pass;
	stub.insn_cnt = sizeof(pass) / sizeof(*pass);
	stub.func_info_cnt = 0;
	stub.line_info_cnt = 0;
	return real(SYS_bpf, (long)BPF_PROG_LOAD, &stub, size, more, 0L, 0L);
}

/* In the place of the C library's, by which libbpf calls the kernel. */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long at[ATTR_WORDS];
	va_list args;

	va_start(args, number);
	for (size_t i = 0; i < ATTR_WORDS; i++)
		at[i] = va_arg(args, long);
	va_end(args);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_bpf && (int)at[0] == BPF_PROG_LOAD) {
		const union bpf_attr *load;

		va_start(args, number);
		(void)va_arg(args, long);
		load = va_arg(args, const union bpf_attr *);
		va_end(args);
		if (is_stub(load->prog_name))
			return stub_load(real, load, (size_t)at[2], at[3]);
	}
	return real(number, at[0], at[1], at[2], at[3], at[4], at[5]);
}
