"""The llama.cpp adapter against replies recorded from the real server (xllamacpp 2026.10.11549, the demo model)."""

from __future__ import annotations

import json

import pytest

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.facts import Acceptance, Endpoint, Load, ServerFacts, SpecDecode
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.engines.llamacpp import LlamaCpp
from pytest_mtp.servers.engines.registry import engine_of, identify

ASK = Ask(messages=({"role": "user", "content": "Why is the sky blue?"},), sampling=Sampling(max_tokens=24))


@pytest.fixture
def recorded(kit):
    def read(name):
        return (kit.recorded / "llamacpp" / name).read_text(encoding="utf-8")

    return read


@pytest.fixture
def client_of(kit, recorded):
    """A client of a server that answers GETs with recordings, and POSTs with one."""

    def make(*, chat=None, **pages):
        names = {"models": "GET /v1/models", "props": "GET /props", "slots": "GET /slots", "metrics": "GET /metrics"}
        routes = {}
        for key, name in pages.items():
            body = recorded(name) if isinstance(name, str) else json.dumps(name)
            routes[names[key]] = kit.Page(body=body, headers={"Content-Type": "application/json"})
        if chat:
            kind = "application/json" if chat.endswith("json") else "text/event-stream"
            routes["POST /v1/chat/completions"] = kit.Page(body=recorded(chat), headers={"Content-Type": kind})
        return kit.client(kit.serve(routes).url)

    return make


def bare_facts():
    endpoint = Endpoint(root="http://h:1", api_root="http://h:1/v1", model="m")
    return ServerFacts(endpoint=endpoint, engine="llamacpp", model="m", concurrency=4)


def test_it_signs_under_models(client_of, recorded):
    engine, reasons = identify(client_of(), json.loads(recorded("models.json")))
    assert (engine.name, reasons) == ("llamacpp", ("/v1/models: owned_by is 'llamacpp'",))


def test_behind_a_proxy_it_is_known_by_its_props(client_of):
    engine, reasons = identify(client_of(props="props.json"), {"data": [{"id": "m", "owned_by": "our-proxy"}]})
    assert engine.name == "llamacpp"
    assert "/props" in reasons[0]


def test_another_server_is_not_taken_for_it(client_of):
    engine, reasons = identify(client_of(), {"data": [{"id": "m", "owned_by": "somebody"}]})
    assert engine.name == "generic"
    assert "'somebody', for which there is no adapter" in reasons[0]


def test_it_tells_slots_context_and_model_file(client_of):
    facts = LlamaCpp().facts(client_of(props="props.json", slots="slots_on.json"), bare_facts())
    assert (facts.concurrency, facts.context_length) == (2, 4096)
    assert facts.details["model_path"] == "models/smollm2-135m-instruct-mtp.gguf"
    assert facts.details["slots"] == 2
    assert facts.capabilities.tools is True


def test_a_build_that_is_unknown_is_no_version(client_of):
    facts = LlamaCpp().facts(client_of(props="props.json"), bare_facts())
    assert facts.details["build_info"] == "b0-unknown"
    assert facts.engine_version is None


def test_a_real_build_is_its_version(client_of, recorded):
    props = {**json.loads(recorded("props.json")), "build_info": "b10434-0123abc"}
    assert LlamaCpp().facts(client_of(props=props), bare_facts()).engine_version == "b10434-0123abc"


def test_slots_say_whether_it_is_configured_to_speculate_and_that_proves_nothing(client_of):
    spec = LlamaCpp().facts(client_of(props="props.json", slots="slots_on.json"), bare_facts()).speculation
    assert (spec.state, spec.method, spec.depth, spec.acceptance) == ("unknown", "draft-mtp", None, None)
    assert "not yet proven" in spec.evidence[0]


def test_slots_say_when_it_does_not_speculate(client_of):
    facts = LlamaCpp().facts(client_of(props="props.json", slots="slots_off.json"), bare_facts())
    assert (facts.speculation.state, facts.speculation.method) == ("inactive", None)
    assert engine_of(facts) == LlamaCpp(speculates=False)


