"""Golden cases: a question, an accepted answer."""

from __future__ import annotations

from pytest_mtp.checks.answers import judged
from pytest_mtp.checks.repeats import conclude
from pytest_mtp.core.case import Case
from pytest_mtp.core.protocols import CheckContext
from pytest_mtp.core.verdict import Verdict


def run(case: Case, context: CheckContext) -> Verdict:
    """Ask, judge each repeat, conclude."""
    _, judgements = judged(case, context)
    return conclude(case, judgements)
