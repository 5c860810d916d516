"""Several turns: what a reply does with the results of the calls before it.

Pure functions over the exchanges of one conversation, in order. What the server answered and what was sent back to it both
stand in the exchanges: the request of turn k + 1 carries the calls of turn k and their results.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import CaseSeverity
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.tools.answer import json_text
from pytest_mtp.judge.tools.arguments import decode_prefix, parse_arguments
from pytest_mtp.judge.tools.equality import same_json
from pytest_mtp.judge.tools.reading import read_calls
from pytest_mtp.judge.tools.report import found, kept
from pytest_mtp.judge.tools.shown import call_shown
from pytest_mtp.judge.words.normal import excerpt, fold

_SHORTEST_TELLING = 3
_MOST_VALUES = 100
_ROUNDING = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class PastCall:
    """A call in the history of a request; `result` None: no tool message answers its id."""

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    result: str | None


def turn_findings(exchanges: Sequence[Exchange], case_severity: CaseSeverity, *, final_uses_result: bool = True) -> tuple[Finding, ...]:
    """TOOL.after_result and TOOL.id over a conversation. Turns that ended in a fault are passed over."""
    findings: list[Finding] = []
    for turn, exchange in enumerate(exchanges):
        if exchange.reply is None:
            continue
        last = turn == len(exchanges) - 1
        findings += after_result_findings(
            exchange.reply, exchange.ask, case_severity, where=f"turn {turn}", uses_result=last and final_uses_result
        )
        if not last:
            findings += _pending(exchange.reply, exchanges[turn + 1].ask, case_severity, f"turn {turn}")
    return tuple(findings)


def after_result_findings(
    reply: Reply, ask: Ask, case_severity: CaseSeverity, *, where: str = "", uses_result: bool = True
) -> tuple[Finding, ...]:
    """One reply against the history in its request: no call again whose result is known, and an answer that uses it."""
    history = list(past_calls(ask))
    repeated = _repeated(reply, ask, history, case_severity, where)
    if repeated or not uses_result or reply.tool_calls or not _ends_in_results(ask):
        return tuple(repeated)
    return tuple(_unused(reply, ask, history, case_severity, where))


def past_calls(ask: Ask) -> Iterator[PastCall]:
    """Every call in the messages, with its result."""
    results = {str(m.get("tool_call_id")): _text(m.get("content")) for m in ask.messages if m.get("role") == "tool"}
    for message in ask.messages:
        listed = message.get("tool_calls") if message.get("role") == "assistant" else None
        for item in listed if isinstance(listed, (list, tuple)) else ():
            function = item.get("function") if isinstance(item, Mapping) else None
            if not isinstance(item, Mapping) or not isinstance(function, Mapping):
                continue
            raw = function.get("arguments")
            arguments = raw if isinstance(raw, Mapping) else parse_arguments(str(raw or "")).value
            id_ = str(item.get("id") or "")
            yield PastCall(id=id_, name=str(function.get("name") or ""), arguments=arguments, result=results.get(id_))


def uses_result(text: str, result: str, known: str = "") -> bool | None:
    """Whether the text says something that only the result can have told; None where that cannot be told.

    `known` is the conversation before the result. Numbers are compared by value and may be rounded. Words may be translated
    or put in another way, so that only missing numbers and identifiers count against a text.
    """
    telling = [value for value in islice(_values(result), _MOST_VALUES) if not _says(known, value)]
    if any(_says(text, value) for value in telling):
        return True
    firm = any(not isinstance(value, str) or any(char.isdigit() for char in value) for value in telling)
    return False if firm else None


def _repeated(reply: Reply, ask: Ask, history: Sequence[PastCall], case_severity: CaseSeverity, where: str) -> list[Finding]:
    findings = []
    since = _since_user(ask)
    for call in read_calls(reply, ask):
        twin = next(
            (past for past in history if past.result is not None and past.id in since and _same(past, call.name, call.arguments)), None
        )
        if twin is not None:
            title = f"calls {call.shown(80)} again although its result is known: {excerpt(twin.result or '', 40)}"
            place = f"{where}, {call.where}" if where else call.where
            findings.append(
                found(
                    "TOOL.after_result",
                    title,
                    case_severity,
                    where=place,
                    evidence={"call": call.shown(400), "result": kept(twin.result or "")},
                )
            )
    return findings


def _since_user(ask: Ask) -> set[str]:
    """Ids of the calls after the last user message: a user may well ask for the same thing twice."""
    ids: set[str] = set()
    for message in ask.messages:
        if message.get("role") == "user":
            ids = set()
        listed = message.get("tool_calls")
        ids.update(str(item.get("id") or "") for item in (listed if isinstance(listed, (list, tuple)) else ()) if isinstance(item, Mapping))
    return ids


def _unused(reply: Reply, ask: Ask, history: Sequence[PastCall], case_severity: CaseSeverity, where: str) -> Iterator[Finding]:
    before = " ".join(_text(m.get("content")) for m in ask.messages if m.get("role") != "tool")
    results = [past.result for past in history if past.result is not None and past.id in _since_user(ask)]
    verdicts = [uses_result(reply.text, result, before) for result in results]
    if reply.text.strip() and False in verdicts and True not in verdicts and reply.finish_reason == "stop":
        result = results[verdicts.index(False)]
        title = f"the answer uses nothing of the tool result {excerpt(result, 40)}: {excerpt(reply.text, 50)}"
        yield found("TOOL.after_result", title, case_severity, where=where, evidence={"result": kept(result), "answer": kept(reply.text)})


def _pending(reply: Reply, following: Ask, case_severity: CaseSeverity, where: str) -> Iterator[Finding]:
    """Ids that the next request leaves unanswered. With an id missing or doubled no client can do better."""
    answered = {str(m.get("tool_call_id")) for m in following.messages if m.get("role") == "tool"}
    pending = [call for call in reply.tool_calls if not call.id or call.id not in answered]
    if pending:
        names = ", ".join(call_shown(call.name, {}, limit=40) for call in pending[:4])
        title = f"{len(pending)} of {len(reply.tool_calls)} calls got no result before the next turn: {names}"
        unanswerable = any(not call.id for call in pending)
        evidence = {"ids": [call.id for call in pending[:8]]}
        yield found("TOOL.id", title, case_severity, severity=None if unanswerable else "note", where=where, evidence=evidence)


def _ends_in_results(ask: Ask) -> bool:
    return bool(ask.messages) and ask.messages[-1].get("role") == "tool"


def _same(past: PastCall, name: str, arguments: Mapping[str, Any] | None) -> bool:
    return past.name == name and past.arguments is not None and arguments is not None and same_json(past.arguments, arguments, free=True)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, (list, tuple)):
        return " ".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return "" if content is None else json_text(content)


def _values(result: str) -> Iterator[str | float]:
    """Numbers, and texts of three letters or more, that a result holds; of prose its numbers and its longer words."""
    decoded = decode_prefix(result)
    if decoded and not result[decoded[1] :].strip():
        yield from _leaves(decoded[0])
        return
    yield from (float(number) for number in re.findall(r"(?<![\w.])-?\d{1,15}(?:\.\d{1,15})?(?!\w)", result))
    yield from re.findall(r"\w{5,}", fold(result))


def _leaves(value: Any) -> Iterator[str | float]:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, str) and len(item.strip()) >= _SHORTEST_TELLING:
            yield fold(item)
        elif isinstance(item, (int, float)) and not isinstance(item, bool):
            yield float(item)


def _says(text: str, value: str | float) -> bool:
    if isinstance(value, str):
        return value in fold(text)
    spoken = (_number(word) for word in re.findall(r"-?\d+(?:[.,]\d+)*", text))
    return any(number is not None and _is_near(number, value) for number in spoken)


def _is_near(spoken: float, value: float) -> bool:
    """The number itself, rounded, or its size without the sign ("3 degrees below zero")."""
    if value.is_integer():
        return abs(spoken) == abs(value)
    return abs(abs(spoken) - abs(value)) <= max(0.5, _ROUNDING * abs(value))


def _number(word: str) -> float | None:
    grouped = re.fullmatch(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", word)
    try:
        return float(word.replace(",", "") if grouped else word.replace(",", "."))
    except ValueError:
        return None
