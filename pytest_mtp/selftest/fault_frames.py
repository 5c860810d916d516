"""Faults of streaming alone: unstreamed replies stay right. Each needs nothing but the events."""

from __future__ import annotations

from collections.abc import Mapping
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
    made = []
    for frame in frames:
        if "tool_calls" not in frame.delta:
            made.append(frame)
            continue
        payload: dict[str, Any] = deepcopy(dict(frame.payload)) if isinstance(frame.payload, Mapping) else {}
        delta = payload["choices"][0]["delta"]
        for call in delta["tool_calls"]:
            call["function"]["arguments"] = ""
        delta["tool_calls"] = [call for call in delta["tool_calls"] if "id" in call]
        if delta["tool_calls"]:
            made.append(replace(frame, payload=payload))
    return tuple(made)
