"""SQL on a database in memory: an authorizer, a limit on steps, and no way to a file."""

from __future__ import annotations

import sqlite3
from typing import Any

_STEPS = 40_000_000  # virtual machine instructions, about as many seconds as a tenth of a million of them
_EVERY = 10_000
_ROWS = 10_000
_LENGTH = 1_000_000
_FORBIDDEN = {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH}
_READING_PRAGMAS = {"table_info", "table_xinfo", "table_list", "index_list", "index_info", "foreign_key_list"}
_FORBIDDEN_FUNCTIONS = {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"}


class Server:
    """Answers `query`: the rows of the last statement that has rows, on a fresh database after `setup`."""

    def __init__(self, _orders: dict[str, Any]) -> None:
        """Nothing to prepare: sqlite3 is in the standard library."""

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Rows, or which way it went wrong."""
        base = sqlite3.connect(":memory:", isolation_level=None)
        try:
            try:
                base.executescript(question["setup"])
            except sqlite3.Error as error:
                return {"error": "setup", "message": str(error)}
            return self._query(base, question["source"])
        finally:
            base.close()

    def _query(self, base: sqlite3.Connection, source: str) -> dict[str, Any]:
        base.execute("PRAGMA temp_store = MEMORY")
        for limit, value in ((sqlite3.SQLITE_LIMIT_LENGTH, _LENGTH), (sqlite3.SQLITE_LIMIT_ATTACHED, 0)):
            base.setlimit(limit, value)
        left = _STEPS // _EVERY

        def step() -> int:
            nonlocal left
            left -= 1
            return int(left < 0)

        base.set_progress_handler(step, _EVERY)
        base.set_authorizer(_authorize)
        try:
            return self._rows(base, source)
        except sqlite3.Warning as error:
            return {"error": "syntax", "message": str(error)}
        except sqlite3.Error as error:
            text = str(error)
            if "interrupted" in text:
                return {"error": "timeout", "message": f"more than {_STEPS:,} steps"}
            syntax = any(words in text for words in ("syntax error", "incomplete input", "unrecognized token"))
            return {"error": "syntax" if syntax else "exception", "message": text}
        except MemoryError:
            return {"error": "limit", "message": "out of memory"}

    def _rows(self, base: sqlite3.Connection, source: str) -> dict[str, Any]:
        rows: list[list[Any]] | None = None
        columns: list[str] = []
        for statement in _statements(source):
            cursor = base.execute(statement)
            if cursor.description is None:
                continue
            columns = [column[0] for column in cursor.description]
            rows = [[_plain(value) for value in row] for row in cursor.fetchmany(_ROWS + 1)]
            if len(rows) > _ROWS:
                return {"error": "limit", "message": f"more than {_ROWS:,} rows"}
        if rows is None:
            return {"error": "exception", "message": "no statement gives rows"}
        return {"rows": rows, "columns": columns}


def _authorize(action: int, first: str | None, second: str | None, _base: str | None, _trigger: str | None) -> int:
    if action in _FORBIDDEN:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_PRAGMA and (first or "").lower() not in _READING_PRAGMAS:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FORBIDDEN_FUNCTIONS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _statements(source: str) -> list[str]:
    """Statements of a script: cut at each semicolon where SQLite calls the text before it complete."""
    found, start, position = [], 0, source.find(";")
    while position >= 0:
        if sqlite3.complete_statement(source[start : position + 1]):
            found.append(source[start : position + 1])
            start = position + 1
        position = source.find(";", position + 1)
    if source[start:].strip():
        found.append(source[start:])
    return [statement for statement in found if statement.strip(" \t\r\n;")]


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"blob": value.hex()}
    if isinstance(value, float):
        return {"float": value.hex()}
    return value
