"""The tool judge on all of BFCL v4 single-turn: every listed gold passes, every wrong change of it fails.

    pip download --no-deps --dest DIR bfcl-eval==2026.3.23
    python benchmarks/tools_judge.py [DIR/bfcl_eval-2026.3.23-py3-none-any.whl | folder of the package] [--write]

BFCL's own checker judges the same replies beside ours where it can be imported; it is fed the calls as Python values, since
it knows no wire. `--write` renews tools_judge.md and tools_judge_contradictions.txt beside this file.
"""

from __future__ import annotations

import argparse
import gc
import importlib.metadata
import platform
import statistics
import subprocess
import sys
import time
import types
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from tools_judge_bfcl import BfclCase, Call, cases, empty_cases, found_data  # noqa: E402  # as above
from tools_judge_mutations import harmless, reply_of, wrong  # noqa: E402  # as above

from pytest_mtp.core.ask import Ask  # noqa: E402  # the package beside us, installed or not
from pytest_mtp.core.case import Expect  # noqa: E402  # the package beside us, installed or not
from pytest_mtp.core.reply import Reply  # noqa: E402  # as above
from pytest_mtp.judge.judgement import GradeContext, View  # noqa: E402  # as above
from pytest_mtp.judge.tools.graders import grade_calls, grade_no_call  # noqa: E402  # as above
from pytest_mtp.judge.tools.leaks import leak_findings  # noqa: E402  # as above
from pytest_mtp.judge.tools.offered import offer_of  # noqa: E402  # as above

Peer = Callable[[BfclCase, "list[Call]"], bool | None]
CONTEXT = GradeContext()
ROUNDS = 5


@dataclass(slots=True)
class Task:
    """One verdict to give: `passes` is what is right."""

    case: BfclCase
    group: str
    kind: str
    view: View
    expect: Expect
    passes: bool
    calls: list[Call] | None = None
    number: int = 0  # of the rendering, for a gold


