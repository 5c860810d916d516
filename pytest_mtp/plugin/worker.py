"""Binding a process to the server that the controller started, and users' extensions to the registries."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

from pytest_mtp.checks import kinds
from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.facts import ServerFacts
from pytest_mtp.core.weights import Weights
from pytest_mtp.judge import registry
from pytest_mtp.plugin.keys import RUN, WANTS_DEFAULT_SUITE
from pytest_mtp.plugin.run import Run
from pytest_mtp.plugin.settings import Settings
from pytest_mtp.servers.server import connect


def start_worker(config: pytest.Config, settings: Settings, given: dict[str, Any]) -> None:
    """Bind this xdist worker; `given` came with the controller's workerinput."""
    config.stash[WANTS_DEFAULT_SUITE] = given["wants_default_suite"]
    if given["facts"] is None:
        return
    facts = ServerFacts.from_dict(given["facts"])
    server = connect(facts, api_key=settings.api_key, timeout_s=settings.timeout_s)
    worker: str = config.workerinput["workerid"]  # type: ignore[attr-defined]  # set by xdist in workers
    weights = Weights.from_dict(given["weights"]) if given["weights"] else None
    run = Run(settings, server, Path(given["folder"]), processes=given["processes"], worker=worker, weights=weights)
    run.evidence.redact = lambda record: config.hook.pytest_mtp_redact(record=record)
    config.stash[RUN] = run
    if run.purse is not None:
        config.pluginmanager.register(run.purse, "mtp-budget")
    config.add_cleanup(run.close)


def register_extensions(config: pytest.Config) -> None:
    """Graders and checks of users, for this session alone; a name that is taken is their mistake, said once."""
    try:
        for table in config.hook.pytest_mtp_graders():
            for kind, grader in table.items():
                config.add_cleanup(functools.partial(registry.restore, kind, registry.registered(kind)))
                registry.register(kind, grader)
        for table in config.hook.pytest_mtp_checks():
            for kind, check in table.items():
                kinds.register(kind, check)
                config.add_cleanup(functools.partial(kinds.forget, kind))
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error
