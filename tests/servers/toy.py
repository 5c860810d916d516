"""The least server that speaks the protocol: `toy.py PORT ALIAS MODE`."""

from __future__ import annotations

import http.server
import json
import os
import sys
import time

PORT, ALIAS, MODE = int(sys.argv[1]), sys.argv[2], sys.argv[3]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/v1/models":
            self.answer(200, {"object": "list", "data": [{"id": ALIAS, "object": "model", "owned_by": "toy"}]})
        else:
            self.answer(404, {"error": {"message": "Not Found"}})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if MODE == "dies-on-chat":
            sys.stderr.write("RuntimeError: kernel fell over\n")
            sys.stderr.flush()
            os._exit(5)
        if MODE == "breaks-on-chat":
            self.answer(500, {"error": {"message": "no weights"}})
        elif body.get("stream") or body.get("logprobs"):
            self.answer(400, {"error": {"message": "not here"}})
        else:
            choice = {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "length"}
            self.answer(200, {"id": "1", "object": "chat.completion", "created": 1, "model": ALIAS, "choices": [choice]})

    def answer(self, status, value):
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    allow_reuse_address = True


if MODE == "dies":
    sys.exit("loading model\nerror: out of memory")
if MODE == "sleeps":
    time.sleep(600)
Server(("127.0.0.1", PORT), Handler).serve_forever()
