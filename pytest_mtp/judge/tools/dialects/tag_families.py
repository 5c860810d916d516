"""Families that write a call as XML-like tags."""

from __future__ import annotations

from pytest_mtp.judge.tools.dialects.code_bodies import python_calls
from pytest_mtp.judge.tools.dialects.dialect import Dialect
from pytest_mtp.judge.tools.dialects.tag_bodies import function_inside, function_tags, invoke_tags, step_invoke, xtml

TAG_FAMILIES = (
    Dialect(opens=("<minimax:tool_call>",), closes=("</minimax:tool_call>",), forms={"MiniMax M2": invoke_tags}),
    Dialect(opens=("<seed:tool_call>",), closes=("</seed:tool_call>",), forms={"Seed-OSS": function_tags}),
    Dialect(
        opens=("<｜DSML｜function_calls>", "<｜DSML｜tool_calls>"),
        closes=("</｜DSML｜function_calls>", "</｜DSML｜tool_calls>"),
        forms={"DeepSeek V3.2 and 4": invoke_tags},
        stray=("<｜DSML｜invoke", "</｜DSML｜invoke>", "<｜DSML｜parameter", "</｜DSML｜parameter>"),
    ),
    Dialect(
        opens=("<｜tool_call_begin｜>",),
        closes=("<｜tool_call_end｜>",),
        forms={"Step 3": step_invoke},
        stray=("<｜tool_calls_begin｜>", "<｜tool_calls_end｜>", "<｜tool_sep｜>", "<steptml:invoke", "</steptml:invoke>"),
    ),
    Dialect(
        opens=("<function_calls>", "<atem:function_calls>"),
        closes=("</function_calls>", "</atem:function_calls>"),
        forms={"invoke tags": invoke_tags, "Olmo 3": python_calls},
        common=True,
    ),
    Dialect(opens=("<function=",), closes=("</function>",), forms={"Llama 3, Functionary 3.1": function_inside}, common=True),
    Dialect(
        opens=("<|open|>call",),
        closes=("<|close|>call<|sep|>",),
        forms={"Kimi K3": xtml},
        stray=("<|open|>tools<|sep|>", "<|close|>tools<|sep|>", "<|open|>argument", "<|close|>argument<|sep|>"),
    ),
)
