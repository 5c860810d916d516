"""Questions with one short answer end by themselves, well below the budget.

A model that never ends its turn has lost its end token: a template, a tokenizer or a stop list that does not fit the weights. Weak
models ramble too, so a few long answers are a matter of the model; none that ends, of all, is told as one.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_mtp.checks.probes.probe import Probe, Sight, finding, unanswered
from pytest_mtp.checks.probes.saying import say, whole
from pytest_mtp.checks.probes.sent import Sent
from pytest_mtp.core.case import Case

QUESTIONS = (
    "What is 2+2? Answer with only the number.",
    "What is the capital of France? Answer with one word.",
    "Is fire hot? Answer yes or no.",
    "Which colour is snow? Answer with one word.",
    "Say hello.",
    "How many days has a week? Answer with only the number.",
)
_MAX_TOKENS = 96
_CONDITION = "short questions"


def look(case: Case, sent: Sent) -> Sequence[Sight]:
    """One trial is the whole set: a single rambling answer says nothing."""
    budget = whole(case, "max_tokens", _MAX_TOKENS)
    exchanges = sent.many([say(question, max_tokens=budget) for question in QUESTIONS])
    missing = next((exchange for exchange in exchanges if exchange.reply is None), None)
    if missing is not None:
        return [unanswered(_CONDITION, missing)]
    endless = [exchange for exchange in exchanges if exchange.reply and exchange.reply.finish_reason == "length"]
    if len(endless) < len(exchanges):
        return [Sight(condition=_CONDITION)]
    first = endless[0].reply
    title = f"none of {len(exchanges)} short questions was answered within {budget} tokens: no turn ends by itself"
    evidence = {"prompt": QUESTIONS[0], "text": first.text[:300] if first else ""}
    return [Sight(condition=_CONDITION, findings=(finding("GEN.endless", title, evidence=evidence),), culprit=endless[0])]


PROBE = Probe(
    name="natural_stop",
    about="short questions end by themselves",
    requests=lambda _: len(QUESTIONS),
    tokens=lambda case: len(QUESTIONS) * whole(case, "max_tokens", _MAX_TOKENS),
    look=look,
    sees=("natural-stop", "non-empty-answer"),
)
