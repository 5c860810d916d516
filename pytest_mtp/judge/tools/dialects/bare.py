"""Dialects without a marker: the whole content is the call. Only an offered tool with fitting arguments tells it from an answer."""

from __future__ import annotations

import re

from pytest_mtp.judge.tools.dialects.code_bodies import python_list
from pytest_mtp.judge.tools.dialects.dialect import Written
from pytest_mtp.judge.tools.dialects.json_bodies import json_calls

_STARTS = re.compile(r"^[ \t]*(?=[\[{])", re.MULTILINE)
_MOST_STARTS = 8
_LONGEST = 200_000


def bare_calls(text: str) -> tuple[str, list[Written], int] | None:
    """Family, calls and where they begin, when the text ends in nothing but calls that begin a line."""
    if not text.rstrip().endswith(("}", "]")):
        return None
    for index, start in enumerate(_STARTS.finditer(text)):
        if index == _MOST_STARTS:
            return None
        body = text[start.end() :].strip()
        if len(body) > _LONGEST:
            continue
        for family, form in (("Llama 3, xLAM, bare JSON", json_calls), ("Llama 3.2 and 4, bare Python", python_list)):
            calls = form(body)
            if calls:
                return family, calls, start.end()
    return None
