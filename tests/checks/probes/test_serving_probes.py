"""The probes of caches, crowds, calls, schemas and long prompts, each against a lawful server and the fault that it is for."""

from __future__ import annotations

import dataclasses
import json

import pytest

from pytest_mtp.checks.kinds import check_for
from pytest_mtp.core.case import Case, Source
from pytest_mtp.core.errors import NotOffered
from pytest_mtp.core.exchange import ChunkStamp, Exchange, Fault, Timeline
from pytest_mtp.core.facts import Acceptance, Counters, Load
from pytest_mtp.core.reply import Reply, TokenLogprob, ToolCall, TopToken, Usage


def run(kind, server, **params):
    return check_for(kind)(Case(id="c", suite="s", source=Source(path="s", line=1), check=kind, params=params), server)


def codes(verdict):
    return [found.code for found in verdict.findings]


def reply(text, *, reason="stop", prompt=9, cached=None, **more):
    usage = Usage(prompt_tokens=prompt, completion_tokens=4, total_tokens=prompt + 4, cached_tokens=cached)
    return Reply(content=text, finish_reason=reason, usage=usage, **more)


def words_of(ask):
    return " ".join(str(message["content"]) for message in ask.messages)


REFUSAL = Fault(kind="refused", code="PROTO.refused", message="400 no", status=400, body="{}")
CRASH = Fault(kind="server_error", code="INFRA.5xx", message="500", status=500)
BUSY = Fault(kind="busy", code="INFRA.busy", message="429", status=429)


class Cached:
    """A server with a prefix cache; `warm` makes the answer to a prompt whose prefix it has seen."""

    def __init__(self, warm=None, *, tells=True, nats=None):
        self.seen, self.warm, self.tells, self.nats = set(), warm, tells, nats

    def __call__(self, ask):
        prefix = words_of(ask).split(".")[0]
        hit, text = prefix in self.seen, words_of(ask)[-12:]
        self.seen.add(prefix)
        if hit and self.warm:
            text = self.warm(text)
        value = self.nats if hit and self.nats is not None else -0.3
        told = (TokenLogprob(token="a", logprob=value, top=(TopToken(token="a", logprob=value),)),) if self.nats is not None else ()
        return reply(text, cached=(64 if hit else 0) if self.tells else None, logprobs=told)


def test_warm_answers_that_are_the_cold_ones(memory):
    verdict = run("prefix_cache", memory(Cached()), prefixes=2)
    assert (verdict.outcome, verdict.exchanges, codes(verdict)) == ("PASS", 8, [])


def test_a_cache_that_moves_the_first_token_is_corrupt(memory):
    verdict = run("prefix_cache", memory(Cached(nats=-2.7)))
    assert (verdict.outcome, set(codes(verdict))) == ("FAIL", {"CTRL.cache"})
    assert "2.40 nats" in verdict.findings[0].title


def test_other_words_behind_the_same_first_token_are_a_note(memory):
    verdict = run("prefix_cache", memory(Cached(warm=str.upper, nats=-0.31)))
    assert (verdict.outcome, {found.severity for found in verdict.findings}) == ("PASS", {"note"})


def test_without_logprobs_a_majority_of_changed_answers_is_told(memory):
    verdict = run("prefix_cache", memory(Cached(warm=str.upper)))
    assert (verdict.outcome, set(codes(verdict))) == ("FAIL", {"CTRL.cache"})


def test_without_a_hit_nothing_is_proven(memory):
    verdict = run("prefix_cache", memory(lambda _ask: reply("x", cached=0)))
    assert (verdict.outcome, verdict.reason) == ("INCONCLUSIVE", "a warm prefix: the server reports no cache hit")


def test_a_server_that_tells_nothing_of_its_cache_is_skipped(memory):
    with pytest.raises(NotOffered, match="does not tell"):
        run("prefix_cache", memory(Cached(tells=False)))


