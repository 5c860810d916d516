"""What the pseudo-model means to say to a request, before tokens, sampling and limits."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

from pytest_mtp.selftest.arithmetic import in_words, solve
from pytest_mtp.selftest.book import AnswerBook, Call
from pytest_mtp.selftest.calling import calls_for
from pytest_mtp.selftest.dice import pick
from pytest_mtp.selftest.instance import instance
from pytest_mtp.selftest.prose import language_of, prose, words_of
from pytest_mtp.selftest.request import ChatRequest
from pytest_mtp.selftest.tokens import text_of

Stratum = Literal["prose", "code", "structured"]

_ECHO = re.compile(
    r"^(?:please )?(?:repeat|echo|say|write|output|copy)[^\n:]{0,120}?"
    r"(?:exactly|verbatim|after me|nothing else|text|string|word|line)[^\n:]{0,120}:\s*(.+)$",
    re.IGNORECASE | re.DOTALL,
)
_COUNT = re.compile(r"\bcount\b.{0,80}?\bfrom (\d{1,3}) (?:to|up to|through) (\d{1,3})\b", re.IGNORECASE)
_COUNT_IN_WORDS = re.compile(r"\bcount from one to (?:(fifty)|one hundred) in words\b", re.IGNORECASE)
_CODE = re.compile(
    r"\b(?:python|javascript|java|rust|c\+\+|sql|bash)\b.{0,200}\b(?:function|program|script|class|code|query)\b"
    r"|\b(?:write|implement)\b.{0,200}\b(?:function|program|script|class|code)\b",
    re.IGNORECASE | re.DOTALL,
)
_FIRST_IN_WORDS = re.compile(r"\b(?:say|tell me|explain)\b[^.]{0,80}\bthen call\b", re.IGNORECASE)
_NAMES = ("total", "count", "result", "value", "index", "item", "pair", "row", "key", "line", "width", "depth", "score", "limit", "offset")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The whole reply as meant. `loose` text may be worded otherwise when sampling; other text is certain."""

    content: str
    calls: tuple[Call, ...] = ()
    reasoning: str | None = None
    stratum: Stratum = "prose"
    loose: bool = False


def think(request: ChatRequest, book: AnswerBook) -> Answer:
    """The answer book first, then the built-in rules, healthy prose for everything else."""
    if entry := book.find(request):
        calls = entry.calls if request.parallel else entry.calls[:1]
        stratum: Stratum = "structured" if calls else _stratum(entry.answer or "")
        return Answer(content=entry.answer or "", calls=calls, reasoning=entry.reasoning, stratum=stratum)
    if calls := calls_for(request):
        words = "I will look it up." if _FIRST_IN_WORDS.search(request.prompt) else ""
        return Answer(content=words, calls=calls, stratum="structured")
    if request.response_format is not None:
        return Answer(content=_json(request), stratum="structured")
    if request.last_role == "tool":
        return Answer(content=f"Here is the result: {text_of(request.messages[-1])}")
    return _in_words(request)


def _stratum(text: str) -> Stratum:
    if text.lstrip().startswith(("{", "[")):
        return "structured"
    return "code" if "```" in text or "def " in text else "prose"


def _in_words(request: ChatRequest) -> Answer:
    prompt = request.prompt.strip()
    if echo := _ECHO.search(prompt):
        return Answer(content=echo.group(1).strip(), stratum="structured")
    if span := _COUNT.search(prompt):
        numbers = range(int(span.group(1)), int(span.group(2)) + 1)
        return Answer(content=", ".join(map(str, numbers)), stratum="structured")
    if listed := _COUNT_IN_WORDS.search(prompt):
        return Answer(content=", ".join(map(in_words, range(1, 51 if listed.group(1) else 101))), stratum="structured")
    if _CODE.search(prompt):
        return Answer(content=_code(request.key), stratum="code")
    if (value := solve(prompt)) is not None:
        short = re.search(r"\bonly\b|\bjust\b|\bnothing else\b", prompt, re.IGNORECASE)
        return Answer(content=value if short else f"The result is {value}.\nAnswer: {value}", stratum="structured")
    return Answer(content=prose(request.key, language=language_of(prompt), words=words_of(prompt)), loose=True)


def _json(request: ChatRequest) -> str:
    wanted = request.response_format or {}
    if wanted["type"] == "json_object":
        value = solve(request.prompt)
        return json.dumps({"answer": json.loads(value) if value else "yes"})
    holder = wanted.get("json_schema", wanted)
    return json.dumps(instance(holder["schema"]), ensure_ascii=False)


def _code(key: str) -> str:
    """Plain Python that compiles and never repeats a line."""
    lines = ["```python"]
    for number in range(6):
        name, other = (_NAMES[pick(key, number, word) % len(_NAMES)] for word in "ab")
        bound = 2 + pick(key, number) % 97
        lines += [
            f"def {name}_{number}({other}s, start={bound}):",
            f'    """Gather the {other}s from {bound} onwards."""',
            f"    found_{number} = [item for item in {other}s if item >= start]",
            f"    return sum(found_{number}) - {number + 1}",
            "",
        ]
    return "\n".join([*lines, "```"])
