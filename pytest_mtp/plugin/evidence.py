"""The exchanges behind a verdict, on disk, and the lines that reproduce them."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pytest_mtp.core.exchange import Exchange
from pytest_mtp.core.facts import Control
from pytest_mtp.core.verdict import Verdict

FOLDER = "evidence"
_SERVER_LOG = re.compile(r"[a-z0-9.-]+-[0-9a-f]{8}-\d+\.log")


class EvidenceFolder:
    """Made with the first file. A folder that cannot be written costs the evidence, never the verdict."""

    def __init__(self, report_dir: Path, api_key_env: str | None, options: Sequence[str]) -> None:
        """`options` are the words that a pytest command line needs to reach the same server again."""
        self._report_dir, self._api_key_env, self._options = report_dir, api_key_env, options
        # A hook edits each record in place before it is written.
        self.redact: Callable[[dict[str, Any]], object] = lambda _: None

    def attach(self, verdict: Verdict, node_id: str, exchanges: Sequence[Exchange]) -> Verdict:
        """The verdict with its evidence file and the two lines that reproduce it."""
        again = shlex.join(["pytest", *self._options, node_id])
        if not exchanges:
            return dataclasses.replace(verdict, reproduce=(again,))
        return dataclasses.replace(
            verdict, evidence=self._write(node_id, exchanges), reproduce=(self._curl(_shown(exchanges, verdict.culprit)), again)
        )  # fmt: skip

    def attach_control(self, control: Control, exchanges: Sequence[Exchange]) -> Control:
        """Each finding of the control names the file."""
        file = self._write("control", exchanges)
        findings = tuple(dataclasses.replace(finding, evidence={**finding.evidence, "file": file}) for finding in control.findings)
        return dataclasses.replace(control, findings=findings)

    def _write(self, node_id: str, exchanges: Sequence[Exchange]) -> str:
        from pytest_mtp.client.evidence import append_exchange  # noqa: PLC0415  # only where something is wrong

        name = f"{FOLDER}/{file_name(node_id)}.jsonl"
        path = self._report_dir / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            for exchange in exchanges:
                append_exchange(path, exchange, redact=self.redact)
        except OSError as error:
            return f"not written: {error}"
        return name

    def _curl(self, exchange: Exchange) -> str:
        from pytest_mtp.client.curl import curl_line  # noqa: PLC0415  # as above

        return curl_line(exchange, api_key_env=self._api_key_env)


def forget_evidence(report_dir: Path) -> None:
    """Files of an earlier run would be taken for this one's."""
    for old in sorted((report_dir / FOLDER).glob("*.jsonl")):
        with contextlib.suppress(OSError):  # whoever cannot remove it cannot replace it either, and that is said then
            old.unlink(missing_ok=True)


def forget_logs(report_dir: Path, *, kept: int = 20) -> None:
    """Of the logs of servers that earlier runs started, the newest stay."""
    logs = [path for path in report_dir.glob("*.log") if _SERVER_LOG.fullmatch(path.name)] if report_dir.is_dir() else []
    with contextlib.suppress(OSError):  # one of them is removed by another run just now
        logs.sort(key=lambda path: path.stat().st_mtime)
        for old in logs[:-kept]:
            old.unlink(missing_ok=True)


def _shown(exchanges: Sequence[Exchange], culprit: int | None) -> Exchange:
    """The exchange that shows the reason, else the first without a reply, else the first: what a person would send again."""
    if culprit is not None and culprit < len(exchanges):
        return exchanges[culprit]
    return next((exchange for exchange in exchanges if exchange.fault is not None), exchanges[0])


def file_name(node_id: str) -> str:
    """Readable, safe on every file system, and different for different node ids."""
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "-" for char in node_id)[-80:].strip("-.")
    digest = hashlib.sha256(node_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain}-{digest}"
