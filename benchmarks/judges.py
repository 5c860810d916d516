"""Our judge and the graders of peers on the same hand-reasoned vectors, and how long our judge takes over hostile texts.

    python benchmarks/judges.py [--peers PYTHON] [--write]

Peers run in an environment of their own, made in a temporary folder from the package index unless `--peers` names the Python
of one. They get the vectors that they have words for: a plain number, a letter, a text; no units, tolerances, percentages,
prompts or cut replies. `--write` renews judges.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TESTS = HERE.parent / "tests" / "judge"
sys.path[:0] = [str(HERE.parent), str(TESTS)]

import adversarial  # noqa: E402  # the shapes of the tests
import test_vectors  # noqa: E402  # what a vector means is said there

from pytest_mtp.core.ask import Ask  # noqa: E402  # the package beside us, installed or not
from pytest_mtp.core.exchange import Exchange, Timeline  # noqa: E402  # as above
from pytest_mtp.core.reply import Reply  # noqa: E402  # as above
from pytest_mtp.judge.judgement import GRADER_VERSION, GradeContext  # noqa: E402  # as above
from pytest_mtp.judge.pipeline import judge  # noqa: E402  # as above

PEERS = ("inspect-ai==0.3.285", "deepeval==4.3.1", "lm_eval==0.4.13", "math-verify==0.9.0")
SHAPES: Mapping[str, Callable[[int], str]] = adversarial.SHAPES
SIZE = 1_000_000


def vectors() -> list[tuple[str, str, dict[str, Any]]]:
    """(file, unique id, vector)."""
    return [(param.id.split("-")[0], param.id, param.values[0]) for param in test_vectors.VECTORS]


def right(vector: dict[str, Any]) -> str:
    code = None if vector.get("code") == "ok" else vector.get("code")
    return str(vector.get("outcome", "FAIL" if code else "PASS"))


def ours() -> dict[str, tuple[int, int]]:
    """File to (right, all): the outcome, the code that fails first, and the canonical answer where it is given."""
    found: dict[str, tuple[int, int]] = {}
    for file, _, vector in vectors():
        judgement = test_vectors.judged(vector)
        failing = [finding.code for finding in judgement.findings if finding.severity != "note"]
        code = None if vector.get("code") == "ok" else vector.get("code")
        good = judgement.outcome == right(vector) and (not code or (failing or [judgement.code])[0] == code)
        good = good and ("answer" not in vector or vector["answer"] == judgement.answer)
        hits, total = found.get(file, (0, 0))
        found[file] = (hits + good, total + 1)
    return found


def for_peers() -> list[dict[str, Any]]:
    """What peers have words for, with the right verdict in `passes`."""
    chosen = []
    for _, name, vector in vectors():
        spec = vector.get("expect", {})
        if set(vector) & {"prompt", "finish", "reasoning", "response_format", "references"} or len(spec) != 1 or not vector.get("reply"):
            continue
        ((kind, gold),) = spec.items()
        plain = kind in {"number", "choice", "text"} and isinstance(gold, str | int | float) and "%" not in str(gold)
        if kind == "text" and isinstance(gold, dict) and set(gold) == {"one_of"}:
            chosen.append({"id": name, "kind": kind, "reply": vector["reply"], "gold": gold["one_of"], "passes": right(vector) == "PASS"})
        elif plain and "<think>" not in vector["reply"]:
            chosen.append({"id": name, "kind": kind, "reply": vector["reply"], "gold": [str(gold)], "passes": right(vector) == "PASS"})
    return chosen


def peers(python: str, chosen: list[dict[str, Any]]) -> dict[str, Any]:
    lines = "\n".join(json.dumps({key: vector[key] for key in ("id", "kind", "reply", "gold")}) for vector in chosen)
    done = subprocess.run([python, str(HERE / "judges_peers.py")], input=lines, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def environment(folder: str) -> str:
    venv.create(folder, with_pip=True)
    python = str(Path(folder) / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS], check=True)
    return python


def speeds() -> list[tuple[str, float]]:
    """Shape to milliseconds of processor time for one judgement without expectation, the best of three, slowest first."""
    ask = Ask(messages=({"role": "user", "content": "Say something long."},))
    rows = []
    for name, make in SHAPES.items():
        reply = Reply(content=make(SIZE), finish_reason="length")
        exchange = Exchange(ask=ask, url="u", model="m", reply=reply, timeline=Timeline(sent_ns=0))
        spent = []
        for _ in range(3):
            start = time.process_time()
            judge(exchange, (), context=GradeContext())
            spent.append(time.process_time() - start)
        rows.append((name, min(spent) * 1000))
    return sorted(rows, key=lambda row: -row[1])


def table(chosen: list[dict[str, Any]], results: Mapping[str, Any]) -> list[str]:
    lines = [
        "| rule | version | kind | vectors | right | passes what is wrong | fails what is right |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for kind in ("number", "choice", "text"):
        count = sum(vector["kind"] == kind for vector in chosen)
        lines.append(f"| **pytest-mtp** | grader {GRADER_VERSION} | {kind} | {count} | {count} (100 %) | 0 | 0 |")
        for name, result in results.items():
            if result["kind"] != kind:
                continue
            if "error" in result:
                lines.append(f"| {name} | - | {kind} | {count} | could not be imported | - | - |")
                continue
            verdicts = result["verdicts"]
            of_kind = [vector for vector in chosen if vector["kind"] == kind]
            good = sum(verdicts[vector["id"]] is vector["passes"] for vector in of_kind)
            loose = sum(verdicts[vector["id"]] is True and not vector["passes"] for vector in of_kind)
            strict = sum(verdicts[vector["id"]] is not True and vector["passes"] for vector in of_kind)
            lines.append(f"| {name} | {result['version'] or '-'} | {kind} | {count} | {good} ({good / count:.0%}) | {loose} | {strict} |")
    return lines


def document(own: Mapping[str, tuple[int, int]], lines: list[str], rows: list[tuple[str, float]]) -> str:
    total = sum(count for _, count in own.values())
    hits = sum(hit for hit, _ in own.values())
    parts = ", ".join(f"{file} {hit}/{count}" for file, (hit, count) in own.items())
    slowest = "\n".join(f"| {name} | {spent:.0f} |" for name, spent in rows[:10])
    return f"""# Judges on the same vectors

