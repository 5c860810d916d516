"""Faults of streaming alone: unstreamed replies stay right. Each needs nothing but the events, and reads them as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

from pytest_mtp.selftest.scene import Scene
from pytest_mtp.selftest.wire import DONE, Frame

Deltas = list[dict[str, Any]]


def truncated(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """All of the content comes, then the stream ends cleanly: no finish reason, no usage, no [DONE]."""
    for place, frame in enumerate(frames):
        if place and not frame.takes_step:
            return
        yield frame


def cut(frames: Iterable[Frame], _scene: Scene) -> Iterable[Frame]:
    """The stream ends cleanly after about half of its content."""
    frames = tuple(frames)
    spoken = [place for place, frame in enumerate(frames) if frame.takes_step]
    return frames[: spoken[(len(spoken) - 1) // 2] + 1] if spoken else frames[:1]


def error_event(frames: Iterable[Frame], scene: Scene) -> Iterable[Frame]:
    """Half of the content, then an error object, then nothing."""
    error = {"error": {"message": "EngineCore encountered an issue.", "type": "InternalServerError", "code": 500}}
    return (*cut(frames, scene), Frame(payload=error))


def no_done(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """All but [DONE]."""
    return (frame for frame in frames if frame.payload != DONE)


def empty_arguments(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """Names of calls arrive, their arguments never do."""

    def change(calls: Deltas) -> Deltas:
        for call in calls:
            call.setdefault("function", {})["arguments"] = ""
        return [call for call in calls if "id" in call]

    return with_calls(frames, change)


def lost_tail(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """The last delta with arguments never comes, unless it is the first too."""
    held: list[Frame] = []
    seen = 0
    for frame in frames:
        if frame.calls:
            yield from held
            held, seen = [frame], seen + 1
        elif held and frame.finish is None and frame.takes_step:
            held.append(frame)
        else:
            yield from held[:1] if seen == 1 else ()
            yield from held[1:]
            held = []
            yield frame
    yield from held[:1] if seen == 1 else ()


def zero_index(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """Every call is call 0."""
    return with_calls(frames, lambda calls: [{**call, "index": 0} for call in calls])


def repeated_arguments(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """After its last fragment each call is sent once more as a whole."""
    whole: dict[int, str] = {}
    last: Frame | None = None
    for frame in frames:
        if frame.calls:
            last = frame
            for call in frame.calls:
                whole[call["index"]] = whole.get(call["index"], "") + arguments_of(call)
        elif last is not None and not frame.takes_step:
            again = [{"index": index, "function": {"arguments": arguments}} for index, arguments in whole.items()]
            yield from with_calls((last,), lambda _calls, again=again: again)  # type: ignore[misc]  # a default binds the loop's value
            last = None
        yield frame


def lost_first_delta(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """The first step's text never comes; calls are spared."""
    lost = False
    for frame in frames:
        if not lost and frame.delta.get("content"):
            lost = True
            continue
        yield frame


def arguments_of(call: Mapping[str, Any]) -> str:
    """The fragment of arguments that it carries; engines leave the field out, or send null, where there is none."""
    return str((call.get("function") or {}).get("arguments") or "")


def name_of(call: Mapping[str, Any]) -> str:
    """The name that it carries, empty for none."""
    return str((call.get("function") or {}).get("name") or "")


def with_calls(frames: Iterable[Frame], change: Callable[[Deltas], Deltas]) -> Iterator[Frame]:
    """The same events with other `tool_calls`; an event that has none left is dropped."""
    for frame in frames:
        if not frame.calls or isinstance(frame.payload, str):
            yield frame
            continue
        payload = deepcopy(dict(frame.payload))
        delta = payload["choices"][0]["delta"]
        delta["tool_calls"] = change(delta["tool_calls"])
        if payload == frame.payload:
            yield frame
        elif delta["tool_calls"]:
            yield replace(frame, payload=payload)


def with_delta(frame: Frame, **changes: Any) -> Frame:
    """The same event whose delta has these fields; None takes one out."""
    if isinstance(frame.payload, str):
        return frame
    payload = deepcopy(dict(frame.payload))
    delta = payload["choices"][0]["delta"]
    for name, value in changes.items():
        delta.pop(name, None)
        if value is not None:
            delta[name] = value
    return replace(frame, payload=payload)
