"""Hugging Face's `transformers serve`: it answers, and tells next to nothing."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.facts import ProcessFacts, ServerFacts, SpecDecode
from pytest_mtp.core.protocols import Client
from pytest_mtp.servers.engines.base import Adapter
from pytest_mtp.servers.engines.document import fetch_json, items, mapping

_PATHS = frozenset({"/load_model", "/reset"})
_PROGRAMS = frozenset({"transformers", "transformers.exe", "transformers.cli.transformers"})
_FIRST_WORDS = 4  # an interpreter and its options may come before the program
_SWITCHES = ("--continuous-batching", "--compile", "--trust-remote-code", "--enable-cors", "--cb-use-cuda-graph")
_BUDGET = 1024  # max_new_tokens of a request that names neither a budget nor a generation_config

_NOT_OFFERED = (
    "draft counts: neither replies nor any page has them",
    "configuration of speculation: it is in the checkpoint's generation_config.json and in each request, and no page shows it",
    "counters and load: there is no /metrics",
    "logprobs and token ids: the fields of a request are ignored",
    "cached tokens: nothing is kept between requests",
    "structured output: response_format is ignored",
    "forced tool calls: tool_choice is ignored",
    "the end of a stream: no [DONE] is sent",
    "token counts of a stream under speculation: completion_tokens are the verify steps, and finish_reason is stop at the limit (5.24.0)",
    "options that it does not know, top_k and min_p among them: refused with 422",
    "continued assistant messages: the template closes them",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformers(Adapter):
    """Speculation is a matter of a request's `generation_config` and of the checkpoint's own, never of a flag."""

    name: str = "transformers"

    def identify(self, client: Client, models: Mapping[str, object]) -> Sequence[str]:
        """By its paths, looked up only where `/v1/models` has the shape of its own: an empty list, or states of loading."""
        entries = items(models.get("data"))
        if entries and not any("value" in mapping(entry.get("status")) for entry in entries):
            return ()
        paths = mapping(mapping(fetch_json(client, "/openapi.json")).get("paths"))
        return ("/openapi.json has the paths /load_model and /reset of transformers serve",) if paths.keys() >= _PATHS else ()

    def facts(self, client: Client, facts: ServerFacts) -> ServerFacts:  # noqa: ARG002 (no page tells more)
        """What is known of every server of this kind."""
        told = "not told: use_mtp in the checkpoint's generation_config.json turns it on for all requests, that of a request for one"
        seen = facts.capabilities
        return dataclasses.replace(
            facts,
            capabilities=dataclasses.replace(
                seen, logprobs=False, token_ids=False, structured=False, cache_proof=False, request_acceptance=False, switch_off=True
            ),
            speculation=dataclasses.replace(facts.speculation, evidence=(*facts.speculation.evidence, told)),
            not_offered=(*facts.not_offered, *_NOT_OFFERED),
        )

    def unspeculated(self, ask: Ask) -> Ask | None:
        """With `use_mtp` false in its `generation_config`; None where that holds something that is no JSON object.

        A `generation_config` takes the place of the default budget too, so that one is named where the ask has none.
        """
        config = _generation_config(ask)
        if config is None:
            return None
        config = {key: value for key, value in config.items() if key != "prompt_lookup_num_tokens"}
        if ask.sampling.max_tokens is None and not {"max_tokens", "max_completion_tokens"} & ask.extra_body.keys():
            config.setdefault("max_new_tokens", _BUDGET)
        return dataclasses.replace(ask, extra_body={**ask.extra_body, "generation_config": json.dumps({**config, "use_mtp": False})})

    def read_command(self, command: Sequence[str], environ: Mapping[str, str]) -> ProcessFacts | None:  # noqa: ARG002 (no variables)
        """Of `transformers serve MODEL`; without a model any one of the cache is loaded at a request."""
        start = next((at for at, word in enumerate(command[:_FIRST_WORDS]) if PurePath(word).name in _PROGRAMS), None)
        if start is None or command[start + 1 : start + 2] != ["serve"]:
            return None
        model, words = None, list(command[start + 2 :])
        while words:
            word = words.pop(0)
            if not word.startswith("--"):
                model = model or word
            elif "=" not in word and word.replace("--no-", "--", 1) not in _SWITCHES:
                del words[:1]
        batching = "--continuous-batching" in command
        return ProcessFacts(
            pid=0,
            started_at=0.0,
            command=(),
            model_path=model,
            served_names=(model,) if model else (),
            speculation=SpecDecode(evidence=("command line: no flag of transformers serve speaks of speculation",)),
            sequences=None if batching else 1,
        )


def _generation_config(ask: Ask) -> Mapping[str, Any] | None:
    said = ask.extra_body.get("generation_config")
    if said is None:
        return {}
    try:
        config = json.loads(said) if isinstance(said, str) else None
    except ValueError:
        return None
    return config if isinstance(config, dict) else None