def test_before_the_first_request_the_method_is_not_known(client_of):
    fresh = [{"id": 0, "n_ctx": 2048, "speculative": True, "is_processing": False}]
    spec = LlamaCpp().facts(client_of(slots=fresh), bare_facts()).speculation
    assert (spec.state, spec.method) == ("unknown", None)


def test_props_are_not_believed_about_speculation(client_of, recorded):
    props = json.loads(recorded("props.json"))
    assert props["default_generation_settings"]["params"]["speculative.types"] == "none"  # recorded with MTP on
    facts = LlamaCpp().facts(client_of(props="props.json"), bare_facts())
    assert facts.speculation.state == "unknown"
    assert engine_of(facts) == LlamaCpp(speculates=None)


def test_counters_are_read_from_metrics(client_of):
    counted = LlamaCpp().counters(client_of(metrics="metrics_after_on.txt")).acceptance
    assert counted == Acceptance(drafted=83, accepted=36, rounds=30, per_position=(16, 13, 7), source="/metrics")


def test_counters_exist_before_the_first_draft(client_of):
    counted = LlamaCpp().counters(client_of(metrics="metrics_before_on.txt")).acceptance
    assert counted == Acceptance(drafted=0, accepted=0, rounds=0, source="/metrics")


def test_counters_are_none_where_metrics_are_off(client_of):
    assert LlamaCpp().counters(client_of()) is None


@pytest.mark.parametrize(("chat", "stream"), [("chat_on.json", False), ("stream_on.txt", True)], ids=["unary", "stream"])
def test_a_reply_tells_its_drafts(client_of, recorded, chat, stream):
    body = recorded(chat)
    exchange = client_of(chat=chat).ask(Ask(messages=ASK.messages, sampling=ASK.sampling, stream=stream))
    counted = LlamaCpp(speculates=True).acceptance_of(exchange.reply)
    assert counted.drafted > counted.accepted > 0
    assert f'"draft_n":{counted.drafted}' in body.replace(" ", "")


@pytest.mark.parametrize(
    ("chat", "speculates", "expected"),
    [
        pytest.param("chat_one_token.json", True, 0, id="nothing-drafted"),
        pytest.param("chat_one_token.json", None, None, id="not-known-to-speculate"),
        pytest.param("chat_off.json", False, None, id="speculation-off"),
    ],
)
def test_absent_draft_counts_mean_zero_only_where_the_server_speculates(client_of, chat, speculates, expected):
    reply = client_of(chat=chat).ask(ASK).reply
    counted = LlamaCpp(speculates=speculates).acceptance_of(reply)
    assert (None if counted is None else counted.drafted) == expected


def test_a_reply_without_timings_offers_nothing():
    assert LlamaCpp(speculates=True).acceptance_of(Reply(content="x")) is None


@pytest.mark.parametrize("timings", ["soon", {"draft_n": "many"}, {"draft_n": True}, {"draft_n": -1}, None], ids=repr)
def test_timings_of_another_shape_offer_nothing(timings):
    assert LlamaCpp().acceptance_of(Reply(content="x", extras={"timings": timings})) is None


def test_a_continuation_ends_in_the_assistant_s_own_words():
    more = LlamaCpp().continuation(ASK, "The sky is")
    assert more.messages == (*ASK.messages, {"role": "assistant", "content": "The sky is"})
    assert more.extra_body == {}


def test_an_empty_prefix_changes_nothing():
    assert LlamaCpp().continuation(ASK, "") == ASK


def test_an_ask_that_already_ends_in_the_assistant_cannot_be_continued():
    ask = Ask(messages=(*ASK.messages, {"role": "assistant", "content": "So"}))
    assert LlamaCpp().continuation(ask, "the sky") is None


def test_a_continued_reply_repeats_its_prefix(client_of):
    reply = client_of(chat="chat_continued.json").ask(ASK).reply
    assert reply.text == "The sky is blue because of"
    assert "".join(entry.token for entry in reply.logprobs) == " blue because of"


