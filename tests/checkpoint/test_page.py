"""docs/checkpoints.md says what the code says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_mtp.checkpoint.advice import ENGINES
from pytest_mtp.checkpoint.families import TABLE
from pytest_mtp.checkpoint.joins import BY_NAME
from pytest_mtp.checkpoint.model import DEPTH_KEYS
from pytest_mtp.checkpoint.safetensors_header import MAX_HEADER
from pytest_mtp.checkpoint.shards import MAX_HEADERS
from pytest_mtp.checkpoint.table import engines_table, families_table, page
from pytest_mtp.checkpoint.tensor import MAX_TENSORS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "checkpoints.md").read_text()


def test_the_tables_are_generated_from_the_code() -> None:
    assert page(PAGE) == PAGE, "run: python -m pytest_mtp.checkpoint.table"
    assert families_table().count("\n") == len(TABLE) + 1
    assert engines_table().count("\n") == len(ENGINES) + 1


def test_the_page_names_every_kind_of_contradiction() -> None:
    source = "".join(path.read_text() for path in (ROOT / "pytest_mtp" / "checkpoint").glob("*.py"))
    kinds = set(re.findall(r'contradiction\(\s*"(\w+)"', source)) - {"pairing"}
    table = PAGE.split("| word | what was found |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE)) == kinds


def test_the_page_names_the_bounds() -> None:
    assert f"headers of {MAX_HEADER // 10**6} MB a file and {MAX_HEADERS // 10**6} MB together, {MAX_TENSORS:,} tensors" in PAGE


@pytest.mark.parametrize("family", TABLE, ids=lambda family: family.name)
def test_a_row_of_the_table_refers_to_what_exists(family) -> None:
    assert set(family.joins) <= set(BY_NAME)
    assert set(family.keys) <= {*DEPTH_KEYS, "dspark_block_size"}
    assert set(family.llamacpp) <= set(family.gguf)
    assert family.matches


def test_no_name_belongs_to_two_families() -> None:
    owners: dict[str, set[str]] = {}
    for family in TABLE:
        for name in (*family.matches, *family.gguf):
            owners.setdefault(name, set()).add(family.name)
    assert {name: families for name, families in owners.items() if len(families) > 1} == {}
