"""`expect` mappings written in Python tests, held to the same schema as those in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_mtp.core.case import Expect
from pytest_mtp.core.errors import SuiteError, UsageError
from pytest_mtp.core.record import encode
from pytest_mtp.suites.document import Document
from pytest_mtp.suites.expects import expects_of
from pytest_mtp.suites.tools import Tool
from pytest_mtp.suites.validation import validate_expect


def parse_expect(written: Mapping[str, Any], tools: tuple[Tool, ...] = ()) -> tuple[Expect, ...]:
    """The expectations of one mapping; raises UsageError without a line, as there is no file."""
    try:
        document = Document(value=encode(written), mark=1, shown="expect")  # tuples are lists to a schema
        validate_expect(document)
        return expects_of(document, document.value, (), tools)
    except SuiteError as error:
        raise UsageError(f"expect: {error.problem}{f' (at {error.at})' if error.at else ''}") from None
    except TypeError as error:
        raise UsageError(f"expect: {error}") from None
