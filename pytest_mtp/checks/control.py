"""Control first: how far a server agrees with itself, measured before anybody compares it with anything."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_mtp.checks.instrumented import Instrumented
from pytest_mtp.checks.speculation import Meter, evidence_of_speculation, ledger, restless
from pytest_mtp.checks.stepwise import StepCheck, joined, parity_finding, step_check
from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.case import Expect
from pytest_mtp.core.codes import severity_of
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.facts import Control, SpecDecode
from pytest_mtp.core.protocols import CheckContext, Server
from pytest_mtp.core.record import Json
from pytest_mtp.core.verdict import Finding, by_severity
from pytest_mtp.judge.acceptance import broken_identities
from pytest_mtp.judge.chunks import stream_signs
from pytest_mtp.judge.judgement import GradeContext, Judgement
from pytest_mtp.judge.pipeline import judge
from pytest_mtp.judge.statistics import upper_bound

REPEATS = 3
STEP_POSITIONS = 12
HARMLESS_TO_ANSWERS = frozenset({"PROTO.usage", "PROTO.finish", "PROTO.param", "GEN.truncated", "GEN.empty", "GEN.think_unclosed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPrompt:
    """A question any chat model answers; `expect` only where there is one right answer. `stepwise`: checked token by token."""

    id: str
    prompt: str
    max_tokens: int
    expect: tuple[Expect, ...] = ()
    stepwise: bool = False


PROMPTS = (
    ControlPrompt(
        id="capital",
        prompt="What is the capital of France? Answer with one word.",
        max_tokens=32,
        expect=(Expect(kind="contains", spec="Paris"),),
    ),
    ControlPrompt(
        id="sum",
        prompt="What is 2+2? Answer with only the number.",
        max_tokens=32,
        expect=(Expect(kind="number", spec={"value": 4, "loose": True}),),
    ),
    ControlPrompt(id="code", prompt="Write a Python function that adds two numbers.", max_tokens=40, stepwise=True),
    ControlPrompt(id="prose", prompt="Why is the sky blue?", max_tokens=40, stepwise=True),
)  # fmt: skip


def measure_control(context: CheckContext) -> Control:
    """Ask each prompt `REPEATS` times alone, one after another; the caller holds the exclusive lease.

    The unit of replication is the prompt. Never raises for what the server answers: an unusable server is a Control too.
    """
    asking = Instrumented(context.server.engine, context.ask_alone)
    meter = Meter(context.server)
    exchanges = {prompt.id: [asking.ask(_ask(prompt)) for _ in range(REPEATS)] for prompt in PROMPTS}
    grading = GradeContext(case_severity="model", references={})
    judgements = {p.id: [judge(exchange, p.expect, context=grading) for exchange in exchanges[p.id]] for p in PROMPTS}
    speculation = _speculation(context.server, asking, meter, [exchange for group in exchanges.values() for exchange in group])
    steps = _stepwise(context, exchanges) if speculation.state in ("active", "unknown") else StepCheck(reason="no drafts are accepted")
    reason = _unusable(judgements)
    text = sum(len({_text(exchange) for exchange in group}) > 1 for group in exchanges.values())
    findings = _findings(judgements, speculation, steps, text, reason)
    return Control(
        prompts=len(PROMPTS),
        repeats=REPEATS,
        disagree_text=text,
        disagree_tokens=_token_disagreement(exchanges),
        disagree_graded=sum(len({j.answer or j.outcome for j in judgements[p.id]}) > 1 for p in PROMPTS if p.expect),
        upper=upper_bound(text, len(PROMPTS)),
        usable=not reason,
        reason=reason,
        findings=tuple(by_severity(findings)),
        answers={p.id: judgements[p.id][0].answer or "" for p in PROMPTS},
        speculation=speculation,
        step_checked=steps.checked,
        step_material=len(steps.material),
        step_neartie=len(steps.neartie),
    )


_RESTLESS = "drafts are counted while nothing of ours runs, so they are not ours alone: the counters are not used"


def _speculation(server: Server, asking: Instrumented, meter: Meter, exchanges: Sequence[Exchange]) -> SpecDecode:
    """What the exchanges prove; where nothing tells of drafts, one more answer is streamed and its chunks are looked at."""
    moving = restless(server)  # now, when ours are done
    book = ledger(server, exchanges, None if moving else meter.moved(exchanges))
    signs = (*asking.evidence, *((_RESTLESS,) if moving else ()))
    found = evidence_of_speculation(server.facts.speculation, book, signs=signs)
    if found.state != "unknown" or found.acceptance is not None or not book.requests:
        return found
    streamed = asking.ask(dataclasses.replace(_ask(PROMPTS[-1]), stream=True))
    if streamed.fault is not None:  # logprobs would tell how many tokens a chunk holds, and some refuse them in streams
        streamed = asking.ask(dataclasses.replace(streamed.ask, top_logprobs=None))
    seen = stream_signs(streamed, twin=exchanges[-1])  # of that prompt
    return evidence_of_speculation(server.facts.speculation, book, signs=(*([seen] if seen else []), *signs))


def _ask(prompt: ControlPrompt) -> Ask:
    return Ask(
        messages=({"role": "user", "content": prompt.prompt},),
        sampling=Sampling(temperature=0.0, max_tokens=prompt.max_tokens),
        top_logprobs=2 if prompt.stepwise else None,
    )


def _text(exchange: Exchange) -> str:
    """What was generated, reasoning included, or the fault in place of it."""
    if exchange.reply is None:
        return f"fault {exchange.fault.code if exchange.fault else ''}"
    return f"{exchange.reply.reasoning or ''}\0{exchange.reply.text}"


def _token_disagreement(exchanges: dict[str, list[Exchange]]) -> int | None:
    """Prompts whose repeats differ in token ids (or logprob tokens); None where no prompt offers either."""
    compared = disagree = 0
    for group in exchanges.values():
        tokens = [_tokens(exchange) for exchange in group]
        if all(tokens):
            compared += 1
            disagree += len(set(tokens)) > 1
    return disagree if compared else None


def _tokens(exchange: Exchange) -> tuple[int | str, ...]:
    """Token ids where there are any, else the token texts of the logprobs, else nothing."""
    if exchange.reply is None:
        return ()
    return exchange.reply.token_ids or tuple(
        entry.token if entry.token_id is None else entry.token_id for entry in exchange.reply.logprobs
    )  # fmt: skip


def _stepwise(context: CheckContext, exchanges: dict[str, list[Exchange]]) -> StepCheck:
    """Every stepwise prompt."""
    parts = [
        step_check(exchanges[prompt.id][0], context.server.engine, context.ask_alone, positions=STEP_POSITIONS)
        for prompt in PROMPTS
        if prompt.stepwise
    ]
    return joined(parts)


def _unusable(judgements: dict[str, list[Judgement]]) -> str:
    """Why nothing that follows would mean anything, or nothing: not one answer to any prompt can be used.

    An answer beside wrong token counts is still an answer, and a reasoning model whose budget ended is not broken.
    """
    every = [judgement for group in judgements.values() for judgement in group]
    spoiled = [{f.code for f in judgement.findings if f.severity != "note"} - HARMLESS_TO_ANSWERS for judgement in every]
    if all(spoiled):
        return f"no control prompt got a usable answer ({', '.join(sorted(set().union(*spoiled)))})"
    return ""


def _findings(
    judgements: dict[str, list[Judgement]], speculation: SpecDecode, steps: StepCheck, text: int, unusable: str
) -> list[Finding]:  # fmt: skip
    findings = _serving_faults(judgements)
    if unusable:
        infra = _infra_alone(judgements)
        # No answer at all proves nothing about answers: then the cases are blocked, and nothing is called broken.
        findings.append(Finding(code=infra or "CTRL.unusable", severity="note" if infra else "critical", title=unusable))
    if text:
        title = f"{text} of {len(PROMPTS)} prompts got different texts at temperature 0 ({REPEATS} repeats each)"
        findings.append(Finding(code="CTRL.unstable", severity=severity_of("CTRL.unstable"), title=title))
    if steps.material:
        findings.append(parity_finding("SPEC.parity.material", steps, "tokens that the model itself would not choose"))
    elif steps.neartie:
        findings.append(parity_finding("SPEC.parity.neartie", steps, "tokens that differ at a near-tie"))
    broken = broken_identities(speculation.acceptance) if speculation.acceptance else []
    if broken:
        findings.append(
            Finding(code="SPEC.identity", severity=severity_of("SPEC.identity"), title=broken[0], evidence=_counts(speculation))
        )
    if speculation.state == "dead":
        findings.append(Finding(code="SPEC.dead", severity="critical", title="speculation is dead", detail="\n".join(speculation.evidence)))
    return findings


def _counts(speculation: SpecDecode) -> dict[str, Json]:
    return speculation.acceptance.to_dict() if speculation.acceptance else {}


def _infra_alone(judgements: dict[str, list[Judgement]]) -> str:
    """The INFRA code that came first when every prompt met the surroundings and none an answer, else nothing."""
    every = [judgement for group in judgements.values() for judgement in group]
    if any(judgement.outcome != "BLOCKED" for judgement in every if judgement.outcome != "PASS"):
        return ""
    codes = [f.code for judgement in every for f in judgement.findings if f.code.startswith("INFRA.")]
    return codes[0] if codes else ""


def _serving_faults(judgements: dict[str, list[Judgement]]) -> list[Finding]:
    """What the control answers show of broken serving (wire, usage, degeneration), once each.

    Loops are left to cases, where they are confirmed under sampling.
    """
    seen: dict[str, Finding] = {}
    for group in judgements.values():
        for finding in (finding for judgement in group for finding in judgement.findings):
            if finding.severity == "critical" and not finding.code.startswith(("INFRA.", "GEN.degenerate.loop")):
                seen.setdefault(finding.code, finding)
    return list(seen.values())