class Reader:
    """Counts words as tokens; `reads` may cut or drop parts of the request."""

    def __init__(self, reads=lambda count, _ask: count):
        self.reads = reads

    def __call__(self, ask):
        count = len(words_of(ask).split()) + 20 * len(ask.tools)
        return reply("yes", prompt=self.reads(count, ask))


def test_prompt_tokens_that_add_up(memory):
    verdict = run("prompt_tokens", memory(Reader()))
    assert (verdict.outcome, codes(verdict)) == ("PASS", [])


@pytest.mark.parametrize(
    ("reads", "code"),
    [
        pytest.param(lambda count, _ask: min(count, 30), "PROTO.usage", id="a prompt that is cut"),
        pytest.param(lambda count, ask: count + bool(ask.stream), "PROTO.usage", id="other counts in streams"),
        pytest.param(lambda count, ask: count - 20 * len(ask.tools), "TOOL.template", id="tools that are dropped"),
        pytest.param(
            lambda _count, ask: len(str(ask.messages[-1]["content"]).split()), "PROTO.template", id="a system message that is dropped"
        ),
    ],
)
def test_prompt_tokens_that_do_not_add_up(memory, reads, code):
    assert code in codes(run("prompt_tokens", memory(Reader(reads))))


def json_answer(ask):
    schema = ask.response_format["json_schema"]["schema"]
    return json.dumps({"ok": True} if "ok" in schema["properties"] else {"colour": "red", "size": 2})


def test_schemas_that_are_kept(memory):
    verdict = run("structured", memory(lambda ask: reply(json_answer(ask))))
    assert (verdict.outcome, verdict.exchanges, codes(verdict)) == ("PASS", 18, [])


def test_a_schema_that_temptation_breaks_in_streams_alone(memory):
    verdict = run("structured", memory(lambda ask: reply("Roses are red" if ask.stream else json_answer(ask))))
    assert (verdict.outcome, set(codes(verdict))) == ("FAIL", {"ANS.json_forced"})
    assert {found.where.split(", ")[-1] for found in verdict.findings} == {"streamed"}


def test_an_answer_that_the_budget_cut_is_no_broken_promise(memory):
    verdict = run("structured", memory(lambda _ask: reply('{"ok', reason="length")))
    assert (verdict.outcome, verdict.reason.split(": ")[1]) == ("INCONCLUSIVE", "the budget cut the answer")


def test_schemas_that_are_refused_are_skipped(memory):
    with pytest.raises(NotOffered, match="400 no"):
        run("structured", memory(lambda _ask: REFUSAL))


def test_schemas_that_take_greedy_requests_with_them(memory):
    """As vLLM 0.32.0 under speculation, whose grammar refuses what the drafts left behind."""
    verdict = run("structured", memory(lambda ask: reply(json_answer(ask)) if ask.sampling.temperature else CRASH))
    assert (verdict.outcome, set(codes(verdict))) == ("FAIL", {"PROTO.no_reply"})
    assert {found.where.split(", ")[1] for found in verdict.findings} == {"greedy", "streamed"}


def test_a_refusal_with_the_status_of_a_failure_is_one_where_it_says_so(memory):
    told = Fault(kind="server_error", code="INFRA.5xx", message="500, the server failed: not supported with speculation", status=500)
    with pytest.raises(NotOffered, match="not supported with speculation"):
        run("structured", memory(lambda _ask: told))
    assert run("structured", memory(lambda _ask: CRASH)).outcome == "BLOCKED"


def calling(ask, name="get_weather", arguments='{"city": "Paris"}'):
    call = ToolCall(id="c1", type="function", name=name, arguments=arguments, index=0)
    return Reply(
        content="", tool_calls=(call,), finish_reason="tool_calls", usage=Usage(prompt_tokens=5, completion_tokens=4, total_tokens=9)
    )


def chooses(ask):
    return reply("No calls here.") if ask.tool_choice == "none" else calling(ask)


