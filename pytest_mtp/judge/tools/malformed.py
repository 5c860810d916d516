"""Arguments that are no JSON object, or carry what a parser left in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_mtp.core.case import CaseSeverity, Severity
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.tools.reading import ReadCall
from pytest_mtp.judge.tools.report import found, kept
from pytest_mtp.judge.words.normal import excerpt

_FOLDED = re.compile(r"(?P<name>[A-Za-z_][\w-]*)\W*[=:>](?P<value>.*)", re.DOTALL)


def argument_findings(call: ReadCall, reply: Reply, case_severity: CaseSeverity, *, last: bool) -> Iterator[Finding]:
    """`last`: nothing follows this call, so that a reply cut at max_tokens may end inside it."""
    parsed = call.parsed
    named = f"{call.where} {excerpt(call.name or '?', 40)}"
    evidence = {"name": call.wire.name, "arguments": kept(parsed.text)}
    if parsed.whole:
        yield from _duplicates(call, named, case_severity, evidence)
        yield from _empty(call, named, case_severity, evidence)
        yield from _folded(call, named, case_severity, evidence)
    elif parsed.shape == "empty":
        if call.tool is None:
            return
        if call.needs_nothing:
            title = f"{named}: the arguments {parsed.problem}; {{}} would be an object"
            yield found("TOOL.args_empty", title, case_severity, severity="note", where=call.where, evidence=evidence)
        elif not (last and reply.finish_reason == "length"):
            title = f"{named}: the arguments {parsed.problem}, though the tool requires some"
            yield found("TOOL.args_empty", title, case_severity, where=call.where, evidence=evidence)
    elif parsed.shape == "cut" and last and reply.finish_reason == "length":
        return  # the budget ended it
    else:
        code = "TOOL.args_extra_brace" if parsed.shape == "extra_brace" else "TOOL.args_json"
        title = f"{named}: the arguments {parsed.problem}: {excerpt(parsed.text, 60)}"
        severity = _severity(call, case_severity)
        yield found(code, title, case_severity, severity=severity, where=call.where, evidence=evidence)


def _severity(call: ReadCall, case_severity: CaseSeverity) -> Severity | None:
    """A complete JSON value of another type is what the model wrote: no parser loses characters so neatly.

    vLLM holds arguments to the schema only where the tool is strict, and passes a weak model's `"Paris"` on.
    """
    own_words = call.parsed.shape in ("other_type", "deep") and not (call.tool and call.tool.strict)
    return case_severity if own_words else None


def _duplicates(call: ReadCall, named: str, case_severity: CaseSeverity, evidence: Mapping[str, Any]) -> Iterator[Finding]:
    if call.parsed.duplicates:
        keys = ", ".join(excerpt(repr(key), 30) for key in call.parsed.duplicates[:4])
        title = f"{named}: the arguments hold {keys} twice"
        yield found("ANS.duplicate_key", title, case_severity, where=call.where, evidence=evidence)


def _empty(call: ReadCall, named: str, case_severity: CaseSeverity, evidence: Mapping[str, Any]) -> Iterator[Finding]:
    if call.parsed.value == {} and call.tool is not None and not call.needs_nothing:
        title = f"{named}: the arguments are {{}}, though the tool requires some"
        yield found("TOOL.args_empty", title, case_severity, where=call.where, evidence=evidence)


def _folded(call: ReadCall, named: str, case_severity: CaseSeverity, evidence: Mapping[str, Any]) -> Iterator[Finding]:
    """A value that slipped into its key, as `city: Paris` or `city>Paris`."""
    schema = call.checker.schema if call.checker else None
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping):
        return
    for key in call.parsed.value or ():
        folded = None if key in properties else _FOLDED.fullmatch(key)
        if folded and folded["name"] in properties:
            title = f"{named}: the value of {folded['name']} is folded into its key {excerpt(repr(key), 50)}"
            yield found("TOOL.wire", title, case_severity, where=call.where, evidence=evidence)
