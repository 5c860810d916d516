"""Single values that a schema can only call text: dates, regular expressions, Python statements."""

from __future__ import annotations

import ast
import datetime as dt
import re
import warnings

from pytest_mtp.suites.document import Document, Place
from pytest_mtp.suites.words import quoted

_DAY = r"(?:(\d{4}-\d{2})(-\d{2})?)?"
_TIME = r"(?:(\d{1,2}:\d{2}(?::\d{2})?)(?:[.,]\d{1,9})?\s?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?"
_MOMENT = re.compile(rf"{_DAY}(?:(?<=\d)[T ])?{_TIME}")


def check_moment(document: Document, text: str, place: Place) -> None:
    """Raise SuiteError unless ISO 8601 reads it as a month, a day, a time or an instant."""
    found = _MOMENT.fullmatch(text.strip())
    try:
        if not found or not any(found.groups()):
            raise ValueError
        month, day, time = found.groups()
        if month:
            dt.date.fromisoformat(f"{month}{day or '-01'}")
        if time and time not in {"24:00", "24:00:00"}:
            dt.time.fromisoformat(time.zfill(5))
    except ValueError:
        problem = f"{quoted(text)} is no date or time of ISO 8601, such as 2026-01-31, 12:30 or 2026-01-31T12:30:00Z"
        raise document.error(problem, place) from None


def check_day(document: Document, text: str, place: Place) -> None:
    """Raise SuiteError unless ISO 8601 reads it as a day or an instant."""
    try:
        dt.datetime.fromisoformat(text.strip())
    except ValueError:
        raise document.error(f"{quoted(text)} is no date of ISO 8601, such as 2026-01-31 or 2026-01-31T12:30:00Z", place) from None


def check_regex(document: Document, pattern: str, place: Place) -> None:
    """Raise SuiteError unless Python compiles it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a future warning is no fault of the suite today
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise document.error(f"not a regular expression of Python: {error}", place) from None


def check_python(document: Document, statement: str, place: Place) -> None:
    """Raise SuiteError unless it parses; nothing is run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as an unknown escape in a string
            parsed = ast.parse(statement)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else type(error).__name__
        raise document.error(f"not a Python statement: {reason}", place) from None
    lone = parsed.body[0] if len(parsed.body) == 1 else None
    if isinstance(lone, ast.Expr) and isinstance(lone.value, (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Constant, ast.Name)):
        raise document.error(f"asserts nothing: write 'assert {statement.strip()[:60]}'", place)
