#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# journal.py SOCKET FILE - stands in for journald: what is sent to the socket in its
# protocol (FIELD=value lines, or FIELD, a length of 64 bits and so many bytes) goes to
# FILE, one JSON object a datagram, with the time at which it came as "received".
import json
import os
import socket
import struct
import sys
import time


def fields(data):
    found = {}
    while data:
        line, _, rest = data.partition(b"\n")
        key, equals, value = line.partition(b"=")
        if equals:
            data = rest
        else:
            size = struct.unpack("<Q", rest[:8])[0]
            value, data = rest[8:8 + size], rest[9 + size:]
        found[key.decode()] = value.decode("utf-8", "replace")
    return found


os.makedirs(os.path.dirname(sys.argv[1]), exist_ok=True)
listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listening.bind(sys.argv[1])
with open(sys.argv[2], "w") as out:
    while True:
        data = listening.recv(65536)
        entry = fields(data)
        entry["received"] = time.time()
        print(json.dumps(entry), file=out, flush=True)
