"""The counters as Prometheus text."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_mtp.selftest.speculation import Counters

PREFIX = "fake:"


def exposition(counters: Counters, *, created: float) -> str:
    """The text format 0.0.4. As common libraries do, each counter has a gauge `_created` (seconds since the epoch): it is no count."""
    with counters.lock:
        families: list[tuple[str, str, Mapping[str, float]]] = [
            ("prompt_tokens", "Prompt tokens processed.", {"": counters.prompt_tokens}),
            ("prefix_cache_hits", "Prompt tokens that were in the cache.", {"": counters.cached_tokens}),
            ("generation_tokens", "Tokens generated.", {"": counters.generated_tokens}),
            ("request_success", "Finished choices.", {f'{{finished_reason="{why}"}}': n for why, n in sorted(counters.requests.items())}),
            ("spec_decode_num_drafts", "Verify steps with a draft.", {"": counters.drafts}),
            ("spec_decode_num_draft_tokens", "Draft tokens verified.", {"": counters.drafted}),
            ("spec_decode_num_accepted_tokens", "Draft tokens accepted.", {"": counters.accepted}),
            (
                "spec_decode_num_accepted_tokens_per_pos",
                "Draft tokens accepted, by position in the draft.",
                {f'{{position="{place}"}}': n for place, n in enumerate(counters.per_position)},
            ),
        ]
        running, waiting = counters.running, counters.waiting
    lines = []
    for name, words, value in (
        ("running", "Requests being answered.", running),
        ("waiting", "Requests that wait.", waiting),
    ):
        gauge = f"{PREFIX}num_requests_{name}"
        lines += [f"# HELP {gauge} {words}", f"# TYPE {gauge} gauge", f"{gauge} {float(value)}"]
    for name, words, samples in families:
        if not samples:
            continue
        total, born = f"{PREFIX}{name}_total", f"{PREFIX}{name}_created"
        lines += [f"# HELP {total} {words}", f"# TYPE {total} counter"]
        lines += [f"{total}{labels} {float(value)}" for labels, value in samples.items()]
        lines += [f"# HELP {born} {words}", f"# TYPE {born} gauge"]
        lines += [f"{born}{labels} {created}" for labels in samples]
    return "\n".join(lines) + "\n"
