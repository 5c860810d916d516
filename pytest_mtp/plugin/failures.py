"""What a case raises into pytest. Data first, exception second."""

from __future__ import annotations

from pytest_mtp.core.run import CaseResult


class MtpFailure(AssertionError):  # noqa: N818  # it names an outcome, as pytest.fail.Exception does
    """The verdict closes the gate."""

    def __init__(self, result: CaseResult) -> None:
        """The message is the reason, as short summaries show it."""
        super().__init__(result.verdict.reason or result.verdict.outcome)
        self.result = result


class ServerBlocked(MtpFailure):
    """No verdict on the answer: the server or the network."""


class Inconclusive(MtpFailure):
    """The condition that the case needs was not reached, and the policy says that this closes the gate."""
