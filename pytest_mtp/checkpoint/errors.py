"""What a person hears when files cannot be read."""

from __future__ import annotations

from pytest_mtp.core.errors import UsageError


class CheckpointError(UsageError):
    """The files cannot be judged at all; the message begins with the path as the user would type it."""

    def __init__(self, problem: str, *, path: str) -> None:
        """`problem` says what was expected and what came."""
        self.problem, self.path = problem, path
        super().__init__(f"{path}: {problem}")


def file_problem(error: OSError | ValueError) -> str:
    """A file system error in words; the errno text where there is no better one."""
    if isinstance(error, PermissionError):
        return "no permission to read it"
    if isinstance(error, FileNotFoundError):
        return "does not exist"
    if isinstance(error, IsADirectoryError):
        return "is a folder, not a file"
    if isinstance(error, NotADirectoryError):
        return "a part of the path is a file, not a folder"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error)
