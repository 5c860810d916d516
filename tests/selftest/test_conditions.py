"""Each condition, on the fake: where it holds the fault strikes, where it does not the reply is the honest one."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_mtp.core.errors import UsageError
from pytest_mtp.selftest.arming import arm
from pytest_mtp.selftest.condition import WORDS, condition
from pytest_mtp.selftest.faults import FAULTS
from pytest_mtp.selftest.prefix import BLOCK, PrefixCache
from tests.selftest.conftest import WEATHER

LONG = "These words are the beginning of a long prompt. " * 12
SCHEMA = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
NAMED = {"type": "function", "function": {"name": "get_weather"}}
HISTORY = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "Again"}]
CALLED = {"id": "1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
RESULT = [
    {"role": "user", "content": "Weather in Paris?"},
    {"role": "assistant", "content": None, "tool_calls": [CALLED]},
    {"role": "tool", "tool_call_id": "1", "content": "sunny"},
]

# word: what is asked where it holds, and where it does not
CASES = {
    "unstreamed": ({}, None),
    "stop": ({"stop": ["never said"]}, {}),
    "sampled": ({"temperature": 1.0}, {"temperature": 0}),
    "greedy": ({"temperature": 0}, {"temperature": 1.0}),
    "tools": ({"tools": [WEATHER], "tool_choice": "none"}, {}),
    "auto": ({"tools": [WEATHER]}, {"tools": [WEATHER], "tool_choice": "none"}),
    "forced": ({"tools": [WEATHER], "tool_choice": "required"}, {"tools": [WEATHER]}),
    "named": ({"tools": [WEATHER], "tool_choice": NAMED}, {"tools": [WEATHER], "tool_choice": "required"}),
    "schema": ({"response_format": SCHEMA}, {}),
    "turns=3": ({"messages": HISTORY}, {"messages": HISTORY[:1]}),
    "result": ({"messages": RESULT, "tools": [WEATHER]}, {"messages": RESULT[:1], "tools": [WEATHER]}),
    "longer=60": ({"prompt": LONG}, {"prompt": "short"}),
}


def struck(server, prompt="Tell me about bridges.", **fields):
    """The counts contradict each other exactly where `usage-mismatch` struck."""
    messages = fields.pop("messages", [{"role": "user", "content": prompt}])
    usage = server.post({"messages": messages, "max_tokens": 20, "temperature": 0, **fields})["usage"]
    return usage["prompt_tokens"] + usage["completion_tokens"] != usage["total_tokens"]


@pytest.mark.parametrize("word", CASES)
def test_a_condition_of_the_request(talk, word):
    holds, other = CASES[word]
    server = talk(faults=[f"usage-mismatch?{word}"])
    assert struck(server, **holds)
    assert other is None or not struck(server, **other)


def test_every_word_is_tested_somewhere():
    here = {word.partition("=")[0] for word in CASES} | {"streamed", "concurrent", "crowded", "after", "warm", "cold"}
    assert set(WORDS) == here


def test_streamed_alone(talk):
    server = talk(faults=["usage-mismatch?streamed"])
    assert not struck(server)
    usage = server.streamed("Tell me about bridges.")["usage"]
    assert usage["prompt_tokens"] + usage["completion_tokens"] != usage["total_tokens"]


def test_after_some_chats(talk):
    server = talk(faults=["usage-mismatch?after=3"])
    assert [struck(server) for _ in range(5)] == [False, False, False, True, True]


def test_warm_and_cold(talk):
    warm, cold = talk(faults=["usage-mismatch?warm=32"]), talk(faults=["usage-mismatch?cold"])
    assert [struck(warm, LONG), struck(warm, LONG), struck(warm, "short"), struck(warm, f"{LONG} and more")] == [False, True, False, True]
    assert [struck(cold, LONG), struck(cold, LONG)] == [True, False]


def test_concurrent_needs_another_in_flight_and_crowded_remembers_it(talk):
    alone, together = (
        talk(faults=["usage-mismatch?concurrent"], token_delay_ms=20),
        talk(faults=["usage-mismatch?crowded=3"], token_delay_ms=20),
    )
    for server, afterwards in ((alone, False), (together, True)):
        assert not struck(server)
        talks = [type(server)(server.server) for _ in range(4)]
        barrier = threading.Barrier(4)

        def one(each, barrier=barrier):
            with each:
                barrier.wait()
                return struck(each)

        with ThreadPoolExecutor(4) as pool:
            assert any(pool.map(one, talks))
        struck(server)  # the last of the crowd may still be on its way out
        assert struck(server) is afterwards


def test_conditions_join(talk):
    server = talk(faults=["usage-mismatch?sampled+after=1"])
    assert [struck(server, temperature=t) for t in (1.0, 0, 1.0)] == [False, False, True]
    server = talk(faults=["usage-mismatch?sampled&tools"])
    assert [struck(server, temperature=1.0), struck(server, temperature=1.0, tools=[WEATHER], tool_choice="none")] == [False, True]


def test_a_rate_under_a_condition_is_repeated_by_its_seed(talk):
    def pattern(seed):
        server = talk(faults=["usage-mismatch@0.4?after=5"], seed=seed)
        return [struck(server, f"Say {number}") for number in range(40)]

    first = pattern(3)
    assert not any(first[:5])
    assert 4 <= sum(first) <= 25
    assert pattern(3) == first
    assert pattern(4) != first


def test_faults_compose(talk):
    server = talk(faults=["usage-mismatch?tools", "stop-at-the-cap", "seed-ignored?streamed"])
    assert not struck(server)
    assert struck(server, tools=[WEATHER], tool_choice="none")
    assert server.choice("Write a long story.", max_tokens=5)["finish_reason"] == "stop"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("no-done?concurent", "did you mean 'concurrent'"),
        ("no-done?", "no condition ''"),
        ("no-done?after=-1", "whole number"),
        ("no-done?after=1.5", "whole number"),
        ("no-done?tools=2", "takes no number"),
        ("no-dne@0.5?streamed", "did you mean 'no-done'"),
        ("no-done:3?streamed", "takes no number"),
        ("no-done@1.5?streamed", "between 0 and 1"),
        ("no-done@x", "is not written NAME"),
    ],
)
def test_wrong_words_are_one_clear_message(word, message):
    with pytest.raises(UsageError, match=message):
        arm([word])


def test_a_condition_is_written_as_it_is_read():
    assert str(condition("streamed+after=10&warm=64")) == "streamed&after&warm=64"
    assert condition(str(condition("streamed+after=20&warm=64"))) == condition("streamed&after=20&warm=64")


def test_the_condition_of_the_fault_itself_holds_too():
    (armed,) = arm(["warm-word-salad?streamed"])
    assert str(armed.condition) == "warm=64&streamed"


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.when])
def test_conditions_of_the_catalogue_can_be_read(name):
    assert condition(FAULTS[name].when).words


def test_the_prefix_cache_holds_whole_blocks_and_never_the_last_token():
    cache = PrefixCache(blocks=8)
    prompt = [str(number) for number in range(3 * BLOCK)]
    assert cache.visit(prompt) == 0
    assert cache.visit(prompt) == 2 * BLOCK  # the last token is computed anew
    assert cache.visit([*prompt, "x"]) == 3 * BLOCK
    assert cache.visit([*prompt[: BLOCK + 5], *"other words"]) == BLOCK
    assert cache.visit(["other", *prompt]) == 0
    for number in range(8):
        cache.visit([f"evict {number}"] * (BLOCK + 1))
    assert cache.visit(prompt) == 0


def test_cached_tokens_are_told(talk):
    server = talk()
    body = {"messages": [{"role": "user", "content": LONG}], "max_tokens": 4}
    told = [server.post(body)["usage"]["prompt_tokens_details"]["cached_tokens"] for _ in range(2)]
    assert told[0] == 0
    assert told[1] > 60
    assert server.counters()["prefix_cache_hits_total"] == told[1]
