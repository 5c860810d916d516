"""The prompts of a measuring case, by stratum: code and prose are never averaged in silence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.case import Case


def strata_of(case: Case, *, default_max_tokens: int, stream: bool = False) -> dict[str, list[Ask]]:
    """Asks by stratum, in the order of the file. The suite's schema has already checked the shape of `with`."""
    prompts = cast("Mapping[str, Sequence[str]]", case.params.get("prompts", {}))
    sampling = Sampling(
        temperature=cast("float", case.params.get("temperature", 0.0)),
        max_tokens=cast("int", case.params.get("max_tokens", default_max_tokens)),
    )
    return {
        name: [Ask(messages=({"role": "user", "content": prompt},), sampling=sampling, stream=stream) for prompt in group]
        for name, group in prompts.items()
    }
