"""What an attached server is found to be, and what is said of an address where none is."""

from __future__ import annotations

import socket

import pytest

from pytest_mtp.client.http import HttpClient
from pytest_mtp.core.errors import InfraError, UsageError
from pytest_mtp.servers.address import parse_address
from pytest_mtp.servers.attach import attach, attach_with

MODELS, CHAT = "GET /v1/models", "POST /v1/chat/completions"


def test_a_plain_server_is_generic_and_shows_only_what_was_seen(kit):
    stub = kit.serve({MODELS: kit.models("m"), CHAT: kit.answers})
    facts = kit.attach(stub.url).facts
    assert (facts.engine, facts.model, facts.models, facts.concurrency) == ("generic", "m", ("m",), 4)
    assert (facts.endpoint.root, facts.endpoint.api_root) == (stub.url, f"{stub.url}/v1")
    seen = facts.capabilities
    assert (seen.logprobs, seen.usage_in_stream, seen.prefill, seen.metrics, seen.tools) == (False, False, False, False, None)
    assert facts.speculation.state == "unknown"
    assert not facts.launched
    assert facts.pid is None


def test_the_probes_ask_for_few_tokens(kit):
    stub = kit.serve({MODELS: kit.models("m"), CHAT: kit.answers})
    kit.attach(stub.url)
    assert sum(body["max_tokens"] for body in stub.bodies) <= 6


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"], ids=["root", "slash", "v1", "v1-slash"])
def test_the_api_is_found_from_any_spelling(kit, suffix):
    stub = kit.serve({MODELS: kit.models("m"), CHAT: kit.answers})
    assert kit.attach(f"{stub.url}{suffix}").facts.endpoint.api_root == f"{stub.url}/v1"


def test_an_api_without_v1_is_found_too(kit):
    stub = kit.serve({"GET /api/v3/models": kit.models("m"), "POST /api/v3/chat/completions": kit.answers})
    assert kit.attach(f"{stub.url}/api/v3").facts.endpoint.api_root == f"{stub.url}/api/v3"


def test_a_given_v1_that_is_not_there_is_left_out(kit):
    stub = kit.serve({"GET /models": kit.models("m"), "POST /chat/completions": kit.answers})
    assert kit.attach(f"{stub.url}/v1").facts.endpoint.api_root == stub.url


def test_a_scheme_that_was_assumed_is_in_the_evidence(kit):
    stub = kit.serve({MODELS: kit.models("m"), CHAT: kit.answers})
    assert "http:// assumed" in kit.attach(f"127.0.0.1:{stub.port}").facts.evidence[0]


def test_of_several_models_the_first_is_taken_and_said(kit):
    stub = kit.serve({MODELS: kit.models("big", "small"), CHAT: kit.answers})
    facts = kit.attach(stub.url).facts
    assert (facts.model, facts.models) == ("big", ("big", "small"))
    assert "no model was named: took the first, 'big'; also served: small" in facts.evidence


def test_a_named_model_is_asked_for(kit):
    stub = kit.serve({MODELS: kit.models("big", "small"), CHAT: kit.answers})
    assert kit.attach(stub.url, model="small").facts.model == "small"
    assert {body["model"] for body in stub.bodies} == {"small"}


def test_an_alias_is_a_name(kit):
    stub = kit.serve({MODELS: kit.models("m", aliases=["m", "nick"], max_model_len=4096), CHAT: kit.answers})
    facts = kit.attach(stub.url, model="nick").facts
    assert (facts.model, facts.context_length) == ("nick", 4096)


def test_a_wrong_model_gets_the_nearest_served_name(kit):
    stub = kit.serve({MODELS: kit.models("qwen3-8b", "llama-70b"), CHAT: kit.answers})
    with pytest.raises(InfraError, match=r"'qwen3-9b' \(did you mean 'qwen3-8b'\?\); served: qwen3-8b, llama-70b") as refused:
        kit.attach(stub.url, model="qwen3-9b")
    assert refused.value.code == "INFRA.model"
    assert CHAT not in stub.asked


def test_a_server_without_a_model_list_needs_a_name(kit):
    stub = kit.serve({CHAT: kit.answers})
    with pytest.raises(InfraError, match="--mtp-model NAME") as refused:
        kit.attach(stub.url)
    assert refused.value.code == "INFRA.model"


