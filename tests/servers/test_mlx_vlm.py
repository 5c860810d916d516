"""The mlx-vlm adapter against replies recorded from mlx-vlm 0.7.10 with a tiny Qwen3.5, with its own head and without."""

from __future__ import annotations

import dataclasses
import json

import pytest

from pytest_mtp.core.ask import Ask, Sampling
from pytest_mtp.core.facts import Acceptance, Capabilities, Counters, Endpoint, Load, ServerFacts
from pytest_mtp.core.protocols import Fetched
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.engines.mlx_vlm import MlxVlm
from pytest_mtp.servers.engines.registry import identify

ASK = Ask(messages=({"role": "user", "content": "Why is the sky blue?"},), sampling=Sampling(max_tokens=24))
HEADERS = {"server": "mlx_vlm/0.7.10", "content-type": "application/json"}


class Recorded:
    """A client of a server whose pages are recordings; `pages` maps a path to a file, or to None for 404."""

    def __init__(self, folder, headers=HEADERS, **pages):
        self.folder, self.headers = folder, headers
        names = {"health": "/health", "settings": "/v1/settings", "metrics": "/metrics"}
        self.pages = {names[name]: file for name, file in pages.items()}

    def fetch(self, path):
        file = self.pages.get(path)
        if file is None:
            return Fetched(status=404, text='{"detail":"Not Found"}', headers=self.headers)
        text = file if file.startswith(("{", "[")) else (self.folder / file).read_text(encoding="utf-8")
        return Fetched(status=200, text=text, headers=self.headers)


@pytest.fixture
def folder(kit):
    return kit.recorded / "mlx-vlm"


@pytest.fixture
def mtp(folder):
    return Recorded(folder, health="health_mtp.json", settings="settings_mtp.json", metrics="metrics_mtp.json")


@pytest.fixture
def plain(folder):
    return Recorded(folder, health="health_plain.json", settings="settings_plain.json", metrics="metrics_plain.json")


@pytest.fixture
def replied(kit, folder):
    """The reply that our client makes of a recorded body."""

    def make(name):
        stream = name.endswith("txt")
        kind = "text/event-stream" if stream else "application/json"
        page = kit.Page(body=(folder / name).read_text(encoding="utf-8"), headers={"Content-Type": kind})
        client = kit.client(kit.serve({"POST /v1/chat/completions": page}).url)
        exchange = client.ask(dataclasses.replace(ASK, stream=stream))
        assert exchange.reply is not None, exchange.fault
        return exchange.reply

    return make


def bare_facts(**seen):
    endpoint = Endpoint(root="http://h:1", api_root="http://h:1/v1", model="m")
    return ServerFacts(endpoint=endpoint, engine="mlx-vlm", model="m", concurrency=4, capabilities=Capabilities(**seen))


def test_it_signs_each_reply():
    engine, reasons = identify(None, {}, Reply(content="x", headers=HEADERS))
    assert (engine.name, reasons) == ("mlx-vlm", ("header Server is 'mlx_vlm/0.7.10'",))


def test_behind_a_proxy_it_is_known_by_its_health(mtp, folder):
    mtp.headers = {"server": "nginx"}
    assert "/health" in MlxVlm().identify(mtp, json.loads((folder / "models_mtp.json").read_text()))[0]


def test_another_server_is_not_taken_for_it(mtp, folder):
    assert MlxVlm().identify(mtp, {"data": [{"id": "m", "owned_by": "vllm"}]}) == ()
    assert MlxVlm().identify(Recorded(folder, health='{"status": "ok"}'), {"data": [{"id": "m"}]}) == ()
    assert MlxVlm().recognise(Reply(content="x", headers={"server": "uvicorn"})) == ()


def test_it_tells_version_model_and_context(mtp):
    facts = MlxVlm().facts(mtp, bare_facts())
    assert (facts.engine_version, facts.context_length) == ("0.7.10", 4096)
    assert facts.details["model_path"] == "/models/qwen-exact:0.02"
    assert facts.details["draft_model"] == "/models/qwen-exact:0.02"
    assert facts.details["prefix_cache"] is False
    assert facts.capabilities.tools is True


def test_a_drafter_is_configured_and_that_proves_nothing(mtp):
    facts = MlxVlm().facts(mtp, bare_facts(logprobs=False))
    spec = facts.speculation
    assert (spec.state, spec.method, spec.depth, spec.acceptance) == ("unknown", "mtp", None, None)
    assert "not yet proven" in spec.evidence[0]
    assert (facts.capabilities.structured, facts.capabilities.switch_off) == (False, False)


def test_a_drafter_that_is_named_and_not_at_work_is_suspected(mtp):
    evidence = MlxVlm().facts(mtp, bare_facts(logprobs=True)).speculation.evidence
    assert "was it refused while loading" in evidence[-1]
    assert not [line for line in MlxVlm().facts(mtp, bare_facts(logprobs=False)).speculation.evidence if "refused" in line]


def test_without_a_drafter_it_says_so(plain):
    facts = MlxVlm().facts(plain, bare_facts(logprobs=True))
    assert facts.speculation.state == "inactive"
    assert facts.capabilities.structured is None


