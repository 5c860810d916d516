"""A digest of the vocabulary that is the same for tokenizer.json and for the token list of a GGUF file."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from pytest_mtp.checkpoint.errors import CheckpointError
from pytest_mtp.checkpoint.json_bytes import Walker
from pytest_mtp.checkpoint.opened import Opened
from pytest_mtp.core.record import Record

_FILE = "tokenizer.json"
_MAX_FILE = 64 << 20
_MAX_VOCABULARY = 1_000_000
_MAX_MERGE_TOKENS = 5_000_000
_ID = re.compile(rb"\s*+(\d{1,9}+)\s*+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary(Record):
    """`digest` is over the tokens in the order of their ids, without padding at the end; `size` is how many those are."""

    digest: str
    size: int
    source: str


def vocabulary(opened: Opened) -> Vocabulary | None:
    """None where the folder holds no tokenizer.json, or one whose model has no list of tokens."""
    if opened.vocabulary:
        return Vocabulary(digest=opened.vocabulary[0], size=opened.vocabulary[1], source="tokenizer.ggml.tokens")
    source = opened.place.source
    if opened.gguf or not source.has(_FILE):
        return None
    path, size = source.shown(_FILE), source.size(_FILE)
    if size > _MAX_FILE:
        raise CheckpointError(f"has {size} bytes; a tokenizer of more than {_MAX_FILE} is not read", path=path)
    tokens = _tokens(Walker(source.read(_FILE, 0, size), path=path))
    if not tokens:
        return None
    digest, last = hashlib.sha256(), max(tokens)
    for number in range(last + 1):
        token = tokens.get(number)
        piece = f"[PAD{number}]".encode() if token is None else token.encode("utf-8", "surrogatepass")
        digest.update(len(piece).to_bytes(4, "little") + piece)
    return Vocabulary(digest=digest.hexdigest(), size=last + 1, source=_FILE)


def _tokens(walker: Walker) -> dict[int, str]:
    tokens: dict[int, str] = {}
    added: object = None
    going = walker.enter()
    while going:
        key = walker.key()
        if key == "added_tokens":
            added = walker.value(limit=8 << 20)
        elif key == "model":
            tokens |= _model(walker)
        else:
            walker.skip()
        going = walker.more()
    walker.finish()
    for token in added if isinstance(added, list) else ():
        number, content = (token.get("id"), token.get("content")) if isinstance(token, dict) else (None, None)
        if type(number) is int and isinstance(content, str) and 0 <= number < _MAX_VOCABULARY:
            tokens[number] = content
    return tokens


def _model(walker: Walker) -> dict[int, str]:
    tokens: dict[int, str] = {}
    going = walker.enter()
    while going:
        if walker.key() == "vocab" and walker.raw[walker.at : walker.at + 4].lstrip()[:1] == b"{":
            tokens = _vocab(walker)
        else:
            walker.skip(tokens=_MAX_MERGE_TOKENS)
        going = walker.more()
    return tokens


def _vocab(walker: Walker) -> dict[int, str]:
    tokens: dict[int, str] = {}
    going = walker.enter()
    while going:
        token = walker.key()
        match = _ID.match(walker.raw, walker.at)
        if match is None or int(match[1]) >= _MAX_VOCABULARY:
            raise walker.fail("expected a token id")
        walker.at = match.end()
        tokens[int(match[1])] = token
        going = walker.more()
    return tokens
