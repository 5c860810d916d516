"""`python -m pytest_mtp.servers.llamacpp.child --model X.gguf --port N ...`: llama.cpp's server in this process.

It takes the words of `llama-server` that `options` lists, so that a launch profile is the same for both programs. It needs
the xllamacpp bindings and no build of llama.cpp. What differs: without `--threads` there is one thread, since ggml's threads
wait for each other in a busy loop and on a shared machine two are slower than one; `/slots` is on, and there are no web pages.

Two words are our own. `--program llama-server` runs that program with the other words in the place of this process;
`--extra 'WORD ...'` adds words that are split as a shell would.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from pytest_mtp.core.errors import UsageError
from pytest_mtp.servers.llamacpp.options import Value, of_our_own, parsed

_DEFAULTS: Mapping[str, Value] = {
    "hostnames": ("127.0.0.1",),
    "cpuparams.n_threads": 1,
    "endpoint_slots": True,
    "use_jinja": True,
    "ui": False,
}
_FOLLOWERS = ("cpuparams_batch.n_threads", "speculative.draft.cpuparams.n_threads", "speculative.draft.cpuparams_batch.n_threads")


def main(words: Sequence[str]) -> None:
    """Serve until SIGTERM. A wrong word, a taken port or an unreadable model ends with a line on stderr."""
    try:
        program, words = of_our_own(words)
        if program:
            _become(program, words)
        values = settings(words)
        xllamacpp = _bindings()
    except UsageError as error:
        sys.exit(f"error: {error}")
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    signal.signal(signal.SIGINT, lambda *_: stopping.set())
    try:
        server = xllamacpp.Server(filled(xllamacpp, values))
    except (RuntimeError, UsageError) as error:
        sys.exit(f"error: llama.cpp could not start with {values['model.path']} on port {values['port']}: {error}")
    while not stopping.wait(0.2):
        pass
    del server


def settings(words: Sequence[str]) -> dict[str, Value]:
    """Values by field, defaults and the text of the template filled in. Raise UsageError."""
    given = parsed(words)
    missing = [word for word, field in (("--model", "model.path"), ("--port", "port")) if field not in given]
    if missing:
        raise UsageError(f"option {missing[0]} is missing")
    values = {**_DEFAULTS, **given}
    template = values.pop("chat_template_file", None)
    if template is not None:
        values["chat_template"] = _text(Path(str(template)))
    return {**dict.fromkeys(_FOLLOWERS, values["cpuparams.n_threads"]), **values}


def filled(xllamacpp: Any, values: Mapping[str, Value]) -> Any:
    """CommonParams with these fields. Raise UsageError for one that this release of the bindings does not have."""
    params = xllamacpp.CommonParams()
    for field, value in values.items():
        *holders, last = field.split(".")
        holder = params
        for name in holders:
            holder = getattr(holder, name, None)
        if hasattr(holder, last):
            setattr(holder, last, _as_bound(xllamacpp, field, value))
        elif field == "hostnames" and isinstance(value, tuple):
            params.hostname = value[0]  # releases before 2026.10
        elif field not in _DEFAULTS:
            raise UsageError(f"this release of xllamacpp has no field {field}")
    return params


def _as_bound(xllamacpp: Any, field: str, value: Value) -> Any:
    """The same value in the type that the bindings take."""
    if field == "speculative.types" and isinstance(value, tuple):
        kinds = xllamacpp.common_speculative_type
        return [getattr(kinds, f"COMMON_SPECULATIVE_TYPE_{str(kind).upper().replace('-', '_')}") for kind in value]
    if isinstance(value, tuple):
        return set(value) if field == "model_alias" else list(value)
    return value


def _become(program: str, words: Sequence[str]) -> NoReturn:
    try:
        os.execvp(program, [program, *words])  # noqa: S606 (no shell is wanted)
    except OSError as error:
        raise UsageError(f"{program} cannot be run: {error.strerror}; give the path of llama-server, or leave `program` out") from None


def _bindings() -> Any:
    try:
        import xllamacpp  # noqa: PLC0415 (an extra)
    except ImportError:
        raise UsageError("the xllamacpp bindings are missing: pip install 'pytest-mtp[demo]'") from None
    return xllamacpp


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the chat template {path} cannot be read: {error}") from None


if __name__ == "__main__":
    main(sys.argv[1:])
