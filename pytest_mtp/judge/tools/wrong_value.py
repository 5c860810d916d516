"""A call of the right tool with wrong arguments, told so that the eye finds the difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_mtp.core.case import CaseSeverity
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.tools.expected import Gold
from pytest_mtp.judge.tools.place import Difference
from pytest_mtp.judge.tools.reading import ReadCall
from pytest_mtp.judge.tools.report import found, kept
from pytest_mtp.judge.tools.shown import call_shown, gold_shown
from pytest_mtp.judge.words.difference import aligned

_LONG = 40


def value_finding(gold: Gold, call: ReadCall, differences: Sequence[Difference], case_severity: CaseSeverity) -> Iterator[Finding]:
    """Nothing where the arguments could not be read or the schema has already told of every difference."""
    if call.arguments is None or gold.arguments is None:
        return
    told = [violation.pointer for violation in call.violations if not violation.of_schema]
    untold = [difference for difference in differences if not _is_told(difference, told, call)]
    if not untold:
        return
    first = untold[0]
    step = first.pointer.split("/")[1].replace("~1", "/").replace("~0", "~") if "/" in first.pointer else ""
    expected = gold_shown(gold.name, gold.arguments, first=step)
    got = call_shown(call.wire.name, call.arguments, first=step)
    more = f" and {len(untold) - 1} more" if len(untold) > 1 else ""
    yield found(
        "TOOL.value",
        f"expected {expected}, got {got}: {first.pointer}{more}",
        case_severity,
        detail=_detail(gold, call, untold),
        where=f"{call.where}{first.pointer}",
        evidence={"expected": gold.arguments, "arguments": kept(call.wire.arguments), "pointers": [d.pointer for d in untold[:20]]},
    )


def _is_told(difference: Difference, told: Sequence[str], call: ReadCall) -> bool:
    if any(pointer and (difference.pointer == pointer or difference.pointer.startswith(pointer + "/")) for pointer in told):
        return True
    name = difference.pointer.rpartition("/")[2]
    return difference.got == "absent" and any(f"'{name}' is a required property" == violation.problem for violation in call.violations)


def _detail(gold: Gold, call: ReadCall, differences: Sequence[Difference]) -> str:
    lines = [f"expected  {gold_shown(gold.name, gold.arguments, limit=400)}", f"     got  {call.shown(400)}"]
    lines += [f"{d.pointer}: expected {d.expected}, got {d.got}" for d in differences[:12]]
    texts = differences[0].texts
    if texts and max(map(len, texts)) > _LONG:
        lines += ["", aligned(*texts)]
    return "\n".join(lines)
