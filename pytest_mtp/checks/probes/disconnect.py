"""Users who hang up: requests that were abandoned while queued, in the prompt and in the answer free their place.

The gauge of running requests falls to 0 again, and the next answer is the one from before. A server without such a gauge is
held to the second alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from pytest_mtp.checks.probes.probe import Probe, Sight, finding
from pytest_mtp.checks.probes.saying import COUNT, STORY, say, whole
from pytest_mtp.checks.probes.sent import Sent, fault_finding
from pytest_mtp.core.case import Case

_CUTS, _LONG, _MAX_TOKENS = 6, 400, 16
_GAUGE, _NEXT = "their places are free again", "the next answer"
_PATIENCE_S, _IMPATIENCE_S = 30.0, 0.2
_SETTLE_S, _POLL_S = 20.0, 0.25
"""A step in flight may end first; a server that notices nothing would generate the rest of a long answer, which takes longer."""


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """Alternating: hung up before the first piece came, and after some pieces."""
    ask = say(COUNT, max_tokens=whole(case, "max_tokens", _MAX_TOKENS))
    before = [sent.alone(ask), sent.alone(ask)]
    long = say(STORY, max_tokens=_LONG, stream=True, temperature=0.8)
    cut = sum(
        sent.client.abandon(long, after_reads=0 if turn % 2 else 3, patience_s=_IMPATIENCE_S if turn % 2 else _PATIENCE_S)
        for turn in range(whole(case, "cuts", _CUTS))
    )
    if not cut:
        return [Sight(condition=_NEXT, unreached="every answer had ended before it could be abandoned")]
    gauge = _settled(sent)
    after = [sent.alone(ask), sent.alone(ask)]
    missing = next((exchange for exchange in (*before, *after) if exchange.reply is None), None)
    if missing is not None:
        fault = fault_finding(missing)
        return [gauge, Sight(condition=_NEXT, findings=(fault,) if fault else (), culprit=missing)]
    texts = [exchange.reply.text if exchange.reply else "" for exchange in (*before, *after)]
    if texts[0] != texts[1] or texts[2] != texts[3]:
        return [gauge, Sight(condition=_NEXT, unreached="the server disagrees with itself at temperature 0")]
    if texts[0] == texts[2]:
        return [gauge, Sight(condition=_NEXT)]
    title = f"after {cut} abandoned requests the answer to the same question is another"
    found = finding("CTRL.poison", title, evidence={"before": texts[0][:300], "after": texts[2][:300]})
    return [gauge, Sight(condition=_NEXT, findings=(found,), culprit=after[0])]


def _settled(sent: Sent) -> Sight:
    deadline = time.monotonic() + _SETTLE_S
    load = sent.engine.load(sent.client)
    if load is None or load.running is None:
        return Sight(condition=_GAUGE, not_offered="the server has no gauge of running requests")
    while load is not None and load.running and time.monotonic() < deadline:
        time.sleep(_POLL_S)
        load = sent.engine.load(sent.client)
    if load is None or not load.running:
        return Sight(condition=_GAUGE)
    title = f"{load.running} requests still run {_SETTLE_S:g} s after their users hung up"
    return Sight(condition=_GAUGE, findings=(finding("PROTO.disconnect", title, evidence=load.to_dict()),))


PROBE = Probe(
    name="disconnect",
    about="abandoned requests free their place, and harm nobody after them",
    requests=lambda case: 4 + whole(case, "cuts", _CUTS),
    tokens=lambda case: 4 * whole(case, "max_tokens", _MAX_TOKENS) + whole(case, "cuts", _CUTS) * _LONG,
    look=look,
    sees=("disconnect-recovery",),
    alone=True,
)
