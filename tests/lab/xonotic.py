#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
xonotic.py - a DarkPlaces server with d0_blind_id keys, as Xonotic's are by default, and its
clients, as far as the network sees them.

    xonotic.py server ADDRESS PORT SECONDS [--bare | --encrypt]
    xonotic.py client ADDRESS PORT [--from ADDRESS] [--clients N] [--state STATE] [--tries N]
                                   [--seconds SECONDS]

A server sends `challenge TEXT NUL` and, unless it is --bare, a block with the fingerprint of
its key; --encrypt: the datagrams of the game look like AES, else they carry an HMAC. At its end
the server prints what it received, as JSON.

STATE of a client:
    stored   (default) it knows the server's key from an earlier infoResponse: a challenge
             without the block, or an accept without keys exchanged, ends its attempt
    known    it knows the authority's key but not this server: with the block it exchanges
             keys, without it joins without
    none     it has no keys: it reads a challenge up to the NUL and connects

A client asks once a second, ten times, with `getchallenge` and NetQuake's request together; each
step of the handshake sets that second back. Then it plays for SECONDS. One line a client:
`joined`, `rejected: why` or `no reply`, the seconds it took, and the share of the server's
datagrams that arrived. Numbers of the handshake are random: only their length is real.
"""
import argparse
import json
import os
import select
import socket
import struct
import sys
import time

OOB = b"\xff\xff\xff\xff"
KEY = b"GtFBwhZ8Jqc0uJ5QYqXnYkAbc/lr+mpSkP7RAkkVWk4="  # 44 characters, as a fingerprint has
BLOCK = KEY + b"\0\0"
APPENDED = b"vlen" + struct.pack("<I", len(BLOCK)) + b"d0pk" + BLOCK
CONTROL = b"\x80\0\0\x13\x01QUAKE\0\x03\x01\x22\0\0\0\0\0"
RATE = 60  # datagrams of the game a second, each way
STORED = "Server tried an unauthenticated connection even though a host key is present"


def info(text):
    """The pairs of an info string."""
    parts = text.split(b"\\")[1:]
    return dict(zip(parts[::2], parts[1::2]))


def step(number, more, data):
    """A datagram of the handshake."""
    return OOB + b"d0pk\\cnt\\%d\\id\\1" % number + more + b"\0" + data


def wrapped(encrypt, sequence, body):
    """An unreliable datagram of NetQuake behind an HMAC, or as AES would leave it."""
    inner = struct.pack(">HHI", 0x2010, 8 + len(body), sequence) + body
    if not encrypt:
        return os.urandom(3).replace(b"\xff", b"x") + os.urandom(13) + inner
    total = (len(inner) + 15) // 16 * 16 + 16
    return bytes([total - len(inner)]) + os.urandom(total - 1)


class Server:
    """One server; a peer is an address and port."""

    def __init__(self, bare, encrypt):
        self.bare, self.encrypt = bare, encrypt
        self.challenges, self.asked, self.expects = {}, {}, {}
        self.keyed, self.players, self.heard = set(), {}, {}
        self.counts = {"getchallenge": 0, "steps": 0, "connects": 0, "wrong": 0}

    def challenge(self, peer, now):
        """At most two a second for each peer."""
        self.counts["getchallenge"] += 1
        if now - self.asked.get(peer, 0) < 0.5:
            return None
        self.asked[peer] = now
        text = self.challenges.setdefault(peer, b"".join(
            b"%c" % (33 + b % 58) for b in os.urandom(11)).replace(b"\\", b"x"))
        return OOB + b"challenge " + text + b"\0" + (b"" if self.bare else APPENDED)

    def key_step(self, peer, pairs):
        """d0pk: a step counts only if it is the next one."""
        self.counts["steps"] += 1
        number = int(pairs.get(b"cnt", b"-1"))
        if number == 0:
            if pairs.get(b"challenge") != self.challenges.get(peer):
                self.counts["wrong"] += 1
                return None
            self.keyed.discard(peer)
        elif number != self.expects.get(peer):
            return None
        self.expects[peer] = number + 2
        if number == 6:
            self.keyed.add(peer)
            return OOB + b"challenge "
        return step(number + 1, b"\\aes\\%d" % self.encrypt if not number else b"",
                    os.urandom(390))

    def connect(self, peer, pairs):
        """Who has exchanged keys needs no challenge."""
        self.counts["connects"] += 1
        if peer not in self.keyed and pairs.get(b"challenge") != self.challenges.get(peer):
            self.counts["wrong"] += 1
            return None
        self.players[peer] = 0
        return OOB + b"accept"

    def says(self, peer, data, now):
        """The answer to one datagram, or None."""
        text = data[4:].split(b"\0", 1)[0]
        if not data.startswith(OOB):
            self.heard[peer] = self.heard.get(peer, 0) + 1
            return None
        if text.startswith(b"getchallenge"):
            return self.challenge(peer, now)
        if text.startswith(b"d0pk\\") and not self.bare and b"\0" in data:
            return self.key_step(peer, info(text[4:]))
        if text.startswith(b"connect\\"):
            return self.connect(peer, info(text[7:]))
        if text.startswith((b"getinfo", b"getstatus")):
            word = b"infoResponse" if text.startswith(b"getinfo") else b"statusResponse"
            return OOB + word + b"\n\\gamename\\Xonotic\\protocol\\3\\hostname\\lab\\clients\\0" \
                b"\\sv_maxclients\\16\\d0_blind_id\\1Xon//KssdlzGkFKdnnN4sgg8H+koTbBn5JTi37BAW1Q="
        return None

    def run(self, address, port, seconds):
        """Until the time is over."""
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind((address, port))
        end, tick = time.monotonic() + seconds, time.monotonic()
        while (now := time.monotonic()) < end:
            if select.select([sock], [], [], max(0, min(tick, end) - now))[0]:
                data, peer = sock.recvfrom(4096)
                answer = self.says(peer, data, now)
                if answer:
                    sock.sendto(answer, peer)
            if time.monotonic() >= tick:
                tick += 1 / RATE
                for peer in self.players:
                    self.players[peer] += 1
                    body = b"\x07" + os.urandom(59)
                    sock.sendto(wrapped(self.encrypt, self.players[peer], body)
                                if peer in self.keyed else
                                struct.pack(">HHI", 0x10, 68, self.players[peer]) + body, peer)
        print(json.dumps(self.counts | {"players": len(self.players), "keyed": len(self.keyed),
                                        "moves": sum(self.heard.values())}))


class Client:
    """One attempt to join."""

    def __init__(self, source, options):
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.bind((source, 0))
        self.sock.connect((options.address, options.port))
        self.state, self.tries = options.state, options.tries
        self.began = time.monotonic()
        self.next_try, self.expects, self.keyed, self.encrypt = 0, 0, False, False
        self.result, self.took, self.got, self.sent, self.first = None, 0, 0, 0, 0

    def end(self, result):
        """The attempt is over."""
        self.result, self.took = result, time.monotonic() - self.began

    def tick(self, now):
        """Ask again, or move."""
        if self.result is None and now >= self.next_try:
            if not self.tries:
                self.end("no reply")
                return
            self.tries, self.next_try = self.tries - 1, now + 1
            self.sock.send(OOB + b"getchallenge")
            self.sock.send(CONTROL)
        elif self.result == "joined":
            self.sent += 1
            body = b"\x03" + os.urandom(55)
            self.sock.send(wrapped(self.encrypt, self.sent, body) if self.keyed else
                           struct.pack(">HHI", 0x10, 64, self.sent) + body)

    def challenged(self, data):
        """`challenge `: with a block keys are exchanged, without it depends."""
        text, nul, block = data.partition(b"\0")
        if self.keyed and not text:
            self.connect(b"")
            return
        self.keyed = False
        if self.state == "none" or (self.state == "known" and not block):
            self.connect(text)
        elif not nul or block[:4] != b"vlen" or KEY not in block:
            self.end("rejected: " + STORED)
        else:
            self.expects = 1
            self.say_step(0, b"\\aeslevel\\1\\challenge\\" + text,
                          KEY + b"\0" + KEY + b"\0")

    def say_step(self, number, more, data):
        """The next step, which sets the next try back."""
        self.next_try = max(self.next_try, time.monotonic() + 1)
        self.sock.send(step(number, more, data))

    def connect(self, challenge):
        """The last word of joining."""
        self.sock.send(OOB + b"connect\\protocol\\darkplaces 3\\protocols\\DP7\\name\\player"
                       b"\\rate\\20000\\challenge\\" + challenge)

    def hears(self, data):
        """One datagram of the server's."""
        if not data.startswith(OOB):
            self.got += 1
            return
        if self.result:
            return
        text = data[4:]
        if text.startswith(b"challenge "):
            self.challenged(text[10:])
        elif text == b"accept":
            self.end("joined" if self.keyed or self.state != "stored" else
                     "rejected: " + STORED)
        elif text.startswith(b"d0pk\\") and self.state != "none":
            pairs = info(text[4:].split(b"\0", 1)[0])
            number = int(pairs.get(b"cnt", b"-1"))
            if number != self.expects:
                return
            self.expects = number + 2
            self.keyed = number == 5
            self.encrypt = self.encrypt or pairs.get(b"aes") == b"1"
            self.say_step(number + 1, b"", os.urandom(390))


