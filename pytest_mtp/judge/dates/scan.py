"""Every date and time of a segment. Numeric days count only when day and month cannot be exchanged."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_mtp.judge.dates.moment import Moment, build
from pytest_mtp.judge.numbers.digits import plain

_MONTHS = (
    "january jan januar janvier enero gennaio janeiro januari styczeń января",
    "february feb februar février fevrier febrero febbraio fevereiro februari luty февраля",
    "march mar märz maerz mars marzo março maart marzec марта",
    "april apr avril abril aprile kwiecień апреля",
    "may mai mayo maggio maio mei maj maja мая",
    "june jun juni juin junio giugno junho czerwiec июня",
    "july jul juli juillet julio luglio julho lipiec июля",
    "august aug août aout agosto augustus augusti sierpień августа",
    "september sep sept septembre septiembre settembre setembro wrzesień сентября",
    "october oct oktober okt octobre octubre ottobre outubro październik октября",
    "november nov novembre noviembre novembro listopad ноября",
    "december dec dezember dez décembre diciembre dicembre dezembro grudzień декабря",
)
_MONTH_OF = {name: index for index, row in enumerate(_MONTHS, start=1) for name in row.split()}
_NAME = "|".join(sorted(map(re.escape, _MONTH_OF), key=len, reverse=True))
_ZONE = r"(?:\s?(?P<zone>Z\b|UTC\b|GMT\b|[+-]\d{2}:?\d{2})(?![\d:])|\s(?P<named>[A-Z]{2,4}T)\b)?"
_CLOCK = (
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?(?:\s?(?P<half>[ap]\.?\s?m\b\.?))?"
    rf"|\s?(?P<half2>[ap]\.?\s?m\b\.?)){_ZONE}"
)
_ORDINAL = r"(?:st|nd|rd|th|er|º|ª|\.)?"
_DAYS = (
    r"(?<!\d)(?P<y1>\d{4})(?P<s1>[-/.])(?P<m1>\d{1,2})(?P=s1)(?P<d1>\d{1,2})(?!\d)",
    r"(?P<y2>\d{4})\s?年\s?(?P<m2>\d{1,2})\s?月\s?(?P<d2>\d{1,2})\s?日",
    r"(?P<y3>\d{4})\s?년\s?(?P<m3>\d{1,2})\s?월\s?(?P<d3>\d{1,2})\s?일",
    rf"(?<!\d)(?P<d4>\d{{1,2}}){_ORDINAL}(?:\s+|-)(?:of\s+|de\s+)?(?P<n4>{_NAME})\b\.?(?:,|\s+(?:de|del|of))?(?:\s*|-)(?P<y4>\d{{4}})(?!\d)",
    rf"\b(?P<n5>{_NAME})\b\.?\s+(?P<d5>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y5>\d{{4}})(?!\d)",
    r"(?<![\d.,])(?P<a6>\d{1,2})(?P<s6>[/.-])(?P<b6>\d{1,2})(?P=s6)(?P<y6>\d{4})(?!\d)",
)
_MONTH_ALONE = rf"\b(?P<n7>{_NAME})\b\.?,?\s+(?:de\s+|of\s+)?(?P<y7>\d{{4}})(?!\d)|(?<!\d)(?P<y8>\d{{4}})-(?P<m8>\d{{2}})(?![\d-])"
_DAY = re.compile("|".join((*_DAYS, _MONTH_ALONE)), re.IGNORECASE)
_TIME = re.compile(rf"(?<![\d:]){_CLOCK}(?![\d:])", re.IGNORECASE)
_BRIDGE = re.compile(r"(?:\s*,?\s*(?:at|um|à|a las|alle|às|om|kl\.?|в|T|,|-|–|\()?\s*){1}", re.IGNORECASE)
_BACK_BRIDGE = re.compile(r"\s*,?\s*(?:on|am|le|el|il|em|,)?\s*(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,?\s*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A date at (start, end). `moment` None: it is a date, and which one cannot be told; `why` says so."""

    moment: Moment | None
    start: int
    end: int
    why: str = ""


def scan(segment: str) -> list[Mention]:
    """Mentions in order: days with their times joined, then times that stand alone."""
    text = plain(segment)
    times = list(_TIME.finditer(text))
    days = list(_DAY.finditer(text))
    inside = [time for time in times if not any(day.start() <= time.start() < day.end() for day in days)]
    used: set[int] = set()
    found = [_day_mention(text, day, inside, used) for day in days]
    found += [_time_mention(time) for index, time in enumerate(inside) if index not in used]
    return sorted(found, key=lambda mention: mention.start)


def _day_mention(text: str, day: re.Match[str], times: list[re.Match[str]], used: set[int]) -> Mention:
    start, end = day.span()
    parts, why = _parts(day)
    for index, time in enumerate(times):
        after = time.start() >= end and time.start() - end < 12 and _BRIDGE.fullmatch(text, end, time.start())
        before = time.end() <= start and start - time.end() < 24 and _BACK_BRIDGE.fullmatch(text, time.end(), start)
        if index not in used and (after or before):
            used.add(index)
            parts |= _clock(time)
            start, end = min(start, time.start()), max(end, time.end())
            break
    if why:
        return Mention(moment=None, start=start, end=end, why=why)
    moment = build(parts)
    return Mention(moment=moment, start=start, end=end, why="" if moment else "no calendar has that day")


def _parts(day: re.Match[str]) -> tuple[dict[str, str | None], str]:
    for number in "123458":
        year = day[f"y{number}"]
        if year:
            named = day[f"n{number}"] if number in "45" else None
            month = str(_MONTH_OF[named.lower()]) if named else day[f"m{number}"]
            return {"year": year, "month": month, "day": None if number == "8" else day[f"d{number}"]}, ""
    if day["y7"]:
        return {"year": day["y7"], "month": str(_MONTH_OF[day["n7"].lower()]), "day": None}, ""
    first, second, sep = int(day["a6"]), int(day["b6"]), day["s6"]
    if sep == "." or first > 12 or first == second:
        return {"year": day["y6"], "month": day["b6"], "day": day["a6"]}, ""
    if second > 12:
        return {"year": day["y6"], "month": day["a6"], "day": day["b6"]}, ""
    return {}, f"{day[0]} may be day/month or month/day"


def _clock(time: re.Match[str]) -> dict[str, str | None]:
    return {
        "hour": time["hour"], "minute": time["minute"], "second": time["second"], "fraction": time["fraction"],
        "half": time["half"] or time["half2"], "zone": time["zone"],
    }  # fmt: skip


def _time_mention(time: re.Match[str]) -> Mention:
    moment = build(_clock(time))
    return Mention(moment=moment, start=time.start(), end=time.end(), why="" if moment else "no clock shows that time")
