"""A client in a process of its own, whose memory is measured: one question a line, one answer a line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pytest_mtp.client.evidence import append_exchange
from pytest_mtp.client.http import HttpClient
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.facts import Endpoint
from pytest_mtp.judge.judgement import GradeContext
from pytest_mtp.judge.pipeline import judge


def peak_kib() -> int:
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def measured(order: dict[str, Any]) -> dict[str, Any]:
    """The answer of one server, judged and written as evidence, and how far the memory peaked above where the process began."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak is what is in use now
    client = HttpClient(Endpoint(root=order["root"], api_root=f"{order['root']}/v1", model="m"), timeout_s=order["timeout_s"])
    told: dict[str, Any] = {}
    if order["path"]:
        got = client.fetch(order["path"])
        told = {"status": got.status, "length": len(got.text), "fault": got.fault.code if got.fault else ""}
    else:
        exchange = client.ask(Ask(messages=({"role": "user", "content": "hi"},), stream=order["stream"]))
        judge(exchange, (), context=GradeContext(case_severity="model", references={}))
        append_exchange(Path(order["evidence"]), exchange)
        told = {"fault": exchange.fault.code if exchange.fault else "", "message": exchange.fault.message if exchange.fault else ""}
    client.close()
    return {**told, "peak_mib": (peak_kib() - order["start_kib"]) / 1024}


def main() -> None:
    start_kib = peak_kib()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(measured({**json.loads(line), "start_kib": start_kib})) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
