"""Sorting tensor names: the trunk's blocks, the places where heads stand, and the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pytest_mtp.checkpoint.family import Scope
from pytest_mtp.checkpoint.joins import WORDS, Join, best
from pytest_mtp.checkpoint.tensor import Tensor

_BLOCK = re.compile(r"((?:[\w-]+\.)*?(?:layers|blk|h|blocks))\.(\d{1,6})\.(.+)", flags=re.ASCII | re.DOTALL)
_MTP: tuple[tuple[Scope, re.Pattern[str]], ...] = (
    ("mtp_layers", re.compile(r"((?:.*?\.)??mtp_layers)\.(?P<layer>\d{1,6})\.(?P<rest>.+)", re.DOTALL)),
    ("mtp", re.compile(r"((?:.*?\.)??mtp)\.(?:layers\.)?(?P<layer>\d{1,6})\.(?P<rest>.+)", re.DOTALL)),
    ("mtp", re.compile(r"((?:.*?\.)??mtp)\.(?P<rest>.+)", re.DOTALL)),
    (
        "flat",
        re.compile(r"((?:.*?\.)??)(?P<flat>mtp_(?:emb_norm|hidden_norm|linear_proj|block))\.(?P<layer>\d{1,6})\.(?P<rest>.+)", re.DOTALL),
    ),
)
_OTHER_MODALITY = re.compile(r"(?i)vision|visual|vit\b|image|audio|speech|encoder|projector|resampler|merger|connector|tower")

_SMALL = 8  # blocks; drafters have one to five, language models more

Part = tuple[str, Tensor]
"""A tensor and the rest of its name behind the scope and the layer."""


@dataclass(frozen=True, slots=True)
class Place:
    """One head's tensors by layer; layer None holds what stands once."""

    scope: Scope
    where: str
    layers: dict[int | None, list[Part]] = field(default_factory=dict)

    def words(self, layer: int | None) -> set[str]:
        """First components of the names in a layer: its modules."""
        return {rest.partition(".")[0] for rest, _ in self.layers.get(layer, ())}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    """`trunk` is the block stack of the language model (empty where there is none), heads taken out.

    `other` holds every tensor outside the trunk's blocks and outside `heads`.
    """

    heads: tuple[Place, ...]
    trunk: Mapping[int, list[Part]]
    trunk_name: str
    other: tuple[Tensor, ...]


def sort(tensors: Iterable[Tensor], *, layers: int | None, drafter: bool) -> Sorted:
    """`layers` is the trunk's depth by the config; `drafter`: the config calls the whole file a drafter."""
    marked: dict[tuple[Scope, str], Place] = {}
    stacks: dict[str, dict[int, list[Part]]] = {}
    rest: list[Tensor] = []
    begin, after, parts = "\n", 0, list[Part]()  # the block of the tensor before, which the next one mostly shares
    for tensor in tensors:
        name = tensor[0]
        if "mtp" in name and _mark(tensor, marked):
            continue
        if name.startswith(begin):
            parts.append((name[after:], tensor))
            continue
        match = _BLOCK.fullmatch(name)
        if match is None:
            rest.append(tensor)
        else:
            parts = stacks.setdefault(match[1], {}).setdefault(int(match[2]), [])
            parts.append((match[3], tensor))
            begin, after = name[: match.start(3)], match.start(3)
    language = {name: blocks for name, blocks in stacks.items() if not _OTHER_MODALITY.search(name)}
    trunk_name = max(language, key=lambda name: (len(language[name]), sum(map(len, language[name].values()))), default="")
    whole = _own_file(marked, language, rest, drafter=drafter)
    if whole is not None:
        foreign = [name for name in stacks if name not in language]
        other = tuple(tensor for name in foreign for parts in stacks[name].values() for _, tensor in parts)
        return Sorted(heads=(whole,), trunk={}, trunk_name="", other=other)
    for name, blocks in language.items():
        for number in sorted(blocks):
            words = {part[0].partition(".")[0] for part in blocks[number]}
            beyond = name == trunk_name and layers is not None and number >= layers
            if beyond or words & WORDS or "nextn" in words or ("input_proj" in words and _complete(words)):
                taken = [(part.removeprefix("nextn."), tensor) for part, tensor in blocks.pop(number)]
                marked.setdefault(("block", name), Place("block", name)).layers[number] = taken
    trunk = language.get(trunk_name, {})
    others = [tensor for name, blocks in stacks.items() if name != trunk_name for parts in blocks.values() for _, tensor in parts]
    return Sorted(heads=tuple(marked.values()), trunk=trunk, trunk_name=trunk_name, other=(*others, *rest))


def _mark(tensor: Tensor, marked: dict[tuple[Scope, str], Place]) -> bool:
    for scope, pattern in _MTP:
        match = pattern.fullmatch(tensor.name)
        if match is None:
            continue
        groups = match.groupdict()
        layer = int(groups["layer"]) if groups.get("layer") else None
        rest = f"{groups['flat']}.{groups['rest']}" if "flat" in groups else groups["rest"]
        where = match[1].rstrip(".") or "(top level)"
        marked.setdefault((scope, where), Place(scope, where)).layers.setdefault(layer, []).append((rest, tensor))
        return True
    return False


def _complete(words: set[str]) -> bool:
    found = best(words)
    return found is not None and not found[1]


def _own_file(
    marked: Mapping[tuple[Scope, str], Place], stacks: Mapping[str, dict[int, list[Part]]], rest: list[Tensor], *, drafter: bool
) -> Place | None:
    """The whole file as one head: the config says so, or the top level of a small file joins, or its first block does."""
    top = [(tensor.name.removeprefix("model.").removeprefix("nextn."), tensor) for tensor in rest]
    if not drafter:
        words = {part[0].partition(".")[0] for part in top}
        first = {part[0].partition(".")[0] for blocks in stacks.values() for part in blocks.get(0, ())}
        small = all(max(blocks) < _SMALL for blocks in stacks.values())
        found = best(words, own_file=True) if small else None
        if marked or not ((found and _fits(found[0], top)) or best(first)):
            return None
    whole = Place("root", "(whole file)")
    for scope in marked.values():
        for layer, parts in scope.layers.items():
            whole.layers.setdefault(layer, []).extend(parts)
    for blocks in stacks.values():
        for number, parts in blocks.items():
            whole.layers.setdefault(number, []).extend(parts)
    if top:
        whole.layers.setdefault(None, []).extend(top)
    return whole


def _fits(join: Join, top: list[Part]) -> bool:
    """EAGLE's and DFlash's `fc` takes 2 to 8 hidden states at once; an `fc` of another shape is something else."""
    if not join.own_file or "fc" not in join.words:
        return True
    shapes = [tensor.shape for part, tensor in top if part in ("fc.weight", "fc")]
    return any(len(shape) == 2 and shape[0] and shape[1] % shape[0] == 0 and 2 <= shape[1] // shape[0] <= 8 for shape in shapes)
