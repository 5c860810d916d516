"""Families that write a call as JSON between markers."""

from __future__ import annotations

from pytest_mtp.judge.tools.dialects.code_bodies import python_calls
from pytest_mtp.judge.tools.dialects.dialect import Dialect, Written
from pytest_mtp.judge.tools.dialects.json_bodies import after_name, json_calls, json_calls_first, keyed_calls
from pytest_mtp.judge.tools.dialects.tag_bodies import argument_pairs, function_tags, invoke_tags


def _plugin(body: str) -> list[Written] | None:
    return json_calls(body.replace("<|plugin|>", "", 1))


def _functools(body: str) -> list[Written] | None:
    return json_calls_first("[" + body)


JSON_FAMILIES = (
    Dialect(
        opens=("<tool_call>",),
        closes=("</tool_call>",),
        forms={
            "Hermes, Qwen 2.5 and 3, ERNIE, EXAONE": json_calls,
            "Qwen3-Coder, Qwen 3.5, MiMo, Nemotron 3, Step 3.5": function_tags,
            "GLM 4 and 5, Hunyuan 3": argument_pairs,
            "MiniMax M3": invoke_tags,
        },
        stray=("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "<tool_sep>"),
    ),
    Dialect(opens=("<tool_calls>",), closes=("</tool_calls>",), forms={"Hunyuan A13B, MiniMax M1, Jamba": json_calls}, common=True),
    Dialect(
        opens=("[TOOL_CALLS]",),
        forms={
            "Mistral to v7": json_calls_first,
            "Mistral v11": after_name(r"\s*(?P<name>[A-Za-z_][\w.-]*)\s*(?:\[CALL_ID\][^\[{]*)?(?:\[ARGS\])?\s*"),
        },
        may_end=True,
        stray=("[ARGS]", "[CALL_ID]"),
    ),
    Dialect(
        opens=("<|python_tag|>",),
        closes=("<|eom_id|>", "<|eot_id|>"),
        forms={"Llama 3": json_calls_first, "Llama 3 built-in": python_calls},
        may_end=True,
    ),
    Dialect(opens=("<TOOLCALL>",), closes=("</TOOLCALL>",), forms={"Nemotron": json_calls}),
    Dialect(
        opens=("<|tool_call|>",),
        closes=("<|/tool_call|>", "<|end_of_text|>", "<|end|>"),
        forms={"Granite 3, Phi-4-mini": json_calls_first},
        may_end=True,
    ),
    Dialect(opens=("<function_call>",), closes=("</function_call>",), forms={"Granite 20B": json_calls_first}, may_end=True, common=True),
    Dialect(opens=("functools[",), forms={"Phi, Firefunction": _functools}, may_end=True, common=True),
    Dialect(opens=("<|action_start|>",), closes=("<|action_end|>",), forms={"InternLM": _plugin}, stray=("<|plugin|>",)),
    Dialect(opens=("<|START_ACTION|>",), closes=("<|END_ACTION|>",), forms={"Command R7B, Command A": json_calls}),
    Dialect(opens=("Action: ```json", "Action:```json"), closes=("```",), forms={"Command R": json_calls}, common=True, fenced=True),
    Dialect(opens=("<longcat_tool_call>",), closes=("</longcat_tool_call>",), forms={"LongCat": json_calls}),
    Dialect(opens=("<|tools_prefix|>",), closes=("<|tools_suffix|>",), forms={"Apertus": keyed_calls}),
)
