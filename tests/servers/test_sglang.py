"""The SGLang adapter against the documented shapes of its pages and replies (0.5.23 and older names)."""

from __future__ import annotations

import json

import pytest

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.facts import Acceptance, Counters, Endpoint, Load, ServerFacts
from pytest_mtp.core.reply import Reply, Usage
from pytest_mtp.servers.engines.registry import engine_of, identify
from pytest_mtp.servers.engines.sglang import SGLang
from pytest_mtp.servers.engines.sglang_drafts import Drafting

ASK = Ask(messages=({"role": "user", "content": "Why is the sky blue?"},), sampling=Sampling(max_tokens=26))
FULL = Acceptance(drafted=27, accepted=16, rounds=9, per_position=(7, 6, 3), source="sglext.spec_tokens_details")
ON = SGLang(drafting=Drafting(speculates=True, a_step=3, tells=True))
JUNK = ["soon", "NaN", float("nan"), float("inf"), -3, True, 2.5, 10**400, [], [[]], {}, {"spec_verify_ct": {}}, None]


@pytest.fixture
def recorded(kit):
    def read(name):
        return (kit.recorded / "sglang" / name).read_text(encoding="utf-8")

    return read


@pytest.fixture
def client_of(kit, recorded):
    """A client of a server that answers each path with a recording or a value, and POSTs with `chat`."""

    def make(pages=None, *, chat=None):
        routes = {}
        for path, name in (pages or {}).items():
            body = recorded(name) if isinstance(name, str) else json.dumps(name)
            routes[f"GET {path}"] = kit.Page(body=body)
        if chat:
            kind = "application/json" if chat.endswith("json") else "text/event-stream"
            routes["POST /v1/chat/completions"] = kit.Page(body=recorded(chat), headers={"Content-Type": kind})
        return kit.client(kit.serve(routes).url)

    return make


@pytest.fixture
def facts_of(client_of, recorded):
    def make(path="/server_info", name="server_info.json", **changed):
        info = {**json.loads(recorded(name)), **changed}
        return SGLang().facts(client_of({path: info}), bare_facts())

    return make


def bare_facts():
    return ServerFacts(endpoint=Endpoint(root="http://h:1", api_root="http://h:1/v1", model="m"), engine="sglang", model="m", concurrency=4)


def test_it_signs_under_models(client_of, recorded):
    engine, reasons = identify(client_of(), json.loads(recorded("models.json")))
    assert (engine.name, reasons) == ("sglang", ("/v1/models: owned_by is 'sglang'",))


@pytest.mark.parametrize("path", ["/server_info", "/get_server_info"])
def test_behind_a_proxy_it_is_known_by_its_settings(client_of, path):
    engine, reasons = identify(client_of({path: "server_info.json"}), {"data": [{"id": "m", "owned_by": "our-proxy"}]})
    assert engine.name == "sglang"
    assert path in reasons[0]


@pytest.mark.parametrize("info", [{}, {"disaggregated_params": None}, {"speculative_algorithm": None, "version": "1"}, [1], 7], ids=repr)
def test_another_server_info_is_not_taken_for_it(client_of, info):
    assert SGLang().identify(client_of({"/server_info": info}), {}) == ()


def test_it_tells_version_width_context_and_model_file(facts_of):
    facts = facts_of()
    assert (facts.engine_version, facts.sequences, facts.context_length, facts.concurrency) == ("0.5.23", 48, 8192, 4)
    assert facts.details["model_path"] == "/models/small-mtp"
    told = facts.capabilities
    assert (told.tools, told.structured, told.cache_proof, told.token_ids, told.request_acceptance) == (True,) * 5
    assert told.switch_off is False


def test_schedulers_of_several_ranks_run_together(facts_of):
    state = {"effective_max_running_requests_per_dp": 48}
    assert facts_of(internal_states=[state, state]).sequences == 96
    assert facts_of(internal_states=[{}]).sequences == 64


def test_what_is_configured_is_not_proven(facts_of):
    facts = facts_of()
    spec = facts.speculation
    assert (spec.state, spec.method, spec.depth, spec.acceptance) == ("unknown", "EAGLE", 3, None)
    assert "3 steps, 1 eagle_topk, 4 num_draft_tokens): configured, not yet proven" in spec.evidence[0]
    assert len(spec.evidence) == 1
    assert engine_of(facts) == ON


