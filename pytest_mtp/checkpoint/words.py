"""An inspection as text for a terminal. Names from files are strangers' words: control characters are shown, not sent."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_mtp.checkpoint.ceiling import Ceiling
from pytest_mtp.checkpoint.head import Head
from pytest_mtp.checkpoint.inspection import Inspection
from pytest_mtp.core.weights import Weights

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def told(inspection: Inspection, *, ceiling: Ceiling | None = None, everything: bool = False) -> str:
    """`everything` adds what was looked for to a verdict of `present`, which leaves it out otherwise."""
    lines = [
        f"{inspection.path}: {inspection.verdict.upper()}",
        f"  {inspection.reason}",
        "",
        *_model(inspection),
        *(line for head in inspection.heads for line in _head(head)),
        *_findings(inspection),
        *_values(inspection),
        *_pairing(inspection),
        *_ceiling(ceiling),
    ]
    if inspection.verdict != "present" or everything:
        lines += list(_looked(inspection))
    if inspection.heads:
        lines += list(_advice(inspection))
    lines += [f"digest     {inspection.digest}", f"read       {_read(inspection)}"]
    return "\n".join(printable(line) for line in lines)


def printable(line: str) -> str:
    """Without characters that a terminal would obey."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in line)


def size(nbytes: int) -> str:
    """In powers of 1000, as disks and bandwidths are sold."""
    value, unit = float(nbytes), 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.0f} {_UNITS[unit]}" if unit == 0 else f"{value:.2f} {_UNITS[unit]}"


def _read(inspection: Inspection) -> str:
    files = f"{inspection.files} file{'' if inspection.files == 1 else 's'}"
    headers = f"{inspection.tensors:,} tensors, headers of {size(inspection.header_bytes)}"
    return f"{files}, {headers}, {size(inspection.bytes_read)} read in all"


def _model(inspection: Inspection) -> Iterator[str]:
    model, weights = inspection.model, inspection.weights
    name = " / ".join(dict.fromkeys(model.names)) or "unknown (no config)"
    yield f"model      {name}, {inspection.format}" + (f", revision {inspection.revision}" if inspection.revision else "")
    sides = [
        f"{value} {what}" for value, what in ((model.layers, "layers"), (model.hidden_size, "wide"), (model.vocab_size, "tokens")) if value
    ]
    if model.quantised_by:
        sides.append(f"quantised by {model.quantised_by}")
    yield f"           {', '.join(sides)}" if sides else "           the config names no sizes"
    yield f"weights    {weights.parameters:,} in {size(weights.total_bytes)}{_active(weights)}"
    for note in inspection.notes:
        yield f"note       {note}"


def _active(weights: Weights) -> str:
    experts = f" ({weights.experts_per_token} of {weights.experts} experts)" if weights.experts and weights.experts_per_token else ""
    cache = f", {size(weights.kv_bytes_per_token)} of cache a token" if weights.kv_bytes_per_token else ""
    return f"; {size(weights.active_bytes)} active a token{experts}{cache}" if weights.active_bytes else ", no trunk"


def _head(head: Head) -> Iterator[str]:
    stored = ", ".join(f"{label} {size(nbytes)}" for label, nbytes in head.storage.items())
    family = f" of {head.family}" if head.family else ""
    layers = f"{head.layers} layer{'' if head.layers == 1 else 's'}"
    yield f"head       {head.kind}{family}: {layers} at {head.where}, joined as {head.join or 'unknown'}"
    yield f"           {head.parameters:,} weights in {size(head.nbytes)} ({stored or 'unread'}), {head.bits_per_weight:g} bits a weight"
    own = [word for word, held in (("embedding", head.own_embeddings), ("output matrix", head.own_output)) if held]
    shared = [word for word, held in (("embedding", head.own_embeddings), ("output matrix", head.own_output)) if not held]
    yield f"           own: {', '.join(own) or 'neither embedding nor output matrix'}; of the trunk: {', '.join(shared) or 'nothing'}"
    if head.depth is not None:
        yield f"           depth by the config: {head.depth}"


def _findings(inspection: Inspection) -> Iterator[str]:
    for finding in inspection.findings:
        yield f"{'WRONG' if finding.severity == 'critical' else 'note':<10} [{finding.where}] {finding.title}"
        for line in (finding.detail, finding.hint):
            if line:
                yield f"           {line}"


def _values(inspection: Inspection) -> Iterator[str]:
    values = inspection.values
    if values is not None:
        sampled = f", {values.sampled} of them sampled" if values.sampled else ""
        yield f"values     {values.tensors} tensors of the head read ({size(values.nbytes)}{sampled})"


def _pairing(inspection: Inspection) -> Iterator[str]:
    pairing = inspection.pairing
    if pairing is None:
        return
    yield f"pairing    {'FITS' if pairing.fits else 'DOES NOT FIT'} {pairing.target}"
    for one in pairing.compared:
        yield f"           {one.fit:<8} {one.what}: {one.drafter or 'not said'} against {one.target or 'not said'}"


def _ceiling(ceiling: Ceiling | None) -> Iterator[str]:
    if ceiling is None:
        return
    yield f"ceiling    {ceiling.tokens_s:.1f} tok/s at {ceiling.bandwidth_gb_s:g} GB/s over {size(ceiling.step_bytes)} a token"
    if ceiling.speculating_tokens_s is not None and ceiling.verify_bytes is not None:
        yield (
            f"           {ceiling.speculating_tokens_s:.1f} tok/s with {ceiling.acceptance_length:g} tokens a step"
            f" at depth {ceiling.depth}, over {size(ceiling.verify_bytes)} a step"
        )


def _looked(inspection: Inspection) -> Iterator[str]:
    titles = {"place": "places, tensors found", "words": "names of modules, names found", "config": "config keys, values"}
    for kind, title in titles.items():
        yield f"looked for {title}"
        for row in inspection.looked_for:
            if row.kind == kind:
                yield f"           {'-' if row.found is None else row.found:>6}  {row.what}"


def _advice(inspection: Inspection) -> Iterator[str]:
    if inspection.family is None:
        yield "to set     not known: no engine is known here to look for a head of this kind"
        return
    yield "to set     (read in the engines' sources; only a running server proves it)"
    for advice in inspection.advice:
        words = {"yes": advice.flags, "no": f"no: {advice.note}", "unknown": f"not known: {advice.note}"}[advice.support]
        yield f"           {advice.engine:<13} {words}"
        if advice.support == "yes":
            for line in (advice.depth, advice.note):
                if line:
                    yield f"           {'':<13} {line}"
