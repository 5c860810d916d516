"""Reading the weights of a head, and of nothing else: zero-filled, constant, or not numbers at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_mtp.checkpoint.findings import contradiction, remark, some
from pytest_mtp.checkpoint.head import Found
from pytest_mtp.checkpoint.source import Source
from pytest_mtp.checkpoint.tensor import GGML_TYPES, SAFETENSORS_BITS, Tensor
from pytest_mtp.core.record import Record
from pytest_mtp.core.verdict import Finding

_PIECE = 8 << 20
_WHOLE = 64 << 20
_WINDOWS = 16
_SCALES = (".scales", ".biases", ".weight_scale", ".weight_scale_inv")
_BLOCK_BYTES = {name: width for name, _, width in GGML_TYPES.values()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ValuesRead(Record):
    """What `--deep` looked at. Tensors above 64 MiB are sampled in 16 windows of 8 MiB; `zero` and `constant` name modules."""

    tensors: int
    nbytes: int
    sampled: int
    zero: tuple[str, ...]
    constant: tuple[str, ...]
    not_finite: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Look:
    zero: bool = True
    constant: bool = True
    finite: bool = True
    sampled: bool = False


def read_values(source: Source, heads: Sequence[Found]) -> tuple[ValuesRead, list[Finding]]:
    """Random or untrained weights look like trained ones and are not told apart; only a running server shows them."""
    looks: dict[str, _Look] = {}
    before = source.bytes_read
    findings: list[Finding] = []
    zero: list[str] = []
    constant: list[str] = []
    for found in heads:
        dead: list[str] = []
        flat: list[str] = []
        for _, tensor in found.parts:
            if tensor.nbytes and tensor.name not in looks:
                looks[tensor.name] = _look(source, tensor)
        matrices = _modules(found)
        for module, names in matrices.items():
            seen = [looks[name] for name in names if name in looks]
            if seen and _is_zero(names, looks):
                dead.append(module)
            elif seen and all(look.constant for look in seen):
                flat.append(module)
        findings += _judge(found, matrices, dead, flat)
        zero += dead
        constant += flat
    broken = [name for name, look in looks.items() if not look.finite]
    if broken:
        findings.append(
            contradiction("values", f"{len(broken)} tensors of the head hold NaN or infinity: {some(broken)}", tensors=len(broken))
        )
    read = ValuesRead(
        tensors=len(looks),
        nbytes=source.bytes_read - before,
        sampled=sum(1 for look in looks.values() if look.sampled),
        zero=tuple(zero[:50]),
        constant=tuple(constant[:50]),
        not_finite=tuple(broken[:50]),
    )
    return read, findings


def _modules(found: Found) -> dict[str, list[str]]:
    """The head's matrices, each with the scales that unpack it; vectors are left out, since constant norms are normal."""
    modules: dict[str, list[str]] = {}
    for _, tensor in found.parts:
        modules.setdefault(tensor.name.rpartition(".")[0] or tensor.name, []).append(tensor.name)
    wide = {tensor.name for _, tensor in found.parts if len(tensor.shape) > 1}
    return {module: names for module, names in modules.items() if any(name in wide for name in names)}


def _is_zero(names: list[str], looks: dict[str, _Look]) -> bool:
    """All parts are zero, or the scales and offsets are: then the unpacked weights are zero too."""
    outer = [name for name in names if name.endswith(_SCALES) and name in looks]
    return all(looks[name].zero for name in names if name in looks) or (bool(outer) and all(looks[name].zero for name in outer))


def _judge(found: Found, matrices: dict[str, list[str]], zero: list[str], constant: list[str]) -> list[Finding]:
    dead = [*zero, *constant]
    if not dead:
        return []
    how = "zero-filled" if not constant else "constant" if not zero else "zero-filled or constant"
    if len(dead) == len(matrices):
        return [contradiction("values", f"every matrix of the head at {found.head.where} is {how}", hint=_HINT, matrices=len(dead))]
    words = found.join.projections if found.join else ()
    joins = [module for module in dead if module.rpartition(".")[2] in words or module in words]
    if joins:
        return [contradiction("values", f"the projection that joins embedding and hidden state is {how}: {some(joins)}", hint=_HINT)]
    return [remark("values", f"{len(dead)} of {len(matrices)} matrices of the head are {how}: {some(dead)}", matrices=len(dead))]


_HINT = "The head was never filled in: copy its tensors from the original checkpoint."


def _look(source: Source, tensor: Tensor) -> _Look:
    width = _BLOCK_BYTES.get(tensor.dtype) or max(SAFETENSORS_BITS.get(tensor.dtype, 8) // 8, 1)
    look, first = _Look(), b""
    if tensor.nbytes <= _WHOLE:
        spans = [(at, min(_PIECE, tensor.nbytes - at)) for at in range(0, tensor.nbytes, _PIECE)]
    else:
        step = (tensor.nbytes - _PIECE) // (_WINDOWS - 1)
        spans = [(number * step // width * width, _PIECE // width * width) for number in range(_WINDOWS)]
        look = replace(look, sampled=True)
    held = b""
    for at, length in spans:
        piece = held + source.read(tensor.file, tensor.start + at, length)
        cut = len(piece) // width * width
        piece, held = piece[:cut], b"" if look.sampled else piece[cut:]
        first = first or piece[:width]
        look = replace(
            look,
            zero=look.zero and not piece.strip(b"\0"),
            constant=look.constant and piece == first * (len(piece) // width),
            finite=look.finite and _finite(piece, tensor.dtype),
        )
    return look


def _finite(piece: bytes, dtype: str) -> bool:
    import numpy as np  # noqa: PLC0415  # costs 0.1 s, needed under --deep alone

    if dtype == "BF16":
        return not bool(((np.frombuffer(piece, "<u2") & 0x7F80) == 0x7F80).any())
    if dtype == "F8_E4M3":
        return not bool(((np.frombuffer(piece, "u1") & 0x7F) == 0x7F).any())
    kinds = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}
    return dtype not in kinds or bool(np.isfinite(np.frombuffer(piece, kinds[dtype])).all())
