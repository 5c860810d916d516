"""The public door of this room: whether a checkpoint holds an MTP head, and what follows."""

from __future__ import annotations

from pytest_mtp.checkpoint.advice import Case, advise
from pytest_mtp.checkpoint.digest import digest
from pytest_mtp.checkpoint.errors import CheckpointError
from pytest_mtp.checkpoint.head import Head
from pytest_mtp.checkpoint.inspection import Answer, Inspection
from pytest_mtp.checkpoint.look import Look, look
from pytest_mtp.checkpoint.looked import looked_for
from pytest_mtp.checkpoint.opened import open_checkpoint
from pytest_mtp.checkpoint.pairing import pair
from pytest_mtp.checkpoint.values import read_values
from pytest_mtp.core.verdict import Finding

_PAIR = "pairing"


def inspect_checkpoint(path: str, *, deep: bool = False, target: str | None = None) -> Inspection:
    """Reads headers, config and index; with `deep` the head's own weights too, with `target` another checkpoint's headers.

    Raises CheckpointError when nothing can be judged at `path` (or `target`), InfraError when a web server fails.
    """
    opened = open_checkpoint(path)
    seen = look(opened)
    findings = list(seen.findings)
    values = pairing = None
    if deep and seen.heads:
        values, more = read_values(opened.place.source, seen.heads)
        findings += more
    if target is not None:
        other = open_checkpoint(target)
        if seen.heads and not seen.heads[0].head.own_file:
            raise CheckpointError("holds a trunk of its own: --target is for a drafter in a file of its own", path=path)
        pairing, more = pair(opened, seen, other, look(other))
        findings += more
    source = opened.place.source
    answer, reason = conclude(seen, findings)
    first = seen.heads[0].head if seen.heads else None
    case = Case(head=first, family=seen.family, facts=opened.facts, gguf=opened.gguf, path=path, writer=opened.writer) if first else None
    return Inspection(
        path=path,
        format=opened.place.format,
        verdict=answer,
        reason=reason,
        family=seen.family.name if seen.family else None,
        model=opened.facts,
        heads=tuple(found.head for found in seen.heads),
        weights=seen.weights,
        findings=tuple(findings),
        looked_for=looked_for(seen, opened.facts),
        advice=advise(case) if case else (),
        digest=digest(opened),
        revision=opened.place.revision,
        notes=opened.place.notes,
        files=opened.files,
        tensors=len(opened.tensors),
        header_bytes=opened.header_bytes,
        bytes_read=source.bytes_read,
        values=values,
        pairing=pairing,
    )


def conclude(seen: Look, findings: list[Finding]) -> tuple[Answer, str]:
    """One critical finding makes a contradiction, except those of a pairing: they are about two checkpoints."""
    wrong = [finding for finding in findings if finding.severity == "critical" and finding.where != _PAIR]
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        return "contradiction", wrong[0].title + more
    if seen.heads:
        return "present", describe(seen.heads[0].head)
    if seen.family and not seen.family.separate and seen.promised.declared is None:
        return "absent", f"no tensor belongs to a head; other checkpoints of {seen.family.name} have one"
    return "absent", "no tensor belongs to a head, and the config promises none"


def describe(head: Head) -> str:
    """One line for a head."""
    what = {"mtp": "MTP", "unknown": "unknown"}.get(head.kind, head.kind)
    stored = " and ".join(list(head.storage)[:2]) or "unread"
    layers = f"{head.layers} layer{'' if head.layers == 1 else 's'}"
    return f"{what} head, {layers} at {head.where}, {head.parameters:,} weights in {head.nbytes:,} bytes ({stored})"
