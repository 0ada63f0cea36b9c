// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * replay.c - see replay.h: frames, the clock, and what each side says.
 *
 * The clock of the programs moves as far as times of the capture move forward. It never
 * goes back: a time that is a little earlier is a packet out of order, one that is much
 * earlier begins another stretch of time (the next file). It skips at most JUMP_NS at
 * once and stops at CLOCK_MOST_NS, so that no capture brings it where its arithmetic
 * ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/address.h"
#include "lib/log.h"
#include "replay/replay_internal.h"

#define ETHERNET	14 /* bytes of its header */
#define FRAME_MAX	4096 /* more than the kernel lets a program judge */
#define OUT_OF_ORDER_NS 1000000000ll
#define JUMP_NS		(30 * 86400 * 1000000000ll)
#define CLOCK_MOST_NS	(1ull << 59)
#define NOT_SENT_NS	1000000000ull /* a later response is to another request */
#define NOT_SENT_MAX	1024 /* a power of two */

/* Responses of the shield to one client, which the server was never asked for. */
struct not_sent {
	uint64_t to; /* hash of the client and the slot */
	uint64_t until_ns;
	unsigned int count;
};

/* One configuration. */
struct side {
	struct trial *trial; /* NULL: no such side */
	struct responses *responses;
	struct echo echo;
	struct not_sent not_sent[NOT_SENT_MAX];
};

struct replay {
	struct side sides[REPLAY_SIDES];
	struct hosts hosts;
	struct sum sum;
	const struct shield *beside; /* NULL: captures are replayed */
	replay_each *each;
	void *context;
	bool begun; /* the clock has seen a packet */
	int64_t last_ns; /* the capture's time that now_ns is of */
	uint64_t now_ns;
	uint8_t frame[FRAME_MAX], echoed[FRAME_MAX];
};

/* --- opening ------------------------------------------------------------------- */

/* Begin with the trial of the side, which is of @config. */
static int side_begin(struct replay *r, int side, const struct config *config)
{
	struct side *s = &r->sides[side];

	for (__u32 slot = 0; slot < SERVICES_MAX; slot++)
		trial_service(s->trial, slot, &r->sum.services[side][slot]);
	s->responses = responses_create(config, s->trial);
	if (s->responses)
		return 0;
	log_error("replay: not enough memory");
	return -ENOMEM;
}

static struct replay *create(replay_each *each, void *context)
{
	struct replay *r = calloc(1, sizeof(*r));

	if (!r) {
		log_error("replay: not enough memory");
		return NULL;
	}
	r->each = each;
	r->context = context;
	r->now_ns = TRIAL_BEGIN_NS;
	return r;
}

/* The trials are there, unless @err. 0 and *@ret, or -errno after a message. */
static int begin(struct replay *r, int err, const struct config *config,
		 const struct config *other, struct replay **ret)
{
	if (!err)
		err = side_begin(r, 0, config);
	if (!err && other)
		err = side_begin(r, 1, other);
	if (err)
		replay_close(r);
	else
		*ret = r;
	return err;
}

int replay_open(const struct config *config, const struct config *other,
		replay_each *each, void *context, struct replay **ret)
{
	struct replay *r = create(each, context);
	int err;

	if (!r)
		return -ENOMEM;
	err = trial_begin(config, &r->sides[0].trial);
	if (!err && other)
		err = trial_begin(other, &r->sides[1].trial);
	return begin(r, err, config, other, ret);
}

int replay_beside(const struct shield *shield, const struct config *now,
		  const struct config *other, int (*start)(void *context),
		  replay_each *each, void *context, struct replay **ret)
{
	struct replay *r = create(each, context);
	struct trial *both[REPLAY_SIDES];
	__u64 now_ns;
	int err;

	if (!r)
		return -ENOMEM;
	r->beside = shield;
	err = trial_fork(shield, other, start, context, both, &now_ns);
	for (int i = 0; !err && i < REPLAY_SIDES; i++) {
		r->sides[i].trial = both[i];
		r->now_ns = now_ns;
	}
	return begin(r, err, now, other, ret);
}

