"""Special tokens of chat templates as text. Those of tool calls and of reasoning are judged with the calls and with the reasoning."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from pytest_mtp.judge.words.fences import code_spans, inside

_BARRED = (
    "im_start im_end im_sep eot_id eom_id end_of_text begin_of_text endoftext startoftext start_header_id"
    " end_header_id end_of_turn user assistant"
    " system observation end return endofprompt fim_prefix fim_middle fim_suffix fim_pad repo_name file_sep"
    " padding pad sep mask_start vision_start"
    r" vision_end image_pad video_pad box_start box_end object_ref_start object_ref_end"
    r" reserved_special_token_\d{1,3} start_of_role end_of_role"
    " START_OF_TURN_TOKEN END_OF_TURN_TOKEN USER_TOKEN CHATBOT_TOKEN SYSTEM_TOKEN START_RESPONSE END_RESPONSE"
    " header_start header_end eot eom turn"
    " endofuser endofassistant"
)
_PLAIN = r"start_of_turn end_of_turn start_of_image end_of_image eos bos pad unk mask sop eop extra_id_\d{1,3} unused\d{1,4} 0x[0-9A-F]{2}"
_TOKENS = (
    rf"<\|(?:{'|'.join(_BARRED.split())})\|>",
    rf"<(?:{'|'.join(_PLAIN.split())})>",
    "<[｜|](?:begin▁of▁sentence|end▁of▁sentence|User|Assistant|▁pad▁|EOT)[｜|]>",
    r"\[/?INST\]|<</?SYS>>|\[gMASK\]|\[(?:/)?(?:SYSTEM_PROMPT|AVAILABLE_TOOLS)\]|</s>(?:\s*<s>)?|\A\s*<s>(?![^\n]{0,400}</s>)|<\|?turn\|?>",
)
_ENOUGH = 500  # more of them prove nothing more
_SPECIAL = re.compile("|".join(_TOKENS))
_MENTION_AFTER = re.compile(
    r"[\"'”’`)\]]{0,3}\s{1,2}(?:and\b|or\b|tokens?\b|tags?\b|markers?\b|symbols?\b|is\b|are\b|to\b|for\b|means?\b|,)", re.IGNORECASE
)
_QUOTES = "\"'“‘«「`("


@dataclass(frozen=True, slots=True, kw_only=True)
class Special:
    """The first special token of a text, and how many there are."""

    token: str
    count: int
    start: int


def find_special(text: str, prompt: str, *, asked: bool) -> Special | None:
    """Outside code, and not what the prompt wrote. In talk about tokens, and within a sentence that quotes one, it is a mention."""
    found: list[re.Match[str]] = []
    code: list[tuple[int, int]] | None = None
    for match in itertools.islice(_SPECIAL.finditer(text), _ENOUGH):
        if match[0] in prompt:
            continue
        code = code_spans(text) if code is None else code
        if inside(code, match.start()) or _struck_out(text, match) or (_mentioned(text, match) if not asked else not _at_end(text, match)):
            continue
        found.append(match)
    if not found:
        return None
    return Special(token=found[0][0], count=len(found), start=found[0].start())


def _mentioned(text: str, match: re.Match[str]) -> bool:
    quoted = text[match.start() - 1 : match.start()] in _QUOTES if match.start() else False
    return quoted or (_MENTION_AFTER.match(text, match.end()) is not None and text[match.start() - 1 : match.start()] == " ")


def _struck_out(text: str, match: re.Match[str]) -> bool:
    """`<s>old</s>` is HTML."""
    return match[0] == "</s>" and "<s>" in text[max(0, match.start() - 400) : match.start()]


def _at_end(text: str, match: re.Match[str]) -> bool:
    return not text[match.end() :].strip() and text[match.start() - 1 : match.start()] not in {*_QUOTES, " "}