def test_tool_choice_that_is_obeyed(memory):
    verdict = run("tool_choice", memory(chooses))
    assert (verdict.outcome, verdict.exchanges, codes(verdict)) == ("PASS", 16, [])


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        pytest.param(calling, "TOOL.none_expected", id="none is ignored"),
        pytest.param(lambda _ask: reply("It is sunny."), "TOOL.forced", id="required is ignored"),
        pytest.param(
            lambda ask: reply("x") if ask.tool_choice == "none" else calling(ask, name="get_weather</arg>"),
            "TOOL.name",
            id="a mangled name",
        ),
    ],
)
def test_tool_choice_that_is_not_obeyed(memory, answer, code):
    assert code in codes(run("tool_choice", memory(answer)))


def test_a_forced_call_whose_arguments_are_no_object(memory):
    """vLLM 0.32.0 without `strict`: JSON, and a text. Where nothing was forced it is the model's own affair."""
    verdict = run("tool_choice", memory(lambda ask: reply("x") if ask.tool_choice == "none" else calling(ask, arguments='"Paris"')))
    assert (verdict.outcome, set(codes(verdict)), {found.severity for found in verdict.findings}) == ("FAIL", {"TOOL.args_json"}, {"model"})
    assert {found.where.split(",")[0] for found in verdict.findings} == {"required", "named"}


def test_a_finding_says_in_which_cell_of_the_matrix_it_was_made(memory):
    markup = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
    verdict = run("tool_choice", memory(lambda ask: reply(markup) if ask.tool_choice == "auto" and ask.stream else chooses(ask)))
    assert {found.where for found in verdict.findings} == {"auto, streamed: content", "auto, streamed, system message: content"}


def test_markup_is_plain_text_where_no_call_was_allowed(memory):
    markup = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
    verdict = run("tool_choice", memory(lambda ask: reply(markup) if ask.tool_choice == "none" else calling(ask)))
    assert codes(verdict) == []


def finds(ask):
    name = ask.tools[0]["function"]["name"]
    return calling(ask, name=name, arguments='{"query": "x"}' if name == "find" else "{}")


def test_calls_that_are_alike_in_both_modes(memory):
    verdict = run("coarse_calls", memory(finds))
    assert (verdict.outcome, codes(verdict)) == ("PASS", [])


@pytest.mark.parametrize(
    "streamed",
    [
        pytest.param(lambda ask: calling(ask, name=ask.tools[0]["function"]["name"], arguments=""), id="arguments are lost"),
        pytest.param(lambda _ask: reply(""), id="the call is lost"),
    ],
)
def test_calls_that_streams_lose(memory, streamed):
    verdict = run("coarse_calls", memory(lambda ask: streamed(ask) if ask.stream else finds(ask)))
    assert verdict.outcome == "FAIL"
    assert set(codes(verdict)) & {"TOOL.stream_diff", "TOOL.args_empty"}


@pytest.mark.parametrize(
    ("braces", "severities"),
    [pytest.param("}}}", {"model"}, id="broken by the model"), pytest.param("}}", {"critical"}, id="broken by the stream alone")],
)
def test_markup_that_the_model_broke_is_not_the_parsers_fault(memory, braces, severities):
    """vLLM 0.32.0 hands out such markup as text unstreamed, and as a call with broken arguments streamed."""
    text = f'<tool_call>\n{{"name": "find", "arguments": {{"query": "x"{braces}\n</tool_call>'

    def answer(ask):
        return calling(ask, name="find", arguments='{"query": "x"}}}') if ask.stream else reply(text)

    verdict = run("coarse_calls", memory(answer))
    assert {found.severity for found in verdict.findings if "a short argument" in found.where} == severities


def test_a_model_that_calls_nothing_is_inconclusive(memory):
    verdict = run("coarse_calls", memory(lambda _ask: reply("I cannot.")))
    assert (verdict.outcome, "no call in either mode" in verdict.reason) == ("INCONCLUSIVE", True)
    assert (verdict.exchanges, len([m for m in verdict.measures if m.stratum])) == (6, 6)


def test_a_model_that_calls_late_is_held_to_all_conditions(memory):
    turn = iter(range(99))
    verdict = run("coarse_calls", memory(lambda ask: finds(ask) if next(turn) >= 4 else reply("I cannot.")))
    assert (verdict.outcome, verdict.exchanges) == ("PASS", 12)


