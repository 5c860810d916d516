"""Quantisation recipes against the head: dropped, skipped without saying so, or packed as hard as the body."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from typing import Any

from pytest_mtp.checkpoint.findings import remark, some
from pytest_mtp.checkpoint.head import Found
from pytest_mtp.checkpoint.storage import Storage
from pytest_mtp.core.verdict import Finding

_LEFT_OUT = ("ignore", "modules_to_not_convert", "exclude", "exclude_modules", "modules_to_not_quantize", "ignored_layers")
_BLOCK = re.compile(
    r"(?:^|\.)(?:[qkvo]_proj|qkv_proj|gate_proj|up_proj|down_proj|gate_up_proj|q_[ab]_proj|kv_b_proj|kv_a_proj_with_mqa)(?:\.weight)?$"
)
_TIGHT_BITS = 6.0
_DEEPEST, _MOST = 24, 5000  # components of a name, and modules compared with a recipe: more than any real head has


def recipe_findings(found: Found, recipe: Mapping[str, Any], storage: Storage, *, body_bits: float) -> list[Finding]:
    """Remarks only: what a recipe did is a risk, not a contradiction."""
    findings = []
    head = found.head
    if 0 < head.bits_per_weight < _TIGHT_BITS and head.bits_per_weight <= body_bits + 0.5:
        findings.append(
            remark(
                "precision",
                f"the head is packed as hard as its body ({head.bits_per_weight:g} against {body_bits:g} bits a weight)",
                hint="Drafts are accepted less often; a head of 6 bits or more beside the same body costs little.",
                head_bits=head.bits_per_weight,
                body_bits=body_bits,
            )
        )
    left_out = LeftOut(recipe)
    if recipe.get("quant_method") in (None, "mlx", "mxfp4") and not left_out.names:
        return findings
    plain: list[str] = []
    listed: list[str] = []
    for _, tensor in found.parts[:_MOST]:
        module = tensor.name.removesuffix(".weight")
        if not _BLOCK.search(module) or not tensor.dtype:
            continue
        if storage.held(tensor).bits >= 16:
            (listed if left_out.covers(module) else plain).append(module)
    if plain and body_bits < 16:
        but = f", though it lists {len(listed)} others of the head" if listed else ""
        findings.append(
            remark(
                "recipe",
                f"{len(plain)} matrices of the head are not quantised, and the recipe does not list them as left out{but}: {some(plain)}",
                hint="Engines that build the head by the recipe fail on these or skip them in silence: list them (re:^mtp.* for example).",
                modules=len(plain),
            )
        )
    elif listed and body_bits < 16 and not left_out.patterns:
        findings.append(
            remark(
                "recipe",
                f"the recipe lists the head's {len(listed)} unquantised matrices one by one",
                hint="Engines that fuse q/k/v or gate/up may not recognise single names: a pattern (re:^mtp.*) is safer.",
                modules=len(listed),
            )
        )
    return findings


def dropped_hint(recipe: Mapping[str, Any]) -> str:
    """What to say when the config promises a head that is not there."""
    if not recipe:
        return "Copy the head's tensors from the original checkpoint, or set the key to 0."
    method = recipe.get("quant_method") or "a quantiser"
    return f"Quantised by {str(method)[:40]}: many recipes drop the head when they save. Copy its tensors from the original checkpoint."


class LeftOut:
    """The modules that a recipe leaves alone. Lists of single names run to thousands of entries; patterns are few."""

    def __init__(self, recipe: Mapping[str, Any]) -> None:
        """All of the keys in use are read."""
        lists = [recipe[key] for key in _LEFT_OUT if isinstance(recipe.get(key), list)]
        entries = [entry[:300] for entries in lists for entry in entries if isinstance(entry, str)]
        self.patterns = [entry for entry in entries if entry.startswith("re:") or "*" in entry][:200]
        self.names = frozenset(entries)

    def covers(self, module: str) -> bool:
        """By its name, a part of its path, a glob or a `re:` pattern."""
        parts = module.split(".")[:_DEEPEST]
        paths = (".".join(parts[begin:end]) for begin in range(len(parts)) for end in range(begin + 1, len(parts) + 1))
        return any(path in self.names for path in paths) or any(_matches(pattern, module) for pattern in self.patterns)


def _matches(pattern: str, module: str) -> bool:
    """A stranger's regular expression is never run: what stands before its first special character is compared."""
    if pattern.startswith("re:"):
        literal = re.match(r"\^?((?:\\.|[\w-])*)", pattern[3:].removeprefix(".*"))
        word = literal[1].replace("\\", "") if literal else ""
        return bool(word) and (module.startswith(word) or f".{word}" in module)
    return fnmatch.fnmatchcase(module, pattern) or fnmatch.fnmatchcase(module, f"{pattern}.*")
