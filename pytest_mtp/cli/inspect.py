"""`pytest-mtp inspect PATH`: whether a checkpoint holds an MTP head, and what to set.

Exit codes: 0 for `present` and `absent`, 1 for `contradiction`, for a pair that does not fit and for an unmet `--expect`, 2 for
a path where nothing can be judged.
"""

from __future__ import annotations

import argparse
import json
import sys

from pytest_mtp.core.errors import UsageError


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The words of this command."""
    parser = subparsers.add_parser(
        "inspect",
        help="look for an MTP head in a checkpoint's tensors, reading headers alone",
        description="Reads the headers of safetensors or GGUF files and says whether they hold an MTP, NextN or EAGLE head, "
        "by the tensors and never by the config alone.",
    )
    parser.add_argument("path", metavar="PATH", help="a file, a model folder, a Hub cache folder, or an http(s) address of one")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.add_argument("--deep", action="store_true", help="read the head's own weights: zero-filled, constant, NaN")
    parser.add_argument("--target", metavar="PATH", help="the model that the drafter at PATH should draft for")
    parser.add_argument("--expect", choices=("present", "absent"), help="exit with 1 when the verdict is another")
    parser.add_argument("--list", action="store_true", help="show what was looked for even when a head is present")
    parser.add_argument("--bandwidth", type=float, metavar="GB/S", help="memory bandwidth: prints the decode ceiling")
    parser.add_argument("--acceptance", type=float, metavar="N", help="mean tokens emitted a verify step, for the ceiling with speculation")
    parser.add_argument("--depth", type=int, metavar="K", help="drafts a step, for the ceiling (default: what the config promises)")
    parser.add_argument("--context", type=int, default=0, metavar="TOKENS", help="tokens in the cache, for the ceiling")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Raises CheckpointError where nothing can be judged."""
    from pytest_mtp.checkpoint.verdict import inspect_checkpoint  # noqa: PLC0415  # `--help` needs none of it
    from pytest_mtp.checkpoint.words import told  # noqa: PLC0415

    _check(args)
    inspection = inspect_checkpoint(args.path, deep=args.deep, target=args.target)
    limit = None
    if args.bandwidth is not None:
        from pytest_mtp.checkpoint.ceiling import ceiling  # noqa: PLC0415

        depth = args.depth or max((head.depth or head.layers for head in inspection.heads), default=1)
        limit = ceiling(
            inspection.weights,
            bandwidth_gb_s=args.bandwidth,
            acceptance_length=args.acceptance,
            depth=depth,
            context=args.context,
        )
    if args.json:
        document = {**inspection.to_dict(), "ceiling": limit.to_dict() if limit else None}
        print(json.dumps(document, indent=1, allow_nan=False))
    else:
        print(told(inspection, ceiling=limit, everything=args.list))
    unmet = args.expect is not None and args.expect != inspection.verdict
    if unmet:
        print(f"pytest-mtp: expected {args.expect}, found {inspection.verdict}", file=sys.stderr)
    return 1 if inspection.critical or unmet else 0


def _check(args: argparse.Namespace) -> None:
    limits = {"bandwidth": (0.001, 1e6), "acceptance": (1, 1000), "depth": (1, 1000), "context": (0, 1e9)}
    for name, (low, high) in limits.items():
        value = getattr(args, name)
        if value is not None and not low <= value <= high:
            raise UsageError(f"--{name} {value:g} is not between {low:g} and {high:g}")
    if args.bandwidth is None and (args.acceptance is not None or args.depth is not None or args.context):
        raise UsageError("--acceptance, --depth and --context say something about the ceiling: give --bandwidth too")
    if args.acceptance is not None and args.acceptance > 1 + (args.depth or 1):
        depth = args.depth or 1
        raise UsageError(f"--acceptance {args.acceptance:g} is not possible at depth {depth}: a step emits {1 + depth} tokens at most")
