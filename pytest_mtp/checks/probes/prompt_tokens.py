"""Prompt tokens against an oracle: the server's own count has to be affine in what is added to a prompt.

A word repeated k times costs k times the same tokens, whatever the tokenizer and the template are; a system message and tools cost
something. A count that grows otherwise means a prompt that was cut, cached away or never rendered.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import pairwise

from pytest_mtp.checks.probes.probe import Probe, Sight, finding, unanswered
from pytest_mtp.checks.probes.saying import say
from pytest_mtp.checks.probes.sent import Sent, declined
from pytest_mtp.checks.probes.tool_choice import tool
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.verdict import Finding

_STEPS = (8, 24, 40)
_TOOL = tool("get_weather", "Current weather of a city", "city")


def look(_case: Case, sent: Sent) -> Sequence[Sight]:
    """Replies of one token: only the counts of their prompts are read."""
    plain = _words(_STEPS[0])
    asks = [
        *(_words(count) for count in _STEPS),
        dataclasses.replace(plain, stream=True),
        plain,
        _with_system(plain, "Read carefully."),
        _with_system(plain, "Read carefully, word by word, and say nothing that the list does not hold."),
        dataclasses.replace(plain, tools=(_TOOL,)),
    ]
    exchanges = list(sent.many(asks))
    first, second, third, streamed, again, brief, system, tools = exchanges
    return [
        _growth(first, second, third),
        _equal("streamed or not", first, streamed),
        _equal("asked again", first, again),
        _grows("a longer system message", brief, system, "PROTO.template"),
        _grows("a tool", first, tools, "TOOL.template"),
    ]


def _words(count: int) -> Ask:
    return say("Read this list: " + ", ".join(["apple"] * count) + ". Say yes.", max_tokens=1)


def _with_system(ask: Ask, words: str) -> Ask:
    """A template may put words of its own where there is no system message, so that one makes the prompt shorter."""
    return dataclasses.replace(ask, messages=({"role": "system", "content": words}, *ask.messages))


def _tokens(exchange: Exchange) -> int | None:
    return exchange.reply.usage.prompt_tokens if exchange.reply and exchange.reply.usage else None


def _unusable(condition: str, exchanges: Sequence[Exchange]) -> Sight | None:
    missing = next((exchange for exchange in exchanges if exchange.reply is None), None)
    if missing is not None:
        if declined(missing):
            return Sight(condition=condition, not_offered=declined(missing))
        return unanswered(condition, missing)
    if any(_tokens(exchange) is None for exchange in exchanges):
        return Sight(condition=condition, not_offered="the replies carry no count of prompt tokens")
    return None


def _growth(*exchanges: Exchange) -> Sight:
    condition = "words that repeat"
    unusable = _unusable(condition, exchanges)
    if unusable:
        return unusable
    counts = [_tokens(exchange) or 0 for exchange in exchanges]
    steps = [later - earlier for earlier, later in pairwise(counts)]
    if steps[0] == steps[1] and steps[0] > 0:
        return Sight(condition=condition)
    title = f"{_STEPS} repeated words make {counts} prompt tokens: equal steps of words, unequal steps of tokens"
    return Sight(condition=condition, findings=(_usage(title, counts),), culprit=exchanges[-1])


def _equal(condition: str, one: Exchange, other: Exchange) -> Sight:
    unusable = _unusable(condition, (one, other))
    if unusable:
        return unusable
    counts = [_tokens(one) or 0, _tokens(other) or 0]
    if counts[0] == counts[1]:
        return Sight(condition=condition)
    return Sight(
        condition=condition, findings=(_usage(f"the same prompt counts {counts[0]} tokens, then {counts[1]}", counts),), culprit=other
    )


def _grows(condition: str, without: Exchange, having: Exchange, code: str) -> Sight:
    unusable = _unusable(condition, (without, having))
    if unusable:
        return unusable
    counts = [_tokens(without) or 0, _tokens(having) or 0]
    if counts[1] > counts[0]:
        return Sight(condition=condition)
    title = f"{condition} adds no token to the prompt ({counts[0]} without, {counts[1]} with): the template drops it"
    found = finding(code, title, evidence={"prompt_tokens": counts})
    return Sight(condition=condition, findings=(found,), culprit=having)


def _usage(title: str, counts: Sequence[int]) -> Finding:
    return finding("PROTO.usage", title, evidence={"prompt_tokens": list(counts)})


PROBE = Probe(
    name="prompt_tokens",
    about="prompt tokens grow evenly with the prompt, and with a system message and a tool",
    requests=lambda _: 8,
    tokens=lambda _: 8,
    look=look,
    sees=("usage-invariants", "template-fingerprint"),
)