void replay_close(struct replay *r)
{
	if (!r)
		return;
	for (int i = 0; i < REPLAY_SIDES; i++) {
		responses_free(r->sides[i].responses);
		trial_close(r->sides[i].trial);
	}
	sum_free(&r->sum);
	free(r);
}

void replay_print(const struct replay *r, FILE *out)
{
	sum_print(&r->sum, r->sides[1].trial, out);
}

/* --- the clock ----------------------------------------------------------------- */

void replay_clock(struct replay *r, int64_t time_ns)
{
	int64_t past = r->begun ? time_ns - r->last_ns : 0;

	if (past < 0 && past > -OUT_OF_ORDER_NS)
		return;
	r->begun = true;
	r->last_ns = time_ns;
	if (past > JUMP_NS)
		past = JUMP_NS;
	if (past > 0 && r->now_ns < CLOCK_MOST_NS)
		r->now_ns += (uint64_t)past;
	for (int i = 0; i < REPLAY_SIDES && r->sides[i].trial; i++) {
		trial_clock(r->sides[i].trial, r->now_ns);
		responses_clock(r->sides[i].responses, r->now_ns);
	}
}

/* --- ends ------------------------------------------------------------------------ */

/* The slot of the service at @end; -1: none. */
static int end_slot(const struct side *s, const struct record_address *end)
{
	__be32 address[4];

	address_of(end->bytes, end->length, address);
	return trial_slot(s->trial, address, end->port);
}

static bool serves(const struct replay *r, const struct flow *flow,
		   const struct record_address *end)
{
	return flow->udp && (end_slot(&r->sides[0], end) >= 0 ||
			     (r->sides[1].trial && end_slot(&r->sides[1], end) >= 0));
}

/* --- judging -------------------------------------------------------------------- */

static struct not_sent *not_sent_of(struct side *s, __u32 slot,
				    const struct record_address *client)
{
	uint64_t to = flow_hash(client, slot);
	struct not_sent *n = &s->not_sent[(to >> 8) % NOT_SENT_MAX];

	if (n->to != to)
		*n = (struct not_sent){ .to = to };
	return n;
}

/* The shield has sent a response to @flow, which came for the service in @slot. */
static void not_sent_note(struct replay *r, struct side *s, __u32 slot,
			  const struct flow *flow)
{
	struct not_sent *n = not_sent_of(s, slot, &flow->source);

	n->count = n->until_ns > r->now_ns ? n->count + 1 : 1;
	n->until_ns = r->now_ns + NOT_SENT_NS;
}

/* Is @flow, from the service in @slot, a response that the shield has sent itself? */
static bool not_sent_take(struct replay *r, struct side *s, __u32 slot,
			  const struct service *service, const struct flow *flow)
{
	struct not_sent *n = not_sent_of(s, slot, &flow->destination);

	if (!n->count || n->until_ns <= r->now_ns ||
	    !flow_is_response(flow, (enum wire_family)service->family))
		return false;
	n->count--;
	return true;
}

/* The frame with what the client would have said to what the program has written. */
static const uint8_t *echoed(struct replay *r, const struct side *s, __u32 slot,
			     const uint8_t *bytes, const struct flow *flow, size_t n)
{
	uint32_t time;
	size_t at;

	if (!echo_move(&s->echo, slot, flow, &at, &time))
		return bytes;
	memcpy(r->echoed, bytes, n);
	memcpy(r->echoed + flow->at + at, &time, sizeof(time));
	return r->echoed;
}

/* Keep of a verdict on a datagram of a service what bears on those that follow. */
static void remember(struct replay *r, struct side *s, const struct flow *flow, bool out,
		     const struct trial_verdict *verdict)
{
	if (!flow->udp)
		return;
	if (!out) {
		responses_query(s->responses, verdict->slot, flow);
		if (verdict->sent)
			not_sent_note(r, s, verdict->slot, flow);
		return;
	}
	responses_learn(s->responses, verdict->slot, flow, r->now_ns);
	if (verdict->kind == KIND_NQ_UNRELIABLE)
		echo_update(&s->echo, verdict->slot, flow,
			    trial_left(s->trial) + flow->at);
}

