"""docs/doctor.md shows the screen as it is."""

from __future__ import annotations

import re

from docs import build
from pytest_mtp.checks.files import NODE
from pytest_mtp.cli.diagnose import PROBES

PAGE = build.DOCTOR.read_text()


def test_the_screen_is_a_real_one_and_its_labels_are_explained() -> None:
    screen = build.doctor_screen()
    shown = PAGE.split("<!-- screen: start -->")[1].split("<!-- screen: end -->")[0]
    assert steady(f"\n```\n{screen}\n```\n") == steady(shown), "run: python docs/build.py"
    labels = {line[:13].strip() for line in screen.split("\n\n", 1)[1].splitlines()} - {""}
    explained = {word for row in re.findall(r"(?m)^\| (`.*?) \|", PAGE) for word in re.findall(r"`(.*?)`", row)}
    assert labels <= explained
    assert {*PROBES, NODE} <= explained


def steady(screen: str) -> str:
    """Without the figures of the door, which a machine that does other things too may change."""
    return re.sub(r"(?m)^(admission  .*\n)( .*\n)+", r"\1", screen)
