"""A file on disk to a Document whose top is a mapping."""

from __future__ import annotations

from pathlib import Path

from pytest_mtp.core.errors import SuiteError
from pytest_mtp.suites.document import Document
from pytest_mtp.suites.parsing import parse
from pytest_mtp.suites.text import MAX_BYTES


def read(path: Path, shown: str, *, keys: str = "schema_version, suite") -> Document:
    """Raise SuiteError for whatever is wrong with the file, its bytes or its YAML; `keys` are what it begins with."""
    try:
        if not path.is_file() and not path.is_dir() and path.exists():
            raise SuiteError("not a regular file", path=shown, line=1)
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SuiteError(f"the file cannot be read: {error.strerror or error}", path=shown, line=1) from None
    document = parse(content, shown)
    if not isinstance(document.value, dict):
        what = "a list" if isinstance(document.value, list) else "a single value"
        raise document.error(f"expected a mapping with the keys {keys}, ..., got {what}")
    return document
