"""The demo's model file: made once, checked always."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from zipfile import BadZipFile

from pytest_mtp.core.errors import InfraError, UsageError
from pytest_mtp.servers.demo.base import base_model
from pytest_mtp.servers.demo.cache import arriving, cache_dir, holds, locked, sha256_of, sweep
from pytest_mtp.servers.demo.conversion import convert

MODEL_SHA256 = "f8671d20b903fb8cdebf2ec204553a14c467057fcbb02be84a90e267161ca89f"
GGUF_VERSION = "0.19.0"
HEAD = Path(__file__).with_name("mtp_head.safetensors")

_EXTRAS = ("gguf", "numpy", "xllamacpp")


def assemble(progress: Callable[[str], None] = lambda _: None) -> Path:
    """The path of the checked model file in the user's cache; several processes may ask at once.

    Raise UsageError when the extras are missing, InfraError when the base model cannot be had or the result is not the
    known file.
    """
    require_extras()
    try:
        return _kept_or_made(progress)
    except (OSError, BadZipFile) as error:
        place = "PYTEST_MTP_CACHE names another folder."
        raise InfraError(f"the demo model cannot be kept in the cache: {error}", code="INFRA.start", hint=place) from None


def _kept_or_made(progress: Callable[[str], None]) -> Path:
    folder = cache_dir() / "demo"
    folder.mkdir(exist_ok=True)
    target = folder / f"smollm2-135m-instruct-mtp-{MODEL_SHA256[:12]}.gguf"
    with locked(folder):
        if not holds(target, MODEL_SHA256):
            sweep(folder)
            progress("finding SmolLM2-135M-Instruct (93 MB, downloaded once)")
            base = base_model(folder)
            progress("joining it with its multi-token-prediction head")
            with arriving(target) as temporary:
                convert(base, HEAD, temporary)
                _check(sha256_of(temporary))
    return target


def require_extras(packages: Sequence[str] = _EXTRAS) -> None:
    """Raise UsageError, one line, when a package of the demo is missing."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"the demo needs {', '.join(missing)}: pip install 'pytest-mtp[demo]'")


def _check(found: str) -> None:
    if found == MODEL_SHA256:
        return
    version = importlib.metadata.version("gguf")
    if version != GGUF_VERSION:
        hint = f"It was made with gguf {version}; the known file is that of gguf {GGUF_VERSION}: pip install gguf=={GGUF_VERSION}"
    else:
        hint = f"gguf {version} is the right version, so the head or the base model differs; please report it."
    raise InfraError(f"the assembled demo model has sha256 {found}, expected {MODEL_SHA256}", code="INFRA.start", hint=hint)
