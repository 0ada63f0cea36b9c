// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * capture.c - libpcap, and the order of things: a frame is read, packets that waited too
 * long for their fragments are given up, then the frame itself is looked at.
 */
#include <errno.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "capture/reassembly.h"

struct capture {
	pcap_t *pcap;
	int link;
	struct reassembly *reassembly; /* NULL until the first fragment */
	uint64_t packets;
	uint64_t passed[PASS_COUNT];
	const uint8_t *frame; /* read but not yet looked at, or NULL */
	size_t captured;
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

static int link_check(struct capture *capture, char *message, size_t size)
{
	const char *name;

	capture->link = pcap_datalink(capture->pcap);
	if (packet_link_known(capture->link))
		return 0;
	name = pcap_datalink_val_to_name(capture->link);
	if (name)
		snprintf(message, size, "no decoder for link type %s (%s)", name,
			 pcap_datalink_val_to_description_or_dlt(capture->link));
	else
		snprintf(message, size, "no decoder for link type %d", capture->link);
	return -EBADMSG;
}

int capture_open(FILE *file, struct capture **ret, char *message, size_t size)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	struct capture *capture = calloc(1, sizeof(*capture));
	int error = -ENOMEM;

	snprintf(message, size, "out of memory");
	if (!capture) {
		fclose(file);
		return -ENOMEM;
	}
	capture->pcap = pcap_fopen_offline_with_tstamp_precision(
		file, PCAP_TSTAMP_PRECISION_NANO, why);
	if (!capture->pcap) {
		snprintf(message, size, "%s", why);
		fclose(file);
		error = -EBADMSG;
		goto close;
	}
	error = link_check(capture, message, size);
	if (error)
		goto close;
	*ret = capture;
	return 0;

close:
	capture_close(capture);
	return error;
}

void capture_close(struct capture *capture)
{
	if (!capture)
		return;
	if (capture->pcap)
		pcap_close(capture->pcap);
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

static bool frame_read(struct capture *capture)
{
	struct pcap_pkthdr *header;
	const u_char *bytes;
	int result = pcap_next_ex(capture->pcap, &header, &bytes);

	if (result != 1) {
		capture->ended = true;
		capture->status = result == PCAP_ERROR_BREAK ? 0 : -EBADMSG;
		return false;
	}
	capture->packets++;
	capture->frame = bytes;
	capture->captured = header->caplen;
	/* With this precision the "micro" seconds are nanoseconds. */
	capture->time_ns = time_of(header->ts.tv_sec, header->ts.tv_usec);
	return true;
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
	if (!*taken || !packet_udp(&packet, ret))
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

/* The frame that was read, if it holds or completes a datagram. */
static bool frame_look(struct capture *capture, struct datagram *ret)
{
	struct packet packet, whole;
	const char *reason = NULL;

	ret->frame = capture->packets;
	ret->time_ns = capture->time_ns;
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
	return capture->status;
}

const char *capture_error(struct capture *capture)
{
	return pcap_geterr(capture->pcap);
}

const uint64_t *capture_passed(const struct capture *capture)
{
	return capture->passed;
}

int capture_filter(struct capture *capture, const char *expression, char *message,
		   size_t size)
{
	struct bpf_program program;

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
