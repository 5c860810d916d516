"""The LM Studio adapter against the documented shapes of its pages and replies."""

from __future__ import annotations

import json

import pytest

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.facts import Acceptance, Endpoint, ServerFacts
from pytest_mtp.core.reply import Reply, Usage
from pytest_mtp.servers.engines.lmstudio import LMStudio
from pytest_mtp.servers.engines.registry import engine_of, identify

ASK = Ask(messages=({"role": "user", "content": "Why is the sky blue?"},), sampling=Sampling(max_tokens=30))
JUNK = ["soon", float("nan"), float("inf"), -3, True, 2.5, 10**400, [], [[]], {}, {"config": 3}, None]


@pytest.fixture
def recorded(kit):
    def read(name):
        return (kit.recorded / "lmstudio" / name).read_text(encoding="utf-8")

    return read


@pytest.fixture
def client_of(kit, recorded):
    """A client of a server that answers as told, and 200 with an error to every other GET."""

    def make(*, v0=None, v1=None, chat=None):
        unknown = kit.Page(body=recorded("unknown_page.json"))
        paths = ("/props", "/slots", "/server_info", "/get_server_info", "/version", "/metrics", "/prometheus/metrics", "/api/version", "/")
        routes = {f"GET {path}": unknown for path in paths}
        for path, page in {"/api/v0/models": v0, "/api/v1/models": v1}.items():
            body = recorded(page) if isinstance(page, str) else json.dumps(page)
            routes[f"GET {path}"] = unknown if page is None else kit.Page(body=body)
        if chat:
            kind = "application/json" if chat.endswith("json") else "text/event-stream"
            routes["POST /v1/chat/completions"] = kit.Page(body=recorded(chat), headers={"Content-Type": kind})
        return kit.client(kit.serve(routes).url)

    return make


def bare_facts(model="small-1b"):
    endpoint = Endpoint(root="http://h:1", api_root="http://h:1/v1", model=model)
    return ServerFacts(endpoint=endpoint, engine="lmstudio", model=model, concurrency=4)


@pytest.mark.parametrize(
    ("pages", "word"),
    [
        ({"v0": "api_v0_models.json", "v1": "api_v1_models.json"}, "compatibility_type"),
        ({"v1": "api_v1_models.json"}, "loaded_instances"),
    ],
    ids=["v0", "v1-alone"],
)
def test_it_is_known_by_its_own_lists_of_models(client_of, recorded, pages, word):
    engine, reasons = identify(client_of(**pages), json.loads(recorded("models.json")))
    assert engine.name == "lmstudio"
    assert word in reasons[0]


def test_below_its_own_api_the_list_says_it(client_of, recorded):
    assert identify(client_of(), json.loads(recorded("api_v0_models.json")))[0].name == "lmstudio"


def test_its_signature_alone_is_no_name(client_of, recorded):
    assert LMStudio().identify(client_of(), json.loads(recorded("models.json"))) == ()


def test_it_tells_width_and_context_of_the_loaded_instance(client_of):
    facts = LMStudio().facts(client_of(v0="api_v0_models.json", v1="api_v1_models.json"), bare_facts())
    assert (facts.sequences, facts.context_length, facts.concurrency) == (4, 4096, 4)
    assert facts.capabilities.tools is True
    assert facts.details["quantization"] == "Q4_K_M"
    assert facts.details["format"] == "gguf"
    assert facts.speculation.state == "unknown"
    assert [line.partition(":")[0] for line in facts.not_offered] == ["server counters", "verify steps", "configured speculation"]
    assert engine_of(facts) == LMStudio()


def test_an_older_release_tells_its_context_alone(client_of):
    facts = LMStudio().facts(client_of(v0="api_v0_models.json"), bare_facts())
    assert (facts.sequences, facts.context_length, facts.details["quantization"]) == (None, 4096, "Q4_K_M")


def test_the_longest_context_of_a_model_that_is_not_loaded_is_not_its_context(client_of):
    facts = LMStudio().facts(client_of(v0="api_v0_models.json", v1="api_v1_models.json"), bare_facts("tiny-draft"))
    assert (facts.sequences, facts.context_length) == (None, None)


