"""How a head joins a token's embedding to the trunk's hidden state: the words that no ordinary layer has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["mtp", "eagle", "eagle3", "medusa", "mlp_speculator", "dflash", "dspark", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """`words` are the modules that must all be there; `norms` of them are vectors, the others matrices.

    `once`: they stand once a head, not once a layer. `own_file`: looked for in drafter files alone, since the words are
    too common elsewhere.
    """

    name: str
    kind: Kind
    words: tuple[str, ...]
    norms: tuple[str, ...] = ()
    once: bool = False
    own_file: bool = False

    @property
    def projections(self) -> tuple[str, ...]:
        """The matrices among the words."""
        return tuple(word for word in self.words if word not in self.norms)


JOINS: tuple[Join, ...] = (
    Join(name="nextn", kind="mtp", words=("enorm", "hnorm", "eh_proj"), norms=("enorm", "hnorm")),
    Join(name="nextn-split", kind="mtp", words=("enorm", "hnorm", "e_proj", "h_proj"), norms=("enorm", "hnorm")),
    Join(
        name="pre-fc",
        kind="mtp",
        words=("pre_fc_norm_embedding", "pre_fc_norm_hidden", "fc"),
        norms=("pre_fc_norm_embedding", "pre_fc_norm_hidden"),
        once=True,
    ),
    Join(
        name="pre-fc-split",
        kind="mtp",
        words=("pre_fc_norm_embedding", "pre_fc_norm_hidden", "fc_embedding", "fc_hidden"),
        norms=("pre_fc_norm_embedding", "pre_fc_norm_hidden"),
        once=True,
    ),
    Join(
        name="token-hidden",
        kind="mtp",
        words=("token_layernorm", "hidden_layernorm", "input_proj"),
        norms=("token_layernorm", "hidden_layernorm"),
    ),
    Join(name="embed-hidden", kind="mtp", words=("embed_norm", "hidden_norm", "input_proj"), norms=("embed_norm", "hidden_norm")),
    Join(
        name="mtp-flat",
        kind="mtp",
        words=("mtp_emb_norm", "mtp_hidden_norm", "mtp_linear_proj"),
        norms=("mtp_emb_norm", "mtp_hidden_norm"),
    ),
    Join(name="pre-post", kind="mtp", words=("pre_projection", "post_projection"), once=True),
    Join(name="dspark", kind="dspark", words=("main_proj", "markov_head", "confidence_head"), once=True),
    Join(name="eagle3", kind="eagle3", words=("fc", "d2t"), norms=("d2t",), once=True, own_file=True),
    Join(name="dflash", kind="dflash", words=("fc", "hidden_norm"), norms=("hidden_norm",), once=True, own_file=True),
    Join(name="eagle", kind="eagle", words=("fc",), once=True, own_file=True),
    Join(name="medusa", kind="medusa", words=("medusa_head",), once=True, own_file=True),
    Join(name="mlp-speculator", kind="mlp_speculator", words=("speculator",), once=True, own_file=True),
)

BY_NAME = {join.name: join for join in JOINS}
WORDS = frozenset(word for join in JOINS if not join.own_file for word in join.words) - {"fc", "input_proj", "embed_norm", "hidden_norm"}
"""Words that mark a block as a head wherever they stand. The four left out also occur in ordinary layers."""


def best(words: Iterable[str], *, own_file: bool = False) -> tuple[Join, tuple[str, ...]] | None:
    """The join that these module names spell best, and which of its words are missing; None for fewer than two words.

    A single word is enough in a drafter file of its own.
    """
    held = set(words)
    candidates = []
    for rank, join in enumerate(JOINS):
        if join.own_file and not own_file:
            continue
        found = [word for word in join.words if word in held]
        missing = tuple(word for word in join.words if word not in held)
        if (not missing) if join.own_file else (len(found) >= min(2, len(join.words))):
            candidates.append((len(missing), -len(found), rank, join, missing))
    if not candidates:
        return None
    _, _, _, join, missing = min(candidates, key=lambda candidate: candidate[:3])
    return join, missing
