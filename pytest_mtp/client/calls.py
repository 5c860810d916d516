"""Tool calls from the wire: whole ones, and fragments put together by index."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from pytest_mtp.client.document import shown
from pytest_mtp.core.reply import ToolCall, WireNote

MAX_CALLS = 1000
"""Of one reply. A stream may name a new one with every chunk."""

_LONGEST_NAME = 4096
_LOOKS = 16


@dataclass(slots=True)
class _Open:
    """A call that is still growing."""

    index: int | None
    id: str | None = None
    type: str | None = None
    name: str | None = None
    pieces: list[str] = field(default_factory=list)
    looks: int = 0

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    def complete(self) -> bool:
        """Whether the arguments so far are one JSON value, so that a new id must mean a new call.

        Looked at a few times at most, as each look reads them all.
        """
        self.looks += 1
        if self.looks > _LOOKS:
            return False
        try:
            json.loads(self.arguments)
        except (ValueError, RecursionError):
            return False
        return True


class CallAssembler:
    """Fragments in, calls out. Each kind of breach is noted once, with its first example."""

    def __init__(self) -> None:
        """Empty."""
        self._calls: list[_Open] = []
        self._by_index: dict[int, _Open] = {}
        self._notes: dict[tuple[str, str], WireNote] = {}

    @property
    def notes(self) -> tuple[WireNote, ...]:
        """Breaches so far, in the order of their first appearance."""
        return tuple(self._notes.values())

    def _note(self, code: str, kind: str, detail: str) -> None:
        self._notes.setdefault((code, kind), WireNote(code=code, detail=f"{kind}: {detail}" if detail else kind))

    def feed(self, deltas: Any) -> int:
        """Take the `tool_calls` of one delta; gives the number of name and argument characters in it."""
        if deltas is None:
            return 0
        if not isinstance(deltas, list):
            self._note("TOOL.wire", "tool_calls is not a list", shown(deltas))
            return 0
        return sum(self._feed_one(delta) for delta in deltas)

    def _feed_one(self, delta: Any) -> int:
        if not isinstance(delta, dict):
            self._note("TOOL.wire", "a call is not an object", shown(delta))
            return 0
        function = delta.get("function")
        if function is not None and not isinstance(function, dict):
            self._note("TOOL.wire", "function is not an object", shown(delta))
            function = None
        function = function or {}
        id_, name = self._text(delta, "id"), self._text(function, "name")
        call = self._place(delta.get("index"), id_, name)
        call.type = call.type or self._text(delta, "type")
        self._name(call, name)
        piece = self._arguments(function.get("arguments"))
        call.pieces.append(piece)
        return len(piece) + len(name or "")

    def _text(self, holder: dict[str, Any], key: str) -> str | None:
        value = holder.get(key)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            self._note("TOOL.id" if key == "id" else "TOOL.wire", f"{key} of a call is not a string", shown(value))
            return str(value)
        return value

    def _place(self, raw_index: Any, id_: str | None, name: str | None) -> _Open:
        index = raw_index
        if index is None:
            self._note("TOOL.wire", "a streamed call has no index", "")
            last = self._calls[-1] if self._calls else None
            starts = id_ not in (None, last.id if last else None) or (name is not None and id_ is None)
            return self._begin(None, id_) if starts or last is None else last
        if not isinstance(index, int) or isinstance(index, bool):
            self._note("TOOL.wire", "the index of a call is not an integer", shown(index))
            index = int(index) if isinstance(index, str) and index.isdecimal() and len(index) < 9 else len(self._calls)
        call = self._by_index.get(index)
        if call is None:
            return self._begin(index, id_)
        if id_ is not None and call.id is not None and id_ != call.id:
            if name is not None and call.complete():
                self._note("TOOL.wire", f"index {index} stands for two calls", f"ids {shown(call.id)} and {shown(id_)}")
                return self._begin(index, id_)
            self._note("TOOL.id", "the id of a call changes midway", f"{shown(call.id)}, then {shown(id_)}")
        call.id = call.id or id_
        return call

    def _begin(self, index: int | None, id_: str | None) -> _Open:
        if len(self._calls) >= MAX_CALLS:
            self._note("TOOL.wire", f"more than {MAX_CALLS} calls", "")
            return self._calls[-1]
        call = _Open(index=index, id=id_)
        self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        return call

    def _name(self, call: _Open, name: str | None) -> None:
        if name is None:
            return
        if call.name is None:
            call.name = name
        elif name == call.name:
            self._note("TOOL.wire", "the name of a call is sent again", shown(name))
        elif name.startswith(call.name):
            self._note("TOOL.wire", "the name of a call is sent again", f"{shown(call.name)}, then {shown(name)}")
            call.name = name
        else:
            self._note("TOOL.wire", "the name of a call comes in pieces", f"{shown(call.name)}, then {shown(name)}")
            call.name = (call.name + name)[:_LONGEST_NAME]

    def _arguments(self, value: Any) -> str:
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        self._note("TOOL.wire", "arguments are not a string", shown(value))
        return json.dumps(value)

    def finish(self) -> tuple[ToolCall, ...]:
        """The calls in order of appearance; gaps in the indices are noted."""
        indices = [call.index for call in self._calls if call.index is not None]
        if sorted(set(indices)) != list(range(len(set(indices)))):
            self._note("TOOL.wire", "the indices of the calls have a gap", ", ".join(map(str, indices)))
        return tuple(ToolCall(id=c.id, type=c.type, name=c.name, arguments=c.arguments, index=c.index) for c in self._calls)

    def whole(self, calls: Any) -> tuple[ToolCall, ...]:
        """The `tool_calls` of an unary message, where an index is not asked for."""
        if calls is None:
            return ()
        if not isinstance(calls, list):
            self._note("TOOL.wire", "tool_calls is not a list", shown(calls))
            return ()
        if len(calls) > MAX_CALLS:
            self._note("TOOL.wire", f"more than {MAX_CALLS} calls", "")
        return tuple(call for item in calls[:MAX_CALLS] if (call := self._whole_one(item)) is not None)

    def _whole_one(self, item: Any) -> ToolCall | None:
        if not isinstance(item, dict):
            self._note("TOOL.wire", "a call is not an object", shown(item))
            return None
        function = item.get("function")
        if not isinstance(function, dict):
            self._note("TOOL.wire", "function is not an object", shown(item))
            function = {}
        elif function.get("arguments") is None:
            self._note("TOOL.wire", "a call has no arguments string", shown(item))
        index = item.get("index")
        return ToolCall(
            id=self._text(item, "id"),
            type=self._text(item, "type"),
            name=self._text(function, "name"),
            arguments=self._arguments(function.get("arguments")),
            index=index if isinstance(index, int) and not isinstance(index, bool) else None,
        )
