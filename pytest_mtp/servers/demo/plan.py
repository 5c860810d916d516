"""Parameters of the demo server, from a profile or a fixture to a command line."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Mapping, Sequence

from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.core.facts import SpecDecode
from pytest_mtp.core.record import Json
from pytest_mtp.servers.demo.assemble import assemble, require_extras
from pytest_mtp.servers.launched import Plan

MODEL = "SmolLM2-135M-Instruct-MTP"

_PARAMS = ("speculation", "depth", "synth_rates", "n_ctx", "n_parallel", "port")
_DEEPEST = 8


def plan(params: Mapping[str, Json]) -> Plan:
    """Raise UsageError naming the parameter that is wrong. Assembles the model where that was not done yet.

    `speculation` bool, `depth` draft tokens a step, `synth_rates` acceptance rates that are obeyed whatever the model thinks
    (the text is wrong then, on purpose), `n_ctx` tokens over all slots, `n_parallel` slots, `port`.
    """
    for key in params:
        if key not in _PARAMS:
            raise UsageError(f"the demo server has no parameter {key!r}{nearest(key, _PARAMS)}; it has {', '.join(_PARAMS)}")
    speculation = params.get("speculation", True)
    if not isinstance(speculation, bool):
        raise UsageError(f"parameter 'speculation' of the demo server: expected true or false, got {speculation!r}")
    rates = _rates(params.get("synth_rates", []))
    depth = _whole(params, "depth", default=len(rates) or 3, highest=_DEEPEST)
    if len(rates) > depth:
        raise UsageError(f"parameter 'synth_rates' of the demo server has {len(rates)} rates for a depth of {depth}")
    words = [
        *("--n-ctx", str(_whole(params, "n_ctx", default=8192, highest=65536))),
        *("--n-parallel", str(_whole(params, "n_parallel", default=2, highest=16))),
        *(("--depth", str(depth)) if speculation else ("--no-speculation",)),
        *(("--synth-rates", ",".join(map(str, rates))) if speculation and rates else ()),
    ]
    if "port" in params:
        _whole(params, "port", default=0, highest=65535)
    require_extras()
    model = assemble()

    def command(port: int, alias: str) -> Sequence[str]:
        names = ["--alias", MODEL, "--alias", alias]
        return [sys.executable, "-m", "pytest_mtp.servers.demo.child", "--model", str(model), "--port", str(port), *names, *words]

    return Plan(
        command=command,
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


def _whole(params: Mapping[str, Json], key: str, *, default: int, highest: int) -> int:
    value = params.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= highest:
        if key not in params:
            return default
        raise UsageError(f"parameter {key!r} of the demo server: expected a whole number from 1 to {highest}, got {value!r}")
    return value


def _rates(value: Json) -> tuple[float, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(rate, int | float) and 0 <= rate <= 1 for rate in value):
        raise UsageError(f"parameter 'synth_rates' of the demo server: expected a list of rates from 0 to 1, got {value!r}")
    return tuple(float(rate) for rate in value if isinstance(rate, int | float))