Made by `python benchmarks/judges.py --write` with Python {platform.python_version()}.

Ours on all vectors of `tests/judge/vectors` (outcome, code and canonical answer): **{hits} of {total}** ({parts}).
The vectors were written by us, so that figure shows that the judge does what we reasoned, and not that nothing else is left to reason.

Peers get the vectors that they have words for: a plain number, a letter, a text; no units, tolerances, percentages, prompts or cut replies.
Several of these rules were made for data sets whose golds are integers, or for replies in one fixed form; they are measured here as graders
of free answers, which is what people use them for. A peer that raises has no verdict and counts as not passing.

{chr(10).join(lines)}

Processor time of one judgement of {SIZE // 1_000_000} MB of text, the ten slowest of {len(rows)} hostile shapes, milliseconds:

| shape | ms |
| --- | ---: |
{slowest}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", metavar="PYTHON", help="the Python of an environment that has the peers")
    parser.add_argument("--write", action="store_true", help="renew judges.md")
    options = parser.parse_args()
    own, chosen = ours(), for_peers()
    failed = {file: counts for file, counts in own.items() if counts[0] != counts[1]}
    if failed:
        sys.exit(f"our own judge is wrong on some vectors: {failed}")
    if options.peers:
        results = peers(options.peers, chosen)
    else:
        with tempfile.TemporaryDirectory() as folder:
            results = peers(environment(folder), chosen)
    text = document(own, table(chosen, results), speeds())
    print(text)
    if options.write:
        (HERE / "judges.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
