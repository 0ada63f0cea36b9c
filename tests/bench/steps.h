/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steps.h - how many BPF instructions a program takes for one frame.
 *
 * A time depends on the machine and on who else uses it; the number of instructions does
 * not. So a program that is loaded is stepped through here, instruction by instruction,
 * over the memory that the kernel's copy works on (its global variables, which are
 * mapped) and over maps of its own. Counted is what the compiler wrote; a look-up in an
 * array, which the kernel writes out, counts as STEPS_LOOKUP.
 */
#ifndef STEPS_H
#define STEPS_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#define STEPS_MOST     100000 /* then it is no program that a verifier let in */
#define STEPS_DEPTH    8 /* of calls, as in the kernel */
#define STEPS_STACK    512 /* octets of a function, too */
#define STEPS_MAPS     48
#define STEPS_LOOKUP   9 /* instructions, for one that stands there */
#define STEPS_JUMPS    2 /* programs that a tail call can lead to */
#define STEPS_ROOM     8192 /* below 4 GB: a context and the longest frame */
#define STEPS_FRAME_AT 1024

struct steps_map {
	int fd;
	enum bpf_map_type type;
	__u32 value_size, entries;
	__u8 *memory; /* NULL: nothing is ever found in it */
	bool own; /* the kernel has another */
};

struct steps {
	const struct bpf_insn *code;
	size_t count;
	struct steps_map maps[STEPS_MAPS];
	size_t map_count;
	__u8 *room; /* a context is at its beginning */
	/* What it may jump to: a tail call counts as one, and goes on there. */
	const struct bpf_insn *jump[STEPS_JUMPS];
	size_t jump_count[STEPS_JUMPS];
	bool skb; /* the context is that of TC */
	__u64 tick_ns;
	__u64 now_ns; /* what the clock shall show */
};

struct steps_state {
	/* Of bpf_loop(), of which none is within another. */
	struct {
		size_t back, body;
		__u64 context;
		__u32 index, count;
	} loop;
	const struct bpf_insn *code; /* of the program that is executed now */
	size_t count;
	__u64 r[11];
	__u64 kept[STEPS_DEPTH][5]; /* r6..r9 and where to go on */
	int depth;
	__u8 stack[STEPS_DEPTH][STEPS_STACK];
};

/* --- opening ------------------------------------------------------------------------ */

static int steps_map_open(struct steps_map *m, struct bpf_map *map)
{
	size_t size;

	m->fd = bpf_map__fd(map);
	m->type = bpf_map__type(map);
	m->value_size = (bpf_map__value_size(map) + 7) & ~7u;
	m->entries = bpf_map__max_entries(map);
	m->memory = (__u8 *)bpf_map__initial_value(map, &size);
	if (m->memory)
		return 0;
	if (m->type != BPF_MAP_TYPE_ARRAY && m->type != BPF_MAP_TYPE_PERCPU_ARRAY)
		return 0;
	m->memory = calloc(m->entries, m->value_size);
	m->own = true;
	return m->memory ? 0 : -ENOMEM;
}

