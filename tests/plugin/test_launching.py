"""`--mtp-launch` with profiles: by name, by file, with parameters; header, report, log; each mistake is one message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

PROFILE = """\
schema_version: 1
profile: own
engine: fake
parameters:
  depth: {kind: whole, default: 1, lowest: 1, highest: 8, help: draft tokens a step}
  note: {kind: text, help: any words}
  hf_token: {kind: text, help: a secret}
  weights: {kind: path, help: a file}
command:
  - "{python}"
  - [-m, pytest_mtp.selftest.fake, --port, "{port}", --alias, "{alias}", --depth, "{depth}"]
environment: {OWN_NOTE: "{note}", HF_TOKEN: "{hf_token}", OWN_WEIGHTS: "{weights}"}
speculation: {method: mtp, depth: "{depth}"}
limits: {start_timeout_s: 60}
"""
BROKEN = """\
schema_version: 1
profile: broken
command:
  - ["{python}", -c, "try:\\n  open('weights.bin')\\nexcept OSError as e:\\n  raise RuntimeError('init failed') from e", "{port}"]
"""


@pytest.fixture
def own(pytester: pytest.Pytester) -> Path:
    path = pytester.path / "own.profile.yaml"
    path.write_text(PROFILE)
    return path


def report_of(pytester: pytest.Pytester) -> dict:
    return json.loads((pytester.path / ".mtp" / "mtp-report.json").read_text())


def run(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", "--color=no", *words)


def test_a_profile_of_a_file_is_launched_with_its_parameters(pytester: pytest.Pytester, own: Path) -> None:
    launch = "own.profile.yaml?depth=3&note=007&hf_token=hf_very_secret&alias=mine"
    result = run(pytester, "--mtp-launch", launch, "builtin:smoke")
    assert result.ret == pytest.ExitCode.OK, result.stdout.str()
    result.stdout.fnmatch_lines(
        ["mtp: fake*, model mine, *", "mtp: launch=own.profile.yaml?depth=3&note=007&hf_token=[*][*][*]&alias=mine (command line)"]
    )  # fmt: skip
    (facts,) = report_of(pytester)["servers"]
    assert (facts["launched"], facts["engine"], facts["model"], facts["speculation"]["depth"]) == (True, "fake", "mine", 3)
    assert facts["details"]["launch"] == "own"
    assert facts["details"]["params"] == {"depth": 3, "note": "007", "hf_token": "***", "alias": "mine"}
    log = Path(facts["details"]["log"])
    assert log.parent == pytester.path / ".mtp"
    assert log.exists()
    everything = result.stdout.str() + "".join(path.read_text() for path in (pytester.path / ".mtp").rglob("*") if path.is_file())
    assert "very_secret" not in everything


def test_workers_meet_the_server_of_a_profile(pytester: pytest.Pytester, own: Path) -> None:
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--mtp-launch", "own.profile.yaml", "-n", "2", "builtin:smoke")
    assert result.ret == pytest.ExitCode.OK, result.stdout.str()


def test_an_ini_file_names_profiles_and_paths_from_its_own_folder(pytester: pytest.Pytester, own: Path) -> None:
    pytester.makeini("[pytest]\nmtp_launch = own.profile.yaml?weights=w.bin\nmtp_report = out\n")
    (pytester.path / "w.bin").touch()
    below = pytester.mkdir("below")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(below)
        result = run(pytester, "builtin:smoke")
    assert result.ret == pytest.ExitCode.OK, result.stdout.str() + result.stderr.str()


def test_the_environment_names_one_too(pytester: pytest.Pytester, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_MTP_LAUNCH", "./own.profile.yaml?depth=2")
    result = run(pytester, "builtin:smoke")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["mtp: launch=./own.profile.yaml?depth=2 (environment)"])


@pytest.mark.parametrize(
    ("launch", "says"),
    [
        (
            "vlm",
            "*--mtp-launch: there is no server 'vlm' (did you mean 'vllm'?); there are demo, fake, *vllm, and files named *",
        ),
        ("own.profile.yaml?dept=2", "*the own server has no parameter 'dept' (did you mean 'depth'?); it has depth, note, *"),
        ("own.profile.yaml?depth=two", "*parameter 'depth' of the own server: expected a whole number from 1 to 8, got 'two'"),
        ("own.profile.yaml?depth=9", "*parameter 'depth' of the own server: expected a whole number from 1 to 8, got 9"),
        ("own.profile.yaml?weights=gone", "*parameter 'weights' of the own server: there is no file or folder *gone"),
        ("own.profile.yaml?depth", "*--mtp-launch: a parameter is written name=value, got 'depth'"),
        ("own.profile.yaml?depth=1&depth=2", "*--mtp-launch: the parameter 'depth' is given twice"),
        ("gone.profile.yaml", "*--mtp-launch: gone.profile.yaml:1: the file cannot be read: No such file or directory"),
        ("bad.profile.yaml", "*--mtp-launch: bad.profile.yaml:2: unknown key 'profil' (did you mean 'profile'?) (at profil)"),
        ("llamacpp?model=gone.gguf", "*parameter 'model' of the llamacpp server: there is no file or folder *gone.gguf"),
        ("llamacpp", "*the llamacpp server needs the parameter 'model': *"),
    ],
    ids=["name", "parameter", "kind", "bounds", "path", "no-value", "twice", "no-file", "bad-file", "built-in-path", "required"],
)
def test_each_mistake_is_one_message_before_anything_starts(pytester: pytest.Pytester, own: Path, launch: str, says: str) -> None:
    (pytester.path / "bad.profile.yaml").write_text("schema_version: 1\nprofil: x\ncommand: [a]\n")
    result = run(pytester, "--mtp-launch", launch, "builtin:smoke")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([says])
    assert "Traceback" not in result.stderr.str()
    assert not list(pytester.path.glob(".mtp/*.log"))


def test_a_failed_start_shows_the_cause_and_keeps_the_log(pytester: pytest.Pytester) -> None:
    (pytester.path / "broken.profile.yaml").write_text(BROKEN)
    result = run(pytester, "--mtp-launch", "broken.profile.yaml", "builtin:smoke")
    assert result.ret == 69
    result.stdout.fnmatch_lines(["*INFRA.start: the broken server ended with exit code 1 *its log says: FileNotFoundError: *weights.bin*"])
    (log,) = (pytester.path / ".mtp").glob("broken-*.log")
    assert "RuntimeError: init failed" in log.read_text()
    assert report_of(pytester)["gate"]["verdict"] == "blocked"


def test_logs_of_earlier_runs_do_not_pile_up(pytester: pytest.Pytester, own: Path) -> None:
    folder = pytester.mkdir(".mtp")
    for number in range(30):
        (folder / f"own-{number:08x}-1.log").touch()
    (folder / "other.log").touch()
    run(pytester, "--mtp-launch", "own.profile.yaml", "builtin:smoke")
    assert len(list(folder.glob("own-*.log"))) == 20
    assert (folder / "other.log").exists()
