"""Built-in suites by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_mtp.core.errors import UsageError
from pytest_mtp.suites import shipped as module
from pytest_mtp.suites.shipped import GROUPS, shipped, shipped_names

ROOT = Path(__file__).parents[2]


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package as it is installed, with suites of its own."""
    folder = tmp_path / "pytest_mtp" / "_shipped" / "suites"
    folder.mkdir(parents=True)
    for name in ("smoke", "tools", "speculation", "throughput", "zoo"):
        (folder / f"{name}.mtp.yaml").write_text("")
    (folder / "notes.txt").write_text("")
    monkeypatch.setattr(module, "__file__", str(tmp_path / "pytest_mtp" / "suites" / "shipped.py"))
    return folder


def test_an_installed_package_finds_its_own_suites(wheel: Path) -> None:
    assert shipped("zoo") == (wheel / "zoo.mtp.yaml",)
    assert shipped_names() == ("demo", "probes", "standard", "smoke", "speculation", "throughput", "tools", "zoo")


def test_a_group_is_its_suites_in_its_order(wheel: Path) -> None:
    assert shipped("demo") == tuple(wheel / f"{name}.mtp.yaml" for name in ("smoke", "tools", "speculation", "throughput"))


def test_a_group_with_a_missing_suite_says_which(wheel: Path) -> None:
    with pytest.raises(
        UsageError, match="the built-in suites arithmetic, facts, code, json, prose, server of the group 'standard' are missing"
    ):
        shipped("standard")


def test_an_unknown_name_gets_the_nearest_one(wheel: Path) -> None:
    with pytest.raises(UsageError, match=r"^no built-in suite 'smok' \(did you mean 'smoke'\?\); there are: demo, probes, standard, smoke"):
        shipped("smok")


@pytest.mark.parametrize("name", ["", "..", "../smoke", "smoke.mtp.yaml", "/etc/passwd"])
def test_a_path_is_no_name(name: str, wheel: Path) -> None:
    with pytest.raises(UsageError, match="no built-in suite"):
        shipped(name)


def test_a_checkout_finds_the_suites_at_its_top() -> None:
    assert set(shipped_names()) == {*GROUPS, *(path.name.removesuffix(".mtp.yaml") for path in (ROOT / "suites").glob("*.mtp.yaml"))}
