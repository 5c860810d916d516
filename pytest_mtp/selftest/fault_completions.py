"""Faults of an API layer: a right reply, wrongly written. Each needs nothing but the completion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytest_mtp.selftest.generation import Choice, Token
from pytest_mtp.selftest.scene import Scene
from pytest_mtp.selftest.wire import Completion


def each_choice(made: Completion, change: Callable[[Choice], Choice]) -> Completion:
    """The same reply with each choice changed."""
    return replace(made, choices=tuple(change(choice) for choice in made.choices))


def empty_arguments(made: Completion, scene: Scene) -> Completion:
    """Calls of tools with required arguments arrive with none."""
    demanding = {tool["name"] for tool in scene.request.tools if (tool.get("parameters") or {}).get("required")}

    def change(choice: Choice) -> Choice:
        emptied = {number for number, head in enumerate(choice.calls) if head.name in demanding}
        return choice.map_tokens(lambda token: replace(token, text="") if token.channel == "arguments" and token.call in emptied else token)

    return each_choice(made, change)


def doubled_brace(made: Completion, _scene: Scene) -> Completion:
    """The arguments of each call end in one brace too many."""

    def change(choice: Choice) -> Choice:
        last = {token.call: token for step in choice.steps for token in step if token.channel == "arguments"}
        return choice.map_tokens(lambda token: replace(token, text=token.text + "}") if last.get(token.call) is token else token)

    return each_choice(made, change)


def leaked_markup(made: Completion, scene: Scene) -> Completion:
    """Calls stay in the text in the markup of the model, and the reply ends in stop.

    Forced calls are spared: engines get them by constrained decoding, past the tool parser.
    """
    if scene.request.tool_choice != "auto":
        return made

    def change(choice: Choice) -> Choice:
        if not choice.calls:
            return choice
        leaked = choice.map_tokens(lambda token: Token(token.text, "content") if token.call is not None else token)
        return replace(leaked, calls=(), finish="stop" if choice.finish == "tool_calls" else choice.finish)

    return each_choice(made, change)


def finish_reason(made: Completion, _scene: Scene) -> Completion:
    """Each finish reason is the wrong one."""
    wrong = {"stop": "tool_calls", "tool_calls": "stop", "length": "stop"}
    return each_choice(made, lambda choice: replace(choice, finish=wrong.get(choice.finish or "stop")))


def usage_mismatch(made: Completion, _scene: Scene) -> Completion:
    """The count of completion tokens is too high for its own total."""
    if made.usage is None:
        return made
    return replace(made, usage={**made.usage, "completion_tokens": made.usage["completion_tokens"] + 3})


def dropped_call(made: Completion, _scene: Scene) -> Completion:
    """Of several calls the last is gone."""

    def change(choice: Choice) -> Choice:
        lost = len(choice.calls) - 1
        if lost < 1:
            return choice
        kept = choice.map_tokens(lambda token: replace(token, channel="hidden") if token.call == lost else token)
        return replace(kept, calls=choice.calls[:lost])

    return each_choice(made, change)


def duplicate_id(made: Completion, _scene: Scene) -> Completion:
    """Every call has the id of the first."""
    return each_choice(made, lambda choice: replace(choice, calls=tuple(replace(head, id=choice.calls[0].id) for head in choice.calls)))


def unknown_tool(made: Completion, _scene: Scene) -> Completion:
    """Every name has a namespace before it that no tool was offered under."""
    return each_choice(
        made, lambda choice: replace(choice, calls=tuple(replace(head, name=f"functions.{head.name}") for head in choice.calls))
    )


def missing_id(made: Completion, _scene: Scene) -> Completion:
    """The id of every call is null."""
    return each_choice(made, lambda choice: replace(choice, calls=tuple(replace(head, id=None) for head in choice.calls)))


def duplicate_call(made: Completion, _scene: Scene) -> Completion:
    """The last call comes again under an id of its own."""

    def change(choice: Choice) -> Choice:
        if not choice.calls:
            return choice
        number = len(choice.calls)
        again = tuple(replace(token, call=number) for step in choice.steps for token in step if token.call == number - 1)
        head = choice.calls[-1]
        return replace(choice, steps=(*choice.steps, again), calls=(*choice.calls, replace(head, id=f"{head.id}b")))

    return each_choice(made, change)


def empty_reply(made: Completion, _scene: Scene) -> Completion:
    """Text is counted and never sent."""

    def change(choice: Choice) -> Choice:
        return choice.map_tokens(lambda token: replace(token, channel="hidden", logprob=None) if token.channel == "content" else token)

    return each_choice(made, change)


def special_tokens(made: Completion, _scene: Scene) -> Completion:
    """Text that ends by itself ends in the marker of its end."""

    def change(choice: Choice) -> Choice:
        return replace(choice, steps=(*choice.steps, (Token("<|im_end|>", "content"),))) if choice.finish == "stop" else choice

    return each_choice(made, change)


def null_finish(made: Completion, _scene: Scene) -> Completion:
    """No reply says why it ended."""
    return each_choice(made, lambda choice: replace(choice, finish=None))
