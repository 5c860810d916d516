"""Bad texts cost time in proportion to their length: eight times the text, not sixty-four times the work.

Ratios within one run, on processor time, with a floor below which nothing is said: a shared machine is not accused.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

import pytest

import pytest_mtp.judge
from pytest_mtp.core.ask import Ask
from pytest_mtp.core.case import Expect
from pytest_mtp.core.exchange import Exchange, Timeline
from pytest_mtp.core.reply import Reply
from pytest_mtp.judge.judgement import GradeContext
from pytest_mtp.judge.pipeline import judge


def beside(name: str) -> ModuleType:
    """A module of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SHAPES: Mapping[str, Callable[[int], str]] = beside("adversarial").SHAPES
EXPECTS = [
    Expect(kind="number", spec=5),
    Expect(kind="choice", spec="B"),
    Expect(kind="text", spec="x"),
    Expect(kind="contains", spec="zzz"),
    Expect(kind="regex", spec="zzz"),
    Expect(kind="list", spec=["a", "b"]),
    Expect(kind="set", spec=["a", "b"]),
    Expect(kind="date", spec="2024-05-05"),
    Expect(kind="json", spec={"a": 1}),
    Expect(kind="language", spec="de"),
    Expect(kind="length", spec={"max_words": 3, "max_sentences": 2}),
    Expect(kind="math", spec="x"),
    Expect(kind="code", spec={"language": "python", "asserts": ["assert f()"]}),
]
SMALL, TIMES = 4000, 8
LINEAR_ENOUGH = 3  # times as much as proportion asks
FLOOR_S = 0.02


def cost(work: Callable[[], object], tries: int = 1) -> float:
    """The best of some tries, in seconds of processor time."""
    spent = []
    for _ in range(tries):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return min(spent)


def judge_all(text: str, finish: str) -> None:
    ask = Ask(messages=({"role": "user", "content": "q"},))
    exchange = Exchange(ask=ask, url="u", model="m", reply=Reply(content=text, finish_reason=finish), timeline=Timeline(sent_ns=0))
    judge(exchange, EXPECTS, context=GradeContext())


@pytest.mark.parametrize("shape", SHAPES)
def test_judging_grows_with_the_text(shape: str) -> None:
    small, large = SHAPES[shape](SMALL), SHAPES[shape](SMALL * TIMES)
    judge_all(small, "stop")
    allowed = max(cost(lambda: judge_all(small, "length")), FLOOR_S) * TIMES * LINEAR_ENOUGH
    work = lambda: judge_all(large, "length")  # noqa: E731  # measured twice
    assert cost(work) <= allowed or cost(work, 3) <= allowed


def patterns() -> dict[str, re.Pattern[str]]:
    """Every compiled expression of the room."""
    found = {}
    for info in pkgutil.walk_packages(pytest_mtp.judge.__path__, "pytest_mtp.judge."):
        if ".tools" in info.name or ".sandbox" in info.name:
            continue
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                found[f"{info.name.removeprefix('pytest_mtp.judge.')}:{name}"] = value
    return found


PATTERNS = patterns()


def test_every_expression_is_found() -> None:
    assert len(PATTERNS) > 50


def passes(pattern: re.Pattern[str], text: str) -> int:
    return sum(1 for _ in pattern.finditer(text))


@pytest.mark.parametrize("name", PATTERNS)
def test_no_expression_is_catastrophic(name: str) -> None:
    pattern = PATTERNS[name]
    slow = []
    for shape, make in SHAPES.items():
        small, large = make(300), make(300 * TIMES)
        allowed = max(cost(lambda text=small: passes(pattern, text)), FLOOR_S / 4) * TIMES * LINEAR_ENOUGH
        if cost(lambda text=large: passes(pattern, text)) > allowed and cost(lambda text=large: passes(pattern, text), 3) > allowed:
            slow.append(shape)
    assert slow == []
