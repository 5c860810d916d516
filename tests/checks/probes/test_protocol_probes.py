"""The probes of the protocol suite, each against a lawful server and against the fault that it is for."""

from __future__ import annotations

import json

import pytest

from pytest_mtp.checks.kinds import check_for
from pytest_mtp.core.case import Case, Source
from pytest_mtp.core.errors import NotOffered
from pytest_mtp.core.exchange import Fault
from pytest_mtp.core.reply import Reply, TokenLogprob, TopToken, Usage

COUNTED = "one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen, fifteen"


def run(kind, server, **params):
    return check_for(kind)(Case(id="c", suite="s", source=Source(path="s", line=1), check=kind, params=params), server)


def codes(verdict):
    return [found.code for found in verdict.findings]


def said(text, *, reason="stop", **more):
    return Reply(content=text, finish_reason=reason, usage=Usage(prompt_tokens=5, completion_tokens=4, total_tokens=9), **more)


class Stops:
    """A server that counts, and what it makes of stop strings."""

    def __init__(self, obey):
        self.obey = obey

    def __call__(self, ask):
        first = min((COUNTED.find(stop) for stop in ask.sampling.stop if stop in COUNTED), default=-1)
        if first < 0:
            return said(COUNTED, reason="length")
        stop = next(word for word in ask.sampling.stop if COUNTED.find(word) == first)
        return self.obey(ask, COUNTED[:first], stop)


def test_stops_that_are_obeyed(memory):
    verdict = run("stops", memory(Stops(lambda _ask, due, _stop: said(due))))
    assert (verdict.outcome, codes(verdict), verdict.exchanges) == ("PASS", [], 8)


@pytest.mark.parametrize(
    ("obey", "words"),
    [
        pytest.param(lambda _ask, due, stop: said(due + stop), "is in the text", id="the stop is left in"),
        pytest.param(lambda _ask, _due, stop: said(COUNTED.replace(stop, "")), "was taken out", id="taken out, and generation goes on"),
        pytest.param(lambda _ask, due, _stop: said(due[:-4]), "are missing", id="too much is cut"),
        pytest.param(lambda _ask, due, _stop: said(due, reason="length"), "finish reason is 'length'", id="another reason"),
    ],
)
def test_stops_that_are_not_obeyed(memory, obey, words):
    verdict = run("stops", memory(Stops(obey)))
    assert verdict.outcome == "FAIL"
    assert codes(verdict)[0] == "PROTO.stop"
    assert words in verdict.findings[0].title


def test_a_stop_that_fails_in_streams_alone_is_told_with_its_mode(memory):
    verdict = run("stops", memory(Stops(lambda ask, due, stop: said(due + stop if ask.stream else due))))
    assert {found.where.split(", ")[-1] for found in verdict.findings} == {"streamed"}


def test_an_unsteady_server_is_only_held_to_what_holds_for_any_text(memory):
    count = iter(range(99))
    verdict = run("stops", memory(lambda ask: said(f"{next(count)} {COUNTED[: 20 if ask.sampling.stop else None]}")))
    assert verdict.outcome != "FAIL"


def test_an_answer_too_short_for_a_stop_is_inconclusive(memory):
    verdict = run("stops", memory(lambda _ask: said("one")))
    assert (verdict.outcome, verdict.reason[:24]) == ("INCONCLUSIVE", "a stop inside the text: ")


def body(*choices):
    return json.dumps({"choices": list(choices)})


def choice(index, reason="stop"):
    return {"index": index, "finish_reason": reason, "message": {"content": "x"}}


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        pytest.param(body(choice(0), choice(1), choice(2)), [], id="three"),
        pytest.param(body(choice(2), choice(0), choice(1)), [], id="in any order"),
        pytest.param(body(choice(0)), ["PROTO.param"], id="ignored"),
        pytest.param(body(choice(0), choice(0), choice(0)), ["PROTO.choices"], id="one index for all"),
        pytest.param(body(choice(0), choice(1)), ["PROTO.choices"], id="one too few"),
        pytest.param(body(choice(0), choice(1), choice(2, None)), ["PROTO.choices"], id="one without an end"),
    ],
)
def test_choices(memory, raw, found):
    assert codes(run("choices", memory(lambda _ask: said("x", raw=raw)))) == found


def test_a_server_that_refuses_more_choices_is_within_its_rights(memory):
    fault = Fault(kind="refused", code="PROTO.refused", message="n must be 1", status=400)
    with pytest.raises(NotOffered, match="n must be 1"):
        run("choices", memory(lambda _ask: fault))


def test_streams_that_are_alike(memory):
    verdict = run("stream_parity", memory(lambda ask: said(" " + COUNTED if ask.stream else COUNTED)))
    assert (verdict.outcome, verdict.exchanges) == ("PASS", 16)


