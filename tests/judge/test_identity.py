"""Findings of identity: what contradicts itself is found, and what is lawful is left alone."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.exchange import Exchange, Timeline
from pytest_mtp.core.facts import Endpoint, ProcessFacts, ServerFacts, SpecDecode
from pytest_mtp.core.reply import Reply
from pytest_mtp.judge.identity import identity_findings, reply_findings, with_process

OFF = SpecDecode(state="inactive", evidence=("command line: no speculation",))
MTP = SpecDecode(method="mtp", depth=3, evidence=("command line: --speculative-config",))


def process(**more) -> ProcessFacts:
    base = {"pid": 10, "started_at": 1_000_000.0, "command": ("vllm", "serve", "/models/a"), "model_path": "/models/a"}
    return ProcessFacts(**{**base, **more})


def facts(running: ProcessFacts | None = None, *, details=(), **more) -> ServerFacts:
    base = {"endpoint": Endpoint(root="http://h", api_root="http://h/v1", model="m"), "engine": "vllm", "model": "m", "models": ("m",)}
    return ServerFacts(**{**base, "process": running, "details": dict(details), **more})


def found(server: ServerFacts) -> list[tuple[str, str]]:
    return [(finding.code, finding.severity) for finding in identity_findings(server)]


LAWFUL = {
    "nothing is known": facts(),
    "a plain server": facts(process(served_names=("m",)), details={"root": "/models/a", "reply_model": "m"}),
    "one of several names": facts(process(served_names=("m", "n")), models=("m", "n"), details={"reply_model": "m"}),
    "an adapter beside its base": facts(process(served_names=("m",)), model="lora", models=("m", "lora"), details={"reply_model": "lora"}),
    "a link": facts(
        process(model_path="/models/now", real_paths={"/models/now": "/models/v2", "/models/v2": "/models/v2"}),
        details={"root": "/models/v2"},
    ),
    "a relative path": facts(
        process(model_path="/w/a.gguf", real_paths={"/w/a.gguf": "/w/a.gguf", "a.gguf": "/w/a.gguf"}), details={"model_path": "a.gguf"}
    ),
    "a container's path": facts(process(model_path="/srv/llm/a"), details={"model_path": "/models/a"}),
    "a name on a hub and its cache": facts(process(model_path="org/a"), details={"root": "/c/models--org--a/snapshots/0123abc"}),
    "a dated name": facts(details={"reply_model": "m-2026-01-01"}),
    "another case": facts(model="Org/M", models=("Org/M",), details={"reply_model": "m"}),
    "the reply names the path": facts(process(served_names=("m",)), details={"reply_model": "/models/a"}),
    "files older than the process": facts(process(newest_file="/models/a", newest_at=999_999.0)),
    "fetched while it started": facts(process(newest_file="/models/a", newest_at=1_000_050.0)),
    "off and off": facts(process(speculation=OFF), speculation=SpecDecode(state="inactive")),
    "on and on": facts(process(speculation=MTP), speculation=dataclasses.replace(MTP, state="active")),
    "on and not told": facts(process(speculation=MTP), speculation=SpecDecode()),
    "on and dead": facts(process(speculation=MTP), speculation=SpecDecode(state="dead")),  # found by the checks of speculation
    "flags that say nothing": facts(process(speculation=SpecDecode()), speculation=SpecDecode(state="inactive")),
    "our own child": facts(process(parents=(9, 8)), launched=True, pid=9),
    "our own": facts(process(), launched=True, pid=10, details={"params": {"speculation": True, "depth": 3}}),
    "as many at once as told": facts(process(sequences=4), sequences=4),
}


@pytest.mark.parametrize("name", LAWFUL)
def test_what_is_lawful_is_left_alone(name: str) -> None:
    assert found(LAWFUL[name]) == []


STRANGE = {
    "old weights": (facts(process(newest_file="/models/a/x.safetensors", newest_at=1_086_500.0)), ("ID.stale", "regression"), "24 hours"),
    "a loader on demand": (facts(process(newest_file="/a", newest_at=2e6), engine="ollama"), ("ID.stale", "note"), "12 days"),
    "not ours": (facts(process(parents=(2,)), launched=True, pid=9), ("ID.process", "critical"), "process 10 answers"),
    "shared port": (facts(process(), details={"port_shared_by": [10, 11]}), ("ID.process", "regression"), "2 servers share"),
    "other names": (facts(process(served_names=("x",))), ("ID.process", "note"), "offers 'x', and the server lists 'm'"),
    "another path": (facts(process(), details={"root": "/models/b"}), ("ID.process", "note"), "serves /models/b"),
    "a link to elsewhere": (
        facts(process(real_paths={"/models/a": "/models/v1", "/b/a": "/models/v2"}), details={"model_path": "/b/a"}),
        ("ID.process", "note"),
        "was started with /models/a",
    ),
    "set and not active": (
        facts(process(speculation=MTP), speculation=SpecDecode(state="inactive")),
        ("ID.process", "regression"),
        "asks for speculation (mtp, depth 3)",
    ),
    "unset and active": (
        facts(process(speculation=OFF), speculation=SpecDecode(state="active")),
        ("ID.process", "note"),
        "drafts are made",
    ),
    "another depth": (
        facts(process(speculation=MTP), speculation=SpecDecode(state="active", depth=1)),
        ("ID.process", "note"),
        "sets 3 draft tokens a step, and the server tells 1",
    ),
    "another depth than launched": (
        facts(process(speculation=MTP), speculation=SpecDecode(state="active", depth=1), launched=True, pid=10),
        ("ID.process", "regression"),
        "this run asked for 1",
    ),
    "launched without, runs with": (
        facts(process(speculation=MTP), launched=True, pid=10, details={"params": {"speculation": False}}),
        ("ID.process", "regression"),
        "switched speculation off",
    ),
    "launched with, runs without": (
        facts(process(speculation=OFF), launched=True, pid=10, details={"params": {"speculation": True}}),
        ("ID.process", "regression"),
        "switched speculation on",
    ),
    "other width": (
        facts(process(sequences=4), sequences=8),
        ("ID.process", "note"),
        "requests at once: the command line sets 4, and the server tells 8",
    ),
    "another answers": (facts(details={"reply_model": "llama"}), ("ID.model", "note"), "'llama' wrote it"),
}


@pytest.mark.parametrize("name", STRANGE)
def test_what_is_strange_is_found_once_with_its_severity(name: str) -> None:
    server, expected, words = STRANGE[name]
    assert found(server) == [expected]
    assert words in identity_findings(server)[0].title
    assert identity_findings(server)[0].hint


def replied(model: str | None) -> Exchange:
    ask = Ask(messages=({"role": "user", "content": "?"},))
    return Exchange(ask=ask, url="http://h/v1", model="m", reply=Reply(content="x", model=model), timeline=Timeline(sent_ns=0))


@pytest.mark.parametrize(
    ("first", "now", "codes"),
    [
        ("m", "m", []),
        ("m", None, []),
        (None, "other", []),  # nothing to hold it against
        ("alias", "alias", []),
        ("alias", "m", []),  # the name that was asked for is never strange
        ("m", "org/m", []),
        ("m", "m-0613", []),
        ("m", "other", [("ID.model", "regression")]),
        ("alias", "other", [("ID.model", "regression")]),
    ],
)
def test_a_model_that_is_swapped_midway(first: str | None, now: str | None, codes: list[tuple[str, str]]) -> None:
    server = facts(details={"reply_model": first} if first else {})
    assert [(finding.code, finding.severity) for finding in reply_findings(replied(now), server)] == codes


def test_flags_fill_the_gap_where_the_server_tells_nothing() -> None:
    filled = with_process(facts(process(speculation=OFF)))
    assert filled.speculation.state == "inactive"
    assert "command line: no speculation" in filled.speculation.evidence
    assert filled.details["model_path"] == "/models/a"


def test_flags_never_prove_that_anything_is_drafted_nor_outvote_what_was_seen() -> None:
    assert with_process(facts(process(speculation=MTP))).speculation.state == "unknown"
    active = facts(process(speculation=OFF), speculation=SpecDecode(state="active"), details={"root": "/r"})
    assert with_process(active) == active
    assert with_process(facts()) == facts()
