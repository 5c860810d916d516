"""Engines by name."""

from __future__ import annotations

import pytest

from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.facts import Endpoint, ServerFacts
from pytest_mtp.servers.engines import registry
from pytest_mtp.servers.engines.generic import Generic


def facts_of(engine: str) -> ServerFacts:
    return ServerFacts(endpoint=Endpoint(root="http://h:1", api_root="http://h:1/v1", model="m"), engine=engine, model="m")


def test_the_generic_engine_is_the_last_name():
    assert registry.engine_names()[-1] == "generic"
    assert {"fake", "llamacpp"} < set(registry.engine_names())


@pytest.mark.parametrize("name", registry.engine_names())
def test_facts_lead_back_to_their_engine(name):
    assert registry.engine_of(facts_of(name)).name == name


def test_an_unknown_engine_gets_the_nearest_word():
    with pytest.raises(UsageError, match="did you mean 'llamacpp'"):
        registry.engine_of(facts_of("llama.cpp"))


def test_a_registered_engine_is_asked_before_the_generic_one(kit, monkeypatch):
    monkeypatch.setattr(registry, "_ENGINES", dict(registry._ENGINES))

    class Ours(Generic):
        def identify(self, *_):
            return ("it said so",)

    registry.register(Ours(name="ours"))
    engine, reasons = registry.identify(kit.client(kit.serve({}).url), {})
    assert (engine.name, reasons) == ("ours", ("it said so",))