@pytest.mark.parametrize(
    ("streamed", "name"),
    [
        pytest.param(said(COUNTED.replace("six", "s\ufffdx")), "text", id="text"),
        pytest.param(said(COUNTED, reasoning="hm"), "reasoning", id="reasoning"),
        pytest.param(said(COUNTED, reason="length"), "finish reason", id="reason"),
    ],
)
def test_streams_that_differ(memory, streamed, name):
    verdict = run("stream_parity", memory(lambda ask: streamed if ask.stream else said(COUNTED)))
    assert set(codes(verdict)) == {"PROTO.stream_diff"}
    assert verdict.findings[0].title.startswith(f"the {name} differs")


def counting(unary, streamed):
    """The same words, counted."""
    return lambda ask: Reply(
        content=COUNTED, finish_reason="length", usage=Usage(prompt_tokens=5, completion_tokens=streamed if ask.stream else unary)
    )


@pytest.mark.parametrize(
    ("unary", "streamed", "found"),
    [
        pytest.param(16, 8, {"PROTO.usage"}, id="steps are counted for tokens"),
        pytest.param(16, 15, set(), id="the end of the turn is not counted"),
        pytest.param(None, 8, set(), id="one mode tells nothing"),
    ],
)
def test_tokens_of_the_same_words(memory, unary, streamed, found):
    assert set(codes(run("stream_parity", memory(counting(unary, streamed))))) == found


def test_counts_that_waver_within_a_mode_say_nothing(memory):
    turns = iter(range(3, 99))

    def answer(ask):
        return counting(16, next(turns))(ask)

    assert codes(run("stream_parity", memory(answer))) == []


def test_a_server_that_wavers_within_a_mode_is_not_accused(memory):
    count = iter(range(99))
    verdict = run("stream_parity", memory(lambda _ask: said(f"{next(count)}")))
    assert (verdict.outcome, "disagrees with itself" in verdict.reason) == ("INCONCLUSIVE", True)


def entries(*rows):
    return tuple(
        TokenLogprob(token=token, logprob=value, top=tuple(TopToken(token=name, logprob=other) for name, other in top.items()))
        for token, value, top in rows
    )


SOUND = ("a", -0.1, {"a": -0.1, "b": -3.0})


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        pytest.param([SOUND] * 4, [], id="sound"),
        pytest.param([SOUND] * 3, [], id="the end of the turn has none"),
        pytest.param([("a", -0.75, {"b": -0.7, "a": -0.75}), *[SOUND] * 3], [], id="a near tie"),
        pytest.param([SOUND, ("b", 0.0, {}), SOUND, SOUND], ["PROTO.logprobs_hollow"], id="hollow"),
        pytest.param([("a", 0.5, {"a": 0.5}), *[SOUND] * 3], ["PROTO.logprobs"], id="above 0"),
        pytest.param([("b", -3.0, {"a": -0.1, "b": -3.0}), *[SOUND] * 3], ["PROTO.logprobs"], id="not the greedy token"),
        pytest.param([("a", -0.1, {"a": -0.1, "b": -0.2, "c": -0.3}), *[SOUND] * 3], ["PROTO.logprobs"], id="more than 1 in all"),
        pytest.param([SOUND] * 9, ["PROTO.logprobs"], id="more than tokens"),
    ],
)
def test_logprobs(memory, rows, found):
    verdict = run("logprobs", memory(lambda _ask: said("aaaa", logprobs=entries(*rows))))
    assert sorted(set(codes(verdict))) == found


def test_tokens_of_reasoning_may_have_no_logprobs(memory):
    verdict = run("logprobs", memory(lambda _ask: said("a", reasoning="hm, let me see", logprobs=entries(SOUND))))
    assert (verdict.outcome, codes(verdict)) == ("PASS", [])


def test_a_server_without_logprobs_is_skipped(memory):
    with pytest.raises(NotOffered, match="no log-probabilities"):
        run("logprobs", memory(lambda _ask: said("x")))


REFUSAL = Fault(kind="refused", code="PROTO.refused", message="400", status=400, body='{"error": {"message": "no"}}')


def door(bad):
    return lambda ask: bad if ask.extra_body else said("hello")


@pytest.mark.parametrize(
    ("bad", "outcome", "code"),
    [
        pytest.param(REFUSAL, "PASS", None, id="a refusal"),
        pytest.param(Fault(kind="server_error", code="INFRA.5xx", message="500", status=500), "PASS", "PROTO.error_mapping", id="a 500"),
        pytest.param(Fault(kind="reset", code="INFRA.reset", message="gone"), "PASS", "PROTO.error_mapping", id="a dropped connection"),
        pytest.param(
            Fault(kind="refused", code="PROTO.refused", message="400", status=400, body="<html>"),
            "PASS",
            "PROTO.error_mapping",
            id="a page",
        ),
        pytest.param(said("hello"), "PASS", "PROTO.param", id="an answer"),
    ],
)
def test_errors(memory, bad, outcome, code):
    verdict = run("errors", memory(door(bad)))
    assert verdict.outcome == outcome
    assert set(codes(verdict)) == ({code} if code else set())


def test_a_server_that_nonsense_kills_fails(memory):
    dead = []

    def answer(ask):
        if ask.extra_body:
            dead.append(True)
        return Fault(kind="connect", code="INFRA.connect", message="refused") if dead else said("hello")

    verdict = run("errors", memory(answer))
    assert (verdict.outcome, codes(verdict)) == ("FAIL", ["PROTO.error_poison"])
    assert verdict.exchanges == 2


