"""The calls that a case expects, as a suite writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.judge.tools.answer import accepted_calls

_OPTIONS = ("ordered", "extra", "extra_args", "at_least")
_KEYS = ("name", "arguments")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """One accepted call. `arguments` None: only the name was given, and any arguments that fit the schema will do."""

    name: str
    arguments: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """`extra` lets further calls stand, `extra_args` further arguments; `at_least` None means every accepted call.

    `answer` is the graded answer of every reply that has all of them.
    """

    golds: tuple[Gold, ...]
    ordered: bool = False
    extra: bool = False
    extra_args: bool = False
    at_least: int | None = None
    answer: str = ""


_REMEMBERED = 256
_read: dict[int, tuple[Expect, Expected]] = {}


def expected_calls(expect: Expect) -> Expected:
    """Raises UsageError where the expectation cannot be read. Read once for each Expect object, since repeats share it."""
    known = _read.get(id(expect))
    if known is not None and known[0] is expect:
        return known[1]
    expected = _expected(expect)
    if len(_read) >= _REMEMBERED:
        _read.clear()
    _read[id(expect)] = (expect, expected)  # holding the Expect keeps its id from being used again
    return expected


def _expected(expect: Expect) -> Expected:
    spec = expect.spec
    listed = [spec] if isinstance(spec, Mapping) else spec
    if not isinstance(listed, (list, tuple)):
        raise UsageError(f"calls: expected a list of {{name, arguments}}, got {spec!r}")
    options = {key: value for key, value in expect.options.items() if key in _OPTIONS}
    at_least = options.get("at_least")
    if at_least is not None and (isinstance(at_least, bool) or not isinstance(at_least, int) or not 0 <= at_least <= len(listed)):
        raise UsageError(f"calls: at_least is a whole number from 0 to {len(listed)}, not {at_least!r}")
    golds = tuple(gold_of(item, f"calls[{index}]") for index, item in enumerate(listed))
    ordered = options.get("ordered") is True
    return Expected(
        golds=golds,
        ordered=ordered,
        extra=_allowed(options, "extra"),
        extra_args=_allowed(options, "extra_args"),
        at_least=at_least,
        answer=accepted_calls([(gold.name, gold.arguments) for gold in golds], ordered=ordered),
    )


def gold_of(item: Any, where: str) -> Gold:
    """One {name, arguments}, or a name alone."""
    if isinstance(item, str):
        return Gold(name=item)
    if not isinstance(item, Mapping) or not isinstance(item.get("name"), str) or not item["name"]:
        raise UsageError(f"{where}: expected {{name, arguments}}, got {item!r}")
    unknown = next((key for key in item if key not in _KEYS), None)
    if unknown is not None:
        raise UsageError(f"{where}: unknown key {unknown!r}{nearest(str(unknown), _KEYS)}; known are name and arguments")
    arguments = item.get("arguments")
    if arguments is not None and not isinstance(arguments, Mapping):
        raise UsageError(f"{where}.arguments: expected a mapping of arguments, got {arguments!r}")
    return Gold(name=item["name"], arguments=None if arguments is None else plain(arguments))


def plain(spec: Any) -> Any:
    """Dicts and lists all the way down, as comparing expects them."""
    if isinstance(spec, Mapping):
        return {str(key): plain(value) for key, value in spec.items()}
    return [plain(item) for item in spec] if isinstance(spec, (list, tuple)) else spec


def _allowed(options: Mapping[str, Any], key: str) -> bool:
    value = options.get(key)
    if value in (None, False, "allow", True, "forbid"):
        return value in ("allow", True)
    raise UsageError(f"calls: {key} is 'allow' or left out, not {value!r}")
