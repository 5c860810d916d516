"""What `defaults` give to cases and what cases take back."""

from __future__ import annotations

from collections.abc import Callable

from pytest_mtp.core.ask import Sampling
from pytest_mtp.core.case import Case, Suite

MakeCase = Callable[[str], Case]


def test_without_defaults_a_case_has_those_of_the_records(case: MakeCase) -> None:
    made = case("cases: [{id: a, ask: How many?, expect: {number: 1}}]")
    assert (made.repeats, made.severity, made.modes, made.tags, made.marks, made.needs) == (1, "model", ("unary",), (), (), ())
    assert made.ask is not None
    assert made.ask.sampling == Sampling()


def test_sampling_is_merged_key_by_key(case: MakeCase) -> None:
    made = case("""
        defaults: {sampling: {temperature: 0.5, max_tokens: 9, stop: x}}
        cases: [{id: a, ask: How many?, sampling: {max_tokens: 5, seed: 1}, expect: {number: 1}}]
    """)
    assert made.ask is not None
    assert made.ask.sampling == Sampling(temperature=0.5, max_tokens=5, seed=1, stop=("x",))


def test_null_takes_a_sampling_parameter_back(case: MakeCase) -> None:
    made = case("""
        defaults: {sampling: {temperature: 0.5, max_tokens: 9, stop: [x], logit_bias: {7: 1}}}
        cases: [{id: a, ask: How many?, sampling: {temperature: null, max_tokens: ~, stop: null, logit_bias: null}, expect: {number: 1}}]
    """)
    assert made.ask is not None
    assert made.ask.sampling == Sampling(temperature=None)
    assert "temperature" not in made.ask.body("m")


def test_whole_numbers_written_as_floats_are_sent_as_integers(case: MakeCase) -> None:
    made = case("cases: [{id: a, ask: How many?, sampling: {max_tokens: 1e2, seed: 3.0}, repeats: 2.0, expect: {number: 1}}]")
    assert made.ask is not None
    assert [type(value) for value in (made.ask.sampling.max_tokens, made.ask.sampling.seed, made.repeats)] == [int, int, int]


def test_extra_body_is_merged_key_by_key(case: MakeCase) -> None:
    made = case("""
        defaults: {extra_body: {cache_prompt: false, n_probs: 1}}
        cases: [{id: a, ask: How many?, extra_body: {n_probs: 2}, expect: {number: 1}}]
    """)
    assert made.ask is not None
    assert made.ask.extra_body == {"cache_prompt": False, "n_probs": 2}


def test_everything_else_is_replaced(case: MakeCase) -> None:
    made = case("""
        defaults: {repeats: 3, severity: critical, tags: [x, y], needs: [tools], stream: both, system: Be brief.}
        cases: [{id: a, ask: How many?, repeats: 1, tags: [z], needs: [], stream: true, system: Be kind., expect: {number: 1}}]
    """)
    assert (made.repeats, made.severity, made.tags, made.needs, made.modes) == (1, "critical", ("z",), (), ("stream",))
    assert made.ask is not None
    assert made.ask.stream
    assert made.ask.messages == ({"role": "system", "content": "Be kind."}, {"role": "user", "content": "How many?"})


def test_both_ways_of_streaming_are_two_modes_of_one_case(case: MakeCase) -> None:
    made = case("cases: [{id: a, ask: How many?, stream: both, expect: {number: 1}}]")
    assert made.modes == ("unary", "stream")
    assert made.ask is not None
    assert not made.ask.stream


def test_a_check_takes_what_concerns_it(load: Callable[[str], Suite]) -> None:
    (made,) = load("""
        defaults: {repeats: 3, severity: critical, tags: [x], needs: [speculation], system: Be brief., sampling: {temperature: 1}}
        cases: [{id: a, check: acceptance, with: {prompts: {code: [Write f.]}}, severity: regression}]
    """).cases
    assert (made.kind, made.severity, made.tags, made.needs) == ("acceptance", "regression", ("x",), ("speculation",))
    assert made.ask is None
    assert made.params == {"prompts": {"code": ["Write f."]}}


def test_a_default_tool_choice_is_for_cases_with_tools(load: Callable[[str], Suite]) -> None:
    without, offering = load("""
        tools: {f: {description: d}}
        defaults: {tool_choice: required}
        cases: [{id: a, ask: Hi?, expect: {text: hi}}, {id: b, ask: Hi?, tools: [f], expect: {any_call: {name: f}}}]
    """).cases
    assert without.ask is not None
    assert offering.ask is not None
    assert (without.ask.tool_choice, offering.ask.tool_choice) == (None, "required")


def test_an_empty_list_takes_default_tools_back(case: MakeCase) -> None:
    made = case("""
        tools: {f: {description: d}}
        defaults: {tools: [f]}
        cases: [{id: a, ask: Hi?, tools: [], expect: {text: hi}}]
    """)
    assert made.ask is not None
    assert made.ask.tools == ()


def test_a_default_system_message_leaves_messages_that_have_their_own(case: MakeCase) -> None:
    made = case("""
        defaults: {system: Be brief.}
        cases: [{id: a, messages: [{role: developer, content: Be kind.}, {role: user, content: Hi?}], expect: {text: hi}}]
    """)
    assert made.ask is not None
    assert [message["role"] for message in made.ask.messages] == ["developer", "user"]


def test_cases_do_not_share_what_was_merged(load: Callable[[str], Suite]) -> None:
    one, two = load("""
        defaults: {sampling: {seed: 1}, extra_body: {a: 1}}
        cases: [{id: a, ask: Hi?, sampling: {seed: 2}, extra_body: {a: 2}, expect: {text: hi}}, {id: b, ask: Hi?, expect: {text: hi}}]
    """).cases
    assert one.ask is not None
    assert two.ask is not None
    assert (one.ask.sampling.seed, two.ask.sampling.seed) == (2, 1)
    assert (one.ask.extra_body, two.ask.extra_body) == ({"a": 2}, {"a": 1})
