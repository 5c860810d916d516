"""SQL of a model against accepted rows."""

from __future__ import annotations

import pytest

from pytest_mtp.judge.program import Program
from pytest_mtp.judge.sandbox.sql import run_sql

SETUP = """
CREATE TABLE city (name TEXT, country TEXT, people REAL);
INSERT INTO city VALUES ('Paris', 'FR', 2.1), ('Lyon', 'FR', 0.5), ('Rome', 'IT', 2.8), ('Bern', 'CH', NULL);
"""
ROWS = (("FR", 2), ("IT", 1), ("CH", 1))


def run(source: str, **more: object) -> tuple[str, str]:
    fields = {"rows": ROWS, **more}
    result = run_sql(Program(language="sql", source=source, setup=SETUP, wall_s=20.0, **fields))
    return result.outcome, result.message


COUNT = "SELECT country, count(*) FROM city GROUP BY country"


@pytest.mark.parametrize(
    "source",
    [
        COUNT,
        COUNT + ";",
        COUNT + " ORDER BY 1 DESC; -- done",
        f"WITH c AS ({COUNT}) SELECT * FROM c",
        f"CREATE VIEW v AS {COUNT}; SELECT * FROM v;",
    ],
    ids=["plain", "semicolon", "another-order", "cte", "view"],
)
def test_the_same_rows_in_any_order_pass(source: str) -> None:
    assert run(source) == ("passed", "")


@pytest.mark.parametrize(
    ("source", "outcome", "words"),
    [
        ("SELECT country, 1 FROM city GROUP BY country", "wrong", "rows in any order: expected ('FR', 2), got ('FR', 1)"),
        ("SELECT country FROM city", "wrong", "expected 3 rows, got 4; the first is ('FR')"),
        ("SELECT country FROM city GROUP BY country", "wrong", "expected 2 columns, got 1"),
        ("SELECT country, FROM city", "syntax", "syntax error"),
        ("SELECT land FROM city", "exception", "no such column"),
        ("DELETE FROM city", "exception", "no statement gives rows"),
        ("", "exception", "no statement gives rows"),
        ("ATTACH 'stolen.db' AS x; SELECT 1", "exception", "not authorized"),
        ("PRAGMA writable_schema = 1; SELECT 1", "exception", "not authorized"),
        ("SELECT load_extension('x')", "exception", "not authorized"),
        ("VACUUM INTO 'stolen.db'; SELECT 1", "exception", ""),
        ("SELECT zeroblob(999999999)", "exception", "too big"),
        ("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT x FROM c", "limit", "more than 10,000 rows"),
        ("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c", "timeout", "steps"),
    ],
    ids=[
        "value", "rows", "columns", "syntax", "column-name", "no-rows", "empty", "attach", "pragma", "extension", "vacuum", "blob",
        "endless-rows", "endless-steps",
    ],
)  # fmt: skip
def test_other_queries_fail_in_their_class(source: str, outcome: str, words: str) -> None:
    got, message = run(source)
    assert got == outcome
    assert words in message


def test_a_pragma_that_reads_is_allowed() -> None:
    assert run("PRAGMA table_info(city)")[0] == "wrong"


@pytest.mark.parametrize(
    ("query", "outcome"),
    [("SELECT name FROM city ORDER BY name", "wrong"), ("SELECT name FROM (SELECT * FROM city ORDER BY name)", "passed")],
    ids=["outermost", "inner"],
)
def test_order_counts_where_the_query_of_the_case_orders(query: str, outcome: str) -> None:
    assert run("SELECT name FROM city ORDER BY name DESC", rows=None, query=query)[0] == outcome


def test_order_counts_where_the_case_says_so() -> None:
    assert run(COUNT + " ORDER BY 1", ordered=True)[0] == "wrong"


@pytest.mark.parametrize(
    ("source", "accepted"),
    [
        ("SELECT 2", ((2.0,),)),
        ("SELECT 0.1 + 0.2", ((0.3,),)),
        ("SELECT NULL", ((None,),)),
        ("SELECT 1 = 1", ((True,),)),
        ("SELECT 'é'", (("é",),)),
    ],
    ids=["int-float", "rounding", "null", "boolean", "text"],
)
def test_values_are_compared_by_value(source: str, accepted: tuple[tuple[object, ...], ...]) -> None:
    assert run(source, rows=accepted)[0] == "passed"


@pytest.mark.parametrize(
    ("source", "accepted"),
    [("SELECT '2'", ((2,),)), ("SELECT NULL", ((0,),)), ("SELECT 123456", ((123457,),))],
    ids=["text", "null", "close"],
)
def test_values_of_another_kind_are_wrong(source: str, accepted: tuple[tuple[object, ...], ...]) -> None:
    assert run(source, rows=accepted)[0] == "wrong"


def test_a_case_whose_own_setup_fails_is_not_held_against_the_model() -> None:
    result = run_sql(Program(language="sql", source="SELECT 1", setup="CREATE TABLE (", rows=((1,),)))
    assert result.outcome == "unavailable"
