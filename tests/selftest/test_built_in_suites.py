"""The honest fake passes every built-in suite, and each fault turns its own code red and no other."""

from __future__ import annotations

import dataclasses
from contextlib import contextmanager, nullcontext

import pytest

from pytest_mtp.checks.control import measure_control
from pytest_mtp.checks.kinds import check_for
from pytest_mtp.core.case import Case, Source
from pytest_mtp.core.errors import InfraError, NotOffered
from pytest_mtp.selftest import FakeServer
from pytest_mtp.selftest.faults import FAULTS
from pytest_mtp.servers.attach import attach
from pytest_mtp.suites.load import load_suite
from pytest_mtp.suites.shipped import GROUPS, shipped, shipped_names

SUITES = [name for name in shipped_names() if name not in GROUPS]
PROBES = {  # None: all of the suite
    "smoke": None,
    "tools": None,
    "json": {"forced-object", "forced-schema", "prices"},
    "prose": {"without-the-word", "sky-in-english"},
    "speculation": None,
}
MEASURED_ELSEWHERE = {"PERF.drop", "SPEC.accept_drop", "INFRA.crash", "INFRA.timeout"}  # need a baseline, a process, or patience


class Lease:
    shared = exclusive = staticmethod(nullcontext)


class Context:
    """All that a check may ask for, without a pool and without files."""

    lease = Lease()
    weights = None

    def __init__(self, server):
        self.server = server

    def control(self):
        return measure_control(self)

    def ask(self, ask):
        return self.server.client.ask(ask)

    ask_alone = ask

    def ask_many(self, asks):
        return [self.ask(ask) for ask in asks]

    burst = ask_many

    def progress(self, words):
        assert words

    def again(self):
        return True


@contextmanager
def talking_to(fake):
    server = attach(fake.url, model=None, api_key_env=None, api_key=None, timeout_s=20)
    try:
        yield Context(server)
    finally:
        server.client.close()


def cases_of(name):
    (path,) = shipped(name)
    return load_suite(path).cases


def verdict_on(case, context):
    """None where the fake offers nothing to look at, as a pytest run would skip it."""
    try:
        return check_for(case.kind)(case, context)
    except NotOffered:
        return None


@pytest.mark.parametrize("name", SUITES)
def test_the_honest_fake_passes(name):
    with FakeServer() as fake, talking_to(fake) as context:
        verdicts = [verdict for case in cases_of(name) if (verdict := verdict_on(case, context))]
    missed = {verdict.case_id: verdict.reason for verdict in verdicts if verdict.outcome != "PASS"}
    assert not missed, f"answers.json lacks: {missed}"


def probes():
    """The chosen cases, asked streamed and unstreamed, with a budget that a loop fills soon."""
    for case in (case for name, ids in PROBES.items() for case in cases_of(name) if ids is None or case.id in ids):
        if case.ask is None:
            yield case
        else:
            sampling = dataclasses.replace(case.ask.sampling, max_tokens=300)
            yield dataclasses.replace(case, ask=dataclasses.replace(case.ask, sampling=sampling), modes=("unary", "stream"))
    yield DRAFTING


DRAFTING = Case(id="drafting", suite="s", source=Source(path="s", line=1), check="drafting", severity="regression")


def red_codes(fake, told=""):
    """The codes that close a gate, and `told` if it is there, from the control and from the probes asked in both modes."""
    try:
        with talking_to(fake) as context:
            findings = list(context.control().findings)
            for case in probes():
                verdict = verdict_on(case, context)
                findings += verdict.findings if verdict else ()
    except InfraError as error:
        return {error.code}
    return {finding.code for finding in findings if finding.severity != "note" or finding.code == told}


def test_an_honest_fake_is_not_accused():
    with FakeServer() as fake:
        assert red_codes(fake) == set()


SEEN_HERE = [
    name
    for name, fault in FAULTS.items()
    if not MEASURED_ELSEWHERE & set(fault.expected) and not (fault.shown_by or fault.unseen or fault.setting)
]  # the others are in test_shown.py, by the probe that looks for them, and in benchmarks/selftest.py, all of them in whole runs


@pytest.mark.parametrize("name", SEEN_HERE)
def test_a_fault_turns_its_code_red_and_no_other(name):
    expected = FAULTS[name].expected
    with FakeServer(faults=[name]) as fake:
        found = red_codes(fake, told=expected[0])
    assert expected[0] in found
    assert found <= set(expected)
