// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * floodgen.c - a flood for our own lab, and for nothing else.
 *
 * It sends out of veths only, from and to 10.0.0.0/8 or fd00::/8 only, and it always
 * ends: packets and seconds are both mandatory. The frames are made in the kernel
 * (BPF_PROG_TEST_RUN with live frames, 5.18) or, where that is missing, sent through
 * AF_PACKET. floodframe.h makes the template, flood.h says what changes in each copy.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <linux/if_packet.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "floodframe.h"
#include "lab/floodgen.skel.h"

enum {
	SOURCES_MAX = 1 << 24,
	SECONDS_MAX = 120,
	BATCH = 64,
	CHUNK = 1 << 30, /* one call for all: starting live frames costs 20 ms */
	RATE_LIVE = 500000, /* paced slower than this, 20 ms bursts would be too coarse */
	PAYLOAD_MAX = 1400,
};
#define PACKETS_MAX 1000000000ull

static volatile sig_atomic_t stopping;

static void on_signal(int number)
{
	(void)number;
	stopping = 1;
}

static int usage(void)
{
	fputs("usage: floodgen --iface VETH --mac MAC --to ADDRESS --port N --payload NAME\n"
	      "                --packets N --seconds N [--victim ADDRESS | --from ADDRESS\n"
	      "                --sources N] [--hex BYTES] [--source-port N] [--vlan ID]...\n"
	      "                [--rate PPS] [--cpu N] [--af-packet] [--json]\n"
	      "addresses: 10.0.0.0/8 and fd00::/8 only; IPv6 sources are /64s from --from on\n"
	      "payloads:",
	      stderr);
	for (size_t i = 0; i < sizeof(payloads) / sizeof(*payloads); i++)
		fprintf(stderr, " %s", payloads[i].name);
	fputc('\n', stderr);
	return 1;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Options ------------------------------------------------------------------------- */

static int number(const char *text, unsigned long long low, unsigned long long high,
		  unsigned long long *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || *ret < low || *ret > high) {
		fprintf(stderr, "floodgen: not a number from %llu to %llu: '%s'\n", low,
			high, text);
		return -EINVAL;
	}
	return 0;
}

static int number_into(const char *text, unsigned int low, unsigned int high,
		       unsigned int *ret)
{
	unsigned long long value;

	if (number(text, low, high, &value))
		return -EINVAL;
	*ret = value;
	return 0;
}

static int payload_hex(const char *text, struct payload *ret)
{
	static char bytes[PAYLOAD_MAX];
	size_t size = strlen(text) / 2;
	unsigned int byte;

	if (strlen(text) % 2 || size > sizeof(bytes))
		return refuse("not an even number of hex digits, or too many", text);
	for (size_t i = 0; i < size; i++) {
		if (strspn(text + 2 * i, "0123456789abcdefABCDEF") < 2 ||
		    sscanf(text + 2 * i, "%2x", &byte) != 1)
			return refuse("not hex", text + 2 * i);
		bytes[i] = byte;
	}
	*ret = (struct payload){ "hex", bytes, size };
	return 0;
}

static int payload_named(const char *name, struct payload *ret)
{
	const struct payload *found = payload_find(name);

	if (!found)
		return refuse("no such payload", name);
	*ret = *found;
	return 0;
}

static int option(int letter, const char *value, struct options *o)
{
	switch (letter) {
	case 'i':
		o->iface = value;
		return 0;
	case 'm':
		o->mac = value;
		return 0;
	case 't':
		o->to = value;
		return 0;
	case 'f':
		o->from = value;
		return 0;
	case 'v':
		o->from = value;
		o->sources = 1;
		return 0;
	case 'n':
		return number_into(value, 1, SOURCES_MAX, &o->sources);
	case 'p':
		return number_into(value, 1, 65535, &o->port);
	case 's':
		return number_into(value, 1, 65535, &o->source_port);
	case 'P':
		return payload_named(value, &o->payload);
	case 'x':
		return payload_hex(value, &o->payload);
	case 'V':
		if (o->vlan_count == VLANS_MAX)
			return refuse("more than two tags", value);
		return number_into(value, 1, 4094, &o->vlans[o->vlan_count++]);
	case 'c':
		return number(value, 1, PACKETS_MAX, &o->packets);
	case 'w':
		return number_into(value, 1, SECONDS_MAX, &o->seconds);
	case 'r':
		return number(value, 1, PACKETS_MAX, &o->rate);
	case 'C':
		return number_into(value, 0, CPU_SETSIZE - 1, (unsigned int *)&o->cpu);
	case 'a':
		o->af_packet = true;
		return 0;
	case 'j':
		o->json = true;
		return 0;
	default:
		return -EINVAL;
	}
}

