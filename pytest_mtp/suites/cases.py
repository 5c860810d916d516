"""Written cases to Cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_mtp.core.case import Case, StreamMode
from pytest_mtp.suites.asks import ask_of
from pytest_mtp.suites.document import Document
from pytest_mtp.suites.expects import expects_of
from pytest_mtp.suites.golden import Goldens
from pytest_mtp.suites.matrix import MAX_COMBINATIONS, combinations, size
from pytest_mtp.suites.settings import Setting, settings_of
from pytest_mtp.suites.tools import Tool

_MODES: Mapping[Any, tuple[StreamMode, ...]] = {True: ("stream",), False: ("unary",), "both": ("unary", "stream")}


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseBuilder:
    """A suite's document, which has passed the schema, with its tools by name and its golden answers."""

    document: Document
    tools: Mapping[str, Tool]
    goldens: Goldens

    def build(self) -> Iterator[Case]:
        """All cases in the file's order, each in the order of its matrix; raises SuiteError."""
        defaults = self.document.value.get("defaults", {})
        for index, written in enumerate(self.document.value["cases"]):
            matrix = written.get("matrix", {})
            if size(matrix) > MAX_COMBINATIONS:
                raise self.document.error(f"{size(matrix)} combinations, more than {MAX_COMBINATIONS}", ("cases", index, "matrix"))
            for bracket, chosen in combinations(matrix):
                settings = settings_of(written, defaults, chosen, index)
                if "check" in written:
                    yield self._case(index, "", settings, check=written["check"], params=written.get("with", {}))
                else:
                    yield self._question(index, bracket, settings)

    def _question(self, index: int, bracket: str, settings: Mapping[str, Setting]) -> Case:
        written = self.document.value["cases"][index]
        ask = ask_of(self.document, settings, self.tools)
        if "expect" in written:
            expect = expects_of(self.document, written["expect"], ("cases", index, "expect"), ask.tools)
            answers: dict[str, Any] = {"expect": expect}
        else:
            answers = {"goldens": self.goldens.of(written["id"], ask.tools)}
            if not answers["goldens"]:
                raise self.document.error(self.goldens.missing(written["id"]), ("cases", index))
        stream = settings["stream"].value if "stream" in settings else False
        return self._case(index, bracket, settings, ask=ask, modes=_MODES[stream], **answers)

    def _case(self, index: int, bracket: str, settings: Mapping[str, Setting], **fields: Any) -> Case:
        fields |= {name: tuple(settings[name].value) for name in ("tags", "marks", "needs") if name in settings}
        if "severity" in settings:
            fields["severity"] = settings["severity"].value
        if "repeats" in settings:
            fields["repeats"] = int(settings["repeats"].value)  # the schema takes 3.0 for an integer
        suite, source = self.document.value["suite"], self.document.source(("cases", index))
        return Case(id=settings["id"].value + bracket, suite=suite, source=source, **fields)
