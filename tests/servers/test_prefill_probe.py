"""Whether a server continues a final assistant message, judged by the price of one token."""

from __future__ import annotations

import pytest

from pytest_mtp.core.ask import Ask
from pytest_mtp.servers.engines.registry import engine_of

MODELS, CHAT = "GET /v1/models", "POST /v1/chat/completions"
BASE = 12


def server(kit, *, grown, after=" scatters", echo=False, refuse=False, first="Light", **more):
    def chat(body):
        if body.get("stream") or body.get("logprobs"):
            return kit.answers(body)
        if body["messages"][-1]["role"] != "assistant":
            return kit.page(kit.completion(first, prompt_tokens=BASE, **more))
        if refuse:
            return kit.page({"error": {"message": "the last message must be the user's"}}, 400)
        said = body["messages"][-1]["content"] + after if echo else after
        return kit.page(kit.completion(said, prompt_tokens=BASE + grown, **more))

    return kit.serve({MODELS: kit.models("m"), CHAT: chat})


@pytest.mark.parametrize("echo", [True, False], ids=["echo", "rest-alone"])
def test_one_token_longer_is_a_continuation(kit, echo):
    facts = kit.attach(server(kit, grown=1, echo=echo).url).facts
    assert facts.capabilities.prefill is True
    assert facts.details["prefill_echo"] is echo


def test_the_markup_of_two_turns_is_not(kit):
    facts = kit.attach(server(kit, grown=6).url).facts
    assert facts.capabilities.prefill is False
    assert any("6 tokens longer, not 1" in line for line in facts.evidence)


def test_a_message_that_was_dropped_is_not(kit):
    assert kit.attach(server(kit, grown=0, after="Light").url).facts.capabilities.prefill is False


def test_a_prefix_that_is_not_counted_shows_in_the_text(kit):
    assert kit.attach(server(kit, grown=0).url).facts.capabilities.prefill is True


def test_a_refusal_is_not(kit):
    assert kit.attach(server(kit, grown=1, refuse=True).url).facts.capabilities.prefill is False


def test_without_token_counts_it_is_not_tried(kit):
    assert kit.attach(server(kit, grown=1, usage=None).url).facts.capabilities.prefill is None


def test_an_answer_that_starts_with_a_blank_is_probed_with_a_common_word(kit):
    stub = server(kit, grown=1, first="\n\n")
    assert kit.attach(stub.url).facts.capabilities.prefill is True
    assert [body["messages"][-1]["content"] for body in stub.bodies if body["messages"][-1]["role"] == "assistant"] == ["The"]


def test_a_server_that_continues_is_continued_in_the_way_that_was_probed(kit):
    stub = server(kit, grown=1)
    attached = kit.attach(stub.url)
    ask = Ask(messages=({"role": "user", "content": "Hi"},), extra_body={"top_k": 1})
    more = attached.engine.continuation(ask, "Hel")
    assert more.messages[-1] == {"role": "assistant", "content": "Hel"}
    assert more.extra_body == {"top_k": 1, "continue_final_message": True, "add_generation_prompt": False}
    probed = next(body for body in stub.bodies if body["messages"][-1]["role"] == "assistant")
    assert (probed["continue_final_message"], probed["add_generation_prompt"]) == (True, False)


def test_a_server_that_does_not_is_not_continued(kit):
    attached = kit.attach(server(kit, grown=6).url)
    assert attached.engine.continuation(Ask(messages=({"role": "user", "content": "Hi"},)), "Hel") is None
    assert engine_of(attached.facts).acceptance_of(attached.client.ask(Ask(messages=({"role": "user", "content": "Hi"},))).reply) is None
