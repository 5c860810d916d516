"""Draft counts of one reply in llama.cpp's way: `timings.draft_n` and `timings.draft_n_accepted`."""

from __future__ import annotations

from pytest_mtp.core.facts import Acceptance
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.engines.document import count, mapping


def timings_acceptance(reply: Reply, *, speculates: bool | None) -> Acceptance | None:
    """Counts of the reply; the fields are absent, not 0, for a request that drafted nothing.

    Absence means "nothing was drafted" only where the server is known to speculate; else it is no offer.
    """
    timings = mapping(reply.extras.get("timings"))
    drafted, accepted = count(timings.get("draft_n")), count(timings.get("draft_n_accepted"))
    source = "timings.draft_n"
    if drafted is not None:
        return Acceptance(drafted=drafted, accepted=accepted or 0, source=source)
    if speculates and timings:
        return Acceptance(drafted=0, accepted=0, source=f"{source} absent: nothing was drafted")
    return None