class Crowded:
    """Answers by its question until a crowd came; `after` is what it says then."""

    def __init__(self, after=None):
        self.after, self.poisoned = after, False

    def __call__(self, ask):
        if ask.sampling.temperature:
            self.poisoned = True
            return reply("noise")
        return reply(self.after(words_of(ask)) if self.poisoned and self.after else words_of(ask)[:20])


@pytest.fixture
def crowd(memory):
    class Bursting(memory):
        readings_left = ()

        def burst(self, asks):
            return [self.ask(ask) for ask in asks]

        def counters(self, client):
            assert client is self
            left = list(self.readings_left)
            if not left:
                return None
            self.readings_left = left[1:]
            return Counters(acceptance=left[0])

    return Bursting


def test_answers_that_outlive_a_crowd(crowd):
    verdict = run("load_poison", crowd(Crowded()))
    assert (verdict.outcome, codes(verdict)) == ("PASS", [])


def test_answers_that_a_crowd_changes(crowd):
    verdict = run("load_poison", crowd(Crowded(after=str.upper)))
    assert (verdict.outcome, codes(verdict)) == ("FAIL", ["CTRL.poison"])


def test_one_changed_answer_of_four_may_be_a_near_tie(crowd):
    verdict = run("load_poison", crowd(Crowded(after=lambda words: "other" if "lighthouse" in words else words[:20])))
    assert (verdict.outcome, [found.severity for found in verdict.findings]) == ("PASS", ["note"])


def test_acceptance_that_decays(crowd):
    server = crowd(Crowded())
    server.readings_left = [Acceptance(drafted=n, accepted=a) for n, a in ((0, 0), (100, 70), (300, 150), (400, 170))]
    verdict = run("load_poison", server)
    assert (verdict.outcome, codes(verdict)) == ("FAIL", ["SPEC.decay"])
    assert "from 70% to 20%" in verdict.findings[0].title


@pytest.mark.parametrize(
    ("fault", "outcome", "code"),
    [
        pytest.param(None, "PASS", None, id="all are answered"),
        pytest.param(BUSY, "PASS", None, id="the rest is refused"),
        pytest.param(CRASH, "FAIL", "PROTO.overload", id="the rest fails"),
        pytest.param(Fault(kind="reset", code="INFRA.reset", message="gone"), "FAIL", "PROTO.overload", id="the rest is dropped"),
    ],
)
def test_overload(crowd, fault, outcome, code):
    turn = iter(range(99))
    verdict = run("overload", crowd(lambda _ask: fault if fault and 4 <= next(turn) < 8 else reply("x")), width=8)
    assert (verdict.outcome, set(codes(verdict))) == (outcome, {code} if code else set())


@pytest.fixture
def leaving(memory):
    class Leaving(memory):
        running, cut = (2, 0), True

        def abandon(self, ask, *, after_reads, patience_s):
            assert ask.stream
            assert patience_s > 0
            assert after_reads >= 0
            return self.cut

        def load(self, client):
            assert client is self
            now, self.running = self.running[0], self.running[1:] or self.running
            return Load(running=now)

    return Leaving


def test_places_that_become_free(leaving):
    verdict = run("disconnect", leaving(lambda _ask: reply("x")))
    assert (verdict.outcome, codes(verdict)) == ("PASS", [])


def test_answers_that_end_before_anybody_can_leave(leaving):
    server = leaving(lambda _ask: reply("x"))
    server.cut = False
    assert run("disconnect", server).outcome == "INCONCLUSIVE"


def test_places_that_stay_taken(leaving, monkeypatch):
    monkeypatch.setattr("pytest_mtp.checks.probes.disconnect._SETTLE_S", 0.01)
    server = leaving(lambda _ask: reply("x"))
    server.running = (3,)
    verdict = run("disconnect", server)
    assert (verdict.outcome, codes(verdict)) == ("FAIL", ["PROTO.disconnect"])


