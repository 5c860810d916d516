"""What the pseudo-model knows without an answer book."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from jsonschema import validate

from pytest_mtp.core.errors import UsageError
from pytest_mtp.selftest.arithmetic import evaluate, solve
from pytest_mtp.selftest.book import book_of, read_book
from pytest_mtp.selftest.prose import alternatives, language_of, prose, words_of
from pytest_mtp.selftest.prose_words import LANGUAGES


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("What is 12*3+4?", "40"),
        ("Compute (7 - 2) × 8.", "40"),
        ("1,200 + 34?", "1234"),
        ("What is 7 / 8?", "0.875"),
        ("2^10 = ?", "1024"),
        ("5 − 8", "-3"),
        ("Add 3 apples", None),
        ("1/0", None),
        ("9^9^9^9", None),
    ],
)
def test_sums_are_worked_out(prompt, answer):
    assert solve(prompt) == answer


def test_only_sums_are_evaluated():
    assert evaluate("__import__('os')") is None
    assert evaluate("(" * 5000) is None


@pytest.mark.parametrize(
    ("prompt", "language"),
    [
        ("Write about bridges in German", "de"),
        ("Schreibe über die Stadt", "de"),
        ("Écris une histoire sur les ponts", "fr"),
        ("Escribe sobre el puente", "es"),
        ("Scrivi una storia sulla città", "it"),
        ("Напиши о мосте", "ru"),
        ("写一个故事", "zh"),
        ("橋について書いてください", "ja"),
        ("Tell me something", "en"),
    ],
)
def test_it_answers_in_the_language_asked_for(prompt, language):
    assert language_of(prompt) == language


@pytest.mark.parametrize("language", LANGUAGES)
def test_prose_is_long_enough_and_never_loops(language):
    text = prose("key", language=language, words=600)
    sentences = re.split(r"(?<=[.。])\s*", text)
    assert len(text) > 1000
    assert Counter(filter(None, sentences)).most_common(1)[0][1] <= 3
    assert "\ufffd" not in text
    assert "{" not in text


def test_a_word_of_a_slot_has_stand_ins_of_one_token():
    assert "bright" in alternatives("quiet")
    assert alternatives("nobody") == ()


@pytest.mark.parametrize(
    ("prompt", "words"),
    [("in 50 words", 50), ("Write 3 sentences", 42), ("in one sentence", 12), ("a long story", 420)],
)
def test_it_writes_as_much_as_asked(prompt, words):
    assert words_of(prompt) == words


@pytest.mark.parametrize("choice", ["auto", "required", {"type": "function", "function": {"name": "get_weather"}}], ids=str)
def test_arguments_satisfy_the_schema(honest, called, choice):
    fields = {**called, "tool_choice": choice}
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in called["tools"]}
    calls = honest.choice(**fields)["message"]["tool_calls"]
    assert calls
    for call in calls:
        validate(json.loads(call["function"]["arguments"]), schemas[call["function"]["name"]])


def test_each_thing_gets_its_call(honest, called):
    calls = honest.choice(**called)["message"]["tool_calls"]
    arguments = [json.loads(call["function"]["arguments"]) for call in calls]
    expected = {
        "What is the weather in Paris?": [{"city": "Paris"}],
        "What is the weather in Paris and in Rome?": [{"city": "Paris"}, {"city": "Rome"}],
        "Call plan_trip for a trip of 4 days from Oslo to Madrid.": [{"origin": "Oslo", "destination": "Madrid", "days": 4}],
    }
    assert arguments == expected[called["prompt"]]


def test_ids_of_calls_are_distinct(honest, called):
    ids = [call["id"] for call in honest.choice(**called)["message"]["tool_calls"]]
    assert len(set(ids)) == len(ids)


def test_none_forbids_calls_and_required_demands_one(honest, called):
    assert "tool_calls" not in honest.choice(**called, tool_choice="none")["message"]
    needless = {"prompt": "Tell me about bridges.", "tools": called["tools"]}
    assert honest.choice(**needless)["finish_reason"] == "stop"
    assert honest.choice(**needless, tool_choice="required")["finish_reason"] == "tool_calls"


def test_parallel_calls_can_be_forbidden(honest, called):
    assert len(honest.choice(**called, parallel_tool_calls=False)["message"]["tool_calls"]) == 1


def test_a_result_is_told_in_words(honest, called):
    first = honest.choice(**called)["message"]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "18 °C"} for call in first["tool_calls"]]
    messages = [{"role": "user", "content": called["prompt"]}, first, *results]
    reply = honest.post({"messages": messages, "tools": called["tools"]})["choices"][0]
    assert "18 °C" in reply["message"]["content"]
    assert reply["finish_reason"] == "stop"


def test_the_book_is_asked_first(talk):
    server = talk(answers={"What is 2+3?": "Six."})
    assert server.text("What  is\n2+3?") == "Six."


def test_entries_of_one_prompt_are_told_apart_by_what_else_is_there(talk, called):
    entries = [
        {"prompt": "Go", "answer": "plain"},
        {"prompt": "Go", "system": "Be brief.", "answer": "brief"},
        {
            "prompt": "Go",
            "tools": [tool["function"]["name"] for tool in called["tools"]],
            "calls": [{"name": "get_weather", "arguments": {"city": "Bonn"}}],
        },
        {"prompt": "Go", "turns": 3, "answer": "later"},
    ]
    server = talk(answers=entries)

    def said(**fields):
        return server.post(fields)["choices"][0]["message"]

    user = {"role": "user", "content": "Go"}
    assert said(messages=[user])["content"] == "plain"
    assert said(messages=[{"role": "system", "content": "Be  brief."}, user])["content"] == "brief"
    assert said(messages=[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}, user])["content"] == "later"
    assert said(messages=[user], tools=called["tools"])["tool_calls"][0]["function"]["arguments"] == '{"city": "Bonn"}'
    assert said(messages=[user], tools=called["tools"], tool_choice="none")["content"] == "plain"


@pytest.mark.parametrize(
    ("entries", "word"),
    [([{"answer": "x"}], "prompt"), ([{"prompt": "x"}], "neither"), ([{"prompt": "x", "calls": [{}]}], "name"), ([7], "object")],
    ids=str,
)
def test_a_broken_book_is_refused_with_the_entry(entries, word):
    with pytest.raises(UsageError, match=f"entry 0.*{word}"):
        book_of(entries)


def test_a_book_file_that_is_no_json_is_named(tmp_path):
    path = tmp_path / "book.json"
    path.write_text("{")
    with pytest.raises(UsageError, match=r"book\.json"):
        read_book(path)


@pytest.mark.parametrize(
    "unit",
    ["1 ", "1,", "(1", "write ", "python ", "count ", "Repeat ", "Ann ", "“", "1-", "for the "],
)
def test_long_prompts_are_read_in_linear_time(honest, unit):
    prompt, tools = unit * 10_000, honest.prompts["two calls"]["tools"]
    assert honest.choice(prompt, max_tokens=3)["finish_reason"] in ("stop", "length")
    assert honest.choice(prompt, max_tokens=3, tools=tools)["message"]
