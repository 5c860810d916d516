"""Case items behave as pytest users expect of items."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_mtp.judge.registry import grader_for
from tests.plugin.conftest import GateRun

PLAIN = """\
schema_version: 1
suite: plain
cases:
  - id: first
    ask: "What is 1 + 2? End with 'Answer: N'."
    tags: [easy]
    expect: {number: 3}
  - id: second
    ask: "What is 2 + 2? End with 'Answer: N'."
    marks: [slow]
    expect: {number: 4}
"""


@pytest.fixture
def slow_mark(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nmarkers = slow: takes its time\n")


@pytest.mark.usefixtures("slow_mark")
@pytest.mark.parametrize(
    ("words", "passed"),
    [(["-k", "first"], 1), (["-k", "easy"], 1), (["-m", "slow"], 1), (["-m", "not slow"], 1), (["probe.mtp.yaml::second"], 1), ([], 2)],
    ids=["name", "tag", "mark", "not mark", "node id", "all"],
)
def test_selection(gate: GateRun, words: list[str], passed: int) -> None:
    outcome = gate("--mtp-launch", "fake", "--strict-markers", *words, suite=PLAIN)
    outcome.result.assert_outcomes(passed=passed, deselected=0 if not words or "::" in words[0] else 1)


@pytest.mark.usefixtures("slow_mark")
def test_collection_asks_no_server(pytester: pytest.Pytester) -> None:
    (pytester.path / "probe.mtp.yaml").write_text(PLAIN)
    result = pytester.runpytest_inprocess("--collect-only", "-q", "--mtp-server", "http://127.0.0.1:1")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["probe.mtp.yaml::first", "probe.mtp.yaml::second"])
    assert not (pytester.path / ".mtp").exists()


@pytest.mark.usefixtures("slow_mark")
def test_an_item_points_at_the_line_of_its_case(pytester: pytest.Pytester) -> None:
    (pytester.path / "probe.mtp.yaml").write_text(PLAIN)
    items, _ = pytester.inline_genitems()
    assert [item.reportinfo()[1] for item in items] == [3, 7]
    assert items[0].reportinfo()[2] == "plain: first"


def test_plain_yaml_is_left_alone(pytester: pytest.Pytester) -> None:
    (pytester.path / "data.yaml").write_text("a: 1\n")
    assert pytester.runpytest_inprocess().ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_the_other_spelling_of_the_suffix_is_not_passed_over(pytester: pytest.Pytester) -> None:
    (pytester.path / "suite.mtp.yml").write_text(PLAIN)
    result = pytester.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*suite.mtp.yml: suites end in .mtp.yaml: rename it*"])


@pytest.mark.usefixtures("slow_mark")
def test_first_failure_stops_the_run_and_little_is_asked(gate: GateRun) -> None:
    rows = "".join(
        f"  - {{id: w{i}, ask: \"What is {i} + 1? End with 'Answer: N'.\", severity: critical, expect: {{number: -1}}}}\n"
        for i in range(50)
    )
    outcome = gate("--mtp-launch", "fake", "-x", "--mtp-concurrency", "2", suite=f"schema_version: 1\nsuite: x\ncases:\n{rows}")
    outcome.result.assert_outcomes(failed=1)
    assert len(outcome.report.cases) == 1


def test_a_miss_of_a_model_case_is_neither_a_failure_nor_a_pass(gate: GateRun) -> None:
    suite = "schema_version: 1\nsuite: x\ncases:\n  - {id: a, ask: \"What is 1 + 1? End with 'Answer: N'.\", expect: {number: 3}}\n"
    outcome = gate("--mtp-launch", "fake", suite=suite)
    assert outcome.result.ret == pytest.ExitCode.OK
    outcome.result.stdout.fnmatch_lines(["*1 missed*"])
    assert "1 passed" not in outcome.result.stdout.str()
    assert outcome.report.gate.verdict == "pass"


def test_an_empty_folder_gets_the_standard_suite(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--mtp-launch", "fake", "-k", "not acceptance and not single-stream")
    assert result.ret == pytest.ExitCode.OK
    assert (pytester.path / ".mtp" / "summary.md").exists()
    result.stdout.fnmatch_lines(["builtin:smoke *", "builtin:arithmetic *", "*gate: open*"])


def test_a_case_of_a_built_in_suite_can_be_typed(pytester: pytest.Pytester) -> None:
    listed = pytester.runpytest_inprocess("--collect-only", "-q", "builtin:smoke").outlines
    node = next(line for line in listed if line.startswith("builtin:smoke::"))
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--mtp-launch", "fake", node)
    result.assert_outcomes(passed=1)


def test_suites_run_in_the_order_of_their_group_and_the_report_says_what_was_typed(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess(
        "-p", "no:cacheprovider", "--mtp-launch", "fake", "--mtp-suite", "builtin:demo", "-k", "smoke or tools"
    )
    result.stdout.fnmatch_lines(["*suite=builtin:demo (command line)*", "builtin:smoke *", "builtin:tools *"])


def test_reproduction_lines_name_the_node_and_hide_the_key(gate: GateRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "sk-very-secret")
    suite = "schema_version: 1\nsuite: x\ncases:\n  - {id: a, ask: hello, severity: critical, expect: {text: never}}\n"
    outcome = gate("--mtp-launch", "fake", "--mtp-api-key-env", "A_KEY", suite=suite)
    (case,) = outcome.report.cases
    curl, again = case.verdict.reproduce
    assert "$A_KEY" in curl
    assert again == "pytest --mtp-launch fake --mtp-api-key-env A_KEY probe.mtp.yaml::a"
    everything = outcome.result.stdout.str() + "".join(
        path.read_text() for path in Path(outcome.result.stdout.str() and ".mtp").rglob("*") if path.is_file()
    )
    assert "very-secret" not in everything
    assert case.verdict.evidence.startswith("evidence/")


def test_fixtures_for_python_tests(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        def test_check(mtp_check):
            assert mtp_check("What is 12 + 30? End with 'Answer: N'.", {"number": 42}, max_tokens=64).answer == "42"

        def test_wrong(mtp_check):
            mtp_check("What is 12 + 30? End with 'Answer: N'.", {"number": 43})

        @pytest.mark.mtp(alone=True)
        def test_client(mtp_client, mtp_grade, mtp_server, mtp_control):
            exchange = mtp_client.ask("What is the capital of France?", max_tokens=16)
            assert mtp_grade(exchange, {"contains": "Paris"}).outcome == "PASS"
            assert mtp_server.engine == "fake"
            assert mtp_control.usable
            assert len(mtp_client.exchanges) == 1
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--mtp-launch", "fake", "test_fixtures_for_python_tests.py")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*ANS.wrong: expected 43, got 42*", "*gate: CLOSED*"])


RESTARTS = """
    import pytest

    @pytest.mark.mtp(alone=True)
    def test_restart(mtp_server, mtp_client):
        before = mtp_server.facts
        after = mtp_server.restart(depth=1)
        assert (before.speculation.depth, after.speculation.depth, mtp_server.speculation.depth) == (3, 1, 1)
        assert after.pid != before.pid
        assert any("depth 3 -> 1" in line for line in after.evidence)
        assert mtp_client.ask("What is 2+2?", max_tokens=8).reply
        assert mtp_server.restart(speculation=False).speculation.state == "inactive"

    @pytest.mark.mtp(alone=True)
    def test_the_server_is_as_it_was(mtp_server):
        assert mtp_server.facts.speculation.depth == 3

    def test_not_marked(mtp_server):
        mtp_server.restart(depth=2)

    @pytest.mark.mtp(alone=True)
    def test_wrong_parameter(mtp_server, mtp_client):
        try:
            mtp_server.restart(dept=2)
        finally:
            assert mtp_client.ask("What is 2+2?", max_tokens=8).reply
