"""What can go wrong outside a model's answer. A wrong answer is a Finding, never an exception."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class MtpError(Exception):
    """Root of ours. The message says what happened, where, and what to do."""


class UsageError(MtpError):
    """The user can fix it: an option, a suite file, a golden answer."""


class SuiteError(UsageError):
    """A suite or golden file is wrong; `where` is file:line, `at` the path inside the document."""

    def __init__(self, problem: str, *, path: str, line: int, at: str = "") -> None:
        """`line` is one-based, as editors count."""
        self.problem, self.path, self.line, self.at = problem, path, line, at
        inside = f" (at {at})" if at else ""
        super().__init__(f"{path}:{line}: {problem}{inside}")


class InfraError(MtpError):
    """The server, the network or the file system, not the answer. `hint` says what to try."""

    def __init__(self, problem: str, *, code: str = "INFRA.connect", hint: str = "", log_tail: str = "") -> None:
        """`code` is one of the INFRA codes; `log_tail` the last lines of a server that we started."""
        self.problem, self.code, self.hint, self.log_tail = problem, code, hint, log_tail
        super().__init__(f"{problem}\n  {hint}" if hint else problem)


class NotOffered(MtpError):  # noqa: N818  # not an error: the case is skipped with this reason
    """The server does not offer what a case needs."""


class NoRoom(NotOffered):
    """The budget of the run has no room for a case. `requests` is what it would have taken at most."""

    def __init__(self, reason: str, *, requests: int) -> None:
        """`reason` says what was left."""
        self.requests = requests
        super().__init__(reason)


def nearest(word: str, known: Iterable[str]) -> str:
    """` (did you mean 'x'?)` for the closest known word, or nothing."""
    close = difflib.get_close_matches(word, [str(item) for item in known], n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""
