#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# slow.py PORT COUNT SECONDS - hold so many connections to a web server on loopback for so
# long: every other one sends a request that never ends, an octet now and then; the rest ask
# for pages and read none of them. Who is sent away comes again at once. Ends with how many
# times somebody was.
import socket
import sys
import time

port, count, seconds = (int(argument) for argument in sys.argv[1:])
HALF = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
PAGES = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 32


class Visitor:
    def __init__(self, reads):
        self.reads = reads
        self.come()

    def come(self):
        self.socket = socket.socket()
        self.socket.setblocking(False)
        if not self.reads:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.connect_ex(("127.0.0.1", port))
        self.begun = False

    # False: it was sent away.
    def stay(self):
        try:
            if self.reads and self.begun and not self.socket.recv(4096):
                return False
        except BlockingIOError:
            pass
        except OSError:
            return False
        try:
            self.socket.send((b"x" if self.begun else HALF) if self.reads else PAGES)
            self.begun = True
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True


visitors = [Visitor(i % 2) for i in range(count)]
away = 0
end = time.monotonic() + seconds
while time.monotonic() < end:
    for visitor in visitors:
        if not visitor.stay():
            away += 1
            visitor.socket.close()
            visitor.come()
    time.sleep(0.1)
print(away)
