"""What a run may cost: a plan by name, a time, or a number of requests."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_mtp.checks.control import PROMPTS, REPEATS, STEP_POSITIONS
from pytest_mtp.core.errors import UsageError, nearest

QUICK_REQUESTS = 100
THOROUGH_S = 1200.0
THOROUGH_LOOKS = 29
"""Clean trials after which a fault that strikes one trial in ten is excluded with 95 % confidence: 1 - 0.05^(1/29) = 0.098."""

CONTROL_REQUESTS = len(PROMPTS) * REPEATS + 2 + STEP_POSITIONS * sum(prompt.stepwise for prompt in PROMPTS)
"""At most, and before any case: the control is part of what a run costs."""

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_LONGEST_S = 86_400.0
_FORM = re.compile(r"(?P<number>\d{1,9}(?:\.\d{1,3})?)(?P<unit>s|m|h|req)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """`requests` and `seconds` bound the control and the cases together; None: no bound of that kind.

    `most_looks` cuts the repeats of each case, `looks` is what the repeats of probes are raised to as far as the time allows.
    """

    words: str
    requests: int | None = None
    seconds: float | None = None
    most_looks: int | None = None
    looks: int = 1


PLANS = {
    "quick": Budget(words="quick", requests=QUICK_REQUESTS + CONTROL_REQUESTS, most_looks=1),
    "standard": Budget(words="standard"),
    "thorough": Budget(words="thorough", seconds=THOROUGH_S, looks=THOROUGH_LOOKS),
}


def read_budget(words: str) -> Budget:
    """`quick`, `standard`, `thorough`, `90s`, `5m`, `1.5h`, `2000req`. Raises UsageError."""
    if words in PLANS:
        return PLANS[words]
    found = _FORM.fullmatch(words)
    if found is None:
        known = (*PLANS, "5m", "90s", "2000req")
        forms = f"{', '.join(PLANS)}, a time as in 5m or 90s, or requests as in 2000req"
        raise UsageError(f"expected {forms}, got {words!r}{nearest(words, known)}")
    number = float(found["number"])
    if found["unit"] == "req":
        if number != int(number) or number <= CONTROL_REQUESTS:
            raise UsageError(f"{words!r}: expected a whole number of requests above {CONTROL_REQUESTS}, which the control may take")
        return Budget(words=words, requests=int(number))
    seconds = number * _UNITS[found["unit"]]
    if not 0 < seconds <= _LONGEST_S:
        raise UsageError(f"{words!r}: expected a time above 0 and at most a day")
    return Budget(words=words, seconds=seconds)
