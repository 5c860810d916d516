"""Which tools an able model would call for a prompt, and with which arguments, by simple rules."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_mtp.selftest.book import Call
from pytest_mtp.selftest.instance import instance
from pytest_mtp.selftest.request import ChatRequest

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_QUOTED = re.compile(r"[\"“«']([^\"”»']{1,80})[\"”»']")
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[^\W\d_a-z][\w-]*(?: [^\W\d_a-z][\w-]*)*")
_AFTER = re.compile(r"\b(?:for|in|of|about|to|from|at) (?:the )?([\w.@-]+)")
_SENTENCE_WORDS = {"I", "Call", "Use", "What", "The", "Please", "And", "A", "Answer", "How", "Is", "Get", "Celsius", "Fahrenheit"}


def calls_for(request: ChatRequest) -> tuple[Call, ...]:
    """The calls, none when the model would answer in words."""
    if request.tool_choice == "none" or not request.tools or request.last_role == "tool":
        return ()
    if request.tool_choice in ("auto", "required"):
        chosen = _wanted(request)
        if not chosen and request.tool_choice == "required":
            chosen = [request.tools[0]]
    else:
        chosen = [tool for tool in request.tools if tool["name"] == request.tool_choice]
    calls = [call for tool in chosen for call in _calls_of(tool, request.prompt)]
    forced_one = request.tool_choice not in ("auto", "required")
    return tuple(calls[:1] if forced_one or not request.parallel else calls)


def _wanted(request: ChatRequest) -> list[Mapping[str, Any]]:
    """Tools named in the prompt, else those that share a telling word of their name with it."""
    prompt = request.prompt.lower()
    named = [tool for tool in request.tools if re.search(rf"\b{re.escape(tool['name'].lower())}\b", prompt)]
    if named:
        return named
    spoken = {_stem(word) for word in re.findall(r"[a-z]+", prompt)}
    return [tool for tool in request.tools if spoken & _telling(tool["name"])]


def _telling(name: str) -> set[str]:
    words = re.findall(r"[a-z]+", re.sub(r"([A-Z])", r" \1", name).lower())
    return {_stem(word) for word in words} - {"get", "set", "the", "find", "make", "new", "list", "run", "do", "to", "a"}


def _stem(word: str) -> str:
    return word.removesuffix("s")


def _calls_of(tool: Mapping[str, Any], prompt: str) -> list[Call]:
    schema = tool.get("parameters") or {}
    properties = schema.get("properties") or {}
    required = [name for name in schema.get("required") or () if name in properties]
    texts = [name for name in required if properties[name].get("type") == "string" and not properties[name].get("enum")]
    things = (len(required) == 1 and _named(prompt, tool["name"])) or _things(prompt, tool["name"])
    every_number = [json.loads(number) for number in _NUMBER.findall(prompt)]
    pools = [[thing] for thing in things] if len(texts) == 1 else [things]
    counts = [every_number]
    if len(required) == 1 and properties[required[0]].get("type") in ("integer", "number"):
        counts = [[number] for number in every_number] or [[]]
    calls = []
    for pool, numbers in ((list(pool), list(numbers)) for pool in pools or [[]] for numbers in counts):
        arguments = {name: _value(properties[name], prompt, pool, numbers) for name in required}
        calls.append(Call(name=tool["name"], arguments=json.dumps(arguments, ensure_ascii=False)))
    return calls


def _named(prompt: str, tool_name: str) -> list[str]:
    """What "call TOOL for" is followed by: a list of single names, or one thing of any words."""
    asked = re.search(rf"\b{re.escape(tool_name)} (?:for|with|on) (.{{1,200}})$", prompt.strip())  # its first place
    if asked is None:
        return []
    words = re.sub(rf",? and (?:then )?call {re.escape(tool_name)} (?:for|with|on) ", ", ", asked.group(1).rstrip(".?!"))
    listed = [part.strip() for part in re.split(r",| and (?:for |with |on )?", words)]
    return listed if all(re.fullmatch(r"[^\W\d_a-z][\w-]*", part) for part in listed) else [words]


def _things(prompt: str, tool_name: str) -> list[str]:
    """What the prompt is about, in order: quoted words, else proper names, else the word after a preposition."""
    rest = prompt.replace(tool_name, "")
    if quoted := _QUOTED.findall(rest):
        return quoted
    names = [name for name in _NAME.findall(rest) if name not in _SENTENCE_WORDS]
    return names or _AFTER.findall(rest)[:1]


def _value(schema: Mapping[str, Any], prompt: str, pool: list[str], numbers: list[int | float]) -> Any:
    if options := schema.get("enum"):
        spoken = re.findall(r"\w+", prompt.lower())
        return next((option for option in options if str(option).lower() in spoken), options[0])
    kind = schema.get("type")
    if kind == "string":
        return pool.pop(0) if pool else str(instance(schema))
    if kind in ("integer", "number"):
        number = numbers.pop(0) if numbers else instance(schema)
        return round(number) if kind == "integer" else number
    if kind == "array":
        return _items(schema, pool, numbers)
    return instance(schema)


def _items(schema: Mapping[str, Any], pool: list[str], numbers: list[int | float]) -> Sequence[Any]:
    kind = (schema.get("items") or {}).get("type")
    taken: list[Any] = list(pool) if kind == "string" else list(numbers) if kind in ("integer", "number") else []
    (pool if kind == "string" else numbers).clear()
    return taken or instance(schema)
