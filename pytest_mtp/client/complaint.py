"""What a server says about its own refusal, out of the many shapes that error bodies have."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_mtp.client.document import DocumentError, parse_json

_LONGEST = 600
_PATH_WORDS = re.compile(
    r"^\W*(404\W*)?((page|file|path|route|url|endpoint|resource)\s+)?not\s+found\W*$|no route|cannot (get|post)|unknown (path|endpoint|url)"
    r"|^invalid url|unexpected endpoint",
    re.IGNORECASE,
)
_MODEL_WORDS = re.compile(
    r"\bmodel\b.{0,200}?\b(does not exist|do(es)?n.t exist|not exist|(is |was )?not found|not served|not loaded|not available)\b"
    r"|\b(invalid model name|unknown model|no such model)\b|try pulling it first",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """`message` is one line or a few, cut; `code` and `param` are the server's own words where it gave them."""

    message: str
    code: str = ""
    param: str = ""
    kind: str = ""
    structured: bool = False

    @property
    def about_model(self) -> bool:
        """Whether it says that the model name is not served here."""
        return self.code == "model_not_found" or (bool(_MODEL_WORDS.search(self.message)))

    @property
    def about_path(self) -> bool:
        """Whether it is what web servers say to a path that leads nowhere."""
        return not self.structured or bool(_PATH_WORDS.search(self.message))

    @property
    def number(self) -> int | None:
        """The HTTP status inside, where the code is one (an error inside a stream cannot change the status line)."""
        return int(self.code) if re.fullmatch(r"[45]\d\d", self.code) else None


def complaint_of(body: str) -> Complaint:
    """From `{"error": {"message"}}`, `{"error": "..."}`, `{"detail": ...}`, `{"message"}`, plain text or HTML."""
    try:
        plain = parse_json(body, [])
    except DocumentError:
        return Complaint(message=_cut(_of_html(body) if "<" in body[:500] else body))
    return complaint_in(plain)


def complaint_in(plain: Any) -> Complaint:
    """The same from JSON that is parsed already: a body, or an error object by itself."""
    inner = plain.get("error", plain) if isinstance(plain, Mapping) else plain
    inner = plain if inner is None else inner
    if not isinstance(inner, Mapping):
        return Complaint(message=_cut(_words(inner)), structured=True)
    message = next((_words(inner[name]) for name in ("message", "detail", "error", "msg", "error_msg") if inner.get(name)), "")
    return Complaint(
        message=_cut(message or _words(inner)),
        code=_scalar(inner.get("code")),
        param=_scalar(inner.get("param")),
        kind=_scalar(inner.get("type")),
        structured=True,
    )


def has_error(text: str) -> bool:
    """Whether the text is a JSON object with an `error` in it."""
    try:
        plain = parse_json(text, [])
    except DocumentError:
        return False
    return isinstance(plain, Mapping) and plain.get("error") is not None


def _scalar(value: Any) -> str:
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


def _words(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):  # FastAPI's list of validation errors
        return "; ".join(_words(item) for item in value[:5])
    if isinstance(value, Mapping):
        if isinstance(value.get("msg"), str):
            place = ".".join(str(step) for step in value["loc"]) if isinstance(value.get("loc"), list) else ""
            return f"{place}: {value['msg']}" if place else str(value["msg"])
        if isinstance(value.get("message"), str):
            return str(value["message"])
        return ", ".join(f"{key}: {_words(item)}" for key, item in list(value.items())[:8])
    return "" if value is None else str(value)


def _of_html(body: str) -> str:
    title = re.search(r"<title[^>]*>(.{0,300}?)</title>", body[:20_000], re.IGNORECASE | re.DOTALL)
    text = title.group(1) if title else re.sub(r"<[^>]{0,500}>", " ", re.sub(r"(?is)<(script|style).{0,5000}?</\1>", " ", body[:20_000]))
    return html.unescape(text)


def _cut(text: str) -> str:
    line = " ".join(text[: 4 * _LONGEST].split())
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "…"