def test_of_two_instances_only_the_named_one_tells(client_of, recorded):
    listed = json.loads(recorded("api_v1_models.json"))
    instances = listed["models"][0]["loaded_instances"]
    instances.append({"id": "small-1b:2", "config": {"context_length": 2048, "parallel": 1}})
    assert LMStudio().facts(client_of(v1=listed), bare_facts("small-1b:2")).sequences == 1
    instances[0]["id"] = "another"
    assert LMStudio().facts(client_of(v1=listed), bare_facts("small-1b")).sequences is None


@pytest.mark.parametrize("value", JUNK, ids=lambda value: repr(value)[:12])
def test_pages_of_another_shape_are_survived(client_of, value):
    entry = {"key": "small-1b", "id": "small-1b", "loaded_instances": value, "quantization": value, "capabilities": value}
    entry |= {"loaded_context_length": value if value not in (2.5, 10**400) else None}
    for page in ({"models": [entry], "data": [entry]}, {"models": value, "data": value}, [value]):
        facts = LMStudio().facts(client_of(v0=page, v1=page), bare_facts())
        assert (facts.sequences, facts.context_length) == (None, None)


@pytest.mark.parametrize(
    ("chat", "expected"),
    [
        ("chat_drafted.json", Acceptance(drafted=25, accepted=17, source="stats.accepted_draft_tokens_count")),
        ("stream_drafted.txt", Acceptance(drafted=25, accepted=17, source="stats.accepted_draft_tokens_count")),
        ("chat_v0_usage.json", Acceptance(drafted=25, accepted=17, source="usage.accepted_draft_tokens_count")),
        ("chat_plain.json", None),
    ],
)
def test_a_reply_tells_its_drafts(client_of, chat, expected):
    reply = client_of(chat=chat).ask(Ask(messages=ASK.messages, stream=chat.endswith("txt"))).reply
    assert LMStudio().acceptance_of(reply) == expected


def test_the_rate_is_not_the_share_of_output_that_its_interface_shows(client_of):
    reply = client_of(chat="chat_drafted.json").ask(ASK).reply
    counted = LMStudio().acceptance_of(reply)
    assert counted.rate == 17 / 25  # ignored drafts were never verified
    assert counted.rate != counted.accepted / reply.usage.completion_tokens
    assert counted.effective_length(reply.usage.completion_tokens) == 30 / 13
    assert counted.mean_length is None


@pytest.mark.parametrize(
    ("stats", "drafted"),
    [
        ({"accepted": 4, "total": 10}, 10),
        ({"accepted": 4, "total": 10, "ignored": 3}, 7),
        ({"accepted": 4, "rejected": 2}, 6),
        ({"accepted": 0, "total": 0, "rejected": 0, "ignored": 0}, 0),
        ({"accepted": 4}, None),
        ({"total": 10}, None),
    ],
    ids=str,
)
def test_drafted_are_those_that_the_model_saw(stats, drafted):
    told = {f"{name}_draft_tokens_count": value for name, value in stats.items()}
    counted = LMStudio().acceptance_of(Reply(content="x", extras={"stats": told}))
    assert (None if counted is None else counted.drafted) == drafted


@pytest.mark.parametrize("value", JUNK, ids=lambda value: repr(value)[:12])
def test_counts_of_another_shape_offer_nothing(value):
    told = dict.fromkeys(("accepted_draft_tokens_count", "total_draft_tokens_count"), value)
    assert LMStudio().acceptance_of(Reply(content="x", usage=Usage(), extras={"stats": told, "usage": value})) is None


def test_a_draft_model_of_the_ask_can_be_left_out():
    ask = Ask(messages=ASK.messages, extra_body={"draft_model": "tiny-draft", "ttl": 60})
    assert LMStudio().unspeculated(ask).extra_body == {"ttl": 60}
    assert LMStudio().unspeculated(ASK) is None
    assert LMStudio().instrumented(ask) == ask
    assert LMStudio().continuation(ask, "The sky") is None