/* Let the side judge the frame at @bytes; the packet is in @p. */
static void judge_side(struct replay *r, int side, const uint8_t *bytes,
		       const struct flow *flow, struct replay_packet *p)
{
	const struct record_address *server = p->out ? &flow->source : &flow->destination;
	struct side *s = &r->sides[side];
	struct replay_verdict *ret = &p->by[side];
	int slot = flow->udp ? end_slot(s, server) : -1, err;

	*ret = (struct replay_verdict){ .skip = SKIP_NONE };
	if (slot >= 0 && p->out &&
	    not_sent_take(r, s, (__u32)slot, &r->sum.services[side][slot], flow)) {
		ret->skip = SKIP_NOT_SENT;
		return;
	}
	if (slot >= 0 && !p->out)
		bytes = echoed(r, s, (__u32)slot, bytes, flow, p->length);
	err = trial_run(s->trial, p->out, bytes, p->length, &ret->verdict);
	if (err == -ENODATA)
		ret->verdict.other =
			flow->later ? OTHER_LATER_FRAGMENT : OTHER_NO_SERVICE;
	else if (err)
		ret->skip = SKIP_TOO_LONG;
	if (err || !ret->verdict.judged)
		return;
	ret->service = &r->sum.services[side][ret->verdict.slot];
	remember(r, s, flow, p->out, &ret->verdict);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool differs(const struct replay_verdict by[REPLAY_SIDES])
{
	struct replay_words a = replay_words(&by[0]), b = replay_words(&by[1]);

	return by[0].skip != by[1].skip || by[0].verdict.passes != by[1].verdict.passes ||
	       !same_text(a.service, b.service) || !same_text(a.kind, b.kind) ||
	       !same_text(a.reason, b.reason);
}

/* --- beside a running shield ----------------------------------------------------------
 */

static struct trial_client client_of(const struct replay_packet *p)
{
	struct trial_client client = { .port = p->source.port };

	address_of(p->source.bytes, p->source.length, client.address);
	return client;
}

static bool refused(const struct replay_verdict *v)
{
	return !v->skip && !v->verdict.passes;
}

/*
 * The packet has passed, and would not have by what the first side knows: it did not see
 * the cookie that the shield has asked for. Take over what the shield knows of the
 * client. True: judge again.
 */
static bool catch_up(struct replay *r, const struct replay_packet *p)
{
	struct trial_client client = client_of(p);
	bool more = false;

	for (int i = 0; i < REPLAY_SIDES; i++)
		if (p->by[i].service)
			more |= trial_catch_up(r->sides[i].trial, r->beside,
					       p->by[i].verdict.slot, &client);
	return more;
}

/*
 * Judge a packet that the running shield has let pass. A client that the second side
 * challenges is taken to return the cookie: what it sends next is judged as then.
 */
static void judge_beside(struct replay *r, const uint8_t *bytes, const struct flow *flow,
			 struct replay_packet *p)
{
	const struct replay_verdict *now = &p->by[0], *then = &p->by[1];

	if (!p->out && refused(now) && now->service && catch_up(r, p))
		for (int i = 0; i < REPLAY_SIDES; i++)
			judge_side(r, i, bytes, flow, p);
	p->doubtful = refused(now);
	if (!p->out && then->service && !then->skip &&
	    then->verdict.reason == REASON_CHALLENGED) {
		struct trial_client client = client_of(p);

		trial_validate(r->sides[1].trial, then->verdict.slot, &client);
	}
	p->differs = !p->doubtful && !now->skip && !then->skip && differs(p->by);
}

/* 0, or -ENOMEM after a message. */
static int judge(struct replay *r, const uint8_t *bytes, const struct flow *flow,
		 enum replay_skip skip, struct replay_packet *p)
{
	bool other = r->sides[1].trial;
	int err;

	for (int i = 0; i < REPLAY_SIDES && r->sides[i].trial; i++)
		if (skip)
			p->by[i] = (struct replay_verdict){ .skip = skip };
		else
			judge_side(r, i, bytes, flow, p);
	p->differs = other && differs(p->by);
	p->doubtful = false;
	if (r->beside && !skip)
		judge_beside(r, bytes, flow, p);
	err = sum_add(&r->sum, p, other);
	if (!err && r->each)
		r->each(p, r->context);
	return err;
}

/* --- frames ---------------------------------------------------------------------- */

/*
 * The frame as an Ethernet one: as it is, or with a header in place of its own, in
 * r->frame. *@ret_head: how many bytes that is longer than the frame's own.
 */
static const uint8_t *ethernet(struct replay *r, const struct capture_frame *f,
			       size_t *ret_captured, long *ret_more)
{
	static const uint8_t head[ETHERNET] = { 2, 0, 0, 0, 0, 1,    2,
						0, 0, 0, 0, 2, 0xff, 0xff };
	size_t skip = 0, n;

	*ret_more = 0;
	*ret_captured = f->captured;
	if (f->link == PACKET_LINK_ETHERNET)
		return f->bytes;
	memcpy(r->frame, head, ETHERNET);
	if (packet_link_skip(f->link, f->bytes, f->captured, &skip)) {
		bool ipv6 = f->bytes[skip] >> 4 == 6;

		r->frame[12] = ipv6 ? 0x86 : 0x08;
		r->frame[13] = ipv6 ? 0xdd : 0x00;
	}
	n = f->captured - skip;
	if (n > FRAME_MAX - ETHERNET)
		n = FRAME_MAX - ETHERNET;
	memcpy(r->frame + ETHERNET, f->bytes + skip, n);
	*ret_captured = ETHERNET + n;
	*ret_more = ETHERNET - (long)skip;
	return r->frame;
}

/* All of the packet for the kernel, with zeros for what the capture lacks. */
static const uint8_t *whole(struct replay *r, const uint8_t *bytes, size_t captured,
			    size_t length)
{
	if (captured >= length)
		return bytes;
	if (bytes != r->frame)
		memcpy(r->frame, bytes, captured);
	memset(r->frame + captured, 0, length - captured);
	return r->frame;
}

static enum replay_skip skip_of(const struct capture_frame *f, size_t length,
				size_t captured, bool read)
{
	if (!packet_link_known(f->link))
		return SKIP_UNKNOWN_LINK;
	if (length > FRAME_MAX)
		return SKIP_TOO_LONG;
	return captured < ETHERNET || (captured < length && !read) ? SKIP_CUT : SKIP_NONE;
}

int replay_frame(struct replay *r, const struct capture_frame *f, struct replay_packet *p)
{
	struct flow flow;
	size_t captured, length;
	enum replay_skip skip;
	bool read, from, to;
	enum way way;
	long more;
	int err = 0;

	replay_clock(r, f->time_ns);
	p->number = f->number;
	p->time_ns = f->time_ns;
	p->frame = ethernet(r, f, &captured, &more);
	length = (size_t)((long)f->length + more);
	p->captured = (uint32_t)captured;
	p->length = length > UINT32_MAX ? UINT32_MAX : (uint32_t)length;
	read = flow_read(p->frame, captured, &flow);
	skip = skip_of(f, length, captured, read);
	p->has_ends = flow.udp;
	p->source = flow.source;
	p->destination = flow.destination;
	from = serves(r, &flow, &flow.source);
	to = serves(r, &flow, &flow.destination);
	hosts_learn(&r->hosts, &flow, from, to);
	way = way_of(&r->hosts, &flow, f->way, from, to);
	if (!skip)
		p->frame = whole(r, p->frame, captured, length);
	if (way & WAY_OUT) {
		p->out = true;
		err = judge(r, p->frame, &flow, skip, p);
	}
	p->out = false;
	/* A packet that does not leave does not arrive. */
	if (!err && way & WAY_IN && !(way & WAY_OUT && !p->by[0].verdict.passes))
		err = judge(r, p->frame, &flow, skip, p);
	return err;
}

void replay_glance(struct replay *r, const struct capture_frame *f)
{
	const uint8_t *bytes;
	struct flow flow;
	size_t captured;
	long more;

	bytes = ethernet(r, f, &captured, &more);
	flow_read(bytes, captured, &flow);
	hosts_learn(&r->hosts, &flow, serves(r, &flow, &flow.source),
		    serves(r, &flow, &flow.destination));
}

unsigned int replay_next_file(struct replay *r)
{
	return r->sum.files++;
}
