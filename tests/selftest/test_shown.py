"""Each fault of the newer rows is found by the probe that looks for it, and the honest fake in the same setting is not accused."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pytest

from pytest_mtp.checks.kinds import check_for
from pytest_mtp.core.case import Case, Source
from pytest_mtp.core.errors import InfraError, NotOffered
from pytest_mtp.core.facts import Control
from pytest_mtp.selftest import FakeServer
from pytest_mtp.selftest.faults import FAULTS
from pytest_mtp.servers.attach import attach

SHOWN = [name for name, fault in FAULTS.items() if fault.shown_by]
TIMEOUT_S = 6.0


class Lease:
    shared = exclusive = staticmethod(nullcontext)


class Context:
    """All that a probe may ask for. Requests that may be in flight together are, and the control is a steady one."""

    lease = Lease()
    weights = None

    def __init__(self, server, crowd: ThreadPoolExecutor):
        self.server, self.crowd = server, crowd

    def control(self):
        return Control(prompts=4, repeats=3, disagree_text=0, disagree_graded=0)

    def ask(self, ask):
        return self.server.client.ask(ask)

    ask_alone = ask

    def ask_many(self, asks) -> Sequence:
        return list(self.crowd.map(self.ask, asks))

    def burst(self, asks) -> Sequence:
        return list(self.crowd.map(lambda ask: self.server.client.ask(ask, retried=False), asks))

    def progress(self, words):
        assert words

    def again(self):
        return True


def codes_of(kind: str, *, setting=None, **options) -> set[str]:
    setting = dict(setting or {})
    dialects = [setting.pop("dialects")] if "dialects" in setting else []
    case = Case(id=kind, suite="s", source=Source(path="s", line=1), check=kind, severity="regression")
    try:
        with FakeServer(dialects=dialects, **setting, **options) as fake, ThreadPoolExecutor(24) as crowd:
            server = attach(fake.url, model=None, api_key_env=None, api_key=None, timeout_s=TIMEOUT_S)
            try:
                return {finding.code for finding in check_for(kind)(case, Context(server, crowd)).findings}
            finally:
                server.client.close()
    except NotOffered:
        return set()
    except InfraError as error:
        return {error.code}


@pytest.mark.parametrize("name", SHOWN)
def test_its_probe_finds_it(name):
    fault = FAULTS[name]
    found = codes_of(fault.shown_by, setting=fault.setting, faults=[name])
    assert fault.expected[0] in found
    assert found - {"CTRL.load", "PROTO.buffered"} <= set(fault.expected)


def test_a_cache_that_never_hits_leaves_its_probe_inconclusive():
    case = Case(id="c", suite="s", source=Source(path="s", line=1), check="prefix_cache", severity="regression")
    with FakeServer(faults=["no-cache-hits"]) as fake, ThreadPoolExecutor(24) as crowd:
        server = attach(fake.url, model=None, api_key_env=None, api_key=None, timeout_s=TIMEOUT_S)
        verdict = check_for("prefix_cache")(case, Context(server, crowd))
        server.client.close()
    assert (verdict.outcome, verdict.reason) == ("INCONCLUSIVE", "a warm prefix: the server reports no cache hit")
