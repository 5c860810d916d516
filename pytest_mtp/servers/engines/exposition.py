"""Draft counters out of a Prometheus exposition."""

from __future__ import annotations

import math

from prometheus_client.parser import text_string_to_metric_families

from pytest_mtp.core.facts import Acceptance


def draft_counters(exposition: str, *, prefix: str) -> Acceptance | None:
    """The counters `{prefix}spec_decode_num_*_total`, or None where they are missing or the text is no exposition.

    Values of several label sets are added up. The per-position counter is absent until the first draft.
    """
    totals: dict[str, float] = {}
    positions: dict[int, float] = {}
    try:
        for family in text_string_to_metric_families(exposition):
            for sample in family.samples:
                name = sample.name.removeprefix(prefix)
                if name == sample.name or not math.isfinite(sample.value):
                    continue
                if name == "spec_decode_num_accepted_tokens_per_pos_total":
                    position = int(sample.labels["position"])
                    positions[position] = positions.get(position, 0) + sample.value
                else:
                    totals[name] = totals.get(name, 0) + sample.value
    except (ValueError, KeyError):
        return None
    drafted = totals.get("spec_decode_num_draft_tokens_total")
    accepted = totals.get("spec_decode_num_accepted_tokens_total")
    if drafted is None or accepted is None:
        return None
    rounds = totals.get("spec_decode_num_drafts_total")
    return Acceptance(
        drafted=int(drafted),
        accepted=int(accepted),
        rounds=None if rounds is None else int(rounds),
        per_position=tuple(int(positions.get(index, 0)) for index in range(max(positions, default=-1) + 1)),
        source="/metrics",
    )
