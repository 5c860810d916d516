"""The request of a case."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.record import Json
from pytest_mtp.suites.document import Document
from pytest_mtp.suites.meta import check_schema
from pytest_mtp.suites.settings import Setting
from pytest_mtp.suites.tools import Tool, chosen, offered_tools

_INTEGERS = ("top_k", "seed", "max_tokens", "n")


def ask_of(document: Document, settings: Mapping[str, Setting], declared: Mapping[str, Tool]) -> Ask:
    """Raise SuiteError for what the schema could not see: unknown tools, two system messages, a broken schema."""
    tools: tuple[Tool, ...] = ()
    if "tools" in settings:
        tools = offered_tools(document, settings["tools"].value, declared, settings["tools"].place)
    choice = settings.get("tool_choice")
    if choice is not None and choice.default and not tools:
        choice = None
    form = settings.get("response_format")
    if form is not None:
        _check_format(document, form)
    return Ask(
        messages=tuple(_messages(document, settings)),
        tools=tools,
        tool_choice=chosen(document, choice.value, tools, choice.place) if choice else None,
        response_format=form.value if form else None,
        sampling=sampling_of(settings["sampling"].value) if "sampling" in settings else Sampling(),
        stream="stream" in settings and settings["stream"].value is True,
        extra_body=settings["extra_body"].value if "extra_body" in settings else {},
    )


def sampling_of(written: Mapping[str, Any]) -> Sampling:
    """YAML's 3.0 is an integer where one is asked for; null means: not sent."""
    fields: dict[str, Any] = {name: int(value) if name in _INTEGERS and value is not None else value for name, value in written.items()}
    stop = fields.pop("stop", None) or ()
    bias = fields.pop("logit_bias", None) or {}
    return Sampling(**fields, stop=(stop,) if isinstance(stop, str) else tuple(stop), logit_bias=bias)


def _messages(document: Document, settings: Mapping[str, Setting]) -> list[Mapping[str, Json]]:
    if "ask" in settings:
        messages: list[Mapping[str, Json]] = [{"role": "user", "content": settings["ask"].value}]
    else:
        messages = [_message(message) for message in settings["messages"].value]
    system = settings.get("system")
    if system is None:
        return messages
    if messages[0]["role"] in ("system", "developer"):
        if system.default:
            return messages
        raise document.error("'system' beside messages that begin with a system message", system.place, key=True)
    return [{"role": "system", "content": system.value}, *messages]


def _message(message: Mapping[str, Any]) -> Mapping[str, Json]:
    if "tool_calls" not in message:
        return message
    return {"content": None, **message, "tool_calls": [_call(call) for call in message["tool_calls"]]}


def _call(call: Mapping[str, Any]) -> dict[str, Json]:
    arguments = call["function"]["arguments"]
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": call["id"], "type": "function", "function": {"name": call["function"]["name"], "arguments": text}}


def _check_format(document: Document, form: Setting) -> None:
    if "json_schema" in form.value:
        check_schema(document, form.value["json_schema"]["schema"], (*form.place, "json_schema", "schema"))
    if "schema" in form.value:
        check_schema(document, form.value["schema"], (*form.place, "schema"))
