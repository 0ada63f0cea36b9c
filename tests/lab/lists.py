#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""lists.py - master servers with the lists of those that registered, and game servers that do.

lists.py master PORT [FLAW]          a master of all protocols, until killed. It asks a server that
                                     sends a heartbeat, and lists it once it answers. FLAW:
    silent       no reply
    other        other servers at the same port
    far          other servers at other ports
    unended      a list without the mark of its end
    noise        what is no list
    forged       a list from another port of the same address, with every server
    lossy        the first reply to each peer lacks the datagram with the registered servers
    long         400,000 servers, in which the registered ones come last: four times as many as
                 are read, since a busy machine loses some
lists.py game KIND [ADDRESS:]PORT [MASTER:PORT]...    a server of KIND (quake3 quake3-xonotic quakeworld
                                     quake2 dumb) that sends heartbeats; each line it prints is
                                     a datagram that it got
"""
import functools
import select
import socket
import struct
import sys
import time

OOB = b"\xff\xff\xff\xff"
CHALLENGE = b"Ab0Ba0aB1"
FILLER = 300  # servers of others in each list


def entry(host, port):
    return socket.inet_aton(host) + struct.pack(">H", port)


@functools.cache
def fillers(flaw):
    port = 27960 if flaw == "other" else 27100
    return [entry(f"192.0.2.{1 + i % 250}", port + (i // 250 if flaw != "other" else 0))
            for i in range(400000 if flaw == "long" else FILLER)]


def dp_datagrams(head, entries, flaw):
    """As dpmaster: 1,400 bytes at most, the mark of the end in the last."""
    many = (1400 - len(OOB + head) - 7) // 7
    for first in range(0, max(len(entries), 1), many):
        last = first + many >= len(entries)
        yield (OOB + head + b"".join(b"\\" + e for e in entries[first:first + many])
               + (b"\\EOT\0\0\0" if last and flaw != "unended" else b""))


def answer(data, servers, flaw):
    """The datagrams of a reply to a request for a list; none: it is no such request."""
    word, *rest = data[4:].rstrip(b"\0\n").split(b" ")
    if data.startswith(OOB) and word in (b"getservers", b"getserversExt"):
        game, protocol = (rest[0], rest[1]) if not rest[0].isdigit() else (b"", rest[0])
        own = [e for e, (g, p) in servers.items()
               if p == protocol and game in (g, b"" if g == b"Quake3Arena" else g)]
        head = b"getserversResponse" if word == b"getservers" else b"getserversExtResponse"
        all_of_them = own + fillers(flaw) if flaw == "lossy" else fillers(flaw) + own
        return list(dp_datagrams(head, all_of_them, flaw))
    if data in (b"c\n\0", b"c\n"):
        own = [e for e, (g, _) in servers.items() if g == b"qw"]
        return [OOB + b"d\n" + b"".join(fillers("") + own)]
    if data.startswith(b"query"):
        own = [e for e, (g, _) in servers.items() if g == b"q2"]
        return [OOB + b"servers " + b"".join(fillers("") + own)]
    return []


def register(sock, data, peer, servers):
    if data.startswith(b"a\n"):
        servers[entry(*peer)] = (b"qw", b"")
    elif data.startswith(OOB + b"heartbeat\n"):
        servers[entry(*peer)] = (b"q2", b"")
        sock.sendto(OOB + b"ack", peer)
    elif data.startswith(OOB + b"heartbeat "):
        sock.sendto(OOB + b"getinfo " + CHALLENGE, peer)
    elif data.startswith(OOB + b"infoResponse\n") and CHALLENGE in data:
        keys = data[17:].split(b"\\")[1:]
        info = dict(zip(keys[::2], keys[1::2]))
        servers[entry(*peer)] = (info.get(b"gamename", b"Quake3Arena"), info[b"protocol"])
        print("listed", *peer, flush=True)


def master(port, flaw=""):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
    sock.bind(("0.0.0.0", port))
    other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    servers, answered = {}, set()
    print("ready", flush=True)
    while True:
        data, peer = sock.recvfrom(2048)
        print("got", data, "from", peer[1], flush=True)
        if flaw == "silent":
            continue
        register(sock, data, peer, servers)
        replies = answer(data, servers, flaw)
        if flaw == "noise" and replies:
            replies = [OOB + b"getserversResponse\\\x0a\x00", OOB + b"print\nno\n", b""]
        if flaw == "lossy" and replies and peer not in answered:
            answered.add(peer)
            replies = replies[1:]
        for reply in replies:
            (other if flaw == "forged" else sock).sendto(reply, peer)
            if flaw == "long":
                time.sleep(0.0002)


HEARTBEATS = {"quake3": OOB + b"heartbeat QuakeArena-1\n", "quakeworld": b"a\n1\n0\n",
              "quake3-xonotic": OOB + b"heartbeat DarkPlaces\n",
              "quake2": OOB + b"heartbeat\n\\hostname\\lab\n", "dumb": OOB + b"heartbeat x\n"}
INFO = {"quake3": b"\\protocol\\71\\gamename\\Quake3Arena",
        "quake3-xonotic": b"\\gamename\\Xonotic\\protocol\\3"}


def game(kind, at, *masters):
    host, _, port = at.rpartition(":")
    sock = socket.socket(socket.AF_INET6 if host == "::" else socket.AF_INET, socket.SOCK_DGRAM)
    if host == "::":
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    sock.bind((host or "0.0.0.0", int(port)))
    print("ready", flush=True)
    while True:
        for at in masters:
            host, _, to = at.partition(":")
            sock.sendto(HEARTBEATS[kind], (host, int(to)))
        end = time.monotonic() + 1
        while select.select([sock], [], [], max(0, end - time.monotonic()))[0]:
            data, peer = sock.recvfrom(2048)
            print("got", data, flush=True)
            if data.startswith(OOB + b"getinfo") and kind in INFO:
                sock.sendto(OOB + b"infoResponse\n\\challenge\\" + data[12:] + INFO[kind]
                            + b"\\hostname\\lab\\mapname\\dm1", peer)


if __name__ == "__main__":
    if sys.argv[1] == "master":
        master(int(sys.argv[2]), *sys.argv[3:])
    else:
        game(*sys.argv[2:])
