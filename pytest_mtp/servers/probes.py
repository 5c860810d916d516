"""A few tokens of real work: proof that a server answers, and what it offers. Six tokens in all."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.exchange import Fault
from pytest_mtp.core.facts import Capabilities
from pytest_mtp.core.protocols import Client, Engine
from pytest_mtp.core.record import Json
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.engines.generic import Generic
from pytest_mtp.servers.trouble import trouble

_QUESTION = Ask(messages=({"role": "user", "content": "Why is the sky blue?"},), sampling=Sampling(temperature=0.0, max_tokens=1))

_COMMON_TOKEN = "The"  # noqa: S105 (a word, no secret)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What the probes saw; `echoes_prefix` whether a continuation repeats what it continues."""

    capabilities: Capabilities
    echoes_prefix: bool | None
    evidence: tuple[str, ...]

    @property
    def details(self) -> dict[str, Json]:
        """For `ServerFacts.details`."""
        return {} if self.echoes_prefix is None else {"prefill_echo": self.echoes_prefix}


def attempt(client: Client) -> Reply | Fault:
    """One real completion of one token."""
    exchange = client.ask(_QUESTION)
    if exchange.reply:
        return exchange.reply
    assert exchange.fault is not None
    return exchange.fault


def prove_ready(client: Client, *, url: str, model: str, key_sent: bool = False) -> Reply:
    """The reply of one real completion. Raise InfraError with the class of what went wrong."""
    answer = attempt(client)
    if isinstance(answer, Reply):
        return answer
    raise trouble(answer, url=f"{url}/chat/completions", doing=f"asking {model!r} for one token", key_sent=key_sent)


def probe(client: Client, engine: Engine, first: Reply) -> Probed:
    """What the server offers, each by one request of one or two tokens. A refusal is an answer: not offered."""
    asked = dataclasses.replace(_QUESTION, top_logprobs=1)
    told = engine.instrumented(asked)
    spoken = client.ask(told).reply or (client.ask(asked).reply if told != asked else None)
    streamed = client.ask(dataclasses.replace(_QUESTION, stream=True, sampling=dataclasses.replace(_QUESTION.sampling, max_tokens=2))).reply
    continuing, echoes, why = _continues(client, engine, first)
    return Probed(
        capabilities=Capabilities(
            logprobs=bool(spoken and any(token.top for token in spoken.logprobs)),
            token_ids=bool(spoken and (spoken.token_ids or any(token.token_id is not None for token in spoken.logprobs))),
            prefill=continuing,
            usage_in_stream=bool(streamed and streamed.usage and streamed.usage.completion_tokens is not None),
        ),
        echoes_prefix=echoes,
        evidence=why,
    )


def _continues(client: Client, engine: Engine, first: Reply) -> tuple[bool | None, bool | None, tuple[str, ...]]:
    """Whether a final assistant message is continued, judged by its price in tokens and not by the sense of any text.

    The one token that the server itself says first is put into its mouth. A prompt that goes on with it is one token longer;
    one that closes the turn and opens another is longer by the markup of both. Not longer at all: it was dropped, and then
    the first token comes again, or it is not counted.
    """
    adapter = Generic(continues=True) if isinstance(engine, Generic) else engine
    prefix = first.text if first.text.strip() or first.reasoning else _COMMON_TOKEN
    asked = adapter.continuation(_QUESTION, prefix) if prefix else None
    before = first.usage.prompt_tokens if first.usage else None
    if asked is None or before is None:
        return None, None, ("prefill: not tried, since the first reply has no text or no token counts",)
    reply = client.ask(asked).reply
    after = reply.usage.prompt_tokens if reply and reply.usage else None
    if reply is None or after is None:
        return False, None, ("prefill: a final assistant message was refused",)
    grown = after - before
    if grown == 1 or (grown == 0 and reply.text != first.text):
        return True, reply.text.startswith(prefix) and reply.text != prefix, ("prefill: a final assistant message is continued",)
    return False, None, (f"prefill: one token of the assistant's own words made the prompt {grown} tokens longer, not 1",)