/* @program: of @object, which is loaded. */
static int steps_open(struct steps *s, const struct bpf_object *object,
		      const struct bpf_program *program)
{
	struct bpf_map *map;
	int err;

	*s = (struct steps){ .code = bpf_program__insns(program),
			     .count = bpf_program__insn_cnt(program),
			     .skb = bpf_program__type(program) == BPF_PROG_TYPE_SCHED_CLS,
			     .tick_ns = 1 };
	bpf_object__for_each_map(map, object)
	{
		if (s->map_count == STEPS_MAPS)
			return -E2BIG;
		err = steps_map_open(&s->maps[s->map_count++], map);
		if (err)
			return err;
	}
	s->room = mmap(NULL, STEPS_ROOM, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	return s->room == MAP_FAILED ? -errno : 0;
}

__attribute__((unused)) static void steps_close(struct steps *s)
{
	for (size_t i = 0; i < s->map_count; i++)
		if (s->maps[i].own)
			free(s->maps[i].memory);
	munmap(s->room, STEPS_ROOM);
}

/* Where a tail call to the @at'th of its map goes on. */
static void steps_jump_to(struct steps *s, int at, const struct bpf_program *program)
{
	s->jump[at] = bpf_program__insns(program);
	s->jump_count[at] = bpf_program__insn_cnt(program);
}

static struct steps_map *steps_map(struct steps *s, int fd)
{
	for (size_t i = 0; i < s->map_count; i++)
		if (s->maps[i].fd == fd)
			return &s->maps[i];
	return NULL;
}

/* --- one instruction ---------------------------------------------------------------- */

static __u64 steps_load(__u8 size, __u64 at)
{
	__u64 v = 0;

	memcpy(&v, (void *)at, size);
	return v;
}

static void steps_store(__u8 size, __u64 at, __u64 v)
{
	memcpy((void *)at, &v, size);
}

static __u8 steps_size(__u8 code)
{
	switch (BPF_SIZE(code)) {
	case BPF_B:
		return 1;
	case BPF_H:
		return 2;
	case BPF_W:
		return 4;
	default:
		return 8;
	}
}

static __u64 steps_end(const struct bpf_insn *insn, __u64 v)
{
	if (BPF_SRC(insn->code) == BPF_TO_BE)
		return insn->imm == 16	 ? __builtin_bswap16((__u16)v)
		       : insn->imm == 32 ? __builtin_bswap32((__u32)v)
					 : __builtin_bswap64(v);
	return insn->imm == 16 ? (__u16)v : insn->imm == 32 ? (__u32)v : v;
}

static __u64 steps_alu(__u8 op, __u64 a, __u64 b, bool wide)
{
	__u32 bits = wide ? 63 : 31;

	switch (op) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b ? a / b : 0;
	case BPF_MOD:
		return b ? a % b : a;
	case BPF_OR:
		return a | b;
	case BPF_AND:
		return a & b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return a << (b & bits);
	case BPF_RSH:
		return (wide ? a : (__u32)a) >> (b & bits);
	case BPF_ARSH:
		return wide ? (__u64)((__s64)a >> (b & bits))
			    : (__u64)((__s32)a >> (b & bits));
	case BPF_NEG:
		return -a;
	default:
		return b; /* BPF_MOV */
	}
}

static bool steps_jump(__u8 op, __u64 a, __u64 b, bool wide)
{
	__s64 x = wide ? (__s64)a : (__s32)a, y = wide ? (__s64)b : (__s32)b;

	if (!wide) {
		a = (__u32)a;
		b = (__u32)b;
	}
	switch (op) {
	case BPF_JEQ:
		return a == b;
	case BPF_JNE:
		return a != b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	case BPF_JLT:
		return a < b;
	case BPF_JLE:
		return a <= b;
	case BPF_JSET:
		return a & b;
	case BPF_JSGT:
		return x > y;
	case BPF_JSGE:
		return x >= y;
	case BPF_JSLT:
		return x < y;
	case BPF_JSLE:
		return x <= y;
	default:
		return true; /* BPF_JA */
	}
}

static void steps_atomic(const struct bpf_insn *insn, __u64 *r)
{
	__u8 size = steps_size(insn->code);
	__u64 at = r[insn->dst_reg] + (__u64)(__s64)insn->off, b = r[insn->src_reg];
	__u64 was = steps_load(size, at), now;

	switch (insn->imm & ~BPF_FETCH) {
	case BPF_OR:
		now = was | b;
		break;
	case BPF_AND:
		now = was & b;
		break;
	case BPF_XOR:
		now = was ^ b;
		break;
	case BPF_XCHG & ~BPF_FETCH:
		now = b;
		break;
	case BPF_CMPXCHG & ~BPF_FETCH:
		now = was == r[0] ? b : was;
		break;
	default:
		now = was + b;
	}
	steps_store(size, at, now);
	if (insn->imm == BPF_CMPXCHG)
		r[0] = was;
	else if (insn->imm & BPF_FETCH)
		r[insn->src_reg] = was;
}

/* --- what the kernel does for it ---------------------------------------------------- */

static __u64 steps_lookup(const struct steps_map *m, const __u32 *key)
{
	if (!m || !m->memory || *key >= m->entries)
		return 0;
	return (__u64)(m->memory + (size_t)*key * m->value_size);
}