static int options_read(int argc, char **argv, struct options *ret)
{
	static const struct option longs[] = {
		{ "iface", 1, NULL, 'i' },   { "mac", 1, NULL, 'm' },
		{ "to", 1, NULL, 't' },	     { "from", 1, NULL, 'f' },
		{ "victim", 1, NULL, 'v' },  { "sources", 1, NULL, 'n' },
		{ "port", 1, NULL, 'p' },    { "source-port", 1, NULL, 's' },
		{ "payload", 1, NULL, 'P' }, { "hex", 1, NULL, 'x' },
		{ "vlan", 1, NULL, 'V' },    { "packets", 1, NULL, 'c' },
		{ "seconds", 1, NULL, 'w' }, { "rate", 1, NULL, 'r' },
		{ "cpu", 1, NULL, 'C' },     { "af-packet", 0, NULL, 'a' },
		{ "json", 0, NULL, 'j' },    { NULL, 0, NULL, 0 },
	};
	int letter;

	*ret = (struct options){ .sources = 1, .cpu = -1 };
	while ((letter = getopt_long(argc, argv, "", longs, NULL)) != -1)
		if (option(letter, optarg, ret))
			return -EINVAL;
	if (optind != argc || !ret->iface || !ret->mac || !ret->to || !ret->port ||
	    !ret->payload.bytes || !ret->packets || !ret->seconds)
		return -EINVAL;
	if (!ret->from)
		ret->from = strchr(ret->to, ':') ? "fd00:80::1" : "10.128.0.0";
	return 0;
}

/* Senders: burst() sends at most so many and counts them in sent
 * ---------------------------- */

struct sender {
	int (*burst)(struct sender *s, struct frame *f, unsigned int count);
	const char *name;
	struct floodgen_bpf *skel;
	int fd;
	__u32 sent;
};

static int live_burst(struct sender *s, struct frame *f, unsigned int count)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = f->bytes,
		    .data_size_in = f->plan.size, .repeat = count,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = BATCH);
	int err = bpf_prog_test_run_opts(s->fd, &opts);

	s->sent = s->skel->bss->sequence;
	return err == -EINTR ? 0 : err;
}

static int samples_open(struct sender *s, const struct frame *f)
{
	int err;

	s->skel = floodgen_bpf__open();
	if (!s->skel)
		return -errno;
	memcpy((void *)&s->skel->rodata->plan, &f->plan, sizeof(f->plan));
	err = floodgen_bpf__load(s->skel);
	if (err)
		return err;
	s->fd = bpf_program__fd(s->skel->progs.floodgen);
	s->name = "live-frames";
	s->burst = live_burst;
	return 0;
}

static void frame_change(const struct flood_plan *plan, __u32 n, unsigned char *bytes)
{
	struct flood_source source = flood_source(plan, n);
	__be32 word = htonl(source.word);
	__be16 half = htons(source.port);

	memcpy(bytes + plan->word_at, &word, sizeof(word));
	memcpy(bytes + plan->udp_at, &half, sizeof(half));
	half = htons(source.udp_check);
	memcpy(bytes + plan->udp_at + 6, &half, sizeof(half));
	half = htons(source.ip_check);
	if (plan->ip_sum_at)
		memcpy(bytes + plan->ip_sum_at, &half, sizeof(half));
}

static int packet_burst(struct sender *s, struct frame *f, unsigned int count)
{
	static unsigned char copies[BATCH][FLOOD_FRAME_MAX];
	struct mmsghdr messages[BATCH] = { 0 };
	struct iovec parts[BATCH];
	unsigned int batch = count < BATCH ? count : BATCH;
	int sent;

	for (unsigned int i = 0; i < batch; i++) {
		memcpy(copies[i], f->bytes, f->plan.size);
		frame_change(&f->plan, s->sent + i, copies[i]);
		parts[i] = (struct iovec){ copies[i], f->plan.size };
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	sent = sendmmsg(s->fd, messages, batch, 0);
	if (sent < 0)
		return errno == ENOBUFS || errno == EINTR ? 0 : -errno;
	s->sent += sent;
	return 0;
}

static int packet_open(struct sender *s, const struct frame *f)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET,
				  .sll_ifindex = f->plan.ifindex };

	s->fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&to, sizeof(to)))
		return -errno;
	s->name = "af-packet";
	s->burst = packet_burst;
	return 0;
}

