"""The least server that speaks the protocol: `toy.py PORT ALIAS MODE`."""

from __future__ import annotations

import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

PORT, ALIAS, MODE = int(sys.argv[1]), sys.argv[2], sys.argv[3]
ASKED = []


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
        ASKED.append(body)
        if MODE == "hog-on-stream" and body.get("stream"):
            ASKED.extend(b"x" * 2**20 for _ in range(400))
            time.sleep(600)
        if MODE == "loads" and len(ASKED) < 4:
            self.answer(503, {"error": {"message": "Loading model"}})
        elif MODE == "breaks-on-chat":
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


def say(words):
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def load(weights):
    raise OSError(f"no such file: {weights}")


def hang_on(*_):
    say("not now")


if MODE == "traceback":
    say("loading")
    try:
        load("model.safetensors")
    except OSError:
        traceback.print_exc()
        say("shutting down workers: error count 1\n" * 30)
        raise RuntimeError("Engine initialization failed. See root cause above.") from None
if MODE == "fatal-line":
    say("FATAL: no device")
    time.sleep(600)
if MODE == "other-port":
    PORT = int(os.environ["OTHER_PORT"])
if MODE == "hog":
    hoard = [b"x" * 2**20 for _ in range(400)]
    time.sleep(600)
if MODE == "hog-child":
    subprocess.Popen([sys.executable, "-c", "hoard = [b'x' * 2**20 for _ in range(400)]; import time; time.sleep(600)"])
    time.sleep(600)
if MODE == "deaf":
    signal.signal(signal.SIGTERM, hang_on)
if MODE == "interrupted":
    signal.signal(signal.SIGTERM, hang_on)
    signal.signal(signal.SIGINT, lambda *_: (say("interrupted"), os._exit(0)))
if MODE in ("forks", "killed-with-children"):
    nap = [sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)", ALIAS]
    subprocess.Popen(nap)
    subprocess.Popen(nap, start_new_session=True)
    if not os.fork():  # an orphan in a session of its own, as daemons are
        os.setsid()
        subprocess.Popen(nap)
        os._exit(0)
if MODE == "chatty":
    for _ in range(50):
        sys.stdout.write(("all is well, " * 80 + "\n") * 1024)
    sys.stdout.flush()
if MODE == "talks":

    def talk():
        for number in range(10**9):
            say(f"line {number}")
            time.sleep(0.001)

    threading.Thread(target=talk, daemon=True).start()
if MODE == "environment":
    say(f"{ {name: value for name, value in os.environ.items() if name.startswith('TOY_')} } {Path.cwd()}")
if MODE == "dies":
    sys.exit("loading model\nerror: out of memory")
if MODE == "sleeps":
    time.sleep(600)
Server(("127.0.0.1", PORT), Handler).serve_forever()
