"""The TensorRT-LLM adapter against the shapes in its source."""

from __future__ import annotations

import json

import pytest

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.facts import Acceptance, Endpoint, Load, ServerFacts
from pytest_mtp.core.reply import Reply, Usage
from pytest_mtp.servers.engines.registry import engine_of, identify
from pytest_mtp.servers.engines.tensorrt_llm import TensorRtLlm

ASK = Ask(messages=({"role": "user", "content": "Why is the sky blue?"},), sampling=Sampling(max_tokens=26))
PAGE = "/prometheus/metrics"


@pytest.fixture
def recorded(kit):
    def read(name):
        return (kit.recorded / "tensorrt-llm" / name).read_text(encoding="utf-8")

    return read


@pytest.fixture
def client_of(kit, recorded):
    """A client of a server that answers with recordings, or with a text where it is given in a tuple."""

    def make(pages=None, *, chat=None):
        routes = {}
        for path, page in (pages or {}).items():
            routes[f"GET {path}"] = kit.Page(body=page[0] if isinstance(page, tuple) else recorded(page))
        if chat:
            kind = "application/json" if chat.endswith("json") else "text/event-stream"
            routes["POST /v1/chat/completions"] = kit.Page(body=recorded(chat), headers={"Content-Type": kind})
        return kit.client(kit.serve(routes).url)

    return make


def bare_facts():
    endpoint = Endpoint(root="http://h:1", api_root="http://h:1/v1", model="small-mtp")
    return ServerFacts(endpoint=endpoint, engine="tensorrt-llm", model="small-mtp", concurrency=4)


def test_it_signs_under_models(client_of, recorded):
    engine, reasons = identify(client_of(), json.loads(recorded("models.json")))
    assert (engine.name, reasons) == ("tensorrt-llm", ("/v1/models: owned_by is 'tensorrt_llm'",))


@pytest.mark.parametrize(("path", "name"), [("/server_info", "server_info.json"), (PAGE, "prometheus_before.txt")])
def test_behind_a_proxy_it_is_known_by_its_pages(client_of, path, name):
    engine, reasons = identify(client_of({path: name}), {"data": [{"id": "m", "owned_by": "our-proxy"}]})
    assert engine.name == "tensorrt-llm"
    assert path in reasons[0]


def test_the_page_that_reading_empties_is_never_read(kit):
    server = kit.serve({})
    client = kit.client(server.url)
    TensorRtLlm().identify(client, {})
    TensorRtLlm().facts(client, bare_facts())
    TensorRtLlm().counters(client)
    TensorRtLlm().load(client)
    assert set(server.asked) == {"GET /server_info", "GET /version", f"GET {PAGE}"}


def test_it_tells_version_width_context_and_configuration(client_of):
    facts = TensorRtLlm().facts(client_of({"/version": "version.json", PAGE: "prometheus_before.txt"}), bare_facts())
    assert (facts.engine_version, facts.sequences, facts.context_length) == ("1.3.0", 16, 8192)
    assert (facts.details["model"], facts.details["dtype"]) == ("/models/small-mtp", "bfloat16")
    spec = facts.speculation
    assert (spec.state, spec.method, spec.depth) == ("unknown", "MTP", 3)
    assert "configured, not yet proven" in spec.evidence[0]
    assert [line.partition(":")[0] for line in facts.not_offered] == [
        "speculation off for a single request",
        "continuing an assistant message",
        "losslessness",
    ]


@pytest.mark.parametrize(("page", "depth"), [("prometheus_before.txt", None), ("prometheus_fresh.txt", 3)])
def test_replies_are_read_only_where_no_counter_tells_of_drafts(client_of, page, depth):
    facts = TensorRtLlm().facts(client_of({PAGE: page}), bare_facts())
    assert facts.speculation.depth == 3
    assert engine_of(facts) == TensorRtLlm(depth=depth)


def test_speculation_that_is_not_configured_is_inactive(client_of):
    facts = TensorRtLlm().facts(client_of({PAGE: "prometheus_off.txt"}), bare_facts())
    assert (facts.speculation.state, facts.speculation.depth) == ("inactive", None)
    assert engine_of(facts) == TensorRtLlm()


