"""PyYAML's parser in Python, for installations without libyaml, brought to what libyaml reads.

The two differ in small print that would change a suite from one machine to the next: PyYAML ends plain text inside
brackets at a question mark (`[How many?, a]`), takes no tab between words, and ignores unknown directives. Names of
methods are those of yaml.scanner.Scanner.
"""

from __future__ import annotations

import re
from typing import Any

from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner, ScannerError
from yaml.tokens import ScalarToken

_BREAKS = "\r\n"  # clean text holds no other
_END = "\0 \t\r\n"  # a NUL is the scanner's end of the text
_HEADER = re.compile(r"[1-9][+-]|[+-]?[1-9]?")


class PythonParser(Reader, Scanner, Parser):
    """Events of a text, as CParser has them."""

    def __init__(self, text: str) -> None:
        """`text` is clean: it has passed `decode`."""
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)

    def dispose(self) -> None:
        """Nothing to give back."""

    def scan_to_next_token(self) -> None:
        """Over spaces, comments, line breaks, and tabs where no indentation can stand."""
        while True:
            while self.peek() == " " or (self.peek() == "\t" and (self.flow_level or not self.allow_simple_key)):
                self.forward()
            if self.peek() == "#":
                while self.peek() not in "\0\r\n":
                    self.forward()
            if not self._line_break():
                return
            if not self.flow_level:
                self.allow_simple_key = True

    def scan_plain(self) -> ScalarToken:
        """Plain text over several lines."""
        chunks: list[str] = []
        start = end = self.get_mark()
        spaces: list[str] = []
        while self.peek() != "#":
            length = self._plain_length(start)
            if not length:
                break
            self.allow_simple_key = False
            chunks += [*spaces, self.prefix(length)]
            self.forward(length)
            end = self.get_mark()
            spaces = self.scan_plain_spaces(self.indent + 1, start)
            if not spaces or (not self.flow_level and self.column < self.indent + 1):
                break
        return ScalarToken(value="".join(chunks), plain=True, start_mark=start, end_mark=end)

    def _plain_length(self, start: Any) -> int:
        length = 0
        while (char := self.peek(length)) not in _END and not (self.flow_level and char in ",[]{}"):
            if char == ":":
                after = self.peek(length + 1)
                if after in _END:
                    break
                if self.flow_level and after in ",?[]{}":
                    raise ScannerError("while scanning a plain scalar", start, "found unexpected ':'", self.get_mark())
            length += 1
        return length

    def scan_plain_spaces(self, indent: int, start_mark: Any) -> list[str]:
        """What stands for the white space between two words: itself, a space, or line breaks; nothing at the end."""
        length = 0
        while self.peek(length) in " \t":
            length += 1
        blanks = self.prefix(length)
        self.forward(length)
        if self.peek() not in _BREAKS:
            return [blanks] if blanks else []
        self._line_break()
        self.allow_simple_key = True
        breaks: list[str] = []
        while not self._document_ends():
            while (char := self.peek()) in " \t":
                if char == "\t" and self.column < indent:
                    problem = "found a tab character that violates indentation"
                    raise ScannerError("while scanning a plain scalar", start_mark, problem, self.get_mark())
                self.forward()
            if char not in _BREAKS:
                return breaks or [" "]
            breaks.append(self._line_break())
        return []

    def _document_ends(self) -> bool:
        return self.column == 0 and self.prefix(3) in ("---", "...") and self.peek(3) in _END

    def scan_block_scalar_indicators(self, start_mark: Any) -> tuple[bool | None, int | None]:  # noqa: ARG002  # the scanner passes it
        """The header after `|` or `>`: whether final line breaks are kept (None: one), and the indentation."""
        header = _HEADER.match(self.prefix(2))
        words = header[0] if header else ""
        self.forward(len(words))
        digits = words.strip("+-")
        return {"+": True, "-": False}.get(words.strip("123456789")), int(digits) if digits else None

    def scan_block_scalar_ignored_line(self, start_mark: Any) -> None:
        """The rest of the header's line."""
        while self.peek() in " \t":
            self.forward()
        if self.peek() == "#":
            while self.peek() not in "\0\r\n":
                self.forward()
        if self.peek() not in "\0\r\n":
            problem = "did not find expected comment or line break"
            raise ScannerError("while scanning a block scalar", start_mark, problem, self.get_mark())
        self._line_break()

    def scan_block_scalar_indentation(self) -> tuple[list[str], int, Any]:
        """Leading empty lines, the widest indentation among them and the first line, the mark of their end."""
        breaks, widest, end = super().scan_block_scalar_indentation()
        self._refuse_tab(max(widest, self.indent + 1) + 1)
        return breaks, widest, end

    def scan_block_scalar_breaks(self, indent: int) -> tuple[list[str], Any]:
        """Empty lines and the indentation of the next one."""
        breaks, end = super().scan_block_scalar_breaks(indent)
        self._refuse_tab(indent)
        return breaks, end

    def _refuse_tab(self, indent: int) -> None:
        if self.peek() == "\t" and self.column < indent:
            problem = "found a tab character where an indentation space is expected"
            raise ScannerError("while scanning a block scalar", self.get_mark(), problem, self.get_mark())

    def scan_flow_scalar_non_spaces(self, double: Any, start_mark: Any) -> list[str]:
        """Words of quoted text, escapes resolved."""
        problem = "found invalid Unicode character escape code"
        try:
            words: list[str] = super().scan_flow_scalar_non_spaces(double, start_mark)
        except (OverflowError, ValueError):  # of chr()
            raise ScannerError("while parsing a quoted scalar", start_mark, problem, self.get_mark()) from None
        if any("\ud800" <= char <= "\udfff" for word in words for char in word):
            raise ScannerError("while parsing a quoted scalar", start_mark, problem, self.get_mark())
        return words

    def _line_break(self) -> str:
        return str(self.scan_line_break())  # type: ignore[no-untyped-call]  # untyped there

    def scan_directive(self) -> Any:
        """A directive that YAML knows."""
        start = self.get_mark()
        token = super().scan_directive()
        if token.name not in ("YAML", "TAG"):
            raise ScannerError("while scanning a directive", start, "found unknown directive name", start)
        return token
