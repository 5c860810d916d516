"""What a front door and the engine behind it are to each other: two numbers, held together and against what is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_mtp.core.case import Severity
from pytest_mtp.core.codes import CODES
from pytest_mtp.core.facts import ServerFacts
from pytest_mtp.core.record import Json
from pytest_mtp.core.verdict import Finding, Measure
from pytest_mtp.judge.admission import Admission, Bound, Burst, answers

ENGINE_SETTINGS: Mapping[str, str] = {
    "vllm": "vLLM --max-num-seqs",
    "sglang": "SGLang --max-running-requests",
    "llamacpp": "llama.cpp -np/--parallel",
    "mlx-vlm": "mlx-vlm MLX_VLM_MAX_NUM_SEQS (and one at a time with a draft model)",
    "mlx-lm": "mlx-lm --decode-concurrency (and one at a time with a draft model)",
    "tensorrt-llm": "TensorRT-LLM --max_batch_size",
    "ollama": "Ollama OLLAMA_NUM_PARALLEL",
    "lmstudio": "LM Studio's Max Concurrent Predictions",
}
DOOR_SETTINGS = (
    "nginx limit_conn (503 unless limit_conn_status says 429)",
    "LiteLLM max_parallel_requests (429)",
    "Envoy circuit_breakers max_requests and max_pending_requests (503)",
    "SGLang --max-queued-requests",
    "Ollama OLLAMA_MAX_QUEUE (503)",
)


def coupling_findings(bursts: Sequence[Burst], seen: Admission, facts: ServerFacts, *, wanted: int | None) -> tuple[Finding, ...]:
    """`PERF.admission` where the two numbers do not fit each other, or do not fit what is told.

    A regression where requests are turned away that should be let in: fewer than `wanted`, else fewer than the server itself tells
    that it works on. Without either nobody promised anything, and a limit is a note.
    """
    door, engine = seen.admitted, seen.runs
    detail = _detail(bursts, seen, facts)
    found: list[Finding] = []
    told, by = _told(facts)
    promised = wanted or (facts.concurrency if facts.sequences is not None else told)
    turned_away = [stream for burst in bursts for stream in burst.refused]
    if turned_away and door is not None and not seen.limited:
        who = "this case asks for" if wanted else f"{by} tells of"
        if promised is not None and door.least < promised:
            title = f"no more than {door.least} at once are let in, where {who} {promised}: the others get {answers(turned_away)}"
            found.append(_finding("regression", title, detail, door, engine, promised=promised))
        elif engine is not None and engine.exact and door.least > engine.least:
            title = f"the front door admits {door} requests at once, and the engine runs {engine}: {_excess(door, engine)}"
            found.append(_finding("note", title, detail, door, engine))
    elif engine is not None and engine.exact and facts.concurrency and facts.concurrency > engine.least:
        title = f"{facts.concurrency} requests are sent to this server at once, and its engine runs {engine}: the rest wait"
        found.append(_finding("note", title, detail, door, engine, sent=facts.concurrency))
    if engine is not None and engine.exact and told not in (None, engine.least):
        title = f"the engine was seen to run {engine} requests at once, and {by} tells {told}"
        found.append(_finding("note", title, detail, door, engine, told=told))
    if seen.limited:
        found.append(_finding("note", f"requests are turned away, but not by their number: {seen.limited}", detail, door, engine))
    return tuple(found)


def coupling_measures(bursts: Sequence[Burst], seen: Admission, *, why_no_more: str) -> tuple[Measure, ...]:
    """The two numbers; what was not reached is a lower bound with the reason, never a guess."""
    return tuple(
        Measure(
            name=name,
            value=None if bound is None else float(bound.least),
            unit="requests",
            per="run",
            n=len(bursts),
            note="not told by streams or gauges" if bound is None else "; ".join(_said(bound, why_no_more)),
        )
        for name, bound in (("requests_admitted", seen.admitted), ("requests_run_at_once", seen.runs))
    )


def _said(bound: Bound, why_no_more: str) -> Sequence[str]:
    return ("exactly" if bound.exact else f"at least: {why_no_more}", *bound.evidence)


def _told(facts: ServerFacts) -> tuple[int | None, str]:
    """How many the engine runs at once as the server says, else as the command line of its process does."""
    if facts.sequences is None and facts.process is not None:
        return facts.process.sequences, "its command line"
    return facts.sequences, "the server"


def _excess(door: Bound, engine: Bound) -> str:
    waiting = door.least - engine.least
    return f"{waiting} of {door.least} wait, and a worker that does not queue would turn {'it' if waiting == 1 else 'them'} away with 429"


def _detail(bursts: Sequence[Burst], seen: Admission, facts: ServerFacts) -> str:
    lines = [line for bound in (seen.admitted, seen.runs) if bound for line in bound.evidence]
    told, by = _told(facts)
    if told is not None:
        lines.append(f"{by} tells: {told} at once")
    refused = [stream for burst in bursts for stream in burst.refused]
    refusers, servers = ({stream.by for stream in streams if stream.by} for streams in (refused, [s for b in bursts for s in b.served]))
    if refusers and servers and refusers != servers:
        lines.append(f"turned away by {', '.join(sorted(refusers))}, served by {', '.join(sorted(servers))}")
    if any(stream.status for stream in refused) and all(stream.retry_after_s is None for stream in refused):
        lines.append("refusals carry no Retry-After: clients must guess when to come again")
    known = ENGINE_SETTINGS.get(facts.engine)
    lines.append("engine: " + (known or "; ".join(ENGINE_SETTINGS.values())))
    lines.append("front door: " + "; ".join(DOOR_SETTINGS))
    return "\n".join(lines)


def _finding(severity: Severity, title: str, detail: str, door: Bound | None, engine: Bound | None, **more: Json) -> Finding:
    numbers: dict[str, Json] = {"admitted": str(door) if door else None, "run_at_once": str(engine) if engine else None}
    code = "PERF.admission"
    return Finding(code=code, severity=severity, title=title, detail=detail, hint=CODES[code].hint, evidence={**numbers, **more})
