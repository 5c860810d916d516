"""Each record survives the border between processes: builtins out, the same value back."""

from __future__ import annotations

import json
import math

import pytest

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.case import Case, Expect, Golden, Provenance, Source, Suite, model_slug
from pytest_mtp.core.exchange import Attempt, ChunkStamp, Exchange, Fault, Timeline
from pytest_mtp.core.facts import Acceptance, Capabilities, Control, Endpoint, ServerFacts, SpecDecode
from pytest_mtp.core.record import Record
from pytest_mtp.core.reply import Reply, TokenLogprob, ToolCall, TopToken, Usage, WireNote
from pytest_mtp.core.verdict import Finding, Interval, Measure, Verdict, merge

SOURCE = Source(path="suites/a.mtp.yaml", line=3)
ASK = Ask(
    messages=({"role": "user", "content": "hi"},),
    tools=({"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}},),
    tool_choice={"type": "function", "function": {"name": "f"}},
    sampling=Sampling(temperature=0, max_tokens=4, stop=("x",), logit_bias={"7": -1.5}),
    top_logprobs=2,
    extra_body={"cache_prompt": False},
)
REPLY = Reply(
    content=None,
    reasoning="so",
    tool_calls=(ToolCall(id="1", type="function", name="f", arguments="{}", index=0),),
    usage=Usage(prompt_tokens=1, completion_tokens=2, total_tokens=3),
    logprobs=(TokenLogprob(token="a", logprob=-0.5, token_id=3, top=(TopToken(token="b", logprob=-1.0),)),),
    token_ids=(1, 2),
    extras={"timings": {"draft_n": 3}},
    notes=(WireNote(code="PROTO.done", detail="no [DONE]"),),
)
TIMELINE = Timeline(sent_ns=1, headers_ns=2, done_ns=9, chunks=(ChunkStamp(at_ns=4, characters=2, token_count=1),))
FAULT = Fault(kind="busy", code="INFRA.busy", message="429", status=429, headers={"retry-after": "1"})
EXCHANGE = Exchange(ask=ASK, url="http://x/v1", model="m", reply=REPLY, timeline=TIMELINE, attempts=(Attempt(duration_s=0.5, fault=FAULT),))
GOLDEN = Golden(
    case_id="a", model="any", expect=(Expect(kind="number", spec=3),), provenance=Provenance(author="us", grader_version=1), source=SOURCE
)
CASE = Case(id="a", suite="s", source=SOURCE, ask=ASK, goldens={"any": GOLDEN}, modes=("unary", "stream"), tags=("t",))
FINDING = Finding(code="ANS.wrong", severity="model", title="t", evidence={"expected": [1, {"a": None}]})
FACTS = ServerFacts(
    endpoint=Endpoint(root="http://x", api_root="http://x/v1", model="m"),
    engine="llamacpp",
    model="m",
    capabilities=Capabilities(logprobs=True),
    speculation=SpecDecode(state="active", acceptance=Acceptance(drafted=4, accepted=2, rounds=2, per_position=(2, 0))),
)
VERDICT = Verdict(
    case_id="a",
    outcome="FAIL",
    findings=(FINDING,),
    measures=(
        Measure(
            name="rate",
            value=0.5,
            unit="1",
            per="case",
            n=4,
            interval=Interval(low=0.1, high=0.9, level=0.95, method="clopper-pearson"),
        ),
    ),
    rate=(1, 2),
)
CONTROL = Control(prompts=5, repeats=3, disagree_text=0, disagree_graded=0, findings=(FINDING,), answers={"p": "4"})
SUITE = Suite(name="s", source=SOURCE, cases=(CASE,))


@pytest.mark.parametrize("record", [EXCHANGE, CASE, FACTS, VERDICT, CONTROL, SUITE], ids=lambda record: type(record).__name__)
def test_round_trip_through_json(record: Record) -> None:
    assert type(record).from_dict(json.loads(json.dumps(record.to_dict()))) == record


def test_not_a_number_becomes_none_so_that_json_stays_valid() -> None:
    assert Measure(name="x", value=math.nan, unit="s", per="run", n=0).to_dict()["value"] is None


def test_a_wrong_type_names_the_field() -> None:
    with pytest.raises(ValueError, match=r"Case\.repeats: expected int, got str"):
        Case.from_dict({**CASE.to_dict(), "repeats": "three"})


def test_a_boolean_is_not_an_integer() -> None:
    with pytest.raises(ValueError, match="repeats"):
        Case.from_dict({**CASE.to_dict(), "repeats": True})


def test_an_unknown_key_of_a_newer_release_is_ignored() -> None:
    assert Finding.from_dict({**FINDING.to_dict(), "novel": 1}) == FINDING


def test_an_exchange_is_a_reply_or_a_fault() -> None:
    with pytest.raises(ValueError, match="reply or a fault"):
        Exchange(ask=ASK, url="u", model="m", reply=REPLY, fault=FAULT, timeline=TIMELINE)


def test_the_worst_outcome_wins() -> None:
    assert merge(["PASS", "INCONCLUSIVE", "BLOCKED"]) == "BLOCKED"
    assert merge(["BLOCKED", "FAIL"]) == "FAIL"
    assert merge([]) == "PASS"


def test_acceptance_is_a_delta_of_counters() -> None:
    before = Acceptance(drafted=10, accepted=4, rounds=5, per_position=(4,))
    after = Acceptance(drafted=30, accepted=14, rounds=15, per_position=(10, 4))
    delta = after.since(before)
    assert (delta.drafted, delta.accepted, delta.rounds, delta.per_position) == (20, 10, 10, (6, 4))
    assert delta.rate == 0.5
    assert delta.mean_length == 2.0
    assert Acceptance(drafted=0, accepted=0).rate is None


def test_slug_of_a_model_name() -> None:
    assert model_slug("Qwen/Qwen3.5-27B_FP8") == "qwen-qwen3-5-27b-fp8"


def test_body_sends_only_what_was_set() -> None:
    body = Ask(messages=({"role": "user", "content": "x"},), stream=True, extra_body={"top_k": 1}).body("m")
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "x"}],
        "temperature": 0.0,
        "stream": True,
        "stream_options": {"include_usage": True},
        "top_k": 1,
    }
