"""The adapter of transformers serve against replies recorded from 5.24.0 with a tiny GLM-4.5."""

from __future__ import annotations

import json

import pytest

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.servers.engines.registry import engine_of
from pytest_mtp.servers.engines.transformers import Transformers

MODEL = "/models/tiny-glm4moe-mtp"
ASK = Ask(messages=({"role": "user", "content": "Name three colors."},), sampling=Sampling(max_tokens=16))


@pytest.fixture
def recorded(kit):
    def read(name):
        return (kit.recorded / "transformers" / name).read_text(encoding="utf-8")

    return read


@pytest.fixture
def server(kit, recorded):
    """Answers as the real one did, by what is asked for."""

    def chat(body):
        if set(body) - {"model", "messages", "max_tokens", "temperature", "stream", "stream_options", "logprobs", "top_logprobs"}:
            return kit.Page(status=422, body=recorded("unknown_field.json"))
        if body["model"] != MODEL:
            return kit.Page(status=400, body=recorded("pinned.json"))
        if body.get("stream"):
            return kit.Page(body=recorded("stream.txt"), headers={"Content-Type": "text/event-stream; charset=utf-8"})
        one = "chat_prefilled.json" if body["messages"][-1]["role"] == "assistant" else "chat_one_token.json"
        return kit.Page(body=recorded(one if body["max_tokens"] == 1 else "chat.json"))

    pages = {
        f"GET {path}": kit.Page(body=recorded(name)) for path, name in (("/v1/models", "models.json"), ("/openapi.json", "openapi.json"))
    }
    return kit.serve({**pages, "POST /v1/chat/completions": chat})


def answered(kit, recorded, name, ask=ASK, *, status=200):
    kind = "text/event-stream" if name.startswith("stream") else "application/json" if name.endswith("json") else "text/plain"
    page = kit.Page(status=status, body=recorded(name), headers={"Content-Type": kind})
    return kit.client(kit.serve({"POST /v1/chat/completions": page}).url).ask(ask)


def test_it_is_known_by_its_paths_and_says_what_it_does_not_offer(kit, server):
    facts = kit.attach(server.url).facts
    assert (facts.engine, facts.model, facts.models) == ("transformers", MODEL, (MODEL,))
    assert any("/load_model and /reset" in line for line in facts.evidence)
    seen = facts.capabilities
    assert (seen.logprobs, seen.token_ids, seen.metrics, seen.prefill, seen.usage_in_stream) == (False, False, False, None, True)
    assert (seen.structured, seen.cache_proof, seen.request_acceptance, seen.switch_off) == (False, False, False, True)
    assert (facts.speculation.state, facts.sequences) == ("unknown", None)
    assert {"draft counts", "logprobs and token ids", "the end of a stream", "forced tool calls"} <= {
        line.split(":")[0] for line in facts.not_offered
    }
    assert engine_of(facts) == Transformers()


@pytest.mark.parametrize(
    "models",
    [
        pytest.param({"data": [{"id": "m", "owned_by": "local"}]}, id="no-states"),
        pytest.param({"data": [{"id": "m", "status": "loaded"}]}, id="a-state-of-another-shape"),
    ],
)
def test_another_list_of_models_costs_no_request(kit, server, models):
    assert Transformers().identify(kit.client(server.url), models) == ()
    assert server.asked == []


@pytest.mark.parametrize("models", [{}, {"data": []}, {"data": [{"id": "m", "status": {"value": "loaded"}}]}], ids=str)
def test_the_paths_decide(kit, server, models):
    assert Transformers().identify(kit.client(server.url), models)
    assert Transformers().identify(kit.client(kit.serve({}).url), models) == ()
    other = {"GET /openapi.json": kit.page({"paths": {"/v1/models": {}, "/reset": {}}})}
    assert Transformers().identify(kit.client(kit.serve(other).url), models) == ()


def test_a_stream_ends_without_done_and_that_is_a_note(kit, recorded):
    reply = answered(kit, recorded, "stream.txt", Ask(messages=ASK.messages, sampling=ASK.sampling, stream=True)).reply
    assert [note.code for note in reply.notes] == ["PROTO.done"]
    assert (reply.finish_reason, reply.usage.completion_tokens) == ("length", 16)
    assert reply.text == answered(kit, recorded, "chat.json").reply.text