def test_without_the_option_it_says_which_one(client_of):
    facts = TensorRtLlm().facts(client_of({"/version": "version.json"}), bare_facts())
    assert facts.speculation.state == "unknown"
    assert "return_perf_metrics: true" in facts.not_offered[0]
    assert TensorRtLlm().counters(client_of()) is None
    assert TensorRtLlm().load(client_of()) is None


def test_counters_are_those_of_requests_that_ended(client_of):
    before = TensorRtLlm().counters(client_of({PAGE: "prometheus_before.txt"}))
    moved = TensorRtLlm().counters(client_of({PAGE: "prometheus_after.txt"})).since(before)
    assert (moved.generated_tokens, moved.prompt_tokens, moved.cached_tokens) == (26, 14, 8)
    counted = moved.acceptance
    assert (counted.drafted, counted.accepted, counted.rounds, counted.per_position) == (27, 16, 9, (7, 6, 3))
    assert moved.generated_tokens == counted.accepted + counted.rounds + 1  # the first token comes from the prefill


def test_older_releases_count_by_iteration_and_without_rounds(client_of):
    counted = TensorRtLlm().counters(client_of({PAGE: "prometheus_by_iteration.txt"})).acceptance
    assert (counted.drafted, counted.accepted, counted.rounds, counted.per_position) == (63, 40, None, ())
    assert "by iteration" in counted.source


def test_a_server_that_never_drafted_has_no_draft_counters(client_of):
    assert TensorRtLlm().counters(client_of({PAGE: "prometheus_off.txt"})).acceptance is None


@pytest.mark.parametrize(
    "text",
    [
        'trtllm_spec_decode_drafted_tokens_total{token_position="first"} 3\n',
        "trtllm_spec_decode_drafted_tokens_total 3\n",
        'trtllm_spec_decode_drafted_tokens_total{token_position="0"} NaN\n',
        f'trtllm_spec_decode_drafted_tokens_total{{token_position="{"9" * 20}"}} 3\n',
    ],
)
def test_counters_of_another_shape_offer_nothing(client_of, text):
    counted = TensorRtLlm().counters(client_of({PAGE: (text,)}))
    assert counted is None or counted.acceptance is None


@pytest.mark.parametrize("text", ["", "{", "trtllm_x{ 1", '{"a": 1}', "\x00"], ids=repr)
def test_pages_of_another_shape_are_survived(client_of, text):
    client = client_of({PAGE: (text,), "/version": (text,), "/server_info": (text,)})
    assert TensorRtLlm().counters(client) is None
    assert TensorRtLlm().load(client) is None
    assert TensorRtLlm().identify(client, {}) == ()
    assert TensorRtLlm().facts(client, bare_facts()).engine_version is None


def test_load_is_of_the_last_iteration(client_of):
    source = f"{PAGE}, as of the last iteration"
    assert TensorRtLlm().load(client_of({PAGE: "prometheus_after.txt"})) == Load(running=0, waiting=0, cache_used=0.125, source=source)


@pytest.mark.parametrize("chat", ["chat.json", "stream.txt"])
def test_a_reply_tells_its_passes_and_the_prefill_is_one_of_them(client_of, chat):
    """26 tokens at 2.6 a pass are 10 passes: the prefill, and 9 that verified 3 drafts each."""
    reply = client_of(chat=chat).ask(Ask(messages=ASK.messages, stream=chat.endswith("txt"))).reply
    counted = TensorRtLlm(depth=3).acceptance_of(reply)
    assert (counted.drafted, counted.accepted, counted.rounds) == (27, 16, 9)
    assert counted.mean_length == 1 + 16 / 9
    assert TensorRtLlm().acceptance_of(reply) is None


def test_one_token_a_pass_is_nothing_accepted(client_of):
    counted = TensorRtLlm(depth=3).acceptance_of(client_of(chat="chat_plain.json").ask(ASK).reply)
    assert (counted.accepted, counted.rounds, counted.drafted) == (0, 25, 75)


