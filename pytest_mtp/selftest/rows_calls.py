"""Rows of the catalogue: calls of tools, their parsers, their streams."""

from __future__ import annotations

from pytest_mtp.selftest import fault_models as model
from pytest_mtp.selftest import fault_refusals as refusals
from pytest_mtp.selftest import fault_replies as replies
from pytest_mtp.selftest import fault_streams as streams
from pytest_mtp.selftest.fault import Fault

_TORN = ("TOOL.args_json", "TOOL.stream_diff", "TOOL.args_empty")
_GONE = ("TOOL.stream_diff", "TOOL.forced", "TOOL.missing", "GEN.empty", "TOOL.count")

CALL_FAULTS = (
    Fault(
        name="first-call-torn",
        imitates="One accepted block closes a call and opens the next: the first loses the rest of its arguments",
        expected=_TORN,
        frames=streams.first_call_torn,
        shown_by="coarse_calls",
    ),
    Fault(
        name="second-call-lost",
        imitates="Two calls in one increment: the second is gone",
        expected=("TOOL.stream_diff", "TOOL.count"),
        frames=streams.second_call_lost,
        shown_by="coarse_calls",
    ),
    Fault(
        name="no-braces",
        imitates="A streamed call without parameters ends with empty arguments rather than with {}",
        expected=("TOOL.args_json", "TOOL.stream_diff", "TOOL.args_empty"),
        frames=streams.no_braces,
        shown_by="coarse_calls",
    ),
    Fault(
        name="delimiters-in-arguments",
        imitates="The model's own quotes leak into argument values of streams and break their escaping",
        expected=("TOOL.stream_diff", "TOOL.args_json", "TOOL.leak"),
        frames=streams.delimiters,
        shown_by="coarse_calls",
    ),
    Fault(
        name="repeating-call",
        imitates="A forced call in a stream repeats its JSON until the budget is spent",
        expected=("TOOL.args_json", "TOOL.stream_diff"),
        frames=streams.again_and_again,
        when="forced",
        shown_by="tool_choice",
    ),
    Fault(
        name="first-fragment-alone",
        imitates="Argument events without an id are dropped, so that each call keeps its first fragment",
        expected=_TORN,
        frames=streams.first_fragment_alone,
        shown_by="coarse_calls",
    ),
    Fault(
        name="long-calls-thinned",
        imitates="A proxy that loses events of long streamed calls",
        expected=("TOOL.stream_diff", "TOOL.args_json"),
        frames=streams.long_calls_thinned,
        shown_by="coarse_calls",
    ),
    Fault(
        name="numbers-as-text",
        imitates="A parser that turns numbers in arguments into text",
        expected=("TOOL.coerced", "TOOL.schema", "TOOL.value"),
        completion=replies.numbers_as_text,
    ),
    Fault(
        name="garbled-arguments",
        imitates="Drafts copied from the prompt corrupt plain tool calls",
        expected=("TOOL.args_json", "TOOL.value", "TOOL.schema"),
        completion=replies.garbled_arguments,
    ),
    Fault(
        name="fails-after-result",
        imitates="The turn after a tool's result fails with 500, about arguments that cannot be read",
        expected=("INFRA.5xx",),
        refuse=refusals.failing("Failed to parse tool call arguments as JSON"),
        when="result",
    ),
    Fault(
        name="silent-drop",
        imitates="The parser gives up on a call and says nothing: an empty reply that ends by itself",
        expected=("TOOL.forced", "TOOL.missing", "GEN.empty", "TOOL.count"),
        completion=replies.lost_calls,
        shown_by="tool_choice",
    ),
    Fault(
        name="stream-drops-calls",
        imitates="Streams never carry calls: a normal stop with nothing said",
        expected=_GONE,
        frames=streams.calls_lost,
        shown_by="coarse_calls",
    ),
    Fault(
        name="forced-call-lost",
        imitates="tool_choice required yields no valid call once speculation is on",
        expected=("TOOL.forced", "TOOL.missing", "GEN.empty", "TOOL.count"),
        completion=replies.lost_calls,
        when="forced",
        shown_by="tool_choice",
    ),
    Fault(
        name="words-lost-beside-calls",
        imitates="The whole reply loses the text beside a call, which the stream has",
        expected=("PROTO.stream_diff", "TOOL.stream_diff"),
        completion=replies.lost_words,
        when="unstreamed",
        shown_by="coarse_calls",
    ),
    Fault(
        name="leaked-then-called",
        imitates="Streams carry the markup of a call as text before the call itself",
        expected=("TOOL.leak", "TOOL.stream_diff"),
        frames=streams.leaked_then_called,
        shown_by="coarse_calls",
    ),
    Fault(
        name="stream-leaks-calls",
        imitates="Streams carry calls as text, whole replies parse them",
        expected=("TOOL.leak", "TOOL.stream_diff", "TOOL.forced"),
        frames=streams.calls_as_text,
        shown_by="coarse_calls",
    ),
    Fault(
        name="tags-in-names",
        imitates="Markup of the call stands in the names of tools",
        expected=("TOOL.name", "TOOL.leak", "TOOL.forced"),
        completion=replies.tags_in_names,
        shown_by="tool_choice",
    ),
    Fault(
        name="calls-under-none",
        imitates="tool_choice none still calls",
        expected=("TOOL.none_expected",),
        answer=model.calls_anyway,
        shown_by="tool_choice",
    ),
    Fault(
        name="named-choice-ignored",
        imitates="A named tool_choice is not enforced",
        expected=("TOOL.forced",),
        answer=model.another_tool,
        shown_by="tool_choice",
    ),
    Fault(
        name="named-choice-fails",
        imitates="A named tool_choice gives a server error when the reasoning parser takes all of the text",
        expected=("INFRA.5xx",),
        refuse=refusals.failing("AssertionError: content is None"),
        when="named",
        shown_by="tool_choice",
    ),
    Fault(
        name="missing-index",
        imitates="Streamed calls have no index",
        expected=("TOOL.wire", "TOOL.count"),
        frames=streams.without_index,
        shown_by="tool_choice",
    ),
    Fault(
        name="doubled-names",
        imitates="The name of a streamed call comes twice, so that clients that join it have a name twice as long",
        expected=("TOOL.wire", "TOOL.name", "TOOL.stream_diff"),
        frames=streams.doubled_names,
        shown_by="tool_choice",
    ),
    Fault(
        name="names-everywhere",
        imitates="Every fragment of arguments repeats the name of the tool",
        expected=("TOOL.wire", "TOOL.name", "TOOL.stream_diff"),
        frames=streams.names_everywhere,
        shown_by="tool_choice",
    ),
    Fault(
        name="stop-for-named-calls",
        imitates="Forced calls by name end in stop, those under auto in tool_calls",
        expected=("PROTO.finish",),
        completion=replies.finishing({"tool_calls": "stop"}),
        when="named",
        unseen="OpenAI itself ends calls that were forced by name in stop: lawful",
    ),
    Fault(
        name="singular-finish",
        imitates="A finish reason that is spelt in the singular",
        expected=("PROTO.finish",),
        completion=replies.finishing({"tool_calls": "tool_call"}),
        shown_by="tool_choice",
    ),
)
