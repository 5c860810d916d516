"""A call of a tool that was not offered: debris of a parser, or a name that the model itself brought up."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import CaseSeverity, Severity
from pytest_mtp.core.errors import nearest
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.judgement import View
from pytest_mtp.judge.tools.offered import offer_of
from pytest_mtp.judge.tools.reading import ReadCall
from pytest_mtp.judge.tools.report import found, kept
from pytest_mtp.judge.words.normal import excerpt

_CLEAN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_SHORTEST_PIECE = 4


def name_finding(call: ReadCall, reply: Reply, ask: Ask, case_severity: CaseSeverity) -> Finding:
    """Critical where a parser mangled the name, or a call could not be at all.

    A name that the request or the reasoning holds was brought up by the model. Any other clean name may be the model's invention
    too, since few servers hold names to those that were offered: then it is as grave as a miss of the case.
    """
    offered = offer_of(ask).tools
    name = call.name
    evidence = {"name": kept(name), "offered": list(offered)[:40]}
    shown = excerpt(repr(name), 70)
    if not name:
        return found("TOOL.name", f"{call.where} has no name", case_severity, where=call.where, evidence=evidence)
    if not offered:
        title = f"{call.where} is of {shown}, but no tool was offered"
        return found("TOOL.name", title, case_severity, where=call.where, evidence=evidence)
    source = _brought_up(name, reply, ask)
    debris = "" if source else _debris(name, offered)
    title = f"{call.where} is of {shown}" + (f": {debris}" if debris else f", which was not offered{nearest(name, offered)}")
    if source:
        title = f"{title}; {source} names it, so the model brought it up"
    severity: Severity = "model" if source else "critical" if debris else case_severity
    return found("TOOL.name", title, case_severity, severity=severity, where=call.where, evidence=evidence)


def _debris(name: str, offered: Iterable[str]) -> str:
    for tool in offered:
        if len(name) > len(tool) and name == tool * (len(name) // len(tool)):
            return f"{tool} {len(name) // len(tool)} times over"
        if name.strip() == tool:
            return f"{tool} with white space around it"
        if name.casefold() == tool.casefold():
            return f"{tool} in other letters; names are exact"
        if len(tool) >= _SHORTEST_PIECE and tool in name:
            return f"{tool} with something around it"
        if len(name) >= _SHORTEST_PIECE and len(name) < len(tool) and (tool.startswith(name) or tool.endswith(name)):
            return f"a piece of {tool}"
    return "" if _CLEAN.fullmatch(name) else "no name of a function"


def _brought_up(name: str, reply: Reply, ask: Ask) -> str:
    """Where the name stood before; only names that are no ordinary word prove anything."""
    if not _CLEAN.fullmatch(name) or name.isalpha():
        return ""
    word = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")
    if word.search(View(text="", reasoning="", reply=reply, ask=ask).prompt):
        return "the conversation"
    return "the reasoning" if word.search(reply.reasoning or "") else ""
