"""Bodies that name the call and its parameters by tags; values are bare text between them."""

from __future__ import annotations

import re

from pytest_mtp.judge.tools.arguments import decode_prefix
from pytest_mtp.judge.tools.dialects.dialect import Written

_PREFIXES = ("｜DSML｜", "steptml:", "]<]minimax[>[", "atem:", "antml:")
_FUNCTION = re.compile(r"<function\s*=\s*\"?([^>\"\s]+)\"?\s*>")
_INVOKE = re.compile(r"<invoke\s+name\s*=\s*\"([^\"]+)\"\s*>")
_PARAMETER = re.compile(
    r"<parameter\s*=\s*\"?([^>\"\s]+)\"?\s*>|<parameter\s+name\s*=\s*\"([^\"]+)\"[^>]*>|<param\s+name\s*=\s*\"([^\"]+)\"[^>]*>"
)
_ELEMENT = re.compile(r"<([A-Za-z_][\w.-]*)>")
_NAME = re.compile(r"\s*(?:functions\.)?([A-Za-z_][\w.-]*)\s*(?:<tool_sep>)?\s*")
_STEP = "<｜tool_sep｜>"
_XTML_JSON = re.compile(r"<\|open\|>json[^<]*<\|sep\|>")
_XTML_CALL = re.compile(r"\s*tool=\"([^\"]+)\"[^<]*<\|sep\|>")
_XTML_ARGUMENT = re.compile(r"<\|open\|>argument\s+key=\"([^\"]+)\"(?:\s+type=\"(\w+)\")?[^<]*<\|sep\|>")


def function_tags(body: str) -> list[Written] | None:
    """<function=NAME><parameter=KEY>VALUE</parameter></function>, or JSON in the place of the parameters."""
    return _tagged(body, _FUNCTION, "</function>")


def function_inside(body: str) -> list[Written] | None:
    """The same where `<function=` itself is the opener of the block."""
    return _tagged("<function=" + body + "</function>", _FUNCTION, "</function>")


def invoke_tags(body: str) -> list[Written] | None:
    """<invoke name="NAME"><parameter name="KEY">VALUE</parameter></invoke>, under any vendor's prefix."""
    for prefix in _PREFIXES:
        body = body.replace(prefix, "")
    return _tagged(body, _INVOKE, "</invoke>")


def step_invoke(body: str) -> list[Written] | None:
    """Step 3: the word function, a separator, then an invoke."""
    return invoke_tags(body.split(_STEP, 1)[-1])


def argument_pairs(body: str) -> list[Written] | None:
    """NAME, then <arg_key>KEY</arg_key><arg_value>VALUE</arg_value> for each argument."""
    named = _NAME.match(body)
    if not named or (body[named.end() :] and not body.startswith("<arg_key>", named.end())):
        return None
    arguments: dict[str, str] = {}
    position = named.end()
    while (at := body.find("<arg_key>", position)) >= 0:
        key_end = body.find("</arg_key>", at)
        value_at = body.find("<arg_value>", key_end) if key_end >= 0 else -1
        value_end = body.find("</arg_value>", value_at) if value_at >= 0 else -1
        if value_end < 0:
            return None
        arguments[body[at + 9 : key_end].strip()] = body[value_at + 11 : value_end]
        position = value_end + 12
    return None if body[position:].strip() else [Written(name=named[1], arguments=arguments, typed=False)]


def xtml(body: str) -> list[Written] | None:
    """Kimi K3: tool="NAME" ...<|sep|>, then <|open|>argument key="KEY" type="..."<|sep|>VALUE<|close|>argument<|sep|>."""
    called = _XTML_CALL.match(body)
    if not called:
        return None
    arguments: dict[str, str] = {}
    for found in _XTML_ARGUMENT.finditer(body, called.end()):
        end = body.find("<|close|>argument<|sep|>", found.end())
        if end < 0:
            return None
        arguments[found[1]] = body[found.end() : end]
    whole = _XTML_JSON.search(body, called.end())
    decoded = decode_prefix(body, whole.end()) if whole else None
    if decoded and isinstance(decoded[0], dict):
        return [Written(name=called[1], arguments=decoded[0])]
    return [Written(name=called[1], arguments=arguments, typed=False)]


def _tagged(body: str, opening: re.Pattern[str], closing: str) -> list[Written] | None:
    calls = []
    position = 0
    while found := opening.search(body, position):
        end = body.find(closing, found.end())
        if end < 0 or body[position : found.start()].strip():
            return None
        inside = body[found.end() : end]
        decoded = decode_prefix(inside) if inside.lstrip().startswith("{") else None
        if decoded and isinstance(decoded[0], dict) and not inside[decoded[1] :].strip():
            calls.append(Written(name=found[1], arguments=decoded[0]))
        else:
            arguments = _parameters(inside)
            if arguments is None:
                return None
            calls.append(Written(name=found[1], arguments=arguments, typed=False))
        position = end + len(closing)
    return calls if not body[position:].strip(" \t\r\n") or body[position:].strip() == closing else None


def _parameters(inside: str) -> dict[str, str] | None:
    """None where something is left that is no parameter."""
    arguments: dict[str, str] = {}
    position = 0
    by_name = "<param" in inside
    while found := (_PARAMETER if by_name else _ELEMENT).search(inside, position):
        if inside[position : found.start()].strip():
            return None
        name = next(group for group in found.groups() if group)
        closers = ("</parameter>", "</param>") if by_name else (f"</{name}>",)
        ends = [(at, closer) for closer in closers if (at := inside.find(closer, found.end())) >= 0]
        if not ends:
            return None
        at, closer = min(ends)
        arguments[name] = inside[found.end() : at]
        position = at + len(closer)
    return None if inside[position:].strip() else arguments
