"""One complete profile, and files made of it."""

from __future__ import annotations

import pytest

GOOD = """\
schema_version: 1
profile: engine-x
engine: generic
description: the server of tests
parameters:
  model: {kind: path, required: true, help: folder of the checkpoint}
  depth: {kind: whole, default: 1, lowest: 1, highest: 16, help: draft tokens a step}
  speculation: {kind: flag, default: true, help: whether it drafts}
  method: {kind: choice, default: mtp, choices: [mtp, eagle], help: how it drafts}
  rates: {kind: rates, help: acceptance by position}
  share: {kind: number, default: 0.5, lowest: 0, highest: 1, help: of the memory}
  note: {kind: text, help: any words}
  python: {kind: path, help: an interpreter}
command:
  - "{python}"
  - [-m, engine_x, --model, "{model}"]
  - [--port, "{port}", --name, "{alias}", --share, "{share}"]
  - {when: speculation, words: [--config, '{"method": "{method}", "n": {depth}, "other": {x}}']}
  - {when: [speculation, {rates: set}], words: [--rates, "{rates}"]}
  - {when: {not: speculation}, words: [--off]}
  - {when: {method: eagle}, words: [--eagle]}
environment: {ENGINE_OFFLINE: "1", ENGINE_NOTE: "{note}"}
served_name: "{model}"
program_missing: pip install engine-x
speculation: {when: speculation, method: "{method}", depth: "{depth}"}
log:
  fatal: [out of memory]
  telling: ["^fatal: ", broken]
stop: {signals: [INT, TERM], grace_s: 2.5}
limits: {start_timeout_s: 300, memory_mib: 8000}
"""


@pytest.fixture
def good():
    return GOOD


@pytest.fixture
def written(tmp_path):
    """Write a profile; its path."""

    def write(text=GOOD, name="x.profile.yaml"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write
