"""Faults of streaming alone: unstreamed replies stay right. Each needs nothing but the events."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

from pytest_mtp.selftest.scene import Scene
from pytest_mtp.selftest.wire import DONE, Frame


def truncated(frames: tuple[Frame, ...], _scene: Scene) -> tuple[Frame, ...]:
    """All of the content comes, then the stream ends cleanly: no finish reason, no usage, no [DONE]."""
    spoken = [place for place, frame in enumerate(frames) if frame.takes_step]
    return frames[: spoken[-1] + 1] if spoken else frames[:1]


def cut(frames: tuple[Frame, ...], _scene: Scene) -> tuple[Frame, ...]:
    """The stream ends cleanly after about half of its content."""
    spoken = [place for place, frame in enumerate(frames) if frame.takes_step]
    return frames[: spoken[(len(spoken) - 1) // 2] + 1] if spoken else frames[:1]


def error_event(frames: tuple[Frame, ...], scene: Scene) -> tuple[Frame, ...]:
    """Half of the content, then an error object, then nothing."""
    error = {"error": {"message": "EngineCore encountered an issue.", "type": "InternalServerError", "code": 500}}
    return (*cut(frames, scene), Frame(payload=error))


def no_done(frames: tuple[Frame, ...], _scene: Scene) -> tuple[Frame, ...]:
    """All but [DONE]."""
    return tuple(frame for frame in frames if frame.payload != DONE)


def empty_arguments(frames: tuple[Frame, ...], _scene: Scene) -> tuple[Frame, ...]:
    """Names of calls arrive, their arguments never do."""

    def change(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for call in calls:
            call["function"]["arguments"] = ""
        return [call for call in calls if "id" in call]

    return _with_calls(frames, change)


def lost_tail(frames: tuple[Frame, ...], _scene: Scene) -> tuple[Frame, ...]:
    """The last delta with arguments never comes, unless it is the first too."""
    carriers = [place for place, frame in enumerate(frames) if "tool_calls" in frame.delta]
    return frames if len(carriers) < 2 else frames[: carriers[-1]] + frames[carriers[-1] + 1 :]


def zero_index(frames: tuple[Frame, ...], _scene: Scene) -> tuple[Frame, ...]:
    """Every call is call 0."""

    def change(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**call, "index": 0} for call in calls]

    return _with_calls(frames, change)


def repeated_arguments(frames: tuple[Frame, ...], _scene: Scene) -> tuple[Frame, ...]:
    """After its last fragment each call is sent once more as a whole."""
    whole: dict[int, str] = {}
    carriers = [frame for frame in frames if "tool_calls" in frame.delta]
    for frame in carriers:
        for call in frame.delta["tool_calls"]:
            whole[call["index"]] = whole.get(call["index"], "") + call["function"]["arguments"]
    if not carriers:
        return frames
    again = [{"index": index, "function": {"arguments": arguments}} for index, arguments in whole.items()]
    last = frames.index(carriers[-1])
    (repeated,) = _with_calls((frames[last],), lambda _calls: again)
    return (*frames[: last + 1], repeated, *frames[last + 1 :])


def lost_first_delta(frames: tuple[Frame, ...], _scene: Scene) -> tuple[Frame, ...]:
    """The first step's text never comes; calls are spared."""
    first = next((place for place, frame in enumerate(frames) if frame.delta.get("content")), None)
    return frames if first is None else frames[:first] + frames[first + 1 :]


def _with_calls(frames: tuple[Frame, ...], change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> tuple[Frame, ...]:
    """The same events with other `tool_calls`; an event that has none left is dropped."""
    made = []
    for frame in frames:
        if "tool_calls" not in frame.delta or isinstance(frame.payload, str):
            made.append(frame)
            continue
        payload = deepcopy(dict(frame.payload))
        delta = payload["choices"][0]["delta"]
        delta["tool_calls"] = change(delta["tool_calls"])
        if delta["tool_calls"]:
            made.append(replace(frame, payload=payload))
    return tuple(made)
