"""Accepted answers: files beside a suite, by model."""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_mtp.core.case import Golden, Provenance, model_slug
from pytest_mtp.core.errors import SuiteError
from pytest_mtp.suites.document import Document, Place
from pytest_mtp.suites.expects import expects_of
from pytest_mtp.suites.files import read
from pytest_mtp.suites.schema import GOLDEN
from pytest_mtp.suites.tools import Tool
from pytest_mtp.suites.validation import validate
from pytest_mtp.suites.words import closest, quoted

FOLDER = "golden_answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenFile:
    """The answers for one model slug."""

    document: Document
    slug: str

    @property
    def answers(self) -> Mapping[str, Any]:
        """By the id of the case before its bracket."""
        return self.document.value["answers"]  # type: ignore[no-any-return]  # the schema says so

    def place(self, case_id: str) -> Place:
        """Of an answer."""
        return ("answers", case_id)

    def golden(self, case_id: str, tools: Sequence[Tool]) -> Golden:
        """The answer of a case that offers these tools; raises SuiteError."""
        answer, place = self.answers[case_id], self.place(case_id)
        written = {**self.document.value["provenance"], **answer.get("provenance", {})}
        return Golden(
            case_id=case_id,
            model=self.slug,
            expect=expects_of(self.document, answer["expect"], (*place, "expect"), tools),
            provenance=Provenance.from_dict(written),
            source=self.document.source(place),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Goldens:
    """All golden files of a suite; `looked` are the printed folders in which they were looked for."""

    files: tuple[GoldenFile, ...]
    looked: tuple[str, ...]

    def of(self, case_id: str, tools: Sequence[Tool]) -> dict[str, Golden]:
        """By model slug."""
        return {file.slug: file.golden(case_id, tools) for file in self.files if case_id in file.answers}

    def missing(self, case_id: str) -> str:
        """The message for a case that has no answer anywhere."""
        where = " or ".join(file.document.shown for file in self.files) or " or ".join(f"{folder}/any.yaml" for folder in self.looked)
        return f"no 'expect' here, and no golden answer of {case_id!r} in {where}"

    def check_ids(self, answered: Mapping[str, str]) -> None:
        """Raise SuiteError for an answer without a case, and for one whose case takes none, with that reason."""
        for file in self.files:
            for case_id in file.answers:
                problem = answered[case_id] if case_id in answered else f"is not in the suite{closest(case_id, answered)}"
                if problem:
                    raise file.document.error(f"the case {quoted(case_id)} {problem}", file.place(case_id), key=True)


def load_goldens(path: Path, suite: str, shown: str) -> Goldens:
    """The golden files of the suite file at `path`, from the first of two folders that exists; raises SuiteError."""
    inside = Path(FOLDER, suite)
    folders = [(path.parent / up / inside, _printed(shown, up, inside)) for up in ("", "..")]
    for folder, printed in folders:
        if os.path.isdir(folder):  # noqa: PTH112  # Path.is_dir raises where a parent may not be entered
            files = tuple(_load(file, f"{printed}/{file.name}", suite) for file in _yaml_files(folder, printed))
            return Goldens(files=files, looked=(printed,))
    return Goldens(files=(), looked=tuple(printed for _, printed in folders))


def _printed(shown: str, up: str, inside: Path) -> str:
    return Path(os.path.normpath(Path(shown).parent / up / inside)).as_posix()


def _yaml_files(folder: Path, printed: str) -> Iterable[Path]:
    try:
        files = sorted(folder.iterdir())
    except OSError as error:
        raise SuiteError(f"the folder cannot be read: {error.strerror or error}", path=printed, line=1) from None
    for file in files:
        if file.suffix == ".yml":
            raise SuiteError(f"golden answers end in .yaml: rename it to {file.stem}.yaml", path=f"{printed}/{file.name}", line=1)
        if file.suffix == ".yaml" and not file.name.startswith("."):
            yield file


def _load(file: Path, shown: str, suite: str) -> GoldenFile:
    document = read(file, shown)
    validate(document, GOLDEN)
    if document.value["suite"] != suite:
        raise document.error(
            f"expected {suite!r}, the suite that this folder is named by, got {quoted(document.value['suite'])}", ("suite",)
        )
    slug = model_slug(document.value["model"])
    if file.stem != slug:
        raise document.error(f"answers of the model {quoted(document.value['model'])} belong into {slug}.yaml", ("model",))
    return GoldenFile(document=document, slug=slug)
