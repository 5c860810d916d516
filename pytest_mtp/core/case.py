"""What is asked and what would be right: cases, expectations, golden answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.record import Json, Record

Severity = Literal["critical", "regression", "model", "note"]
CaseSeverity = Literal["critical", "regression", "model"]
StreamMode = Literal["unary", "stream"]

CALL_KINDS = frozenset({"calls", "no_call", "any_call"})
COMBINING_KINDS = frozenset({"all_of", "any_of", "none_of"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(Record):
    """Where a case stands in its file; `line` is one-based. `path` is as the user would type it."""

    path: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Expect(Record):
    """One key of an `expect` mapping with its value as written, e.g. kind `number`, spec `{value: 32, unit: km}`.

    `options` are the modifiers that stand beside the key (`ordered`, `extra`, `extra_args` beside `calls`).
    """

    kind: str
    spec: Json
    options: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance(Record):
    """Where an accepted answer or a baseline comes from; None where nobody said."""

    author: str | None = None
    date: str | None = None
    engine: str | None = None
    engine_version: str | None = None
    model: str | None = None
    checkpoint_digest: str | None = None
    speculation: str | None = None
    sampling: Mapping[str, Json] | None = None
    template_fingerprint: str | None = None
    grader_version: int | None = None
    hardware: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Golden(Record):
    """The accepted answer of one case for one model slug (`any` holds for every model)."""

    case_id: str
    model: str
    expect: tuple[Expect, ...]
    provenance: Provenance = field(default_factory=Provenance)
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Case(Record):
    """One pytest item. A golden case has `ask` and an expectation; a check case has `check` and `params`.

    `expect` is a conjunction: every entry must hold. `goldens` maps a model slug to its accepted answer.
    """

    id: str
    suite: str
    source: Source
    ask: Ask | None = None
    expect: tuple[Expect, ...] = ()
    goldens: Mapping[str, Golden] = field(default_factory=dict)
    check: str | None = None
    params: Mapping[str, Json] = field(default_factory=dict)
    repeats: int = 1
    severity: CaseSeverity = "model"
    modes: tuple[StreamMode, ...] = ("unary",)
    tags: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The check that runs it: its own, `tools` when a call (or its absence) is expected, else `golden`."""
        if self.check:
            return self.check
        expected = (*self.expect, *(e for golden in self.goldens.values() for e in golden.expect))
        return "tools" if any(_expects_calls(e.kind, e.spec) for e in expected) else "golden"

    def expected_of(self, model_slug: str) -> tuple[Expect, ...]:
        """The inline expectation, else the model's golden answer, else that of `any`."""
        if self.expect:
            return self.expect
        golden = self.goldens.get(model_slug) or self.goldens.get("any")
        return golden.expect if golden else ()


def _expects_calls(kind: str, spec: Json) -> bool:
    """A call, or its absence, is spoken of here or inside `all_of`, `any_of`, `none_of`."""
    if kind in COMBINING_KINDS and isinstance(spec, (list, tuple)):
        return any(_expects_calls(key, value) for part in spec if isinstance(part, Mapping) for key, value in part.items())
    return kind in CALL_KINDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite(Record):
    """A suite file after loading."""

    name: str
    source: Source
    cases: tuple[Case, ...]
    description: str = ""


def model_slug(model: str) -> str:
    """File name of a model's golden answers: lower case, runs of other characters become one hyphen."""
    slug = "".join(char if char.isalnum() and char.isascii() else "-" for char in model.lower())
    return "-".join(part for part in slug.split("-") if part) or "any"
