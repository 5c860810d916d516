"""The table in ARCHITECTURE.md is the law: each import of the package is held against it."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "pytest_mtp"
FILES = sorted(PACKAGE.rglob("*.py"))
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


def allowed_arrows() -> dict[str, set[str]]:
    rows = re.findall(r"^\| `(\w+)/` \|[^|]*\| ([^|]+) \|$", (ROOT / "ARCHITECTURE.md").read_text(), flags=re.MULTILINE)
    arrows: dict[str, set[str]] = {}
    for room, words in rows:
        if words.startswith("standard"):
            arrows[room] = set()
        elif words.startswith("all but "):
            arrows[room] = set(ROOMS) - {words.removeprefix("all but ")}
        else:
            arrows[room] = {word.strip() for word in words.split(",")}
    return arrows


def imports_of(path: Path) -> list[tuple[int, str]]:
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            module = node.module or ""
            found += [(node.lineno, module)] + [(node.lineno, f"{module}.{alias.name}") for alias in node.names]
    return found


def test_the_table_names_every_room() -> None:
    assert sorted(allowed_arrows()) == ROOMS


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_follow_the_arrows(path: Path) -> None:
    parts = path.relative_to(PACKAGE).parts
    room = parts[0] if len(parts) > 1 else ""
    arrows = allowed_arrows()
    for line, module in imports_of(path):
        top = module.split(".")[0]
        if top == "pytest_mtp":
            target = module.split(".")[1] if "." in module else ""
            if target in ROOMS and target != room:
                assert target in arrows.get(room, set()), f"{path.name}:{line}: {room or 'the package'} may not import {target}"
        elif top in ("pytest", "_pytest", "xdist"):
            assert room == "plugin", f"{path.name}:{line}: only plugin/ imports {top}"
        elif room == "core":
            assert top in sys.stdlib_module_names, f"{path.name}:{line}: core/ imports the standard library alone, not {top}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_hold_one_idea(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 300
