"""How far a server is from its own limit: the speed that its memory allows, by the weights on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_mtp.checkpoint.ceiling import Ceiling, ceiling
from pytest_mtp.core.facts import Acceptance
from pytest_mtp.core.verdict import Measure
from pytest_mtp.core.weights import Weights
from pytest_mtp.judge.statistics import quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """One request after its first chunk: `tokens` that came in `decode_s` seconds; `context` tokens were in the cache meanwhile."""

    tokens: int
    decode_s: float
    context: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafting:
    """What drafting gave while the requests ran: `mean_length` tokens a verify step at `depth` drafts, and who says so."""

    mean_length: float
    depth: int
    source: str


def drafting(parts: Sequence[Acceptance | None], *, emitted: int, configured_depth: int | None) -> Drafting | None:
    """None where nothing is known of drafts, or nothing was drafted. `emitted` tokens came during the counts.

    The mean length is 1 + A / D where rounds D are known, else N / (N - A), which counts every forward pass.
    """
    counts = [part for part in parts if part is not None and part.drafted]
    drafted, accepted = sum(part.drafted for part in counts), sum(part.accepted for part in counts)
    rounds = sum(part.rounds or 0 for part in counts) if all(part.rounds for part in counts) else 0
    total = Acceptance(drafted=drafted, accepted=accepted, rounds=rounds or None)
    length = total.mean_length or total.effective_length(emitted)
    if not drafted or length is None:
        return None
    depth = (round(drafted / rounds) if rounds else configured_depth) or 1
    return Drafting(mean_length=length, depth=max(depth, 1), source=counts[0].source)


def limit_measures(
    stratum: str, rows: Sequence[Decoded], *, weights: Weights | None, bandwidth_gb_s: float, drafts: Drafting | None
) -> list[Measure]:
    """The decode ceiling without drafts and with them, and the share of it that was reached."""
    timed = [row for row in rows if row.decode_s > 0 and row.tokens > 0]
    context = round(sum(row.context for row in timed) / len(timed)) if timed else 0
    limit = _ceiling(weights, bandwidth_gb_s, drafts, context) if weights is not None else None
    if weights is None or limit is None:
        why = "the weights are not known: give --mtp-checkpoint" if weights is None else "the checkpoint holds no weights of a trunk"
        return [Measure(name="decode_ceiling_tps", value=None, unit="tokens/s", per="case", n=0, stratum=stratum, note=why)]
    rates = [row.tokens / row.decode_s for row in timed]
    best = limit.speculating_tokens_s or limit.tokens_s
    over = f"{bandwidth_gb_s:g} GB/s over {limit.step_bytes:,} bytes a token"
    found = [
        Measure(name="decode_tps", value=_median(rates), unit="tokens/s", per="request", n=len(rates), stratum=stratum, note=_DECODE),
        Measure(name="decode_ceiling_tps", value=limit.tokens_s, unit="tokens/s", per="case", n=1, stratum=stratum, note=over),
    ]
    if limit.speculating_tokens_s is not None and drafts is not None:
        step = f"{drafts.mean_length:.2f} tokens a step at depth {drafts.depth} ({drafts.source or 'measured'})"
        note = f"{step}, {limit.verify_bytes:,} bytes a step"
        found.append(
            Measure(
                name="speculating_ceiling_tps",
                value=limit.speculating_tokens_s,
                unit="tokens/s",
                per="case",
                n=1,
                stratum=stratum,
                note=note,
            )
        )
    shares = [100 * rate / best for rate in rates]
    share = _median(shares)
    note = "median; of the ceiling with drafts" if limit.speculating_tokens_s else "median; of the ceiling without drafts"
    if share is not None and share > 100:
        note += "; above 100: the bandwidth is not this server's, or other weights are served"
    found.append(Measure(name="of_ceiling", value=share, unit="%", per="request", n=len(shares), stratum=stratum, note=note))
    return found


_DECODE = "median; tokens after the first chunk / time after it"


def _ceiling(weights: Weights, bandwidth_gb_s: float, drafts: Drafting | None, context: int) -> Ceiling | None:
    if drafts is None:
        return ceiling(weights, bandwidth_gb_s=bandwidth_gb_s, context=context)
    return ceiling(
        weights, bandwidth_gb_s=bandwidth_gb_s, acceptance_length=drafts.mean_length, depth=drafts.depth, context=context
    )  # fmt: skip


def _median(values: Sequence[float]) -> float | None:
    return quantile(values, 0.5) if values else None
