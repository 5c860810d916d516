"""The fake's tokeniser. Left to right without look-around, so that a text cut after k tokens has the same k tokens."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

_PIECE = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,2}"  # two characters at most where words have no spaces
    r"| ?[^\W\d_]{1,9}"
    r"| ?\d{1,3}"
    r"| ?[^\w\s]{1,3}"
    r"|_+"
    r"|\s+"
)

VOCABULARY_SIZE = 50_000
_MESSAGE_OVERHEAD = 4  # role and turn markers of a usual template


def split(text: str) -> list[str]:
    """The pieces; their join is the text."""
    return _PIECE.findall(text)


def token_id(token: str) -> int:
    """A stable id below `VOCABULARY_SIZE`. Two tokens may share one."""
    return zlib.crc32(token.encode("utf-8", "surrogatepass")) % VOCABULARY_SIZE


def prompt_pieces(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], prefix: str | None = None) -> list[str]:
    """The prompt as a usual template renders it: tools in the system turn, every message with its calls, the begun answer."""
    pieces = ["<s>"]
    for tool in tools:
        pieces += split(json.dumps(tool))
    for message in messages:
        pieces += [f"<{message['role']}>"] * _MESSAGE_OVERHEAD
        pieces += split(text_of(message))
        for call in message.get("tool_calls") or ():
            pieces += split(json.dumps(call))
    return pieces + split(prefix or "")


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a message, whether it is a string or a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text", "") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return ""
