"""Faults as words on a command line."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.selftest.fault import Armed
from pytest_mtp.selftest.faults import FAULTS


def arm(words: Iterable[str]) -> tuple[Armed, ...]:
    """`NAME`, `NAME:NUMBER` or `NAME-NUMBER`, each with an optional `@RATE`. Raises UsageError with the nearest word."""
    return tuple(_armed(word) for word in words)


def _armed(word: str) -> Armed:
    match = re.fullmatch(r"([a-z-]+?)(?:[:-](\d+))?(?:@([\d.]+))?", word)
    name = match.group(1) if match else word
    fault = FAULTS.get(name)
    if match is None or fault is None:
        raise UsageError(f"no fault {word!r}{nearest(name, FAULTS)}; known: {', '.join(FAULTS)}")
    number = match.group(2)
    if number is not None and fault.number is None:
        raise UsageError(f"the fault {name!r} takes no number, but {word!r} has one")
    try:
        rate = float(match.group(3) or 1)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise UsageError(f"the rate in {word!r} must be between 0 and 1")
    return Armed(fault=fault, rate=rate, number=int(number) if number is not None else fault.number or 0)
