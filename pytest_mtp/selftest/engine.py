"""The fake engine without its HTTP: a request in, a completion or frames out."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_mtp.selftest.book import AnswerBook
from pytest_mtp.selftest.brain import Answer, think
from pytest_mtp.selftest.conditions import acceptance_under, depth_under, mute_under, refuse_under
from pytest_mtp.selftest.dialects import Dialect
from pytest_mtp.selftest.dice import digest
from pytest_mtp.selftest.fault import Armed
from pytest_mtp.selftest.generation import DEFAULT_BUDGET, Choice, Setting, generate
from pytest_mtp.selftest.request import BadRequest, ChatRequest
from pytest_mtp.selftest.scene import Scene
from pytest_mtp.selftest.speculation import Counters, Steps
from pytest_mtp.selftest.tokens import count_prompt, split
from pytest_mtp.selftest.wire import Completion, Frame, body_of, frames_of

_REASONING = "The user wants a reply. I know it, so I give it."


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
    _turns: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, request: ChatRequest) -> tuple[Mapping[str, Any] | tuple[Frame, ...], int]:
        """The body, or the frames of a stream, and the number of steps that it takes. Raises BadRequest."""
        if not self.dialect.tools:
            request = replace(request, tools=(), tool_choice="none")
        prompt_tokens = count_prompt(request.messages, request.tools) + len(split(request.prefix or ""))
        room = self.context_length - prompt_tokens
        if room <= 0:
            words = f"the prompt has {prompt_tokens} tokens, the context {self.context_length}"
            raise BadRequest(words, kind="exceed_context_size_error")
        if not self.dialect.prefill:
            request = replace(request, prefix=None)
        scene = self._scene(request, min(request.max_tokens or DEFAULT_BUDGET, room))
        active = [armed for armed in self.faults if armed.strikes(scene, self.seed)]
        made = self._generate(scene, active, prompt_tokens)
        completion, duration = self._complete(made, scene, prompt_tokens), max(len(steps.sizes) for _, steps in made)
        for armed in active:
            completion = armed.fault.completion(completion, scene) if armed.fault.completion else completion
        if not request.stream:
            return body_of(completion, self.dialect), duration
        frames = frames_of(completion, self.dialect, include_usage=request.include_usage)
        for armed in active:
            frames = armed.fault.frames(frames, scene) if armed.fault.frames else frames
        return frames, duration

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

    def _complete(self, made: Sequence[tuple[Choice, Steps]], scene: Scene, prompt_tokens: int) -> Completion:
        spent = [steps for _, steps in made]
        generated = sum(max(1, sum(steps.sizes)) for steps in spent)  # an empty reply took one step: the end of turn
        for steps in spent:
            self.counters.add(steps)
        self.counters.served(prompt_tokens, generated, tuple(str(choice.finish) for choice, _ in made))
        return Completion(
            id=f"chatcmpl-{digest(scene.request.key, scene.turn)}",
            created=int(self.started),
            model=self.alias,
            choices=tuple(self._as_dialect(choice) for choice, _ in made),
            usage=self._usage(prompt_tokens, generated),
            timings=self._timings(prompt_tokens, generated, spent),
        )

    def _scene(self, request: ChatRequest, budget: int) -> Scene:
        asked = f"{request.key}/{request.prefix}"
        with self._lock:
            turn = self._turns[asked]
            self._turns[asked] += 1
        return Scene(request=request, turn=turn, budget=budget)

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

    def _usage(self, prompt_tokens: int, generated: int) -> Mapping[str, Any] | None:
        if not self.dialect.usage:
            return None
        return {"prompt_tokens": prompt_tokens, "completion_tokens": generated, "total_tokens": prompt_tokens + generated}

    def _timings(self, prompt_tokens: int, generated: int, spent: Sequence[Steps]) -> Mapping[str, Any] | None:
        if not self.dialect.timings:
            return None
        timings: dict[str, Any] = {"cache_n": 0, "prompt_n": prompt_tokens, "predicted_n": generated}
        if any(steps.drafted for steps in spent):  # llama.cpp leaves the fields out where nothing was drafted
            timings["draft_n"] = sum(steps.drafted for steps in spent)
            timings["draft_n_accepted"] = sum(steps.accepted for steps in spent)
        return timings
