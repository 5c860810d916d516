"""docs/doctor.md shows the screen as it is."""

from __future__ import annotations

import re

from docs import build

PAGE = build.DOCTOR.read_text()


def test_the_screen_is_a_real_one_and_its_labels_are_explained() -> None:
    screen = build.doctor_screen()
    assert f"```\n{screen}\n```" in PAGE, "run: python docs/build.py"
    labels = {line[:13].strip() for line in screen.split("\n\n", 1)[1].splitlines()} - {""}
    explained = {word for row in re.findall(r"(?m)^\| (`.*?) \|", PAGE) for word in re.findall(r"`(.*?)`", row)}
    assert labels - explained <= {"acceptance", "identity", "drafting", "admission"}, "a check's name"
