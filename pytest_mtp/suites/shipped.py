"""The suites that come with the package, by name."""

from __future__ import annotations

from pathlib import Path

from pytest_mtp.core.errors import UsageError, nearest

SUFFIX = ".mtp.yaml"
GROUPS = {
    "probes": (
        "protocol",
        "streaming",
        "tools-matrix",
        "limits",
        "sampling",
        "structured",
        "reasoning",
        "cache",
        "concurrency",
        "long-context",
    ),
    "demo": ("smoke", "tools", "speculation", "throughput"),
    "standard": ("smoke", "arithmetic", "facts", "code", "json", "tools", "prose", "server", "speculation", "throughput"),
}


def shipped(name: str) -> tuple[Path, ...]:
    """The files of a suite or of a group of suites, in the group's order; UsageError with the nearest word."""
    files = _files()
    if name in files:
        return (files[name],)
    if name in GROUPS:
        missing = [member for member in GROUPS[name] if member not in files]
        if missing:
            raise UsageError(f"the built-in suites {', '.join(missing)} of the group {name!r} are missing from this installation")
        return tuple(files[member] for member in GROUPS[name])
    known = shipped_names()
    raise UsageError(f"no built-in suite {name!r}{nearest(name, known)}; there are: {', '.join(known)}")


def shipped_names() -> tuple[str, ...]:
    """Groups first, then the suites, each sorted."""
    return (*sorted(GROUPS), *sorted(set(_files()) - set(GROUPS)))


def _files() -> dict[str, Path]:
    package = Path(__file__).parents[1]
    folder = package / "_shipped" / "suites"
    if not folder.is_dir():  # a checkout
        folder = package.parent / "suites"
    return {path.name.removesuffix(SUFFIX): path for path in sorted(folder.glob(f"*{SUFFIX}"))}
