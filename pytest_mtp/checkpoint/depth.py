"""How many MTP layers the config promises, under the keys that the engines of a family read."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_mtp.checkpoint.family import Family
from pytest_mtp.checkpoint.model import Declared, ModelFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """`declared` stands under a key that engines of the family read, `elsewhere` under another family's.

    `depth` is what an engine works with: the declared number, or the family's default.
    """

    declared: Declared | None
    elsewhere: Declared | None
    depth: int | None

    @property
    def says_yes(self) -> bool:
        """Some key, in whatever tongue, promises a layer."""
        return any(found is not None and found.layers > 0 for found in (self.declared, self.elsewhere))


def promise(facts: ModelFacts, family: Family | None, *, gguf: bool) -> Promise:
    """Without a family every known key counts."""
    known = [found for found in facts.declared if family is None or gguf or found.name in family.keys]
    order = {key: rank for rank, key in enumerate(family.keys)} if family else {}
    declared = min(known, key=lambda found: order.get(found.name, 0), default=None)
    elsewhere = next((found for found in facts.declared if found not in known and found.layers > 0), None)
    depth = declared.layers if declared else None
    if family and (depth is None or family.forced) and family.default is not None:
        depth = family.default
    return Promise(declared=declared, elsewhere=elsewhere, depth=depth)
