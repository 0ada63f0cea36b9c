// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * capture.c - files of frames, and the order of things: a frame is read, packets that
 * waited too long for their fragments are given up, then the frame itself is looked at.
 *
 * libpcap reads pcap files, pcapng_read.h reads pcapng ones, in which frames may differ
 * in link type. A filter is compiled by libpcap once for each link type.
 */
#include <errno.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "capture/pcapng_read.h"
#include "capture/reassembly.h"

#define FILTERS_MAX 16 /* link types that packet_link_known() knows, and one more */

/* The expression of capture_filter() for frames of one link type. */
struct filter {
	int link;
	struct bpf_program program;
};

struct capture {
	pcap_t *pcap; /* or pcapng */
	struct pcapng_reader *pcapng;
	int link; /* of the frame */
	int link_unknown; /* of the last frame that nothing here can parse */
	char *expression; /* of capture_filter(), or NULL */
	struct filter filters[FILTERS_MAX];
	size_t filters_n;
	char error[PCAP_ERRBUF_SIZE]; /* "": libpcap or pcapng_read.h has it */
	struct pcapng_frame ahead; /* of pcapng: read by capture_open() */
	int ahead_result; /* of that: as pcapng_next() */
	bool has_ahead;
	struct reassembly *reassembly; /* NULL until the first fragment */
	uint64_t packets;
	uint64_t passed[PASS_COUNT];
	const uint8_t *frame; /* read but not yet looked at, or NULL */
	size_t captured;
	size_t length; /* on the wire */
	enum packet_way way; /* as a pcapng block says */
	int64_t time_ns;
	bool ended;
	int status; /* of the end */
};

bool capture_recognise(const uint8_t *bytes, size_t n)
{
	static const uint8_t magics[][4] = {
		{ 0xa1, 0xb2, 0xc3, 0xd4 }, { 0xd4, 0xc3, 0xb2, 0xa1 },
		{ 0xa1, 0xb2, 0x3c, 0x4d }, { 0x4d, 0x3c, 0xb2, 0xa1 },
		{ 0xa1, 0xb2, 0xcd, 0x34 }, { 0x34, 0xcd, 0xb2, 0xa1 },
		{ 0x0a, 0x0d, 0x0d, 0x0a },
	};

	for (size_t i = 0; n >= 4 && i < sizeof(magics) / sizeof(*magics); i++)
		if (!memcmp(bytes, magics[i], 4))
			return true;
	return false;
}

static int link_refuse(int link, char *message, size_t size)
{
	const char *name = pcap_datalink_val_to_name(link);

	if (name)
		snprintf(message, size, "no decoder for link type %s (%s)", name,
			 pcap_datalink_val_to_description_or_dlt(link));
	else
		snprintf(message, size, "no decoder for link type %d", link);
	return -EBADMSG;
}

static int pcap_start(struct capture *capture, FILE *file, char *message, size_t size)
{
	char why[PCAP_ERRBUF_SIZE] = "";

	capture->pcap = pcap_fopen_offline_with_tstamp_precision(
		file, PCAP_TSTAMP_PRECISION_NANO, why);
	if (!capture->pcap) {
		snprintf(message, size, "%s", why);
		fclose(file);
		return -EBADMSG;
	}
	capture->link = pcap_datalink(capture->pcap);
	return packet_link_known(capture->link)
		       ? 0
		       : link_refuse(capture->link, message, size);
}

/* The first frame is read at once: its link type is what a filter is compiled for. */
static int pcapng_start(struct capture *capture, FILE *file, char *message, size_t size)
{
	capture->pcapng = pcapng_open(file);
	if (!capture->pcapng)
		return -ENOMEM;
	capture->has_ahead = true;
	capture->ahead_result = pcapng_next(capture->pcapng, &capture->ahead);
	capture->link = capture->ahead_result == 1 ? capture->ahead.link : DLT_EN10MB;
	if (capture->ahead_result >= 0)
		return 0;
	snprintf(message, size, "%s", pcapng_error(capture->pcapng));
	return -EBADMSG;
}

int capture_open(FILE *file, struct capture **ret, char *message, size_t size)
{
	struct capture *capture = calloc(1, sizeof(*capture));
	int first, error;

	snprintf(message, size, "out of memory");
	if (!capture) {
		fclose(file);
		return -ENOMEM;
	}
	/* A pipe gives back one byte, and one tells: no magic of pcap begins like this.
	 */
	first = getc(file);
	ungetc(first, file);
	if (first == 0x0a)
		error = pcapng_start(capture, file, message, size);
	else
		error = pcap_start(capture, file, message, size);
	if (error) {
		capture_close(capture);
		return error;
	}
	*ret = capture;
	return 0;
}

void capture_close(struct capture *capture)
{
	if (!capture)
		return;
	if (capture->pcap)
		pcap_close(capture->pcap);
	pcapng_close(capture->pcapng);
	for (size_t i = 0; i < capture->filters_n; i++)
		pcap_freecode(&capture->filters[i].program);
	free(capture->expression);
	reassembly_free(capture->reassembly);
	free(capture);
}