def test_a_stream_under_speculation_counts_verify_steps_as_tokens(kit, recorded):
    """So does 5.24.0: the text is that of 16 tokens, sent in 9 steps, and the reason is not that of its end."""
    reply = answered(kit, recorded, "stream_mtp.txt", Ask(messages=ASK.messages, sampling=ASK.sampling, stream=True)).reply
    unary = answered(kit, recorded, "chat_mtp.json").reply
    assert reply.text == unary.text == answered(kit, recorded, "chat.json").reply.text
    assert (reply.usage.completion_tokens, reply.finish_reason) == (9, "stop")
    assert (unary.usage.completion_tokens, unary.finish_reason) == (16, "length")


@pytest.mark.parametrize(
    ("name", "status", "kind", "code"),
    [
        pytest.param("unknown_field.json", 422, "refused", "PROTO.refused", id="unknown-field"),
        pytest.param("crash.txt", 500, "server_error", "INFRA.5xx", id="plain-text"),
        pytest.param("no_messages.txt", 500, "server_error", "INFRA.5xx", id="no-messages"),
        pytest.param("stream_crash.txt", 200, "server_error", "INFRA.5xx", id="inside-a-stream"),
    ],
)
def test_its_refusals_are_faults_with_its_own_words(kit, recorded, name, status, kind, code):
    ask = Ask(messages=ASK.messages, sampling=ASK.sampling, stream=name.startswith("stream"))
    fault = answered(kit, recorded, name, ask, status=status).fault
    assert (fault.kind, fault.code) == (kind, code)


def config_of(ask):
    return json.loads(Transformers().unspeculated(ask).extra_body["generation_config"])


def test_speculation_is_switched_off_in_the_generation_config_of_a_request():
    assert config_of(ASK) == {"use_mtp": False}
    asked = Ask(
        messages=ASK.messages, sampling=ASK.sampling, extra_body={"generation_config": '{"use_mtp": true, "eos_token_id": 2}', "seed": 1}
    )
    plain = Transformers().unspeculated(asked)
    assert json.loads(plain.extra_body["generation_config"]) == {"use_mtp": False, "eos_token_id": 2}
    assert plain.extra_body["seed"] == 1
    lookup = Ask(messages=ASK.messages, sampling=ASK.sampling, extra_body={"generation_config": '{"prompt_lookup_num_tokens": 3}'})
    assert config_of(lookup) == {"use_mtp": False}


def test_the_budget_is_kept_where_the_ask_names_none():
    unbounded = Ask(messages=ASK.messages)
    assert config_of(unbounded) == {"use_mtp": False, "max_new_tokens": 1024}
    own = Ask(messages=ASK.messages, extra_body={"generation_config": '{"max_new_tokens": 5}'})
    assert config_of(own) == {"use_mtp": False, "max_new_tokens": 5}
    assert config_of(Ask(messages=ASK.messages, extra_body={"max_completion_tokens": 7})) == {"use_mtp": False}


@pytest.mark.parametrize("said", ["{", "[]", {"use_mtp": True}], ids=str)
def test_a_generation_config_that_cannot_be_read_is_left_alone(said):
    assert Transformers().unspeculated(Ask(messages=ASK.messages, extra_body={"generation_config": said})) is None


@pytest.mark.parametrize(
    ("command", "model", "sequences"),
    [
        pytest.param(["/venv/bin/python", "/venv/bin/transformers", "serve", "/models/m", "--port", "1"], "/models/m", 1, id="script"),
        pytest.param(["python", "-m", "transformers.cli.transformers", "serve", "--device", "cpu", "m"], "m", 1, id="module"),
        pytest.param(["transformers", "serve", "--continuous-batching", "m", "--dtype=auto"], "m", None, id="batching"),
        pytest.param(["transformers", "serve", "--port=1"], None, 1, id="any-model"),
        pytest.param(["transformers", "serve", "--no-compile", "m"], "m", 1, id="a-switch-that-is-off"),
    ],
)
def test_a_command_line_says_what_is_served(command, model, sequences):
    said = Transformers().read_command(command, {})
    assert (said.model_path, said.served_names, said.sequences) == (model, (model,) if model else (), sequences)
    assert (said.speculation.state, said.drafter_path) == ("unknown", None)


@pytest.mark.parametrize("command", [[], ["transformers", "chat", "m"], ["vllm", "serve", "m"]], ids=str)
def test_another_program_is_not_read(command):
    assert Transformers().read_command(command, {}) is None