def test_an_answer_that_abandoned_requests_change(leaving):
    answers = iter(["one", "one", "two", "two"])
    verdict = run("disconnect", leaving(lambda _ask: reply(next(answers))))
    assert (verdict.outcome, codes(verdict)) == ("FAIL", ["CTRL.poison"])


@pytest.fixture
def timed(memory):
    """Streams of ten words whose stamps are shares of a request of one second."""

    class Timed(memory):
        first, last, chunks = 0.1, 1.0, 10

        def ask(self, ask):
            step = (self.last - self.first) / max(1, self.chunks - 1)
            stamps = tuple(ChunkStamp(at_ns=int(1e9 * (self.first + step * n)), characters=4) for n in range(self.chunks))
            line = Timeline(sent_ns=0, done_ns=10**9, chunks=stamps)
            return Exchange(ask=ask, url="u", model="m", reply=reply("x"), timeline=line)

        ask_alone = ask

    return Timed


@pytest.mark.parametrize(
    ("shape", "outcome", "found"),
    [
        pytest.param({}, "PASS", [], id="spread"),
        pytest.param({"first": 0.97}, "PASS", ["PROTO.buffered"], id="held back"),
        pytest.param({"chunks": 1}, "PASS", ["PROTO.buffered"], id="one chunk"),
        pytest.param({"chunks": 4}, "INCONCLUSIVE", [], id="too few to tell"),
    ],
)
def test_stream_timing(timed, shape, outcome, found):
    server = timed(None)
    vars(server).update(shape)
    verdict = run("stream_timing", server)
    assert (verdict.outcome, codes(verdict)) == (outcome, found)


def test_reasoning_that_stays_apart(memory):
    verdict = run("reasoning", memory(lambda _ask: reply("42", reasoning="17 and 25 make 42")))
    assert (verdict.outcome, codes(verdict)) == ("PASS", [])


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        pytest.param(
            lambda ask: reply("" if ask.stream else "42", reasoning="17 + 25 = 42"), "PROTO.reasoning", id="the answer is lost in streams"
        ),
        pytest.param(lambda _ask: reply("and so </think> 42", reasoning="17"), "PROTO.reasoning", id="a tag leaks"),
    ],
)
def test_reasoning_that_does_not(memory, answer, code):
    assert code in codes(run("reasoning", memory(answer)))


def test_a_model_that_does_not_reason_is_skipped(memory):
    with pytest.raises(NotOffered, match="no reasoning"):
        run("reasoning", memory(lambda _ask: reply("42")))


@pytest.fixture
def windowed(memory):
    def make(answer, window=4096):
        server = memory(answer)
        server.facts = dataclasses.replace(server.facts, context_length=window)
        return server

    return make


def reads(ask, most=10**9):
    return min(most, len(words_of(ask).split()))


def test_prompts_that_are_read_whole(windowed):
    verdict = run("context_ladder", windowed(lambda ask: REFUSAL if reads(ask) > 4096 else reply("4817", prompt=reads(ask))))
    assert (verdict.outcome, codes(verdict)) == ("PASS", [])


def test_prompts_that_are_cut_within_the_window(windowed):
    verdict = run("context_ladder", windowed(lambda ask: reply("4817", prompt=reads(ask, 700)), window=None))
    assert (verdict.outcome, codes(verdict)) == ("FAIL", ["PROTO.overflow"])


def test_a_prompt_beyond_the_window_that_is_cut_in_silence(windowed):
    verdict = run("context_ladder", windowed(lambda ask: reply("4817", prompt=reads(ask, 4000))))
    assert [found.where for found in verdict.findings] == ["beyond the window"]


def test_a_long_prompt_that_wrecks_the_text(windowed):
    verdict = run(
        "context_ladder",
        windowed(lambda ask: reply("\ufffd" * 9 if 900 < reads(ask) < 4096 else "x", prompt=reads(ask))),
        rungs=[120, 250, 1000],
    )
    assert "GEN.degenerate.replacement" in codes(verdict)