#define TIME_MAX_NS (INT64_MAX / 2)

/*
 * pcapng holds times that no clock shows. Those before 1970 and after 2116 become the
 * nearest between: so the difference of any two is a time too.
 */
static int64_t time_of(int64_t seconds, int64_t ns)
{
	int64_t time_ns;

	if (seconds < 0)
		return 0;
	if (__builtin_mul_overflow(seconds, 1000000000, &time_ns) ||
	    __builtin_add_overflow(time_ns, ns, &time_ns) || time_ns > TIME_MAX_NS)
		return TIME_MAX_NS;
	return time_ns < 0 ? 0 : time_ns;
}

static bool ended(struct capture *capture, int status)
{
	capture->ended = true;
	capture->status = status;
	return false;
}

/* A frame of a pcap file. libpcap leaves out what does not match the filter. */
static bool pcap_frame_read(struct capture *capture)
{
	struct pcap_pkthdr *header;
	const u_char *bytes;
	int result = pcap_next_ex(capture->pcap, &header, &bytes);

	if (result != 1)
		return ended(capture, result == PCAP_ERROR_BREAK ? 0 : -EBADMSG);
	capture->frame = bytes;
	capture->captured = header->caplen;
	capture->length = header->len;
	/* With this precision the "micro" seconds are nanoseconds. */
	capture->time_ns = time_of(header->ts.tv_sec, header->ts.tv_usec);
	return true;
}

/* Return the filter for frames of @link, compiled when the first is met; NULL: error. */
static struct filter *filter_for(struct capture *capture, int link)
{
	struct filter *filter = capture->filters;
	pcap_t *dead;
	int result;

	for (size_t i = 0; i < capture->filters_n; i++, filter++)
		if (filter->link == link)
			return filter;
	if (capture->filters_n == FILTERS_MAX)
		return NULL;
	dead = pcap_open_dead(link, PCAPNG_FRAME_MAX);
	if (!dead)
		return NULL;
	result = pcap_compile(dead, &filter->program, capture->expression, 1,
			      PCAP_NETMASK_UNKNOWN);
	if (result)
		snprintf(capture->error, sizeof(capture->error), "filter '%s': %s",
			 capture->expression, pcap_geterr(dead));
	pcap_close(dead);
	if (result)
		return NULL;
	filter->link = link;
	capture->filters_n++;
	return filter;
}

/*
 * Apply the filter to @frame. 1: it matches, or there is no filter; 0: it does not;
 * -EBADMSG: the filter cannot be compiled for it.
 */
static int pcapng_match(struct capture *capture, const struct pcapng_frame *frame)
{
	struct pcap_pkthdr header = { .caplen = (bpf_u_int32)frame->captured,
				      .len = (bpf_u_int32)frame->length };
	struct filter *filter;

	if (!capture->expression || !packet_link_known(frame->link))
		return 1;
	filter = filter_for(capture, frame->link);
	if (!filter)
		return -EBADMSG;
	return pcap_offline_filter(&filter->program, &header, frame->bytes) != 0;
}

/*
 * Read the next frame of a pcapng file that passes the filter. False at the end or at
 * damage; capture->status says which.
 */
static bool pcapng_frame_read(struct capture *capture)
{
	struct pcapng_frame *frame = &capture->ahead;
	int result, match;

	do {
		result = capture->has_ahead ? capture->ahead_result
					    : pcapng_next(capture->pcapng, frame);
		capture->has_ahead = false;
		if (result != 1)
			return ended(capture, result);
		match = pcapng_match(capture, frame);
		if (match < 0)
			return ended(capture, match);
	} while (!match);
	capture->frame = frame->bytes;
	capture->captured = frame->captured;
	capture->length = frame->length;
	capture->way = frame->way;
	capture->time_ns =
		time_of(frame->time_ns / 1000000000, frame->time_ns % 1000000000);
	capture->link = frame->link;
	return true;
}

static bool frame_read(struct capture *capture)
{
	bool got = capture->pcap ? pcap_frame_read(capture) : pcapng_frame_read(capture);

	capture->packets += got;
	return got;
}

/* Gives up one packet; *taken: there was one. True: it was a datagram, with a hole. */
static bool hole_take(struct capture *capture, bool all, struct datagram *ret,
		      bool *taken)
{
	struct packet packet;
	const char *reason;

	*taken = capture->reassembly &&
		 reassembly_give_up(capture->reassembly, capture->time_ns, all, &packet,
				    ret, &reason);
	if (*taken)
		packet_unwrap(&packet);
	if (!*taken || packet.fragment || !packet_udp(&packet, ret))
		return false;
	ret->damage = RECORD_PARTIAL;
	ret->reason = reason;
	return true;
}

static bool hole_next(struct capture *capture, bool all, struct datagram *ret)
{
	bool taken;

	do {
		if (hole_take(capture, all, ret, &taken))
			return true;
	} while (taken);
	return false;
}

