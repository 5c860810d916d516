"""Counters out of a Prometheus exposition."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping

from prometheus_client.parser import text_string_to_metric_families

from pytest_mtp.core.facts import Acceptance

MOST_POSITIONS = 1024
"""Draft positions that are believed: no drafter proposes as many tokens a step."""

POSITIONS = "spec_decode_num_accepted_tokens_per_pos_total"


def samples(exposition: str, *, prefix: str) -> Mapping[str, float] | None:
    """The values of the series that start with `prefix`, by the rest of their name, or None where the text is no exposition.

    Values of several label sets are added up, which is right for counters and for gauges that count things. `_created`
    gauges, which client libraries write beside each counter, are left out, and so is what is not finite.
    """
    totals: dict[str, float] = {}
    try:
        for family in text_string_to_metric_families(exposition):
            for sample in family.samples:
                name = sample.name.removeprefix(prefix)
                if name == sample.name or name.endswith("_created") or not math.isfinite(sample.value):
                    continue
                if name == POSITIONS:
                    name = f"{name}/{int(sample.labels['position'])}"
                totals[name] = min(totals.get(name, 0) + sample.value, sys.float_info.max)
    except (ValueError, KeyError):
        return None
    return totals


def labelled(exposition: str, name: str) -> tuple[tuple[Mapping[str, str], float], ...]:
    """Labels and finite value of each sample of one series, by its whole name; none where the text is no exposition."""
    try:
        return tuple(
            (sample.labels, sample.value)
            for family in text_string_to_metric_families(exposition)
            for sample in family.samples
            if sample.name == name and math.isfinite(sample.value)
        )
    except (ValueError, KeyError):
        return ()


def draft_counts(totals: Mapping[str, float], *, source: str = "/metrics") -> Acceptance | None:
    """The counters `spec_decode_num_*_total`, or None where they are missing.

    The per-position counter is absent until the first draft.
    """
    drafted = totals.get("spec_decode_num_draft_tokens_total")
    accepted = totals.get("spec_decode_num_accepted_tokens_total")
    if drafted is None or accepted is None:
        return None
    rounds = totals.get("spec_decode_num_drafts_total")
    found = ((int(name.removeprefix(f"{POSITIONS}/")), value) for name, value in totals.items() if name.startswith(f"{POSITIONS}/"))
    positions = {place: value for place, value in found if 0 <= place < MOST_POSITIONS}
    return Acceptance(
        drafted=int(drafted),
        accepted=int(accepted),
        rounds=None if rounds is None else int(rounds),
        per_position=tuple(int(positions.get(index, 0)) for index in range(max(positions, default=-1) + 1)),
        source=source,
    )


def whole(totals: Mapping[str, float], name: str) -> int | None:
    """One count, None where it is missing."""
    value = totals.get(name)
    return None if value is None else int(value)
