#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""netquake_seat.py SERVER PORT FORGE OWN VICTIM SECONDS - a NetQuake seat at the address
OWN, and beside it a second one in the name of VICTIM, all of it forged (by lines for
forge(1)): it mirrors what the own seat sees, block numbers to acknowledge and the server's
clocks to name in moves. For 4 s of play the forged moves follow the own ones, then one per
second. Prints how many datagrams and bytes were forged, and the own seat's updates."""

import socket
import struct
import subprocess
import sys
import time

SERVER, PORT = sys.argv[1], int(sys.argv[2])
VICTIM, VICTIM_PORT = sys.argv[5], 5555
SECONDS = float(sys.argv[6])
CONNECT = bytes.fromhex("8000000c015155414b450003")
COMMANDS = (b"\x04prespawn\0", b'\x04name "x"\n\0\x04color 0 0\n\0\x04spawn \0',
            b"\x04begin\0", b"\x04rate 100000\0")

# The forger sends from the lab's hub, which the namespace of process 1 has.
forge = subprocess.Popen(["nsenter", "--net=/proc/1/ns/net", sys.argv[3], SERVER, str(PORT),
                          "1000"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                         text=True, bufsize=1)
seat = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
seat.bind((sys.argv[4], 0))
seat.settimeout(0.05)
forged = [0, 0]


def spoof(data):
    forge.stdin.write("%s %d %s\n" % (VICTIM, VICTIM_PORT, data.hex()))
    forged[0] += 1
    forged[1] += max(60, 42 + len(data))


def own(data):
    seat.sendto(data, (SERVER, PORT))


def both(data):
    own(data)
    spoof(data)


def reliable(sequence, payload):
    return struct.pack(">II", 0x00090000 | (8 + len(payload)), sequence) + payload


def ack(sequence):
    return struct.pack(">II", 0x00020008, sequence)


def move(sequence, clock):
    payload = b"\x03" + struct.pack("<f", clock) + bytes(11)
    return struct.pack(">II", 0x00100000 | (8 + len(payload)), sequence) + payload


own(CONNECT)
start = time.time()
asked = own_moves = forged_moves = blocks = updates = 0
victim_joined = False
begun = last_forged = last_acks = 0.0
while time.time() - start < SECONDS:
    try:
        data = seat.recv(4096)
    except socket.timeout:
        data = b""
    now = time.time()
    flags = struct.unpack(">H", data[:2])[0] if len(data) >= 8 else 0
    if flags in (0x0001, 0x0009):
        acked = ack(struct.unpack(">I", data[4:8])[0])
        blocks += 1
        if victim_joined:
            both(acked)
        else:
            own(acked)
    elif flags == 0x0010 and len(data) > 13 and data[8] == 7:
        clock = struct.unpack("<f", data[9:13])[0]
        updates += 1
        if begun:
            own(move(own_moves, clock))
            own_moves += 1
            if now - begun < 4 or now - last_forged > 1:
                spoof(move(forged_moves, clock))
                forged_moves += 1
                last_forged = now
    if not victim_joined and now - start > 0.1:
        spoof(CONNECT)
        victim_joined = True
    if asked < len(COMMANDS) and now - start > 1.5 * (asked + 1):
        both(reliable(asked, COMMANDS[asked]))
        asked += 1
        if asked == 3:
            begun = now
    # Blocks that the victim may have been sent meanwhile.
    if victim_joined and (not begun or now - begun < 4) and now - last_acks > 0.05:
        last_acks = now
        for number in range(max(0, blocks - 3), blocks + 6):
            spoof(ack(number))
forge.stdin.close()
forge.wait()
print(forged[0], forged[1], updates)
