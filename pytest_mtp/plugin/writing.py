"""The report files: whether they can be written is found out before anything is measured."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from pytest_mtp.core.run import RunReport
from pytest_mtp.reports.json_report import write_json
from pytest_mtp.reports.markdown import summary_markdown

JSON_NAME, MARKDOWN_NAME = "mtp-report.json", "summary.md"
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


def ensure_writable(folder: Path) -> None:
    """Raise pytest.UsageError when the folder cannot be made or written. Nothing is left on disk by asking."""
    at = folder
    while not at.exists() and at != at.parent:
        at = at.parent
    if not at.is_dir():
        raise pytest.UsageError(f"--mtp-report: {at} is not a folder")
    try:
        with tempfile.TemporaryFile(dir=at):
            pass
    except OSError as error:
        raise pytest.UsageError(f"--mtp-report: {folder} cannot be written ({error.strerror}); give another folder") from error


def write_reports(report: RunReport, folder: Path) -> tuple[tuple[Path, ...], str]:
    """The files written, and what went wrong. A folder that became read-only meanwhile is replaced by a temporary one."""
    try:
        files = _write(report, folder)
    except OSError as error:
        other = Path(tempfile.mkdtemp(prefix="mtp-report-"))
        return _write(report, other), f"{folder} cannot be written ({error.strerror}); the report is in {other}"
    return files, _step_summary(report)


def _write(report: RunReport, folder: Path) -> tuple[Path, ...]:
    folder.mkdir(parents=True, exist_ok=True)
    write_json(report, folder / JSON_NAME)
    markdown = folder / MARKDOWN_NAME
    markdown.write_text(summary_markdown(report), encoding="utf-8", errors="backslashreplace")
    return folder / JSON_NAME, markdown


def _step_summary(report: RunReport) -> str:
    """GitHub shows this file on the page of the job; it is appended to, as other steps write there too."""
    path = os.environ.get(STEP_SUMMARY)
    if not path:
        return ""
    try:
        with Path(path).open("a", encoding="utf-8", errors="backslashreplace") as handle:
            handle.write(summary_markdown(report) + "\n")
    except OSError as error:
        return f"{STEP_SUMMARY}: {error}"
    return ""
