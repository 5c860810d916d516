"""Recorded pages and replies, cut and bent at random: no adapter raises, and what it says fits into its records."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from pytest_mtp.core.facts import Counters, Endpoint, ServerFacts
from pytest_mtp.core.protocols import Fetched
from pytest_mtp.core.reply import Reply, Usage
from pytest_mtp.servers.engines import registry

RECORDED = Path(__file__).parent / "recorded"
ENGINES = [name for name in registry.engine_names() if name != "generic"]
ROUNDS = 60
ATOMS = [None, True, 0, -1, 3, 2**70, 10**400, 1.5, float("nan"), float("inf"), "", "x", "NaN", "3", "9" * 50, [], {}, [[]], [{}], "\x00"]
NO_JSON = ["", "{", "NaN", "[1", "x{ 1", "<html>"]


def documents():
    found = {}
    for file in sorted(RECORDED.glob("*/*.json")):
        try:
            found.setdefault(file.stem.partition("_")[0], []).append(json.loads(file.read_text(encoding="utf-8")))
        except ValueError:
            continue
    return found


PAGES = documents()
EXPOSITIONS = [file.read_text(encoding="utf-8") for file in sorted(RECORDED.glob("*/*metrics*.txt")) + sorted(RECORDED.glob("*/prom*.txt"))]


class Hostile:
    """A client of a server whose pages are someone else's, broken differently at each look."""

    def __init__(self, seed):
        self.dice = random.Random(seed)

    def bent(self, value):
        if self.dice.random() < 0.1:
            return self.dice.choice(ATOMS)
        if isinstance(value, dict):
            return {key: self.bent(inner) for key, inner in value.items() if self.dice.random() > 0.05}
        return [self.bent(inner) for inner in value] if isinstance(value, list) else value

    def fetch(self, path):
        chance = self.dice.random()
        if chance < 0.15:
            return Fetched(status=404, text="Not Found", headers={})
        if chance < 0.25:
            return Fetched(status=200, text=self.dice.choice(NO_JSON), headers={})
        if "metrics" in path and chance < 0.9:
            lines = self.dice.choice(EXPOSITIONS).splitlines()
            at = self.dice.randrange(len(lines))
            lines[at] = lines[at][: self.dice.randrange(len(lines[at]) + 1)] + self.dice.choice(["", " NaN", "{", '"', " 1e999", " -5"])
            return Fetched(status=200, text="\n".join(lines) + "\n", headers={})
        page = self.bent(self.dice.choice(PAGES[self.dice.choice(sorted(PAGES))]))
        return Fetched(status=200, text=json.dumps(page), headers={})

    def reply(self):
        plain = self.bent(self.dice.choice(PAGES["chat"]))
        extras = {key: value for key, value in plain.items() if key not in ("choices", "usage")} if isinstance(plain, dict) else {}
        extras |= {
            "choice": self.bent({"meta_info": {"spec_verify_ct": 3}, "avg_decoded_tokens_per_iter": 2.0}),
            "usage": self.bent({"a": 1}),
        }
        tokens = self.dice.choice([None, 0, 1, 26, 10**9])
        return Reply(content="x", usage=Usage(completion_tokens=tokens), token_ids=self.dice.choice([(), (1,)]), extras=extras)


@pytest.mark.parametrize("name", ENGINES)
def test_no_page_and_no_reply_makes_an_adapter_fail(name):
    adapter = registry._ENGINES[name]
    endpoint = Endpoint(root="http://h:1", api_root="http://h:1/v1", model="m")
    for seed in range(ROUNDS):
        client = Hostile(f"{name} {seed}")
        adapter.identify(client, listed if isinstance(listed := client.bent(client.dice.choice(PAGES["models"])), dict) else {})
        facts = adapter.facts(client, ServerFacts(endpoint=endpoint, engine=name, model="m", concurrency=4))
        assert ServerFacts.from_dict(json.loads(json.dumps(facts.to_dict()))).engine == name
        assert facts.speculation.state in ("inactive", "unknown")  # a page proves no drafts
        bound = adapter.bound(facts)
        counted, own = bound.counters(client), bound.acceptance_of(client.reply())
        assert counted is None or isinstance(counted.since(counted), Counters)
        assert own is None or (own.drafted >= 0 and own.accepted >= 0)
        load = bound.load(client)
        assert load is None or load.cache_used is None or load.cache_used >= 0
