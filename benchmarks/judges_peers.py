"""Peers' own graders on vectors from standard input, verdicts as JSON on standard output. Runs in the peers' environment.

Each line in is `{"id", "kind", "reply", "gold": [texts]}`; the document out maps the name of a rule to `{id: passes}`.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import os
import re
import sys
from collections.abc import Callable
from typing import Any

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"

Rule = Callable[[str, str], bool]


def vllm_digits() -> Rule:
    """The rule of vLLM's GSM8K test, as published: commas out, the last run of digits. The package needs an accelerator to install."""

    def rule(reply: str, gold: str) -> bool:
        def last(text: str) -> str:
            found = re.findall(r"\d+", text.replace(",", ""))
            return found[-1] if found else ""

        return last(reply) == last(gold) != ""

    return rule


def lm_eval_flexible() -> Rule:
    """gsm8k.yaml: the filter flexible-extract and exact_match with its ignored expressions."""
    from lm_eval.api.metrics import exact_match_hf_evaluate  # noqa: PLC0415  # one environment has all peers, or some
    from lm_eval.filters.extraction import RegexFilter  # noqa: PLC0415  # as above

    extract = RegexFilter(regex_pattern=r"(-?[$0-9.,]{2,})|(-?[0-9]+)", group_select=-1)

    def rule(reply: str, gold: str) -> bool:
        (found,) = extract.apply([[reply]], [{}])
        ignored = [",", r"\$", r"(?s).*#### ", r"\.$"]
        return exact_match_hf_evaluate([found[0]], [gold], regexes_to_ignore=ignored, ignore_case=True)["exact_match"] == 1.0

    return rule


def math_verify_default() -> Rule:
    from math_verify import parse, verify  # noqa: PLC0415  # as above

    def rule(reply: str, gold: str) -> bool:
        return bool(verify(parse(gold), parse(reply)))

    return rule


def inspect_scorer(build: Callable[[Any], Any]) -> Rule:
    import inspect_ai.scorer as scorers  # noqa: PLC0415  # as above
    from inspect_ai.model import ModelOutput  # noqa: PLC0415  # as above
    from inspect_ai.solver import TaskState  # noqa: PLC0415  # as above

    score = build(scorers)

    def rule(reply: str, gold: str) -> bool:
        state = TaskState(model="mock/m", sample_id=1, epoch=1, input="q", messages=[], output=ModelOutput.from_content("m", reply))
        return asyncio.run(score(state, scorers.Target(gold))).value in {"C", 1}

    return rule


def deepeval_scorer(name: str) -> Rule:
    from deepeval.scorer import Scorer  # noqa: PLC0415  # as above

    score = getattr(Scorer, name)

    def rule(reply: str, gold: str) -> bool:
        return bool(score(gold, reply))

    return rule


RULES: dict[str, tuple[str, str, Callable[[], Rule]]] = {
    "vLLM digit rule (rule as published)": ("number", "", vllm_digits),
    "lm-eval gsm8k flexible-extract": ("number", "lm_eval", lm_eval_flexible),
    "Math-Verify parse + verify": ("number", "math-verify", math_verify_default),
    "inspect-ai match(numeric=True)": ("number", "inspect_ai", lambda: inspect_scorer(lambda s: s.match(numeric=True))),
    "deepeval quasi exact match (numbers)": ("number", "deepeval", lambda: deepeval_scorer("quasi_exact_match_score")),
    "inspect-ai answer('letter')": ("choice", "inspect_ai", lambda: inspect_scorer(lambda s: s.answer("letter"))),
    "inspect-ai match(location='end')": ("choice", "inspect_ai", lambda: inspect_scorer(lambda s: s.match())),
    "deepeval exact match (choices)": ("choice", "deepeval", lambda: deepeval_scorer("exact_match_score")),
    "inspect-ai match(location='exact')": ("text", "inspect_ai", lambda: inspect_scorer(lambda s: s.match(location="exact"))),
    "inspect-ai includes()": ("text", "inspect_ai", lambda: inspect_scorer(lambda s: s.includes())),
    "deepeval exact match": ("text", "deepeval", lambda: deepeval_scorer("exact_match_score")),
    "deepeval quasi exact match": ("text", "deepeval", lambda: deepeval_scorer("quasi_exact_match_score")),
}


def main() -> None:
    vectors = [json.loads(line) for line in sys.stdin]
    out: dict[str, Any] = {}
    real, sys.stdout = sys.stdout, sys.stderr  # peers may print
    for name, (kind, package, build) in RULES.items():
        try:
            rule = build()
            version = importlib.metadata.version(package) if package else ""
        except Exception as error:  # noqa: BLE001  # a peer that cannot be imported is reported, whatever it raised
            out[name] = {"kind": kind, "error": f"{type(error).__name__}: {error}"}
            continue
        verdicts: dict[str, bool | None] = {}
        for vector in vectors:
            if vector["kind"] == kind:
                try:
                    verdicts[vector["id"]] = any(rule(vector["reply"], gold) for gold in vector["gold"])
                except Exception:  # noqa: BLE001  # a peer that raises has no verdict; it counts as wrong
                    verdicts[vector["id"]] = None
        out[name] = {"kind": kind, "version": version, "package": package, "verdicts": verdicts}
    real.write(json.dumps(out))


if __name__ == "__main__":
    main()
