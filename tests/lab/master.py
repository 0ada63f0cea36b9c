#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""master.py - a master server's stand-in, its game servers, and its browsers.

master.py serve PORT        until killed. A heartbeat is answered by getinfo with a challenge, and
                            the infoResponse with that challenge lists the server; QuakeWorld's
                            heartbeat lists it at once. A list is that of SERVERS servers.
master.py register FROM TO PORT N    from N ports: a heartbeat, and the answer to getinfo.
master.py browse FROM TO PORT N      ask for the list N times, one in two seconds.

The last two print one JSON object of what they saw.
"""
import json
import select
import socket
import sys
import time

OOB = b"\xff\xff\xff\xff"
SERVERS = 400          # 7 bytes each, in datagrams of at most 1,400 bytes
ENTRY = b"\\\x0a\x00\x00\x01\x6d\x38"
CHALLENGE = b"Ab0Ba0aB"


def lists():
    """The datagrams of a list as dpmaster sends it."""
    many = (1400 - len(OOB + b"getserversResponse" + b"\\EOT\0\0\0")) // len(ENTRY)
    for first in range(0, SERVERS, many):
        last = first + many >= SERVERS
        yield (OOB + b"getserversResponse" + ENTRY * min(many, SERVERS - first)
               + (b"\\EOT\0\0\0" if last else b""))


def serve(port):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("0.0.0.0", port))
    print("ready", flush=True)
    while True:
        data, peer = sock.recvfrom(2048)
        if data.startswith(OOB + b"getservers "):
            for datagram in lists():
                sock.sendto(datagram, peer)
        elif data == b"c\n\0":
            sock.sendto(OOB + b"d\n" + ENTRY[1:] * 200, peer)
        elif data.startswith(OOB + b"heartbeat "):
            sock.sendto(OOB + b"getinfo " + CHALLENGE, peer)
        elif data.startswith(b"a\n"):
            print(json.dumps({"listed": peer}), flush=True)
        elif data.startswith(OOB + b"infoResponse") and CHALLENGE in data:
            print(json.dumps({"listed": peer}), flush=True)


def register(own, to, port, count):
    """Each of COUNT servers of one host announces itself, and answers the master."""
    socks = []
    for _ in range(count):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind((own, 0))
        sock.sendto(OOB + b"heartbeat QuakeArena-1\n", (to, port))
        socks.append(sock)
    asked, end = 0, time.monotonic() + 3
    while asked < count and time.monotonic() < end:
        for sock in select.select(socks, [], [], 0.1)[0]:
            data = sock.recv(2048)
            if data.startswith(OOB + b"getinfo "):
                asked += 1
                sock.sendto(OOB + b"infoResponse\n\\challenge\\" + data[12:]
                            + b"\\hostname\\lab\\clients\\0", (to, port))
    print(json.dumps({"servers": count, "asked": asked}))


def browse(own, to, port, count):
    """A browser's list is whole if as many servers arrive as the master has."""
    whole, octets = 0, 0
    for i in range(count):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind((own, 0))
        sock.sendto((OOB + b"getservers 68 empty full", b"c\n\0")[i % 2], (to, port))
        servers, end = 0, time.monotonic() + 1
        while time.monotonic() < end and select.select([sock], [], [], 0.3)[0]:
            data = sock.recv(2048)
            octets += len(data)
            servers += data.count(ENTRY[1:])
        whole += servers == (SERVERS, 200)[i % 2]
        time.sleep(max(0, end + 1 - time.monotonic()))
    print(json.dumps({"asked": count, "whole": whole, "octets": octets}))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]))
    else:
        globals()[sys.argv[1]](sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