/* False: nothing that these programs may call. */
static bool steps_help(struct steps *s, int what, __u64 *r, __u64 frame, long *taken)
{
	switch (what) {
	case BPF_FUNC_map_lookup_elem:
		r[0] = steps_lookup((struct steps_map *)r[1], (const __u32 *)r[2]);
		*taken += STEPS_LOOKUP;
		return true;
	case BPF_FUNC_jiffies64:
		r[0] = s->now_ns / s->tick_ns;
		return true;
	case BPF_FUNC_ktime_get_ns:
		r[0] = s->now_ns;
		return true;
	case BPF_FUNC_get_smp_processor_id:
		r[0] = 0;
		return true;
	case BPF_FUNC_get_prandom_u32:
		r[0] = 1;
		return true;
	case BPF_FUNC_xdp_load_bytes:
	case BPF_FUNC_skb_load_bytes:
		memcpy((void *)r[3], (void *)(frame + r[2]), r[4]);
		r[0] = 0;
		return true;
	case BPF_FUNC_xdp_store_bytes:
		memcpy((void *)(frame + r[2]), (void *)r[3], r[4]);
		r[0] = 0;
		return true;
	case BPF_FUNC_xdp_adjust_tail:
		((struct xdp_md *)s->room)->data_end += (__u32)r[2];
		r[0] = 0;
		return true;
	case BPF_FUNC_map_update_elem:
	case BPF_FUNC_map_delete_elem:
	case BPF_FUNC_ringbuf_output:
	case BPF_FUNC_skb_pull_data:
		r[0] = 0;
		return true;
	case BPF_FUNC_csum_diff:
		r[0] = 0; /* no program goes another way for it */
		return true;
	default:
		fprintf(stderr, "bench: nothing known of the kernel's function %d\n",
			what);
		return false;
	}
}

/* --- a frame ------------------------------------------------------------------------ */

/* The value of the two instructions at @at that load 64 bits. */
static __u64 steps_wide(struct steps *s, const struct bpf_insn *insn, size_t at)
{
	struct steps_map *m;

	if (insn->src_reg == BPF_PSEUDO_FUNC)
		return at + 1 + (__u64)(__s64)insn->imm;

	if (insn->src_reg == BPF_PSEUDO_MAP_FD)
		return (__u64)steps_map(s, insn->imm);
	if (insn->src_reg != BPF_PSEUDO_MAP_VALUE)
		return (__u64)(__u32)insn[1].imm << 32 | (__u32)insn->imm;
	m = steps_map(s, insn->imm);
	return m && m->memory ? (__u64)m->memory + (__u32)insn[1].imm : 0;
}

static void steps_enter(struct steps_state *st, size_t back)
{
	memcpy(st->kept[st->depth], &st->r[6], 4 * sizeof(__u64));
	st->kept[st->depth][4] = back;
	st->depth++;
	st->r[10] = (__u64)st->stack[st->depth] + STEPS_STACK;
}

static size_t steps_leave(struct steps_state *st)
{
	st->depth--;
	memcpy(&st->r[6], st->kept[st->depth], 4 * sizeof(__u64));
	st->r[10] = (__u64)st->stack[st->depth] + STEPS_STACK;
	return st->kept[st->depth][4];
}

#define STEPS_LOOPED (SIZE_MAX - 2) /* where the body of a loop goes back to */

/* Once more through the body, or behind the call. */
static size_t steps_loop(struct steps_state *st)
{
	if (st->r[0] || st->loop.index == st->loop.count) {
		st->r[0] = st->loop.index;
		return st->loop.back;
	}
	st->r[1] = st->loop.index++;
	st->r[2] = st->loop.context;
	steps_enter(st, STEPS_LOOPED);
	return st->loop.body;
}

static size_t steps_loop_begin(struct steps_state *st, size_t back)
{
	st->loop.back = back;
	st->loop.count = (__u32)st->r[1];
	st->loop.body = st->r[2];
	st->loop.context = st->r[3];
	st->loop.index = 0;
	st->r[0] = 0;
	return steps_loop(st);
}

/* It begins anew there, with the same context and nothing else. */
static size_t steps_tail(const struct steps *s, struct steps_state *st)
{
	__u32 to = (__u32)st->r[3];

	st->code = s->jump[to];
	st->count = s->jump_count[to];
	st->depth = 0;
	st->r[10] = (__u64)st->stack[0] + STEPS_STACK;
	return 0;
}

static void steps_memory(const struct bpf_insn *insn, __u64 *r)
{
	__u8 size = steps_size(insn->code);
	__u64 off = (__u64)(__s64)insn->off;

	if (BPF_CLASS(insn->code) == BPF_LDX)
		r[insn->dst_reg] = steps_load(size, r[insn->src_reg] + off);
	else if (BPF_CLASS(insn->code) == BPF_ST)
		steps_store(size, r[insn->dst_reg] + off, (__u64)(__s64)insn->imm);
	else if (BPF_MODE(insn->code) == BPF_ATOMIC)
		steps_atomic(insn, r);
	else
		steps_store(size, r[insn->dst_reg] + off, r[insn->src_reg]);
}