@dataclass(slots=True)
class Outcome:
    """`contradictions` are golds that their own schema refuses: (id, rendering, reason)."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[tuple[str, str, str]] = field(default_factory=list)
    contradictions: list[tuple[str, int, str]] = field(default_factory=list)
    peer_counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    verdicts: int = 0
    seconds: float = 0.0


def tasks_of(case: BfclCase) -> tuple[list[Task], list[Task], list[Task]]:
    """Golds, wrong changes, harmless changes."""
    expect = Expect(kind="calls", spec=list(case.calls))

    def task(group: str, kind: str, reply: Reply, calls: list[Call] | None, *, passes: bool, number: int = 0) -> Task:
        view = View(text=reply.text, reasoning="", reply=reply, ask=case.ask)
        return Task(case=case, group=group, kind=kind, view=view, expect=expect, passes=passes, calls=calls, number=number)

    golds = [task("gold", case.category, reply_of(list(v)), list(v), passes=True, number=k) for k, v in enumerate(case.variants)]
    bad = [task("wrong", kind, reply, calls, passes=False) for kind, calls, reply in wrong(case)]
    good = [task("harmless", kind, reply, calls, passes=True) for kind, calls, reply in harmless(case)]
    return golds, bad, good


def run(place: Path, peer: Peer | None = None) -> Outcome:
    """Judge everything; only the processor time inside the judge is counted."""
    outcome = Outcome()
    everything = [(case, *tasks_of(case)) for case in cases(place)]
    grade_calls(everything[0][1][0].view, everything[0][1][0].expect, CONTEXT)
    import scipy.optimize  # noqa: F401, PLC0415  # imports are no verdicts

    gc.collect()
    gc.freeze()
    judged = [(task, _timed(outcome, task)) for _, *groups in everything for group in groups for task in group]
    refused: set[str] = set()
    for task, (passed, code, reason) in judged:
        if task.group == "gold" and not passed and code in ("TOOL.schema", "TOOL.args_empty"):
            refused.add(task.case.id)
            outcome.contradictions.append((task.case.id, task.number, reason))
        elif task.group != "harmless" or task.case.id not in refused:  # a gold that its schema refuses has no harmless change
            _count(outcome, task, right=passed is task.passes, peer=peer)
    _irrelevance(place, outcome)
    return outcome


def _timed(outcome: Outcome, task: Task) -> tuple[bool, str, str]:
    """Whether it passed, and the code and title of the first finding that fails."""
    grade = grade_calls if task.expect.kind == "calls" else grade_no_call
    start = time.process_time()
    judgement = grade(task.view, task.expect, CONTEXT)
    outcome.seconds += time.process_time() - start
    outcome.verdicts += 1
    reason = next((finding.title for finding in judgement.findings if finding.severity != "note"), "")
    return judgement.outcome == "PASS", judgement.code, reason


def _count(outcome: Outcome, task: Task, *, right: bool, peer: Peer | None) -> None:
    outcome.counts[f"{task.group} right" if right else f"{task.group} wrong", task.kind] += 1
    if not right:
        outcome.wrong.append((task.case.id, task.group, task.kind))
    if peer is not None and task.calls is not None and "java" not in task.case.category:
        theirs = peer(task.case, task.calls)
        word = "raises" if theirs is None else ("right" if theirs is task.passes else "wrong")
        outcome.peer_counts[f"{task.group} {word}", task.kind] += 1


def _irrelevance(place: Path, outcome: Outcome) -> None:
    expect = Expect(kind="no_call", spec=True)
    for id_, ask in empty_cases(place):
        case = BfclCase(id=id_, category="irrelevance", ask=ask, functions=(), ground_truth=(), calls=(), variants=())
        name = next(iter(offer_of(ask).tools), "zebra_tool")
        replies: list[tuple[str, str, list[Call], bool]] = [
            ("gold", "irrelevance", [], True),
            ("wrong", "call where none is due", [(name, {})], False),
        ]
        for group, kind, calls, passes in replies:
            reply = reply_of(calls)
            task = Task(case, group, kind, View(text=reply.text, reasoning="", reply=reply, ask=ask), expect, passes)
            _count(outcome, task, right=_timed(outcome, task)[0] is passes, peer=None)


def bfcl_checker(place: Path) -> Peer | None:
    """BFCL's ast_checker without the model registry, whose imports are every vendor's client. None verdict: it raised."""
    sys.path.insert(0, str(place if place.suffix == ".whl" else place.parent))
    stub = types.ModuleType("bfcl_eval.constants.model_config")
    stub.MODEL_CONFIG_MAPPING = {"ours": types.SimpleNamespace(underscore_to_dot=False)}  # type: ignore[attr-defined]  # a stand-in
    sys.modules[stub.__name__] = stub
    try:
        from bfcl_eval.constants.enums import Language  # noqa: PLC0415  # only where BFCL is
        from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # noqa: PLC0415  # only where BFCL is
    except ImportError as error:
        print(f"BFCL's checker cannot be imported: {error}", file=sys.stderr)
        return None

    def check(case: BfclCase, calls: list[Call]) -> bool | None:
        output = [{name: arguments} for name, arguments in calls]
        try:
            return bool(ast_checker(list(case.functions), output, list(case.ground_truth), Language.PYTHON, case.category, "ours")["valid"])
        except Exception:  # noqa: BLE001  # what it raises is what we count
            return None

    return check


def table(outcome: Outcome, version: str, peer: Peer | None, times: list[float]) -> str:
    """The Markdown report."""
    total = sum(outcome.counts.values())
    lines = [
        "# The tool judge on BFCL v4 single-turn",
        "",
        (
            f"bfcl-eval {version}, jsonschema {importlib.metadata.version('jsonschema')}, scipy {importlib.metadata.version('scipy')}, "
            f"Python {platform.python_version()}; `python benchmarks/tools_judge.py WHEEL --write`."
        ),
        "",
        f"- {outcome.verdicts} verdicts, cold schemas included: {_rate_words(outcome.verdicts, times)}",
        f"- {total} counted; {len(outcome.wrong)} of ours are wrong.",
        (
            f"- {len({c[0] for c in outcome.contradictions})} of the cases list a gold that the function's own schema refuses "
            "(`tools_judge_contradictions.txt`); those renderings are not counted as ours."
        ),
        "- BFCL's checker gets the same calls as Python values. It knows no wire, so faults of the wire have no column; Java and "
        "JavaScript are left out for it, since it wants their values as source text."
        if peer
        else "- BFCL's checker was not at hand.",
        "",
        "| replies | what is right | ours: right / all | BFCL: right / wrong / raises |",
        "| --- | --- | --- | --- |",
    ]
    for group, verdict in (("gold", "PASS"), ("harmless", "PASS"), ("wrong", "FAIL")):
        kinds = dict.fromkeys(kind for name, kind in outcome.counts if name in (f"{group} right", f"{group} wrong"))
        for kind in kinds:
            ours = outcome.counts[f"{group} right", kind], outcome.counts[f"{group} wrong", kind]
            theirs = [outcome.peer_counts[f"{group} {word}", kind] for word in ("right", "wrong", "raises")]
            shown = " / ".join(map(str, theirs)) if sum(theirs) else "-"
            lines.append(f"| {group}: {kind} | {verdict} | {ours[0]} / {sum(ours)} | {shown} |")
    return "\n".join(lines) + "\n"


def _rate_words(verdicts: int, times: list[float]) -> str:
    median = statistics.median(times)
    spread = (
        f" (median of {len(times)} processes, {min(times):.1f} to {max(times):.1f} s; others used the machine)" if len(times) > 1 else ""
    )
    return f"{median:.1f} s of one core, {verdicts / median:,.0f} a second{spread}."


def scan_table() -> str:
    """Processor time of the leak scan over a million characters, the best of five."""
    texts = {
        "prose": "The quick brown fox jumps over the lazy dog. ",
        "Markdown with code": "Use `x` and:\n```python\nfor i in range(3): print(i < 2, [i], {i: 1})\n```\n",
        "HTML": "<div class='a'><p>text</p></div>\n",
        "JSON lines": '{"name": "x", "arguments": {"a": 1}}\n',
        "leaked calls": '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>\n',
        "openers that are never closed": "<function=f>",
        "opening brackets": "[\n",
    }
    ask = Ask(messages=({"role": "user", "content": "go"},), tools=({"type": "function", "function": {"name": "f"}},))
    lines = ["", "| leak scan of a million characters | ms of one core |", "| --- | --- |"]
    for name, piece in texts.items():
        text = (piece * (1_000_000 // len(piece) + 1))[:1_000_000]
        reply = Reply(content=text, finish_reason="stop")
        best = min(_seconds(lambda text=text, reply=reply: leak_findings(text, "", ask, reply)) for _ in range(5))  # type: ignore[misc]  # bound now
        lines.append(f"| {name} | {best * 1000:.0f} |")
    return "\n".join(lines) + "\n"


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def contradictions(outcome: Outcome) -> str:
    """One line a rendering."""
    head = "# Golds of BFCL v4 that the schema of their own function refuses: id, rendering, reason.\n"
    return head + "".join(f"{id_}\t{index}\t{reason}\n" for id_, index, reason in outcome.contradictions)


def _fresh_seconds(place: Path) -> float:
    command = [sys.executable, str(Path(__file__)), str(place), "--seconds"]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _version(place: Path) -> str:
    if place.suffix == ".whl":
        return place.name.split("-")[1]
    try:
        return importlib.metadata.version("bfcl-eval")
    except importlib.metadata.PackageNotFoundError:
        return "of a version that the folder does not tell"


def main() -> int:
    """Exit 1 when a verdict of ours is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("place", nargs="?", type=Path, default=found_data())
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--seconds", action="store_true", help="print the seconds of the judge alone, for a fresh process")
    options = parser.parse_args()
    if options.place is None or not options.place.exists():
        parser.error("bfcl-eval is not installed; give its wheel or its folder (pip download --no-deps bfcl-eval)")
    version = _version(options.place)
    if options.seconds:
        print(run(options.place).seconds)
        return 0
    peer = bfcl_checker(options.place)
    outcome = run(options.place, peer)
    times = [_fresh_seconds(options.place) for _ in range(ROUNDS)] if options.write else [outcome.seconds]
    text = table(outcome, version, peer, times) + scan_table()
    print(text)
    for id_, group, kind in outcome.wrong[:40]:
        print("WRONG", id_, group, kind)
    if options.write:
        (HERE / "tools_judge.md").write_text(text, encoding="utf-8")
        (HERE / "tools_judge_contradictions.txt").write_text(contradictions(outcome), encoding="utf-8")
    return 1 if outcome.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