"""


def test_a_restart_lasts_as_long_as_its_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(RESTARTS)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--mtp-launch", "fake", "test_a_restart_lasts_as_long_as_its_test.py")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["*mark the test with @pytest.mark.mtp(alone=True)*", "*no parameter 'dept' (did you mean 'depth'?)*"])


def test_workers_and_attached_servers_are_not_restarted(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import pytest\n@pytest.mark.mtp(alone=True)\ndef test_it(mtp_server):\n    mtp_server.restart(depth=1)\n")
    result = pytester.runpytest_inprocess(
        "-p", "no:cacheprovider", "-n", "1", "--mtp-launch", "fake", "test_workers_and_attached_servers_are_not_restarted.py"
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*xdist workers do not own it: run without -n*"])


def test_python_tests_skip_without_a_server(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(mtp_check):\n    mtp_check('x', {'number': 1})\n")
    pytester.runpytest_inprocess().assert_outcomes(skipped=1)


def test_hooks_add_graders_and_checks_and_see_verdicts(gate: GateRun, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        seen = []

        def pytest_mtp_graders():
            def shouts(view, expect, context):
                from pytest_mtp.judge.judgement import conclude
                return conclude([] if view.text.isupper() else [context.finding("ANS.wrong", "it does not shout")])
            return {"regex": shouts}

        def pytest_mtp_verdict(result, item):
            print("SEEN", result.verdict.outcome, item.name)

        def pytest_mtp_redact(record):
            record["ask"]["messages"] = []
        """
    )
    suite = "schema_version: 1\nsuite: x\ncases:\n  - {id: a, ask: hello, severity: critical, expect: {regex: x}}\n"
    outcome = gate("--mtp-launch", "fake", "-s", suite=suite)
    outcome.result.stdout.fnmatch_lines(["*SEEN FAIL a*", "*it does not shout*"])
    assert grader_for("regex").__module__.startswith("pytest_mtp."), "an extension ends with its session"
    (file,) = (pytester.path / ".mtp" / "evidence").glob("probe*")
    assert "hello" not in file.read_text()


def test_a_conversation_with_a_simulator_is_compared_by_its_state(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        class Diary:
            def __init__(self):
                self.days = []

            def call(self, name, arguments):
                self.days.append(arguments["day"])
                return {"booked": arguments["day"]}

            def state(self):
                return {"days": self.days}

        PARAMETERS = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
        TOOL = {"type": "function", "function": {"name": "book", "description": "Book a day", "parameters": PARAMETERS}}

        def test_right(mtp_converse):
            exchanges = mtp_converse("Call book for Friday", tools=[TOOL], simulator=Diary, state={"days": ["Friday"]})
            assert len(exchanges) == 2
            assert exchanges[1].ask.messages[-1]["content"] == '{"booked": "Friday"}'

        def test_wrong(mtp_converse):
            mtp_converse("Call book for Friday", tools=[TOOL], simulator=Diary, state={"days": ["Monday"]})
        """
    )
    name = "test_a_conversation_with_a_simulator_is_compared_by_its_state.py"
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--mtp-launch", "fake", name)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*TOOL.value: after turn 0: state /days/0: expected*Monday*got*Friday*"])
