"""An answer as tokens in steps: what the API layer of a real engine receives from the scheduler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pytest_mtp.selftest.brain import Answer
from pytest_mtp.selftest.dice import digest, roll
from pytest_mtp.selftest.request import ChatRequest
from pytest_mtp.selftest.sampler import candidates, choices_of, choose, is_steered
from pytest_mtp.selftest.speculation import Steps, judge_of_drafts, steps
from pytest_mtp.selftest.tokens import split, token_id

Channel = Literal["reasoning", "content", "open", "arguments", "close", "hidden"]

DEFAULT_BUDGET = 2048
_NOISE_NATS = 0.8
_UNDRAFTED = 2  # a continuation by one token drafts nothing, and so has nothing to verify


@dataclass(frozen=True, slots=True)
class Token:
    """`open` and `close` are the call markup that a tool parser eats; `arguments` belong to call number `call`."""

    text: str
    channel: Channel
    call: int | None = None
    logprob: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallHead:
    """Identity of a call on the wire."""

    id: str | None
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One choice of a completion. Its unary and its streamed form are both made from `steps`."""

    steps: tuple[tuple[Token, ...], ...]
    calls: tuple[CallHead, ...]
    finish: str | None

    def text(self, channel: Channel, call: int | None = None) -> str:
        """What one channel says in all."""
        return "".join(token.text for step in self.steps for token in step if token.channel == channel and token.call == call)

    def map_tokens(self, change: Callable[[Token], Token | None]) -> Choice:
        """The same steps with tokens changed or, for None, left out."""
        made = (tuple(new for token in step if (new := change(token)) is not None) for step in self.steps)
        return replace(self, steps=tuple(made))


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What the engine was started with, as far as generation goes. `acceptance` scales that of a good drafter.

    `breaks_verify` is a verify step that lets wrong drafts through, `wavers` noise that changes close decisions.
    """

    depth: int
    acceptance: float = 1.0
    breaks_verify: bool = False
    wavers: bool = False


def tokens_of(answer: Answer) -> list[Token]:
    """The whole answer: reasoning, content, then each call in its markup."""
    made = [Token(text, "reasoning") for text in split(answer.reasoning or "")]
    made += [Token(text, "content") for text in split(answer.content)]
    for number, call in enumerate(answer.calls):
        made += [Token(text, "open", number) for text in split(f'<tool_call>\n{{"name": "{call.name}", "arguments": ')]
        made += [Token(text, "arguments", number) for text in split(call.arguments)]
        made += [Token(text, "close", number) for text in split("}\n</tool_call>")]
    return made


def rest_of(answer: Answer, prefix: str | None) -> tuple[list[Token], int]:
    """The tokens after `prefix` and the absolute position of the first.

    A prefix that the answer does not begin with is aligned by its number of tokens: wording may differ, length does not.
    """
    if prefix is None:
        return tokens_of(answer), 0
    plain = replace(answer, reasoning=None)
    done = len(split(prefix))
    if answer.content.startswith(prefix):
        return tokens_of(replace(plain, content=answer.content[len(prefix) :])), done
    return tokens_of(plain)[done:], done


def generate(answer: Answer, request: ChatRequest, setting: Setting, *, budget: int, number: int, turn: int) -> tuple[Choice, Steps]:
    """Choice `number` of the reply, of `budget` tokens at most.

    `turn` counts the times that this was asked before: it seeds sampling where no seed is given.
    """
    meant, start = rest_of(answer, request.prefix)
    seed = request.seed if request.seed is not None else f"turn {turn}"
    said = _sample(meant[:budget], answer, request, start, seed=f"{seed}/{number}")
    if setting.wavers and answer.loose:
        said = _waver(said, request, start, turn)
    if setting.breaks_verify and setting.depth and answer.loose:
        said = _break_verify(said, request, start)
    finish = "length" if len(meant) > budget else "tool_calls" if any(token.channel == "open" for token in said) else "stop"
    said, generated, stopped = _stop(said, request.stop)
    if stopped:
        finish = "stop"
    accepts = judge_of_drafts(request.key, answer.stratum, sampled=is_steered(request), scale=setting.acceptance)
    made = steps(generated, budget=budget, depth=setting.depth, start=start, accepts=accepts)
    if request.top_logprobs is not None:
        said = _with_logprobs(said, answer, request, start, meant)
    heads = tuple(CallHead(id=f"call_{digest(request.key, place, number)}", name=call.name) for place, call in enumerate(answer.calls))
    opened = sum(token.channel == "arguments" for token in said) and 1 + max(
        token.call or 0 for token in said if token.channel == "arguments"
    )
    return Choice(steps=_cut(said, made.sizes), calls=heads[:opened], finish=finish), made


def _sample(meant: Sequence[Token], answer: Answer, request: ChatRequest, start: int, seed: str) -> list[Token]:
    """Loose words are drawn; certain tokens change only where the bias forbids or favours them by name."""
    if not is_steered(request) or not (answer.loose or request.bias or request.penalty):
        return list(meant)
    used: Counter[str] = Counter()
    said = []
    for position, token in enumerate(meant, start):
        text = token.text
        free = answer.loose and bool(choices_of(text))
        if token.channel == "content" and (free or token_id(text) in request.bias or (request.penalty and used[text])):
            ranked = candidates(request.key, position, text, loose=answer.loose)
            text = choose(ranked, request, used, roll(request.key, position, seed))
        used[text] += token.channel == "content"
        said.append(Token(text, token.channel, token.call))
    return said


def _waver(said: Sequence[Token], request: ChatRequest, start: int, turn: int) -> list[Token]:
    """Noise beyond the small gaps: where the second best is close, it is as likely as the best."""
    wavered = list(said)
    for place, token in _loose_words(said):
        (_, best), (second, next_best), *_ = candidates(request.key, start + place, token.text, loose=True).ranked
        if best - next_best < _NOISE_NATS and roll(request.key, start + place, "waver", turn) < 0.5:
            wavered[place] = Token(second, token.channel, token.call)
    return wavered


def _break_verify(said: Sequence[Token], request: ChatRequest, start: int) -> list[Token]:
    """Every second loose word beyond the first tokens of this generation becomes one that the model would hardly choose."""
    broken = list(said)
    for count, (place, token) in enumerate((place, token) for place, token in _loose_words(said) if place >= _UNDRAFTED):
        likely = {text for text, _ in candidates(request.key, start + place, token.text, loose=True).ranked}
        unlikely = [option for option in choices_of(token.text) if option not in likely]
        if unlikely and count % 2 == 0:
            broken[place] = Token(unlikely[0], token.channel, token.call)
    return broken


def _loose_words(said: Sequence[Token]) -> list[tuple[int, Token]]:
    return [(place, token) for place, token in enumerate(said) if token.channel == "content" and choices_of(token.text)]


def _stop(said: Sequence[Token], words: tuple[str, ...]) -> tuple[list[Token], int, bool]:
    """Tokens up to the first stop word, how many were generated with it, and whether there was one."""
    if not words:
        return list(said), len(said), False
    text = "".join(token.text for token in said if token.channel == "content")
    found = [(place, len(word)) for word in words if (place := text.find(word)) >= 0]
    if not found:
        return list(said), len(said), False
    place, length = min(found)
    kept, seen = [], 0
    for number, token in enumerate(said):
        if token.channel != "content":
            kept.append(token)
            continue
        room = place - seen
        if room > 0:
            kept.append(replace(token, text=token.text[:room]))
        seen += len(token.text)
        if seen >= place + length:
            return kept, number + 1, True
    return kept, len(said), True


def _with_logprobs(said: Sequence[Token], answer: Answer, request: ChatRequest, start: int, meant: Sequence[Token]) -> list[Token]:
    made = []
    for place, token in enumerate(said):
        if token.channel != "content":
            made.append(token)
            continue
        ranked = candidates(request.key, start + place, meant[place].text, loose=answer.loose)
        entry = {**_entry(token.text, ranked.logprob(token.text))}
        entry["top_logprobs"] = [_entry(text, logprob) for text, logprob in ranked.ranked[: request.top_logprobs or 0]]
        made.append(replace(token, logprob=entry))
    return made


def _entry(text: str, logprob: float) -> dict[str, Any]:
    encoded = text.encode("utf-8", "surrogatepass")
    return {"id": token_id(text), "token": text, "logprob": round(logprob, 8), "bytes": list(encoded)}


def _cut(said: Sequence[Token], sizes: tuple[int, ...]) -> tuple[tuple[Token, ...], ...]:
    made, place = [], 0
    for size in sizes:
        made.append(tuple(said[place : place + size]))
        place += size
    return tuple(made)