def test_speculation_that_is_not_configured_is_inactive(facts_of):
    facts = facts_of(name="server_info_off.json")
    assert (facts.speculation.state, facts.speculation.depth) == ("inactive", None)
    assert engine_of(facts) == SGLang(drafting=Drafting(speculates=False, tells=True))
    assert not any("speculation" in line for line in facts.not_offered)


@pytest.mark.parametrize("name", ["speculative_accept_threshold_single", "speculative_accept_threshold_acc"])
def test_a_threshold_below_one_is_said_to_be_lossy(facts_of, name):
    assert f"/server_info: {name} is 0.8; below 1 answers are not lossless" in facts_of(**{name: 0.8}).speculation.evidence


def test_a_tree_is_marked_in_every_count(facts_of, client_of):
    facts = facts_of(speculative_eagle_topk=4, speculative_num_draft_tokens=16)
    assert facts.speculation.depth == 3
    assert any("tree" in line for line in facts.speculation.evidence)
    tree = engine_of(facts)
    assert tree.acceptance_of(client_of(chat="chat_spec.json").ask(ASK).reply).tree is True


def test_ngram_drafts_a_tree_unless_told_to_follow_one_branch(facts_of):
    ngram = {"speculative_algorithm": "NGRAM", "speculative_eagle_topk": None, "speculative_num_draft_tokens": 12}
    assert facts_of(**ngram, speculative_ngram_max_bfs_breadth=10).details["drafting"]["tree"] is True
    assert facts_of(**ngram, speculative_ngram_max_bfs_breadth=1).details["drafting"]["tree"] is False


def test_a_depth_that_adapts_is_said_and_not_multiplied(facts_of):
    facts = facts_of(speculative_adaptive=True)
    assert any("changes the depth" in line for line in facts.speculation.evidence)
    assert facts.details["drafting"]["a_step"] is None


def test_simulated_acceptance_is_said(facts_of):
    state = {"env_vars": {"SGLANG_SIMULATE_ACC_LEN": "2.5"}}
    assert any("simulated" in line for line in facts_of(internal_states=[state]).speculation.evidence)
    assert not any(
        "simulated" in line for line in facts_of(internal_states=[{"env_vars": {"SGLANG_SIMULATE_ACC_LEN": "-1"}}]).speculation.evidence
    )


def test_what_it_was_not_started_for_is_named(facts_of):
    lines = facts_of(enable_metrics=False, enable_cache_report=False, tool_call_parser=None, version="0.5.9").not_offered
    assert [line.partition(":")[0] for line in lines] == [
        "server counters",
        "cached prompt tokens",
        "tool calls",
        "speculation off for a single request",
        "drafts of one request",
    ]


def test_attached_it_is_known_with_all_that_it_tells(kit, recorded):
    def answer(body):
        name = "chat_spec.json" if body.get("return_spec_tokens_details") else "chat.json"
        name = "stream_spec.txt" if body.get("stream") else name
        return kit.Page(body=recorded(name), headers={"Content-Type": "text/event-stream" if body.get("stream") else "application/json"})

    pages = {"/v1/models": "models.json", "/server_info": "server_info.json", "/metrics": "metrics_after.txt", "/v1/loads": "loads.json"}
    routes = {f"GET {path}": kit.Page(body=recorded(name)) for path, name in pages.items()}
    server = kit.attach(kit.serve({**routes, "POST /v1/chat/completions": answer}).url)
    assert (server.facts.engine, server.facts.model, server.facts.sequences) == ("sglang", "small-mtp", 48)
    assert server.facts.capabilities.metrics is True
    assert server.facts.capabilities.usage_in_stream is True
    assert server.engine == ON
    assert server.engine.acceptance_of(server.client.ask(server.engine.instrumented(ASK)).reply) == FULL


def test_a_server_without_its_page_says_so(client_of):
    facts = SGLang().facts(client_of(), bare_facts())
    assert facts.speculation.state == "unknown"
    assert facts.not_offered == ("configuration: /server_info does not answer, so what is configured is not known",)