def test_a_server_without_a_model_list_works_with_a_name(kit):
    stub = kit.serve({CHAT: kit.answers})
    facts = kit.attach(stub.url, model="m").facts
    assert (facts.model, facts.models, facts.endpoint.api_root) == ("m", ("m",), f"{stub.url}/v1")
    assert any("taken on trust" in line for line in facts.evidence)


def test_a_model_that_still_loads_is_waited_for(kit):
    loading = iter([True, True])
    busy = kit.page({"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}}, 503)
    stub = kit.serve({MODELS: lambda _: busy if next(loading, False) else kit.models("m"), CHAT: kit.answers})
    assert kit.attach(stub.url).facts.model == "m"
    assert stub.asked.count(MODELS) == 3


LOADING = {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}}
CASES = {
    "nothing-there": ({}, "INFRA.path", "neither a list of models nor chat completions"),
    "web-page": ({MODELS: "html", "GET /models": "html"}, "INFRA.path", "answers with a web page"),
    "web-page-404": ({MODELS: "html404", "GET /models": "html404", CHAT: "html404"}, "INFRA.path", "neither a list of models nor chat"),
    "other-json": ({MODELS: {"hello": "world"}}, "INFRA.path", "no list of models but"),
    "a-list": ({MODELS: ["m"]}, "INFRA.path", "no list of models but"),
    "empty-body": ({MODELS: ""}, "INFRA.path", "an empty body"),
    "no-model": ({MODELS: {"object": "list", "data": []}}, "INFRA.model", "lists no model"),
    "key-needed": ({MODELS: (401, {"error": {"message": "Unauthorized"}})}, "INFRA.auth", "No key was sent"),
    "forbidden": ({MODELS: (403, {"error": {"message": "no"}})}, "INFRA.auth", "status 403"),
    "still-loading": ({MODELS: (503, LOADING)}, "INFRA.busy", "still answers 503"),
    "broken": ({MODELS: (500, {"error": {"message": "boom"}})}, "INFRA.5xx", "boom"),
    "moved": ({MODELS: (301, "https://elsewhere.example/v1/models")}, "INFRA.path", "redirected to https://elsewhere.example"),
    "tls-port": ({MODELS: (400, "Client sent an HTTP request to an HTTPS server.")}, "INFRA.tls", "write https://"),
    "hangs-up": ({MODELS: "close"}, "INFRA.reset", "If this port speaks TLS"),
    "chat-key-needed": ({MODELS: "ok", CHAT: (401, {"error": {"message": "bad key"}})}, "INFRA.auth", "asking 'm' for one token"),
    "chat-missing": ({MODELS: "ok"}, "INFRA.path", "/v1/chat/completions"),
    "chat-broken": ({MODELS: "ok", CHAT: (500, {"error": {"message": "cuda error"}})}, "INFRA.5xx", "cuda error"),
    "chat-busy": ({MODELS: "ok", CHAT: (503, LOADING)}, "INFRA.busy", "Loading model"),
    "chat-refuses": ({MODELS: "ok", CHAT: (400, {"error": {"message": "only embeddings here"}})}, "INFRA.path", "only embeddings here"),
    "chat-unknown-model": (
        {MODELS: "ok", CHAT: (404, {"error": {"message": "The model `m` does not exist", "code": "model_not_found"}})},
        "INFRA.model",
        "does not exist",
    ),
    "chat-page": ({MODELS: "ok", CHAT: "html"}, "INFRA.path", "asking 'm' for one token"),
    "chat-hangs-up": ({MODELS: "ok", CHAT: "close"}, "INFRA.reset", "asking 'm' for one token"),
}


def routes_of(kit, told):
    routes = {}
    for key, what in told.items():
        if what == "ok":
            routes[key] = kit.models("m")
        elif what in ("html", "html404"):
            routes[key] = kit.html(404 if what == "html404" else 200)
        elif what == "close":
            routes[key] = kit.Page(close=True)
        elif what == "":
            routes[key] = kit.Page()
        elif isinstance(what, tuple) and isinstance(what[1], str):
            routes[key] = kit.Page(status=what[0], body=what[1], headers={"Location": what[1]} if what[0] == 301 else {})
        else:
            routes[key] = kit.page(what[1], what[0]) if isinstance(what, tuple) else kit.page(what)
    return routes


@pytest.mark.parametrize("name", CASES)
def test_each_way_of_not_being_usable_has_its_code_and_one_message(kit, name):
    told, code, says = CASES[name]
    stub = kit.serve(routes_of(kit, told))
    with pytest.raises(InfraError) as refused:
        kit.attach(stub.url, wait_s=0.2 if name == "still-loading" else 5)
    assert refused.value.code == code
    assert says in str(refused.value)
    assert refused.value.hint
    assert "\n" not in refused.value.problem
    assert f"127.0.0.1:{stub.port}" in refused.value.problem


def test_nobody_at_the_port_is_a_connection_error(kit):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: refused, and nobody else can take it
        with pytest.raises(InfraError) as refused:
            kit.attach(f"http://127.0.0.1:{taken.getsockname()[1]}")
    assert refused.value.code == "INFRA.connect"
    assert "Is it running" in refused.value.hint


def test_a_name_that_does_not_resolve_is_a_connection_error(kit):
    with pytest.raises(InfraError) as refused:
        kit.attach("http://no-such-host.invalid:8000")
    assert refused.value.code == "INFRA.connect"
    assert "no-such-host.invalid" in refused.value.problem


def test_https_on_a_plain_port_is_a_tls_error(kit):
    stub = kit.serve({MODELS: kit.models("m")})
    with pytest.raises(InfraError) as refused:
        kit.attach(f"https://127.0.0.1:{stub.port}")
    assert refused.value.code == "INFRA.tls"


def test_a_server_that_never_answers_is_a_timeout(kit):
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(InfraError) as refused:
        kit.attach(f"http://127.0.0.1:{silent.getsockname()[1]}", wait_s=0.2)
    assert refused.value.code == "INFRA.timeout"


def test_a_key_is_sent_and_never_shown(kit):
    stub = kit.serve({MODELS: kit.page({"error": {"message": "Incorrect API key provided: s3cret-key"}}, 401)})
    with pytest.raises(InfraError, match="A key was sent") as refused:
        kit.attach(stub.url, key="s3cret-key")
    assert stub.headers[0]["authorization"] == "Bearer s3cret-key"
    assert "s3cret-key" not in str(refused.value)


def test_a_variable_that_is_not_set_is_a_mistake_of_use(monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(UsageError, match="'NO_SUCH_KEY'"):
        attach("http://127.0.0.1:9", model=None, api_key_env="NO_SUCH_KEY", api_key=None, timeout_s=1)


def test_the_key_comes_from_the_named_variable(kit, monkeypatch):
    monkeypatch.setenv("OUR_KEY", "s3cret-key")
    stub = kit.serve({MODELS: kit.models("m"), CHAT: kit.answers})
    server = attach(stub.url, model=None, api_key_env="OUR_KEY", api_key=None, timeout_s=5)
    server.client.close()
    assert {headers["authorization"] for headers in stub.headers} == {"Bearer s3cret-key"}
    assert server.facts.endpoint.api_key_env == "OUR_KEY"
    assert "s3cret-key" not in str(server.facts.to_dict())


def test_an_attached_server_lives_while_it_takes_connections(kit):
    stub = kit.serve({MODELS: kit.models("m"), CHAT: kit.answers})
    server = kit.attach(stub.url)
    assert server.alive()
    assert server.log_tail() == ""
    stub.close()
    stub.close = lambda: None
    assert not server.alive()


@pytest.mark.parametrize("told", [{}, {MODELS: "ok"}], ids=["no-api", "no-chat"])
def test_no_client_stays_open_after_a_failure(kit, told):
    stub = kit.serve(routes_of(kit, told))
    opened = []

    def opener(endpoint):
        opened.append(HttpClient(endpoint, timeout_s=5))
        return opened[-1]

    with pytest.raises(InfraError):
        attach_with(opener, parse_address(stub.url), model="m", api_key_env=None, api_key=None, wait_s=5)
    assert opened
    assert all(client._http.is_closed for client in opened)
