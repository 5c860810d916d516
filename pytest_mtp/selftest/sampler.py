"""The pseudo-model's next-token distribution, and the choice of one token from it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_mtp.selftest.dice import roll
from pytest_mtp.selftest.prose import alternatives
from pytest_mtp.selftest.request import ChatRequest
from pytest_mtp.selftest.tokens import token_id

_FILLERS = (
    " the", " a", " of", " and", " to", " in", " is", " it", " was", " for", " on", " that", " with", " as", " at", " by",
    " this", " from", " but", " not", ".", ",", "\n", " or",
)  # fmt: skip
_LOOSE_CHOICES = 4
_NEAR_TIE = 0.04  # share of loose positions whose two best differ by no more than the noise of real kernels
_NEAR_TIE_GAP = 0.004  # nats
_FLOOR_LOOSE, _FLOOR_CERTAIN = -12.0, -14.0  # nats, below the best


@dataclass(frozen=True, slots=True)
class Candidates:
    """Tokens with logprobs in nats, best first. The first is what greedy decoding takes."""

    ranked: tuple[tuple[str, float], ...]

    def logprob(self, token: str) -> float:
        """Of a token that is not among the ranked ones: just below the last."""
        return next((logprob for text, logprob in self.ranked if text == token), self.ranked[-1][1] - 1)


def candidates(key: str, position: int, token: str, *, loose: bool) -> Candidates:
    """What might stand at `position` of the reply to the conversation `key`, whose greedy token is `token`."""
    logits = [(token, 0.0)]
    floor = _FLOOR_CERTAIN
    others = choices_of(token) if loose else ()
    if others:
        floor = _FLOOR_LOOSE
        start = int(roll(key, position, "others") * len(others))
        tie = roll(key, position, "tie") < _NEAR_TIE
        logit = 0.0
        for rank in range(min(_LOOSE_CHOICES, len(others))):
            logit -= _NEAR_TIE_GAP if tie and rank == 0 else 0.3 + 2.2 * roll(key, position, rank)
            logits.append((others[(start + rank) % len(others)], logit))
    taken = {text for text, _ in logits}
    logits += [(filler, floor - 0.25 * rank) for rank, filler in enumerate(_FILLERS) if filler not in taken]
    total = math.log(sum(math.exp(logit) for _, logit in logits))
    return Candidates(tuple((text, logit - total) for text, logit in logits))


def choices_of(token: str) -> tuple[str, ...]:
    """Tokens that could stand for a loose one without breaking the grammar."""
    space = " " if token.startswith(" ") else ""
    return tuple(space + word for word in alternatives(token.removeprefix(" ")))


def is_sampled(request: ChatRequest) -> bool:
    """Whether chance decides."""
    return request.temperature > 0 and request.top_k != 1 and request.min_p < 1


def is_steered(request: ChatRequest) -> bool:
    """Whether something besides temperature 0 decides."""
    return bool(is_sampled(request) or request.penalty or request.bias)


def choose(ranked: Candidates, request: ChatRequest, used: Mapping[str, int], chance: float) -> str:
    """One token; `chance` in [0, 1) decides when the temperature is above 0, `used` counts tokens for the penalties."""
    logits = [
        (
            text,
            logprob - request.penalty * used.get(text, 0) + request.bias.get(token_id(text), 0.0)
            if request.bias or request.penalty
            else logprob,
        )
        for text, logprob in ranked.ranked
    ]
    logits.sort(key=lambda pair: -pair[1])
    if not is_sampled(request):
        return logits[0][0]
    best = logits[0][1]
    weights = [(text, math.exp((logit - best) / request.temperature)) for text, logit in logits]
    if request.top_k > 0:
        weights = weights[: request.top_k]
    weights = [(text, weight) for text, weight in weights if weight >= request.min_p]  # the best weighs 1
    total = sum(weight for _, weight in weights)
    kept, mass = [], 0.0
    for text, weight in weights:
        kept.append((text, weight))
        mass += weight / total
        if mass >= request.top_p:
            break
    mark = chance * sum(weight for _, weight in kept)
    for text, weight in kept:
        mark -= weight
        if mark < 0:
            return text
    return kept[-1][0]