static bool datagram_of(struct capture *capture, const struct packet *packet,
			struct datagram *ret)
{
	if (packet_udp(packet, ret))
		return true;
	capture->passed[packet_pass(packet)]++;
	return false;
}

/*
 * Return true if the frame that was read holds or completes a datagram, which is in @ret
 * then. Called by capture_next() alone, once per frame and after frame_waits(). A frame
 * without a datagram is counted in capture->passed; a fragment is not, while its packet
 * is incomplete.
 */
static bool frame_look(struct capture *capture, struct datagram *ret)
{
	struct packet packet, whole;
	const char *reason = NULL;

	ret->frame = capture->packets;
	ret->time_ns = capture->time_ns;
	if (!packet_link_known(capture->link)) {
		capture->link_unknown = capture->link;
		capture->passed[PASS_LINK_UNKNOWN]++;
		return false;
	}
	if (!packet_parse(capture->link, capture->frame, capture->captured, &packet)) {
		capture->passed[packet.pass]++;
		return false;
	}
	if (!packet.fragment)
		return datagram_of(capture, &packet, ret);

	if (!capture->reassembly)
		capture->reassembly = reassembly_create();
	if (!capture->reassembly)
		return false;
	if (reassembly_add(capture->reassembly, &packet, capture->packets,
			   capture->time_ns, &whole, &reason) != REASSEMBLY_WHOLE)
		return false;
	packet_unwrap(&whole);
	if (whole.fragment) {
		/* Fragments within fragments are not put together. */
		capture->passed[PASS_TUNNEL]++;
		return false;
	}
	if (!datagram_of(capture, &whole, ret))
		return false;
	if (reason) {
		ret->damage = RECORD_MALFORMED;
		ret->reason = reason;
	}
	return true;
}

/* A fragment for which there is no room makes the oldest packet give way first. */
static bool frame_waits(struct capture *capture, struct datagram *ret)
{
	struct packet packet;
	bool taken;

	if (hole_next(capture, false, ret))
		return true;
	return capture->reassembly && reassembly_full(capture->reassembly) &&
	       packet_parse(capture->link, capture->frame, capture->captured, &packet) &&
	       packet.fragment && !reassembly_holds(capture->reassembly, &packet) &&
	       hole_take(capture, true, ret, &taken);
}

int capture_next(struct capture *capture, struct datagram *ret)
{
	while (!capture->ended) {
		if (!capture->frame && !frame_read(capture))
			break;
		if (frame_waits(capture, ret))
			return 1;
		if (frame_look(capture, ret)) {
			capture->frame = NULL;
			return 1;
		}
		capture->frame = NULL;
	}
	if (hole_next(capture, true, ret))
		return 1;
	if (!capture->status && capture->packets &&
	    capture->passed[PASS_LINK_UNKNOWN] == capture->packets)
		capture->status = link_refuse(capture->link_unknown, capture->error,
					      sizeof(capture->error));
	return capture->status;
}

int capture_next_frame(struct capture *capture, struct capture_frame *ret)
{
	if (capture->ended || !frame_read(capture))
		return capture->status;
	*ret = (struct capture_frame){
		.number = capture->packets,
		.time_ns = capture->time_ns,
		.link = capture->link,
		.bytes = capture->frame,
		.captured = capture->captured,
		.length = capture->length,
		.way = capture->way,
	};
	if (ret->length < ret->captured)
		ret->length = ret->captured;
	if (ret->way == PACKET_WAY_UNKNOWN)
		ret->way = packet_link_way(ret->link, ret->bytes, ret->captured);
	return 1;
}

const char *capture_error(struct capture *capture)
{
	if (*capture->error)
		return capture->error;
	return capture->pcap ? pcap_geterr(capture->pcap) : pcapng_error(capture->pcapng);
}

const uint64_t *capture_passed(const struct capture *capture)
{
	return capture->passed;
}

int capture_filter(struct capture *capture, const char *expression, char *message,
		   size_t size)
{
	struct bpf_program program;

	if (!capture->pcap) {
		capture->expression = strdup(expression);
		if (capture->expression &&
		    filter_for(capture, packet_link_known(capture->link) ? capture->link
									 : DLT_EN10MB))
			return 0;
		snprintf(message, size, "%s",
			 *capture->error ? capture->error : strerror(ENOMEM));
		return -EINVAL;
	}
	if (pcap_compile(capture->pcap, &program, expression, 1, PCAP_NETMASK_UNKNOWN)) {
		snprintf(message, size, "filter '%s': %s", expression,
			 pcap_geterr(capture->pcap));
		return -EINVAL;
	}
	if (pcap_setfilter(capture->pcap, &program)) {
		snprintf(message, size, "filter '%s': %s", expression,
			 pcap_geterr(capture->pcap));
		pcap_freecode(&program);
		return -EINVAL;
	}
	pcap_freecode(&program);
	return 0;
}

uint64_t capture_packets(const struct capture *capture)
{
	return capture->packets;
}
