"""From what the user typed to the files that hold one model: a file, a folder, a Hub cache folder, a web address."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from pytest_mtp.checkpoint.errors import CheckpointError, file_problem
from pytest_mtp.checkpoint.source import LocalSource, Source
from pytest_mtp.core.errors import nearest

SHARD = re.compile(r"^(?P<base>.+)-(?P<number>\d{5})-of-(?P<total>\d{5})\.(?:safetensors|gguf)$")
INDEX = "model.safetensors.index.json"
_BESIDE = ("mmproj", "imatrix")  # GGUF files that lie beside a model and are none


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """`files` are the weight files by name; `revision` is the commit of a Hub snapshot."""

    source: Source
    format: Literal["safetensors", "gguf"]
    files: tuple[str, ...]
    index: str | None = None
    config: str | None = None
    revision: str | None = None
    alone: bool = False
    notes: tuple[str, ...] = ()


def find(path: str) -> Place:
    """Raises CheckpointError where no model, or more than one, is there."""
    if re.match(r"(?i)https?://", path):
        from pytest_mtp.checkpoint.web import find_web  # noqa: PLC0415  # urllib costs start-up time that few need

        return find_web(path)
    given = Path(path).expanduser()
    try:
        is_folder = given.is_dir()
        if not is_folder:
            given.stat()
    except FileNotFoundError as error:
        raise CheckpointError(f"does not exist{_similar(given)}", path=path) from error
    except (OSError, ValueError, RuntimeError) as error:
        words = file_problem(error) if not isinstance(error, RuntimeError) else "a loop of symbolic links"
        raise CheckpointError(words, path=path) from error
    return _folder(given) if is_folder else _file(given)


def _similar(given: Path) -> str:
    try:
        return nearest(given.name, [entry.name for entry in islice(given.parent.iterdir(), 2000)])
    except (OSError, ValueError):
        return ""


def _file(given: Path) -> Place:
    source = LocalSource(given.parent)
    name = given.name
    if name.endswith(".json"):
        return _folder(given.parent, index=name if name.endswith(".index.json") else None)
    first = source.read(name, 0, min(9, source.size(name)))
    if first.startswith(b"GGUF") or name.endswith(".gguf"):
        return Place(source=source, format="gguf", files=_pieces(name), alone=True)
    if name.endswith(".safetensors") or (len(first) == 9 and first[8:] == b"{" and first[5:8] == b"\0\0\0"):
        if SHARD.match(name):
            found = _folder(given.parent)
            return replace(found, notes=(*found.notes, f"{name} is one shard; its folder was inspected"))
        config = "config.json" if source.has("config.json") else None
        return Place(source=source, format="safetensors", files=(name,), config=config, alone=True)
    raise CheckpointError(f"is neither safetensors nor GGUF{_pickle([name])}", path=str(given))


def _pickle(names: list[str]) -> str:
    old = [name for name in names if name.endswith((".bin", ".pt", ".pth", ".ckpt"))]
    return f"; {old[0]} is a pickle, which is never opened: convert it to safetensors" if old else ""


def _pieces(name: str) -> tuple[str, ...]:
    """All pieces of a split GGUF that should be there, present or not."""
    match = SHARD.match(name)
    if match is None or not 1 <= int(match["total"]) <= 1000:
        return (name,)
    return tuple(f"{match['base']}-{number:05d}-of-{match['total']}.gguf" for number in range(1, int(match["total"]) + 1))


def _folder(folder: Path, *, index: str | None = None) -> Place:
    source = LocalSource(folder)
    names = source.names() or ()
    indices = [name for name in names if name.endswith(".safetensors.index.json")]
    weights = tuple(name for name in names if name.endswith(".safetensors") and not name.startswith("."))
    models = sorted({_pieces(name)[0] for name in names if name.endswith(".gguf") and not name.lower().startswith(_BESIDE)})
    if weights or indices:
        chosen = index or (INDEX if INDEX in indices else indices[0] if len(indices) == 1 else None)
        if len(indices) > 1 and chosen is None:
            raise CheckpointError(f"holds several indices: {', '.join(indices[:5])}; name one", path=str(folder))
        notes = (f"GGUF files beside it were left out: {', '.join(models[:3])}",) if models else ()
        others = tuple(name for name in weights if not name.startswith("consolidated"))
        if others and others != weights:
            notes = (*notes, "consolidated*.safetensors is the same model in another layout and was left out")
        config = "config.json" if "config.json" in names else None
        revision = folder.resolve().name if folder.resolve().parent.name == "snapshots" else None
        return Place(
            source=source, format="safetensors", files=others or weights, index=chosen, config=config, revision=revision, notes=notes
        )
    if len(models) > 1:
        listed = ", ".join(models[:6])
        raise CheckpointError(f"holds {len(models)} GGUF models, name one: {listed}", path=str(folder))
    if models:
        return Place(source=source, format="gguf", files=_pieces(models[0]))
    return _elsewhere(folder, source, list(names))


def _elsewhere(folder: Path, source: LocalSource, names: list[str]) -> Place:
    """A folder without weights of its own: a Hub cache, or an error that says where the weights are."""
    folders = source.folders()
    if "snapshots" in folders:
        return _snapshot(folder)
    cached = [name for name in folders if name.startswith("models--")]
    if len(cached) == 1:
        return _folder(folder / cached[0])
    if cached:
        raise CheckpointError(f"is a Hub cache of {len(cached)} models, name one: {', '.join(cached[:6])}", path=str(folder))
    inside = [
        name for name in folders[:200] if any(n.endswith((".safetensors", ".gguf")) for n in LocalSource(folder / name).names() or ())
    ]
    if inside:
        raise CheckpointError(f"holds no weights itself; its folders {', '.join(inside[:6])} do: name one", path=str(folder))
    if not names and not folders:
        raise CheckpointError("is an empty folder", path=str(folder))
    raise CheckpointError(f"holds no .safetensors and no .gguf file{_pickle(names)}", path=str(folder))


def _snapshot(folder: Path) -> Place:
    snapshots = LocalSource(folder / "snapshots").folders()
    refs = LocalSource(folder / "refs")
    wanted = refs.read("main", 0, min(refs.size("main"), 64)).decode("ascii", "replace").strip() if refs.has("main") else ""
    if wanted in snapshots:
        chosen = wanted
    elif len(snapshots) == 1:
        chosen = snapshots[0]
    else:
        why = f"refs/main names {wanted!r}, which is not there" if wanted else "there is no refs/main"
        listed = ", ".join(snapshots[:4]) or "none"
        raise CheckpointError(f"is a Hub cache folder with {len(snapshots)} snapshots ({listed}); {why}: name one", path=str(folder))
    return replace(_folder(folder / "snapshots" / chosen), revision=chosen)
