"""The canonical graded answer of calls: equal for replies that mean the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.reply import ToolCall
from pytest_mtp.judge.tools.arguments import Arguments, parse_arguments
from pytest_mtp.judge.tools.equality import same_json
from pytest_mtp.judge.tools.offered import offer_of
from pytest_mtp.judge.tools.schemas import MISSING, default_of, property_of

_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def canonical_calls(calls: Sequence[ToolCall], ask: Ask | None = None, *, ordered: bool = False) -> str:
    """JSON list of {arguments, name}, keys sorted, 5.0 as 5, calls sorted unless `ordered`. Ids are left out.

    With the ask, arguments that give a declared default are left out too. Arguments that are no object stay text.
    """
    return canonical_parsed([(call, parse_arguments(call.arguments)) for call in calls], ask, ordered=ordered)


def canonical_parsed(calls: Sequence[tuple[ToolCall, Arguments]], ask: Ask | None = None, *, ordered: bool = False) -> str:
    """The same for arguments that are already read."""
    tools = offer_of(ask).tools if ask else {}
    texts = []
    for call, parsed in calls:
        tool = tools.get(call.name or "")
        value: Any = parsed.value if parsed.whole else ({} if parsed.shape == "empty" else call.arguments)
        if isinstance(value, dict) and tool:
            value = {key: item for key, item in value.items() if not _is_default(key, item, tool.parameters)}
        texts.append(json_text({"name": call.name, "arguments": value}))
    return f"[{','.join(texts if ordered else sorted(texts))}]"


def json_text(value: Any) -> str:
    """Sorted keys, no spaces, no escapes beyond what JSON needs."""
    return _ENCODER.encode(value)


def accepted_calls(golds: Sequence[tuple[str, Mapping[str, Any] | None]], *, ordered: bool = False) -> str:
    """The answer of every reply that passes: the accepted calls, the first alternative standing for each matcher."""
    texts = []
    for name, arguments in golds:
        plain = None if arguments is None else {key: _plain(spec) for key, spec in arguments.items() if not _may_lack(spec)}
        texts.append(json_text({"name": name, "arguments": plain}))
    return f"[{','.join(texts if ordered else sorted(texts))}]"


def _may_lack(spec: Any) -> bool:
    return isinstance(spec, Mapping) and len(spec) == 1 and next(iter(spec)) in ("absent", "absent_or", "any")


def _plain(spec: Any) -> Any:
    if isinstance(spec, Mapping):
        for word in ("number", "date"):
            if word in spec:
                return spec[word]
        if set(spec) == {"one_of"} and isinstance(spec["one_of"], (list, tuple)) and spec["one_of"]:
            return _plain(spec["one_of"][0])
        if set(spec) == {"unordered"} and isinstance(spec["unordered"], (list, tuple)):
            return sorted((_plain(item) for item in spec["unordered"]), key=json_text)
        return {str(key): _plain(item) for key, item in spec.items()}
    if isinstance(spec, (list, tuple)):
        return [_plain(item) for item in spec]
    return int(spec) if isinstance(spec, float) and spec.is_integer() and abs(spec) < 2**53 else spec


def _is_default(key: str, value: Any, schema: Any) -> bool:
    declared = default_of(property_of(schema, key, schema), schema)
    return declared is not MISSING and same_json(declared, value)
