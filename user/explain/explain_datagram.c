// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * explain_datagram.c - a datagram that the operator has: reading it, and its verdict.
 *
 * A frame is judged as it is. An IP packet gets an Ethernet header that leads to this
 * host, a payload gets all headers.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "explain/explain_frames.h"
#include "explain/explain_internal.h"
#include "lib/address.h"
#include "lib/log.h"

#define ETHERNET  14 /* bytes of its header */
#define TEST_FROM "192.0.2.1" /* the sender of a payload, if none is named */

/* --- reading ----------------------------------------------------------------- */

static int digit(char c)
{
	return isdigit((unsigned char)c)    ? c - '0'
	       : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
					    : -1;
}

const char *explain_read_hex(const char *text, struct explain_input *ret)
{
	ret->n = 0;
	while (*(text += strspn(text, " \t\n"))) {
		int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);

		if (low < 0)
			return "is no address, no file, and not hexadecimal";
		if (ret->n == EXPLAIN_FRAME)
			return "is longer than 3200 bytes";
		ret->bytes[ret->n++] = (__u8)(high << 4 | low);
		text += 2;
	}
	return ret->n ? NULL : "is empty";
}

static void end_from(const struct record_address *a, struct explain_end *ret)
{
	*ret = (struct explain_end){ .port = a->port, .mac = { 2, 0, 0, 0, 0, 2 } };
	address_of(a->bytes, a->length, ret->address);
}

/*
 * Take the frame as it is, or its IP packet if the link is not Ethernet. False: it does
 * not hold the beginning of a datagram, is cut, or is too long.
 */
static bool frame_take(const struct capture_frame *f, struct explain_input *ret,
		       bool *ret_fragment)
{
	struct packet packet;
	struct datagram d;
	size_t skip = 0;

	if (f->captured < f->length ||
	    !packet_parse(f->link, f->bytes, f->captured, &packet) || packet.offset ||
	    !packet_udp(&packet, &d))
		return false;
	ret->framed = f->link == PACKET_LINK_ETHERNET;
	if (!ret->framed && !packet_link_skip(f->link, f->bytes, f->captured, &skip))
		return false;
	if (f->captured - skip + (ret->framed ? 0 : ETHERNET) > EXPLAIN_FRAME)
		return false;
	ret->n = f->captured - skip;
	memcpy(ret->bytes, f->bytes + skip, ret->n);
	*ret_fragment = packet.fragment;
	return true;
}

/*
 * Read the first frame of a capture that can be judged. Frames are not put together: the
 * shield judges each fragment.
 */
static int capture_read(FILE *file, const char *path, struct explain_input *ret)
{
	struct capture *capture = NULL;
	struct capture_frame f;
	char message[200];
	int got = 0, err = capture_open(file, &capture, message, sizeof(message));
	bool taken = false, fragment = false;

	if (err) {
		log_error("explain: '%s': %s", path,
			  err == -EBADMSG ? message : strerror(-err));
		return err == -EBADMSG ? -EINVAL : err;
	}
	while (!taken && (got = capture_next_frame(capture, &f)) == 1)
		taken = frame_take(&f, ret, &fragment);
	if (fragment)
		log_warn("explain: '%s': the datagram is fragmented: its first fragment "
			 "is judged",
			 path);
	else if (taken && capture_next_frame(capture, &f) == 1)
		log_warn("explain: '%s': only the first datagram is judged", path);
	else if (!taken && got < 0)
		log_error("explain: '%s': %s", path, capture_error(capture));
	else if (!taken)
		log_error("explain: '%s': no whole UDP datagram of up to %d bytes is in "
			  "this capture",
			  path, EXPLAIN_FRAME);
	capture_close(capture);
	return taken ? 0 : -EINVAL;
}

int explain_read_file(const char *path, struct explain_input *ret)
{
	FILE *file = fopen(path, "re");
	int err;

	ret->n = 0;
	ret->framed = false;
	if (!file) {
		err = -errno;
		log_error("explain: cannot open '%s': %s", path, strerror(-err));
		return err;
	}
	ret->n = fread(ret->bytes, 1, EXPLAIN_FRAME, file);
	if (capture_recognise(ret->bytes, ret->n) && !fseek(file, 0, SEEK_SET)) {
		ret->n = 0;
		return capture_read(file, path, ret);
	}
	err = ferror(file) ? -errno : !ret->n ? -EINVAL : fgetc(file) != EOF ? -E2BIG : 0;
	fclose(file);
	if (err)
		log_error("explain: '%s': %s", path,
			  err == -E2BIG	   ? "more than 3200 bytes, and no capture"
			  : err == -EINVAL ? "the file is empty"
					   : strerror(-err));
	return err;
}

/* --- headers ----------------------------------------------------------------- */

/* Put an Ethernet header before an IP packet. False: @input begins with none. */
static bool packet_frame(const struct collect *c, struct explain_input *input)
{
	int version = input->n ? input->bytes[0] >> 4 : 0;
	__u8 *bytes = input->bytes;
	struct datagram d;

	if ((version != 4 && version != 6) || input->n + ETHERNET > EXPLAIN_FRAME)
		return false;
	memmove(bytes + ETHERNET, bytes, input->n);
	memset(bytes, 2, ETHERNET);
	trial_mac(c->trial, bytes);
	bytes[12] = version == 4 ? 0x08 : 0x86;
	bytes[13] = version == 4 ? 0x00 : 0xdd;
	input->n += ETHERNET;
	if (explain_frame_parse(bytes, input->n, &d))
		return true;
	input->n -= ETHERNET;
	memmove(bytes, bytes + ETHERNET, input->n);
	return false;
}

/*
 * Find the place of the one service that query->service names. 0, or -errno after a
 * message.
 */
