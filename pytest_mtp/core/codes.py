"""Every finding code: meaning, default severity, what to do. The docs page is generated from this table.

Severity `case` means: that of the case (`critical`, `regression` or `model`). A judge may lower a severity where it has
evidence that the model and not the serving is at fault; it never raises one.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_mtp.core.case import CaseSeverity, Severity
from pytest_mtp.core.code import Code, table_of
from pytest_mtp.core.codes_wire import WIRE_CODES

_JUDGED = table_of(
    # Control first.
    (
        "CTRL.unstable",
        "note",
        "The server disagrees with itself at temperature 0",
        "Later differences of this size mean nothing; answers are graded by meaning.",
    ),
    ("CTRL.load", "note", "Agreement drops only under concurrency", "Batch-dependent numerics, or a race."),
    ("CTRL.poison", "critical", "Worse after load than before", "Prefix cache or speculative state is corrupted; restart and report it."),
    (
        "CTRL.cache",
        "critical",
        "A cache hit changes the answer",
        "The prefix cache is corrupted: turn it off, and report it to the engine.",
    ),
    ("CTRL.unusable", "critical", "The control answers are unusable", "Nothing that follows would mean anything; mend the server first."),
    # Identity.
    ("ID.model", "critical", "The server is not the approved model", "Wrong weights, quantisation or template."),
    (
        "ID.checkpoint",
        "critical",
        "The checkpoint and the server do not agree",
        "Compare the model path of the process with the inspected files.",
    ),
    (
        "ID.process",
        "critical",
        "The process behind the server is not what the server or this run says of it",
        "Compare the command line of the process with the flags that were meant.",
    ),
    (
        "ID.stale",
        "regression",
        "The model's files changed after the process had started",
        "Restart the server, and measure again: the old weights may still be served.",
    ),
    # Generation.
    ("GEN.empty", "case", "No answer in the reply", "The budget may have gone into reasoning; raise max_tokens."),
    ("GEN.truncated", "case", "The answer was cut at max_tokens", "Raise max_tokens; a rising rate points at loops."),
    ("GEN.endless", "model", "No turn ends by itself", "The end token got lost: compare chat template, tokenizer and generation config."),
    ("GEN.filtered", "case", "A content filter ended the answer", "The filter belongs to the server, not to the model."),
    ("GEN.refusal", "case", "The model refused", "A refusal is not a wrong value; see whether one was due."),
    ("GEN.think_unclosed", "case", "Reasoning never ended", "Raise max_tokens, or check the reasoning parser."),
    (
        "GEN.degenerate.loop",
        "critical",
        "The text repeats itself without end",
        "Look at kernels, the cache and the drafter: sampled answers loop too.",
    ),
    (
        "GEN.degenerate.replacement",
        "critical",
        "Replacement characters (U+FFFD) in the text",
        "Token pieces are decoded one by one; look at the detokeniser of the stream.",
    ),
    ("GEN.degenerate.control", "critical", "Control characters or lone surrogates in the text", "Look at the detokeniser."),
    ("GEN.degenerate.mojibake", "critical", "Text decoded with the wrong encoding", "Look for a double encoding in a proxy."),
    (
        "GEN.degenerate.script",
        "critical",
        "Letters of a script that nobody asked for",
        "A typical sign of corrupted weights, cache or sampling.",
    ),
    ("GEN.degenerate.special", "critical", "Special tokens in the text", "Check the chat template and skip_special_tokens."),
    ("GEN.degenerate.fence", "note", "A code fence is never closed", "Often a cut answer."),
    # Answers.
    ("ANS.wrong", "case", "The extracted answer is not the accepted one", "Compare with the approved build before blaming the model."),
    (
        "ANS.unextractable",
        "case",
        "No answer of the asked kind was found",
        "A rising rate means that the format got lost: look at the template.",
    ),
    ("ANS.ambiguous", "case", "Two different answers, none marked as final", "Ask for a marked final answer."),
    ("ANS.flip", "note", "Repeats at temperature 0 got different grades", "Instability of the server; see the control."),
    ("ANS.json", "case", "Not one valid JSON value", "Hard when response_format was asked for."),
    (
        "ANS.json_forced",
        "critical",
        "response_format was requested, and the reply is not valid JSON for it",
        "Structured output is broken on this server.",
    ),
    ("ANS.duplicate_key", "critical", "A JSON object holds the same key twice", "Parsers keep one of them in silence."),
    ("ANS.schema", "case", "Valid JSON that violates its schema", "Guided decoding would prevent it."),
    ("ANS.code", "case", "The program fails", "See the class: syntax, exception, wrong, timeout."),
    ("ANS.language", "case", "The answer is in another language", "Look at the template and at the system prompt."),
    ("ANS.length", "case", "The answer is too short or too long", "A sudden shift of lengths is a sign of a cut or a loop."),
    ("ANS.ungraded", "note", "The grader could not decide in its time", "Not counted as wrong."),
    # Tool calls.
    ("TOOL.missing", "case", "No call where one was expected", "Template, parser flag or model; forced calls are the server's duty."),
    ("TOOL.forced", "critical", "tool_choice demanded a call, and none or another came", "required and named are promises of the server."),
    ("TOOL.none_expected", "case", "A call where none was allowed", "Hard with tool_choice none."),
    (
        "TOOL.leak",
        "critical",
        "Call markup in the text instead of a call",
        "The tool parser does not fit the model family or its streaming.",
    ),
    (
        "TOOL.leak_malformed",
        "case",
        "The model wrote broken call markup",
        "The parser had nothing to parse; look at the model and its template.",
    ),
    ("TOOL.wire", "critical", "A call on the wire breaks the protocol", "Look at the tool parser of the server."),
    (
        "TOOL.name",
        "critical",
        "A call of a tool that was not offered",
        "Parser or template; a clean name may be an invention of the model.",
    ),
    ("TOOL.id", "critical", "A call id is missing or used twice", "Clients match results to calls by it."),
    (
        "TOOL.args_empty",
        "critical",
        "Arguments are missing though the tool requires some",
        "A typical fault of parsers under multi-token chunks.",
    ),
    ("TOOL.args_json", "critical", "Arguments are not a JSON object", "Look at the tool parser."),
    ("TOOL.args_extra_brace", "critical", "Arguments end in a doubled brace", "A typical fault of streaming parsers under speculation."),
    ("TOOL.schema", "case", "The arguments violate the tool's schema", "Hard when strict was asked for."),
    ("TOOL.value", "case", "A schema-valid argument has the wrong value", "Compare with the approved build."),
    ("TOOL.count", "case", "Too few or too many calls", "Parallel calls get lost in parsers."),
    ("TOOL.duplicate", "case", "The same call twice", "A loop of the model or of the parser."),
    ("TOOL.spurious", "case", "A call that nobody expected", "Template or model."),
    ("TOOL.order", "case", "The calls came in another order", "Only where the case asks for an order."),
    ("TOOL.coerced", "note", "An argument matches only after a type coercion", "A type conversion in the parser; watch its rate."),
    ("TOOL.stream_diff", "critical", "Streamed and unstreamed calls differ", "The streaming parser."),
    ("TOOL.after_result", "case", "The tool result was ignored or the call repeated", "Template of the tool role."),
    ("TOOL.intent", "critical", "The text names the right call, the wire does not", "The parser lost it; both are shown."),
    ("TOOL.template", "model", "The tools never reach the prompt", "The chat template drops them: give the server one that renders tools."),
    # Speculation.
    (
        "SPEC.dead",
        "critical",
        "Speculation is configured but drafts nothing or nothing is accepted",
        "Check the drafter's weights, its template and its temperature path.",
    ),
    ("SPEC.inactive", "note", "The server does not speculate", "Set the flag if it should."),
    (
        "SPEC.condition",
        "regression",
        "Requests of one kind fail, or are never drafted, because the server speculates",
        "A note where drafts merely stop: answers stay right, the speed-up is lost. Serve such requests without speculation.",
    ),
    (
        "SPEC.parity.material",
        "critical",
        "Speculation emits tokens that the model itself would not choose",
        "The verify step or its cache is broken, or acceptance is synthetic: do not deploy.",
    ),
    ("SPEC.parity.neartie", "note", "Speculation differs at a near-tie", "Numerics, not a fault."),
    ("SPEC.identity", "critical", "The acceptance counters contradict each other", "Do not trust figures from this server."),
    (
        "SPEC.decay",
        "critical",
        "Acceptance decays under load",
        "The drafter loses its state; a restart brings it back until the next load.",
    ),
    ("SPEC.accept_drop", "regression", "Acceptance is below the baseline", "Drafter and target no longer fit."),
    # Performance and the instrument.
    ("PERF.drop", "regression", "Slower than the margin allows", "See the decomposition: fewer accepted tokens, or a dearer step."),
    ("PERF.noisy", "note", "The spread is too large for a verdict", "Use an idle machine or more blocks."),
    ("PERF.contaminated", "note", "Foreign traffic on the server during a measurement", "Measure on a server of your own."),
    (
        "PERF.admission",
        "regression",
        "The front door admits another number of requests than the engine runs at once",
        "Bring the two numbers together: the finding names the settings of known stacks.",
    ),
    # Comparison and suites.
    ("BASE.stale", "note", "The baseline was made with another set-up", "Approve a new one; nothing was compared."),
    ("BASE.grader_changed", "note", "The baseline was graded by other rules", "Approve a new one; nothing was compared."),
    ("SUITE.capability", "note", "The server does not offer what the case needs", "Nothing to do, unless it should."),
    ("SUITE.underpowered", "note", "The suite cannot see a regression of the asked size", "Add cases or repeats."),
)

CODES: Mapping[str, Code] = {**WIRE_CODES, **_JUDGED}


def severity_of(code: str, case_severity: CaseSeverity = "model") -> Severity:
    """The default severity of a code for a case. Raises KeyError for a code that is not in the table."""
    default = CODES[code].severity
    return case_severity if default == "case" else default
