"""The check of identity: from facts alone, and from the files that a process was started with."""

from __future__ import annotations

import dataclasses
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_mtp.checks.answers import judged
from pytest_mtp.checks.identity import run
from pytest_mtp.checks.kinds import EXCLUSIVE, check_for
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Case, Expect, Source
from pytest_mtp.core.facts import Control, ProcessFacts, SpecDecode
from pytest_mtp.core.reply import Reply
from pytest_mtp.core.verdict import Verdict
from pytest_mtp.core.weights import Weights

CASE = Case(id="identity", suite="s", source=Source(path="s.mtp.yaml", line=1), check="identity")
OFF = SpecDecode(state="inactive", evidence=("command line: no speculation",))


@pytest.fixture
def checked(memory: Callable[..., Any]) -> Callable[..., Verdict]:
    """Runs the check on a server with these facts; what the control proved of speculation is `proven`. It may ask nothing."""

    def check(*, proven: SpecDecode | None = None, weights: Weights | None = None, **facts: Any) -> Verdict:
        server = memory(lambda ask: pytest.fail(f"asked {ask}"))
        server.facts = dataclasses.replace(server.facts, **facts)
        server.weights = weights
        control = Control(prompts=1, repeats=1, disagree_text=0, disagree_graded=0, speculation=proven or SpecDecode())
        server.control = lambda: control
        return run(CASE, server)

    return check


def process(**more: Any) -> ProcessFacts:
    return ProcessFacts(**{"pid": 10, "started_at": 1_000_000.0, "command": ("serve",), **more})


BLOCK = (
    *(f"self_attn.{part}_proj.weight" for part in "qkvo"),
    *(f"mlp.{part}_proj.weight" for part in ("gate", "up", "down")),
    "input_layernorm.weight",
    "post_attention_layernorm.weight",
)
HEAD = ("eh_proj.weight", "enorm.weight", "hnorm.weight", "embed_tokens.weight", "shared_head.norm.weight", "shared_head.head.weight")


def checkpoint(folder: Path, *, head: bool, whole: bool = True) -> str:
    """A DeepSeek-like trunk of two layers with or without its head, one weight a tensor."""
    names = [f"model.layers.{n}.{part}" for n in range(2) for part in BLOCK] + ["model.embed_tokens.weight", "lm_head.weight"]
    if head:
        names += [f"model.layers.2.{part}" for part in ((*BLOCK, *HEAD) if whole else HEAD)]
    header: dict[str, Any] = {}
    end = 0
    for name in names:
        shape = [1] if "norm" in name else [1, 2] if "eh_proj" in name else [1, 1]
        begin, end = end, end + 4 * shape[-1]
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(end))
    config = {"model_type": "deepseek_v3", "architectures": ["DeepseekV3ForCausalLM"], "num_hidden_layers": 2, "hidden_size": 1}
    (folder / "config.json").write_text(json.dumps({**config, "num_nextn_predict_layers": int(head), "vocab_size": 1}))
    return str(folder)


def test_it_is_built_in_and_asks_nothing_so_it_needs_no_lease() -> None:
    assert check_for("identity") is run
    assert "identity" not in EXCLUSIVE


def test_what_cannot_be_seen_is_said_and_passes(checked: Callable[..., Verdict]) -> None:
    verdict = checked(evidence=("owned_by is 'x'", "process: port 8000 is held by nginx (4), which passes connections on"))
    assert verdict.outcome == "PASS"
    (note,) = verdict.findings
    assert note.title == "the process behind the server cannot be seen: port 8000 is held by nginx (4), which passes connections on"
    (remote,) = checked().findings
    assert remote.title.endswith("it runs on another machine")


def test_a_clean_server_passes_without_findings(checked: Callable[..., Verdict]) -> None:
    assert checked(process=process(served_names=("m",))) == Verdict(case_id="identity", outcome="PASS")


def test_old_weights_fail(checked: Callable[..., Verdict]) -> None:
    verdict = checked(process=process(newest_file="/m/model.safetensors", newest_at=1_003_600.0))
    assert verdict.outcome == "FAIL"
    assert verdict.reason.startswith("ID.stale: /m/model.safetensors changed 60 minutes after process 10 started")


def test_what_the_control_proved_counts_and_not_what_was_known_at_start(checked: Callable[..., Verdict]) -> None:
    mtp = SpecDecode(method="mtp", depth=1)
    assert checked(process=process(speculation=mtp), proven=dataclasses.replace(mtp, state="active")).findings == ()
    failed = checked(process=process(speculation=mtp), proven=SpecDecode(state="inactive"))
    assert failed.outcome == "FAIL"
    assert failed.reason.startswith("ID.process: the command line asks for speculation (mtp, depth 1)")


def test_the_founding_case_a_head_on_disk_and_the_flag_unset(checked: Callable[..., Verdict], tmp_path: Path) -> None:
    """Nobody named the checkpoint: its path is that of the process."""
    path = checkpoint(tmp_path / "with-head", head=True)
    started = process(model_path=path, real_paths={path: path}, speculation=OFF)
    verdict = checked(process=started, engine="vllm")
    (finding,) = verdict.findings
    assert (verdict.outcome, finding.code, finding.severity) == ("PASS", "SPEC.inactive", "note")
    assert "the checkpoint holds a head and the server does not speculate" in finding.title
    assert finding.hint.startswith("Set --speculative-config")


@pytest.mark.parametrize("why", ["no head", "active", "named by the user", "not on this disk", "not a checkpoint"])
def test_nobody_is_accused_without_cause(checked: Callable[..., Verdict], tmp_path: Path, why: str) -> None:
    path = checkpoint(tmp_path / "model", head=why != "no head")
    if why == "not a checkpoint":
        (tmp_path / "model" / "model.safetensors").write_bytes(b"nothing")
    started = process(model_path=path, real_paths={} if why == "not on this disk" else {path: path}, speculation=OFF)
    weights = Weights(**{field.name: 0 for field in dataclasses.fields(Weights)}) if why == "named by the user" else None
    if why == "active":
        started = dataclasses.replace(started, speculation=SpecDecode(method="mtp"))
    proven = SpecDecode(state="active", method="mtp") if why == "active" else None
    assert checked(process=started, engine="vllm", proven=proven, weights=weights).findings == ()


def test_what_is_wrong_within_files_that_nobody_named_is_a_note(checked: Callable[..., Verdict], tmp_path: Path) -> None:
    path = checkpoint(tmp_path / "torn", head=True, whole=False)
    verdict = checked(process=process(model_path=path, real_paths={path: path}), engine="vllm")
    assert verdict.outcome == "PASS"
    assert [(finding.code, finding.severity) for finding in verdict.findings] == [("ID.checkpoint", "note")]
    assert "is not whole" in verdict.findings[0].title


def test_a_right_answer_of_another_model_fails(memory: Callable[..., Any]) -> None:
    case = Case(
        id="c",
        suite="s",
        source=Source(path="s.mtp.yaml", line=1),
        ask=Ask(messages=({"role": "user", "content": "2 + 2?"},)),
        expect=(Expect(kind="number", spec=4),),
    )
    models = iter(("m", "other"))
    for outcome, codes in (("PASS", []), ("FAIL", ["ID.model"])):
        name = next(models)
        server = memory(lambda _ask, name=name: Reply(content="4", finish_reason="stop", model=name))
        server.facts = dataclasses.replace(server.facts, details={"reply_model": "m"})
        _, (judgement,) = judged(case, server)
        assert judgement.outcome == outcome
        assert [finding.code for finding in judgement.findings if finding.code.startswith("ID.")] == codes
