"""The generated parts of docs/checkpoints.md: `python -m pytest_mtp.checkpoint.table` writes them anew.

A test holds the committed page against them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pytest_mtp.checkpoint.advice import Case, advise
from pytest_mtp.checkpoint.families import DRAFTERS, FAMILIES
from pytest_mtp.checkpoint.family import SCOPE_PATTERNS, Family
from pytest_mtp.checkpoint.head import Head
from pytest_mtp.checkpoint.joins import BY_NAME
from pytest_mtp.checkpoint.model import Declared, ModelFacts

_YES = "yes"


def families_table() -> str:
    """One row a family: what is looked for, and who runs it."""
    rows = ["| family | config key | place of the head | joined by | vLLM | SGLang | llama.cpp | mlx-vlm | transformers | lmdeploy |"]
    rows.append("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    return "\n".join([*rows, *(_row(family) for family in (*FAMILIES, *DRAFTERS))])


def _row(family: Family) -> str:
    keys = " or ".join(f"`{key}`" for key in family.keys) or "-"
    default = f" (default {family.default})" if family.default is not None else ""
    places = " or ".join(f"`{SCOPE_PATTERNS[scope]}`" if scope != "root" else SCOPE_PATTERNS[scope] for scope in family.scopes)
    joins = " or ".join("`" + " ".join(BY_NAME[join].words) + "`" for join in family.joins)
    engines = (
        f"`{family.vllm}`",
        _YES if family.sglang else "-",
        ", ".join(f"`{arch}`" for arch in family.llamacpp) or "-",
        f"`{family.drafter}`" if family.drafter else "-",
        _YES if family.transformers else "-",
        f"`{family.lmdeploy}`" if family.lmdeploy else "-",
    )
    return f"| `{family.name}` | {keys}{default} | {places} | {joins} | {' | '.join(engines)} |"


def engines_table() -> str:
    """What is advised for the two families that between them reach every engine with a flag."""
    rows = ["| engine | what to set | depth |", "| --- | --- | --- |"]
    cases = [_case(name, gguf=gguf) for name, gguf in (("glm4_moe", False), ("glm4_moe", True), ("qwen3_5", False))]
    advised = [advice for case in cases for advice in advise(case)]
    for engine in dict.fromkeys(advice.engine for advice in advised):
        fitting = [advice for advice in advised if advice.engine == engine and advice.support == "yes"]
        found = next((advice for advice in fitting if "FILE.gguf" not in advice.flags), None)
        if found is None:
            first = next(advice for advice in advised if advice.engine == engine)
            rows.append(f"| {engine} | {'no' if first.support == 'no' else 'not known'}: {first.note} | - |")
        else:
            rows.append(f"| {engine} | `{found.flags}` | {found.depth or found.note} |")
    return "\n".join(rows)


def _case(name: str, *, gguf: bool) -> Case:
    family = next(family for family in FAMILIES if family.name == name)
    head = Head(
        kind="mtp",
        family=name,
        join=family.joins[0],
        scope=family.scopes[0],
        where="",
        layers=2,
        depth=2,
        tensors=1,
        parameters=1,
        nbytes=2,
        storage={"BF16": 2},
        bits_per_weight=16,
        own_embeddings=False,
        own_output=False,
        own_file=False,
        files=(),
    )
    facts = ModelFacts(model_type=family.gguf[0] if gguf else name, declared=(Declared(key=family.keys[0], layers=2),))
    return Case(head=head, family=family, facts=facts, gguf=gguf, path="PATH")


def page(text: str) -> str:
    """The page with its generated parts renewed."""
    for name, table in (("families", families_table()), ("engines", engines_table())):
        start, end = f"<!-- {name}: start -->", f"<!-- {name}: end -->"
        head, rest = text.split(start)
        text = f"{head}{start}\n{table}\n{end}{rest.split(end)[1]}"
    return text


if __name__ == "__main__":
    where = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/checkpoints.md")
    where.write_text(page(where.read_text()))
