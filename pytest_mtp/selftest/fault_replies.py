"""More faults of an API layer: parsers of calls and of reasoning, finish reasons, counts, log-probabilities, stop strings."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pytest_mtp.selftest.fault_completions import each_choice
from pytest_mtp.selftest.generation import Channel, Choice, Token
from pytest_mtp.selftest.scene import Scene
from pytest_mtp.selftest.tokens import split
from pytest_mtp.selftest.wire import Completion

_CALL_CHANNELS = ("open", "arguments", "close")


def rewritten(choice: Choice, channel: Channel, change: Callable[[str], str], call: int | None = None) -> Choice:
    """One channel says something else. Steps fall as they did; what is longer than before comes with the last."""
    places = [
        (at, place) for at, step in enumerate(choice.steps) for place, token in enumerate(step)
        if token.channel == channel and token.call == call
    ]  # fmt: skip
    before = choice.text(channel, call)
    after = change(before)
    if after == before or not places:
        return choice
    pieces = split(after)
    steps = [list(step) for step in choice.steps]
    for number, (at, place) in enumerate(places):
        text = "".join(pieces[number:]) if number == len(places) - 1 else "".join(pieces[number : number + 1])
        steps[at][place] = replace(steps[at][place], text=text)
    return replace(choice, steps=tuple(map(tuple, steps)))


def finishing(wrong: Mapping[str, str]) -> Callable[[Completion, Scene], Completion]:
    """Some finish reasons are told as others."""
    return lambda made, _: each_choice(made, lambda choice: replace(choice, finish=wrong.get(choice.finish or "", choice.finish or "")))


def lost_calls(made: Completion, _scene: Scene) -> Completion:
    """Calls vanish with all that belongs to them, and the reply ends as if it had been one."""

    def change(choice: Choice) -> Choice:
        if not choice.calls:
            return choice
        gone = choice.map_tokens(lambda token: replace(token, channel="hidden") if token.call is not None else token)
        return replace(gone, calls=(), finish="stop")

    return each_choice(made, change)


def lost_words(made: Completion, _scene: Scene) -> Completion:
    """Words beside calls are not there."""

    def change(choice: Choice) -> Choice:
        return choice.map_tokens(lambda token: replace(token, channel="hidden") if token.channel == "content" else token)

    return each_choice(made, lambda choice: change(choice) if choice.calls else choice)


def tags_in_names(made: Completion, _scene: Scene) -> Completion:
    """Markup stands before each name."""
    return each_choice(
        made, lambda choice: replace(choice, calls=tuple(replace(head, name=f"<tool_call>{head.name}") for head in choice.calls))
    )


def numbers_as_text(made: Completion, _scene: Scene) -> Completion:
    """Numbers and flags in arguments come in quotes."""

    def quoted(text: str) -> str:
        try:
            arguments = json.loads(text)
        except ValueError:
            return text
        if not isinstance(arguments, dict):
            return text
        return json.dumps(
            {name: value if isinstance(value, (str, list, dict)) else json.dumps(value) for name, value in arguments.items()},
            ensure_ascii=False,
        )

    return _in_arguments(made, quoted)


def garbled_arguments(made: Completion, _scene: Scene) -> Completion:
    """A draft that was copied from the prompt stands in the middle of the arguments."""

    def garbled(text: str) -> str:
        pieces = split(text)
        middle = len(pieces) // 2
        return "".join((*pieces[:middle], *pieces[max(0, middle - 3) : middle], *pieces[middle:]))

    return _in_arguments(made, garbled)


def _in_arguments(made: Completion, change: Callable[[str], str]) -> Completion:
    def changed(choice: Choice) -> Choice:
        for number in range(len(choice.calls)):
            choice = rewritten(choice, "arguments", change, number)
        return choice

    return each_choice(made, changed)


def filed_as_reasoning(made: Completion, _scene: Scene) -> Completion:
    """All words are reasoning, and the answer is empty."""

    def change(token: Token) -> Token:
        return replace(token, channel="reasoning", logprob=None) if token.channel == "content" else token

    return each_choice(made, lambda choice: choice.map_tokens(change))


def thinks_aloud(made: Completion, _scene: Scene) -> Completion:
    """Reasoning with its tags stands in the answer."""

    def change(choice: Choice) -> Choice:
        thought = [token for step in choice.steps for token in step if token.channel == "reasoning"]
        if not thought:
            return choice
        first, last = thought[0], thought[-1]

        def said(token: Token) -> Token:
            if token.channel != "reasoning":
                return token
            begin, end = "<think>\n" if token is first else "", "\n</think>\n" if token is last else ""
            return Token(f"{begin}{token.text}{end}", "content")

        return choice.map_tokens(said)

    return each_choice(made, change)


def torn_marker(made: Completion, _scene: Scene) -> Completion:
    """The end of reasoning shared a delta with other text: a piece of its marker stands in the answer."""

    def change(choice: Choice) -> Choice:
        return rewritten(choice, "content", lambda text: f"</think>\n{text}") if choice.text("reasoning") else choice

    return each_choice(made, change)


def no_reasoning(made: Completion, _scene: Scene) -> Completion:
    """The model thinks, and nobody hears of it."""

    def change(token: Token) -> Token:
        return replace(token, channel="hidden") if token.channel == "reasoning" else token

    return each_choice(made, lambda choice: choice.map_tokens(change))


def counts_chunks(made: Completion, _scene: Scene) -> Completion:
    """Events are counted for tokens."""
    return _counted(made, lambda _: sum(len(choice.steps) for choice in made.choices))


def counts_drafts(made: Completion, _scene: Scene) -> Completion:
    """Three tokens too many, and a total that agrees with them."""
    return _counted(made, lambda count: count + 3)


def _counted(made: Completion, change: Callable[[int], int]) -> Completion:
    if made.usage is None:
        return made
    count = max(1, change(made.usage["completion_tokens"]))
    return replace(made, usage={**made.usage, "completion_tokens": count, "total_tokens": made.usage["prompt_tokens"] + count})


def overcounted_reasoning(made: Completion, _scene: Scene) -> Completion:
    """More tokens of reasoning than tokens."""
    if made.usage is None or "completion_tokens_details" not in made.usage:
        return made
    return replace(made, usage={**made.usage, "completion_tokens_details": {"reasoning_tokens": made.usage["completion_tokens"] + 5}})


def no_usage(made: Completion, _scene: Scene) -> Completion:
    """Counts were asked for and do not come."""
    return replace(made, usage=None)


def hollow_logprobs(made: Completion, _scene: Scene) -> Completion:
    """Each is exactly 0."""
    return _logprobs(made, lambda entry: {**entry, "logprob": 0.0, "top_logprobs": []})


def wild_logprobs(made: Completion, _scene: Scene) -> Completion:
    """The values belong to another position."""
    return _logprobs(made, lambda entry: {**entry, "logprob": round(entry["logprob"] - 4.0 - math.pi, 6)})


def _logprobs(made: Completion, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Completion:
    def changed(token: Token) -> Token:
        return token if token.logprob is None else replace(token, logprob=change(token.logprob))

    return each_choice(made, lambda choice: choice.map_tokens(changed))


def logprobs_beyond(made: Completion, _scene: Scene) -> Completion:
    """Text is cut at its end, the log-probabilities after it are not."""

    def change(choice: Choice) -> Choice:
        last = next((token for step in reversed(choice.steps) for token in reversed(step) if token.logprob is not None), None)
        return choice if last is None else replace(choice, steps=(*choice.steps, tuple(replace(last, text="") for _ in range(4))))

    return each_choice(made, change)


def fewer_choices(made: Completion, _scene: Scene) -> Completion:
    """Of several choices the last is not there."""
    return replace(made, choices=made.choices[:-1]) if len(made.choices) > 1 else made


def stop_taken_out(made: Completion, scene: Scene) -> Completion:
    """Generation went on after a stop string, which is taken out of the text."""

    def change(text: str) -> str:
        for word in scene.request.stop:
            text = text.replace(word, "")
        return text

    return each_choice(made, lambda choice: rewritten(choice, "content", change))
