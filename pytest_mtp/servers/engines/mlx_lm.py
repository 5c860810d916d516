"""mlx-lm's server."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.facts import ProcessFacts, ServerFacts, SpecDecode
from pytest_mtp.core.protocols import Client
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.engines.base import Adapter
from pytest_mtp.servers.engines.document import text
from pytest_mtp.servers.engines.flags import flag, flags, number
from pytest_mtp.servers.engines.mlx_vlm import runs

STARTED_WITH = "default_model"
"""Its name for the model of its own command line, with the draft model of its command line."""

_PROGRAMS = ("mlx_lm.server", "mlx_lm")
_FINGERPRINT = re.compile(r"(?P<version>\d+\.\d+[^-]*)-\d+\.\d+[^-]*-(macOS|Darwin|Linux|Windows)-\S+")
"""Its own version, MLX's, the platform, the chip."""

_DRAFTS_BY_DEFAULT = 3
_NOT_OFFERED = (
    "draft counts: no reply, no page and no log line tells how many tokens were drafted or accepted",
    "configuration of speculation: no page tells whether there is a draft model",
    "counters and load of the server: there is no /metrics",
    "logprobs in streams: asked for, they are left out; replies that are not streamed have them",
    "logprobs with three alternatives or more: the one that stands for the chosen token may be any of them (0.32.2)",
    "tool_choice: ignored, required and none change nothing",
    "response_format: ignored",
    "continuing an assistant message: every chat opens a new turn, and continue_final_message is refused",
    "which model is loaded: /v1/models lists what lies in the hub's cache, or answers with nothing",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MlxLm(Adapter):
    """Its multi-token-prediction heads are dropped while loading: it speculates with a whole draft model only."""

    name: str = "mlx-lm"

    def recognise(self, reply: Reply) -> Sequence[str]:
        """By the fingerprint in each reply."""
        signed = reply.system_fingerprint or ""
        return (f"system_fingerprint is {signed!r}",) if _FINGERPRINT.fullmatch(signed) else ()

    def identify(self, client: Client, models: Mapping[str, object]) -> Sequence[str]:  # noqa: ARG002 (its pages say nothing)
        """Never: only its replies are signed."""
        return ()

    def facts(self, client: Client, facts: ServerFacts) -> ServerFacts:  # noqa: ARG002 (its pages say nothing)
        """What is known of this program; it tells nothing of itself beyond its version."""
        signed = _FINGERPRINT.fullmatch(text(facts.details.get("system_fingerprint")) or "")
        return dataclasses.replace(
            facts,
            engine_version=signed["version"] if signed else facts.engine_version,
            capabilities=dataclasses.replace(
                facts.capabilities, structured=False, cache_proof=True, switch_off=True, request_acceptance=False
            ),
            speculation=SpecDecode(evidence=("mlx-lm tells nothing of speculation",)),
            not_offered=(*facts.not_offered, *_NOT_OFFERED),
        )

    def unspeculated(self, ask: Ask) -> Ask | None:
        """With no draft tokens. What an earlier request with drafts left in the prefix cache is used all the same."""
        return dataclasses.replace(ask, extra_body={**ask.extra_body, "num_draft_tokens": 0})

    def read_command(self, command: Sequence[str], environ: Mapping[str, str]) -> ProcessFacts | None:  # noqa: ARG002 (it reads none)
        """Of `mlx_lm.server` or `python -m mlx_lm server`. With a draft model, requests are answered one at a time."""
        if not runs(command, _PROGRAMS):
            return None
        found = flags(command)
        model, drafter = flag(found, "model"), flag(found, "draft_model")
        depth = number(found, "num_draft_tokens") or _DRAFTS_BY_DEFAULT
        alone = drafter is not None or "kv_bits" in found
        said = f"command line: draft model {drafter}, at most {depth} drafts a step" if drafter else "command line: no draft model"
        return ProcessFacts(
            pid=0,
            started_at=0.0,
            command=(),
            model_path=model,
            drafter_path=drafter,
            served_names=(STARTED_WITH, *((model,) if model else ())),
            speculation=SpecDecode(
                state="unknown" if drafter else "inactive",
                method="draft-model" if drafter else None,
                depth=depth if drafter else None,
                evidence=(said,),
            ),
            sequences=1 if alone else number(found, "decode_concurrency"),
        )
