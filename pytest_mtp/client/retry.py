"""When to ask again: nothing was answered, or the server said that it is busy. A wrong answer is never asked again."""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pytest_mtp.core.exchange import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Exponential pauses with jitter. `sleep`, `now` (seconds since the epoch) and `jitter` (0..1) can be handed in."""

    retries: int = 3
    first_pause_s: float = 0.25
    longest_pause_s: float = 30.0
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.time
    jitter: Callable[[], float] = field(default=random.random)

    def pause_s(self, attempt: int, fault: Fault) -> float:
        """Before the attempt after number `attempt` (from 1): what Retry-After asks for, capped, else the backoff."""
        asked = retry_after_s((fault.headers or {}).get("retry-after", ""), now=self.now())
        backoff = self.first_pause_s * 2 ** (attempt - 1) * (0.5 + self.jitter())
        return min(self.longest_pause_s, backoff if asked is None else max(asked, backoff if asked == 0 else 0))


def retry_after_s(value: str, *, now: float) -> float | None:
    """Seconds from now out of delay-seconds or an HTTP date (RFC 9110, 10.2.3); None for anything else."""
    text = value.strip()
    if text.isascii() and text.replace(".", "", 1).isdecimal():
        return float(text[:12])
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.fromtimestamp(now, UTC)).total_seconds())
