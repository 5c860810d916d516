"""Parameters of the demo server, from a profile or a fixture to a command line."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_mtp.core.errors import UsageError
from pytest_mtp.core.facts import SpecDecode
from pytest_mtp.core.record import Json
from pytest_mtp.servers.demo.assemble import assemble, require_extras
from pytest_mtp.servers.params import Params
from pytest_mtp.servers.plan import Plan

MODEL = "SmolLM2-135M-Instruct-MTP"
TEMPLATE = Path(__file__).with_name("tools.jinja")

_DEEPEST = 8


def plan(params: Mapping[str, Json]) -> Plan:
    """Raise UsageError naming the parameter that is wrong. Assembles the model where that was not done yet.

    `speculation` bool, `depth` draft tokens a step, `synth_rates` acceptance rates that are obeyed whatever the model thinks
    (the text is wrong then, on purpose), `n_ctx` tokens over all slots, `n_parallel` slots, `port`.
    """
    given = Params("demo", params, known=("speculation", "depth", "synth_rates", "n_ctx", "n_parallel", "port"))
    speculation, rates = given.flag("speculation", default=True), given.rates("synth_rates")
    depth = given.whole("depth", default=len(rates) or 3, highest=_DEEPEST)
    if len(rates) > depth:
        raise UsageError(f"parameter 'synth_rates' of the demo server has {len(rates)} rates for a depth of {depth}")
    words = [
        *("--ctx-size", str(given.whole("n_ctx", default=8192, highest=65536))),
        *("--parallel", str(given.whole("n_parallel", default=2, highest=16))),
        *("--chat-template-file", str(TEMPLATE), "--metrics", "--props", "--no-warmup"),
    ]
    words += ["--spec-type", "draft-mtp", "--spec-draft-n-max", str(depth)] if speculation else []
    words += ["--spec-synth-rates", ",".join(map(str, rates))] if speculation and rates else []
    port = given.whole("port", default=0, highest=65535)
    require_extras()
    model = assemble()

    def command(port: int, alias: str) -> Sequence[str]:
        program = [sys.executable, "-m", "pytest_mtp.servers.llamacpp.child"]
        return [*program, "--model", str(model), "--port", str(port), "--alias", f"{MODEL},{alias}", *words]

    return Plan(
        command=command,
        port=port or None,
        model=MODEL,
        engine_version=f"xllamacpp {importlib.metadata.version('xllamacpp')}",
        configured=_configured(speculation=speculation, depth=depth, rates=rates),
        details={"model_path": str(model)},
    )


def _configured(*, speculation: bool, depth: int, rates: tuple[float, ...]) -> SpecDecode | None:
    if not speculation:
        return None
    lines = [f"launched with draft-mtp, n_max {depth}"]
    if rates:
        lines.append(f"launched with synthetic acceptance {list(rates)}: its text is wrong on purpose")
    return SpecDecode(method="draft-mtp", depth=depth, evidence=tuple(lines))
