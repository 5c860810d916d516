"""More faults of streaming alone, each as the events come by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pytest_mtp.selftest.fault_frames import Deltas, arguments_of, name_of, with_calls, with_delta
from pytest_mtp.selftest.scene import Scene
from pytest_mtp.selftest.wire import Frame

_CLOSE = "}\n</tool_call>"
REASONING = ("reasoning_content", "reasoning")


def first_call_torn(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """Of two calls the first keeps its first fragment of arguments alone."""
    frames = tuple(frames)
    two = any(call.get("index") == 1 for frame in frames for call in frame.calls)
    begun = 0

    def change(calls: Deltas) -> Deltas:
        nonlocal begun
        kept = []
        for call in calls:
            if call.get("index") == 0 and arguments_of(call):
                begun += 1
                if begun > 1:
                    continue
            kept.append(call)
        return kept

    return with_calls(frames, change) if two else iter(frames)


def second_call_lost(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """Of several calls the first alone arrives."""
    return with_calls(frames, lambda calls: [call for call in calls if not call.get("index")])


def no_braces(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """A call without arguments ends with none at all, not with an empty object."""

    def change(calls: Deltas) -> Deltas:
        for call in calls:
            if arguments_of(call).strip() == "{}":
                call["function"]["arguments"] = ""
        return calls

    return with_calls(frames, change)


def delimiters(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """The model's own sign for a quote stays in the values."""

    def change(calls: Deltas) -> Deltas:
        for call in calls:
            if arguments_of(call):
                call["function"]["arguments"] = arguments_of(call).replace(': "', ': "<|\\"|>')
        return calls

    return with_calls(frames, change)


