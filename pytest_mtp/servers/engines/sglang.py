"""SGLang. Written from the source of 0.5.23 and from what older releases sent; not run here."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.facts import Acceptance, Counters, Load, ProcessFacts, ServerFacts
from pytest_mtp.core.protocols import Client
from pytest_mtp.core.record import Json
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.engines.base import Adapter
from pytest_mtp.servers.engines.document import count, fetch_json, items, mapping, owners, text
from pytest_mtp.servers.engines.exposition import samples, whole
from pytest_mtp.servers.engines.flags import flag, flags, number
from pytest_mtp.servers.engines.prefill import with_final_assistant
from pytest_mtp.servers.engines.sglang_drafts import Drafting, configured, drafts_of

_SIGNS = frozenset({"speculative_algorithm", "mem_fraction_static", "disable_radix_cache", "schedule_policy", "chunked_prefill_size"})
_PLAIN = (
    *("model_path", "served_model_name", "dtype", "quantization", "kv_cache_dtype", "speculative_draft_model_path"),
    *("attention_backend", "grammar_backend", "tool_call_parser", "reasoning_parser"),
)
_SIZES = ("tp_size", "dp_size", "pp_size")


@dataclass(frozen=True, slots=True, kw_only=True)
class SGLang(Adapter):
    """`drafting` is what `/server_info` said of the configuration."""

    name: str = "sglang"
    drafting: Drafting = field(default_factory=Drafting)

    def identify(self, client: Client, models: Mapping[str, object]) -> Sequence[str]:
        """By its signature under `/v1/models`, else by the settings that only it lists in `/server_info`."""
        if "sglang" in owners(models):
            return ("/v1/models: owned_by is 'sglang'",)
        path, info = _server_info(client)
        found = sorted(_SIGNS & info.keys())
        return (f"{path} has SGLang's settings {', '.join(found[:3])}",) if len(found) >= 3 else ()

    def bound(self, facts: ServerFacts) -> SGLang:
        """With what `/server_info` said of speculation."""
        return dataclasses.replace(self, drafting=Drafting.of(facts.details.get("drafting")))

    def facts(self, client: Client, facts: ServerFacts) -> ServerFacts:
        """Version, sizes and configured speculation. What `avg_spec_accept_length` says is a mean since start and is not used."""
        path, info = _server_info(client)
        if not info:
            missing = "configuration: /server_info does not answer, so what is configured is not known"
            return dataclasses.replace(facts, not_offered=(*facts.not_offered, missing))
        version = text(info.get("version"))
        states = items(info.get("internal_states"))
        drafting, speculation = configured(info, version=version, path=path)
        told: dict[str, Json] = {key: text(info.get(key)) for key in _PLAIN}
        told |= {key: count(info.get(key)) for key in _SIZES}
        told["drafting"] = drafting.to_dict()
        tells = True if drafting.speculates and drafting.tells else None
        parser, grammar, cached = info.get("tool_call_parser"), info.get("grammar_backend"), info.get("enable_cache_report")
        before = facts.capabilities
        return dataclasses.replace(
            facts,
            engine_version=version or facts.engine_version,
            context_length=count(info.get("context_length")) or facts.context_length,
            sequences=_sequences(info, states),
            capabilities=dataclasses.replace(
                before,
                tools=True if text(parser) else before.tools,
                structured=grammar != "none" if text(grammar) else before.structured,
                cache_proof=cached if isinstance(cached, bool) else before.cache_proof,
                request_acceptance=tells or before.request_acceptance,
                token_ids=before.token_ids or drafting.tells or None,
                switch_off=False,
            ),
            speculation=speculation,
            not_offered=(*facts.not_offered, *_not_offered(info, drafting, version)),
            details={**facts.details, **{key: value for key, value in told.items() if value is not None}},
        )

    def counters(self, client: Client) -> Counters | None:
        """Of the requests that have ended; None without `--enable-metrics`.

        Drafts are not counted, only verify steps. The prefill is none of them, though it emits the first token of a reply. The
        gauges of acceptance tell of the last log interval alone and are not read.
        """
        got = client.fetch("/metrics")
        totals = samples(got.text, prefix="sglang:") if got.ok else None
        if not totals or not ({"generation_tokens_total", "num_requests_total", "num_running_reqs"} & totals.keys()):
            return None
        steps = whole(totals, "spec_verify_calls_total")  # absent until its first count, as all that have labels
        return Counters(
            generated_tokens=whole(totals, "generation_tokens_total") or 0,
            prompt_tokens=whole(totals, "prompt_tokens_total") or 0,
            cached_tokens=whole(totals, "cached_tokens_total") or 0,
            verify_steps=0 if steps is None and self.drafting.speculates else steps,
            source="/metrics",
        )

    def load(self, client: Client) -> Load | None:
        """From `/v1/loads`, else from the gauges of `/metrics`, which lag by up to a log interval."""
        loads = items(mapping(fetch_json(client, "/v1/loads")).get("loads"))
        running = [count(entry.get("num_running_reqs")) for entry in loads]
        waiting = [count(entry.get("num_waiting_reqs")) for entry in loads]
        if loads and None not in running:
            used = [share for entry in loads if (share := _share(entry.get("token_usage"))) is not None]
            return Load(
                running=sum(one or 0 for one in running),
                waiting=None if None in waiting else sum(one or 0 for one in waiting),
                cache_used=sum(used) / len(used) if used else None,
                source="/v1/loads",
            )
        got = client.fetch("/metrics")
        totals = samples(got.text, prefix="sglang:") if got.ok else None
        if not totals or "num_running_reqs" not in totals:
            return None
        return Load(
            running=whole(totals, "num_running_reqs"),
            waiting=whole(totals, "num_queue_reqs"),
            cache_used=_share(totals.get("token_usage")),
            source="/metrics, as of its last log interval",
        )

    def acceptance_of(self, reply: Reply) -> Acceptance | None:
        """From `sglext.spec_tokens_details` or `choices[].meta_info`."""
        return drafts_of(reply, self.drafting)

    def instrumented(self, ask: Ask) -> Ask:
        """Older releases ignore these fields. Token ids are refused for streams."""
        asked: dict[str, Json] = {"return_spec_tokens_details": True}
        if not ask.stream:
            asked["return_token_ids"] = True
        return dataclasses.replace(ask, extra_body={**asked, **ask.extra_body})

    def continuation(self, ask: Ask, prefix: str) -> Ask | None:
        """A final assistant message is continued where `continue_final_message` says so."""
        return with_final_assistant(ask, prefix, {"continue_final_message": True})

    def read_command(self, command: Sequence[str], environ: Mapping[str, str]) -> ProcessFacts | None:
        """`python -m sglang.launch_server` and `sglang serve`."""
        module = any(word == "sglang.launch_server" or word.endswith("/sglang/launch_server.py") for word in command)
        program = any(word == "sglang" or word.endswith("/sglang") for word in command[:2]) and "serve" in command
        if not module and not program:
            return None
        given = flags(command)
        said: dict[str, object] = {key: value for key, value in given.items() if key.startswith("speculative_")}
        said |= {"speculative_algorithm": flag(given, "speculative_algorithm")}
        model = flag(given, "model_path", "model")
        name = flag(given, "served_model_name") or model
        return ProcessFacts(
            pid=0,
            started_at=0.0,
            command=(),
            model_path=model,
            drafter_path=flag(given, "speculative_draft_model_path", "speculative_draft_model"),
            served_names=(name,) if name else (),
            speculation=configured(said, version=None, path="command line", environ=environ)[1],
            sequences=number(given, "max_running_requests"),
        )


def _server_info(client: Client) -> tuple[str, Mapping[str, object]]:
    """`/get_server_info` is its name in older releases."""
    for path in ("/server_info", "/get_server_info"):
        info = mapping(fetch_json(client, path))
        if "speculative_algorithm" in info:
            return path, info
    return "/server_info", {}


def _sequences(info: Mapping[str, object], states: Sequence[Mapping[str, object]]) -> int | None:
    """What the schedulers run at once, all data-parallel ones together; the setting itself is a wish."""
    real = [size for state in states if (size := count(state.get("effective_max_running_requests_per_dp")))]
    return sum(real) or count(info.get("max_running_requests"))


def _share(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1 else None


def _not_offered(info: Mapping[str, object], drafting: Drafting, version: str | None) -> list[str]:
    lines = []
    if info.get("enable_metrics") is False:
        lines.append("server counters: started without --enable-metrics")
    if info.get("enable_cache_report") is False:
        lines.append("cached prompt tokens: started without --enable-cache-report")
    if "tool_call_parser" in info and not info["tool_call_parser"]:
        lines.append("tool calls: started without --tool-call-parser, so that calls may stay in the text")
    if drafting.speculates:
        lines.append("speculation off for a single request: no field does it, only a restart without --speculative-algorithm")
        if not drafting.tells:
            lines.append(f"drafts of one request: not known of version {version or '(not told)'}, only from 0.5.23")
    return lines
