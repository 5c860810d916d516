"""The server as a Python test sees it: its facts, and a restart with other parameters that lasts as long as the test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_mtp.core.facts import ServerFacts
    from pytest_mtp.core.record import Json
    from pytest_mtp.plugin.run import Run


class MtpServer:
    """`facts` is what is known of the server; each of its fields is an attribute here too: `mtp_server.engine`."""

    def __init__(self, run: Run, *, alone: bool) -> None:
        """`alone`: the test holds the exclusive lease, without which a restart would pull the server from under others."""
        self._run, self._alone = run, alone
        self._before: Mapping[str, Json] | None = None

    @property
    def facts(self) -> ServerFacts:
        """As known at its last start; once the control is known, with what it proved of speculation."""
        return self._run.facts if self._before is None else self._run.server.facts

    def __getattr__(self, name: str) -> Any:
        """A field of the facts."""
        return getattr(self.facts, name)

    def restart(self, **params: Json) -> ServerFacts:
        """Start it again with these parameters over the former ones; the facts are of the new process, their evidence proves it.

        When the test ends, the server is started once more as it was, so that other cases meet the server that they were
        meant for. Only for a server that this run launched, without xdist, in a test that is marked `mtp(alone=True)`.
        """
        __tracebackhide__ = True
        from pytest_mtp.servers.launched import LaunchedServer  # noqa: PLC0415  # the plugin is loaded in every pytest run

        server = self._run.server
        if not isinstance(server, LaunchedServer):
            why = "xdist workers do not own it: run without -n" if self.facts.launched else "this run did not launch it: use --mtp-launch"
            pytest.fail(f"the server cannot be restarted: {why}", pytrace=False)
        if not self._alone:
            pytest.fail("a restart takes the server from everybody: mark the test with @pytest.mark.mtp(alone=True)", pytrace=False)
        if self._before is None:
            self._before = dict(server.params)
        return self._started(server, {**server.params, **params})

    def restore(self) -> None:
        """As it was before the first restart of this test."""
        __tracebackhide__ = True
        if self._before is not None:
            before, self._before = self._before, None
            self._started(self._run.server, before)

    def _started(self, server: Any, params: Mapping[str, Json]) -> ServerFacts:
        __tracebackhide__ = True
        from pytest_mtp.core.errors import MtpError  # noqa: PLC0415  # as above
        from pytest_mtp.reports.printable import printable_lines  # noqa: PLC0415  # as above

        try:
            facts: ServerFacts = server.restart(params, afresh=True)
        except MtpError as error:
            words = "\n".join(printable_lines(f"the server was not restarted: {error}", limit=4000))
            pytest.fail(words, pytrace=False)
        return facts
