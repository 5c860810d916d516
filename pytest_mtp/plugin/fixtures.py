"""Fixtures for Python tests. Standard library and pytest at the top: this file is loaded in every pytest run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from pytest_mtp.plugin.collect import NO_SERVER
from pytest_mtp.plugin.keys import RUN
from pytest_mtp.plugin.undertest import MtpServer

if TYPE_CHECKING:
    from pytest_mtp.core.ask import Ask
    from pytest_mtp.core.exchange import Exchange
    from pytest_mtp.core.facts import Control
    from pytest_mtp.judge.judgement import Judgement
    from pytest_mtp.judge.tools.simulation import Simulator
    from pytest_mtp.plugin.context import CaseContext
    from pytest_mtp.plugin.run import Run


@pytest.fixture(scope="session")
def _mtp_run(request: pytest.FixtureRequest) -> Run:
    """The run of this process; tests without a server skip with one reason."""
    run = request.config.stash.get(RUN, None)
    if run is None:
        pytest.skip(NO_SERVER)
    return run


@pytest.fixture(scope="session")
def mtp_control(_mtp_run: Run) -> Control:
    """The measured temperature-0 self-agreement of the server, once a run."""
    return _mtp_run.control()


class MtpClient:
    """Asks the server under test; every exchange of the test is kept in `exchanges`."""

    def __init__(self, context: CaseContext, *, alone: bool) -> None:
        """`alone`: the test holds the exclusive lease."""
        self._context, self.alone = context, alone

    @property
    def exchanges(self) -> Sequence[Exchange]:
        """So far, in order."""
        return self._context.exchanges

    def ask(self, ask: str | Ask, **sampling: Any) -> Exchange:
        """A user message, or a whole Ask. `sampling` are fields of Sampling (max_tokens=..., temperature=...)."""
        from pytest_mtp.core.ask import Ask, Sampling  # noqa: PLC0415  # the plugin is loaded in every pytest run
        from pytest_mtp.core.errors import nearest  # noqa: PLC0415  # as above

        unknown = [name for name in sampling if name not in Sampling.__dataclass_fields__]
        if unknown:
            hint = nearest(unknown[0], Sampling.__dataclass_fields__)
            pytest.fail(f"there is no sampling option {unknown[0]!r}{hint}", pytrace=False)
        if isinstance(ask, str):
            ask = Ask(messages=({"role": "user", "content": ask},), sampling=Sampling(**sampling))
        elif sampling:
            ask = dataclasses.replace(ask, sampling=dataclasses.replace(ask.sampling, **sampling))
        return self._context.ask_alone(ask) if self.alone else self._context.ask(ask)


@pytest.fixture
def mtp_client(_mtp_run: Run, request: pytest.FixtureRequest) -> Iterator[MtpClient]:
    """Ask the server: `mtp_client.ask("What is 2+2?") -> Exchange`, under the shared lease, or alone with `mtp(alone=True)`."""
    marker = request.node.get_closest_marker("mtp")
    context = _mtp_run.context()
    if marker is not None and marker.kwargs.get("alone"):
        with _mtp_run.lease.exclusive():
            yield MtpClient(context, alone=True)
    else:
        yield MtpClient(context, alone=False)


@pytest.fixture
def mtp_server(_mtp_run: Run, mtp_client: MtpClient) -> Iterator[MtpServer]:
    """The server under test: `mtp_server.facts` (engine, version, model, capabilities, speculation), `mtp_server.restart(depth=1)`."""
    server = MtpServer(_mtp_run, alone=mtp_client.alone)
    yield server
    server.restore()


@pytest.fixture
def mtp_grade() -> Callable[[Exchange, Mapping[str, Any]], Judgement]:
    """Judge an exchange: `mtp_grade(exchange, {"number": 4}).outcome == "PASS"`, with the `expect` of suite files."""

    def grade(exchange: Exchange, expect: Mapping[str, Any]) -> Judgement:
        from pytest_mtp.core.errors import UsageError  # noqa: PLC0415  # as above
        from pytest_mtp.judge.pipeline import judge  # noqa: PLC0415  # as above
        from pytest_mtp.judge.sandbox.lend import full_context  # noqa: PLC0415  # as above
        from pytest_mtp.suites.inline import parse_expect  # noqa: PLC0415  # as above

        try:
            expects = parse_expect(expect, exchange.ask.tools)
        except UsageError as error:
            pytest.fail(str(error), pytrace=False)
        return judge(exchange, expects, context=full_context("critical"))

    return grade


@pytest.fixture
def mtp_check(
    _mtp_run: Run, mtp_client: MtpClient, mtp_grade: Callable[[Exchange, Mapping[str, Any]], Judgement]
) -> Callable[..., Judgement]:
    """Ask and judge: `mtp_check("What is 2+2?", {"number": 4}, max_tokens=32)` fails the test with the reason."""

    def check(ask: str | Ask, expect: Mapping[str, Any], **sampling: Any) -> Judgement:
        __tracebackhide__ = True
        exchange = mtp_client.ask(ask, **sampling)
        judgement = mtp_grade(exchange, expect)
        if judgement.outcome != "PASS":
            from pytest_mtp.client.curl import curl_line  # noqa: PLC0415  # as above
            from pytest_mtp.reports.printable import printable_lines  # noqa: PLC0415  # as above

            text = "\n".join(f"{finding.code}: {finding.title}\n{finding.detail}".rstrip() for finding in judgement.findings)
            again = curl_line(exchange, api_key_env=_mtp_run.settings.api_key_env)
            words = f"{text or judgement.outcome}\nagain: {again}"
            pytest.fail("\n".join(printable_lines(words, limit=20_000)), pytrace=False)
        return judgement

    return check


@pytest.fixture
def mtp_converse(mtp_client: MtpClient) -> Callable[..., Sequence[Exchange]]:
    """An agent's loop: `mtp_converse("Book a table", tools=[...], simulator=Diary, state={...})` compares the state in the end."""

    def converse(
        ask: str | Ask,
        *,
        simulator: Callable[[], Simulator],
        state: Mapping[str, Any],
        tools: Sequence[Mapping[str, Any]] = (),
        **sampling: Any,
    ) -> Sequence[Exchange]:
        __tracebackhide__ = True
        from pytest_mtp.checks import conversation  # noqa: PLC0415  # as above
        from pytest_mtp.core.ask import Ask, Sampling  # noqa: PLC0415  # as above
        from pytest_mtp.reports.printable import printable_lines  # noqa: PLC0415  # as above

        if isinstance(ask, str):
            ask = Ask(messages=({"role": "user", "content": ask},), tools=tuple(tools), sampling=Sampling(**sampling))
        exchanges = conversation.converse(ask, simulator(), mtp_client.ask)
        findings = conversation.conversation_findings(exchanges, simulator(), state)
        if findings:
            text = "\n".join(f"{finding.code}: {finding.title}\n{finding.detail}".rstrip() for finding in findings)
            pytest.fail("\n".join(printable_lines(text, limit=20_000)), pytrace=False)
        return exchanges

    return converse
