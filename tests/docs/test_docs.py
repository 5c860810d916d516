"""What the docs show is what the software does: examples are run, generated parts are held against the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs import build
from pytest_mtp.suites.load import load_suite
from tests.plugin.conftest import GateRun, gate

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

__all__ = ["gate"]  # the fixture


def blocks(language: str) -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for index, code in enumerate(re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), flags=re.DOTALL | re.MULTILINE)):
            found.append((f"{page.name}-{index}", code))
    return found


SUITES = [(name, code) for name, code in blocks("yaml") if "\ncases:" in code]
GOLDENS = [(name, code) for name, code in blocks("yaml") if "\nanswers:" in code]
TESTS = [(name, code) for name, code in blocks("python") if "def test_" in code]
HOOKS = [(name, code) for name, code in blocks("python") if "def pytest_mtp_" in code]


@pytest.mark.parametrize("code", [code for _, code in SUITES], ids=[name for name, _ in SUITES])
def test_each_suite_in_the_docs_loads(code: str, tmp_path: Path) -> None:
    path = tmp_path / "example.mtp.yaml"
    path.write_text(code)
    assert load_suite(path).cases


@pytest.mark.parametrize("code", [code for _, code in GOLDENS], ids=[name for name, _ in GOLDENS])
def test_each_golden_file_in_the_docs_answers_a_case(code: str, tmp_path: Path) -> None:
    name, case = re.findall(r"^suite: (\w+)$.*?^  ([\w-]+):", code, flags=re.DOTALL | re.MULTILINE)[0]
    folder = tmp_path / "golden_answers" / name
    folder.mkdir(parents=True)
    (folder / "any.yaml").write_text(code)
    path = tmp_path / f"{name}.mtp.yaml"
    path.write_text(f"schema_version: 1\nsuite: {name}\ncases:\n  - {{id: {case}, ask: hello}}\n")
    assert load_suite(path).cases[0].goldens["any"].expect


@pytest.mark.parametrize("code", [code for _, code in TESTS], ids=[name for name, _ in TESTS])
def test_each_python_test_in_the_docs_passes(code: str, gate: GateRun, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_example=code)
    gate("--mtp-launch", "fake", "test_example.py").result.assert_outcomes(passed=code.count("def test_"))


@pytest.mark.parametrize("code", [code for _, code in HOOKS], ids=[name for name, _ in HOOKS])
def test_each_hook_in_the_docs_is_called(code: str, gate: GateRun, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(code)
    suite = "schema_version: 1\nsuite: x\ncases:\n  - {id: a, ask: hello, severity: critical, expect: {x_polite: true}}\n"
    gate("--mtp-launch", "fake", suite=suite).result.stdout.fnmatch_lines(["*no please in the answer*"])


def test_the_page_of_finding_codes_is_generated_from_the_table() -> None:
    assert build.FINDINGS.read_text() == build.findings_page(), "run: python docs/build.py"


def test_the_table_of_probes_is_that_of_the_suites() -> None:
    assert build.probes_table() in build.PROBES.read_text(), "run: python docs/build.py"


def test_the_option_table_is_generated_from_the_options() -> None:
    assert build.options_table() in build.README.read_text(), "run: python docs/build.py"


def test_the_failing_run_is_a_real_one() -> None:
    assert build.failing_run() in build.README.read_text(), "run: python docs/build.py"


def test_links_between_pages_exist() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
