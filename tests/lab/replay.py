#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# replay.py CAPTURE RECORDED PORT SPEED ADDRESS... - play a recorded game again, SPEED times
# as fast: what was sent to port RECORDED leaves sockets of the namespace `client`, at
# these addresses and the recorded ports, for PORT of 10.77.0.2; what was sent from there
# leaves a socket of the namespace `server`. The capture is pcap, of Ethernet and IPv4.
import ctypes
import os
import socket
import struct
import sys
import time

SERVER = "10.77.0.2"
CLONE_NEWNET = 0x40000000


def datagrams(path):
    """Seconds, source, destination, payload; an end is an address and a port."""
    with open(path, "rb") as file:
        data = file.read()
    magic, link = struct.unpack_from("<I16xI", data)
    if magic not in (0xa1b2c3d4, 0xa1b23c4d) or link != 1:
        sys.exit(f"{path}: no pcap of Ethernet in this machine's byte order")
    fraction = 1e-6 if magic == 0xa1b2c3d4 else 1e-9
    at = 24
    while at + 16 <= len(data):
        seconds, part, kept, length = struct.unpack_from("<IIII", data, at)
        frame = data[at + 16:at + 16 + kept]
        at += 16 + kept
        if kept < length or frame[12:14] != b"\x08\x00" or frame[23] != socket.IPPROTO_UDP:
            continue
        udp = 14 + (frame[14] & 15) * 4
        sport, dport, size = struct.unpack_from(">HHH", frame, udp)
        yield (seconds + part * fraction, (frame[26:30], sport), (frame[30:34], dport),
               frame[udp + 8:udp + size])


def socket_in(namespace, address, port):
    fd = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(fd, CLONE_NEWNET):
        sys.exit(f"{namespace}: {os.strerror(ctypes.get_errno())}")
    os.close(fd)
    bound = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    bound.bind((address, port))
    return bound


def main():
    path, recorded, port, speed = sys.argv[1], *map(int, sys.argv[2:5])
    free = sys.argv[5:]
    server = socket_in("server", SERVER, port)
    clients = {}
    begun = None
    for when, source, destination, payload in datagrams(path):
        upward = destination[1] == recorded
        end = source if upward else destination
        if end not in clients:
            clients[end] = socket_in("client", free.pop(0), end[1])
        if begun is None:
            begun = time.monotonic() - when / speed
        time.sleep(max(0, begun + when / speed - time.monotonic()))
        if upward:
            clients[end].sendto(payload, (SERVER, port))
        else:
            server.sendto(payload, clients[end].getsockname())


main()
