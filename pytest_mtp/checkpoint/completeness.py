"""Is a head whole? Its join word by word, its blocks by kind, and its matrices against the trunk's own blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pytest_mtp.checkpoint.family import Family
from pytest_mtp.checkpoint.joins import BY_NAME, Join, best
from pytest_mtp.checkpoint.scopes import Part, Place
from pytest_mtp.checkpoint.tensor import Tensor

_ATTENTION = re.compile(r"(?:^|[._])(?:attn|attention|self_attn|mixer|ssm|mamba)|(?:^|\.)(?:[qkvo]|qkv)_proj(?:\.|$)")
_FEED_FORWARD = re.compile(r"mlp|ffn|experts?|feed_forward|moe|(?:^|\.)(?:gate|up|down)_proj(?:\.|$)")
_MOST_LAYERS = 64
_DECODER = (("attention", _ATTENTION), ("feed-forward", _FEED_FORWARD))
_MIXER = (("mixer", re.compile("mixer")),)
_EXPERT = re.compile(r"(?:^|\.)experts\.(\d+)\.")
_NUMBER = re.compile(r"\.\d+(?=\.|$)")
_MATRICES = frozenset(
    {
        "q_proj", "k_proj", "v_proj", "o_proj", "qkv_proj", "q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj", "dense",
        "gate_proj", "up_proj", "down_proj", "gate_up_proj", "attn_q", "attn_k", "attn_v", "attn_qkv", "attn_output", "attn_q_a",
        "attn_q_b", "attn_kv_a_mqa", "attn_kv_b", "attn_k_b", "attn_v_b", "ffn_gate", "ffn_up", "ffn_down", "ffn_gate_exps", "ffn_up_exps",
        "ffn_down_exps",
    }
)  # fmt: skip
"""Matrices without which no decoder layer computes. Others (indexers, gates, norms) may well differ between trunk and head."""


def joined(place: Place, family: Family | None) -> tuple[Join | None, tuple[str, ...]]:
    """How this head joins, and which modules of the join are not there; None for a head that joins by no known words."""
    words = {word for layer in place.layers for word in place.words(layer)}
    found = best(words, own_file=place.scope == "root")
    if found is None and place.scope == "root" and _medusa(place):
        return BY_NAME["medusa"], ()
    if found is None:
        if family is None or (place.scope == "block" and not words & set(BY_NAME[family.joins[0]].words)):
            return None, ()
        found = BY_NAME[family.joins[0]], ()
    join = found[0]
    holders = [layer for layer in place.layers if place.words(layer) & set(join.words)]
    if join.once or place.scope in ("root", "flat") or None in holders or mixed(place, family):
        return join, tuple(f"{place.where}.{word}" for word in join.words if word not in words)
    lacking = [(layer, word) for layer in numbers(place) for word in join.words if word not in place.words(layer)]
    return join, tuple(f"{name_of(place, layer)}.{word}" for layer, word in lacking)


def numbers(place: Place) -> list[int]:
    """Its layer numbers, in order."""
    return sorted(layer for layer in place.layers if layer is not None)


def name_of(place: Place, layer: int | None) -> str:
    """How a layer's names begin in the file."""
    rest, tensor = next(iter(place.layers.get(layer, ())), ("", None))
    if layer is None or tensor is None:
        return place.where
    return tensor.name.removesuffix(rest).rstrip(".").removesuffix(".nextn")


def mixed(place: Place, family: Family | None) -> bool:
    """Nemotron-H: the blocks are the parts of one layer, and the join stands in the first of them."""
    return family.mixers if family else any("mixer" in place.words(layer) for layer in place.layers)


def hollow(place: Place, family: Family | None, join: Join | None) -> list[str]:
    """Layers whose block has no attention, or no feed-forward part, at all."""
    if join is None or join.kind != "mtp":
        return []
    missing = []
    layers: list[int | None] = [*numbers(place)] or [None]
    for layer in layers:
        rests = [rest for rest, tensor in place.layers.get(layer, ()) if len(tensor.shape) > 1 or not tensor.dtype]
        wanted = _MIXER if mixed(place, family) else _DECODER
        missing += [f"{name_of(place, layer)} ({what})" for what, words in wanted if not any(words.search(rest) for rest in rests)]
    return missing


def lacking(place: Place, trunk: Mapping[int, Sequence[Part]]) -> list[str]:
    """Matrices that the most similar trunk block has and this head's block has not.

    Says nothing when the head's block has modules of another style, for then it is another design and not a torn one.
    """
    templates = [_modules(parts) for parts in _distinct(trunk)]
    missing: list[str] = []
    usual = max((_experts(parts) for parts in _distinct(trunk)), default=0)
    for layer in numbers(place)[:_MOST_LAYERS] if templates else ():
        own = set(_modules(place.layers[layer]))
        template = max(templates, key=lambda modules: len(own & modules.keys()) / len(own | modules.keys()))
        gone = {module for module in template.keys() - own if module.rpartition(".")[2] in _MATRICES}
        foreign = {module for module in own - template.keys() if module.rpartition(".")[2] in _MATRICES}
        if gone and not foreign and len(gone) <= len(template) / 2:
            missing += [f"{name_of(place, layer)}.{module}" for module in sorted(gone)]
        experts = _experts(place.layers[layer])
        if 0 < experts < usual and not gone:
            missing.append(f"{name_of(place, layer)} ({experts} of {usual} experts)")
    return missing


def _distinct(trunk: Mapping[int, Sequence[Part]]) -> list[Sequence[Part]]:
    """The distinct blocks among the last twelve, told apart by their number of tensors: enough for hybrid stacks."""
    return list({len(trunk[number]): trunk[number] for number in sorted(trunk)[-12:]}.values())


def _modules(parts: Sequence[Part]) -> dict[str, Tensor]:
    """Module path to one of its tensors, with expert numbers folded."""
    return {_NUMBER.sub(".*", rest.rpartition(".")[0] or rest): tensor for rest, tensor in parts}


def _experts(parts: Sequence[Part]) -> int:
    return len({match[1] for rest, _ in parts if (match := _EXPERT.search(rest))})


def _medusa(place: Place) -> bool:
    return any(re.fullmatch(r"\d+\.\d+\.linear\.weight", rest) for rest, _ in place.layers.get(None, ()))
