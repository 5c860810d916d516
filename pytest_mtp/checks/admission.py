"""How many requests does the front door admit, and how many does the engine run at once? Bursts of growing width."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import cast

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.case import Case
from pytest_mtp.core.errors import NotOffered
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.facts import Load
from pytest_mtp.core.protocols import CheckContext, Server
from pytest_mtp.core.verdict import Finding, Verdict, by_severity
from pytest_mtp.judge.admission import Admission, Burst, Step, Stream, conclude, next_burst
from pytest_mtp.judge.coupling import coupling_findings, coupling_measures
from pytest_mtp.judge.gate import harms

MOST, REQUESTS, TOKENS, SECONDS = 16, 48, 32, 60.0
LONG_ENOUGH_S, LONGEST = 0.4, 4
"""A reply should take so long that delays of delivery do not matter; for that it may have up to four times the tokens."""

DOOR_TOKENS = 8
_POLL_S, _MOST_POLLS = 0.1, 200


def run(case: Case, context: CheckContext) -> Verdict:
    """The caller holds the exclusive lease. `requests` bounds what is sent in all, `seconds` when no further burst is begun."""
    most, requests = (cast("int", case.params.get(name, default)) for name, default in (("most", MOST), ("requests", REQUESTS)))
    tokens = cast("int", case.params.get("max_tokens", TOKENS))
    wanted = cast("int | None", case.params.get("admits"))
    ends_at = time.monotonic() + cast("float", case.params.get("seconds", SECONDS))
    bursts: list[Burst] = []
    exchanges: list[Exchange] = []
    why, took = "", 0.0
    while (step := next_burst(bursts, most=most, requests=requests)) is not None:
        if bursts and time.monotonic() + took * step.width / bursts[-1].width > ends_at:
            why = f"{step.width} at once would take longer than this case has"
            break
        context.progress(f"admission, {step.width} at once")
        started = time.monotonic()
        sent, burst = _send(step, tokens, len(exchanges), context)
        took = time.monotonic() - started
        exchanges += sent
        if (stop := _stopped(case, sent, bursts, len(exchanges))) is not None:
            return stop
        bursts.append(burst)
        if len(bursts) == 1:
            tokens = _long_enough(burst, tokens)
    seen = conclude(bursts)
    return _concluded(case, context, bursts, seen, wanted=wanted, why=why or _why_no_more(bursts, most), exchanges=len(exchanges))


def _why_no_more(bursts: list[Burst], most: int) -> str:
    if any(burst.refused for burst in bursts):
        return "the front door lets in no more"
    widest = max(burst.width for burst in bursts)
    return f"{most} at once is the most that this case sends" if widest == most else "this case may send no more requests"


def _concluded(
    case: Case, context: CheckContext, bursts: list[Burst], seen: Admission, *, wanted: int | None, why: str, exchanges: int
) -> Verdict:
    findings = by_severity(coupling_findings(bursts, seen, context.server.facts, wanted=wanted))
    worst = harms(findings)
    measures = coupling_measures(bursts, seen, why_no_more=why)
    if wanted is not None and not worst and (seen.admitted is None or seen.admitted.least < wanted):
        reason = f"{wanted} at once was not reached: {seen.limited or why}"
        return Verdict(
            case_id=case.id, outcome="INCONCLUSIVE", reason=reason, findings=tuple(findings), measures=measures, exchanges=exchanges
        )  # fmt: skip
    return Verdict(
        case_id=case.id,
        outcome="FAIL" if worst else "PASS",
        reason=f"{worst[0].code}: {worst[0].title}" if worst else "",
        findings=tuple(findings),
        measures=measures,
        exchanges=exchanges,
    )


def _send(step: Step, tokens: int, before: int, context: CheckContext) -> tuple[list[Exchange], Burst]:
    """Prompts that share no beginning, so that no cache serves two of them alike."""
    sampling = Sampling(temperature=0.0, max_tokens=min(tokens, DOOR_TOKENS) if step.door_only else tokens)
    asks = [
        Ask(messages=({"role": "user", "content": f"{before + place}: count upwards from {before + place}, one number a line."},),
            sampling=sampling, stream=True)
        for place in range(1, step.width + 1)
    ]  # fmt: skip
    with _watched(context.server, wide=step.width > 1) as loads:
        exchanges = list(context.burst(asks))
    streams = tuple(_stream(exchange) for exchange in exchanges)
    return exchanges, Burst(streams=streams, loads=tuple(loads), door_only=step.door_only)


@contextlib.contextmanager
def _watched(server: Server, *, wide: bool) -> Iterator[list[Load]]:
    """The gauges, read over and over by a thread of its own; empty where the server has none, or where they could tell nothing."""
    loads: list[Load] = []
    over = threading.Event()

    def watch() -> None:
        while len(loads) < _MOST_POLLS and (load := server.engine.load(server.client)) is not None:
            loads.append(load)
            if over.wait(_POLL_S):
                return

    watcher = threading.Thread(target=watch, name="mtp-gauges", daemon=True)
    if wide:
        watcher.start()
    try:
        yield loads
    finally:
        over.set()
        if wide:
            watcher.join()


def _stream(exchange: Exchange) -> Stream:
    line, fault = exchange.timeline, exchange.fault
    carrying = [chunk.at_ns for chunk in line.chunks if chunk.characters]
    headers = (exchange.reply.headers if exchange.reply else fault.headers if fault else None) or {}
    retry_after = headers.get("retry-after", "")
    return Stream(
        sent_s=line.sent_ns / 1e9,
        first_s=carrying[0] / 1e9 if carrying else None,
        last_s=carrying[-1] / 1e9 if carrying else None,
        done_s=None if line.done_ns is None else line.done_ns / 1e9,
        status=None if fault is None else (fault.status or 503) if fault.kind == "busy" else 0,
        retry_after_s=float(retry_after) if retry_after.isdecimal() else None,
        by=headers.get("server", ""),
    )


def _stopped(case: Case, sent: list[Exchange], bursts: list[Burst], exchanges: int) -> Verdict | None:
    """A verdict where requests failed for another reason than their number; raises NotOffered where streams are refused."""
    width = len(sent)
    lives = any(each.reply is not None for each in sent)
    faults = [each.fault for each in sent if each.fault is not None and not (width > 1 and _turned_away(each, lives=lives))]
    if not faults:
        return None
    if not bursts and faults[0].kind == "refused":
        raise NotOffered(f"a short streamed reply was refused: {faults[0].message}")
    findings = tuple(Finding(code=fault.code, severity="critical", title=f"{fault.message} ({width} at once)") for fault in faults[:3])
    measures = coupling_measures(bursts, conclude(bursts), why_no_more="requests failed") if bursts else ()
    reason = f"{len(faults)} of {width} requests sent at once got no answer"
    return Verdict(case_id=case.id, outcome="BLOCKED", reason=reason, findings=findings, measures=measures, exchanges=exchanges)


def _turned_away(exchange: Exchange, *, lives: bool) -> bool:
    """Refused for the number of requests. A connection that is dropped unanswered is one, where others of the burst were served."""
    fault = exchange.fault
    return fault is not None and (fault.kind == "busy" or (lives and fault.kind in ("connect", "reset") and not exchange.timeline.chunks))


def _long_enough(alone: Burst, tokens: int) -> int:
    """Tokens for a reply whose length on the clock means something, from the time of the first one."""
    (stream,) = alone.streams
    if stream.first_s is None or stream.last_s is None:
        return tokens
    span = max(stream.last_s - stream.first_s, 1e-3)
    return tokens * max(1, min(LONGEST, round(LONG_ENOUGH_S / span)))