def test_what_is_not_offered_depends_on_the_drafter(mtp, plain):
    drafting = MlxVlm().facts(mtp, bare_facts(logprobs=False)).not_offered
    assert {line.split(":")[0] for line in drafting} >= {"logprobs under speculation", "response_format under speculation"}
    told = MlxVlm().facts(plain, bare_facts(logprobs=True)).not_offered
    assert not [line for line in told if "speculation:" in line or "top-logprobs" in line]
    untold = MlxVlm().facts(plain, bare_facts(logprobs=False)).not_offered
    assert [line for line in untold if "--top-logprobs-k" in line]


def test_a_server_that_hides_its_settings_leaves_speculation_open(folder):
    facts = MlxVlm().facts(Recorded(folder, health="health_mtp.json"), bare_facts())
    assert facts.speculation.state == "unknown"


def test_a_server_whose_model_was_unloaded_by_a_wrong_name_is_no_trouble(folder):
    facts = MlxVlm().facts(Recorded(folder, health="health_unloaded_mtp.json", settings="settings_mtp.json"), bare_facts())
    assert "model_path" not in facts.details
    assert facts.context_length is None


def test_metrics_count_tokens_and_no_drafts(mtp):
    assert MlxVlm().counters(mtp) == Counters(generated_tokens=44, prompt_tokens=220, source="/metrics")
    assert MlxVlm().load(mtp) == Load(running=0, waiting=0, source="/metrics")


@pytest.mark.parametrize("page", [None, "[]", '{"summary": []}', '{"summary": {"generated_tokens_total": "many"}}'], ids=str)
def test_metrics_of_another_shape_are_none(folder, page):
    client = Recorded(folder, metrics=page)
    assert MlxVlm().counters(client) is None
    assert MlxVlm().load(client) is None


@pytest.mark.parametrize(("name", "tokens"), [("chat_mtp.json", 24), ("stream_mtp.txt", 6)], ids=["unary", "stream"])
def test_a_reply_tells_its_drafts(replied, name, tokens):
    reply = replied(name)
    counted = MlxVlm().acceptance_of(reply)
    assert counted.drafted > counted.accepted > 0
    assert counted.batch_wide
    assert not counted.tree
    assert tokens - (counted.rounds + counted.accepted) in (0, 1)  # the first token comes from the prompt


def test_the_counts_are_those_of_the_recording(replied):
    assert MlxVlm().acceptance_of(replied("chat_mtp.json")) == Acceptance(
        drafted=26, accepted=11, rounds=13, source="timings.draft_n", batch_wide=True
    )


@pytest.mark.parametrize("name", ["one_token_mtp.json", "chat_plain.json", "stream_plain.txt"])
def test_counts_that_are_null_mean_that_nothing_was_drafted(replied, name):
    counted = MlxVlm().acceptance_of(replied(name))
    assert (counted.drafted, counted.accepted, counted.rounds) == (0, 0, 0)
    assert "null" in counted.source


@pytest.mark.parametrize("timings", ["soon", {"predicted_per_second": 1.5}, {"draft_n": "many"}, {"draft_n": True}, None], ids=repr)
def test_timings_of_another_shape_offer_nothing(timings):
    assert MlxVlm().acceptance_of(Reply(content="x", extras={"timings": timings})) is None


def test_logprobs_under_speculation_are_hollow(replied):
    assert {token.logprob for token in replied("logprobs_mtp.json").logprobs} == {0.0}
    assert not any(token.top for token in replied("logprobs_mtp.json").logprobs)
    assert all(token.logprob < 0 and token.top for token in replied("logprobs_plain.json").logprobs)


def test_nothing_of_one_request_reaches_the_drafter():
    assert MlxVlm().unspeculated(ASK) is None
    assert MlxVlm().continuation(ASK, "The sky") is None


MODULE = ("python", "-m", "mlx_vlm.server", "--host", "127.0.0.1", "--model", "/models/m")


def test_a_command_line_with_a_drafter():
    told = MlxVlm().read_command((*MODULE, "--draft-model", "/models/d", "--draft-kind", "mtp", "--draft-block-size=4"), {})
    assert (told.model_path, told.drafter_path, told.served_names) == ("/models/m", "/models/d", ("/models/m",))
    assert (told.speculation.state, told.speculation.method, told.speculation.depth) == ("unknown", "mtp", 3)


def test_a_drafter_may_be_in_the_environment():
    told = MlxVlm().read_command(
        ("/env/bin/python", "/env/bin/mlx_vlm.server", "--model", "m", "--max-num-seqs", "2"), {"MLX_VLM_DRAFT_MODEL": "d"}
    )
    assert (told.drafter_path, told.speculation.state, told.sequences) == ("d", "unknown", 2)


def test_a_command_line_without_a_drafter():
    told = MlxVlm().read_command(MODULE, {})
    assert (told.drafter_path, told.speculation.state, told.speculation.method, told.sequences) == (None, "inactive", None, None)


def test_another_program_is_not_its():
    assert MlxVlm().read_command(("python", "-m", "mlx_lm", "server", "--model", "/models/mlx_vlm.server"), {}) is None
