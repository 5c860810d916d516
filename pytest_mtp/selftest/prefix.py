"""A prefix cache as engines have it: whole blocks of tokens, each known by itself and by all that stands before it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

BLOCK = 16
"""Tokens. What does not fill a block is computed anew."""


class PrefixCache:
    """Thread-safe. Keeps the blocks that were used last."""

    def __init__(self, blocks: int = 4096) -> None:
        """Empty, with room for that many blocks."""
        self._room = blocks
        self._known: OrderedDict[int, None] = OrderedDict()
        self._lock = threading.Lock()

    def visit(self, prompt: Sequence[str], *, keep: bool = True) -> int:
        """How many of the prompt's tokens it held, the last token never among them; with `keep` it holds them all from now on."""
        chain, keys = 0, []
        for end in range(BLOCK, len(prompt) + 1, BLOCK):
            chain = hash((chain, tuple(prompt[end - BLOCK : end])))
            keys.append(chain)
        with self._lock:
            held = 0
            while held < len(keys) and keys[held] in self._known:
                held += 1
            for key in keys if keep else ():
                self._known[key] = None
                self._known.move_to_end(key)
            while len(self._known) > self._room:
                self._known.popitem(last=False)
        return min(held, (len(prompt) - 1) // BLOCK) * BLOCK
