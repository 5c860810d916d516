"""Events of a YAML parser to a Document, without recursion, so that no file can exhaust the stack.

The two parsers of PyYAML, libyaml's and the one in Python, give the same events; everything that is strict about our
YAML happens here, once for both.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml

from pytest_mtp.core.errors import SuiteError
from pytest_mtp.suites.document import Document, Mark, printed
from pytest_mtp.suites.scalars import resolve

MAX_DEPTH = 100
MAX_BY_ALIAS = 100_000
NO_TAGS = "tags are refused, since a suite is data; put text that begins with '!' in quotes"


class _Frame:
    """A list or mapping that is still open; `size` and `height` count what it holds after aliases are followed."""

    __slots__ = ("anchor", "height", "key", "key_line", "mark", "size", "value")

    def __init__(self, value: list[Any] | dict[str, Any], mark: Mark, anchor: str | None) -> None:
        self.value, self.mark, self.anchor = value, mark, anchor
        self.key: str | None = None
        self.key_line = 0
        self.size = self.height = 1


class _Anchored:
    """What an alias stands for; `open` while its own end has not been read."""

    __slots__ = ("height", "line", "open", "size", "value")

    def __init__(self, line: int) -> None:
        self.line = line
        self.open = True
        self.value: Any = None
        self.size = self.height = 1


class Composer:
    """Builds one document from events."""

    def __init__(self, shown: str) -> None:
        """`shown` is the file's path as messages print it."""
        self.shown = shown
        self.stack: list[_Frame] = []
        self.anchors: dict[str, _Anchored] = {}
        self.by_alias = 0
        self.root: tuple[Any, Mark | int] | None = None

    def compose(self, events: Iterable[Any]) -> Document:
        """The one document; raises SuiteError, and yaml.YAMLError where the events do."""
        documents = 0
        for event in events:
            kind = type(event)
            line = event.start_mark.line + 1
            if kind is yaml.ScalarEvent:
                self._scalar(event, line)
            elif kind is yaml.MappingStartEvent:
                self._open(event, {}, line)
            elif kind is yaml.SequenceStartEvent:
                self._open(event, [], line)
            elif kind in (yaml.MappingEndEvent, yaml.SequenceEndEvent):
                self._close()
            elif kind is yaml.AliasEvent:
                self._alias(event.anchor, line)
            elif kind is yaml.DocumentStartEvent:
                documents += 1
                self._document_start(event, documents, line)
        if self.root is None or self.root[0] is None:
            raise self._error("the file is empty", 1)
        value, mark = self.root
        return Document(value=value, mark=mark, shown=self.shown)

    def _document_start(self, event: Any, documents: int, line: int) -> None:
        if documents > 1:
            raise self._error("a second document ('---'): a file holds one", line)
        if event.version is not None and tuple(event.version) != (1, 2):
            raise self._error(f"%YAML {'.'.join(map(str, event.version))}: these files are read as YAML 1.2; remove the line", line)
        if event.tags:
            raise self._error("a %TAG directive: tags are refused, since a suite is data", line)

    def _scalar(self, event: Any, line: int) -> None:
        self._refuse_tag(event, line)
        text, plain = event.value, event.implicit[0]
        top = self.stack[-1] if self.stack else None
        if top is not None and type(top.value) is dict and top.key is None:
            if event.anchor is not None:
                raise self._error(f"an anchor (&{_cut(event.anchor)}) on a key: give it to the value", line)
            self._key(top, text, plain, line)
            return
        value = text
        if plain:
            try:
                value = resolve(text)
            except ValueError as error:
                raise self._error(str(error), line) from None
            if not text and top is not None and top.key is not None:
                line = top.key_line  # the parsers mark nothing at different places
        size = 1 + len(text) // 100
        if event.anchor is not None:
            self._anchor(event.anchor, line)
            self._settle(event.anchor, value, size, 0)
        self._put(value, line, size, 0)

    def _key(self, top: _Frame, text: str, plain: bool, line: int) -> None:  # noqa: FBT001  # a fact of the event, passed on
        if plain and not text:
            raise self._error("a key is missing before ':'", line)
        if plain and text == "<<":
            raise self._error("a merge key (<<): YAML 1.2 has none; use 'defaults', or an alias for the whole value", line)
        if text in top.value:
            first = top.mark.children[text]
            other = first if isinstance(first, int) else first.key_line
            raise self._error(f"the key {_short(text)} stands twice: first in line {other}", line)
        top.key, top.key_line = text, line

    def _open(self, event: Any, value: list[Any] | dict[str, Any], line: int) -> None:
        self._refuse_tag(event, line)
        top = self.stack[-1] if self.stack else None
        if top is not None and type(top.value) is dict and top.key is None:
            raise self._error("a list or mapping as a key: keys are words", line)
        if len(self.stack) >= MAX_DEPTH:
            raise self._error(f"nested deeper than {MAX_DEPTH} levels", line)
        if event.anchor is not None:
            self._anchor(event.anchor, line)
        self.stack.append(_Frame(value, Mark(line), event.anchor))

    def _close(self) -> None:
        frame = self.stack.pop()
        if frame.anchor is not None:
            self._settle(frame.anchor, frame.value, frame.size, frame.height)
        self._put(frame.value, frame.mark, frame.size, frame.height)

    def _alias(self, name: str, line: int) -> None:
        anchored = self.anchors.get(name)
        top = self.stack[-1] if self.stack else None
        if anchored is None:
            raise self._error(
                f"the alias *{_cut(name)} has no anchor (&{_cut(name)}) above it; put text that begins with '*' in quotes", line
            )
        if anchored.open:
            raise self._error(f"the alias *{_cut(name)} stands inside its own anchor of line {anchored.line}", line)
        if top is not None and type(top.value) is dict and top.key is None:
            raise self._error(f"an alias (*{_cut(name)}) as a key: keys are words", line)
        if len(self.stack) + anchored.height > MAX_DEPTH:
            raise self._error(f"nested deeper than {MAX_DEPTH} levels, aliases followed", line)
        self.by_alias += anchored.size
        if self.by_alias > MAX_BY_ALIAS:
            raise self._error(f"aliases stand for more than {MAX_BY_ALIAS} values", line)
        self._put(anchored.value, line, anchored.size, anchored.height)

    def _put(self, value: Any, mark: Mark | int, size: int, height: int) -> None:
        if not self.stack:
            self.root = (value, mark)
            return
        top = self.stack[-1]
        top.size += size
        top.height = max(top.height, height + 1)
        if top.key is None:
            top.mark.children[len(top.value)] = mark
            top.value.append(value)  # type: ignore[union-attr]  # only a list has no key here
            return
        if isinstance(mark, Mark):
            mark.key_line = top.key_line
        elif mark != top.key_line:
            mark = Mark(mark, top.key_line)
        top.mark.children[top.key] = mark
        top.value[top.key] = value  # type: ignore[call-overload]  # only a mapping has a key
        top.key = None

    def _anchor(self, name: str, line: int) -> None:
        if name in self.anchors:
            raise self._error(f"the anchor &{_cut(name)} stands twice: first in line {self.anchors[name].line}", line)
        self.anchors[name] = _Anchored(line)

    def _settle(self, name: str, value: Any, size: int, height: int) -> None:
        anchored = self.anchors[name]
        anchored.value, anchored.size, anchored.height, anchored.open = value, size, height, False

    def _refuse_tag(self, event: Any, line: int) -> None:
        if event.tag is not None:
            tag = _short(event.tag.replace("tag:yaml.org,2002:", "!!"))
            raise self._error(f"the tag {tag}: {NO_TAGS}", line)

    def _error(self, problem: str, line: int) -> SuiteError:
        place = [len(frame.value) if isinstance(frame.value, list) else frame.key for frame in self.stack]
        return SuiteError(problem, path=self.shown, line=line, at=printed([step for step in place if step is not None]))


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


def _short(text: str) -> str:
    return repr(_cut(text))
