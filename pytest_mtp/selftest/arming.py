"""Faults as words on a command line."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.selftest.condition import ALWAYS, condition
from pytest_mtp.selftest.fault import Armed, armed_with
from pytest_mtp.selftest.faults import FAULTS


def arm(words: Iterable[str]) -> tuple[Armed, ...]:
    """`NAME`, `NAME:NUMBER` or `NAME-NUMBER`, then `@RATE`, then `?CONDITION`, as in `lost-tail@0.3?streamed&after=20`.

    Raises UsageError with the nearest word.
    """
    return tuple(_armed(word) for word in words)


def _armed(word: str) -> Armed:
    plain, mark, circumstances = word.partition("?")
    match = re.fullmatch(r"([a-z0-9-]+?)(?:[:-](\d+))?(?:@([\d.]+))?", plain)
    name = match.group(1) if match else plain.partition("@")[0]
    fault = FAULTS.get(name)
    if fault is None:
        raise UsageError(f"no fault {word!r}{nearest(name, FAULTS)}; known: {', '.join(FAULTS)}")
    if match is None:
        raise UsageError(f"the fault {word!r} is not written NAME[:NUMBER][@RATE][?CONDITION]")
    number = match.group(2)
    if number is not None and fault.number is None:
        raise UsageError(f"the fault {name!r} takes no number, but {word!r} has one")
    try:
        rate = float(match.group(3) or 1)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise UsageError(f"the rate in {word!r} must be between 0 and 1")
    try:
        extra = condition(circumstances) if mark else ALWAYS
    except UsageError as error:
        raise UsageError(f"in the fault {word!r}: {error}") from error
    return armed_with(fault, rate=rate, number=int(number) if number is not None else None, extra=extra)
