"""What the command line of a running llama.cpp server says: configuration, never proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.facts import ProcessFacts, SpecDecode
from pytest_mtp.servers.llamacpp.options import Value, of_our_own, told

CHILD = "pytest_mtp.servers.llamacpp.child"

_PROGRAMS = frozenset({"llama-server", "llama-server.exe"})
_FIRST_WORDS = 4  # an interpreter or a wrapper and its options may come before the program
_DEPTH_FIELDS = {
    "ngram-simple": "speculative.ngram_simple.size_m",
    "ngram-map-k": "speculative.ngram_map_k.size_m",
    "ngram-map-k4v": "speculative.ngram_map_k4v.size_m",
    "ngram-mod": "speculative.ngram_mod.n_max",
}


def read(command: Sequence[str], environ: Mapping[str, str]) -> ProcessFacts | None:
    """Of `llama-server` or of our own child; None for another program."""
    program = next((place for place, word in enumerate(command[:_FIRST_WORDS]) if word == CHILD or PurePath(word).name in _PROGRAMS), None)
    if program is None:
        return None
    values = told(_words(command, program), environ)
    names, slots = values.get("model_alias", ()), values.get("n_parallel")
    if slots is None and command[program] == CHILD:
        slots = 1
    return ProcessFacts(
        pid=0,
        started_at=0.0,
        command=(),
        model_path=_text(values.get("model.path")),
        drafter_path=_text(values.get("speculative.draft.mparams.path")),
        served_names=tuple(str(name) for name in names) if isinstance(names, tuple) else (),
        speculation=_speculation(values),
        sequences=slots if isinstance(slots, int) and slots > 0 else None,
    )


def _words(command: Sequence[str], program: int) -> Sequence[str]:
    words = command[program + 1 :]
    try:
        return of_our_own(words)[1] if command[program] == CHILD else words
    except UsageError:  # then it did not start either
        return words


def _speculation(values: Mapping[str, Value]) -> SpecDecode:
    """Without `--spec-type` a draft model alone makes the server speculate, in the way that fits the model."""
    kinds = values.get("speculative.types", ())
    chosen = tuple(str(kind) for kind in kinds if kind != "none") if isinstance(kinds, tuple) else ()
    drafter = "speculative.draft.mparams.path" in values and not kinds
    if not chosen and not drafter:
        why = "--spec-type none" if kinds else "neither --spec-type nor a draft model"
        return SpecDecode(state="inactive", evidence=(f"command line: {why}",))
    depth = _depth(chosen[0] if chosen else "", values)
    said = f"--spec-type {','.join(chosen)}" if chosen else "a draft model without --spec-type"
    lines = [f"command line: {said}" + (f", at most {depth} drafts a step" if depth else "")]
    lines += [
        f"command line: synthetic acceptance ({word}): its text is wrong on purpose"
        for word, field in (("--spec-synth-rates", "speculative.synth_rates"), ("--spec-synth-len", "speculative.synth_len"))
        if field in values
    ]
    return SpecDecode(method=",".join(chosen) or None, depth=depth, evidence=tuple(lines))


def _depth(kind: str, values: Mapping[str, Value]) -> int | None:
    """Where it is written down; the default belongs to the release."""
    depth = values.get(_DEPTH_FIELDS.get(kind, "speculative.draft.n_max"))
    return depth if isinstance(depth, int) else None


def _text(value: Value | None) -> str | None:
    return value if isinstance(value, str) and value else None
