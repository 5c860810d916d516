"""Families that write a call as code."""

from __future__ import annotations

from pytest_mtp.judge.tools.dialects.code_bodies import gemma_calls, python_calls
from pytest_mtp.judge.tools.dialects.dialect import Dialect
from pytest_mtp.judge.tools.dialects.json_bodies import json_calls

CODE_FAMILIES = (
    Dialect(
        opens=("```tool_code", "```tool_call"),
        closes=("```",),
        forms={"Gemma 2 and 3": python_calls, "Gemma, JSON": json_calls},
        common=True,
        fenced=True,
    ),
    Dialect(opens=("<start_function_call>",), closes=("<end_function_call>",), forms={"FunctionGemma": gemma_calls}, stray=("<escape>",)),
    Dialect(opens=("<|tool_call>",), closes=("<tool_call|>",), forms={"Gemma 4": gemma_calls}, stray=('<|"|>',)),
    Dialect(opens=("<|tool_call_start|>",), closes=("<|tool_call_end|>",), forms={"LFM2": python_calls, "LFM2, JSON": json_calls}),
    Dialect(opens=("<|python_start|>",), closes=("<|python_end|>",), forms={"Llama 4": python_calls}),
)
