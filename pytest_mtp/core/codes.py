"""Every finding code: meaning, default severity, what to do. The docs page is generated from this table.

Severity `case` means: that of the case (`critical`, `regression` or `model`). A judge may lower a severity where it has
evidence that the model and not the serving is at fault; it never raises one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_mtp.core.case import CaseSeverity, Severity

DefaultSeverity = Severity | Literal["case"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """One row of the table."""

    name: str
    severity: DefaultSeverity
    meaning: str
    hint: str


def _rows(*rows: tuple[str, DefaultSeverity, str, str]) -> dict[str, Code]:
    return {name: Code(name=name, severity=severity, meaning=meaning, hint=hint) for name, severity, meaning, hint in rows}


CODES = _rows(
    # No answer was obtained: outcome BLOCKED, never a wrong answer.
    ("INFRA.connect", "critical", "No connection to the server", "Is it running, and is the host and port right?"),
    ("INFRA.tls", "critical", "The TLS handshake failed", "Check the certificate, or use http:// for a plain port."),
    (
        "INFRA.timeout",
        "critical",
        "The server did not answer within the time limit",
        "Raise --mtp-timeout, or look for a hung request in the server's log.",
    ),
    ("INFRA.reset", "critical", "The connection ended before the answer did", "Look at the server's log around this time."),
    ("INFRA.auth", "critical", "The server refused the credentials", "Set the variable that --mtp-api-key-env names."),
    (
        "INFRA.model",
        "critical",
        "The server does not serve that model name",
        "Use one of the names under /v1/models, or leave --mtp-model out.",
    ),
    (
        "INFRA.path",
        "critical",
        "The address is not an OpenAI-compatible API",
        "Give the address of the API, for example http://host:8000/v1.",
    ),
    ("INFRA.busy", "critical", "429 or 503 after every retry", "Lower --mtp-concurrency, or test when the server has room."),
    ("INFRA.5xx", "critical", "The server failed on this request", "Look at the server's log around this time."),
    (
        "INFRA.crash",
        "critical",
        "The server ended while it was being tested",
        "Read the tail of its log; a crash is a reason not to deploy.",
    ),
    ("INFRA.start", "critical", "The server that we launched did not become ready", "Read the tail of its log."),
    # The wire.
    ("PROTO.json", "critical", "The body is not the JSON that the protocol asks for", "Look at the proxy and the API layer."),
    ("PROTO.sse", "critical", "The event stream breaks the protocol", "Look at the proxy and the streaming code of the API layer."),
    ("PROTO.done", "note", "The stream ended without [DONE]", "Clients that wait for it may hang."),
    (
        "PROTO.truncated",
        "critical",
        "The stream ended without a finish reason",
        "The answer was cut on its way; look at proxies and time-outs.",
    ),
    (
        "PROTO.finish",
        "critical",
        "The finish reason contradicts the reply",
        "Clients dispatch on it: calls need tool_calls, a full budget needs length.",
    ),
    ("PROTO.usage", "critical", "The token counts contradict each other or the reply", "Billing and acceptance figures rest on them."),
    ("PROTO.usage_missing", "note", "The reply carries no token counts", "Per-token figures are not available without them."),
    (
        "PROTO.budget",
        "critical",
        "More tokens than max_tokens allows, or fewer where the reply says length",
        "Clients size buffers and bills by it.",
    ),
    ("PROTO.stop", "critical", "A stop string was not obeyed", "Clients cut dialogues and code at stop strings: look at the detokeniser."),
    ("PROTO.stream_diff", "critical", "Streamed and unstreamed replies differ", "Look at the streaming code of the API layer."),
    ("PROTO.choices", "critical", "The choices of n > 1 are not those that were asked for", "Look at the API layer, or ask one at a time."),
    ("PROTO.crossed", "critical", "A reply holds the words of another request", "Stop serving: requests or cache blocks are mixed up."),
    ("PROTO.logprobs", "critical", "Log-probabilities contradict themselves", "Do not rank or filter by them; report it to the engine."),
    (
        "PROTO.logprobs_hollow",
        "model",
        "Log-probabilities of 0.0 without alternatives",
        "Known of tokens that leave a verify step of speculation: do not rank or filter by them.",
    ),
    ("PROTO.error_mapping", "note", "A bad request met a 5xx or a dropped connection", "Clients retry a 5xx: a refusal should be a 4xx."),
    (
        "PROTO.error_poison",
        "critical",
        "After a bad request an honest one is not served",
        "One client can take the server from all others.",
    ),
    ("PROTO.param", "note", "An option was ignored or refused in the wrong way", "See the engine's documentation for the option."),
    (
        "PROTO.refused",
        "case",
        "The server declined the request (4xx)",
        "Read its message; a request that another engine takes may need a flag here.",
    ),
    (
        "PROTO.reasoning",
        "critical",
        "Reasoning tags are unbalanced or leak into the answer",
        "Check the reasoning parser against the model family.",
    ),
    # Control first.
    (
        "CTRL.unstable",
        "note",
        "The server disagrees with itself at temperature 0",
        "Later differences of this size mean nothing; answers are graded by meaning.",
    ),
    ("CTRL.load", "note", "Agreement drops only under concurrency", "Batch-dependent numerics, or a race."),
    ("CTRL.poison", "critical", "Worse after load than before", "Prefix cache or speculative state is corrupted; restart and report it."),
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
    ("TOOL.name", "critical", "A call of a tool that was not offered", "Parser or template."),
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
    # Speculation.
    (
        "SPEC.dead",
        "critical",
        "Speculation is configured but drafts nothing or nothing is accepted",
        "Check the drafter's weights, its template and its temperature path.",
    ),
    ("SPEC.inactive", "note", "The server does not speculate", "Set the flag if it should."),
    (
        "SPEC.parity.material",
        "critical",
        "Speculation emits tokens that the model itself would not choose",
        "The verify step or its cache is broken, or acceptance is synthetic: do not deploy.",
    ),
    ("SPEC.parity.neartie", "note", "Speculation differs at a near-tie", "Numerics, not a fault."),
    ("SPEC.identity", "critical", "The acceptance counters contradict each other", "Do not trust figures from this server."),
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


def severity_of(code: str, case_severity: CaseSeverity = "model") -> Severity:
    """The default severity of a code for a case. Raises KeyError for a code that is not in the table."""
    default = CODES[code].severity
    return case_severity if default == "case" else default