static void steps_compute(const struct bpf_insn *insn, __u64 *r)
{
	bool wide = BPF_CLASS(insn->code) == BPF_ALU64;
	__u64 b =
		BPF_SRC(insn->code) == BPF_X ? r[insn->src_reg] : (__u64)(__s64)insn->imm;

	if (BPF_OP(insn->code) == BPF_END) {
		r[insn->dst_reg] = steps_end(insn, r[insn->dst_reg]);
		return;
	}
	b = steps_alu(BPF_OP(insn->code), r[insn->dst_reg], b, wide);
	r[insn->dst_reg] = wide ? b : (__u32)b;
}

/* What is to be executed next, or SIZE_MAX: the program has ended, SIZE_MAX - 1: badly.
 */
static size_t steps_go(struct steps *s, struct steps_state *st, size_t at, __u64 frame,
		       long *taken)
{
	const struct bpf_insn *insn = &st->code[at];
	__u8 class_ = BPF_CLASS(insn->code), op = BPF_OP(insn->code);
	__u64 b;

	if (op == BPF_CALL) {
		if (insn->src_reg != BPF_PSEUDO_CALL && insn->imm == BPF_FUNC_tail_call &&
		    st->r[3] < STEPS_JUMPS && s->jump[st->r[3]])
			return steps_tail(s, st);
		if (insn->src_reg != BPF_PSEUDO_CALL && insn->imm == BPF_FUNC_loop &&
		    st->depth < STEPS_DEPTH - 1)
			return steps_loop_begin(st, at + 1);
		if (insn->src_reg != BPF_PSEUDO_CALL)
			return steps_help(s, insn->imm, st->r, frame, taken)
				       ? at + 1
				       : SIZE_MAX - 1;
		if (st->depth == STEPS_DEPTH - 1)
			return SIZE_MAX - 1;
		steps_enter(st, at + 1);
		return at + 1 + (size_t)(long)insn->imm;
	}
	if (op == BPF_EXIT) {
		if (!st->depth)
			return SIZE_MAX;
		at = steps_leave(st);
		return at == STEPS_LOOPED ? steps_loop(st) : at;
	}
	b = BPF_SRC(insn->code) == BPF_X ? st->r[insn->src_reg] : (__u64)(__s64)insn->imm;
	if (steps_jump(op, st->r[insn->dst_reg], b, class_ == BPF_JMP))
		return at + 1 + (size_t)(long)insn->off;
	return at + 1;
}

static void steps_context(struct steps *s, __u32 frame, __u32 n)
{
	struct __sk_buff *skb = (struct __sk_buff *)s->room;
	struct xdp_md *xdp = (struct xdp_md *)s->room;

	memset(s->room, 0, STEPS_FRAME_AT);
	if (s->skb) {
		skb->len = n;
		skb->data = frame;
		skb->data_end = frame + n;
		return;
	}
	xdp->data = frame;
	xdp->data_end = frame + n;
}

/*
 * Takes the program through @n octets of @frame, at most STEPS_ROOM - STEPS_FRAME_AT.
 * Returns how many instructions that took, or -1; *@ret_action is what it said.
 */
static long steps_run(struct steps *s, const void *frame, __u32 n, int *ret_action)
{
	__u64 start = (__u64)s->room + STEPS_FRAME_AT;
	static struct steps_state st;
	long taken = 0;
	size_t at = 0;

	memcpy((void *)start, frame, n);
	steps_context(s, (__u32)start, n);
	st.code = s->code;
	st.count = s->count;
	st.depth = 0;
	st.r[1] = (__u64)s->room;
	st.r[10] = (__u64)st.stack[0] + STEPS_STACK;
	while (at < st.count && taken < STEPS_MOST) {
		const struct bpf_insn *insn = &st.code[at];

		taken++;
		switch (BPF_CLASS(insn->code)) {
		case BPF_LD:
			st.r[insn->dst_reg] = steps_wide(s, insn, at);
			at += 2;
			break;
		case BPF_LDX:
		case BPF_ST:
		case BPF_STX:
			steps_memory(insn, st.r);
			at++;
			break;
		case BPF_ALU:
		case BPF_ALU64:
			steps_compute(insn, st.r);
			at++;
			break;
		default:
			at = steps_go(s, &st, at, start, &taken);
		}
	}
	*ret_action = (int)st.r[0];
	return at == SIZE_MAX ? taken : -1;
}

#endif /* STEPS_H */
