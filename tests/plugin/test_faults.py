"""Ten known faults, each turning exactly its own code red; honest servers in odd dialects are not accused."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import GateRun

FAULTS = {
    "wrong-value": "ANS.wrong",
    "empty-arguments": "TOOL.args_empty",
    "doubled-brace": "TOOL.args_extra_brace",
    "leaked-markup": "TOOL.leak",
    "finish-reason": "PROTO.finish",
    "truncated-stream": "PROTO.truncated",
    "dead-drafter": "SPEC.dead",
    "usage-mismatch": "PROTO.usage",
    "replacement-characters": "GEN.degenerate.replacement",
    "endless-loop": "GEN.degenerate.loop",
    "verify-bug": "SPEC.parity.material",
}


@pytest.mark.parametrize(("fault", "code"), FAULTS.items(), ids=FAULTS)
def test_a_fault_turns_its_code_red_and_closes_the_gate(gate: GateRun, fault: str, code: str) -> None:
    outcome = gate("--mtp-launch", f"fake?faults={fault}")
    assert outcome.red == {code}
    assert outcome.report.gate.verdict == "fail"
    assert outcome.result.ret == pytest.ExitCode.TESTS_FAILED
    outcome.result.stdout.fnmatch_lines([f"*{code}*", "*gate: CLOSED*"])
    assert not outcome.result.stdout.str().rstrip().splitlines()[-1].startswith("=== 5 passed in"), "the last line must not look green"


@pytest.mark.parametrize(
    "dialect",
    [
        "",
        "crlf",
        "keep-alive-comments",
        "missing-done",
        "coarse-chunks",
        "no-usage",
        "no-logprobs",
        "no-verified-logprobs",
        "no-metrics",
        "no-prefill",
        "reasoning-content",
        "split-code-points",
    ],
    ids=lambda dialect: dialect or "plain",
)
def test_an_honest_server_is_not_accused(gate: GateRun, dialect: str) -> None:
    outcome = gate("--mtp-launch", f"fake?dialects={dialect}" if dialect else "fake")
    assert outcome.red == set()
    assert outcome.report.gate.verdict == "pass"
    assert outcome.result.ret == pytest.ExitCode.OK
    outcome.result.stdout.fnmatch_lines(["*gate: open*"])
