"""Hand-reasoned vectors: each file says in its head what it is about, each vector what must be found and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Expect
from pytest_mtp.core.reply import Reply, ToolCall, WireNote
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.grading import grade
from pytest_mtp.judge.judgement import GradeContext, View
from pytest_mtp.judge.tools.leaks import leak_findings
from pytest_mtp.judge.tools.parity import stream_parity
from pytest_mtp.judge.tools.validity import schema_findings
from pytest_mtp.judge.tools.wire import wire_findings

HERE = Path(__file__).parent / "vectors"
TOOLS = yaml.safe_load((HERE / "tools.yaml").read_text(encoding="utf-8"))
EVERY_TOOL = list(TOOLS)
SEVERITY = "regression"  # of every case here, so that it differs from model, critical and note
CONTEXT = GradeContext(case_severity=SEVERITY)


def vectors(name: str) -> list[Any]:
    loaded = yaml.safe_load((HERE / f"{name}.yaml").read_text(encoding="utf-8"))
    ids = [vector["id"] for vector in loaded]
    assert len(set(ids)) == len(ids), f"{name}: an id stands twice"
    return [pytest.param(vector, id=vector["id"]) for vector in loaded]


def ask_of(vector: dict[str, Any]) -> Ask:
    names = vector.get("tools", EVERY_TOOL)
    tools = tuple({"type": "function", "function": {"name": name, **TOOLS[name]}} for name in names)
    messages = vector.get("messages") or [{"role": "user", "content": vector.get("text", "What is it like there?")}]
    return Ask(
        messages=tuple(messages),
        tools=tools,
        tool_choice=vector.get("tool_choice"),
        response_format=vector.get("response_format"),
        stream=vector.get("stream", False),
        extra_body=vector.get("extra_body", {}),
    )


def reply_of(spec: dict[str, Any]) -> Reply:
    calls = []
    for place, (name, arguments, *rest) in enumerate(spec.get("calls", [])):
        fields = {"id": f"call_{place}", "type": "function", "index": None, **(rest[0] if rest else {})}
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        calls.append(ToolCall(name=name, arguments=text, **fields))
    return Reply(
        content=spec.get("content"),
        reasoning=spec.get("reasoning"),
        refusal=spec.get("refusal"),
        tool_calls=tuple(calls),
        finish_reason=spec.get("finish", "tool_calls"),
        notes=tuple(WireNote(code=code, detail=detail) for code, detail in spec.get("notes", [])),
    )


def found(findings: tuple[Finding, ...]) -> list[str]:
    return sorted(f"{finding.code} {finding.severity}" for finding in findings)


def graded(vector: dict[str, Any], expect: Expect) -> tuple[Finding, ...]:
    reply = reply_of(vector["reply"])
    view = View(text=reply.text, reasoning=reply.reasoning or "", reply=reply, ask=ask_of(vector))
    judgement = grade(view, expect, CONTEXT)
    assert (judgement.outcome == "FAIL") is any(finding.severity != "note" for finding in judgement.findings)
    return judgement.findings


@pytest.mark.parametrize("vector", vectors("wire"))
def test_the_wire(vector: dict[str, Any]) -> None:
    assert found(wire_findings(reply_of(vector["reply"]), ask_of(vector), SEVERITY)) == sorted(vector["want"])


@pytest.mark.parametrize("vector", vectors("schema"))
def test_the_schema(vector: dict[str, Any]) -> None:
    assert found(schema_findings(reply_of(vector["reply"]), ask_of(vector), SEVERITY)) == sorted(vector["want"])


@pytest.mark.parametrize("vector", [*vectors("dispatch"), *vectors("matching")])
def test_the_dispatch(vector: dict[str, Any]) -> None:
    kind = next(key for key in vector["expect"] if key in ("calls", "no_call", "any_call"))
    options = {key: value for key, value in vector["expect"].items() if key != kind}
    findings = graded(vector, Expect(kind=kind, spec=vector["expect"][kind], options=options))
    assert found(findings) == sorted(vector["want"])
    if "title" in vector:
        assert findings[0].title == vector["title"]


@pytest.mark.parametrize("vector", vectors("values"))
def test_the_values(vector: dict[str, Any]) -> None:
    tool = vector.get("tool", "set_value")
    expect = Expect(
        kind="calls",
        spec=[{"name": tool, "arguments": vector["expected"]}],
        options={"extra_args": vector["extra_args"]} if "extra_args" in vector else {},
    )
    assert found(graded({"reply": {"calls": [[tool, vector["got"]]]}}, expect)) == sorted(vector["want"])


@pytest.mark.parametrize("vector", vectors("leaks"))
def test_the_leaks(vector: dict[str, Any]) -> None:
    reply = reply_of(vector["reply"])
    assert found(leak_findings(reply.text, reply.reasoning or "", ask_of(vector), reply, SEVERITY)) == sorted(vector["want"])


@pytest.mark.parametrize("vector", vectors("parity"))
def test_the_stream(vector: dict[str, Any]) -> None:
    findings = stream_parity(
        reply_of(vector["unary"]), reply_of(vector["streamed"]), ask_of(vector), SEVERITY, noisy=vector.get("noisy", False)
    )
    assert found(findings) == sorted(vector["want"])
