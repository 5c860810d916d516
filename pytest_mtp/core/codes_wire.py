"""Finding codes of the surroundings and of the wire: what was lost, or came otherwise than the protocol says."""

from __future__ import annotations

from pytest_mtp.core.code import table_of

WIRE_CODES = table_of(
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
        "PROTO.no_reply",
        "critical",
        "A lawful request ended without a reply, and its plain twin was answered",
        "Look in the server's log: a parser, a template or an option took the whole request with it.",
    ),
    (
        "PROTO.error_poison",
        "critical",
        "After a bad request an honest one is not served",
        "One client can take the server from all others.",
    ),
    (
        "PROTO.template",
        "model",
        "A part of the request never reaches the prompt",
        "The chat template drops it: give the server the template of the model's family.",
    ),
    (
        "PROTO.buffered",
        "note",
        "A stream that arrives in one piece at its end",
        "Turn off buffering in the proxy (nginx: proxy_buffering off).",
    ),
    ("PROTO.overload", "critical", "A request beyond what fits was neither answered nor refused", "Clients can only wait for 429 and 503."),
    (
        "PROTO.overflow",
        "model",
        "A prompt beyond the window was cut in silence",
        "Raise the window, or have the server refuse: answers miss what was cut.",
    ),
    ("PROTO.disconnect", "critical", "Abandoned requests keep running", "Every impatient user costs a place until the answer ends."),
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
)
