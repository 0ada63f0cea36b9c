#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""local_port.py PORT COUNT - an unprivileged user of the host takes [::]:PORT beside a
server on 0.0.0.0:PORT, and says what a server says: CCREP_ACCEPT that names the ports 53
and 51820, then game datagrams to COUNT addresses, of which each would make a player."""

import socket
import struct
import sys
import time

PORT, COUNT = int(sys.argv[1]), int(sys.argv[2])

s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
s.bind(("::", PORT))
time.sleep(6)  # the daemon reads the list of sockets meanwhile
for named in (53, 51820):
    s.sendto(b"\x80\0\0\x09\x81" + struct.pack("<I", named), ("fd00:66::1", 9))
for i in range(COUNT):
    to = ("fd00:c1:%x:%x::1" % (i >> 16, i & 0xffff), 1024 + i % 50000)
    try:
        s.sendto(struct.pack("<II", 1 + i, 1) + bytes(12), to)
    except OSError:
        time.sleep(0.001)
time.sleep(6)