def test_counters_tell_verify_steps_and_no_drafts(client_of, recorded):
    """26 tokens in 9 verify steps: the first came from the prefill, so 16 were drafts and not 17."""
    before = ON.counters(client_of({"/metrics": "metrics_before.txt"}))
    moved = ON.counters(client_of({"/metrics": "metrics_after.txt"})).since(before)
    assert moved == Counters(generated_tokens=26, prompt_tokens=14, cached_tokens=4, verify_steps=9, source="/metrics")
    assert "spec_accept_length" in recorded("metrics_after.txt")  # of the last interval, and so of no use


def test_verify_steps_are_absent_before_the_first(client_of):
    page = "sglang:generation_tokens_total 1\nsglang:num_requests_total 1\n"
    assert ON.counters(metrics_of(client_of, page)).verify_steps == 0
    assert SGLang().counters(metrics_of(client_of, page)).verify_steps is None


def metrics_of(client_of, page):
    client = client_of()

    class Only:
        def fetch(self, path):
            got = client.fetch(path)
            return type(got)(status=200, text=page) if path == "/metrics" else got

    return Only()


@pytest.mark.parametrize("page", ["", "not an exposition {", "other:generation_tokens_total 1\n", '{"sglang": 1}'], ids=repr)
def test_a_page_without_its_counters_gives_none(client_of, page):
    assert ON.counters(metrics_of(client_of, page)) is None


def test_load_is_read_from_its_page_and_else_from_the_gauges(client_of):
    assert ON.load(client_of({"/v1/loads": "loads.json"})) == Load(running=2, waiting=1, cache_used=0.0078, source="/v1/loads")
    gauges = ON.load(client_of({"/metrics": "metrics_after.txt"}))
    assert (gauges.running, gauges.waiting, gauges.cache_used) == (0, 0, 0.01)
    assert ON.load(client_of()) is None


@pytest.mark.parametrize("value", JUNK, ids=lambda value: repr(value)[:12])
def test_load_of_another_shape_is_none(client_of, value):
    assert ON.load(client_of({"/v1/loads": {"loads": [{"num_running_reqs": value}]}})) is None
    assert ON.load(client_of({"/v1/loads": {"loads": value}})) is None


@pytest.mark.parametrize(
    ("chat", "source"),
    [
        pytest.param("chat_spec.json", "sglext.spec_tokens_details", id="unary"),
        pytest.param("stream_spec.txt", "sglext.spec_tokens_details", id="stream"),
        pytest.param("chat_meta_info.json", "choices[].meta_info", id="meta-info"),
        pytest.param("chat_meta_info_legacy.json", "choices[].meta_info", id="older-names"),
    ],
)
def test_a_reply_tells_its_drafts_under_every_name(client_of, chat, source):
    counted = ON.acceptance_of(client_of(chat=chat).ask(Ask(messages=ASK.messages, stream=chat.endswith("txt"))).reply)
    assert (counted.drafted, counted.accepted, counted.rounds, counted.per_position) == (27, 16, 9, (7, 6, 3))
    assert counted.source == source
    assert counted.mean_length == pytest.approx(1 + 16 / 9)  # not 26 / 9, which counts the token of the prefill


def test_a_reply_that_was_not_asked_offers_nothing(client_of):
    assert ON.acceptance_of(client_of(chat="chat.json").ask(ASK).reply) is None


def test_a_reply_that_was_asked_and_had_no_verify_step_drafted_nothing(client_of):
    reply = client_of(chat="chat_one_token.json").ask(ASK).reply
    assert ON.acceptance_of(reply).drafted == 0
    assert SGLang(drafting=Drafting(speculates=True)).acceptance_of(reply) is None
    assert SGLang(drafting=Drafting(speculates=False, tells=True)).acceptance_of(reply) is None


def reply_with(**told):
    return Reply(content="x", usage=Usage(completion_tokens=26), extras={"sglext": {"spec_tokens_details": told}})


def test_accepted_drafts_follow_from_steps_where_only_they_are_told():
    counted = ON.acceptance_of(reply_with(spec_verify_ct=9, spec_accept_length=26 / 9))
    assert (counted.accepted, counted.drafted, counted.rounds) == (16, 27, 9)