def play(options):
    """All clients at once. Returns how many did not join."""
    clients = [Client(options.source, options) for _ in range(options.clients)]
    tick = time.monotonic()
    while any(c.result is None or (c.result == "joined" and time.monotonic() <
                                   c.began + c.took + options.seconds) for c in clients):
        now = time.monotonic()
        socks = {c.sock: c for c in clients}
        for sock in select.select(list(socks), [], [], max(0, tick - now))[0]:
            try:
                socks[sock].hears(sock.recv(4096))
            except ConnectionError:
                pass
        if time.monotonic() >= tick:
            tick += 1 / RATE
            for client in clients:
                client.tick(time.monotonic())
    for c in clients:
        print(json.dumps({"result": c.result, "seconds": round(c.took, 2), "sent": c.sent,
                          "got": c.got}))
    return sum(c.result != "joined" for c in clients)


def main():
    """Read the command line."""
    args = argparse.ArgumentParser()
    args.add_argument("role", choices=["server", "client"])
    args.add_argument("address")
    args.add_argument("port", type=int)
    args.add_argument("limit", nargs="?", type=float, default=60)
    args.add_argument("--bare", action="store_true")
    args.add_argument("--encrypt", action="store_true")
    args.add_argument("--from", dest="source", default="0.0.0.0")
    args.add_argument("--clients", type=int, default=1)
    args.add_argument("--state", choices=["stored", "known", "none"], default="stored")
    args.add_argument("--tries", type=int, default=10)
    args.add_argument("--seconds", type=float, default=0)
    options = args.parse_args()
    if options.role == "client":
        sys.exit(play(options) > 0)
    Server(options.bare, options.encrypt).run(options.address, options.port, options.limit)


if __name__ == "__main__":
    main()
