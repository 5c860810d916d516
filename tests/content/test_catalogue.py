"""What every shipped suite keeps: its head tells the truth, its answers are there and say where they come from."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from pytest_mtp.checks.admission import REQUESTS
from pytest_mtp.checks.drafting import POSITIONS
from pytest_mtp.checks.drafting_conditions import greedy, others
from pytest_mtp.checks.kinds import PROBES
from pytest_mtp.checks.probes.probe import Probe
from pytest_mtp.core.case import Case, Suite
from pytest_mtp.suites.shipped import GROUPS

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "suites").glob("*.mtp.yaml"), *(ROOT / "golden_answers").glob("*/*.yaml")])
SUITES = [path for path in FILES if path.parent.name == "suites"]
ASKING = ("smoke", "arithmetic", "facts", "code", "json", "tools", "prose")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_the_first_line_points_an_editor_to_the_schema(path: Path) -> None:
    first = path.read_text(encoding="utf-8").split("\n", 1)[0]
    schema = first.removeprefix("# yaml-language-server: $schema=")
    assert schema != first
    assert (path.parent / schema).resolve().is_file()


@pytest.mark.parametrize("path", SUITES, ids=name_of)
def test_the_head_counts_cases_and_requests_rightly(path: Path, suites: Mapping[str, Suite]) -> None:
    head = path.read_text(encoding="utf-8").split("\nschema_version", 1)[0]
    suite = suites[path.name.removesuffix(".mtp.yaml")]
    said = re.search(r"^# (\d+) cases?\b", head, re.MULTILINE)
    cost = re.search(r"^# Cost: (\d+) (?:streamed )?requests", head, re.MULTILINE)
    assert said, "the head says how many cases there are"
    assert cost, "the head says what they cost"
    assert int(said[1]) == len(suite.cases)
    assert int(cost[1]) == sum(map(requests_of, suite.cases))


def requests_of(case: Case) -> int:
    if case.check is None:
        return len(case.modes) * case.repeats
    if case.check in PROBES:
        probe: Probe = importlib.import_module(f"pytest_mtp.checks.probes.{case.check}").PROBE
        return probe.requests(case) * case.repeats
    if case.check == "identity":
        return 0
    if case.check == "drafting":
        baseline = greedy(8)
        conditions = others(baseline, temperature=0.8, long_text="long")
        return len(baseline.asks) + sum(len(each.asks) * (1 + POSITIONS * each.stepwise) for each in conditions)
    if case.check == "admission":
        requests = case.params.get("requests", REQUESTS)
        assert isinstance(requests, int)
        return requests
    prompts = case.params["prompts"]
    assert isinstance(prompts, dict)
    rounds, warmup = case.params.get("rounds", 1), case.params.get("warmup", 0)
    assert isinstance(rounds, int)
    assert isinstance(warmup, int)
    return sum(map(len, prompts.values())) * (rounds + warmup)


def test_there_are_more_than_a_hundred_and_ten_cases(suites: Mapping[str, Suite]) -> None:
    assert sum(len(suite.cases) for suite in suites.values()) > 110


def test_the_suites_that_were_promised_are_there(suites: Mapping[str, Suite]) -> None:
    assert set(suites) == {*ASKING, *GROUPS["probes"], "speculation", "throughput", "server", "soak"}


def test_a_suite_is_named_as_its_file(suites: Mapping[str, Suite]) -> None:
    assert {file: suite.name for file, suite in suites.items()} == {file: file for file in suites}


@pytest.mark.parametrize("name", ASKING)
def test_every_question_has_one_accepted_answer_for_every_model(name: str, suites: Mapping[str, Suite]) -> None:
    inline = {case.id: bool(case.expect) for case in suites[name].cases}
    golden = {case.id: set(case.goldens) for case in suites[name].cases}
    if name in ("smoke", "tools"):
        assert all(inline.values())
        assert not any(golden.values())
    else:
        assert not any(inline.values())
        assert all(models == {"any"} for models in golden.values())


@pytest.mark.parametrize("name", [name for name in ASKING if name not in ("smoke", "tools")])
def test_golden_answers_say_who_when_how_graded_and_why(name: str, suites: Mapping[str, Suite]) -> None:
    for case in suites[name].cases:
        origin = case.goldens["any"].provenance
        assert (origin.author, origin.grader_version) == ("pytest-mtp", 1), case.id
        assert origin.date, case.id
        assert origin.reason, case.id


ROOM = {"two-users-in-order": 256}  # a weak model calls until the budget ends, which would be half the time of the demo


@pytest.mark.parametrize("name", ASKING)
def test_questions_are_greedy_and_leave_room_for_reasoning(name: str, suites: Mapping[str, Suite]) -> None:
    for case in suites[name].cases:
        assert case.ask is not None
        assert case.ask.sampling.temperature == 0, case.id
        assert (case.ask.sampling.max_tokens or 0) >= ROOM.get(case.id, 1024), case.id


@pytest.mark.parametrize("name", ASKING)
def test_a_question_is_asked_once_in_a_suite(name: str, suites: Mapping[str, Suite]) -> None:
    asked = [repr((case.ask.messages, case.ask.tools, case.ask.tool_choice)) for case in suites[name].cases if case.ask]
    assert len(asked) == len(set(asked))


def test_every_case_carries_the_tag_of_its_suite(suites: Mapping[str, Suite]) -> None:
    for name, suite in suites.items():
        assert all(name in case.tags for case in suite.cases), name


def test_only_smoke_and_dispatch_are_critical(suites: Mapping[str, Suite]) -> None:
    critical = {name: sum(case.severity == "critical" for case in suite.cases) for name, suite in suites.items()}
    assert {name for name, count in critical.items() if count} == {"smoke", "tools"}
    assert critical["smoke"] == len(suites["smoke"].cases) >= 8
    assert 3 <= critical["tools"] < len(suites["tools"].cases)


def test_tool_cases_are_skipped_where_there_are_no_tools(suites: Mapping[str, Suite]) -> None:
    assert all(case.needs == ("tools",) for case in suites["tools"].cases)


@pytest.mark.parametrize(
    ("name", "strata", "with_"), [("speculation", 6, {"max_tokens": 48}), ("throughput", 2, {"rounds": 2, "warmup": 1})]
)
def test_measuring_suites_keep_code_and_prose_apart(name: str, strata: int, with_: dict[str, int], suites: Mapping[str, Suite]) -> None:
    (case,) = suites[name].cases
    prompts = case.params["prompts"]
    assert isinstance(prompts, dict)
    assert {stratum: len(set(group)) for stratum, group in prompts.items()} == {"code": strata, "prose": strata}
    assert with_.items() <= dict(case.params).items()


def test_the_answer_kinds_of_the_format_are_in_use(suites: Mapping[str, Suite]) -> None:
    used = set()
    for path in FILES:
        used |= keys_of(yaml.safe_load(path.read_text(encoding="utf-8")))
    kinds = {
        "number", "choice", "text", "contains", "not_contains", "regex", "list", "set", "date", "json", "json_schema", "code", "calls",
        "no_call", "any_call", "language", "length", "all_of", "any_of", "none_of", "ordered",
    }  # fmt: skip
    assert kinds <= used


def keys_of(value: object) -> set[str]:
    if isinstance(value, dict):
        return {str(key) for key in value} | {key for item in value.values() for key in keys_of(item)}
    if isinstance(value, list):
        return {key for item in value for key in keys_of(item)}
    return set()
