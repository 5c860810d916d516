"""A day, a time, or both, with or without a zone; read from ISO 8601 and compared."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

_ISO_DAY = r"(?P<year>\d{4})-(?P<month>\d{2})(?:-(?P<day>\d{2}))?"
_ISO_TIME = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?\s?(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})?"
)
_ISO = re.compile(rf"(?:{_ISO_DAY})?(?:(?<=\d)[T ])?(?:{_ISO_TIME})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """`day` None: a time of day alone; `time` None: a day alone (a month alone when `day_known` is False). `offset` in minutes."""

    day: dt.date | None = None
    day_known: bool = True
    time: dt.time | None = None
    offset: int | None = None

    def shown(self) -> str:
        """ISO 8601."""
        day = "" if self.day is None else self.day.isoformat()[: None if self.day_known else 7]
        time = "" if self.time is None else self.time.isoformat()
        sign = (
            ""
            if self.offset is None
            else "Z"
            if self.offset == 0
            else f"{'-' if self.offset < 0 else '+'}{abs(self.offset) // 60:02}:{abs(self.offset) % 60:02}"
        )
        return "T".join(part for part in (day, time) if part) + sign

    def instant(self) -> dt.datetime | None:
        """In UTC, where day, time and zone are known and the calendar reaches it."""
        if self.day is None or self.time is None or self.offset is None:
            return None
        try:
            return dt.datetime.combine(self.day, self.time) - dt.timedelta(minutes=self.offset)
        except OverflowError:
            return None


def from_iso(text: str) -> Moment | None:
    """A day, month, time or both in ISO 8601; None for anything else, 30 February included."""
    match = _ISO.fullmatch(text.strip())
    if match is None or not text.strip():
        return None
    return build(match.groupdict())


def build(parts: dict[str, str | None]) -> Moment | None:
    """A moment of named parts (year, month, day, hour, minute, second, fraction, half, zone); None where no calendar has it."""
    try:
        day, late = _day(parts), 0
        time = None
        if parts.get("hour"):
            late, time = _time(parts)
        if day is not None and late:
            day += dt.timedelta(days=late)
    except (ValueError, OverflowError):
        return None
    return Moment(day=day, day_known=day is None or parts.get("day") is not None, time=time, offset=_offset(parts.get("zone")))


def _day(parts: dict[str, str | None]) -> dt.date | None:
    if not parts.get("year"):
        return None
    return dt.date(int(parts["year"] or 0), int(parts["month"] or 0), int(parts.get("day") or 1))


def _time(parts: dict[str, str | None]) -> tuple[int, dt.time]:
    """Days to add (24:00 is the next midnight) and the time."""
    hour, minute, second = (int(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    half = (parts.get("half") or "").lower().replace(".", "").replace(" ", "")
    if half:
        if not 1 <= hour <= 12:
            raise ValueError("a twelve-hour clock ends at 12")
        hour = hour % 12 + (12 if half == "pm" else 0)
    if (hour, minute, second) == (24, 0, 0):
        return 1, dt.time(0)
    micro = int((parts.get("fraction") or "0").ljust(6, "0")[:6])
    return 0, dt.time(hour, minute, second, micro)


def _offset(zone: str | None) -> int | None:
    if not zone:
        return None
    if zone.upper() in {"Z", "UTC", "GMT"}:
        return 0
    digits = zone[1:].replace(":", "")
    return (int(digits[:2]) * 60 + int(digits[2:] or 0)) * (-1 if zone[0] in "-−" else 1)
