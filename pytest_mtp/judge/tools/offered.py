"""What a request offers: its tools by name, and what its tool_choice promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.record import Json

ChoiceMode = Literal["auto", "none", "required", "named"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One offered function. `parameters` None: it takes none, as OpenAI reads a missing schema."""

    name: str
    parameters: Json = None
    strict: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """`names` are the only tools that may be called; empty means every offered one."""

    mode: ChoiceMode = "auto"
    names: tuple[str, ...] = ()

    @property
    def forces(self) -> bool:
        """The server has promised a call."""
        return self.mode in ("required", "named")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The tools of one request; `parallel` False: one call at most was asked for."""

    tools: Mapping[str, Tool] = field(default_factory=dict)
    choice: Choice = field(default_factory=Choice)
    parallel: bool = True


_REMEMBERED = 256
_offers: dict[int, tuple[Ask, Offer]] = {}


def offer_of(ask: Ask) -> Offer:
    """The offer of a request; read once for each Ask object, since repeats are judged against the same one."""
    known = _offers.get(id(ask))
    if known is not None and known[0] is ask:
        return known[1]
    body = ask.extra_body
    choice = _choice(body.get("tool_choice", ask.tool_choice))
    offer = Offer(tools=_tools(body.get("tools", ask.tools)), choice=choice, parallel=body.get("parallel_tool_calls") is not False)
    if len(_offers) >= _REMEMBERED:
        _offers.clear()
    _offers[id(ask)] = (ask, offer)  # holding the Ask keeps its id from being used again
    return offer


def _tools(listed: Any) -> dict[str, Tool]:
    """OpenAI's form, the flat form of the Responses API, or a bare function."""
    tools = {}
    for item in listed if isinstance(listed, (list, tuple)) else ():
        if not isinstance(item, Mapping):
            continue
        function = item.get("function")
        function = function if isinstance(function, Mapping) else item
        name = function.get("name")
        if isinstance(name, str) and name:
            strict = function.get("strict", item.get("strict")) is True
            tools[name] = Tool(name=name, parameters=function.get("parameters"), strict=strict)
    return tools


def _choice(value: Any) -> Choice:
    if value in ("none", "required"):
        return Choice(mode=value)
    if value == "any":  # Mistral's word for required
        return Choice(mode="required")
    if not isinstance(value, Mapping):
        return Choice()
    if value.get("type") == "allowed_tools":
        inner = value.get("allowed_tools")
        allowed = inner if isinstance(inner, Mapping) else value
        mode: ChoiceMode = "required" if allowed.get("mode") == "required" else "auto"
        return Choice(mode=mode, names=tuple(_tools(allowed.get("tools"))))
    function = value.get("function")
    name = function.get("name") if isinstance(function, Mapping) else value.get("name")
    return Choice(mode="named", names=(name,)) if isinstance(name, str) and name else Choice()