static int place_find(const struct collect *c, struct shield_endpoint *ret)
{
	const char *want = c->explain->query.service;
	struct shield_endpoint place;
	struct service service, first;
	bool found = false;

	for (__u32 slot = 0; slot < SERVICES_MAX; slot++) {
		if (!shield_service(c->shield, slot, &service) ||
		    !collect_wanted(c, slot, service.name, &place))
			continue;
		if (found) {
			log_error("explain: services '%s' and '%s' have port %s: name "
				  "one of them",
				  first.name, service.name, want);
			return -EINVAL;
		}
		found = true;
		first = service;
		*ret = place;
	}
	if (found)
		return 0;
	log_error("explain: no such service: '%s'", want);
	return -ENOENT;
}

/* Put all headers before a payload. 0, or -errno after a message. */
static int payload_frame(const struct collect *c, struct explain_input *input)
{
	const struct explain *e = c->explain;
	struct explain_end from = { .mac = { 2, 0, 0, 0, 0, 2 } }, to = { .port = 0 };
	__u8 payload[EXPLAIN_FRAME];
	struct shield_endpoint place;
	int err = place_find(c, &place);

	if (err)
		return err;
	memcpy(from.address, e->query.address, sizeof(from.address));
	from.port = e->query.port ? e->query.port : EXPLAIN_PORT;
	to.port = place.port;
	memcpy(to.address, place.address, sizeof(to.address));
	if (!to.address[0] && !to.address[1] && !to.address[2] && !to.address[3])
		inet_pton(AF_INET6,
			  e->host.ipv6 ? "2001:db8:2::1" : "::ffff:198.51.100.1",
			  to.address);
	trial_mac(c->trial, to.mac);
	memcpy(payload, input->bytes, input->n);
	input->n = explain_frame(&from, &to, 64, payload, input->n, input->bytes);
	if (input->n)
		return 0;
	log_error("explain: the payload is too long, or service '%s' and the address of "
		  "--from are not both IPv4 or IPv6",
		  e->query.service);
	return -EINVAL;
}

/* --- judging ----------------------------------------------------------------- */

static void judge(struct collect *c, const struct explain_input *input)
{
	struct explain *e = c->explain;
	struct explain_step step = { .name = "datagram" };
	struct shield_endpoint place = { 0 };
	struct explain_service *s;
	int slot = about_service_at(c->shield, e->leaves ? e->query.address : e->to,
				    e->leaves ? e->query.port : e->to_port);

	trial_reset(c->trial, &e->host, slot < 0 ? SERVICES_MAX : (__u32)slot);
	place.port = e->leaves ? e->query.port : e->to_port;
	s = slot >= 0 ? collect_service(c, (__u32)slot, &place) : NULL;
	e->stray = step;
	collect_step(c, s ? s : &e->services[SERVICES_MAX], &e->stray, e->leaves,
		     input->bytes, input->n);
	if (!s)
		return;
	s->steps[s->step_count++] = e->stray;
	explain_causes(e, s);
}

/* Which addresses are its; a datagram from a service is told about its receiver. */
static void ends_find(struct collect *c, const struct datagram *d)
{
	struct explain *e = c->explain;
	struct explain_end from, to;
	__be32 *host = from.address;

	end_from(&d->source, &from);
	end_from(&d->destination, &to);
	e->parsed = true;
	e->payload_bytes = d->length;
	e->leaves = about_service_at(c->shield, to.address, to.port) < 0 &&
		    about_service_at(c->shield, from.address, from.port) >= 0;
	if (e->leaves)
		host = to.address;
	memcpy(e->query.address, from.address, sizeof(from.address));
	memcpy(e->to, to.address, sizeof(to.address));
	e->query.port = from.port;
	e->to_port = to.port;
	collect_host(c, host);
}

/*
 * Check that the operator names no service and no sender for a datagram that has headers.
 * 0, or -EINVAL after a message.
 */
static int headers_rule(const struct explain_query *query)
{
	char from[EXPLAIN_ADDRESS];

	if (query->service) {
		log_error("explain: --service '%s' is for a payload, and this datagram "
			  "has headers",
			  query->service);
		return -EINVAL;
	}
	if (address_is_any(query->address))
		return 0;
	explain_format(query->address, query->port, from);
	log_error("explain: --from '%s' is for a payload, and this datagram has headers",
		  from);
	return -EINVAL;
}

/* @query: as the operator has given it. */
static int datagram_collect(struct collect *c, const struct explain_query *query,
			    struct explain_input *input)
{
	struct explain *e = c->explain;
	struct datagram d;
	int err = 0;

	if (input->framed || explain_frame_parse(input->bytes, input->n, &d) ||
	    packet_frame(c, input)) {
		err = headers_rule(query);
	} else if (e->query.service) {
		err = payload_frame(c, input);
	} else if (input->n < ETHERNET) {
		log_error("explain: %zu bytes are no frame: --service names the service "
			  "of a payload",
			  input->n);
		err = -EINVAL;
	}
	if (err)
		return err;
	e->datagram = true;
	e->frame_bytes = input->n;
	if (explain_frame_parse(input->bytes, input->n, &d))
		ends_find(c, &d);
	judge(c, input);
	return 0;
}

int explain_datagram(const struct shield *shield, struct trial *trial,
		     const struct explain_query *query, struct explain_input *input,
		     struct explain **ret)
{
	struct explain_query from = *query;
	struct collect c;
	int err;

	if (address_is_any(from.address))
		inet_pton(AF_INET6, "::ffff:" TEST_FROM, from.address);
	err = collect_begin(&c, shield, trial, &from);
	if (!err)
		err = datagram_collect(&c, query, input);
	return collect_end(&c, err, ret);
}