static int sender_open(const struct options *o, struct frame *f, struct sender *ret)
{
	bool packet = o->af_packet || (o->rate && o->rate < RATE_LIVE);
	int err = packet ? 0 : samples_open(ret, f);

	/* One frame through the door: kernels before 5.18 do not know the flag. */
	if (!packet && !err) {
		err = live_burst(ret, f, 1);
		if (!err)
			return 0;
	}
	if (!packet)
		fprintf(stderr,
			"floodgen: no live frames here (%s; needs Linux 5.18): "
			"slower AF_PACKET instead\n",
			strerror(-err));
	err = packet_open(ret, f);
	if (err)
		fprintf(stderr, "floodgen: AF_PACKET on %s: %s\n", o->iface,
			strerror(-err));
	return err;
}

/* The run --------------------------------------------------------------------------- */

/* What the interface says went out: a full ring or a peer without NAPI shows here. */
static unsigned long long iface_sent(const char *iface)
{
	unsigned long long sent = 0;
	char line[512], name[64];
	FILE *file = fopen("/proc/net/dev", "re");

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " %63[^:]: %*u %*u %*u %*u %*u %*u %*u %*u %*u %llu",
			   name, &sent) == 2 &&
		    !strcmp(name, iface))
			break;
		else
			sent = 0;
	fclose(file);
	return sent;
}

/* How many may go now: all of them, or what the rate owes since the start. */
static unsigned int allowance(const struct options *o, double elapsed,
			      unsigned long long sent)
{
	unsigned long long left = o->packets - sent;
	unsigned long long due = CHUNK;

	if (o->rate) {
		due = elapsed * o->rate + 1;
		due = due > sent ? due - sent : 0;
	}
	if (due > CHUNK)
		due = CHUNK;
	return due < left ? due : left;
}

static int flood(const struct options *o, struct sender *s, struct frame *f,
		 double *ret_seconds)
{
	static const struct timespec nap = { .tv_nsec = 1000000 };
	struct itimerval alarm_at = { .it_value.tv_sec = o->seconds };
	double start = now(), elapsed = 0;
	unsigned int count;
	int err = 0;

	setitimer(ITIMER_REAL, &alarm_at, NULL); /* ends a call that is under way */
	while (!err && !stopping && s->sent < o->packets && elapsed < o->seconds) {
		count = allowance(o, elapsed, s->sent);
		if (count)
			err = s->burst(s, f, count);
		else
			nanosleep(&nap, NULL);
		elapsed = now() - start;
	}
	*ret_seconds = elapsed;
	return err;
}

static void report(const struct options *o, const struct sender *s, const struct frame *f,
		   unsigned long long delivered, double seconds)
{
	unsigned long long sent = s->sent;
	double pps = seconds > 0 ? sent / seconds : 0;
	struct rusage use;
	double busy;

	getrusage(RUSAGE_SELF, &use);
	busy = use.ru_utime.tv_sec + use.ru_stime.tv_sec +
	       (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
	if (o->json)
		printf("{\"sent\":%llu,\"delivered\":%llu,\"seconds\":%.3f,\"pps\":%.0f,"
		       "\"cpu_seconds\":%.3f,"
		       "\"frame\":%u,\"payload\":%zu,\"sources\":%u,\"sender\":\"%s\"}\n",
		       sent, delivered, seconds, pps, busy, f->plan.size, o->payload.size,
		       o->sources, s->name);
	else
		printf("%llu packets of %u bytes in %.3f s, %.0f a second, %llu taken by "
		       "the link, %u sources, %s\n",
		       sent, f->plan.size, seconds, pps, delivered, o->sources, s->name);
	if (sent && !delivered)
		fprintf(stderr,
			"floodgen: the peer of %s took nothing: it needs an XDP "
			"program, or ethtool -K PEER gro on\n",
			o->iface);
}

int main(int argc, char **argv)
{
	static struct frame frame;
	struct sigaction action = { .sa_handler = on_signal };
	struct sender sender = { .fd = -1, .burst = packet_burst };
	unsigned long long before;
	struct options o;
	double seconds = 0;
	cpu_set_t cpus;
	int err;

	if (options_read(argc, argv, &o))
		return usage();
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	if (o.cpu >= 0) {
		CPU_ZERO(&cpus);
		CPU_SET(o.cpu, &cpus);
		if (sched_setaffinity(0, sizeof(cpus), &cpus))
			return -refuse("no such processor", "--cpu") != 0;
	}
	if (frame_build(&o, &frame))
		return 1;
	before = iface_sent(o.iface);
	if (sender_open(&o, &frame, &sender))
		return 1;
	err = flood(&o, &sender, &frame, &seconds);
	floodgen_bpf__destroy(sender.skel);
	if (err)
		fprintf(stderr, "floodgen: sending: %s\n", strerror(-err));
	report(&o, &sender, &frame, iface_sent(o.iface) - before, seconds);
	return err != 0;
}
