"""Asks that go on with the assistant's own words."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.record import Json


def with_final_assistant(ask: Ask, prefix: str, extra_body: Mapping[str, Json] | None = None) -> Ask | None:
    """The same ask with `prefix` as its last, unfinished assistant message; None when it already ends in one.

    llama.cpp's reply then holds the prefix and what follows it, others send what follows alone: compare with care.
    """
    if ask.messages and ask.messages[-1].get("role") == "assistant":
        return None
    if not prefix:
        return ask
    return dataclasses.replace(
        ask,
        messages=(*ask.messages, {"role": "assistant", "content": prefix}),
        extra_body={**ask.extra_body, **(extra_body or {})},
    )
