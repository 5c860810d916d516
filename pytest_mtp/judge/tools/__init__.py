"""Tool calls: the wire, the schema, the dispatch, the values, and markup that should have become a call."""

from pytest_mtp.judge.registry import register
from pytest_mtp.judge.tools.graders import grade_any_call, grade_calls, grade_no_call

register("calls", grade_calls)
register("no_call", grade_no_call)
register("any_call", grade_any_call)