def first_fragment_alone(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """Only events that carry the id of their call pass."""
    return with_calls(frames, lambda calls: [call for call in calls if "id" in call])


def long_calls_thinned(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """Of a call in many events some in the middle are lost."""
    seen: dict[int, int] = {}

    def change(calls: Deltas) -> Deltas:
        kept = []
        for call in calls:
            index = call.get("index", 0)
            seen[index] = seen.get(index, 0) + 1
            if not 2 < seen[index] <= 4:
                kept.append(call)
        return kept

    return with_calls(frames, change)


def again_and_again(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """The arguments come anew until the budget is spent."""
    for frame in frames:
        yield frame
        if frame.calls:
            whole = [{"index": call.get("index", 0), "function": {"arguments": arguments_of(call)}} for call in frame.calls]
            for _ in range(12):
                yield from with_calls((frame,), lambda _calls, whole=whole: list(whole))  # type: ignore[misc]  # binds the loop's value


def without_index(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """No call says which it is."""
    return with_calls(frames, lambda calls: [{name: value for name, value in call.items() if name != "index"} for call in calls])


def doubled_names(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """The name comes in two events, the second time with nothing else."""
    for frame in frames:
        yield frame
        names = [(call.get("index"), name_of(call)) for call in frame.calls if "id" in call]
        if names:
            again = [{"index": index, "function": {"name": name, "arguments": ""}} for index, name in names]
            yield from with_calls((frame,), lambda _calls, again=again: list(again))  # type: ignore[misc]  # binds the loop's value


def names_everywhere(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """Every event of a call repeats its name."""
    names: dict[int, str] = {}

    def change(calls: Deltas) -> Deltas:
        for call in calls:
            name = names.setdefault(call.get("index", 0), name_of(call))
            call["function"] = {**(call.get("function") or {}), "name": name}
        return calls

    return with_calls(frames, change)


def leaked_then_called(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """The markup of each call is streamed as text beside the call itself."""
    leaked = False
    for frame in frames:
        if frame.calls:
            leaked = True
            yield with_delta(frame, tool_calls=None, content=_as_text(frame))
        elif leaked and frame.finish is not None:
            leaked = False
            yield with_delta(replace(frame, payload=_unfinished(frame)), content=_CLOSE)
        yield frame


def _as_text(frame: Frame) -> str:
    text = ""
    for call in frame.calls:
        begin = f'<tool_call>\n{{"name": "{name_of(call)}", "arguments": ' if "id" in call else ""
        text += (_CLOSE if begin and call.get("index") else "") + begin + arguments_of(call)
    return text


def _unfinished(frame: Frame) -> Mapping[str, object]:
    assert not isinstance(frame.payload, str)
    return {**frame.payload, "choices": [{**choice, "finish_reason": None} for choice in frame.payload["choices"]]}


def no_reasoning(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """Fields of reasoning are not among those that pass."""
    for frame in frames:
        if any(name in frame.delta for name in REASONING):
            if any(value for name, value in frame.delta.items() if name not in (*REASONING, "role")):
                yield with_delta(frame, **dict.fromkeys(REASONING))
            continue
        yield frame


def reasoning_then_error(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """Empty events, then an error about a reply of reasoning alone."""
    for frame in frames:
        if frame.takes_step:
            break
        yield frame
    yield Frame(payload={"error": {"message": "The reply contains reasoning only.", "type": "InternalServerError", "code": 500}})


def empty_reasons(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """Events before the last say that the reason of the end is an empty text."""
    for frame in frames:
        if isinstance(frame.payload, str) or not frame.payload.get("choices") or frame.finish is not None:
            yield frame
            continue
        choices = [{**choice, "finish_reason": ""} for choice in frame.payload["choices"]]
        yield replace(frame, payload={**frame.payload, "choices": choices})


def cumulative(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """Each event carries the whole text so far."""
    said = ""
    for frame in frames:
        if frame.delta.get("content"):
            said += frame.delta["content"]
            yield with_delta(frame, content=said)
        else:
            yield frame


def stuttering(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """Every third piece of text comes twice."""
    count = 0
    for frame in frames:
        yield frame
        if frame.delta.get("content"):
            count += 1
            if count % 3 == 0:
                yield frame


def null_first(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """The first piece of text is null."""
    lost = False
    for frame in frames:
        if not lost and frame.delta.get("content"):
            lost = True
            yield with_delta(frame, content=None)
        else:
            yield frame


def torn_characters(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """Characters of several tokens are decoded one token at a time."""
    for frame in frames:
        text = frame.delta.get("content")
        if isinstance(text, str) and any(ord(sign) > 0x7FF for sign in text):
            torn = "".join("\ufffd" * len(sign.encode("utf-8", "replace")) if ord(sign) > 0x7FF else sign for sign in text)
            yield with_delta(frame, content=torn)
        else:
            yield frame


def in_one_piece(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """Nothing comes until all is made, and then it comes in two pieces: this is no stream."""
    frames = tuple(frames)
    spoken = [frame for frame in frames if frame.delta.get("content") and set(frame.delta) <= {"content", "role"}]
    text = "".join(frame.delta["content"] for frame in spoken)
    for frame in frames:
        if frame in spoken:
            if frame is spoken[0]:
                yield with_delta(frame, content=text)
        else:
            yield frame


def calls_lost(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """Calls never come, and the stream ends as a plain answer would."""
    lost = False
    for frame in frames:
        if frame.calls:
            lost = True
            continue
        if lost and frame.finish == "tool_calls" and not isinstance(frame.payload, str):
            yield _ended(frame, {})
        else:
            yield frame


def _ended(frame: Frame, delta: Mapping[str, str]) -> Frame:
    assert not isinstance(frame.payload, str)
    choices = [{**choice, "finish_reason": "stop", "delta": delta} for choice in frame.payload["choices"]]
    return replace(frame, payload={**frame.payload, "choices": choices})


def calls_as_text(frames: Iterable[Frame], _scene: Scene) -> Iterator[Frame]:
    """Each event of a call becomes text, and the stream ends as a plain answer would."""
    leaked = False
    for frame in frames:
        if frame.calls:
            leaked = True
            yield with_delta(frame, tool_calls=None, content=_as_text(frame))
        elif leaked and frame.finish == "tool_calls" and not isinstance(frame.payload, str):
            yield _ended(frame, {"content": _CLOSE})
        else:
            yield frame
