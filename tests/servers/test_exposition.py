"""Draft counters out of expositions of several makes."""

from __future__ import annotations

import pytest

from pytest_mtp.core.facts import Acceptance
from pytest_mtp.servers.engines.exposition import draft_counts, samples

PLAIN = """\
# HELP x:spec_decode_num_drafts_total Steps.
# TYPE x:spec_decode_num_drafts_total counter
x:spec_decode_num_drafts_total 4
# TYPE x:spec_decode_num_draft_tokens_total counter
x:spec_decode_num_draft_tokens_total 12.0
# TYPE x:spec_decode_num_accepted_tokens_total counter
x:spec_decode_num_accepted_tokens_total 7.0
"""


def draft_counters(text, *, prefix):
    totals = samples(text, prefix=prefix)
    return totals if totals is None else draft_counts(totals)


def test_the_counters_are_read():
    assert draft_counters(PLAIN, prefix="x:") == Acceptance(drafted=12, accepted=7, rounds=4, source="/metrics")


def test_the_time_of_creation_is_no_count():
    created = "# TYPE x:spec_decode_num_draft_tokens_created gauge\nx:spec_decode_num_draft_tokens_created 1.7e9\n"
    assert draft_counters(PLAIN + created, prefix="x:").drafted == 12


def test_label_sets_are_added_up():
    text = PLAIN.replace(
        "draft_tokens_total 12.0", 'draft_tokens_total{engine="0"} 12.0\nx:spec_decode_num_draft_tokens_total{engine="1"} 3.0'
    )
    assert draft_counters(text, prefix="x:").drafted == 15


def test_positions_are_ordered_and_gaps_are_zero():
    name = "x:spec_decode_num_accepted_tokens_per_pos_total"
    text = f'{PLAIN}{name}{{position="10"}} 1\n{name}{{position="0"}} 6\n'
    assert draft_counters(text, prefix="x:").per_position == (6, *(0,) * 9, 1)


def test_a_missing_count_of_steps_is_none():
    text = "\n".join(line for line in PLAIN.splitlines() if "drafts_total" not in line) + "\n"
    assert draft_counters(text, prefix="x:").rounds is None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param(PLAIN.replace("x:", "y:"), id="other-prefix"),
        pytest.param("<html>no metrics</html>", id="html"),
        pytest.param('{"error": "metrics are off"}', id="json"),
        pytest.param(PLAIN.replace("12.0", "NaN"), id="nan"),
        pytest.param(PLAIN + "x:spec_decode_num_accepted_tokens_per_pos_total 3\n", id="no-position"),
    ],
)
def test_what_is_no_such_exposition_gives_none(text):
    assert draft_counters(text, prefix="x:") is None
