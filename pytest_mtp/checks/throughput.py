"""How fast one stream decodes: medians and spread, code and prose apart. Numbers only; a verdict needs a second arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from pytest_mtp.checks.limit import Decoded, drafting, limit_measures
from pytest_mtp.checks.prompts import strata_of
from pytest_mtp.core.case import Case
from pytest_mtp.core.errors import NotOffered
from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.facts import Acceptance
from pytest_mtp.core.protocols import CheckContext, Engine
from pytest_mtp.core.verdict import Finding, Interval, Measure, Verdict
from pytest_mtp.judge.statistics import quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One streamed request: tokens from usage, times from the monotonic clock of this client."""

    tokens: int
    total_s: float
    ttft_s: float
    decode_s: float
    chunks: int
    first: int
    prompt: int
    drafts: Acceptance | None

    @property
    def decoded(self) -> Decoded:
        """Without the first chunk, whose tokens came with the prompt's own pass."""
        return Decoded(tokens=self.tokens - self.first, decode_s=self.decode_s, context=self.prompt + self.tokens // 2)


def run(case: Case, context: CheckContext) -> Verdict:
    """The caller holds the exclusive lease. Strata alternate within a round, so that drift hits them alike."""
    rounds, warmup = cast("int", case.params.get("rounds", 3)), cast("int", case.params.get("warmup", 1))
    strata = strata_of(case, default_max_tokens=64, stream=True)
    rows: dict[str, list[Row]] = {name: [] for name in strata}
    exchanges = 0
    server = context.server
    before = None
    for turn in range(warmup + rounds):
        if turn == warmup:
            before = server.engine.counters(server.client)
        context.progress(f"throughput, {'warm-up' if turn < warmup else f'round {turn - warmup + 1} of {rounds}'}")
        for place in range(max(map(len, strata.values()), default=0)):
            for name, asks in strata.items():
                if place >= len(asks):
                    continue
                exchange = context.ask_alone(asks[place])
                exchanges += 1
                if exchange.fault is not None:
                    finding = Finding(code=exchange.fault.code, severity="critical", title=exchange.fault.message)
                    measures = _all_measures(rows)
                    return Verdict(
                        case_id=case.id, outcome="BLOCKED", reason=f"{finding.code}: {finding.title}", findings=(finding,),
                        measures=measures, exchanges=exchanges,
                    )  # fmt: skip
                row = _row(exchange, server.engine)
                if row is not None and turn >= warmup:
                    rows[name].append(row)
    if exchanges and not any(rows.values()):
        raise NotOffered("no token counts in streamed replies (usage), so no speed per token")
    after = server.engine.counters(server.client)
    counted = after.since(before).acceptance if before is not None and after is not None else None
    measures = (*_all_measures(rows), *_limits(case, context, rows, counted))
    return Verdict(case_id=case.id, outcome="PASS", measures=measures, exchanges=exchanges)


def _limits(case: Case, context: CheckContext, rows: dict[str, list[Row]], counted: Acceptance | None) -> list[Measure]:
    """Drafts by the replies of each stratum where they tell, else by the counters over all strata."""
    bandwidth = cast("float | None", case.params.get("bandwidth_gb_s"))
    if bandwidth is None:
        return []
    depth = context.control().speculation.depth or context.server.facts.speculation.depth
    emitted = sum(row.tokens for group in rows.values() for row in group)
    overall = drafting([counted], emitted=emitted, configured_depth=depth)
    found: list[Measure] = []
    for name, group in rows.items():
        if group:
            own = drafting([row.drafts for row in group], emitted=sum(row.tokens for row in group), configured_depth=depth)
            decoded = [row.decoded for row in group]
            found += limit_measures(name, decoded, weights=context.weights, bandwidth_gb_s=bandwidth, drafts=own or overall)
    return found


def _row(exchange: Exchange, engine: Engine) -> Row | None:
    reply, line = exchange.reply, exchange.timeline
    if reply is None or reply.usage is None or not reply.usage.completion_tokens or line.total_s is None or line.ttft_s is None:
        return None
    carrying = [chunk for chunk in line.chunks if chunk.characters]
    return Row(
        tokens=reply.usage.completion_tokens,
        total_s=line.total_s,
        ttft_s=line.ttft_s,
        decode_s=line.decode_s or 0.0,
        chunks=len(carrying),
        first=(carrying[0].token_count if carrying else None) or 1,
        prompt=reply.usage.prompt_tokens or 0,
        drafts=engine.acceptance_of(reply),
    )


def _all_measures(rows: dict[str, list[Row]]) -> tuple[Measure, ...]:
    return tuple(measure for name, group in rows.items() if group for measure in _measures(name, group))


def _measures(stratum: str, rows: Sequence[Row]) -> list[Measure]:
    """Per request, never per gap.

    The rate is over all tokens and the whole request: the first chunk may hold several tokens, so a rate over the gaps
    alone would need a count that chunks do not give.
    """
    per_request = [row.tokens / row.total_s for row in rows if row.total_s > 0]
    return [
        _spread("user_e2e_tps", per_request, "tokens/s", stratum, "tokens of usage / whole request"),
        _spread("ttft_ms", [row.ttft_s * 1e3 for row in rows], "ms", stratum, "to the first chunk with text"),
        _spread("tokens_per_chunk", [row.tokens / row.chunks for row in rows if row.chunks], "tokens", stratum, "usage / chunks with text"),
    ]


def _spread(name: str, values: Sequence[float], unit: str, stratum: str, note: str) -> Measure:
    spread = Interval(low=min(values), high=max(values), level=1.0, method="min-max") if values else None
    middle = quantile(values, 0.5) if values else None
    return Measure(
        name=name,
        value=middle,
        unit=unit,
        per="chunk" if name == "tokens_per_chunk" else "request",
        n=len(values),
        stratum=stratum,
        interval=spread,
        note=f"median; {note}",
    )
