"""The process that owns the run: starts the server, gathers the results, decides the gate, writes the reports."""

from __future__ import annotations

import dataclasses
import shutil
import signal
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_mtp import __version__
from pytest_mtp.checkpoint.inspection import Inspection
from pytest_mtp.core.errors import InfraError, UsageError
from pytest_mtp.core.facts import Control, ServerFacts
from pytest_mtp.core.run import Blocking, BudgetUse, CaseResult, Gate, LeftOut, RunInfo, RunReport
from pytest_mtp.judge.gate import decide
from pytest_mtp.plugin.budget import Purse, left_out_gate, start_clock
from pytest_mtp.plugin.checkpoint import advice, inspected, result_of
from pytest_mtp.plugin.collect import BUILT_IN, SUFFIX
from pytest_mtp.plugin.evidence import forget_evidence, forget_logs
from pytest_mtp.plugin.keys import RUN, WANTS_DEFAULT_SUITE
from pytest_mtp.plugin.run import Run
from pytest_mtp.plugin.settings import Settings
from pytest_mtp.plugin.shared import SharedFolder
from pytest_mtp.plugin.terminal import header_lines, summarise
from pytest_mtp.plugin.writing import ensure_writable, write_reports
from pytest_mtp.reports.printable import printable_lines
from pytest_mtp.servers.attach import attach

if TYPE_CHECKING:
    from pytest_mtp.core.protocols import Server

EXIT_SERVER_UNUSABLE = 69
"""EX_UNAVAILABLE of sysexits.h: nothing was judged, so CI may retry; results are never retried."""


