"""`response_format` is a promise of the server: a reply that breaks it is a fault of serving, whatever the case expects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.verdict import Finding
from pytest_mtp.judge.judgement import GradeContext, View
from pytest_mtp.judge.structured.reading import parse
from pytest_mtp.judge.structured.schema import violations
from pytest_mtp.judge.words.normal import excerpt


def forced_type(ask: Ask) -> str | None:
    """`json_object` or `json_schema` when the request forces JSON, else None."""
    asked = ask.extra_body.get("response_format", ask.response_format)
    kind = asked.get("type") if isinstance(asked, Mapping) else None
    return kind if kind in {"json_object", "json_schema"} else None


def forced_findings(view: View, context: GradeContext) -> list[Finding]:
    """ANS.json_forced. A cut, filtered, refused or calling reply is judged elsewhere: nothing was promised for it."""
    kind = forced_type(view.ask)
    reply = view.reply
    if kind is None or reply.tool_calls or reply.refusal or reply.finish_reason not in {"stop", None} or not view.text.strip():
        return []
    parsed = parse(view.text)
    if parsed.error:
        title = f"response_format {kind} was asked for; {parsed.error} at character {parsed.at}: {excerpt(view.text[parsed.at :], 30)!r}"
        return [context.finding("ANS.json_forced", title, evidence={"text": excerpt(view.text, 200)})]
    schema, strict = _declared(view.ask)
    if kind != "json_schema" or schema is None:
        return []
    try:
        broken = violations(parsed.value, schema, "response_format")
    except UsageError:  # whether a schema can be served is the server's to say; the request was accepted
        return []
    if not broken:
        return []
    title = f"response_format json_schema was asked for; at {broken[0].pointer or '/'}: {broken[0].message}"
    code = "ANS.json_forced" if strict else "ANS.schema"
    return [context.finding(code, title, where=broken[0].pointer, evidence={"text": excerpt(view.text, 200)})]


def _declared(ask: Ask) -> tuple[Any, bool]:
    """The schema, and whether it was promised: only `strict: false` takes the promise back."""
    asked: Any = ask.extra_body.get("response_format", ask.response_format)
    inner = asked.get("json_schema")
    if isinstance(inner, Mapping) and "schema" in inner:
        return inner["schema"], inner.get("strict") is not False
    return asked.get("schema"), True  # llama.cpp's own form
