"""The Ollama adapter against the shapes in its source."""

from __future__ import annotations

import json

import pytest

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.facts import Endpoint, ProcessFacts, ServerFacts
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.engines.ollama import Ollama
from pytest_mtp.servers.engines.registry import engine_of, identify

ASK = Ask(messages=({"role": "user", "content": "Why is the sky blue?"},))
PAGES = {"/": "root.txt", "/api/version": "api_version.json", "/api/ps": "api_ps.json"}


@pytest.fixture
def recorded(kit):
    def read(name):
        return (kit.recorded / "ollama" / name).read_text(encoding="utf-8")

    return read


@pytest.fixture
def client_of(kit, recorded):
    def make(pages=None, *, chat=None):
        routes = {}
        for path, page in (pages or {}).items():
            routes[f"GET {path}"] = kit.Page(body=recorded(page) if isinstance(page, str) else json.dumps(page))
        if chat:
            routes["POST /v1/chat/completions"] = kit.Page(body=recorded(chat))
        return kit.client(kit.serve(routes).url)

    return make


def bare_facts(model="small"):
    endpoint = Endpoint(root="http://h:1", api_root="http://h:1/v1", model=model)
    return ServerFacts(endpoint=endpoint, engine="ollama", model=model, concurrency=4)


def test_it_is_known_by_the_fingerprint_of_a_reply(client_of):
    client = client_of(chat="chat.json")
    engine, reasons = identify(client, {}, client.ask(ASK).reply)
    assert (engine.name, reasons) == ("ollama", ("system_fingerprint is 'fp_ollama'",))


def test_it_is_known_by_its_pages(client_of, recorded):
    listed = json.loads(recorded("models.json"))
    assert "/api/version" in identify(client_of({"/api/version": "api_version.json"}), listed)[1][0]
    assert identify(client_of({"/": "root.txt"}), {"data": []}) == (Ollama(), ("/ says that Ollama is running",))


@pytest.mark.parametrize("listed", [{}, {"data": [{"id": "m", "owned_by": "library"}]}], ids=["no-owner", "owner-alone"])
def test_its_owner_alone_is_no_name(client_of, listed):
    assert Ollama().identify(client_of({"/": {"message": "Ollama is running elsewhere"}}), listed) == ()
    assert Ollama().recognise(Reply(content="x", system_fingerprint="fp_1")) == ()


@pytest.mark.parametrize("name", ["small", "small:latest"])
def test_it_tells_version_context_and_quantization(client_of, name):
    facts = Ollama().facts(client_of(PAGES), bare_facts(name))
    assert (facts.engine_version, facts.context_length, facts.sequences) == ("0.31.2", 4096, None)
    assert facts.details["quantization_level"] == "Q4_K_M"
    assert facts.speculation.state == "unknown"
    assert engine_of(facts) == Ollama()


def test_it_says_what_it_does_not_offer(client_of):
    facts = Ollama().facts(client_of(PAGES), bare_facts())
    assert [line.partition(":")[0] for line in facts.not_offered] == [
        "acceptance",
        "server counters",
        "speculation off for a single request",
        "cached prompt tokens",
    ]
    assert (facts.capabilities.request_acceptance, facts.capabilities.switch_off) == (False, False)
    client = client_of(PAGES, chat="chat.json")
    assert Ollama().acceptance_of(client.ask(ASK).reply) is None
    assert Ollama().counters(client) is None
    assert Ollama().unspeculated(ASK) is None


@pytest.mark.parametrize("value", ["x", 3, [], {}, [[]], {"models": 3}, {"models": [{"name": 3}]}, None], ids=repr)
def test_pages_of_another_shape_are_survived(client_of, value):
    pages = {
        "/api/ps": {"models": [{"name": "small", "details": value, "context_length": str(value)}]},
        "/api/version": {"version": [value]},
    }
    facts = Ollama().facts(client_of(pages), bare_facts())
    assert (facts.engine_version, facts.context_length) == (None, None)
    assert Ollama().facts(client_of({"/api/ps": {"models": value}}), bare_facts()).details == {}


@pytest.mark.parametrize(
    ("line", "width", "expected"),
    [
        ("/usr/local/bin/ollama serve", "4", ProcessFacts(pid=0, started_at=0.0, command=(), sequences=4)),
        ("ollama serve", None, ProcessFacts(pid=0, started_at=0.0, command=())),
        ("ollama serve", "many", ProcessFacts(pid=0, started_at=0.0, command=())),
        ("ollama serve", "0", ProcessFacts(pid=0, started_at=0.0, command=())),
        ("ollama run small", "4", None),
        ("vllm serve ollama", "4", None),
        ("", "4", None),
    ],
)
def test_its_command_line_tells_nothing_and_a_variable_its_width(line, width, expected):
    assert Ollama().read_command(line.split(), {} if width is None else {"OLLAMA_NUM_PARALLEL": width}) == expected
