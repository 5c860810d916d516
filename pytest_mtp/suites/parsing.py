"""The two parsers of PyYAML and their complaints in a user's words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import yaml
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner

from pytest_mtp.core.errors import SuiteError
from pytest_mtp.suites.composer import Composer
from pytest_mtp.suites.document import Document
from pytest_mtp.suites.text import decode

Backend = Literal["libyaml", "python"]


class _PythonParser(Reader, Scanner, Parser):
    """PyYAML's own, with tabs between words as libyaml takes them."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)

    def dispose(self) -> None:
        """As CParser has it."""


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
    parser: Any = _PythonParser(text) if (backend or backends()[0]) == "python" else _libyaml()(text)
    try:
        return Composer(shown).compose(_events(parser))
    except yaml.MarkedYAMLError as error:
        raise _translated(error, text, shown) from None
    except yaml.YAMLError as error:
        raise SuiteError(f"not valid YAML: {error}", path=shown, line=1) from None
    finally:
        parser.dispose()


def _events(parser: Any) -> Iterator[Any]:
    while parser.check_event():
        yield parser.get_event()


# The problem as libyaml or PyYAML words it -> ours. `{line}` is where the construct began.
_WORDS: Iterable[tuple[str, str]] = (
    ("mapping values are not allowed", "a ': ' inside plain text, or a wrong indentation: put text that holds ': ' in quotes"),
    ("could not find expected ':'", "a line that is neither 'key: value' nor part of the text above it: check indentation and quotes"),
    ("expected the node content, but found '-'", "a '-' where a value is expected: check the indentation"),
    ("block sequence entries are not allowed", "a '- ' where no list item can stand: check the indentation, or put the text in quotes"),
    ("found unknown escape character", "an unknown escape in double quotes: double the backslash, or use single quotes"),
    ("did not find expected hexdecimal number", "an escape in double quotes needs hexadecimal digits"),
    ("did not find expected hexadecimal number", "an escape in double quotes needs hexadecimal digits"),
    ("found invalid Unicode character escape code", "an escape in double quotes that is no Unicode character"),
    ("found unexpected end of stream", "the quote opened in line {line} is never closed"),
    ("found unexpected document indicator", "the quote opened in line {line} is never closed"),
    ("found undefined tag handle", "a tag: tags are refused, since a suite is data; put text that begins with '!' in quotes"),
    ("found incompatible YAML document", "these files are read as YAML 1.2; remove the %YAML line"),
    ("found a tab character", "a tab in the indentation: use spaces"),
)
_CONTEXTS: Iterable[tuple[str, str]] = (
    ("block mapping", "bad indentation: this line fits no level of the mapping begun in line {line}"),
    ("block collection", "bad indentation: this line fits no level of the list begun in line {line}"),
    ("flow sequence", "the list opened by '[' in line {line} is not closed, or misses a comma"),
    ("flow mapping", "the mapping opened by '{{' in line {line} is not closed, or misses a comma"),
    ("quoted scalar", "the quote opened in line {line} is never closed"),
    ("block scalar", "a wrong header or indentation of the block text ('|' or '>')"),
    ("anchor", "'&' begins an anchor: put text that begins with '&' in quotes"),
    ("alias", "'*' begins an alias: put text that begins with '*' in quotes"),
    ("tag", "'!' begins a tag: tags are refused, since a suite is data; put text that begins with '!' in quotes"),
    ("directive", "'%' begins a directive: put text that begins with '%' in quotes"),
)


def _translated(error: yaml.MarkedYAMLError, text: str, shown: str) -> SuiteError:
    problem, context = str(error.problem or ""), str(error.context or "")
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else 1
    begun = error.context_mark.line + 1 if error.context_mark else line
    words = next((ours for theirs, ours in _WORDS if theirs in problem), "")
    if "could not find expected ':'" in problem:
        line = begun  # the key's line; the mark stands one line later
    if not words and "cannot start any token" in problem:
        words = _reserved(_char_at(text, mark))
    if not words:
        words = next((ours for theirs, ours in _CONTEXTS if theirs in context), f"not valid YAML: {problem or error}")
    return SuiteError(words.format(line=begun), path=shown, line=line)


def _reserved(char: str) -> str:
    if char == "\t":
        return "a tab in the indentation: use spaces"
    return f"text cannot begin with {char!r}: put it in quotes".replace("{", "{{").replace("}", "}}")


def _char_at(text: str, mark: Any) -> str:
    lines = text.splitlines()  # clean text holds no other breaks than the parser's
    line = lines[mark.line] if mark.line < len(lines) else ""
    return line[mark.column : mark.column + 1]
