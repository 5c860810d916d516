"""Bodies written as code: Python calls, and Gemma's call:name{key:value}."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

from pytest_mtp.judge.tools.dialects.dialect import Written

_LONGEST_CODE = 20_000
_GEMMA = re.compile(r"\s*call:\s*([A-Za-z_][\w.-]*)\s*\{")
_GEMMA_KEY = re.compile(r"[\s,]*([^\s:,{}\[\]]+)\s*:\s*")
_GEMMA_BARE = re.compile(r"[^,{}\[\]]*")
_DELIMITERS = ("<escape>", '<|"|>')
_OBJECT_END = re.compile(r"[\s,]*\}")
_LIST_END = re.compile(r"[\s,]*\]")
_SEPARATOR = re.compile(r"[\s,]*")
_DEEPEST = 20


def python_calls(body: str) -> list[Written] | None:
    """f(a=1), [f(a=1), g()], or one call a line; print(...) around a call and a module in front of it are dropped."""
    body = body.strip()
    if not body or len(body) > _LONGEST_CODE or "(" not in body:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes in a model's text concern nobody
            tree = ast.parse(body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    calls: list[Written] = []
    for statement in tree.body:
        value = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
        nodes = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
        for node in nodes:
            call = _python_call(node)
            if call is None:
                return None
            calls.append(call)
    return calls


def python_list(body: str) -> list[Written] | None:
    """[f(a=1), g()] and nothing else."""
    return python_calls(body) if body.strip().startswith("[") else None


def _python_call(node: Any) -> Written | None:
    if not isinstance(node, ast.Call):
        return None
    name = _dotted(node.func)
    if name == "print" and len(node.args) == 1 and not node.keywords:
        return _python_call(node.args[0])
    if not name or node.args:
        return None
    arguments = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            return None
        try:
            arguments[keyword.arg] = _plain(ast.literal_eval(_with_json_words(keyword.value)))
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            return None
    return Written(name=name.removeprefix("default_api.").removesuffix(".call"), arguments=arguments)


def _dotted(node: Any) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


class _JsonWords(ast.NodeTransformer):
    """Models write true and null into Python."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        words = {"true": True, "false": False, "null": None}
        return ast.copy_location(ast.Constant(words[node.id]), node) if node.id in words else node


def _with_json_words(node: ast.expr) -> ast.expr:
    changed = _JsonWords().visit(node)
    return changed if isinstance(changed, ast.expr) else node


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, set)):
        return [_plain(item) for item in value]
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f"{type(value).__name__} is not JSON")


def gemma_calls(body: str) -> list[Written] | None:
    """call:NAME{key:<escape>text<escape>,number:5}, one or more."""
    calls: list[Written] = []
    position = 0
    while found := _GEMMA.match(body, position):
        read = _gemma_object(body, found.end(), 0)
        if read is None:
            return None
        calls.append(Written(name=found[1], arguments=read[0]))
        position = read[1]
    return calls if calls and not body[position:].strip() else None


def _gemma_object(text: str, position: int, level: int) -> tuple[dict[str, Any], int] | None:
    members: dict[str, Any] = {}
    while level < _DEEPEST:
        closing = _OBJECT_END.match(text, position)
        if closing:
            return members, closing.end()
        key = _GEMMA_KEY.match(text, position)
        read = _gemma_value(text, key.end(), level) if key else None
        if not key or read is None:
            return None
        members[key[1].removeprefix(_DELIMITERS[1]).removesuffix(_DELIMITERS[1])], position = read
    return None


def _gemma_value(text: str, position: int, level: int) -> tuple[Any, int] | None:
    for delimiter in _DELIMITERS:
        if text.startswith(delimiter, position):
            end = text.find(delimiter, position + len(delimiter))
            return None if end < 0 else (text[position + len(delimiter) : end], end + len(delimiter))
    if text.startswith("{", position):
        return _gemma_object(text, position + 1, level + 1)
    if text.startswith("[", position):
        return _gemma_list(text, position + 1, level + 1)
    bare = _GEMMA_BARE.match(text, position)
    if not bare or not bare[0].strip():
        return None
    return _bare_word(bare[0].strip()), bare.end()


def _gemma_list(text: str, position: int, level: int) -> tuple[list[Any], int] | None:
    items: list[Any] = []
    while level < _DEEPEST:
        closing = _LIST_END.match(text, position)
        if closing:
            return items, closing.end()
        separator = _SEPARATOR.match(text, position)
        read = _gemma_value(text, separator.end() if separator else position, level)
        if read is None:
            return None
        items.append(read[0])
        position = read[1]
    return None


def _bare_word(word: str) -> Any:
    words = {"true": True, "false": False, "null": None, "None": None}
    if word in words:
        return words[word]
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word.strip('"')
