"""How this room reports: core Findings under one code, told apart by `where`."""

from __future__ import annotations

from pytest_mtp.core.record import Json
from pytest_mtp.core.verdict import Finding

CODE = "ID.checkpoint"


def contradiction(where: str, title: str, *, detail: str = "", hint: str = "", **evidence: Json) -> Finding:
    """Two parts of the checkpoint cannot both be true: the verdict becomes `contradiction`."""
    return Finding(code=CODE, severity="critical", title=title, detail=detail, where=where, hint=hint, evidence=evidence)


def remark(where: str, title: str, *, detail: str = "", hint: str = "", **evidence: Json) -> Finding:
    """Worth knowing; never changes the verdict."""
    return Finding(code=CODE, severity="note", title=title, detail=detail, where=where, hint=hint, evidence=evidence)


def some(names: list[str], *, limit: int = 4) -> str:
    """The first names and how many more there are."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(name[:120] for name in names[:limit]) + more
