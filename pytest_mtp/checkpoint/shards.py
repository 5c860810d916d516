"""All tensors of a safetensors checkpoint, and where its index, its files and their headers disagree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_mtp.checkpoint.errors import CheckpointError
from pytest_mtp.checkpoint.findings import contradiction, remark, some
from pytest_mtp.checkpoint.json_bytes import Walker, parse_object
from pytest_mtp.checkpoint.place import SHARD, Place
from pytest_mtp.checkpoint.safetensors_header import Header, read_header
from pytest_mtp.checkpoint.tensor import MAX_NAME, MAX_TENSORS, Tensor
from pytest_mtp.core.verdict import Finding

MAX_INDEX = 32 << 20
MAX_HEADERS = 64_000_000
"""Bytes of all headers together: with them the names of all tensors are bounded."""
MAX_SHARDS = 10_000

_FAST_LIMIT = 24 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Shards:
    """`unread` names tensors of files that are missing or broken; `unlisted` those that the index does not list."""

    tensors: Mapping[str, Tensor]
    unread: Mapping[str, str] = field(default_factory=dict)
    unlisted: frozenset[str] = frozenset()
    findings: tuple[Finding, ...] = ()
    header_bytes: int = 0
    files: int = 0
    writer: str = ""


def read_shards(place: Place) -> Shards:
    """Raises CheckpointError when no file at all can be read, or when the index is no index."""
    weight_map = read_index(place) if place.index else {}
    promised = Counter(weight_map.values())
    on_disk = [name for name in place.files if name not in promised]
    findings: list[Finding] = []
    headers: dict[str, Header] = {}
    broken: dict[str, CheckpointError] = {}
    total = length = 0
    for file in (*sorted(promised), *on_disk):
        try:
            headers[file] = read_header(place.source, file)
            total, length = total + len(headers[file].tensors), length + headers[file].length
        except CheckpointError as error:
            broken[file] = error
        if total > MAX_TENSORS or length > MAX_HEADERS:
            raise CheckpointError(f"more than {MAX_TENSORS} tensors, or {MAX_HEADERS} bytes of headers", path=place.source.shown())
    if not headers:
        if not broken:
            raise CheckpointError("the index lists no file", path=place.source.shown(place.index or ""))
        raise next(iter(broken.values()))
    unread = {name: file for name, file in weight_map.items() if file in broken}
    for file, problem in broken.items():
        named = "a shard of the index" if promised[file] else "a weight file"
        title = f"{named} cannot be read: {file} {problem.problem}"
        findings.append(contradiction("shard", title, file=file, tensors=promised[file]))
    tensors, doubled = _merge(headers)
    if place.index:
        findings += _stale(weight_map, tensors, headers, place)
    else:
        findings += _gaps(sorted(headers), single=place.alone)
    if doubled:
        findings.append(remark("index", f"{len(doubled)} tensors stand in more than one file: {some(doubled)}", tensors=len(doubled)))
    return Shards(
        tensors=tensors,
        unread=unread,
        unlisted=frozenset(tensors.keys() - weight_map.keys()) if weight_map else frozenset(),
        findings=tuple(findings),
        header_bytes=sum(header.length for header in headers.values()),
        files=len(headers),
        writer=next((header.metadata["format"] for header in headers.values() if "format" in header.metadata), ""),
    )


def read_index(place: Place) -> dict[str, str]:
    """Tensor name to file name. Refuses names that lead out of the folder."""
    assert place.index is not None
    source, path = place.source, place.source.shown(place.index)
    size = source.size(place.index)
    if size > MAX_INDEX:
        raise CheckpointError(f"has {size} bytes; an index of more than {MAX_INDEX} is not read", path=path)
    raw = source.read(place.index, 0, size)
    weight_map = _fast(raw, path=path) if size <= _FAST_LIMIT else None
    if weight_map is None:
        weight_map = _walk(raw, path=path)
    if max(map(len, weight_map), default=0) > MAX_NAME:
        raise CheckpointError(f"names a tensor with more than {MAX_NAME} characters", path=path)
    files = set(weight_map.values())
    if len(files) > MAX_SHARDS:
        raise CheckpointError(f"names {len(files)} files", path=path)
    for file in files:
        _check_name(file, path=path)
    return weight_map


def _fast(raw: bytes, *, path: str) -> dict[str, str] | None:
    """The C parser, where so few brackets stand in the file that it cannot be made to take much memory."""
    if raw.count(b"{") + raw.count(b"[") > 1000 or raw.count(b",") > MAX_TENSORS:
        return None
    weight_map = parse_object(raw, path=path).get("weight_map")
    if not isinstance(weight_map, dict):
        return None
    return weight_map if set(map(type, weight_map.values())) <= {str} else None


def _walk(raw: bytes, *, path: str) -> dict[str, str]:
    walker = Walker(raw, path=path)
    weight_map: dict[str, str] | None = None
    going = walker.enter()
    while going:
        if walker.key() == "weight_map":
            if weight_map is not None:
                raise walker.fail("weight_map stands there twice")
            weight_map = _flat(walker)
        else:
            walker.skip()
        going = walker.more()
    walker.finish()
    if weight_map is None:
        raise CheckpointError("has no weight_map", path=path)
    return weight_map


def _flat(walker: Walker) -> dict[str, str]:
    pairs: dict[str, str] = {}
    count, going = 0, walker.enter()
    while going:
        name = walker.key()
        pairs[name] = walker.string()
        count += 1
        if count != len(pairs):
            raise walker.fail(f"the tensor {name[:80]!r} stands there twice")
        if count > MAX_TENSORS:
            raise walker.fail(f"more than {MAX_TENSORS} tensors")
        going = walker.more()
    return pairs


def _check_name(file: str, *, path: str) -> None:
    parts = file.split("/")
    if not file or "\\" in file or "\0" in file or file.startswith("/") or ":" in file or any(part in ("", ".", "..") for part in parts):
        raise CheckpointError(f"names the file {file[:80]!r}, which leads out of the folder", path=path)
    if not file.endswith(".safetensors"):
        raise CheckpointError(f"names the file {file[:80]!r}, which is no .safetensors file", path=path)


def _merge(headers: Mapping[str, Header]) -> tuple[dict[str, Tensor], list[str]]:
    """One map; where a name stands in several files, the first wins, and those that the index lists come first."""
    tensors: dict[str, Tensor] = {}
    doubled: list[str] = []
    for header in headers.values():
        fresh = {tensor.name: tensor for tensor in header.tensors}
        both = fresh.keys() & tensors.keys()
        if both:
            doubled += sorted(both)
            fresh = {name: tensor for name, tensor in fresh.items() if name not in both}
        tensors.update(fresh)
    return tensors, doubled


def _stale(weight_map: Mapping[str, str], tensors: Mapping[str, Tensor], headers: Mapping[str, Header], place: Place) -> list[Finding]:
    elsewhere = [name for name, file in weight_map.items() if (name not in tensors or tensors[name].file != file) and file in headers]
    held = {file: {tensor.name for tensor in headers[file].tensors} for file in {weight_map[name] for name in elsewhere}}
    lost = sorted(name for name in elsewhere if name not in held[weight_map[name]])
    if not lost:
        return []
    title = f"{place.index} lists {len(lost)} tensors that are not in the file it names: {some(lost)}"
    return [contradiction("index", title, hint="The index is stale: write it again from the headers of the files.", tensors=len(lost))]


def _gaps(files: list[str], *, single: bool) -> list[Finding]:
    """Shards whose numbers say that others should be there, when there is no index to ask."""
    if single:
        return []
    numbered: dict[tuple[str, int], set[int]] = {}
    for file in files:
        if match := SHARD.match(file):
            numbered.setdefault((match["base"], int(match["total"])), set()).add(int(match["number"]))
    findings = []
    for (base, total), numbers in numbered.items():
        missing = total - len(numbers)
        if missing > 0:
            findings.append(
                contradiction("shard", f"{missing} of {total} shards of {base} are not on disk, and there is no index", missing=missing)
            )
        else:
            findings.append(remark("index", f"{total} shards and no index: engines that need one will not load them"))
    return findings
