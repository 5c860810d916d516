"""Gate E: the same request streamed and not streamed makes the same calls."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import CaseSeverity
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.tools.answer import canonical_calls
from pytest_mtp.judge.tools.coercion import coercion
from pytest_mtp.judge.tools.equality import same_json
from pytest_mtp.judge.tools.place import ABSENT, Place
from pytest_mtp.judge.tools.reading import ReadCall, read_calls
from pytest_mtp.judge.tools.report import found, kept
from pytest_mtp.judge.tools.wire import wire_breaches


def stream_parity(
    unary: Reply, streamed: Reply, ask: Ask | None = None, case_severity: CaseSeverity = "model", *, noisy: bool = False
) -> tuple[Finding, ...]:
    """At most one TOOL.stream_diff. Names and canonical arguments are compared; ids, spacing and order are not.

    `noisy`: the control has shown that this server disagrees with itself at temperature 0. Then a difference between two
    well-formed replies is a note, while one that a parser leaves behind (broken arguments on one side alone, a lost call
    whose text is the same, another type, a cut value) stays critical.
    """
    ask = ask or Ask(messages=())
    one, other = read_calls(unary, ask), read_calls(streamed, ask)
    if canonical_calls(unary.tool_calls) == canonical_calls(streamed.tool_calls):
        return ()
    if unary.finish_reason == "length" or streamed.finish_reason == "length":
        noisy = True  # where the budget falls may differ by a token
    broken = [
        mode
        for mode, reply, calls in (("unstreamed", unary, one), ("streamed", streamed, other))
        if any(finding.severity == "critical" for finding in wire_breaches(reply, _asked(ask, mode), calls, case_severity))
    ]
    title, parsers = _difference(one, other)
    silent = (not one and not unary.text.strip()) or (not other and not streamed.text.strip())  # the call is lost without a trace
    if len(broken) == 1:
        title = f"{title}; the {broken[0]} reply alone breaks the protocol"
    hard = len(broken) == 1 or parsers or silent or not noisy
    detail = f"unstreamed  {_listed(one)}\n  streamed  {_listed(other)}"
    evidence = {
        "unstreamed": [kept(f"{call.name}: {call.wire.arguments}") for call in one[:8]],
        "streamed": [kept(f"{call.name}: {call.wire.arguments}") for call in other[:8]],
        "finish_reasons": [unary.finish_reason, streamed.finish_reason],
    }
    return (found("TOOL.stream_diff", title, case_severity, severity=None if hard else "note", detail=detail, evidence=evidence),)


def _asked(ask: Ask, mode: str) -> Ask:
    return ask if ask.stream == (mode == "streamed") else Ask.from_dict({**ask.to_dict(), "stream": mode == "streamed"})


def _difference(one: Sequence[ReadCall], other: Sequence[ReadCall]) -> tuple[str, bool]:
    """The first difference in words, and whether only a parser makes such a difference."""
    if len(one) != len(other):
        few, many = sorted((one, other), key=len)
        lost = next((call for call in many if not any(_same(call, kept_call) for kept_call in few)), many[-1])
        subset = all(any(_same(call, larger) for larger in many) for call in few)
        return f"unstreamed {_count(one)}, streamed {_count(other)}: {lost.shown(70)} is on one side alone", bool(few) and subset
    for left, right in _unlike(one, other):
        if left.name != right.name:
            return f"unstreamed {left.shown(60)}, streamed {right.shown(60)}", False
        if left.arguments is None or right.arguments is None:
            return f"{left.name}: unstreamed {left.shown(60)}, streamed {right.shown(60)}", False
        return _argument(left, right)
    return "the calls differ", False


def _argument(left: ReadCall, right: ReadCall) -> tuple[str, bool]:
    one, other = left.arguments or {}, right.arguments or {}
    key = next(key for key in (*one, *other) if key not in one or key not in other or not same_json(one[key], other[key]))
    a, b = one.get(key, ABSENT), other.get(key, ABSENT)
    shown = Place(None, None, (key,), [], extra=False).differs(a, b)
    retyped = a is not ABSENT and b is not ABSENT and type(a) is not type(b) and bool(coercion(a, b))
    cut = isinstance(a, str) and isinstance(b, str) and a != b and (a.startswith(b) or b.startswith(a))
    kind = ", of another type" if retyped else (", cut" if cut else "")
    return f"{left.name}: unstreamed {shown.expected}, streamed {shown.got}{kind}: {shown.pointer}", retyped or cut


def _unlike(one: Sequence[ReadCall], other: Sequence[ReadCall]) -> list[tuple[ReadCall, ReadCall]]:
    left = [call for call in one if not any(_same(call, right) for right in other)]
    right = [call for call in other if not any(_same(call, left_call) for left_call in one)]
    return list(zip(left, right, strict=False))


def _same(one: ReadCall, other: ReadCall) -> bool:
    if one.name != other.name:
        return False
    if one.arguments is None or other.arguments is None:
        return one.wire.arguments == other.wire.arguments
    return same_json(one.arguments, other.arguments)


def _count(calls: Sequence[ReadCall]) -> str:
    return "no call" if not calls else f"{len(calls)} call{'' if len(calls) == 1 else 's'}"


def _listed(calls: Sequence[ReadCall]) -> str:
    return "; ".join(call.shown() for call in calls[:8]) or "no call"
