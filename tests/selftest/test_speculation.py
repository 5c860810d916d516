"""Drafts are counted as engines count them, and change no word of any reply."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pytest_mtp.selftest.metrics import exposition
from pytest_mtp.selftest.speculation import Counters, judge_of_drafts, steps

PROSE = "Why is the sky blue?"
CODE = "Write a Python function that adds two numbers."


def test_speculation_changes_no_word(honest, talk, asked):
    assert honest.choice(**asked) == talk(speculation=False).choice(**asked)


def test_sampled_words_do_not_depend_on_speculation(honest, talk):
    sampled = {"temperature": 1.0, "seed": 4, "max_tokens": 80}
    assert honest.text(PROSE, **sampled) == talk(depth=7).text(PROSE, **sampled)


@pytest.mark.parametrize("depth", [1, 2, 3, 8])
def test_counters_satisfy_the_identities(talk, asked, depth):
    server = talk(depth=depth)
    reply = server.post({"messages": [{"role": "user", "content": asked["prompt"]}], "temperature": 0})
    counted = server.counters()
    positions = [counted[f'spec_decode_num_accepted_tokens_per_pos_total{{position="{place}"}}'] for place in range(depth)]
    accepted, drafted = counted["spec_decode_num_accepted_tokens_total"], counted["spec_decode_num_draft_tokens_total"]
    rounds, tokens = counted["spec_decode_num_drafts_total"], reply["usage"]["completion_tokens"]
    assert sum(positions) == accepted <= drafted <= rounds * depth
    assert positions == sorted(positions, reverse=True)
    assert rounds + accepted <= tokens <= 1 + rounds + accepted
    assert counted["generation_tokens_total"] == tokens
    assert reply["timings"].get("draft_n", 0) == drafted
    assert reply["timings"].get("draft_n_accepted", 0) == accepted


@pytest.mark.parametrize("limit", range(1, 12))
def test_no_draft_reaches_beyond_the_budget(limit):
    made = steps(limit, budget=limit, depth=3, start=0, accepts=lambda _position, _rank: True)
    assert sum(made.sizes) == limit
    assert made.accepted + made.rounds + 1 + sum(1 for size in made.sizes[1:] if size == 1) >= limit
    assert made.drafted <= max(0, limit - 2)


def test_one_token_needs_no_draft(talk):
    server = talk()
    assert "draft_n" not in server.post({"messages": [{"role": "user", "content": PROSE}], "max_tokens": 1})["timings"]
    assert server.counters()["spec_decode_num_drafts_total"] == 0


def test_code_is_accepted_more_often_than_prose(talk):
    rates = {}
    for name, prompt in (("code", CODE), ("prose", "Write a long story.")):
        timings = talk().post({"messages": [{"role": "user", "content": prompt}], "temperature": 0})["timings"]
        rates[name] = timings["draft_n_accepted"] / timings["draft_n"]
    assert rates["code"] > rates["prose"] + 0.1


def test_accepted_drafts_come_in_one_chunk(talk):
    def chunks(server):
        return [
            event for event in server.events(CODE) if event != "[DONE]" and (event["choices"] or [{}])[0].get("delta", {}).get("content")
        ]

    assert len(chunks(talk(depth=4))) < 0.5 * len(chunks(talk(speculation=False)))


def test_without_speculation_nothing_is_drafted(talk):
    server = talk(speculation=False)
    assert "draft_n" not in server.post({"messages": [{"role": "user", "content": PROSE}]})["timings"]
    counted = server.counters()
    assert counted["spec_decode_num_draft_tokens_total"] == 0
    assert not any("per_pos" in name for name in counted)


def test_acceptance_is_the_same_every_time():
    first, again = (judge_of_drafts("k", "prose", sampled=False) for _ in range(2))
    assert [first(place, place % 3) for place in range(200)] == [again(place, place % 3) for place in range(200)]


def test_the_exposition_can_be_read_by_the_common_parser():
    counters = Counters(depth=2)
    counters.add(steps(9, budget=9, depth=2, start=0, accepts=lambda _position, _rank: True))
    families = {family.name: family for family in text_string_to_metric_families(exposition(counters, created=1.5))}
    assert families["fake:spec_decode_num_accepted_tokens"].samples[0].value == 5
    assert families["fake:spec_decode_num_drafts_created"].type == "gauge"
    assert all(family.documentation for family in families.values())
