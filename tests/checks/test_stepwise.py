"""The one-token continuation finds tokens that the model never chose, and accuses no honest server."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Mapping

import pytest

from pytest_mtp.checks.stepwise import StepCheck, step_check
from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.reply import Reply, TokenLogprob, TopToken, Usage
from tests.checks.conftest import MemoryServer

ASK = Ask(messages=({"role": "user", "content": "Why?"},), sampling=Sampling(temperature=0.0, max_tokens=20))
VOCABULARY = [f" w{index}" for index in range(40)]


def distribution(prefix: str, noise: float, seed: int) -> list[tuple[str, float]]:
    """A model with known logits: a seeded choice for each prefix, with float noise of a given size on top."""
    source = random.Random(prefix)
    logits = [source.gauss(0, 4) for _ in VOCABULARY]
    shaken = random.Random(f"{prefix}{seed}")
    rows = [(word, logit + shaken.gauss(0, noise)) for word, logit in zip(VOCABULARY, logits, strict=True)]
    return sorted(rows, key=lambda row: -row[1])


class Model:
    """Greedy answers, `wrong` of whose tokens are replaced by one that the model ranks far below."""

    def __init__(self, *, wrong: float = 0.0, noise: float = 0.0, seed: int = 0) -> None:
        self.wrong, self.noise, self.seed = wrong, noise, seed
        self.random = random.Random(seed)

    def __call__(self, ask: Ask) -> Reply:
        last = ask.messages[-1]
        start = str(last["content"]) if last["role"] == "assistant" else ""
        prefix, entries = start, []
        for _ in range(ask.sampling.max_tokens or 20):
            rows = distribution(prefix, self.noise, self.seed + len(start))
            token = rows[0][0]
            if not start and prefix and self.random.random() < self.wrong:
                token = rows[-1][0]
            top = tuple(TopToken(token=word, logprob=value) for word, value in rows[: ask.top_logprobs or 2])
            entries.append(TokenLogprob(token=token, logprob=dict(rows)[token], top=top))
            prefix += token
        usage = Usage(prompt_tokens=3 + start.count(" "), completion_tokens=len(entries))
        return Reply(content=prefix[len(start) :], logprobs=tuple(entries), usage=usage, finish_reason="length")


def checked(model: Callable[[Ask], Reply], positions: int = 12) -> StepCheck:
    server = MemoryServer(model)
    exchange = server.ask(dataclasses.replace(ASK, top_logprobs=2))
    return step_check(exchange, server, server.ask, positions=positions)


def test_an_honest_server_agrees_with_itself() -> None:
    outcome = checked(Model())
    assert (outcome.checked, outcome.material, outcome.neartie) == (12, (), ())


def test_a_verify_step_that_accepts_wrong_drafts_is_material() -> None:
    outcome = checked(Model(wrong=0.3, seed=3))
    assert outcome.material
    assert all(step.gap_nats >= 1.0 and step.emitted != step.chosen for step in outcome.material)


def test_simulation_of_error_rates() -> None:
    """400 honest servers with logit noise of 0.05 nats: none is accused. 200 whose verify step is wrong at 20 % of the
    positions: at least 85 % are found by a single answer of 20 tokens (1 - 0.8^12 = 93 % at 12 positions, and some wrong
    tokens change only what is compared later)."""
    accused = sum(bool(checked(Model(noise=0.05, seed=seed)).material) for seed in range(400))
    found = sum(bool(checked(Model(wrong=0.2, noise=0.05, seed=seed)).material) for seed in range(200))
    assert accused == 0
    assert found >= 170


def test_noise_gives_near_ties_and_no_accusation() -> None:
    outcomes = [checked(Model(noise=0.1, seed=seed)) for seed in range(100)]
    assert any(outcome.neartie for outcome in outcomes)
    assert not any(outcome.material for outcome in outcomes)


def test_a_server_that_restarts_the_answer_is_not_accused() -> None:
    model = Model()

    def restart(ask: Ask) -> Reply:
        return model(dataclasses.replace(ask, messages=ask.messages[:1]))

    assert checked(restart).reason == "the server restarts an assistant message instead of continuing it"


def test_positions_that_were_tokenised_otherwise_are_left_out() -> None:
    model = Model()

    def shifted(ask: Ask) -> Reply:
        reply = model(ask)
        if ask.messages[-1]["role"] == "assistant" and len(str(ask.messages[-1]["content"])) > 40:
            return dataclasses.replace(
                reply,
                usage=Usage(prompt_tokens=99),
                logprobs=(TokenLogprob(token="?", logprob=0.0, top=(TopToken(token="?", logprob=0.0),)),),
            )
        return reply

    outcome = checked(shifted)
    assert 0 < outcome.checked < 12
    assert not outcome.material


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"content": ""}, "empty"),
        ({"reasoning": "hm"}, "reasoning model"),
        ({"logprobs": ()}, "no logprobs"),
        ({"content": "other words"}, "do not spell"),
    ],
    ids=["empty", "reasoning", "no logprobs", "tokens do not spell the text"],
)
def test_what_cannot_be_compared_says_why(change: Mapping[str, object], reason: str) -> None:
    outcome = checked(lambda ask: dataclasses.replace(Model()(ask), **change))
    assert outcome.checked == 0
    assert reason in outcome.reason


def test_logprobs_without_alternatives_are_absence_not_certainty() -> None:
    def bare(ask: Ask) -> Reply:
        full = Model()(ask)
        return dataclasses.replace(full, logprobs=tuple(dataclasses.replace(entry, logprob=0.0, top=()) for entry in full.logprobs))

    assert checked(bare).reason == "no continuation came with logprobs"
