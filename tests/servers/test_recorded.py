"""Every recorded engine is known as itself by its own pages and replies, and no other adapter takes it for its own.

A folder of `recorded/` has the name of its engine. Its files are named after the page that they answer, with an underscore and
some words behind it where there are several; one of them is `chat*.json`. `unknown_page.json` is what answers any other GET.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.servers.engines import registry

RECORDED = Path(__file__).parent / "recorded"
FOLDERS = sorted(folder.name for folder in RECORDED.iterdir() if folder.is_dir())
ENGINES = [name for name in registry.engine_names() if name != "generic"]
ASK = Ask(messages=({"role": "user", "content": "Why is the sky blue?"},), sampling=Sampling(max_tokens=16))
PAGES = {
    "api_ps": "/api/ps",
    "api_v0_models": "/api/v0/models",
    "api_v1_models": "/api/v1/models",
    "api_version": "/api/version",
    "health": "/health",
    "load": "/load",
    "loads": "/v1/loads",
    "metrics": "/metrics",
    "models": "/v1/models",
    "openapi": "/openapi.json",
    "prometheus": "/prometheus/metrics",
    "props": "/props",
    "root": "/",
    "server_info": "/server_info",
    "settings": "/v1/settings",
    "slots": "/slots",
    "version": "/version",
}
UNSIGNED = {"mlx-lm"}  # its pages say nothing at all, only its replies are signed


def page_of(file):
    """The path that a file answers, None for replies."""
    names = [name for name in PAGES if file.stem == name or file.stem.startswith(f"{name}_")]
    return PAGES[max(names, key=len)] if names else None


@pytest.fixture
def replayed(kit):
    """A client of a server that answers with the recordings of a folder, the first of each page, and its list of models."""

    def make(name):
        files = sorted(file for file in (RECORDED / name).iterdir() if file.suffix in (".json", ".txt"))
        unknown = RECORDED / name / "unknown_page.json"
        routes = {}
        for file in reversed(files):
            page = kit.Page(body=file.read_text(encoding="utf-8"))
            if path := page_of(file):
                routes[f"GET {path}"] = page
            elif file.match("chat*.json"):
                routes["POST /v1/chat/completions"] = page
        if unknown.exists():
            rest = kit.Page(body=unknown.read_text(encoding="utf-8"))
            routes = {f"GET {path}": rest for path in (*PAGES.values(), "/get_server_info", "/get_model_info")} | routes
        listed = routes.get("GET /v1/models")
        return kit.client(kit.serve(routes).url), json.loads(listed.body or "{}") if listed else {}

    return make


@pytest.mark.parametrize("name", FOLDERS)
def test_a_recorded_engine_is_known_as_itself(replayed, name):
    client, models = replayed(name)
    first = client.ask(ASK).reply
    assert first, f"{name}: no recorded reply"
    assert registry.identify(client, models, first)[0].name == name
    by_its_pages = registry.identify(client, models)[0].name
    assert by_its_pages == ("generic" if name in UNSIGNED else name)


@pytest.mark.parametrize("name", FOLDERS)
def test_no_other_adapter_takes_it_for_its_own(replayed, name):
    client, models = replayed(name)
    first = client.ask(ASK).reply
    others = {engine: registry._ENGINES[engine] for engine in ENGINES if engine != name}
    taken = {engine: [*adapter.recognise(first), *adapter.identify(client, models)] for engine, adapter in others.items()}
    assert {engine: reasons for engine, reasons in taken.items() if reasons} == {}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_proxy_in_front_does_not_make_it_another(replayed, name):
    """Behind somebody else's signature and without the reply, it is itself or nobody."""
    client, models = replayed(name)
    signed = {**models, "data": [{**entry, "owned_by": "our-proxy"} for entry in models.get("data", ())]}
    assert registry.identify(client, signed)[0].name in (name, "generic")


@pytest.mark.parametrize("name", sorted(set(ENGINES) - {"fake"}))
def test_every_adapter_has_recordings_and_those_of_nobody_say_so(name):
    assert name in FOLDERS
    written = RECORDED / name / "NOT_RUN.txt"
    assert written.exists() == (name in ("sglang", "tensorrt-llm", "lmstudio", "ollama"))
    assert not written.exists() or "github.com/" in written.read_text(encoding="utf-8")


def test_a_server_that_says_nothing_is_nobody(kit):
    server = kit.serve({})
    engine, reasons = registry.identify(kit.client(server.url), {})
    assert (engine.name, reasons) == ("generic", ("no engine signs under /v1/models",))
    assert len(server.asked) <= 14  # each is a round trip on every attach to a server that nobody knows
