"""Wrong and harmless changes to a right reply. Each wrong one is checked to be wrong before it is counted."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from tools_judge_bfcl import BfclCase, Call

from pytest_mtp.core.reply import Reply, ToolCall
from pytest_mtp.judge.tools.offered import Tool, offer_of
from pytest_mtp.judge.tools.schemas import MISSING, default_of, property_of
from pytest_mtp.judge.words.normal import canonical

Calls = list[Call]
_INNER = re.compile(r"(?<=\w)[-./_](?=\w)")


def reply_of(calls: Calls, *, tail: str = "") -> Reply:
    """The calls as a server would send them; `tail` is added to the last arguments."""
    texts = [json.dumps(arguments) for _, arguments in calls]
    if texts:
        texts[-1] += tail
    wire = tuple(
        ToolCall(id=f"call_{i}", type="function", name=name, arguments=text)
        for i, ((name, _), text) in enumerate(zip(calls, texts, strict=True))
    )
    return Reply(content=None if calls else "I cannot help with that.", tool_calls=wire, finish_reason="tool_calls" if calls else "stop")


def wrong(case: BfclCase) -> Iterator[tuple[str, Calls | None, Reply]]:
    """(kind, the calls as Python values where the change is visible there, the reply)."""
    for kind, change in WRONG.items():
        calls = [(name, copy.deepcopy(arguments)) for name, arguments in case.variants[0]]
        changed = change(case, calls)
        if changed is not None:
            yield kind, changed, reply_of(changed)
    right = list(case.variants[0])
    if right:
        yield "extra brace", None, reply_of(right, tail="}")
        yield "second object", None, reply_of(right, tail=json.dumps(right[-1][1]))


def harmless(case: BfclCase) -> Iterator[tuple[str, Calls, Reply]]:
    """Changes that mean nothing: every one of them must pass."""
    calls = [(name, copy.deepcopy(arguments)) for name, arguments in case.variants[0]]
    if len(calls) > 1:
        yield "calls in another order", calls[::-1], reply_of(calls[::-1])
    turned = [(name, dict(reversed(arguments.items()))) for name, arguments in calls]
    yield "keys in another order", turned, reply_of(turned)
    floats = [
        (name, {key: float(v) if type(v) is int and abs(v) < 2**53 else v for key, v in arguments.items()}) for name, arguments in calls
    ]
    if floats != calls or json.dumps(floats) != json.dumps(calls):
        yield "5 as 5.0", floats, reply_of(floats)


def _places(case: BfclCase, calls: Calls) -> Iterator[tuple[int, str, Any, list[Any]]]:
    """(call, parameter, value, accepted values) of every argument."""
    for index, (name, arguments) in enumerate(calls):
        accepted = case.ground_truth[index][name]
        for key, value in arguments.items():
            yield index, key, value, accepted[key]


def _tool(case: BfclCase, name: str) -> Tool:
    return offer_of(case.ask).tools[name]


def _is_wrong(case: BfclCase, name: str, key: str, value: Any, accepted: list[Any]) -> bool:
    schema = _tool(case, name).parameters
    default = default_of(property_of(schema, key, schema), schema)
    return not any(_alike(value, other) for other in [*accepted, *([] if default is MISSING else [default])])


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return canonical(one) == canonical(other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return (type(one) is type(other) and one == other) or (_is_number(one) and _is_number(other) and one == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _with_value(make: Callable[[Any], Any]) -> Callable[[BfclCase, Calls], Calls | None]:
    """Replace the first argument for which `make` gives a value that nobody accepts."""

    def change(case: BfclCase, calls: Calls) -> Calls | None:
        for index, key, value, accepted in _places(case, calls):
            made = make(value)
            if made is not None and _is_wrong(case, calls[index][0], key, made, accepted):
                calls[index][1][key] = made
                return calls if _still_wrong(case, calls) else None
        return None

    return change


def _still_wrong(case: BfclCase, calls: Calls) -> bool:
    """In a parallel case a changed call may be right for another accepted call; such a change proves nothing."""
    return not any(sorted(map(json.dumps, calls)) == sorted(map(json.dumps, map(list, variant))) for variant in case.variants)


def _other_value(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if _is_number(value):
        return value + 7
    if isinstance(value, str):
        return f"{value} zebra"
    return [*value, "zebra"] if isinstance(value, list) else None


def _negated(value: Any) -> Any:
    return -value if _is_number(value) and value else None


def _shortened(value: Any) -> Any:
    return value[:-1] if isinstance(value, str) and len(value) > 2 and value[-1].isalnum() else None


def _without_inner_marks(value: Any) -> Any:
    return _INNER.sub("", value) if isinstance(value, str) and _INNER.search(value) else None


def _reversed(value: Any) -> Any:
    return value[::-1] if isinstance(value, list) and len(value) > 1 else None


def _as_digit(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else None


def _in_list(value: Any) -> Any:
    return [[value]] if isinstance(value, str) else None


def _missing_required(case: BfclCase, calls: Calls) -> Calls | None:
    for index, key, _, accepted in _places(case, calls):
        schema = _tool(case, calls[index][0]).parameters
        if "" not in accepted and default_of(property_of(schema, key, schema), schema) is MISSING:
            del calls[index][1][key]
            return calls
    return None


def _extra_argument(_: BfclCase, calls: Calls) -> Calls | None:
    calls[0][1]["zebra_mode"] = "on"
    return calls


def _other_function(case: BfclCase, calls: Calls) -> Calls | None:
    others = [name for name in offer_of(case.ask).tools if all(name != used for used, _ in calls)]
    calls[0] = (others[0] if others else "zebra_tool", calls[0][1])
    return calls


def _dropped_call(_: BfclCase, calls: Calls) -> Calls | None:
    return calls[1:]


def _duplicated_call(_: BfclCase, calls: Calls) -> Calls | None:
    return [*calls, calls[-1]]


def _swapped_values(case: BfclCase, calls: Calls) -> Calls | None:
    places = list(_places(case, calls))
    for index, key, value, accepted in places:
        for other, key2, value2, accepted2 in places:
            if index == other and key < key2 and type(value) is type(value2) and not isinstance(value, bool):
                name = calls[index][0]
                if _is_wrong(case, name, key, value2, accepted) or _is_wrong(case, name, key2, value, accepted2):
                    calls[index][1].update({key: value2, key2: value})
                    return calls if _still_wrong(case, calls) else None
    return None


WRONG: dict[str, Callable[[BfclCase, Calls], Calls | None]] = {
    "other value": _with_value(_other_value),
    "sign flipped": _with_value(_negated),
    "text cut by one letter": _with_value(_shortened),
    "inner punctuation lost": _with_value(_without_inner_marks),
    "list reversed": _with_value(_reversed),
    "boolean as 0 or 1": _with_value(_as_digit),
    "text in nested lists": _with_value(_in_list),
    "values swapped": _swapped_values,
    "required argument missing": _missing_required,
    "argument nobody expects": _extra_argument,
    "other function": _other_function,
    "call dropped": _dropped_call,
    "call doubled": _duplicated_call,
}
