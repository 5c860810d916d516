"""A drafter of its own held against the target that it should draft for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pytest_mtp.checkpoint.findings import contradiction, remark
from pytest_mtp.checkpoint.head import Found
from pytest_mtp.checkpoint.look import Look
from pytest_mtp.checkpoint.opened import Opened
from pytest_mtp.checkpoint.tokenizer import vocabulary
from pytest_mtp.core.record import Record
from pytest_mtp.core.verdict import Finding

Fit = Literal["fits", "differs", "risk", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared(Record):
    """One property of both; a value is None where its side does not say."""

    what: str
    drafter: str | None
    target: str | None
    fit: Fit
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing(Record):
    """`fits` is False when one property makes the pair impossible; risks and unknowns leave it True."""

    target: str
    fits: bool
    compared: tuple[Compared, ...]


def pair(drafter: Opened, seen: Look, target: Opened, target_seen: Look) -> tuple[Pairing, list[Finding]]:
    """`seen` and `target_seen` are what was found in each."""
    found = seen.heads[0] if seen.heads else None
    compared = tuple(_compare(drafter, seen, found, target, target_seen))
    shown = target.place.source.shown()
    findings = []
    for one in compared:
        words = f"{one.what}: the drafter has {one.drafter}, the target {one.target}"
        if one.fit == "differs":
            findings.append(contradiction("pairing", words, detail=one.note, hint="Take the drafter that was made for this target."))
        elif one.fit == "risk":
            findings.append(remark("pairing", words, detail=one.note))
    return Pairing(target=shown, fits=all(one.fit != "differs" for one in compared), compared=compared), findings


def _compare(drafter: Opened, seen: Look, found: Found | None, target: Opened, target_seen: Look) -> Iterator[Compared]:
    if found is not None:
        yield _equal("hidden size", _taken(drafter, found), target.facts.hidden_size)
        yield _model_type(drafter, seen, target, target_seen)
    yield _equal("vocabulary size", drafter.facts.vocab_size, target.facts.vocab_size)
    mine, theirs = vocabulary(drafter), vocabulary(target)
    yield Compared(
        what="tokenizer",
        drafter=f"{mine.size} tokens, {mine.digest[:12]}" if mine else None,
        target=f"{theirs.size} tokens, {theirs.digest[:12]}" if theirs else None,
        fit="unknown" if mine is None or theirs is None else "fits" if mine.digest == theirs.digest else "differs",
        note="" if mine and theirs else "one of the two folders has no readable token list; mlx-vlm and vLLM take the target's own",
    )
    if found is not None and found.head.kind == "mtp":
        yield _equal("rope theta", drafter.facts.rope_theta, target.facts.rope_theta, otherwise="risk")
    yield from _precision(found, seen, target_seen)


def _equal(what: str, mine: float | None, theirs: float | None, *, otherwise: Fit = "differs") -> Compared:
    fit: Fit = "unknown" if mine is None or theirs is None else "fits" if mine == theirs else otherwise
    return Compared(what=what, drafter=_plain(mine), target=_plain(theirs), fit=fit)


def _plain(value: float | None) -> str | None:
    return None if value is None else f"{value:.12g}"


def _taken(drafter: Opened, found: Found) -> int | None:
    """The hidden size of the target that the drafter was made for: said by its config, else seen in its projection."""
    said = drafter.facts.target_hidden_size or drafter.facts.hidden_size
    if said is not None or found.join is None:
        return said
    shapes = [tensor.shape for word in found.join.projections for tensor in found.of(word) if len(tensor.shape) == 2]
    return min(shapes[0]) if shapes else None


def _model_type(drafter: Opened, seen: Look, target: Opened, target_seen: Look) -> Compared:
    """A drafter keeps its base's text config; families that share a drafter type fit each other."""
    mine, theirs = drafter.facts.text_type, target.facts.text_type or target.facts.model_type
    if mine is None or theirs is None:
        return Compared(what="model type", drafter=mine or drafter.facts.model_type, target=theirs, fit="unknown")
    one, other = seen.family, target_seen.family
    shared = one is not None and other is not None and (one.name == other.name or (bool(one.drafter) and one.drafter == other.drafter))
    fits = mine == theirs or shared or mine.removesuffix("_text") == theirs.removesuffix("_text")
    return Compared(what="model type", drafter=mine, target=theirs, fit="fits" if fits else "risk")


def _precision(found: Found | None, seen: Look, target_seen: Look) -> Iterator[Compared]:
    mine = found.head.bits_per_weight if found else seen.weights.bits_per_weight
    theirs = target_seen.weights.bits_per_weight
    if not mine or not theirs:
        return
    tight = mine < 6 and mine <= theirs + 0.5
    yield Compared(
        what="bits a weight",
        drafter=f"{mine:g}",
        target=f"{theirs:g}",
        fit="risk" if tight else "fits",
        note="packed as hard as its body, a drafter is accepted less often; 6 bits or more cost little" if tight else "",
    )
