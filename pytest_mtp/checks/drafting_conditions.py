"""What may make a drafter stop: the same questions asked greedily, then sampled, with tools, as JSON, and after a long prompt."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.record import Json

QUESTIONS = ("Write a Python function that reverses a list.", "Explain how rain forms.")

_DESCRIBE = "Describe a city of your choice as JSON with these fields: name, country, climate, food, history, transport, sights, people."
_FIELDS = ("name", "country", "climate", "food", "history", "transport", "sights", "people")
_SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {field: {"type": "string"} for field in _FIELDS},
    "required": list(_FIELDS),
    "additionalProperties": False,
}
FORMAT: Mapping[str, Json] = {"type": "json_schema", "json_schema": {"name": "city", "strict": True, "schema": _SCHEMA}}
"""Eight texts in one object: enough tokens to be drafted, whatever is written into them."""

TOOL: Mapping[str, Json] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Current weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}

LOW = 0.01
"""A temperature at which a token 1 nat below the best comes once in e^100 times, and which is sampled all the same: with it a
sampling path can be held against greedy continuations."""

_WORDS_A_TOKEN = 0.75
_WORDS_A_TOKEN_AT_LEAST = 0.4
_ROOM_KEPT = 64
_LEAST_LONG = 128

_WHO = ("The keeper", "A baker", "My neighbour", "The engineer", "An old sailor", "The teacher", "A visitor")
_DID = ("counted", "painted", "repaired", "described", "measured", "photographed", "sold", "remembered", "forgot", "borrowed", "drew")
_WHAT = ("grey boats", "wooden chairs", "stone bridges", "paper maps", "copper lamps", "winter coats", "garden tools", "train tickets")
_WHERE = ("near the harbour", "behind the station", "in the old town", "by the river", "under the roof")


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """`name` is the stratum of its figures, `words` complete a sentence, `advice` is for who loses drafts under it.

    `stepwise`: its answers can be nothing but the greedy ones, and are held against one-token continuations.
    """

    name: str
    words: str
    asks: tuple[Ask, ...]
    advice: str = ""
    stepwise: bool = False


def greedy(max_tokens: int) -> Condition:
    """The baseline."""
    asks = tuple(_ask(question, max_tokens) for question in QUESTIONS)
    return Condition(name="greedy", words="in plain greedy requests", asks=asks)


def others(baseline: Condition, *, temperature: float, long_text: str) -> list[Condition]:
    """The conditions that differ from the baseline in one thing each; no long prompt where there is no text for it."""
    asks = baseline.asks
    found = [
        Condition(
            name="sampled_low",
            words=f"at temperature {LOW:g}",
            asks=tuple(dataclasses.replace(_sampled(ask, LOW), top_logprobs=2) for ask in asks),
            advice="These answers are the greedy ones, so its acceptance rule fails as soon as tokens are sampled: look for its option, "
            "try depth 1 or a newer engine, and look at the words of sampled answers.",
            stepwise=True,
        ),
        Condition(
            name="sampled",
            words=f"at temperature {temperature:g}",
            asks=tuple(_sampled(ask, temperature) for ask in asks),
            advice="Either its acceptance rule knows greedy decoding alone (look for an option, or a newer engine), or the model is so "
            "undecided on these questions that no draft can be right.",
        ),
        Condition(
            name="tools",
            words="with tools offered",
            asks=tuple(dataclasses.replace(ask, tools=(TOOL,)) for ask in asks),
            advice="Agents offer tools in each request: without drafts there they gain nothing.",
        ),
        Condition(
            name="structured",
            words="with structured output",
            asks=(dataclasses.replace(asks[0], messages=_say(_DESCRIBE), response_format=FORMAT),) * len(asks),
            advice="Serve structured output without speculation, or with another grammar backend.",
        ),
    ]
    if long_text:
        found.append(
            Condition(
                name="long",
                words="after a long prompt",
                asks=tuple(dataclasses.replace(ask, messages=_say(f"{long_text}\n\n{_question(ask)}")) for ask in asks),
                advice="Look for a limit on the context of the drafter, and for its window.",
            )
        )
    return found


def long_text(tokens: int, *, context_length: int | None, taken: int) -> str:
    """Sentences of about `tokens` tokens, none twice; less where the context is smaller, empty where it leaves no room.

    `taken` are the tokens of the question and of its answer.
    """
    words = tokens * _WORDS_A_TOKEN
    if context_length is not None:
        room = context_length - taken - _ROOM_KEPT
        words = min(words, room * _WORDS_A_TOKEN_AT_LEAST)
    if words < min(tokens, _LEAST_LONG) * _WORDS_A_TOKEN_AT_LEAST:
        return ""
    made: list[str] = []
    count = 0
    while count < words:
        made.append(_sentence(len(made)))
        count += len(made[-1].split())
    return " ".join(made)


def _sentence(number: int) -> str:
    """The lists have lengths without common divisors, so that a combination comes again only after 3,080 sentences."""
    pick: Sequence[str] = tuple(options[number % len(options)] for options in (_WHO, _DID, _WHAT, _WHERE))
    return f"{pick[0]} {pick[1]} {number + 12} {pick[2]} {pick[3]}."


def _ask(question: str, max_tokens: int) -> Ask:
    return Ask(messages=_say(question), sampling=Sampling(temperature=0.0, max_tokens=max_tokens))


def _sampled(ask: Ask, temperature: float) -> Ask:
    return dataclasses.replace(ask, sampling=dataclasses.replace(ask.sampling, temperature=temperature))


def _say(words: str) -> tuple[Mapping[str, Json], ...]:
    return ({"role": "user", "content": words},)


def _question(ask: Ask) -> str:
    return str(ask.messages[0]["content"])
