"""Suite files to pytest items. Collection asks no server and gives the same items in the same order everywhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_mtp.plugin.keys import LEFT_OUT, RESULT, RUN, SETTINGS

if TYPE_CHECKING:
    from _pytest._code.code import ExceptionInfo, TerminalRepr

    from pytest_mtp.core.case import Case

SUFFIX, MISSPELT = ".mtp.yaml", ".mtp.yml"
BUILT_IN = "builtin:"
NO_SERVER = "no server: give --mtp-server URL (or PYTEST_MTP_SERVER, or mtp_server in the ini file)"


class SuiteFile(pytest.File):
    """One suite file. Shipped suites have node ids like `builtin:smoke::capital`, which can be typed again."""

    @classmethod
    def of(cls, parent: pytest.Collector, path: Path) -> SuiteFile:
        """A shipped file gets its short name as node id, wherever it is installed."""
        from pytest_mtp.plugin.arguments import shipped_name  # noqa: PLC0415  # the plugin is loaded in every pytest run

        name = shipped_name(path)
        if name is None:
            return cls.from_parent(parent, path=path)
        return cls.from_parent(parent, path=path, nodeid=f"{BUILT_IN}{name}")

    def collect(self) -> Iterator[pytest.Item]:
        """The cases in the order of the file."""
        if self.path.name.endswith(MISSPELT):
            raise self.CollectError(f"{self.path.name}: suites end in {SUFFIX}: rename it")
        from pytest_mtp.suites.load import load_suite  # noqa: PLC0415  # as above

        shown = os.path.relpath(self.path, self.config.invocation_params.dir)
        for case in load_suite(self.path, shown=self.path.as_posix() if shown.startswith("..") else shown).cases:
            item = CaseItem.from_parent(self, name=case.id, callobj=run_case)
            item.case = case
            for mark in case.marks:
                item.add_marker(mark)
            item.extra_keyword_matches.update((*case.tags, case.kind, case.severity))
            yield item

    def repr_failure(self, excinfo: ExceptionInfo[BaseException], *args: Any, **kwargs: Any) -> str | TerminalRepr:
        """A wrong suite file is the user's to mend: one message, no traceback of ours."""
        from pytest_mtp.core.errors import UsageError  # noqa: PLC0415  # as above

        return str(excinfo.value) if isinstance(excinfo.value, UsageError) else super().repr_failure(excinfo, *args, **kwargs)


class CaseItem(pytest.Function):
    """One case."""

    case: Case

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """The zero-based line of the case in its file, which is what annotations show."""
        return self.path, self.case.source.line - 1, f"{self.case.suite}: {self.case.id}"

    def repr_failure(self, excinfo: ExceptionInfo[BaseException], *args: Any, **kwargs: Any) -> str | TerminalRepr:
        """Our own failures are texts; anything else is a bug and keeps its traceback."""
        from pytest_mtp.plugin.failures import MtpFailure  # noqa: PLC0415  # as above

        if isinstance(excinfo.value, MtpFailure):
            from pytest_mtp.reports.failure import failure_lines  # noqa: PLC0415  # as above

            settings = self.config.stash[SETTINGS]
            folder = os.path.relpath(settings.report_dir, self.config.invocation_params.dir)
            return "\n".join(failure_lines(excinfo.value.result, folder=folder))
        return super().repr_failure(excinfo, *args, **kwargs)


def typed_id(item: pytest.Item) -> str:
    """The node id as one types it in the folder that pytest was called from; pytest's own is relative to its root."""
    if item.nodeid.startswith(BUILT_IN):
        return item.nodeid
    _, separator, case = item.nodeid.partition("::")
    return f"{os.path.relpath(item.path, item.config.invocation_params.dir)}{separator}{case}"


def run_case(request: pytest.FixtureRequest) -> None:
    """The body of every case item."""
    __tracebackhide__ = True
    item = request.node
    run = item.config.stash.get(RUN, None)
    if run is None:
        pytest.skip(NO_SERVER)
    from pytest_mtp.core.errors import NoRoom, NotOffered  # noqa: PLC0415  # as above
    from pytest_mtp.plugin.failures import Inconclusive, MtpFailure, ServerBlocked  # noqa: PLC0415  # as above
    from pytest_mtp.plugin.run import ControlUnusable  # noqa: PLC0415  # as above
    from pytest_mtp.reports.junit import junit_properties  # noqa: PLC0415  # as above

    try:
        result = run.execute(item.case, item.nodeid, typed=typed_id(item))
    except NoRoom as reason:
        from pytest_mtp.core.run import LeftOut  # noqa: PLC0415  # as above

        item.stash[LEFT_OUT] = LeftOut(node_id=item.nodeid, requests=reason.requests, reason=str(reason))
        pytest.skip(str(reason))
    except NotOffered as reason:
        pytest.skip(str(reason))
    except ControlUnusable as reason:
        item.session.shouldstop = f"the control is unusable: {reason}"
        pytest.skip(f"not run, the control is unusable: {reason}")
    item.stash[RESULT] = result
    item.user_properties += junit_properties(result)
    item.config.hook.pytest_mtp_verdict(result=result, item=item)
    if result.verdict.outcome == "BLOCKED" and not result.verdict.exchanges:
        pytest.skip(result.verdict.reason)  # one line for all that were not sent; the gate counts them as blocked
    if result.closes:
        failure = {"BLOCKED": ServerBlocked, "INCONCLUSIVE": Inconclusive}.get(result.verdict.outcome, MtpFailure)
        raise failure(result)
