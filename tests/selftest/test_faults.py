"""Each fault does its one thing and nothing else: replies are compared with the honest ones, field by field."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from pytest_mtp.core.codes import CODES
from pytest_mtp.core.errors import UsageError
from pytest_mtp.selftest import FakeServer
from pytest_mtp.selftest.arming import arm
from pytest_mtp.selftest.faults import FAULTS
from pytest_mtp.selftest.tokens import split
from tests.selftest.conftest import body_for

TEXT, FINISH = "choices.0.message.content", "choices.0.finish_reason"
USED, TOTAL, PREDICTED = "usage.completion_tokens", "usage.total_tokens", "timings.predicted_n"
DRAFTED, ACCEPTED = "timings.draft_n", "timings.draft_n_accepted"
COUNTS = {USED, TOTAL, PREDICTED, DRAFTED, ACCEPTED}
CALLS = "choices.0.message.tool_calls"
NAME = f"{CALLS}.0.function.name"
FIRST, SECOND = f"{CALLS}.0.function.arguments", f"{CALLS}.1.function.arguments"
WORDS = ("prose", "german", "chinese", "long", "sum", "code", "echo", "no call", "json")
LOOSE = ("prose", "german", "chinese", "long", "no call")
CALLED = ("call", "two calls", "long call")

# What differs, by prompt; prompts that are not named must get the honest reply.
EFFECTS = {
    "wrong-value": {"sum": {TEXT}, "echo": {TEXT}, "json": {TEXT}},
    "empty-arguments": {"call": {FIRST}, "two calls": {FIRST, SECOND}, "long call": {FIRST}},
    "doubled-brace": {"call": {FIRST}, "two calls": {FIRST, SECOND}, "long call": {FIRST}},
    "leaked-markup": {name: {TEXT, FINISH, CALLS} for name in CALLED},
    "finish-reason": {name: {FINISH} for name in (*WORDS, *CALLED)},
    "usage-mismatch": {name: {USED} for name in (*WORDS, *CALLED)},
    "dead-drafter": {name: {ACCEPTED, DRAFTED} for name in (*WORDS, *CALLED)},
    "dropped-call": {"two calls": {f"{CALLS}.1"}},
    "duplicate-id": {"two calls": {f"{CALLS}.1.id"}},
    "swapped-arguments": {"long call": {FIRST}},
    "verify-bug": {name: {TEXT} for name in LOOSE},
    "replacement-characters": {name: {TEXT, *COUNTS} for name in ("prose", "german", "chinese", "long", "echo", "no call")},
    "unknown-tool": {"call": {NAME}, "two calls": {NAME, NAME.replace("0.function", "1.function")}, "long call": {NAME}},
    "missing-id": {"call": {f"{CALLS}.0.id"}, "two calls": {f"{CALLS}.0.id", f"{CALLS}.1.id"}, "long call": {f"{CALLS}.0.id"}},
    "duplicate-call": {"call": {f"{CALLS}.1"}, "two calls": {f"{CALLS}.2"}, "long call": {f"{CALLS}.1"}},
    "empty-reply": {name: {TEXT} for name in WORDS},
    "special-tokens": {name: {TEXT} for name in WORDS},
    "null-finish": {name: {FINISH} for name in (*WORDS, *CALLED)},
    "ignored-schema": {"json": {TEXT, *COUNTS}},
    "leaked-reasoning": {name: {TEXT, *COUNTS} for name in WORDS},
    "mojibake": {name: {TEXT, *COUNTS} for name in ("german", "chinese", "echo")},
    "wrong-script": {name: {TEXT, *COUNTS} for name in ("prose", "german", "long", "no call")},
    "single-quotes": {"call": {FIRST, *COUNTS}, "two calls": {FIRST, SECOND, *COUNTS}, "long call": {FIRST, *COUNTS}},
    "weak-drafter": {name: {ACCEPTED, DRAFTED} for name in (*WORDS, *CALLED)},
    "miscounted-drafts": {name: {ACCEPTED} for name in (*WORDS, *CALLED)},
    "no-drafts-with-tools": {name: {ACCEPTED, DRAFTED} for name in (*CALLED, "no call")},
    "no-drafts-with-schema": {"json": {ACCEPTED, DRAFTED}},
    "schema-says-nothing": {"json": {TEXT, *COUNTS}},
    "ignored-choice": {},
    "ignored-result": {},
    "overrun": {},
    "endless-loop": {name: {TEXT, FINISH, *COUNTS} for name in WORDS},
}
ALWAYS_SAME = (
    "lost-tail",
    "zero-index",
    "repeated-arguments",
    "lost-first-delta",
    "truncated-stream",
    "cut-stream",
    "no-done",
    "error-in-stream",
    "stream-only-empty-arguments",
    "slow",
    "drafts-only-greedy",
    "accepts-only-greedy",
    "no-drafts-after-long-prompt",
)


def difference(one, other, path=""):
    if isinstance(one, dict) and isinstance(other, dict):
        return set().union(*(difference(one.get(key), other.get(key), f"{path}.{key}".lstrip(".")) for key in {*one, *other}))
    if isinstance(one, list) and isinstance(other, list):
        places = range(max(len(one), len(other)))
        return set().union(*(difference(*(x[i] if i < len(x) else None for x in (one, other)), f"{path}.{i}") for i in places))
    return set() if one == other else {path}


@pytest.mark.parametrize("fault", EFFECTS)
def test_a_fault_changes_what_it_says_and_nothing_else(honest, talk, fault):
    broken = talk(faults=[fault])
    for name in honest.prompts:
        changed = difference(honest.named(name), broken.named(name))
        expected = EFFECTS[fault].get(name, set())
        if COUNTS & expected and fault != "usage-mismatch":  # other words may happen to be as many
            assert changed - COUNTS == expected - COUNTS, name
            assert changed <= expected, name
        else:
            assert changed == expected, name


@pytest.mark.parametrize("fault", ALWAYS_SAME)
def test_faults_of_streaming_leave_whole_replies_alone(honest, talk, fault):
    broken = talk(faults=[f"{fault}:0" if fault == "slow" else fault])
    assert all(not difference(honest.named(name), broken.named(name)) for name in honest.prompts)


@pytest.mark.parametrize("fault", [name for name in EFFECTS if name != "endless-loop"])
def test_a_stream_shows_the_fault_of_the_whole_reply(talk, fault):
    broken = talk(faults=[fault])
    for name, asked in broken.prompts.items():
        whole, stream = broken.named(name), broken.streamed(**asked)
        calls = [{"id": call["id"], **call["function"]} for call in whole["choices"][0]["message"].get("tool_calls", ())]
        seen = (stream["content"] or None, stream["finish"], stream["tool_calls"], stream["usage"])
        assert seen == (whole["choices"][0]["message"]["content"] or None, whole["choices"][0]["finish_reason"], calls, whole["usage"]), (
            name
        )


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_expects_codes_of_the_table(name):
    assert FAULTS[name].expected
    assert set(FAULTS[name].expected) <= set(CODES)
    assert FAULTS[name].imitates


@pytest.mark.parametrize("prompt", CALLED)
def test_a_doubled_brace_is_one_brace_too_many(honest, talk, prompt):
    broken = talk(faults=["doubled-brace"]).named(prompt)
    for honest_call, call in zip(*(reply["choices"][0]["message"]["tool_calls"] for reply in (honest.named(prompt), broken)), strict=True):
        assert call["function"]["arguments"] == honest_call["function"]["arguments"] + "}"


def test_a_leaked_call_is_complete_and_well_formed(honest, talk):
    call = honest.named("call")["choices"][0]["message"]["tool_calls"][0]["function"]
    text = talk(faults=["leaked-markup"]).named("call")["choices"][0]["message"]["content"]
    inner = text.removeprefix("<tool_call>\n").removesuffix("\n</tool_call>")
    assert json.loads(inner) == {"name": call["name"], "arguments": json.loads(call["arguments"])}


def test_a_wrong_value_is_another_value_and_stays_wrong_when_continued(talk):
    broken = talk(faults=["wrong-value"])
    assert broken.text("What is 6*7? Only the number.") == "43"
    messages = [{"role": "user", "content": "What is 17 * 3 + 2?"}, {"role": "assistant", "content": "The result is"}]
    assert broken.post({"messages": messages})["choices"][0]["message"]["content"] == " 54.\nAnswer: 54"


@pytest.mark.parametrize(
    ("answer", "wrong"), [("Answer: B", "Answer: C"), ("yes", "no"), ("It is Paris.", "It is nothing."), ("3.25 km", "3.26 km")]
)
def test_a_wrong_value_is_found_in_each_kind_of_answer(talk, answer, wrong):
    assert talk(answers={"Q": answer}, faults=["wrong-value"]).text("Q") == wrong


@pytest.mark.parametrize("sampling", [{}, {"temperature": 1.0, "seed": 2}], ids=["greedy", "sampled"])
def test_a_loop_fills_the_budget_at_any_temperature(talk, sampling):
    choice = talk(faults=["endless-loop"]).choice("Why is the sky blue?", max_tokens=200, **sampling)
    assert choice["finish_reason"] == "length"
    words = split(choice["message"]["content"])
    assert len(words) == 200
    assert Counter(zip(*(words[place:] for place in range(6)), strict=False)).most_common(1)[0][1] > 15


def test_a_loop_continues_itself(talk):
    broken = talk(faults=["endless-loop"])
    whole = broken.text("Why is the sky blue?", max_tokens=60)
    prefix = "".join(split(whole)[:40])
    messages = [{"role": "user", "content": "Why is the sky blue?"}, {"role": "assistant", "content": prefix}]
    assert prefix + broken.post({"messages": messages, "max_tokens": 20})["choices"][0]["message"]["content"] == whole


def test_a_broken_verify_step_emits_what_the_model_would_not_choose(talk):
    broken = talk(faults=["verify-bug"])
    prompt = "Why is the sky blue?"
    emitted = broken.choice(prompt, max_tokens=40, logprobs=True)["logprobs"]["content"]
    gaps = []
    for place, entry in enumerate(emitted):
        prefix = "".join(token["token"] for token in emitted[:place])
        messages = [{"role": "user", "content": prompt}, {"role": "assistant", "content": prefix}]
        step = broken.post({"messages": messages, "temperature": 0, "max_tokens": 1, "logprobs": True, "top_logprobs": 5})
        chosen = step["choices"][0]["logprobs"]["content"][0]
        if chosen["token"] != entry["token"]:
            gaps.append(chosen["logprob"] - entry["logprob"])
    assert len(gaps) >= 4
    assert min(gaps) > 5


def test_a_broken_verify_step_needs_drafts(honest, talk):
    assert talk(faults=["verify-bug"], speculation=False).text("Why is the sky blue?") == honest.text("Why is the sky blue?")


def test_an_unstable_server_differs_from_itself_in_few_words(talk):
    broken = talk(faults=["unstable"])
    texts = [split(broken.text("Write a long story.")) for _ in range(3)]
    assert texts[0] != texts[1]
    assert len(texts[0]) == len(texts[1])
    assert sum(one != other for one, other in zip(texts[0], texts[1], strict=True)) < 0.2 * len(texts[0])
    assert len({broken.text("What is 6*7? Only the number.") for _ in range(5)}) == 1


def test_a_dead_drafter_drafts_and_accepts_nothing(talk):
    broken = talk(faults=["dead-drafter"])
    broken.text("Write a long story.")
    counted = broken.counters()
    assert counted["spec_decode_num_draft_tokens_total"] > 100
    assert counted["spec_decode_num_accepted_tokens_total"] == 0


def test_forced_calls_do_not_pass_the_parser_that_leaks(talk, called):
    assert talk(faults=["leaked-markup"]).choice(**called, tool_choice="required")["message"]["tool_calls"]


def test_a_demanded_call_comes_as_words(talk, called):
    broken = talk(faults=["ignored-choice"])
    assert broken.choice(**called, tool_choice="required")["finish_reason"] == "stop"
    assert broken.choice(**called)["finish_reason"] == "tool_calls"


def test_a_result_is_answered_with_the_call_of_before(talk, called):
    broken = talk(faults=["ignored-result"])
    first = broken.choice(**called)["message"]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "18 °C"} for call in first["tool_calls"]]
    body = {"messages": [{"role": "user", "content": called["prompt"]}, first, *results], "tools": called["tools"]}
    again = broken.post(body)["choices"][0]["message"]["tool_calls"]
    assert [call["function"] for call in again] == [call["function"] for call in first["tool_calls"]]


def test_accepted_drafts_run_over_the_budget(talk):
    reply = talk(faults=["overrun"]).post({"messages": [{"role": "user", "content": "Why is the sky blue?"}], "max_tokens": 20})
    assert (reply["usage"]["completion_tokens"], reply["choices"][0]["finish_reason"]) == (23, "length")


def test_a_weak_drafter_has_its_share_of_the_acceptance(talk):
    rates = []
    for server in (talk(), talk(faults=["weak-drafter:50"])):
        server.text("Write a long story.")
        counted = server.counters()
        rates.append(counted["spec_decode_num_accepted_tokens_total"] / counted["spec_decode_num_draft_tokens_total"])
    assert 0.2 < rates[1] / rates[0] < 0.6


SAMPLED = {"temperature": 1.0, "seed": 1}


def drafted(talk, fault, prompt, **fields):
    timings = talk(faults=[fault]).post(body_for(prompt, **fields))["timings"]
    return timings.get("draft_n"), timings.get("draft_n_accepted")


def test_a_drafter_for_greedy_requests_alone(talk):
    assert drafted(talk, "drafts-only-greedy", "Write a long story.", **SAMPLED) == (None, None)
    made, accepted = drafted(talk, "accepts-only-greedy", "Write a long story.", **SAMPLED)
    assert (made > 100, accepted) == (True, 0)


def test_a_drafter_with_a_short_context(talk):
    words = "Summarise this: " + "the keeper counted boats; " * 60
    assert drafted(talk, "no-drafts-after-long-prompt", words) == (None, None)
    assert drafted(talk, "no-drafts-after-long-prompt-2000", words)[0] > 100


def test_structured_output_fails_as_long_as_the_server_speculates(talk, honest):
    asked = body_for(**honest.prompts["json"])
    broken = talk(faults=["schema-fails"])
    assert "speculative decoding" in broken.post(asked, expect=500)["error"]["message"]
    assert broken.text("Why is the sky blue?") == honest.text("Why is the sky blue?")
    assert talk(faults=["schema-fails"], speculation=False).post(asked)["choices"] == honest.post(asked)["choices"]


def test_a_rate_strikes_that_share_and_always_the_same(talk):
    broken = talk(faults=["finish-reason@0.3"])
    prompts = [f"What is {number}+1?" for number in range(100)]
    struck = [broken.choice(prompt)["finish_reason"] != "stop" for prompt in prompts]
    assert 15 <= sum(struck) <= 45
    again = talk(faults=["finish-reason@0.3"])
    assert [again.choice(prompt)["finish_reason"] != "stop" for prompt in prompts] == struck


def test_a_fault_of_the_model_strikes_a_question_always_or_never(talk):
    broken = talk(faults=["wrong-value@0.5"])
    for number in range(20):
        assert len({broken.text(f"What is {number}+1?") for _ in range(3)}) == 1


@pytest.mark.parametrize(
    ("word", "hint"),
    [("wrong-valu", "wrong-value"), ("busy@2", "rate"), ("busy@1.2.3", "rate"), ("hang:3", "number"), ("", "known"), ("UP", "known")],
)
def test_an_unknown_fault_is_refused_with_a_hint(word, hint):
    with pytest.raises(UsageError, match=hint):
        FakeServer(faults=[word])


@pytest.mark.parametrize(
    ("word", "number", "rate"), [("busy", 10_000, 1.0), ("busy:7", 7, 1.0), ("die-after-12", 12, 1.0), ("die-after@0.5", 3, 0.5)]
)
def test_faults_take_a_number_and_a_rate(word, number, rate):
    (armed,) = arm([word])
    assert (armed.number, armed.rate) == (number, rate)
