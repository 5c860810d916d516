"""Reasoning apart from the answer: the server's own field, or balanced tags in the content.

A server without a reasoning parser sends the tags along, which is honest: balanced tags are split in silence. A template
may open the tag inside the prompt, so a lone closing tag ends the reasoning too. What is reported is a tag that leaks
although the server claims to parse reasoning, and a tag that closes nothing.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_mtp.core.reply import Reply
from pytest_mtp.judge.words.fences import code_spans, inside

FAMILIES: tuple[tuple[str, str], ...] = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reason>", "</reason>"),
    ("<seed:think>", "</seed:think>"),
    ("<mm:think>", "</mm:think>"),
    ("<longcat_think>", "</longcat_think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|think_start|>", "<|think_end|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|channel>thought", "<channel|>"),
    ("<unused94>thought", "<unused95>"),
)
"""Opening and closing tag a family."""

_OPEN = {opening: index for index, (opening, _) in enumerate(FAMILIES)}
_CLOSE = {closing: index for index, (_, closing) in enumerate(FAMILIES)}
_TAGS = tuple(sorted((*_OPEN, *_CLOSE), key=len, reverse=True))
_TAGS_AT_MOST = 2000
_CHANNEL = re.compile(r"<\|channel\|>\s?(?P<name>[a-z]{1,20})[^<\n]{0,80}(?:<\|constrain\|>[^<\n]{0,40})?<\|message\|>")
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start)\|>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """`text` is what a user should read. `leak` says how reasoning broke into it; `lone_close` that a template opened the tag."""

    text: str
    reasoning: str
    unclosed: str = ""
    lone_close: str = ""
    leak: str = ""


def split_reasoning(reply: Reply, prompt: str = "") -> Split:
    """The final text and the reasoning of a reply. Tags that the prompt talks about, or that stand in code, are text."""
    content, field = reply.text, reply.reasoning or ""
    if "<|channel|>" in content and "<|channel|>" not in prompt:
        return _channels(content, field)
    body = content.lstrip()
    if body.startswith("analysis") and "assistantfinal" in body:
        thought, _, final = body.removeprefix("analysis").partition("assistantfinal")
        leak = "the channel names 'analysis' and 'assistantfinal' stand in the content without their markers"
        return Split(text=final.strip(), reasoning=_joined(field, thought), leak=leak)
    tags = list(_tags(content, prompt))
    if not tags:
        return Split(text=content, reasoning=field)
    return _tagged(content, field, tags)


def _tags(content: str, prompt: str) -> Iterator[re.Match[str]]:
    present = [tag for tag in _TAGS if tag in content]
    if not present:
        return
    code: list[tuple[int, int]] | None = None
    start = len(content) - len(content.lstrip())
    pattern = re.compile("|".join(map(re.escape, present)))
    for tag in itertools.islice(pattern.finditer(content), _TAGS_AT_MOST):
        if tag.start() != start:
            if tag[0] in prompt:
                continue
            code = code_spans(content) if code is None else code
            if inside(code, tag.start()):
                continue
        yield tag


def _tagged(content: str, field: str, tags: list[re.Match[str]]) -> Split:
    kept: list[str] = []
    thoughts: list[str] = []
    leak = lone_close = unclosed = ""
    position, opened, last_open = 0, -1, len(content)
    for tag in tags:
        family = _OPEN.get(tag[0], -1)
        if family >= 0 and opened < 0:
            kept.append(content[position : tag.start()])
            position, opened, last_open = tag.end(), family, tag.start()
        elif family < 0 and opened == _CLOSE[tag[0]]:
            thoughts.append(content[position : tag.start()])
            position, opened = tag.end(), -1
        elif family < 0 and opened < 0:
            if thoughts or lone_close or field:
                leak = leak or f"{tag[0]} closes nothing"
                kept.append(content[position : tag.start()])
            else:
                lone_close = tag[0]
                thoughts.append(content[position : tag.start()])
            position = tag.end()
    if opened >= 0:
        at_line_start = not content[:last_open].rpartition("\n")[2].strip()
        if at_line_start:
            unclosed = FAMILIES[opened][0]
            thoughts.append(content[position:])
        else:  # prose that mentions a tag
            kept.append(content[last_open:])
    else:
        kept.append(content[position:])
    if field and not leak and (thoughts or unclosed):
        leak = f"{tags[0][0]} stands in the content although the server sends reasoning in its own field"
    return Split(text="".join(kept), reasoning=_joined(field, *thoughts), unclosed=unclosed, lone_close=lone_close, leak=leak)


def _channels(content: str, field: str) -> Split:
    """Harmony markers as text: the `final` channel is the answer, every other channel is reasoning."""
    finals: list[str] = []
    thoughts: list[str] = [content[: content.index("<|channel|>")].replace("<|start|>assistant", "")]
    matches = list(itertools.islice(_CHANNEL.finditer(content), _TAGS_AT_MOST))
    for index, match in enumerate(matches):
        limit = matches[index + 1].start() if index + 1 < len(matches) else len(content)
        end = _CHANNEL_END.search(content, match.end(), limit)
        part = content[match.end() : end.start() if end else limit]
        (finals if match["name"] == "final" else thoughts).append(part)
    leak = "Harmony channel markers stand in the content"
    unclosed = "" if finals else "<|channel|>"
    return Split(text="".join(finals), reasoning=_joined(field, *thoughts), unclosed=unclosed, leak=leak)


def _joined(*parts: str) -> str:
    return "\n".join(part.strip() for part in parts if part.strip())
