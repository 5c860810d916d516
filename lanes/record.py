"""`python lanes/record.py URL FOLDER --tag on`: keep a server's raw replies as files, the test vectors of its adapter.

Every page and question is asked once; what answers 404 is left out, and each status is printed. Folders of
this machine are replaced (`--mask /home/me/model=/models/demo`).
"""

from __future__ import annotations

import argparse
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PAGES = ("version", "health", "metrics", "load", "props", "slots", "server_info?config_format=json", "v1/models")
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def questions(model: str, extra: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Chat completions by name; `extra` are the engine's own fields, sent where the name ends in `_own`."""
    plain = {
        "model": model,
        "messages": [{"role": "user", "content": "Write a Python function that adds two numbers."}],
        "temperature": 0,
        "max_tokens": 24,
    }
    streamed = {"stream": True, "stream_options": {"include_usage": True}}
    tool = {**plain, "messages": [{"role": "user", "content": "Call get_weather for Paris"}], "tools": [TOOL], "max_tokens": 48}
    asked: dict[str, Mapping[str, Any]] = {
        "chat": plain,
        "stream": {**plain, **streamed},
        "logprobs": {**plain, "max_tokens": 8, "logprobs": True, "top_logprobs": 2},
        "one_token": {**plain, "max_tokens": 1},
        "tool": tool,
        "tool_stream": {**tool, **streamed},
        "min_p": {**plain, "min_p": 0.1, "temperature": 0.7},
        "logit_bias": {**plain, "logit_bias": {"100": 1}},
        "no_model": {**plain, "model": "no-such-model"},
        "too_long": {**plain, "max_tokens": 1 << 20},
    }
    if extra:
        asked |= {"chat_own": {**plain, **extra}, "stream_own": {**plain, **streamed, **extra}}
    return asked


def exchange(url: str, body: Mapping[str, Any] | None = None) -> tuple[int, str]:
    """Status and text, whatever the status."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"} if data else {})
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.status, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")


def main() -> None:
    """Write one file a reply: `NAME_TAG.json` for JSON, `.txt` for the rest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", help="root of the server, without /v1")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tag", required=True, help="how the server is set, the end of the names")
    parser.add_argument("--model", help="left out: the first under /v1/models")
    parser.add_argument("--page", action="append", default=[], help="one more path to GET")
    parser.add_argument("--only", default="", help="names of pages and questions, with commas between them")
    parser.add_argument("--extra", type=json.loads, default={}, help="the engine's own fields for a request, as JSON")
    parser.add_argument("--mask", action="append", default=[], metavar="FROM=TO")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    only = set(filter(None, options.only.split(",")))

    def keep(name: str, status: int, text: str) -> None:
        print(f"{status} {name}")
        if status == 404 and name != "no_model":
            return
        for pair in options.mask:
            before, _, after = pair.partition("=")
            text = text.replace(before, after)
        kind = "json" if text.lstrip()[:1] in ("{", "[") else "txt"
        if kind == "json":
            text = json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n"
        (options.folder / f"{name}_{options.tag}.{kind}").write_text(text, encoding="utf-8")

    model = options.model or json.loads(exchange(f"{options.url}/v1/models")[1])["data"][0]["id"]
    named = {page.split("?")[0].rsplit("/", 1)[-1]: page for page in (*PAGES, *options.page)}
    for name, page in named.items():
        if not only or name in only:
            keep("metrics_before" if name == "metrics" else name, *exchange(f"{options.url}/{page}"))
    for name, body in questions(model, options.extra).items():
        if not only or name in only:
            keep(name, *exchange(f"{options.url}/v1/chat/completions", body))
    if not only or "metrics" in only:
        keep("metrics_after", *exchange(f"{options.url}/metrics"))


if __name__ == "__main__":
    main()
