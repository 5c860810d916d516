"""Bytes of a file to text, refusing what YAML 1.1 and 1.2 read differently or what no editor shows."""

from __future__ import annotations

import codecs
import re
import unicodedata

from pytest_mtp.core.errors import SuiteError

MAX_BYTES = 64 * 2**20

_BOMS = (
    (codecs.BOM_UTF8, "starts with a byte order mark: save it as UTF-8 without BOM"),
    (codecs.BOM_UTF16_LE, "is UTF-16: save it as UTF-8"),  # also the start of a UTF-32 one
    (codecs.BOM_UTF16_BE, "is UTF-16: save it as UTF-8"),
)
_REFUSED = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_BREAKS = re.compile("\r\n|\r|\n")
_LINE_BREAKS_OF_YAML_1_1 = frozenset("\x85\u2028\u2029")


def decode(content: bytes, shown: str) -> str:
    """The text of a file; raises SuiteError for anything but clean UTF-8."""
    if len(content) > MAX_BYTES:
        raise SuiteError(f"the file is larger than {MAX_BYTES // 2**20} MiB", path=shown, line=1)
    for bom, problem in _BOMS:
        if content.startswith(bom):
            raise SuiteError(f"the file {problem}", path=shown, line=1)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = line_at(content[: error.start].decode("utf-8"), error.start)
        raise SuiteError(
            f"not UTF-8: the byte 0x{content[error.start]:02x} (character encoding of the file)", path=shown, line=line
        ) from None
    refused = _REFUSED.search(text)
    if refused:
        raise SuiteError(_complaint(refused[0]), path=shown, line=line_at(text, refused.start()))
    return text


def line_at(text: str, offset: int) -> int:
    """One-based line of a character, with the line breaks of YAML 1.2."""
    return 1 + sum(1 for _ in _BREAKS.finditer(text, 0, offset))


def _complaint(char: str) -> str:
    code = f"U+{ord(char):04X}"
    name = "NUL" if char == "\0" else unicodedata.name(char, "control character")
    escape = f"\\x{ord(char):02x}" if ord(char) < 0x100 else f"\\u{ord(char):04x}"
    what = "an invisible line break" if char in _LINE_BREAKS_OF_YAML_1_1 else "an invisible character"
    return f'{what}, {code} ({name}): write it as "{escape}" in double quotes'
