// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * forge.c TO PORT RATE - datagrams in others' names, each made up by who calls: one a
 * line of the input, `ADDRESS PORT HEX`, of whom it is to seem to come. So many a second,
 * and how many there were, at the end.
 *
 * From and to 10.0.0.0/8 only, which has no way out of the lab. IPv4: what an attacker
 * forges there is forged no better in IPv6.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum {
	PAYLOAD_MAX = 1400,
	RATE_MAX = 100000,
	LINE_MAX_ = 2 * PAYLOAD_MAX + 64,
};

struct datagram {
	struct iphdr ip;
	struct udphdr udp;
	unsigned char payload[PAYLOAD_MAX];
};

static int complain(const char *what, const char *value)
{
	fprintf(stderr, "forge: %s: '%s'\n", what, value);
	return -EINVAL;
}

static int address_read(const char *text, in_addr_t *ret)
{
	struct in_addr address;

	if (inet_pton(AF_INET, text, &address) != 1 || ntohl(address.s_addr) >> 24 != 10)
		return complain("not an address in 10.0.0.0/8", text);
	*ret = address.s_addr;
	return 0;
}

static int number_read(const char *text, long most, long *ret)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text || *end || value < 1 || value > most)
		return complain("not a number, or out of range", text);
	*ret = value;
	return 0;
}

static int digit_read(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int payload_read(const char *hex, unsigned char *ret, size_t *ret_size)
{
	size_t size = strlen(hex) / 2;
	int high, low;

	if (strlen(hex) % 2 || !size || size > PAYLOAD_MAX)
		return complain("not an even number of hex digits, or too many", hex);
	for (size_t i = 0; i < size; i++) {
		high = digit_read(hex[2 * i]);
		low = digit_read(hex[2 * i + 1]);
		if (high < 0 || low < 0)
			return complain("not hex", hex + 2 * i);
		ret[i] = (unsigned char)(high << 4 | low);
	}
	*ret_size = size;
	return 0;
}

/* Of @size octets at @data, an odd last one included; of words as they stand there. */
static unsigned int sum16(const void *data, size_t size)
{
	const unsigned char *at = data;
	unsigned int sum = 0;
	unsigned short word;

	for (; size > 1; size -= 2, at += 2) {
		memcpy(&word, at, sizeof(word));
		sum += word;
	}
	return size ? sum + *at : sum;
}

/* The kernel fills in what is zero of the IP header, and its checksum. */
static int datagram_read(char *line, struct datagram *d, size_t *ret_size)
{
	char *rest, *from = strtok_r(line, " \n", &rest);
	char *port = strtok_r(NULL, " \n", &rest), *hex = strtok_r(NULL, " \n", &rest);
	unsigned int sum;
	in_addr_t source;
	size_t size = 0;
	long number = 0;

	if (!from || !port || !hex)
		return complain("not ADDRESS PORT HEX", line);
	if (address_read(from, &source) || number_read(port, 65535, &number) ||
	    payload_read(hex, d->payload, &size))
		return -EINVAL;
	d->ip.saddr = source;
	d->udp.source = htons((unsigned short)number);
	d->udp.len = htons((unsigned short)(size + sizeof(d->udp)));
	d->udp.check = 0;
	sum = sum16(&d->ip.saddr, 8) + sum16(&d->udp, sizeof(d->udp)) +
	      sum16(d->payload, size) + htons(IPPROTO_UDP) + d->udp.len;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	d->udp.check = (unsigned short)(sum == 0xffff ? sum : ~sum);
	*ret_size = sizeof(d->ip) + sizeof(d->udp) + size;
	return 0;
}

/* Until the datagram of number @n is due, @rate a second. */
static void wait_for(const struct timespec *start, unsigned long long n, long rate)
{
	struct timespec due = *start;
	unsigned long long ns = n * 1000000000ull / (unsigned long long)rate;

	due.tv_sec += (time_t)(ns / 1000000000);
	due.tv_nsec += (long)(ns % 1000000000);
	if (due.tv_nsec >= 1000000000) {
		due.tv_sec++;
		due.tv_nsec -= 1000000000;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
		;
}

static int forge(int fd, const struct sockaddr_in *to, long rate)
{
	struct datagram d = { .ip = { .version = 4,
				      .ihl = 5,
				      .ttl = 64,
				      .protocol = IPPROTO_UDP,
				      .daddr = to->sin_addr.s_addr },
			      .udp.dest = to->sin_port };
	unsigned long long sent = 0;
	struct timespec start;
	char line[LINE_MAX_];
	size_t size;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (fgets(line, sizeof(line), stdin)) {
		if (datagram_read(line, &d, &size))
			return -EINVAL;
		wait_for(&start, sent, rate);
		if (sendto(fd, &d, size, 0, (const struct sockaddr *)to, sizeof(*to)) <
			    0 &&
		    errno != ENOBUFS) {
			perror("forge: sending");
			return -errno;
		}
		sent++;
	}
	printf("%llu\n", sent);
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	long port, rate;
	int fd;

	if (argc != 4) {
		fputs("usage: forge TO PORT RATE, and lines ADDRESS PORT HEX\n", stderr);
		return 1;
	}
	if (address_read(argv[1], &to.sin_addr.s_addr) ||
	    number_read(argv[2], 65535, &port) || number_read(argv[3], RATE_MAX, &rate))
		return 1;
	to.sin_port = htons((unsigned short)port);
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (fd < 0) {
		perror("forge: a raw socket");
		return 1;
	}
	return forge(fd, &to, rate) != 0;
}
