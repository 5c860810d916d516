"""`python lanes/environment.py NAME ...`: the environments of the real servers in `make test-engines`.

Prints the interpreter of each, made where it is not there yet. Requirements are whole lists with pins and are installed
without resolving, so that a lane is the same tomorrow. Environments lie in the user's cache and are found again by the digest
of their list; older ones of the same name are removed. `all` stands for every lane.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pytest_mtp.servers.demo.cache import cache_dir, locked

HERE = Path(__file__).parent
NAMES = tuple(sorted(path.stem for path in HERE.glob("*.txt")))


def environment(name: str) -> Path:
    """The interpreter of a lane. Raises SystemExit with pip's own words when it cannot be made."""
    requirements = HERE / f"{name}.txt"
    digest = hashlib.sha256(f"{sys.version}\n{requirements.read_text(encoding='utf-8')}".encode()).hexdigest()[:12]
    home = cache_dir() / "lanes" / name
    home.mkdir(parents=True, exist_ok=True)
    folder = home / digest
    python, complete = folder / "bin" / "python", folder / "complete"
    with locked(home):
        if complete.exists():
            return python
        for old in home.iterdir():
            if old.is_dir():
                shutil.rmtree(old)
        venv.create(folder, with_pip=True)
        for words in (("--upgrade", "pip>=25.1"), ("--no-deps", "--requirement", str(requirements))):
            command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *words]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"the environment of lane {name} could not be made:\n{done.stdout}{done.stderr}")
        complete.touch()
    return python


def main(names: Sequence[str]) -> None:
    """Two at a time: most of it is waiting for downloads."""
    wanted = NAMES if "all" in names else tuple(names)
    unknown = [name for name in wanted if name not in NAMES]
    if unknown or not wanted:
        raise SystemExit(f"expected names of lanes among {', '.join(NAMES)}, or all; got {' '.join(names) or 'nothing'}")
    with ThreadPoolExecutor(2) as pool:
        for python in pool.map(environment, wanted):
            print(python)


if __name__ == "__main__":
    main(sys.argv[1:])