class Sampler:
    """A server that samples lawfully; `ignores` names an option that it drops."""

    def __init__(self, ignores=()):
        self.ignores, self.turn = ignores, 0

    def __call__(self, ask):
        self.turn += 1
        options = {name: value for name, value in ask.sampling.body().items() if name not in self.ignores}
        greedy = (
            not options.get("temperature") or options.get("top_k") == 1 or options.get("min_p") == 1.0 or options.get("top_p", 1) < 0.01
        )
        if greedy:
            text = "banned" if options.get("logit_bias") else "greedy"
        else:
            text = f"seed {options['seed']}" if "seed" in options else f"sample {self.turn}"
        return said(text, token_ids=(7, 8), logprobs=())


def test_sampling_options_that_are_obeyed(memory):
    verdict = run("sampling", memory(Sampler()))
    assert (verdict.outcome, codes(verdict)) == ("PASS", [])


@pytest.mark.parametrize(
    ("option", "condition"),
    [
        ("seed", "a seed repeats"),
        ("temperature", "temperature varies"),
        ("top_k", "top_k 1 is greedy"),
        ("top_p", "top_p 0.000001 is greedy"),
        ("min_p", "min_p 1 is greedy"),
        ("logit_bias", "logit_bias bans a token"),
    ],
)
def test_a_sampling_option_that_is_ignored_in_silence(memory, option, condition):
    verdict = run("sampling", memory(Sampler(ignores=(option,))))
    assert [(found.code, found.where) for found in verdict.findings] == [("PROTO.param", condition)]


def test_a_server_that_wavers_at_temperature_0_is_not_accused_of_ignoring_options(memory):
    count = iter(range(99))
    verdict = run("sampling", memory(lambda _ask: said(f"{next(count)}", token_ids=(7,))))
    assert codes(verdict) == []


def test_an_option_that_takes_the_request_with_it(memory):
    lawful, crash = Sampler(), Fault(kind="server_error", code="INFRA.5xx", message="500, the engine died", status=500)
    verdict = run("sampling", memory(lambda ask: crash if ask.sampling.top_k else lawful(ask)))
    assert (verdict.outcome, codes(verdict)) == ("FAIL", ["PROTO.no_reply"])
    assert verdict.findings[0].where == "top_k 1 is greedy"
    assert run("sampling", memory(lambda _ask: crash)).outcome == "BLOCKED"


def test_only_the_option_that_the_server_died_of_is_accused(memory):
    """As vLLM 0.32.0 under speculation dies of top_k."""
    lawful, dead, crash = Sampler(), [], Fault(kind="server_error", code="INFRA.5xx", message="500, the engine died", status=500)

    def answer(ask):
        dead.extend([True] * bool(ask.sampling.top_k))
        return crash if dead else lawful(ask)

    verdict = run("sampling", memory(answer))
    assert (verdict.outcome, [(found.code, found.where) for found in verdict.findings]) == (
        "FAIL",
        [("PROTO.no_reply", "top_k 1 is greedy")],
    )


def test_a_refused_option_is_no_fault(memory):
    lawful = Sampler()
    verdict = run("sampling", memory(lambda ask: REFUSAL if ask.sampling.min_p else lawful(ask)))
    assert codes(verdict) == []
    assert "refused" in {m.stratum: m.note for m in verdict.measures}["min_p 1 is greedy"]


def test_questions_that_end(memory):
    answers = iter(["length", "stop"] * 9)
    assert run("natural_stop", memory(lambda _ask: said("x", reason=next(answers)))).outcome == "PASS"


def test_no_turn_that_ends(memory):
    verdict = run("natural_stop", memory(lambda _ask: said("x y z", reason="length")))
    assert (verdict.outcome, codes(verdict)) == ("FAIL", ["GEN.endless"])
    assert verdict.findings[0].severity == "model"


def secret_of(ask):
    words = ask.messages[0]["content"]
    return words.split("secret word is ")[1].split(".")[0]


def test_replies_that_stay_with_their_request(memory):
    verdict = run("canaries", memory(lambda ask: said(secret_of(ask))), width=4, rounds=2)
    assert (verdict.outcome, verdict.exchanges, codes(verdict)) == ("PASS", 12, [])


def test_a_reply_with_the_words_of_another_request(memory):
    last = []

    def answer(ask):
        last.append(secret_of(ask))
        return said(last[-2] if len(last) > 6 else last[-1])

    verdict = run("canaries", memory(answer), width=4, rounds=2)
    assert (verdict.outcome, codes(verdict)) == ("FAIL", ["PROTO.crossed"])


def test_other_numerics_in_a_crowd_are_a_note(memory):
    count = iter(range(99))
    verdict = run("canaries", memory(lambda ask: said(f"{secret_of(ask)} {next(count)}")), width=4, rounds=1)
    assert (verdict.outcome, codes(verdict)) == ("PASS", ["CTRL.load"])
