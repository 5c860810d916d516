"""A file's bytes to its one Document, by either parser of PyYAML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import yaml

from pytest_mtp.core.errors import SuiteError
from pytest_mtp.suites.composer import Composer
from pytest_mtp.suites.document import Document
from pytest_mtp.suites.pythonparser import PythonParser
from pytest_mtp.suites.text import decode
from pytest_mtp.suites.translation import translated

Backend = Literal["libyaml", "python"]


def _libyaml() -> Any:
    """The parser of libyaml, or None where PyYAML was built without it."""
    try:
        from yaml.cyaml import CParser  # type: ignore[attr-defined]  # noqa: PLC0415  # it is in no __all__; may be missing
    except ImportError:
        return None
    return CParser


def backends() -> tuple[Backend, ...]:
    """Those of this installation, the fast one first."""
    return ("libyaml", "python") if _libyaml() else ("python",)


def parse(content: bytes, shown: str, *, backend: Backend | None = None) -> Document:
    """A file's bytes to its one document; raises SuiteError. Both backends give the same document."""
    text = decode(content, shown)
    parser: Any = PythonParser(text) if (backend or backends()[0]) == "python" else _libyaml()(text)
    try:
        return Composer(shown).compose(_events(parser))
    except yaml.MarkedYAMLError as error:
        raise translated(error, text, shown) from None
    except yaml.YAMLError as error:
        raise SuiteError(f"not valid YAML: {error}", path=shown, line=1) from None
    finally:
        parser.dispose()


def _events(parser: Any) -> Iterator[Any]:
    while (event := parser.get_event()) is not None:
        yield event
