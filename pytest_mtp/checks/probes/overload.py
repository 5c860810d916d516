"""More requests than fit: each ends with an answer or an open refusal (429 or 503), and the server lives on."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_mtp.checks.probes.probe import Probe, Sight, finding
from pytest_mtp.checks.probes.saying import say, whole
from pytest_mtp.checks.probes.sent import Sent, fault_finding
from pytest_mtp.core.case import Case
from pytest_mtp.core.exchange import Exchange

_WIDTH, _MAX_TOKENS = 24, 8
_CROWD, _AFTER = "in the crowd", "after the crowd"


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """All at once, none retried, and one honest request afterwards."""
    budget, width = whole(case, "max_tokens", _MAX_TOKENS), whole(case, "width", _WIDTH)
    crowd = sent.burst([say(f"Write about the number {place}.", max_tokens=budget, stream=bool(place % 2)) for place in range(width)])
    after = sent.alone(say("Say hello.", max_tokens=4))
    return [*(_in_the_crowd(exchange) for exchange in crowd), _afterwards(after)]


def _in_the_crowd(exchange: Exchange) -> Sight:
    if exchange.fault is None or exchange.fault.kind == "busy":
        return Sight(condition=_CROWD)
    title = f"a request beyond what fits ended in: {exchange.fault.message}; an answer, 429 or 503 was due"
    evidence = {"kind": exchange.fault.kind, "status": exchange.fault.status, "body": exchange.fault.body[:300]}
    return Sight(condition=_CROWD, findings=(finding("PROTO.overload", title, evidence=evidence),), culprit=exchange)


def _afterwards(exchange: Exchange) -> Sight:
    fault = fault_finding(exchange)
    return Sight(condition=_AFTER, findings=(fault,) if fault else (), culprit=exchange if fault else None)


PROBE = Probe(
    name="overload",
    about="more requests than fit: each gets an answer, 429 or 503, and the next one is served",
    requests=lambda case: whole(case, "width", _WIDTH) + 1,
    tokens=lambda case: whole(case, "width", _WIDTH) * whole(case, "max_tokens", _MAX_TOKENS) + 4,
    look=look,
    sees=("overload-probe",),
    alone=True,
)
