"""Case keys after `defaults` and one combination of the matrix, each with the place that it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_mtp.suites.document import Place

MERGED = ("sampling", "extra_body")  # key by key; everything else is replaced


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A value as written; `default` where the case itself says nothing."""

    value: Any
    place: Place
    default: bool = False


def settings_of(
    case: Mapping[str, Any], defaults: Mapping[str, Any], chosen: Mapping[str, tuple[int, Any]], index: int
) -> dict[str, Setting]:
    """The settings of the case at `index`; `chosen` is the matrix's combination, by axis."""
    settings = {key: Setting(value=value, place=("defaults", key), default=True) for key, value in defaults.items()}
    for key, value in case.items():
        merged = {**settings[key].value, **value} if key in MERGED and key in settings else value
        settings[key] = Setting(value=merged, place=("cases", index, key))
    for axis, (number, value) in chosen.items():
        key = axis if axis in _CASE_AXES else "sampling"
        if key in MERGED:
            below = settings[key].value if key in settings else {}
            value = {**below, **(value if axis == key else {axis: value})}  # noqa: PLW2901  # the axis's value in the key's form
        settings[key] = Setting(value=value, place=("cases", index, "matrix", axis, number))
    return settings


_CASE_AXES = frozenset({"system", "tools", "tool_choice", "response_format", "stream", "extra_body"})
