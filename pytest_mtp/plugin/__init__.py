"""pytest meets the gate. The only room that imports pytest.

Loaded in every pytest run of our users, so this file and what it imports at the top need the standard library and pytest
alone; the rest is imported once there is a server or a suite.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from pytest_mtp.plugin import fixtures as fixtures  # a module of this package, not a name of it
from pytest_mtp.plugin import hookspecs as hookspecs  # as above
from pytest_mtp.plugin.collect import BUILT_IN, MISSPELT, NO_SERVER, SUFFIX, CaseItem, SuiteFile
from pytest_mtp.plugin.keys import LEFT_OUT, RESULT, RUN, SETTINGS, WANTS_DEFAULT_SUITE
from pytest_mtp.plugin.options import OPTIONS, Value, add_options, values_of
from pytest_mtp.plugin.rootdir import refuse_a_moved_root

DEFAULT_SUITE = "standard"
CAUTIOUS_WORKERS = 4
SUITE_FLAG = "--mtp-suite"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Our options."""
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Our hooks."""
    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Built-in suites become paths before pytest reads its arguments: those of --mtp-suite, and `builtin:NAME[::CASE]`."""
    known = vars(early_config.known_args_namespace)
    ini = {option.key: early_config.getini(option.key) for option in OPTIONS}
    wanted = values_of(known, ini)["suite"]
    positional = set(known.get("file_or_dir") or ())
    # Who names what to run means just that: the suites of the ini file are for a run that names nothing.
    suites = wanted.words if wanted.origin == "command line" or not positional else ()
    named = [
        place
        for place, word in enumerate(args)
        if word.startswith(BUILT_IN) and word in positional and args[place - 1] != SUITE_FLAG
    ]  # fmt: skip
    if not suites and not named:
        return
    from pytest_mtp.plugin.arguments import suite_paths  # noqa: PLC0415  # the plugin is loaded in every pytest run

    for place in reversed(named):
        name, separator, case = args[place].partition("::")
        args[place : place + 1] = [f"{path}{separator}{case}" for path in suite_paths(name)]
    args += [str(path) for word in suites for path in suite_paths(word)]


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """With `-n auto` the requests that the server takes decide, not our cores; without a server it is none of our business.

    xdist asks before anything is started, so `--mtp-concurrency auto` counts as a cautious guess here.
    """
    words = _values(config)
    if not words["server"].words and not words["launch"].words:
        return None
    (wanted,) = words["concurrency"].words
    return int(wanted) if wanted.isdigit() and int(wanted) else CAUTIOUS_WORKERS


def _values(config: pytest.Config) -> dict[str, Value]:
    return values_of(vars(config.option), {option.key: config.getini(option.key) for option in OPTIONS})


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """With --mtp-self-test no test runs here: the suites are run against the catalogue of faults, in processes of their own."""
    if not config.option.mtp_self_test:
        return None
    from pytest_mtp.plugin.selftest import self_test  # noqa: PLC0415  # as above

    return self_test(config)


def pytest_configure(config: pytest.Config) -> None:
    """Settle the options; the controller is the process without workerinput."""
    config.pluginmanager.register(fixtures, "mtp-fixtures")
    config.addinivalue_line("markers", "mtp(needs=(), alone=False): a test of an LLM server; `alone` holds the server's exclusive lease")
    words = _values(config)
    refuse_a_moved_root(config)
    if not words["server"].words and not words["launch"].words:
        if words["suite"].origin == "command line" and not config.option.collectonly:
            raise pytest.UsageError("--mtp-suite: there is no server to ask; name one with --mtp-server URL or --mtp-launch PROFILE")
        return
    from pytest_mtp.plugin.controller import Controller  # noqa: PLC0415  # as above
    from pytest_mtp.plugin.settings import settings_of  # noqa: PLC0415  # as above
    from pytest_mtp.plugin.worker import register_extensions, start_worker  # noqa: PLC0415  # as above

    settings = settings_of(config)
    config.stash[SETTINGS] = settings
    register_extensions(config)
    workerinput = getattr(config, "workerinput", None)
    if workerinput is None:
        config.stash[WANTS_DEFAULT_SUITE] = config.args_source != pytest.Config.ArgsSource.ARGS and not settings.suites
        config.pluginmanager.register(Controller(config, settings), "mtp-controller")
    elif "mtp" in workerinput:
        start_worker(config, settings, workerinput["mtp"])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SuiteFile | None:
    """`*.mtp.yaml`, and no other YAML; a suite with the other spelling of the suffix would be passed over in silence."""
    return SuiteFile.of(parent, file_path) if file_path.name.endswith((SUFFIX, MISSPELT)) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """With a server, no path, and no suite found: the standard suite, so that an empty folder gives a verdict."""
    wanted = config.stash.get(WANTS_DEFAULT_SUITE, False) and not session.testsfailed  # a suite that cannot be read is one too
    if not wanted or any(isinstance(item, CaseItem) for item in items):
        return
    from pytest_mtp.plugin.arguments import suite_paths  # noqa: PLC0415  # as above

    for path in suite_paths(f"{BUILT_IN}{DEFAULT_SUITE}"):
        items += session.genitems(SuiteFile.of(session, path))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Tell the run which cases are to come. Not in xdist workers: they learn of their items one by one."""
    run = session.config.stash.get(RUN, None)
    if run is not None and not run.worker and not session.config.option.collectonly:
        run.plan((item.nodeid, item.case) for item in session.items if isinstance(item, CaseItem))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """In a worker, the item and the next one are all that is known."""
    run = item.config.stash.get(RUN, None)
    if run is not None and run.worker:
        run.plan((each.nodeid, each.case) for each in (item, nextitem) if isinstance(each, CaseItem))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Results ride on the report: they cross xdist, and those already sent survive a crashed worker."""
    report = yield
    result = item.stash.get(RESULT, None)
    if result is not None and call.when == "call":
        report.mtp = result.to_dict()  # type: ignore[attr-defined]  # pytest serialises extra attributes of reports
    left_out = item.stash.get(LEFT_OUT, None)
    if left_out is not None and call.when == "call":
        report.mtp_left_out = left_out.to_dict()  # type: ignore[attr-defined]  # as above
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str | tuple[str, dict[str, bool]]] | None:
    """A case that missed without closing the gate is no failure of the run, and no pass either."""
    plain: dict[str, Any] | None = getattr(report, "mtp", None)
    if plain is None or report.when != "call" or not report.passed or plain["verdict"]["outcome"] == "PASS":
        return None
    if plain["verdict"]["outcome"] == "FAIL":
        return "missed", "m", ("MISSED", {"yellow": True})
    return plain["verdict"]["outcome"].lower(), "i", (plain["verdict"]["outcome"], {"yellow": True})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """A gate that asked nobody says so: a skip alone is easily taken for a pass."""
    skipped = sum(NO_SERVER in str(report.longrepr) for report in terminalreporter.stats.get("skipped", ()))
    if skipped and config.stash.get(RUN, None) is None:
        terminalreporter.write_line(f"mtp: {skipped} tests of a server were skipped: {NO_SERVER}", yellow=True)