def test_a_histogram_that_contradicts_the_totals_is_left_out():
    told = {"spec_verify_ct": 9, "spec_num_correct_drafts": 16, "spec_num_proposed_drafts": 27}
    assert ON.acceptance_of(reply_with(**told, spec_correct_drafts_histogram=[2, 1, 3, 3])) == FULL
    assert ON.acceptance_of(reply_with(**told, spec_correct_drafts_histogram=[9, 9])).per_position == ()


def test_details_of_one_choice_come_as_a_list_too():
    told = {"spec_verify_ct": 9, "spec_num_correct_drafts": 16, "spec_num_proposed_drafts": 27}
    several = [told, told]
    assert ON.acceptance_of(Reply(content="x", extras={"sglext": {"spec_tokens_details": several[:1]}})).accepted == 16
    assert ON.acceptance_of(Reply(content="x", extras={"sglext": {"spec_tokens_details": several}})) is None


@pytest.mark.parametrize("value", JUNK, ids=lambda value: repr(value)[:12])
def test_counts_of_another_shape_offer_nothing(value):
    names = ("spec_verify_ct", "spec_num_correct_drafts", "spec_num_proposed_drafts", "spec_correct_drafts_histogram")
    assert ON.acceptance_of(reply_with(**dict.fromkeys(names, value))) is None
    assert ON.acceptance_of(Reply(content="x", extras={"sglext": value, "choice": value, "meta_info": value})) is None


@pytest.mark.parametrize("value", JUNK, ids=lambda value: repr(value)[:12])
def test_settings_of_another_shape_are_survived(facts_of, value):
    shown = json.loads(json.dumps(value))
    names = ("internal_states", "max_running_requests", "context_length", "version", "speculative_eagle_topk", "speculative_adaptive")
    names += ("speculative_num_steps", "speculative_num_draft_tokens", "speculative_accept_threshold_acc", "tp_size", "tool_call_parser")
    facts = facts_of(**dict.fromkeys(names, shown))
    assert facts.speculation.state == "unknown"
    assert ServerFacts.from_dict(json.loads(json.dumps(facts.to_dict()))).engine == "sglang"


def test_an_ask_is_instrumented_without_overriding_the_user():
    assert SGLang().instrumented(ASK).extra_body == {"return_spec_tokens_details": True, "return_token_ids": True}
    streamed = Ask(messages=ASK.messages, stream=True, extra_body={"return_spec_tokens_details": False})
    assert SGLang().instrumented(streamed).extra_body == {"return_spec_tokens_details": False}
    assert SGLang().unspeculated(ASK) is None


def test_a_continuation_says_so():
    more = SGLang().continuation(ASK, "The sky is")
    assert more.messages[-1] == {"role": "assistant", "content": "The sky is"}
    assert more.extra_body == {"continue_final_message": True}


def test_its_command_line_tells_model_and_speculation():
    line = "python -m sglang.launch_server --model-path /models/m --port 30000 --speculative-algorithm NEXTN --speculative-num-steps 2"
    line += " --speculative-eagle-topk=1 --speculative-num-draft-tokens 3 --max-running-requests 8 --served-model-name small"
    line += " --speculative-accept-threshold-single 0.5 --speculative-draft-model-path /models/d --enable-metrics"
    told = SGLang().read_command(line.split(), {"SGLANG_SIMULATE_ACC_LEN": "3"})
    assert (told.model_path, told.drafter_path, told.served_names, told.sequences) == ("/models/m", "/models/d", ("small",), 8)
    assert (told.speculation.method, told.speculation.depth, told.speculation.state) == ("NEXTN", 2, "unknown")
    assert [bool(word in " ".join(told.speculation.evidence)) for word in ("not lossless", "simulated")] == [True, True]


def test_a_command_line_without_the_flag_does_not_speculate():
    told = SGLang().read_command(["/opt/bin/sglang", "serve", "--model", "/models/m"], {})
    assert (told.model_path, told.served_names, told.speculation.state) == ("/models/m", ("/models/m",), "inactive")


@pytest.mark.parametrize("line", ["vllm serve /models/m", "python serve.py --model sglang", "", "sglang"], ids=repr)
def test_another_program_is_not_its_own(line):
    assert SGLang().read_command(line.split(), {}) is None
