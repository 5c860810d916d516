"""`mtp-report.json`: the whole run for programs, and its schema."""

from __future__ import annotations

import json
import os
from importlib import resources
from pathlib import Path
from typing import Any

from pytest_mtp.core.run import RunReport

SCHEMA_NAME = "report.schema.json"


def write_json(report: RunReport, path: Path) -> None:
    """A reader sees the old file or the new one, never a half. Raises OSError as the file system does.

    ASCII alone is written, so that lone surrogates of a broken answer survive and no reader guesses an encoding.
    """
    text = json.dumps(report.to_dict(), indent=1, allow_nan=False) + "\n"
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def report_schema() -> dict[str, Any]:
    """The published JSON Schema (draft-07) of the report."""
    loaded: dict[str, Any] = json.loads(resources.files(__package__).joinpath(SCHEMA_NAME).read_text(encoding="utf-8"))
    return loaded
