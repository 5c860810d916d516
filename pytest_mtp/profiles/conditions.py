"""`when`: NAME, {NAME: value}, {NAME: set}, {not: CONDITION}, or a list of these, which must all hold."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from pytest_mtp.core.profile import Condition, Parameter
from pytest_mtp.suites.document import Document, Place
from pytest_mtp.suites.words import closest, got, listed, quoted

SET = "set"


def read_when(document: Document, said: Any, place: Place, parameters: Mapping[str, Parameter]) -> tuple[Condition, ...]:
    """Raise SuiteError for a parameter that is not there, or a value that it can never have."""
    if isinstance(said, list):
        return tuple(_condition(document, item, (*place, index), parameters) for index, item in enumerate(said))
    return (_condition(document, said, place, parameters),)


def _condition(document: Document, said: Any, place: Place, parameters: Mapping[str, Parameter]) -> Condition:
    if isinstance(said, str):
        return Condition(name=_known(document, said, place, parameters))
    if not isinstance(said, Mapping):
        raise document.error(f"expected NAME, {{NAME: value}} or {{not: CONDITION}}, got {got(said)}", place)
    if len(said) != 1:
        raise document.error("one name in each condition: several that must all hold stand in a list", place)
    ((name, value),) = said.items()
    if name == "not":
        inner = _condition(document, value, (*place, "not"), parameters)
        return dataclasses.replace(inner, negated=not inner.negated)
    _known(document, name, (*place, name), parameters, key=True)
    if value == SET:
        return Condition(name=name)
    if expected := parameters[name].problem(value):
        raise document.error(f"the parameter {quoted(name)} never has this value: expected {expected}, got {got(value)}", (*place, name))
    return Condition(name=name, equals=value)


def _known(document: Document, name: str, place: Place, parameters: Mapping[str, Parameter], *, key: bool = False) -> str:
    if name in parameters:
        return name
    hint = closest(name, parameters) or f"; there are: {listed(parameters) or 'none'}"
    raise document.error(f"the profile has no parameter {quoted(name)}{hint}", place, key=key)
