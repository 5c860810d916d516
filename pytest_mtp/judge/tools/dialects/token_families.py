"""Families whose special tokens stand between the name and the arguments."""

from __future__ import annotations

from pytest_mtp.judge.tools.dialects.dialect import Dialect
from pytest_mtp.judge.tools.dialects.json_bodies import after_name

_NAME = r"(?P<name>[A-Za-z_][\w.-]*?)"

TOKEN_FAMILIES = (
    Dialect(
        opens=("<｜tool▁call▁begin｜>", "<|tool▁call▁begin|>"),
        closes=("<｜tool▁call▁end｜>", "<|tool▁call▁end|>"),
        forms={
            "DeepSeek V3, R1": after_name(rf"\s*function<[｜|]tool▁sep[｜|]>\s*{_NAME}\s*```(?:json)?\s*"),
            "DeepSeek V3.1": after_name(rf"\s*{_NAME}\s*<[｜|]tool▁sep[｜|]>\s*"),
        },
        stray=("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁sep｜>", "<|tool▁calls▁begin|>", "<|tool▁calls▁end|>"),
    ),
    Dialect(
        opens=("<|tool_call_begin|>",),
        closes=("<|tool_call_end|>",),
        forms={"Kimi K2": after_name(rf"\s*(?:functions\.)?{_NAME}(?::\d+)?\s*<\|tool_call_argument_begin\|>\s*")},
        stray=("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|tool_call_argument_begin|>"),
    ),
    Dialect(
        opens=("to=functions.",),
        closes=("<|call|>",),
        forms={
            "gpt-oss Harmony": after_name(
                rf"{_NAME}\s*(?:<\|channel\|>\s*(?:commentary|analysis)|code)?\s*(?:<\|constrain\|>)?\s*(?:json|code)?\s*(?:<\|message\|>)?\s*(?=\{{)"
            )
        },
        may_end=True,
        stray=("<|channel|>commentary", "<|constrain|>json"),
    ),
    Dialect(
        opens=("<|recipient|>",),
        closes=("<|stop|>", "<|from|>"),
        forms={"Functionary 2": after_name(rf"\s*{_NAME}\s*<\|content\|>\s*(?=\{{)")},
        may_end=True,
        common=True,
    ),
    Dialect(opens=(">>>",), forms={"Functionary 3.2": after_name(rf"{_NAME}\n\s*(?=\{{)")}, may_end=True, common=True),
)
