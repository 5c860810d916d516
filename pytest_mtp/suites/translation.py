"""What a YAML parser complains about, in words of the file's author."""

from __future__ import annotations

from collections.abc import Iterable

import yaml

from pytest_mtp.core.errors import SuiteError
from pytest_mtp.suites.composer import MAX_DEPTH, NO_TAGS

# What libyaml or PyYAML says holds the left words; `{line}` is where the construct began.
_PROBLEMS: Iterable[tuple[str, str]] = (
    ("mapping values are not allowed", "a ': ' inside plain text, or a wrong indentation: put text that holds ': ' in quotes"),
    ("could not find expected ':'", "a line that is neither 'key: value' nor part of the text above it: check indentation and quotes"),
    ("entries are not allowed", "a '- ' where no list item can stand: check the indentation, or put the text in quotes"),
    ("mapping keys are not allowed", "a '? ' where no key can stand: put the text in quotes"),
    ("expected node content", "a value is missing here, or text begins with a character that YAML reserves: put it in quotes"),
    ("expected the node content", "a value is missing here, or text begins with a character that YAML reserves: put it in quotes"),
    ("expected '<document start>'", "text after the end of the value: check quotes and indentation"),
    ("expected <document start>", "text after the end of the value: check quotes and indentation"),
    ("found unexpected ':'", "a ':' before a bracket: put the text in quotes"),
    ("found unknown escape character", "an unknown escape in double quotes: double the backslash, or use single quotes"),
    ("hexdecimal number", "an escape in double quotes needs hexadecimal digits"),
    ("hexadecimal number", "an escape in double quotes needs hexadecimal digits"),
    ("escape sequence of", "an escape in double quotes needs hexadecimal digits"),
    ("invalid Unicode character escape code", "an escape in double quotes that is no character"),
    ("found unexpected end of stream", "the quote opened here is never closed"),
    ("found unexpected document", "the quote opened here is never closed"),
    ("found undefined tag handle", f"a tag: {NO_TAGS}"),
    ("incompatible", "these files are read as YAML 1.2; remove the %YAML line"),
    ("nesting depth", f"nested deeper than {MAX_DEPTH} levels"),
    ("found a tab character", "a tab in the indentation: use spaces"),
)
_OPEN = " is not closed, or misses a comma; put text that holds brackets or commas in quotes"
_CONTEXTS: Iterable[tuple[str, str]] = (
    ("block mapping", "bad indentation: this line fits no level of the mapping begun in line {line}"),
    ("block collection", "bad indentation: this line fits no level of the list begun in line {line}"),
    ("flow sequence", "the list opened by '[' in line {line}" + _OPEN),
    ("flow mapping", "the mapping opened by '{' in line {line}" + _OPEN),
    ("quoted scalar", "the quote opened here is never closed"),
    ("block scalar", "a wrong header or indentation of the block text ('|' or '>')"),
    ("anchor", "'&' begins an anchor: put text that begins with '&' in quotes"),
    ("alias", "'*' begins an alias: put text that begins with '*' in quotes"),
    ("directive", "'%' begins a directive: put text that begins with '%' in quotes"),
)
_LATE = ("could not find expected ':'", "found unexpected end", "found unexpected document")  # the parser's mark stands lines below


def translated(error: yaml.MarkedYAMLError, text: str, shown: str) -> SuiteError:
    """To raise in place of `error`; `text` is the whole file."""
    problem, context = str(error.problem or ""), str(error.context or "")
    mark = error.problem_mark or error.context_mark
    lines = text.rstrip().splitlines() or [""]  # clean text holds no other breaks than the parser's
    line = min(mark.line + 1, len(lines)) if mark else 1
    begun = error.context_mark.line + 1 if error.context_mark else line
    if problem.startswith(_LATE):
        line = begun
    words = _words(problem, context, lines[line - 1], mark.column if mark else 0)
    return SuiteError(words.replace("{line}", str(begun)), path=shown, line=line)


def _words(problem: str, context: str, line: str, column: int) -> str:
    if "cannot start any token" in problem:
        char = line[column : column + 1]
        return "a tab in the indentation: use spaces" if char == "\t" else f"text cannot begin with {char!r}: put it in quotes"
    if "tag" in context:
        return f"'!' begins a tag: {NO_TAGS}"
    for theirs, ours in _PROBLEMS:
        if theirs in problem:
            return ours
    if context.startswith("while parsing a block") and line[:column].strip():
        return "text after the end of a value: put the whole value in quotes"
    for theirs, ours in _CONTEXTS:
        if theirs in context:
            return ours
    return f"not valid YAML: {problem}"
