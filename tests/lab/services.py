#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""services.py [ADDRESS] KIND:PORT ...: UDP services that are no game servers, until killed.

Each answers every datagram in its own way. `game` alone is one: a server with a hostile name.
ADDRESS "both": any, of IPv6 and IPv4 by one socket. Prints "ready" when all sockets are bound.
"""
import selectors
import socket
import sys

OOB = b"\xff\xff\xff\xff"
INFO = b"\\sv_hostname\\x\\mapname\\y\\hostname\\x\\map\\y"


def challenge(data):
    return b"\\challenge\\" + data[14:] if data.startswith(OOB + b"getstatus ") else b""


def hostile(data):
    """A name that tries to leave its comment and its string."""
    if not data.startswith(OOB + b"getstatus "):
        return []
    return [OOB + b"statusResponse\n\\sv_hostname\\\"}#'\r\x1b[2Jservice \"evil\" {\xff\xfe"
            + b"x" * 200 + b"\\mapname\\*/\"" + challenge(data) + b"\n0 0 \"a\"\n"]


REPLIES = {
    # What a client sent, as an answer: one bit is another.
    "dns": lambda data: [data[:2] + bytes([data[2] | 0x80]) + data[3:]],
    "echo": lambda data: [data],
    "echo-twice": lambda data: [data, data + data],
    "discard": lambda data: [],
    "syslog": lambda data: [],
    # A long header, no version: Version Negotiation.
    "quic": lambda data: [b"\xc0\0\0\0\0\x08" + data[:8] + b"\0\0\0\0\x01"],
    "random": lambda data: [bytes(i * 37 % 251 for i in range(1400))],
    # Heads of games, and nothing behind them.
    "heads": lambda data: [OOB + b"statusResponse\n", OOB + b"n", OOB + b"print\n",
                           b"\x80\0\0\x05\x83", OOB, b""],
    # A print, as of any engine that does not know a word.
    "print": lambda data: [OOB + b"print\nBad rconpassword.\n", OOB + b"nBad rcon_password.\n"],
    # The right keys, and not the word that was asked with.
    "replayed": lambda data: [OOB + b"statusResponse\n" + INFO + b"\\challenge\\old\n"],
    # A control datagram with a wrong length; one without its last string.
    "control": lambda data: [b"\x80\0\0\x40\x83a\0b\0c\0\x01\x08\x03", b"\x80\0\0\x0d\x83aaaaaaaa"],
    # The reply of another service that begins as QuakeWorld's does.
    "info": lambda data: [OOB + b"n\\hostname", OOB + b"n\\map\\x\\hostname\\"[:-1]],
    "game": hostile,
}


def main(arguments):
    address = "0.0.0.0" if ":" in arguments[0] else arguments.pop(0)
    selector = selectors.DefaultSelector()
    for kind, port in (argument.split(":") for argument in arguments):
        ipv6 = address == "both"
        sock = socket.socket(socket.AF_INET6 if ipv6 else socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind(("" if ipv6 else address, int(port)))
        selector.register(sock, selectors.EVENT_READ, REPLIES[kind])
    print("ready", flush=True)
    while True:
        for key, _ in selector.select():
            data, peer = key.fileobj.recvfrom(65536)
            for reply in key.data(data):
                key.fileobj.sendto(reply, peer)


main(sys.argv[1:])
