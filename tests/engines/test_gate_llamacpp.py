"""The gate on a real llama.cpp server that really decodes with multi-token prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from pytest_mtp.client.evidence import read_exchanges
from pytest_mtp.core.run import RunReport
from pytest_mtp.servers.demo.assemble import assemble
from pytest_mtp.servers.launch import launch
from pytest_mtp.servers.launched import LaunchedServer

pytestmark = pytest.mark.engine

Gate = Callable[..., tuple[int, str, RunReport]]


def outcomes(report: RunReport) -> Mapping[str, str]:
    return {case.node_id: case.verdict.outcome for case in report.cases}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LaunchedServer]:
    server = launch("demo", run_dir=tmp_path_factory.mktemp("demo"), timeout_s=180)
    yield server
    server.stop()


def test_the_demo_gives_a_verdict_with_everything_in_the_report(gate: Gate, tmp_path: Path) -> None:
    code, text, report = gate(tmp_path, "--mtp-server", "demo", "--mtp-suite", "builtin:demo")
    assert code == 0, text
    assert "gate: open" in text
    (server,) = report.servers
    assert server.engine == "llamacpp"
    assert server.engine_version
    assert server.speculation.state == "active"
    assert any("drafted" in line for line in server.speculation.evidence)
    assert report.control is not None
    assert report.control.step_checked >= 12
    assert report.control.step_material == 0
    measures = {(m.name, m.stratum): m for case in report.cases for m in case.verdict.measures}
    code_rate, prose_rate = measures["acceptance_rate", "code"].value, measures["acceptance_rate", "prose"].value
    assert code_rate is not None
    assert prose_rate is not None
    assert 0.2 < prose_rate < code_rate < 1
    assert {"user_e2e_tps", "ttft_ms"} <= {name for name, _ in measures}
    assert len(report.cases) >= 20


def test_attached_by_url_and_with_four_workers_the_verdicts_are_the_same(gate: Gate, tmp_path: Path, demo: LaunchedServer) -> None:
    url = demo.facts.endpoint.root
    one_code, _, one = gate(tmp_path / "one", "--mtp-server", url, "--mtp-suite", "builtin:smoke")
    four_code, _, four = gate(tmp_path / "four", "--mtp-server", f"{url}/v1", "--mtp-suite", "builtin:smoke", "-n", "4")
    assert one_code == four_code == 0
    assert outcomes(one) == outcomes(four)
    assert one.control is not None
    assert four.control is not None
    assert one.control.answers == four.control.answers


def test_no_measurement_overlaps_another_request(gate: Gate, tmp_path: Path, demo: LaunchedServer) -> None:
    rows = "".join(
        f"  - {{id: p{i}, ask: 'Write about the number {i}.', sampling: {{max_tokens: 16}}, expect: {{length: {{min_words: 999}}}}}}\n"
        for i in range(8)
    )
    check = (
        "  - id: alive\n    check: acceptance\n    with: {max_tokens: 24, prompts: {code: [Write a loop in C.], prose: [What is rain?]}}\n"
    )
    tmp_path.joinpath("p.mtp.yaml").write_text(f"schema_version: 1\nsuite: p\ncases:\n{check}{rows}")
    _, text, report = gate(tmp_path, "--mtp-server", demo.facts.endpoint.root, "-n", "4", "p.mtp.yaml")
    spans = {"acceptance": [], "golden": []}  # type: ignore[var-annotated]  # filled below
    for case in report.cases:
        if case.verdict.evidence:
            spans[case.kind] += [
                (each.timeline.sent_ns, each.timeline.done_ns or 0) for each in read_exchanges(tmp_path / ".mtp" / case.verdict.evidence)
            ]
    assert len(spans["acceptance"]) == 2, text
    assert len(spans["golden"]) >= 8, text
    first, last = min(spans["acceptance"])[0], max(end for _, end in spans["acceptance"])
    assert not [span for span in spans["golden"] if span[1] > first and span[0] < last]
    assert any(after[0] < before[1] for before, after in pairwise(sorted(spans["golden"])))


def test_speculation_off_and_on_give_the_same_graded_answers(gate: Gate, tmp_path: Path) -> None:
    on_code, on_text, on = gate(tmp_path / "on", "--mtp-launch", "demo", "--mtp-suite", "builtin:smoke")
    off_code, off_text, off = gate(tmp_path / "off", "--mtp-launch", "demo?speculation=off", "--mtp-suite", "builtin:smoke")
    assert on_code == 0, on_text
    assert off_code == 0, off_text
    assert on.servers[0].speculation.state == "active"
    assert off.servers[0].speculation.state == "inactive"
    assert outcomes(on) == outcomes(off)
    assert on.control is not None
    assert off.control is not None
    assert on.control.answers == off.control.answers


def test_synthetic_acceptance_closes_the_gate_and_is_named(gate: Gate, tmp_path: Path) -> None:
    """Word salad runs to every budget, so the suite is a short one; the control alone names the fault."""
    tmp_path.joinpath("p.mtp.yaml").write_text(
        "schema_version: 1\nsuite: p\ncases:\n"
        "  - {id: a, ask: Why is the sky blue?, sampling: {max_tokens: 24}, expect: {length: {min_words: 1}}}\n"
    )
    code, text, report = gate(tmp_path, "--mtp-launch", "demo?synth_rates=0.7,0.5,0.3", "p.mtp.yaml")
    assert code == 1, text
    assert report.gate.verdict == "fail"
    assert "SPEC.parity.material" in {blocking.code for blocking in report.gate.blocking}
    assert "tokens that the model itself would not choose" in " ".join(text.split())


def test_a_head_on_disk_and_the_flag_unset_is_said_with_the_flag_to_set(gate: Gate, tmp_path: Path) -> None:
    tmp_path.joinpath("p.mtp.yaml").write_text(
        'schema_version: 1\nsuite: p\ncases:\n  - {id: a, ask: "What is the capital of France?", expect: {contains: Paris}}\n'
    )
    code, text, report = gate(tmp_path, "--mtp-launch", "demo?speculation=off", "--mtp-checkpoint", str(assemble()), "p.mtp.yaml")
    assert code == 0, text
    (case,) = [case for case in report.cases if case.node_id == "checkpoint"]
    assert [finding.code for finding in case.verdict.findings] == ["SPEC.inactive"]
    assert "--spec-type draft-mtp" in case.verdict.findings[0].hint
    assert "does not speculate" in " ".join(text.split())


def test_an_agents_loop_with_a_simulator(gate: Gate, tmp_path: Path, demo: LaunchedServer) -> None:
    """The example of the docs, on the real server: one call, its result handed back, the state compared."""
    page = (Path(__file__).parents[2] / "docs" / "suites.md").read_text()
    tmp_path.joinpath("test_loop.py").write_text(
        page.split("```python\nclass Thermostat")[1].split("```")[0].join(["class Thermostat", ""])
    )
    code, text, _ = gate(tmp_path, "--mtp-server", demo.facts.endpoint.root, "test_loop.py")
    assert code == 0, text
    assert "1 passed" in text
