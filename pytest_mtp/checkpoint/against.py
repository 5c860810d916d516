"""A checkpoint held against the server that should be serving it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_mtp.checkpoint.advice import Advice
from pytest_mtp.checkpoint.findings import CODE
from pytest_mtp.checkpoint.inspection import Inspection
from pytest_mtp.checkpoint.model import whole
from pytest_mtp.checkpoint.naming import same_model
from pytest_mtp.core.facts import ServerFacts
from pytest_mtp.core.record import Json
from pytest_mtp.core.verdict import Finding

_MTP_METHODS = ("mtp", "nextn", "draft-mtp")
_DRAFTER_KEYS = ("draft_model", "drafter_path", "speculative_draft_model_path")


def against_server(inspection: Inspection, facts: ServerFacts) -> tuple[Finding, ...]:
    """What server and files together show that neither shows alone.

    A head on disk and speculation off is `SPEC.inactive` with the flag to set; speculation by MTP without a head, another
    model, and a checkpoint that contradicts itself are `ID.checkpoint`. A server whose speculation is unknown is not accused.
    """
    return (*_contradictions(inspection), *_speculation(inspection, facts), *_identity(inspection, facts))


def _contradictions(inspection: Inspection) -> Iterator[Finding]:
    for finding in inspection.findings:
        if finding.severity == "critical":
            yield finding


def _speculation(inspection: Inspection, facts: ServerFacts) -> Iterator[Finding]:
    spec = facts.speculation
    if inspection.heads and spec.state == "inactive":
        advice = next((one for one in inspection.advice if one.engine == _engine(facts.engine)), None)
        yield Finding(
            code="SPEC.inactive",
            severity="note",
            title=f"the checkpoint holds a head and the server does not speculate: {inspection.reason}",
            where="checkpoint",
            hint=_to_set(advice, facts.engine),
            evidence={"checkpoint": inspection.path, "engine": facts.engine, "flags": advice.flags if advice else ""},
        )
    method = (spec.method or "").lower()
    if not inspection.heads and spec.state in ("active", "dead") and any(word in method for word in _MTP_METHODS):
        elsewhere = next((str(facts.details[key]) for key in _DRAFTER_KEYS if facts.details.get(key)), "")
        if not elsewhere:
            yield _differs(
                f"the server speculates by {spec.method}, and {inspection.path} holds no head: it serves other files", "speculation"
            )


def _engine(name: str) -> str:
    return {"llamacpp": "llama.cpp", "demo": "llama.cpp", "mlx": "mlx-vlm"}.get(name, name)


def _to_set(advice: Advice | None, engine: str) -> str:
    if advice is None:
        return f"Set {engine}'s speculation flag, if it has one for this head."
    if advice.support == "yes":
        return f"Set {advice.flags}"
    return f"{engine}: {advice.note}"


def _identity(inspection: Inspection, facts: ServerFacts) -> Iterator[Finding]:
    meta = facts.details.get("meta")
    told: Mapping[str, Json] = {**(meta if isinstance(meta, Mapping) else {}), **facts.details}
    model, weights = inspection.model, inspection.weights
    for what, key, mine in (("hidden size", "n_embd", model.hidden_size), ("vocabulary size", "n_vocab", model.vocab_size)):
        theirs = whole(told.get(key))
        if theirs and mine and theirs != mine:
            yield _differs(f"{what}: the checkpoint has {mine}, the server {theirs}", "model", ours=mine, theirs=theirs)
    theirs = whole(told.get("n_params"))
    spare = (model.vocab_size or 0) * (model.hidden_size or 0)  # engines count a tied embedding once or twice
    least = weights.parameters - sum(head.parameters for head in inspection.heads) - spare
    if theirs and weights.parameters and not 0.95 * least <= theirs <= 1.05 * (weights.parameters + spare):
        title = f"parameters: the checkpoint has {weights.parameters:,}, the server {theirs:,}"
        yield _differs(title, "model", ours=weights.parameters, theirs=theirs)
    path = told.get("model_path") or told.get("root")
    if isinstance(path, str) and path and not _same_files(path, inspection, facts):
        yield Finding(
            code=CODE,
            severity="note",
            title=f"the server says that it loaded {path}; {inspection.path} was inspected",
            where="model",
            hint="Inspect the files that the server loads, or give --mtp-checkpoint that path.",
        )


def _same_files(path: str, inspection: Inspection, facts: ServerFacts) -> bool:
    """By where both lead, where we see the files of the server's process; else by what their names say."""
    there = facts.process.real_paths.get(path) if facts.process else None
    here = Path(inspection.path).expanduser()
    if there is not None and here.exists():
        return here.resolve() in (Path(there), *Path(there).parents) or Path(there) in here.resolve().parents
    return same_model(path, inspection.path, revision=inspection.revision)


def _differs(title: str, where: str, **evidence: Json) -> Finding:
    hint = "Compare the model path of the server's process with the inspected files."
    return Finding(code=CODE, severity="critical", title=title, where=where, hint=hint, evidence=evidence)
