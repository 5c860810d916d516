"""Intent against wire: reasoning that says the right call in plain words, while the wire holds a mangled one or nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_mtp.core.case import CaseSeverity
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.judgement import View
from pytest_mtp.judge.tools.expected import Gold
from pytest_mtp.judge.tools.reading import ReadCall
from pytest_mtp.judge.tools.report import found
from pytest_mtp.judge.tools.shown import gold_shown
from pytest_mtp.judge.words.normal import excerpt, fold


def intent_findings(golds: Sequence[Gold], view: View, calls: Sequence[ReadCall], case_severity: CaseSeverity) -> Iterator[Finding]:
    """For accepted calls that nothing matched. Only what the wire has broken, or an utterly empty reply, blames the parser."""
    if not view.reasoning:
        return
    thought = fold(view.reasoning)
    for gold in golds:
        broken = next((call for call in calls if _is_mangled(call, gold)), None)
        nothing = not calls and not view.text.strip() and not view.truncated
        if (broken or nothing) and _names_call(gold, thought):
            wire = f"has {broken.shown(60)}" if broken else "has no call and no text"
            title = f"the reasoning means {gold_shown(gold.name, gold.arguments)}, the wire {wire}"
            detail = (
                f"in the reasoning  …{excerpt(view.reasoning[-400:], 400)}\n     on the wire  {broken.shown(400) if broken else 'nothing'}"
            )
            yield found("TOOL.intent", title, case_severity, detail=detail, where=broken.where if broken else "")
            return


def _is_mangled(call: ReadCall, gold: Gold) -> bool:
    if call.tool is None:
        return bool(call.name) and (gold.name in call.name or call.name in gold.name)
    empty = call.arguments == {} and not call.needs_nothing
    return call.name == gold.name and (call.arguments is None or empty)


def _names_call(gold: Gold, thought: str) -> bool:
    """The tool by name, and every value that the case gives word for word."""
    if not re.search(rf"(?<![\w]){re.escape(fold(gold.name))}(?![\w])", thought):
        return False
    words = [_word(spec) for spec in (gold.arguments or {}).values()]
    wanted = [word for options in words if options for word in [options]]
    return bool(wanted) and all(any(re.search(rf"(?<!\w){re.escape(option)}(?!\w)", thought) for option in options) for options in wanted)


def _word(spec: Any) -> list[str]:
    """How a value may stand in prose; none for what cannot be told."""
    if isinstance(spec, Mapping):
        if set(spec) == {"one_of"} and isinstance(spec["one_of"], (list, tuple)):
            return [word for option in spec["one_of"] for word in _word(option)]
        return _word(spec["number"]) if "number" in spec else []
    if isinstance(spec, str):
        return [fold(spec)] if spec.strip() else []
    if isinstance(spec, (int, float)) and not isinstance(spec, bool):
        return [json.dumps(spec)]
    return []