class Controller:
    """Registered once, never in an xdist worker."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        """Nothing starts before the session does."""
        self.config, self.settings = config, settings
        self.server: Server | None = None
        self.folder: Path | None = None
        self.inspection: Inspection | None = None
        self.results: list[CaseResult] = []
        self.left_out: list[LeftOut] = []
        self.skipped: dict[str, str] = {}
        self.report: RunReport | None = None
        self.written: tuple[Path, ...] = ()
        self.problems: list[str] = []
        self._foreign_failures = 0
        self._cancelled = False
        self._handlers: dict[int, Any] = {}
        self._stop: Any = None
        self._started = time.perf_counter()
        self._started_at = datetime.now(UTC).isoformat(timespec="seconds")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Before xdist starts its workers, and before the header is printed."""
        if self.config.option.collectonly:
            return
        ensure_writable(self.settings.report_dir)
        self._catch_cancellation()
        self.inspection = inspected(self.settings)
        self.folder = Path(tempfile.mkdtemp(prefix="pytest-mtp-"))
        try:
            self.server = self._start()
        except UsageError as error:
            raise pytest.UsageError(str(error)) from error
        except InfraError as error:
            self._give_up(error)
        start_clock(SharedFolder(self.folder))
        forget_evidence(self.settings.report_dir)
        forget_logs(self.settings.report_dir)
        if not self._distributed():
            weights = self.inspection.weights if self.inspection else None
            run = Run(self.settings, self._bound(), self.folder, processes=1, worker="", weights=weights)
            run.evidence.redact = lambda record: self.config.hook.pytest_mtp_redact(record=record)
            self.config.stash[RUN] = run
            if run.purse is not None:
                self.config.pluginmanager.register(run.purse, "mtp-budget")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Builtins only: xdist ships them to the worker."""
        node.workerinput["mtp"] = {
            "facts": self.server.facts.to_dict() if self.server else None,
            "folder": str(self.folder),
            "weights": self.inspection.weights.to_dict() if self.inspection else None,
            "processes": len(node.config.getvalue("tx")) or 1,
            "wants_default_suite": self.config.stash[WANTS_DEFAULT_SUITE],
        }

    def pytest_report_header(self) -> list[str]:
        """One or two lines; nothing when nothing was started."""
        return header_lines(self.server.facts, self.settings) if self.server else []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Gather; the same path with and without xdist."""
        left_out = getattr(report, "mtp_left_out", None)
        if left_out is not None:
            self.left_out.append(LeftOut.from_dict(left_out))
        plain = getattr(report, "mtp", None)
        if plain is not None and report.when == "call":
            self.results.append(CaseResult.from_dict(plain))
        elif report.failed:
            self._foreign_failures += 1
        elif report.skipped and left_out is None and _of_a_suite(report.nodeid):
            self.skipped[report.nodeid] = _why_skipped(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Decide and write, also after Ctrl-C or a crash: nothing that was measured is lost."""
        if self.server is None or self.folder is None:
            return
        control, facts = self._control_and_facts(self.server)
        self.report = self._report(control, facts, complete=exitstatus in (0, 1, 5))
        self.written, problem = write_reports(self.report, self.settings.report_dir)
        if problem:
            self.problems.append(problem)
        session.exitstatus = self._exit_status(exitstatus, self.report.gate)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """What a person reads."""
        if self.report is not None:
            summarise(terminalreporter, self.report, self.written, self.problems)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """Stop what we started, remove what we made. A second Ctrl-C waits until that is done: it takes as long as the grace."""
        impatient = self._deafened()
        try:
            run = self.config.stash.get(RUN, None)
            if run is not None:
                run.close()
            if self._stop is not None:
                self._stop()
        finally:
            if self.folder is not None:
                shutil.rmtree(self.folder, ignore_errors=True)
            for number, handler in (*impatient.items(), *self._handlers.items()):
                signal.signal(number, handler)

    def _deafened(self) -> dict[int, Any]:
        """The handlers of the signals that are not heard from now on; none outside the main thread."""
        if threading.current_thread() is not threading.main_thread():
            return {}
        return {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Ctrl-C, or a job that is cancelled; pytest also calls this when a session stops itself."""
        self._cancelled = excinfo.type is KeyboardInterrupt

    def _catch_cancellation(self) -> None:
        """SIGTERM and SIGHUP are how jobs are cancelled: they end the run as Ctrl-C does, with the report written."""

        def cancel(number: int, _frame: object) -> None:
            raise KeyboardInterrupt(f"signal {signal.Signals(number).name}")

        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGHUP):
                if signal.getsignal(number) is signal.SIG_DFL:
                    self._handlers[number] = signal.signal(number, cancel)

    def _distributed(self) -> bool:
        return bool(self.config.pluginmanager.get_plugin("dsession"))

    def _bound(self) -> Server:
        assert self.server is not None
        return self.server

    def _start(self) -> Server:
        settings = self.settings
        if settings.launch is not None:
            self._say(f"mtp: starting {settings.launch.name}")
            # Its log is written beside the report from the first line on: no end of this process can lose it.
            launched = settings.launch.start(
                run_dir=settings.report_dir, timeout_s=settings.timeout_s, api_key_env=settings.api_key_env
            )  # fmt: skip
            self._stop = launched.stop
            return launched
        assert settings.server is not None
        return attach(
            settings.server,
            model=settings.model,
            api_key_env=settings.api_key_env,
            api_key=settings.api_key,
            timeout_s=settings.timeout_s,
        )

    def _say(self, words: str) -> None:
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and self.config.get_verbosity() >= 0:
            reporter.write_line(words)

    def _give_up(self, error: InfraError) -> None:
        """The server is unusable before anything was asked: an exit code of its own, and a report that says so."""
        gate = Gate(
            verdict="blocked",
            policy=self.settings.gate,
            blocking=(Blocking(node_id="preflight", code=error.code, title=error.problem),),
            reasons=("no case was run: the server is unusable",),
        )
        report = RunReport(run=self._info(complete=False), gate=gate)
        _, problem = write_reports(report, self.settings.report_dir)
        tail = f"\nfrom its log:\n{error.log_tail}" if error.log_tail else ""
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            for line in printable_lines(f"{error.code}: {error}{tail}\n{problem}".rstrip(), limit=8000, lines=60):
                reporter.write_line(line)
        pytest.exit(f"the server is unusable: {error.code}", returncode=EXIT_SERVER_UNUSABLE)

    def _control_and_facts(self, server: Server) -> tuple[Control | None, ServerFacts]:
        run = self.config.stash.get(RUN, None)
        if run is None:
            assert self.folder is not None
            run = Run(self.settings, server, self.folder, processes=1, worker="")
        return run.known_control(), run.facts

    def _info(self, *, complete: bool) -> RunInfo:
        return RunInfo(
            version=__version__,
            started_at=self._started_at,
            duration_s=round(time.perf_counter() - self._started, 3),
            complete=complete,
            suites=tuple(dict.fromkeys(result.suite for result in self.results)),
            options=self.settings.shown(),
            notes=tuple(self._notes()),
            skipped=self.skipped,
        )

    def _notes(self) -> list[str]:
        notes = [f"python {sys.version.split()[0]}, pytest {pytest.__version__}"]
        rerunner = next((name for name in ("rerunfailures", "flaky") if self.config.pluginmanager.has_plugin(name)), None)
        if rerunner and getattr(self.config.option, "reruns", None):
            notes.append(f"{rerunner} repeats failed cases: the error rates of this gate do not hold")
        return notes

    def _report(self, control: Control | None, facts: ServerFacts, *, complete: bool) -> RunReport:
        results = sorted(self.results, key=lambda result: (result.suite, result.source.line, result.node_id))
        known = [result_of(self.inspection, facts, self.settings)] if self.inspection else []
        gate = decide([*results, *known], control, self.settings.gate)
        gate = dataclasses.replace(gate, reasons=(*gate.reasons, *(words for result in known for words in advice(result))))
        spent = self._spent()
        gate = left_out_gate(gate, spent, cases=len(results))
        if self._foreign_failures:
            # Tests in Python, and crashed items: pytest fails the run for them, so the gate must not say open.
            words = f"{self._foreign_failures} tests outside the suites failed"
            gate = dataclasses.replace(gate, verdict="fail", reasons=(words, *gate.reasons))
        elif not complete and gate.verdict == "pass":
            gate = dataclasses.replace(gate, verdict="inconclusive", reasons=("the run ended early", *gate.reasons))
        return RunReport(
            run=self._info(complete=complete), servers=(facts,), control=control, cases=(*results, *known), gate=gate,
            budget=spent,
        )  # fmt: skip

    def _spent(self) -> BudgetUse | None:
        if self.settings.budget is None or self.folder is None:
            return None
        return Purse(self.settings.budget, SharedFolder(self.folder)).use(self.left_out)

    def _exit_status(self, exitstatus: int, gate: Gate) -> int:
        """The code of pytest, but for two: a closed gate is 1, and nothing but a blocked server is ours."""
        stopped_by_us = bool(self.report and self.report.control and not self.report.control.usable) and not self._cancelled
        if exitstatus == pytest.ExitCode.INTERRUPTED and stopped_by_us and gate.verdict == "fail":
            return pytest.ExitCode.TESTS_FAILED
        if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return exitstatus
        if gate.verdict == "blocked" and not self._foreign_failures:
            return EXIT_SERVER_UNUSABLE
        return exitstatus if gate.verdict == "pass" else pytest.ExitCode.TESTS_FAILED


def _of_a_suite(node_id: str) -> bool:
    return node_id.startswith(BUILT_IN) or node_id.partition("::")[0].endswith(SUFFIX)


def _why_skipped(report: pytest.TestReport) -> str:
    """Pytest keeps (path, line, words)."""
    words = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return words.removeprefix("Skipped: ")
