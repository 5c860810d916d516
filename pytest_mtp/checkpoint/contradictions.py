"""Config against tensors, index against headers, head against trunk: what cannot both be true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_mtp.checkpoint.depth import Promise
from pytest_mtp.checkpoint.family import SCOPE_PATTERNS, Family
from pytest_mtp.checkpoint.findings import contradiction, remark, some
from pytest_mtp.checkpoint.head import Found
from pytest_mtp.checkpoint.opened import Opened
from pytest_mtp.checkpoint.recipe import dropped_hint
from pytest_mtp.core.verdict import Finding


def without_head(opened: Opened, promised: Promise) -> list[Finding]:
    """When no tensor belongs to a head."""
    said = promised.declared if promised.declared and promised.declared.layers else promised.elsewhere
    if said is not None and said.layers:
        title = f"the config promises {_layers(said.layers)} ({said.key}), and no tensor belongs to one"
        return [contradiction("config", title, hint=dropped_hint(opened.recipe), key=said.key, declared=said.layers)]
    if opened.facts.hints:
        return [remark("config", f"the config speaks of MTP ({some(list(opened.facts.hints))}) without a number of layers")]
    return []


def with_head(opened: Opened, found: Found, promised: Promise, family: Family | None) -> list[Finding]:
    """For each head found."""
    findings = [*_config(opened, found, promised, family), *_layout(opened, found, family), *_projection(opened, found)]
    if found.head.missing:
        title = f"the head at {found.head.where} is not whole, {len(found.head.missing)} modules are missing: "
        findings.append(contradiction("partial", title + some(list(found.head.missing)), missing=list(found.head.missing[:50])))
    names = [tensor.name for _, tensor in found.parts]
    unlisted = [name for name in names if name in opened.unlisted]
    if unlisted:
        findings.append(
            contradiction(
                "index",
                f"{len(unlisted)} tensors of the head are on disk and not in the index: {some(unlisted)}",
                hint="Engines that follow the index never load them: write the index again.",
                tensors=len(unlisted),
            )
        )
    strange = [file for file in found.head.files if opened.place.index and not file.startswith("model")]
    if strange:
        findings.append(remark("index", f"the head stands in {some(strange)}: loaders that look for model*.safetensors alone skip it"))
    return findings


def _config(opened: Opened, found: Found, promised: Promise, family: Family | None) -> list[Finding]:
    head, declared = found.head, promised.declared
    if head.kind == "unknown":
        title = f"tensors that look like a head ({SCOPE_PATTERNS['shape']}) stand at {head.where}"
        if head.scope == "block":
            title = f"blocks stand beyond the {opened.facts.layers} layers of the config, from {head.where} on"
        if not promised.says_yes:
            return [contradiction("config", f"{title}, and the config promises none: no engine will use them", layers=head.layers)]
        return [remark("config", f"{title}: a layout that is not known here")]
    if head.kind != "mtp" or head.scope == "root" or (opened.place.format == "safetensors" and not opened.place.config):
        return []
    if declared is None and (family is None or family.default is None):
        keys = " or ".join(family.keys) if family else "num_nextn_predict_layers"
        if promised.elsewhere and family:
            title = f"the config promises the head under {promised.elsewhere.key}, and engines that run {family.name} read {keys}"
            return [contradiction("config", title, key=promised.elsewhere.key)]
        title = f"{_layers(head.layers)} on disk at {head.where}, and the config promises none"
        return [contradiction("config", title, hint=f"Set {keys}, or no engine will look for it.", layers=head.layers)]
    if declared is not None and declared.layers == 0:
        title = f"{_layers(head.layers)} on disk at {head.where}, and the config says {declared.key} = 0"
        return [contradiction("config", title, hint=f"Set {declared.key} to {head.layers}.", key=declared.key)]
    return _number(head.layers, promised, family)


def _number(layers: int, promised: Promise, family: Family | None) -> list[Finding]:
    declared = promised.declared
    if declared is None or (family and (family.forced or family.mixers)):
        used = promised.depth or 1
        return [remark("config", f"{layers} layers on disk; engines use the first {used}")] if layers > used else []
    least = max(declared.layers - 1, 1) if family and family.base_skip else declared.layers
    if layers < least:
        title = f"the config promises {_layers(declared.layers)} ({declared.key}), and {layers} of them are on disk"
        return [contradiction("partial", title, declared=declared.layers, layers=layers)]
    if layers > declared.layers:
        return [remark("config", f"{layers} layers on disk; engines use the {declared.layers} that {declared.key} says")]
    return []


def _layout(opened: Opened, found: Found, family: Family | None) -> list[Finding]:
    head = found.head
    if family is None or opened.gguf or head.kind == "unknown" or head.scope == "root":
        return []
    if head.scope in family.scopes and (head.join is None or head.join in family.joins):
        return []
    expected = " or ".join(SCOPE_PATTERNS[scope] for scope in family.scopes)
    title = f"{family.name} looks for its head at {expected}, and these tensors stand at {head.where} in the style of {head.join}"
    return [contradiction("layout", title, hint="Rename the tensors to what the engine looks for.", place=head.where)]


def _projection(opened: Opened, found: Found) -> list[Finding]:
    """The join takes the hidden size of the trunk; packed matrices are left alone, since their columns are not weights."""
    size = opened.facts.hidden_size
    if found.join is None or found.join.kind != "mtp" or found.head.scope == "root" or not size:
        return []
    words = found.join.projections
    expected = (size, size * (2 if len(words) == 1 else 1))
    for word in words:
        for tensor in found.of(word):
            plain = opened.gguf or tensor.dtype.startswith(("F", "BF"))
            if plain and len(tensor.shape) == 2 and tensor.shape != expected and tensor.name.endswith((f"{word}.weight", word)):
                title = f"{tensor.name} has the shape {list(tensor.shape)}; a hidden size of {size} asks for {list(expected)}"
                return [contradiction("shape", title, shape=list(tensor.shape))]
    return []


def trunk_gaps(opened: Opened, trunk: Mapping[int, Sequence[Any]]) -> list[Finding]:
    """Layers of the trunk without any tensor, where the folder should hold a whole model."""
    layers = opened.facts.layers
    if not layers or not trunk or (opened.place.alone and not opened.gguf):
        return []
    gone = [number for number in range(layers) if number not in trunk]
    if not gone or len(gone) == layers:
        return []
    return [remark("trunk", f"{len(gone)} of the trunk's {layers} layers have no tensor: {some([str(number) for number in gone])}")]


def _layers(count: int) -> str:
    return f"{count} MTP layer{'' if count == 1 else 's'}"
