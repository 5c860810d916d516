"""Markdown in which a stranger's words are only words: no markup, no HTML, no links, no mentions, no broken tables."""

from __future__ import annotations

import re

from pytest_mtp.reports.printable import printable

_MARKUP = re.compile(r"([\\`*_\[\]~$])")
_BLOCK = re.compile(r"^(\d*)([#=]|[+-](?=[\s+-]|$)|(?<=\d)[.)](?=\s|$))")
_LINK = re.compile(r"(?i)(https?|ftp|mailto|xmpp)(?=:)|\bwww(?=\.)|@|#(?=\d)")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&vert;"}  # a pipe may not even be escaped in a table's code span


def prose(text: object, *, limit: int = 400) -> str:
    """One line of plain words, fit for a paragraph, a list item and a table cell."""
    plain = "".join(_ENTITIES.get(char, char) for char in printable(text, limit=limit))
    plain = _MARKUP.sub(r"\\\1", plain.strip())
    plain = _BLOCK.sub(r"\1\\\2", plain)
    return _LINK.sub(lambda found: f"{found[0]}<!-- -->", plain)  # an entity would be a link or a mention again once rendered


def code(text: object, *, limit: int = 200) -> str:
    """The same in a code font. No backticks: they could be ended, and in a table they cannot hold every pipe."""
    return f"<code>{prose(text, limit=limit) or '(empty)'}</code>"
