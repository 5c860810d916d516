"""The JSON report and its published schema."""

from __future__ import annotations

import json
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_mtp.core.record import Json, Record
from pytest_mtp.core.run import REPORT_SCHEMA_VERSION, RunReport
from pytest_mtp.reports import schema
from pytest_mtp.reports.json_report import report_schema, write_json
from tests.reports.full_report import ATTACKS, EMPTY, REPORT, with_words

VALIDATOR = jsonschema.Draft7Validator(report_schema())


def objects(plain: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of the records in the report: every object but the free-form ones."""
    free = {"options", "comparison", "instrument", "details", "evidence", "answers", "real_paths"}
    if isinstance(plain, dict):
        yield path
        for name, value in plain.items():
            if name not in free:
                yield from objects(value, (*path, name))
    elif isinstance(plain, list):
        for at, value in enumerate(plain):
            yield from objects(value, (*path, at))


def node(plain: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        plain = plain[step]
    return plain


def test_the_schema_is_a_valid_draft_07() -> None:
    jsonschema.Draft7Validator.check_schema(report_schema())


def test_the_published_file_is_what_the_records_say() -> None:
    assert report_schema() == schema.build(), "run: python -m pytest_mtp.reports.schema > pytest_mtp/reports/report.schema.json"


def test_every_property_is_described_and_every_record_closed() -> None:
    def check(node: Any) -> None:
        if isinstance(node, dict):
            if "properties" in node:
                assert node["additionalProperties"] is False
                assert all(prop["description"] for prop in node["properties"].values())
            for value in node.values():
                check(value)

    check(report_schema())


@pytest.mark.parametrize("report", [REPORT, EMPTY], ids=["full", "empty"])
def test_reports_validate(report: RunReport) -> None:
    VALIDATOR.validate(report.to_dict())


SHORT = {name: attack for name, attack in ATTACKS.items() if len(attack) < 10_000}


@pytest.mark.parametrize("attack", SHORT.values(), ids=SHORT)
def test_reports_full_of_a_strangers_words_are_written_and_read_back(attack: str, tmp_path: Path) -> None:
    report = with_words(attack)
    write_json(report, tmp_path / "r.json")
    assert (tmp_path / "r.json").read_bytes().isascii()
    plain = json.loads((tmp_path / "r.json").read_text())
    VALIDATOR.validate(plain)
    assert RunReport.from_dict(plain) == report


def test_a_missing_or_an_unknown_field_does_not_validate() -> None:
    for path in objects(REPORT.to_dict()):
        for name in list(node(REPORT.to_dict(), path)):
            plain: Any = json.loads(json.dumps(REPORT.to_dict()))
            del node(plain, path)[name]
            assert not VALIDATOR.is_valid(plain), (path, name)
        plain = json.loads(json.dumps(REPORT.to_dict()))
        node(plain, path)["novel"] = 1
        assert not VALIDATOR.is_valid(plain), path


WORDS = st.text(max_size=4)
FREE = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=3,
)


def of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a field type of the records."""
    origin, args = get_origin(hint), get_args(hint)
    if hint is Json:
        return FREE
    if origin is Literal:
        return st.sampled_from(args)
    if origin in (Union, types.UnionType):
        return st.one_of(*map(of, args))
    if origin is tuple:
        return st.lists(of(args[0]), max_size=1).map(tuple) if args[-1] is Ellipsis else st.tuples(*map(of, args))
    if origin is not None:
        return st.dictionaries(WORDS, of(args[1]), max_size=1)
    if issubclass(hint, Record):
        return st.deferred(lambda: st.builds(hint, **{name: of(inner) for name, inner in get_type_hints(hint).items()}))
    plain: dict[Any, st.SearchStrategy[Any]] = {
        str: WORDS,
        int: st.integers(),
        bool: st.booleans(),
        float: st.floats(allow_nan=False, allow_infinity=False),
        type(None): st.none(),
    }
    return plain[hint]


@given(report=of(RunReport))
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_report_validates(report: RunReport) -> None:
    plain = {**json.loads(json.dumps(report.to_dict())), "schema_version": REPORT_SCHEMA_VERSION}
    VALIDATOR.validate(plain)


def test_an_old_report_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "mtp-report.json"
    path.write_text("old")
    write_json(REPORT, path)
    assert RunReport.from_dict(json.loads(path.read_text())) == REPORT
    assert [file.name for file in tmp_path.iterdir()] == ["mtp-report.json"]


def test_a_failed_write_leaves_the_old_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mtp-report.json"
    path.write_text("old")

    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pytest_mtp.reports.json_report.os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_json(REPORT, path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["mtp-report.json"]