MTP = ("--spec-type", "draft-mtp", "--spec-draft-n-max", "3")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(
            MTP,
            SpecDecode(method="draft-mtp", depth=3, evidence=("command line: --spec-type draft-mtp, at most 3 drafts a step",)),
            id="mtp",
        ),
        pytest.param(
            ("--spec-type=ngram-mod", "--spec-ngram-mod-n-max=8"),
            SpecDecode(method="ngram-mod", depth=8, evidence=("command line: --spec-type ngram-mod, at most 8 drafts a step",)),
            id="ngram",
        ),
        pytest.param(
            ("-md", "d.gguf"), SpecDecode(evidence=("command line: a draft model without --spec-type",)), id="a-draft-model-is-enough"
        ),
        pytest.param((), SpecDecode(state="inactive", evidence=("command line: neither --spec-type nor a draft model",)), id="off"),
        pytest.param(
            ("--spec-type", "none", "-md", "d.gguf"), SpecDecode(state="inactive", evidence=("command line: --spec-type none",)), id="none"
        ),
        pytest.param(
            ("--spec-type", "draft-mtp", "--spec-synth-rates", "0.7"),
            SpecDecode(
                method="draft-mtp",
                evidence=(
                    "command line: --spec-type draft-mtp",
                    "command line: synthetic acceptance (--spec-synth-rates): its text is wrong on purpose",
                ),
            ),
            id="synthetic",
        ),
    ],
)
def test_a_command_line_says_how_speculation_is_configured(words, expected):
    assert LlamaCpp().read_command(["/opt/bin/llama-server", "-m", "m.gguf", *words], {}).speculation == expected


def test_a_command_line_says_what_is_loaded_and_under_which_names():
    command = ["llama-server", "--model", "/models/m.gguf", "-md", "/models/d.gguf", "-a", "x,y", "-np", "4", "--mlock", "--api-key", "k"]
    said = LlamaCpp().read_command(command, {})
    assert (said.model_path, said.drafter_path, said.served_names, said.sequences) == ("/models/m.gguf", "/models/d.gguf", ("x", "y"), 4)
    assert (said.pid, said.command) == (0, ())


def test_our_own_program_is_read_alike_and_runs_one_sequence_unless_told():
    child = ["/usr/bin/python3", "-m", "pytest_mtp.servers.llamacpp.child"]
    assert LlamaCpp().read_command([*child, "--model=m.gguf"], {}).sequences == 1
    assert LlamaCpp().read_command([*child, "--extra", "-m m.gguf -np 3"], {}).sequences == 3
    assert LlamaCpp().read_command(["llama-server", "--model=m.gguf"], {}).sequences is None
    assert LlamaCpp().read_command(["llama-server"], {"LLAMA_ARG_MODEL": "m.gguf"}).model_path == "m.gguf"


@pytest.mark.parametrize(
    "command", [[], ["vllm", "serve", "m"], ["python", "-m", "mlx_lm.server", "--model", "llama-server-notes"]], ids=str
)
def test_another_program_is_not_read(command):
    assert LlamaCpp().read_command(command, {}) is None


def test_what_it_does_not_offer_is_named(client_of):
    speculating = LlamaCpp().facts(client_of(props="props.json", slots="slots_on.json", metrics="metrics_after_on.txt"), bare_facts())
    assert [line.split(":")[0] for line in speculating.not_offered] == [
        "draft rounds of one reply",
        "logprobs under speculation",
        "speculation off for one request",
    ]
    plain = LlamaCpp().facts(client_of(props="props.json", slots="slots_off.json"), bare_facts())
    assert plain.not_offered == ("counters of the whole server: /metrics is off; start it with --metrics",)
    seen = speculating.capabilities
    assert (seen.structured, seen.cache_proof, seen.switch_off) == (True, True, False)


def test_load_is_that_of_the_metrics_else_of_the_slots(client_of):
    busy = [{"id": 0, "is_processing": True}, {"id": 1, "is_processing": False}]
    assert LlamaCpp().load(client_of(slots=busy)) == Load(running=1, source="/slots")
    assert LlamaCpp().load(client_of(slots=busy, metrics="metrics_after_on.txt")) == Load(running=0, waiting=0, source="/metrics")
    assert LlamaCpp().load(client_of()) is None
