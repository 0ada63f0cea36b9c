#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# webhook.py PORT KEY FILE - a listener for signed webhooks on loopback: each request that
# comes goes to FILE, one JSON object a line, with whether its signature is right, by an
# HMAC worked out here. A wrong one is answered with 403.
import hashlib
import hmac
import http.server
import json
import sys

port, key, path = int(sys.argv[1]), sys.argv[2].encode(), sys.argv[3]


class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        said = self.headers.get("X-Quakeshield-Time", "").encode()
        due = "sha256=" + hmac.new(key, said + b"." + body, hashlib.sha256).hexdigest()
        good = hmac.compare_digest(due, self.headers.get("X-Quakeshield-Signature", ""))
        with open(path, "a") as out:
            print(json.dumps({"good": good, "body": json.loads(body),
                              "action": self.headers.get("X-Quakeshield-Action")}), file=out)
        self.send_response(204 if good else 403)
        self.end_headers()

    def log_message(self, *arguments):
        pass


http.server.HTTPServer(("127.0.0.1", port), Hook).serve_forever()
