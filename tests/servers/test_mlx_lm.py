"""The mlx-lm adapter against replies recorded from mlx-lm 0.32.2, with a draft model and without."""

from __future__ import annotations

import dataclasses
import json

import pytest

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.errors import InfraError
from pytest_mtp.core.facts import Endpoint, ServerFacts
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.engines.mlx_lm import MlxLm
from pytest_mtp.servers.engines.registry import identify

ASK = Ask(messages=({"role": "user", "content": "Why is the sky blue?"},), sampling=Sampling(max_tokens=24))
FINGERPRINT = "0.32.2-0.32.4-Linux-6.1.0-x86_64-with-glibc2.36-x86_64"
MODELS, CHAT = "GET /v1/models", "POST /v1/chat/completions"


@pytest.fixture
def body(kit):
    def read(name):
        return (kit.recorded / "mlx-lm" / name).read_text(encoding="utf-8")

    return read


@pytest.fixture
def started(kit, body):
    """A server that answers to its own word for its model, and to one name more; `models` is its recorded list."""

    def make(models, *, known=("default_model", "/models/pair/target"), chat="one_token_draft.json"):
        def answer(asked):
            if asked["model"] not in known:
                return kit.Page(status=404, body=body("no_model_draft.json"))
            return (
                kit.Page(body=body("stream_draft.txt"), headers={"Content-Type": "text/event-stream"})
                if asked.get("stream")
                else kit.Page(body=body(chat))
            )

        return kit.serve({MODELS: kit.Page(body=body(models)), CHAT: answer})

    return make


@pytest.fixture
def replied(kit, body):
    def make(name):
        stream = name.endswith("txt")
        page = kit.Page(body=body(name), headers={"Content-Type": "text/event-stream" if stream else "application/json"})
        exchange = kit.client(kit.serve({CHAT: page}).url).ask(dataclasses.replace(ASK, stream=stream))
        assert exchange.reply is not None, exchange.fault
        return exchange.reply

    return make


@pytest.mark.parametrize(
    "fingerprint", [FINGERPRINT, "0.33.0.dev1-0.33.0-macOS-15.1-arm64-arm-64bit-applegpu_g14s"], ids=["linux", "a-mac"]
)
def test_it_signs_each_reply(fingerprint):
    engine, reasons = identify(None, {}, Reply(content="x", system_fingerprint=fingerprint))
    assert engine.name == "mlx-lm"
    assert fingerprint in reasons[0]


@pytest.mark.parametrize("fingerprint", [None, "", "fp_44709d6fcb", "vllm-0.32.0-tp1-3f2a", "b8061-abc-Linux-x", "0.32.2"], ids=repr)
def test_other_fingerprints_are_not_its(fingerprint):
    assert MlxLm().recognise(Reply(content="x", system_fingerprint=fingerprint)) == ()


@pytest.mark.parametrize("models", ["models_draft.json", "models_hub.json"], ids=["empty-body", "what-lies-in-the-hub-cache"])
def test_without_a_name_it_is_asked_for_what_it_was_started_with(kit, started, models):
    stub = started(models)
    facts = kit.attach(stub.url).facts
    assert (facts.engine, facts.engine_version, facts.model) == ("mlx-lm", "0.32.2", "default_model")
    assert {asked["model"] for asked in stub.bodies} == {"default_model"}
    assert any("does not tell what is served" in line for line in facts.evidence)


@pytest.mark.parametrize("models", ["models_draft.json", "models_hub.json"], ids=["empty-body", "what-lies-in-the-hub-cache"])
def test_a_given_name_is_asked_for(kit, started, models):
    stub = started(models)
    assert kit.attach(stub.url, model="/models/pair/target").facts.model == "/models/pair/target"
    assert {asked["model"] for asked in stub.bodies} == {"/models/pair/target"}


@pytest.mark.parametrize("models", ["models_draft.json", "models_hub.json"], ids=["empty-body", "what-lies-in-the-hub-cache"])
def test_a_name_that_it_cannot_load_is_an_error_about_that_name(kit, started, models):
    with pytest.raises(InfraError, match="nobody/nothing"):
        kit.attach(started(models).url, model="nobody/nothing")


