// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * joined.c ADDRESS PORT COUNT - COUNT getstatus in one call, as one buffer that the card
 * is to cut (UDP_SEGMENT): on a veth it is cut by who receives it, behind the shield.
 */
#include <arpa/inet.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#define COUNT_MAX 64 /* the kernel's limit */

int main(int argc, char **argv)
{
	static const char request[] = "\xff\xff\xff\xffgetstatus";
	const int size = sizeof(request) - 1;
	struct sockaddr_in to = { .sin_family = AF_INET };
	char buffer[COUNT_MAX * sizeof(request)];
	int count = argc == 4 ? atoi(argv[3]) : 0;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (count < 1 || count > COUNT_MAX || fd < 0 ||
	    inet_pton(AF_INET, argv[1], &to.sin_addr) != 1) {
		fputs("usage: joined ADDRESS PORT COUNT, which is at most 64\n", stderr);
		return 1;
	}
	to.sin_port = htons((unsigned short)atoi(argv[2]));
	for (int i = 0; i < count; i++)
		memcpy(buffer + i * size, request, (size_t)size);
	if (setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)) ||
	    sendto(fd, buffer, (size_t)count * (size_t)size, 0, (struct sockaddr *)&to,
		   sizeof(to)) != count * size) {
		perror("joined");
		return 1;
	}
	return 0;
}
