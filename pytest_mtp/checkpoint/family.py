"""What is known of one model family: how it names its head, and which engine runs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Scope = Literal["block", "mtp", "mtp_layers", "flat", "root", "shape"]
"""Where a head stands: a block beyond the last layer, under `mtp.`, under `mtp_layers.`, flat names, a file of its own, or
anywhere, known by its shape alone."""

SCOPE_PATTERNS: dict[Scope, str] = {
    "block": "layers.{N+i}.* (GGUF: blk.{N+i}.*)",
    "mtp": "mtp.*",
    "mtp_layers": "mtp_layers.{i}.*",
    "flat": "mtp_emb_norm.0, mtp_hidden_norm.0, mtp_linear_proj.0, mtp_block.0.*",
    "root": "a drafter file of its own",
    "shape": "a projection of 2H to H beside two vectors of H, outside the trunk's blocks",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One row of the table.

    `matches` are architectures or model types as config.json has them. `keys` are where engines read the number of
    layers, `default` what they take when no key is there (None: no default). `forced`: the default is taken whatever
    the config says. `base_skip`: the key counts one more than there are layers. `drafter` is the model type of mlx-vlm's
    standalone drafter, `drafter_extra` what its block size adds to the depth. An engine's field is empty where it is not
    known to run the family.
    """

    name: str
    matches: tuple[str, ...]
    joins: tuple[str, ...]
    scopes: tuple[Scope, ...]
    keys: tuple[str, ...] = ("num_nextn_predict_layers",)
    default: int | None = None
    forced: bool = False
    base_skip: bool = False
    gguf: tuple[str, ...] = ()
    drafter: str = ""
    drafter_extra: int = 1
    vllm: str = "mtp"
    vllm_depth: int | None = None
    sglang: bool = False
    llamacpp: tuple[str, ...] = ()
    transformers: bool = False
    lmdeploy: str = ""
    mixers: bool = False
    note: str = ""

    @property
    def separate(self) -> bool:
        """The head is never inside the target's own checkpoint."""
        return self.scopes == ("root",)


def match(names: Sequence[str], table: Sequence[Family]) -> Family | None:
    """The family of the first name that any row lists; architectures come before model types in `names`."""
    for name in names:
        for family in table:
            if name in family.matches or name == family.drafter or name in family.gguf:
                return family
    return None