def test_another_server_with_an_empty_list_works_with_a_name_and_not_without(kit):
    stub = kit.serve({MODELS: kit.Page(), CHAT: kit.answers})
    with pytest.raises(InfraError, match="an empty body"):
        kit.attach(stub.url)
    assert kit.attach(stub.url, model="m").facts.model == "m"


def test_an_unsigned_list_of_another_python_server_counts(kit):
    """It looks like mlx-lm's; its reply says that it is not, and then its list has to be believed."""
    stub = kit.serve({MODELS: kit.page({"data": [{"id": "m"}]}), CHAT: kit.answers})
    facts = kit.attach(stub.url).facts
    assert (facts.engine, facts.model) == ("generic", "m")


def test_it_says_what_it_does_not_offer(kit, started):
    facts = kit.attach(started("models_draft.json").url).facts
    assert facts.speculation.state == "unknown"
    offered = facts.capabilities
    assert (offered.metrics, offered.request_acceptance, offered.structured, offered.switch_off) == (False, False, False, True)
    named = {line.split(":")[0] for line in facts.not_offered}
    assert named >= {"draft counts", "logprobs in streams", "tool_choice", "response_format"}


def test_a_reply_has_no_draft_counts(replied):
    assert MlxLm().acceptance_of(replied("chat_draft.json")) is None


def test_a_reply_has_logprobs_and_token_ids_and_a_stream_has_none(replied):
    spoken = replied("logprobs_draft.json").logprobs
    assert all(token.logprob < 0 and token.token_id is not None and token.top for token in spoken)
    streamed = replied("logprobs_stream_draft.txt")
    assert streamed.logprobs == ()
    assert streamed.usage.completion_tokens == 3


def test_its_streams_are_read_as_they_are(replied, body):
    """A role in each event, comments between events, usage under the wrong object."""
    for name in ("stream_draft.txt", "stream_plain.txt"):
        reply = replied(name)
        assert reply.finish_reason == "length"
        assert reply.usage.completion_tokens == 6
        assert reply.system_fingerprint == FINGERPRINT
    assert body("stream_plain.txt").startswith(": keepalive")


def test_one_request_can_do_without_drafts(body):
    asked = MlxLm().unspeculated(dataclasses.replace(ASK, extra_body={"seed": 1}))
    assert asked.extra_body == {"seed": 1, "num_draft_tokens": 0}
    assert json.loads(body("off_draft.json"))["usage"]["completion_tokens"] == 24


def test_a_message_cannot_be_continued(body):
    assert MlxLm().continuation(ASK, "The sky") is None
    assert "not compatible" in json.loads(body("continued_draft.json"))["error"]


def test_a_version_that_is_not_signed_is_not_known():
    endpoint = Endpoint(root="http://h:1", api_root="http://h:1/v1", model="m")
    assert MlxLm().facts(None, ServerFacts(endpoint=endpoint, engine="mlx-lm", model="m")).engine_version is None


def test_a_command_line_with_a_draft_model():
    told = MlxLm().read_command(("python", "-m", "mlx_lm", "server", "--model", "/m", "--draft-model", "/d", "--num-draft-tokens", "5"), {})
    assert (told.model_path, told.drafter_path, told.served_names) == ("/m", "/d", ("default_model", "/m"))
    assert (told.speculation.state, told.speculation.depth, told.sequences) == ("unknown", 5, 1)


def test_a_command_line_without_a_draft_model():
    told = MlxLm().read_command(("/env/bin/python", "/env/bin/mlx_lm.server", "--model", "/m", "--decode-concurrency", "8"), {})
    assert (told.drafter_path, told.speculation.state, told.speculation.depth, told.sequences) == (None, "inactive", None, 8)


def test_another_program_is_not_its():
    assert MlxLm().read_command(("python", "-m", "mlx_vlm.server", "--model", "m"), {}) is None
