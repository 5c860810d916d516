"""The fake engine without its HTTP: a request in, a completion or frames out."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_mtp.selftest.book import AnswerBook
from pytest_mtp.selftest.brain import Answer, think
from pytest_mtp.selftest.conditions import Traits, acceptance_under, depth_under, mute_under, refuse_under
from pytest_mtp.selftest.dialects import Dialect
from pytest_mtp.selftest.dice import digest
from pytest_mtp.selftest.fault import Armed
from pytest_mtp.selftest.generation import DEFAULT_BUDGET, Choice, Setting, generate
from pytest_mtp.selftest.request import BadRequest, ChatRequest, read
from pytest_mtp.selftest.scene import Scene
from pytest_mtp.selftest.speculation import Counters, Steps
from pytest_mtp.selftest.stage import Stage, Visit
from pytest_mtp.selftest.tokens import prompt_pieces
from pytest_mtp.selftest.wire import Completion, Frame, body_of, frames_of

_REASONING = "The user wants a reply. I know it, so I give it."


@dataclass(frozen=True, slots=True)
class Made:
    """The body, or the frames of a stream; the number of steps that it takes, and what faults make of the time of one."""

    content: Mapping[str, Any] | tuple[Frame, ...]
    steps: int
    slow_s: float


@dataclass(slots=True, kw_only=True)
class Engine:
    """One model behind one name. Thread-safe."""

    alias: str
    book: AnswerBook
    dialect: Dialect
    faults: Sequence[Armed]
    depth: int
    context_length: int
    seed: int
    counters: Counters
    started: float = field(default_factory=time.time)
    stage: Stage = field(default_factory=Stage)

    def answer(self, visit: Visit) -> Made:
        """Raises BadRequest."""
        scene = self.stage.scene(visit, self._seen(visit.request))
        active = [armed for armed in self.faults if armed.strikes(scene, self.seed)]
        traits = {armed.fault.trait: armed.number for armed in active}
        for armed in active:
            refusal = armed.fault.refuse(scene) if armed.fault.refuse else None
            if refusal is not None:
                raise refusal
        meant = self._seen(handed_on(visit.request, active))
        prompt_tokens = scene.prompt_tokens if meant == scene.request else len(prompt_pieces(meant.messages, meant.tools, meant.prefix))
        room = self.context_length - prompt_tokens
        if room <= 0 and "beyond-window" in traits:
            prompt_tokens = self.context_length // 2  # the head of the conversation is gone, and nobody is told
            room = self.context_length - prompt_tokens
        if room <= 0:
            words = f"the prompt has {prompt_tokens} tokens, the context {self.context_length}"
            raise BadRequest(words, kind="exceed_context_size_error")
        if not self.dialect.prefill:
            meant = replace(meant, prefix=None)
        scene = replace(scene, budget=min(meant.max_tokens or DEFAULT_BUDGET, room))
        made = self._generate(replace(scene, request=meant), active, prompt_tokens)
        counted = traits.get("reads-little", prompt_tokens) if scene.warm else prompt_tokens
        completion, duration = self._complete(made, scene, counted, traits), max(len(steps.sizes) for _, steps in made)
        slow_s = traits.get("slow", 0) / 1000
        for armed in active:
            completion = armed.fault.completion(completion, scene) if armed.fault.completion else completion
        if not scene.request.stream:
            return Made(body_of(completion, self.dialect), duration, slow_s)
        frames: Iterable[Frame] = frames_of(completion, self.dialect, include_usage=scene.request.include_usage)
        for armed in active:
            frames = armed.fault.frames(frames, scene) if armed.fault.frames else frames
        return Made(tuple(frames), duration, slow_s)

    def _seen(self, request: ChatRequest) -> ChatRequest:
        return request if self.dialect.tools else replace(request, tools=(), tool_choice="none")

    def _generate(self, scene: Scene, active: Sequence[Armed], prompt_tokens: int) -> list[tuple[Choice, Steps]]:
        traits = {armed.fault.trait: armed.number for armed in active}
        refuse_under(traits, scene.request, depth=self.depth)
        answer = think(scene.request, self.book)
        if not self.dialect.reasoning:
            answer = replace(answer, reasoning=None)
        elif answer.reasoning is None:
            answer = replace(answer, reasoning=_REASONING)
        for armed in active:
            answer = armed.fault.answer(answer, scene) if armed.fault.answer else answer
        if mute_under(traits, scene.request, depth=self.depth):
            answer = Answer(content="")
        setting = Setting(
            depth=depth_under(traits, scene.request, prompt_tokens=prompt_tokens, depth=self.depth),
            acceptance=acceptance_under(traits, scene.request),
            breaks_verify="breaks-verify" in traits,
            wavers="wavers" in traits,
        )
        budget = scene.budget + (self.depth if "overruns" in traits else 0)
        numbers = range(scene.request.n)
        made = [generate(answer, scene.request, setting, budget=budget, number=number, turn=scene.turn) for number in numbers]
        if "miscounts" in traits:
            return [(choice, replace(steps, accepted=steps.drafted + 1)) for choice, steps in made]
        return made

    def _complete(self, made: Sequence[tuple[Choice, Steps]], scene: Scene, prompt_tokens: int, traits: Traits) -> Completion:
        spent = [steps for _, steps in made]
        generated = sum(max(1, sum(steps.sizes)) for steps in spent)  # an empty reply took one step: the end of turn
        for steps in spent:
            self.counters.add(steps)
        cached = 0 if "no-hits" in traits else min(scene.warm, prompt_tokens)
        counted = sum(len(steps.sizes) for steps in spent) if "counts-steps" in traits else generated
        self.counters.served(prompt_tokens, counted, tuple(str(choice.finish) for choice, _ in made), cached=cached)
        return Completion(
            id=f"chatcmpl-{digest(scene.request.key, scene.turn)}",
            created=int(self.started),
            model=self.alias,
            choices=tuple(self._as_dialect(choice) for choice, _ in made),
            usage=self._usage(prompt_tokens, generated, cached, made),
            timings=self._timings(prompt_tokens, generated, cached, spent, hidden="hides-drafts" in traits),
        )

    def _as_dialect(self, choice: Choice) -> Choice:
        if self.dialect.logprobs and self.dialect.verified_logprobs:
            return choice
        if not self.dialect.logprobs:
            return choice.map_tokens(lambda token: replace(token, logprob=None))
        first, *verified = choice.steps or ((),)
        blank = tuple(
            tuple(
                token if token.logprob is None else replace(token, logprob={**token.logprob, "logprob": 0.0, "top_logprobs": []})
                for token in step
            )
            for step in verified
        )
        return replace(choice, steps=(first, *blank))

    def _usage(self, prompt_tokens: int, generated: int, cached: int, made: Sequence[tuple[Choice, Steps]]) -> Mapping[str, Any] | None:
        if not self.dialect.usage:
            return None
        usage: dict[str, Any] = {
            "prompt_tokens": prompt_tokens, "completion_tokens": generated, "total_tokens": prompt_tokens + generated,
        }  # fmt: skip
        if self.dialect.cached_tokens:
            usage["prompt_tokens_details"] = {"cached_tokens": cached}
        if self.dialect.reasoning:
            thought = sum(token.channel == "reasoning" for choice, _ in made for step in choice.steps for token in step)
            usage["completion_tokens_details"] = {"reasoning_tokens": thought}
        return usage

    def _timings(
        self, prompt_tokens: int, generated: int, cached: int, spent: Sequence[Steps], *, hidden: bool
    ) -> Mapping[str, Any] | None:
        if not self.dialect.timings:
            return None
        timings: dict[str, Any] = {"cache_n": cached, "prompt_n": prompt_tokens - cached, "predicted_n": generated}
        if any(steps.drafted for steps in spent):  # llama.cpp leaves the fields out where nothing was drafted
            timings["draft_n"] = sum(steps.drafted for steps in spent)
            timings["draft_n_accepted"] = 0 if hidden else sum(steps.accepted for steps in spent)
        return timings


def handed_on(request: ChatRequest, active: Iterable[Armed]) -> ChatRequest:
    """What reaches the model of a request. The same object where no fault touches it."""
    body = dict(request.body)
    for armed in active:
        body = armed.fault.ask(body) if armed.fault.ask else body
    return request if body == request.body else read(body)
