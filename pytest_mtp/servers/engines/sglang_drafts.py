"""What SGLang configures of speculation, and the draft counts of its replies under their names of several releases."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_mtp.core.facts import Acceptance, SpecDecode
from pytest_mtp.core.record import Record
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.engines.document import count, mapping, text

_KNOWN_VERSION = (0, 5, 23)  # the release whose source was read
_ACCEPTED = ("spec_num_correct_drafts", "spec_accepted_drafts", "spec_accept_token_num")
_DRAFTED = ("spec_num_proposed_drafts", "spec_proposed_drafts", "spec_draft_token_num")
_HISTOGRAM = ("spec_correct_drafts_histogram", "spec_accept_histogram")
_SIMULATED = "SGLANG_SIMULATE_ACC_LEN"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafting(Record):
    """What is known of the configuration.

    `speculates` None where nothing told. `a_step` is draft tokens verified a step, without the step's own token, None where
    it is not known or changes at run time. `tells`: the release is known to tell drafts in replies that are asked for them.
    """

    speculates: bool | None = None
    a_step: int | None = None
    tree: bool = False
    tells: bool = False

    @classmethod
    def of(cls, plain: object) -> Drafting:
        """From `ServerFacts.details`; what does not fit says nothing."""
        try:
            return cls.from_dict(mapping(plain))
        except ValueError:
            return cls()


def configured(
    info: Mapping[str, object], *, version: str | None, path: str, environ: Mapping[str, str] | None = None
) -> tuple[Drafting, SpecDecode]:
    """From the settings; `path` is where they stand. Nothing here proves that drafts are made."""
    told = re.match(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})", version or "")
    tells = told is not None and tuple(int(part) for part in told.groups()) >= _KNOWN_VERSION
    algorithm = text(info.get("speculative_algorithm"))
    if algorithm is None or algorithm.lower() == "none":
        return Drafting(speculates=False, tells=tells), SpecDecode(state="inactive", evidence=(f"{path}: no speculative_algorithm",))
    steps, topk, wide = (_whole(info.get(f"speculative_{name}")) for name in ("num_steps", "eagle_topk", "num_draft_tokens"))
    breadth = _whole(info.get("speculative_ngram_max_bfs_breadth"))
    # a chain drafts as many tokens as it is deep; a tree of several branches drafts more
    tree = (topk or 1) > 1 or (algorithm.upper() == "NGRAM" and breadth != 1)
    adaptive = info.get("speculative_adaptive") not in (None, False)
    a_step = wide - 1 if wide else steps if steps and not tree else None
    shape = ", ".join(f"{value} {word}" for value, word in ((steps, "steps"), (topk, "eagle_topk"), (wide, "num_draft_tokens")) if value)
    evidence = [f"{path}: speculative_algorithm is {algorithm}{f' ({shape})' if shape else ''}: configured, not yet proven"]
    for name in ("single", "acc"):
        threshold = _real(info.get(f"speculative_accept_threshold_{name}"))
        if threshold is not None and threshold < 1:
            evidence.append(f"{path}: speculative_accept_threshold_{name} is {threshold:g}; below 1 answers are not lossless")
    if tree:
        evidence.append(f"{path}: drafts form a tree, so that their rate is not comparable with that of a chain")
    if adaptive:
        evidence.append(f"{path}: speculative_adaptive changes the depth at run time")
    simulated = _real((environ or {}).get(_SIMULATED) or _own_environment(info).get(_SIMULATED))
    if simulated is not None and simulated > 0:
        evidence.append(f"{_SIMULATED} is {simulated:g}: acceptance is simulated and answers are not the model's")
    drafting = Drafting(speculates=True, a_step=None if adaptive else a_step, tree=tree, tells=tells)
    return drafting, SpecDecode(method=algorithm, depth=steps if tree else a_step, evidence=tuple(evidence))


def drafts_of(reply: Reply, drafting: Drafting) -> Acceptance | None:
    """Draft counts of one reply.

    `spec_accept_length` is not used: it divides all tokens by the verify steps, the prefill's token among them. A reply of
    an instrumented ask (its token ids show that) without counts had no verify step.
    """
    place, told = _details(reply)
    rounds = count(told.get("spec_verify_ct"))
    accepted, drafted = _first(told, _ACCEPTED), _first(told, _DRAFTED)
    if not told:
        if drafting.speculates and drafting.tells and reply.token_ids:
            return Acceptance(drafted=0, accepted=0, rounds=0, source="no spec_tokens_details: no verify step", tree=drafting.tree)
        return None
    tokens = count(told.get("completion_tokens")) or (reply.usage.completion_tokens if reply.usage else None)
    if accepted is None and rounds and tokens is not None:
        accepted, place = max(tokens - rounds - 1, 0), f"{place}: tokens - spec_verify_ct - 1"
    if drafted is None and rounds is not None and drafting.a_step is not None:
        drafted = rounds * drafting.a_step
    if accepted is None or drafted is None:
        return None
    return Acceptance(
        drafted=drafted,
        accepted=accepted,
        rounds=rounds,
        per_position=_positions(told, rounds=rounds, accepted=accepted),
        source=place,
        tree=drafting.tree,
    )


def _details(reply: Reply) -> tuple[str, Mapping[str, object]]:
    """Where the counts of choice 0 stand."""
    told = mapping(reply.extras.get("sglext")).get("spec_tokens_details")
    if isinstance(told, (list, tuple)):  # for several choices, without those that had no verify step
        told = told[0] if len(told) == 1 else None
    choice = mapping(reply.extras.get("choice"))
    places = {
        "sglext.spec_tokens_details": told,
        "choices[].meta_info": choice.get("meta_info"),
        "meta_info": reply.extras.get("meta_info"),
    }
    for place, holder in places.items():
        found = mapping(holder)
        if any(key.startswith("spec_") for key in found):
            return place, found
    return "", {}


def _positions(told: Mapping[str, object], *, rounds: int | None, accepted: int) -> tuple[int, ...]:
    """Rounds that accepted draft i, from how many rounds accepted exactly k; empty where that contradicts the totals."""
    histogram = next((told[name] for name in _HISTOGRAM if isinstance(told.get(name), list)), None)
    counts = [count(entry) for entry in histogram] if isinstance(histogram, list) else []
    whole = [entry for entry in counts if entry is not None]
    if not whole or len(whole) != len(counts) or sum(whole) != rounds or sum(k * n for k, n in enumerate(whole)) != accepted:
        return ()
    return tuple(sum(whole[at:]) for at in range(1, len(whole)))


def _first(told: Mapping[str, object], names: tuple[str, ...]) -> int | None:
    return next((value for name in names if (value := count(told.get(name))) is not None), None)


def _own_environment(info: Mapping[str, object]) -> Mapping[str, object]:
    """Variables of the server, where it is told to show them."""
    states = info.get("internal_states")
    return mapping(mapping(states[0]).get("env_vars")) if isinstance(states, list) and states else {}


def _whole(value: object) -> int | None:
    """A setting: a number, or its text on a command line."""
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdecimal() and len(value) < 12 else None
    return count(value)


def _real(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