@pytest.mark.parametrize(
    ("average", "tokens"),
    [
        (None, 26),
        ("2.6", 26),
        (float("nan"), 26),
        (float("inf"), 26),
        (-1, 26),
        (0, 26),
        (0.5, 26),
        (9, 26),
        (2.6, None),
        (2.6, 0),
        (2.6, 25),
    ],
)
def test_an_average_that_cannot_be_offers_nothing(average, tokens):
    reply = Reply(content="x", usage=Usage(completion_tokens=tokens), extras={"choice": {"avg_decoded_tokens_per_iter": average}})
    assert TensorRtLlm(depth=3).acceptance_of(reply) is None


def test_a_single_token_verified_nothing():
    reply = Reply(content="x", usage=Usage(completion_tokens=1), extras={"choice": {"avg_decoded_tokens_per_iter": 1.0}})
    assert TensorRtLlm(depth=3).acceptance_of(reply) == Acceptance(
        drafted=0, accepted=0, rounds=0, source="avg_decoded_tokens_per_iter, with the configured depth in every step"
    )


def test_no_field_is_added_to_an_ask_since_unknown_ones_are_refused():
    assert TensorRtLlm().instrumented(ASK) == ASK
    assert TensorRtLlm().continuation(ASK, "The sky is") is None
    assert TensorRtLlm().unspeculated(ASK) is None


OPTIONS = """
max_batch_size: 24
return_perf_metrics: true
speculative_config:
  decoding_type: MTP
  max_draft_len: 2
  use_relaxed_acceptance_for_thinking: true
  acceptance_rate_window_size: 100
  acceptance_rate_threshold: 0.4
  draft_len_schedule: {4: 2, 8: 1}
"""


def test_its_command_line_and_file_tell_what_no_page_does(tmp_path):
    file = tmp_path / "on.yaml"
    file.write_text(OPTIONS)
    line = f"/usr/bin/python3 /opt/bin/trtllm-serve serve --trust_remote_code /models/small-mtp --port 8000 --config {file}"
    told = TensorRtLlm().read_command(line.split(), {})
    assert (told.model_path, told.served_names, told.sequences) == ("/models/small-mtp", ("small-mtp",), 24)
    spec = told.speculation
    assert (spec.state, spec.method, spec.depth) == ("unknown", "mtp", 2)
    assert [word in " ".join(spec.evidence) for word in ("not lossless", "until a restart", "draft_len_schedule")] == [True] * 3


@pytest.mark.parametrize(
    ("line", "model", "names", "state"),
    [
        ("trtllm-serve org/model --max_batch_size 8", "org/model", ("org/model",), "inactive"),
        ("trtllm-serve --port 80 /models/m --served_model_name x", "/models/m", ("x",), "inactive"),
        ("python -m tensorrt_llm.commands.serve serve /models/m", "/models/m", ("m",), "inactive"),
        ("trtllm-serve /models/m --extra_llm_api_options options.yaml", "/models/m", ("m",), "unknown"),
        ("trtllm-serve", None, (), "inactive"),
    ],
)
def test_other_forms_of_its_command_line(line, model, names, state):
    told = TensorRtLlm().read_command(line.split(), {})
    assert (told.model_path, told.served_names, told.speculation.state) == (model, names, state)


@pytest.mark.parametrize("content", ["", "[1, 2]", "speculative_config: 3", "max_batch_size: many"], ids=repr)
def test_a_file_without_the_section_does_not_speculate(tmp_path, content):
    file = tmp_path / "off.yaml"
    file.write_text(content)
    told = TensorRtLlm().read_command(["trtllm-serve", "m", "--config", str(file)], {})
    assert (told.speculation.state, told.sequences) == ("inactive", None)


@pytest.mark.parametrize(
    "content", [b"a: [", b"\xff\xfe\xff", b"x: !!python/object:os.system 1", b"[" * 5000], ids=lambda value: repr(value)[:20]
)
def test_a_file_that_cannot_be_read_tells_nothing(tmp_path, content):
    file = tmp_path / "broken.yaml"
    file.write_bytes(content)
    assert TensorRtLlm().read_command(["trtllm-serve", "m", "--config", str(file)], {}).speculation.state == "unknown"


@pytest.mark.parametrize("line", ["vllm serve m", "", "python trtllm-serve.py m", "trtllm-serve disaggregated -c x.yaml"], ids=repr)
def test_another_program_is_not_its_own(line):
    assert TensorRtLlm().read_command(line.split(), {}) is None
