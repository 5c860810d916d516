"""`python -m pytest_mtp.servers.demo.child`: llama.cpp's server in this process, through the xllamacpp bindings."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path
from typing import Any

TEMPLATE = Path(__file__).with_name("tools.jinja")


def main() -> None:
    """Serve until SIGTERM. A taken port or an unreadable model ends with a line on stderr."""
    options = _options()
    import xllamacpp  # noqa: PLC0415 (an extra)

    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    try:
        server = xllamacpp.Server(_parameters(xllamacpp, options))
    except RuntimeError as error:
        sys.exit(f"error: llama.cpp could not start on port {options.port}: {error}")
    while not stopping.wait(0.2):
        pass
    del server


def _parameters(xllamacpp: Any, options: argparse.Namespace) -> Any:
    params = xllamacpp.CommonParams()
    params.model.path = options.model
    # One thread: ggml's threads wait for each other in a busy loop, and on a shared machine two are slower than one.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.n_parallel = options.n_parallel
    params.n_ctx = options.n_ctx
    params.port = options.port
    params.model_alias = set(options.alias)
    params.chat_template = TEMPLATE.read_text(encoding="utf-8")
    _set(params, "127.0.0.1", "hostname")
    _set(params, ["127.0.0.1"], "hostnames")
    for name in ("endpoint_metrics", "endpoint_props", "endpoint_slots", "use_jinja"):
        _set(params, True, name)  # noqa: FBT003 (a value to assign)
    for name in ("warmup", "ui", "webui"):
        _set(params, False, name)  # noqa: FBT003 (a value to assign)
    if options.speculation:
        params.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_DRAFT_MTP]
        params.speculative.draft.n_max = options.depth
        if options.synth_rates:
            params.speculative.synth_rates = options.synth_rates
    return params


def _set(params: Any, value: Any, name: str) -> None:
    """Names come and go between releases of the bindings; those that are not there are not needed there."""
    if hasattr(params, name):
        setattr(params, name, value)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m pytest_mtp.servers.demo.child", description="The demo server.")
    parser.add_argument("--model", required=True, metavar="GGUF")
    parser.add_argument("--port", required=True, type=int)
    parser.add_argument("--alias", required=True, action="append", help="a name to serve the model under; repeatable")
    parser.add_argument("--no-speculation", dest="speculation", action="store_false")
    parser.add_argument("--depth", type=int, default=3, help="draft tokens a step")
    parser.add_argument("--synth-rates", type=lambda words: [float(word) for word in words.split(",")], metavar="P0,P1,...")
    parser.add_argument("--n-ctx", type=int, default=8192, help="tokens over all slots")
    parser.add_argument("--n-parallel", type=int, default=2, help="slots")
    return parser.parse_args()


if __name__ == "__main__":
    main()
