"""Every family of the table, by tensors with the names that its engine looks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_mtp.checkpoint.families import TABLE
from pytest_mtp.checkpoint.verdict import inspect_checkpoint

N = 3
QKVO = [f"self_attn.{word}_proj.weight" for word in "qkvo"]
MLP = [f"mlp.{word}_proj.weight" for word in ("gate", "up", "down")]
NORMS = ["input_layernorm.weight", "post_attention_layernorm.weight"]
BLOCK = [*QKVO, *MLP, *NORMS]
NEXTN = ["enorm.weight", "hnorm.weight", "eh_proj.weight"]
PRE_FC = ["mtp.fc.weight", "mtp.pre_fc_norm_embedding.weight", "mtp.pre_fc_norm_hidden.weight", "mtp.norm.weight"]
TOKEN_HIDDEN = ["token_layernorm.weight", "hidden_layernorm.weight", "input_proj.weight", "final_layernorm.weight"]


def under(prefix: str, *groups: list[str]) -> list[str]:
    return [prefix + name for group in groups for name in group]


@dataclass(frozen=True)
class Row:
    """`names` are the head's tensors. Standalone rows have no trunk beside them."""

    family: str
    names: list[str]
    scope: str
    join: str
    config: dict[str, Any] = field(default_factory=dict)
    layers: int = 1
    trunk: str = "model."
    alone: bool = False
    kind: str = "mtp"
    id: str = ""


def block_row(family: str, *, extra: tuple[str, ...] = ("shared_head.norm.weight",), prefix: str = "model.", **config: Any) -> Row:
    names = under(f"{prefix}layers.{N}.", NEXTN, list(extra), BLOCK)
    plain = {"model_type": family, "num_nextn_predict_layers": 1}
    return Row(family, names, "block", "nextn", {**plain, **config}, trunk=prefix)


def pre_fc_row(family: str, key: str | None, **config: Any) -> Row:
    plain = {"model_type": family, **({key: 1} if key else {})}
    return Row(family, [*PRE_FC, *under("mtp.layers.0.", BLOCK)], "mtp", "pre-fc", {**plain, **config})


DEEPSEEK_V4 = ["e_proj.weight", "h_proj.weight", "enorm.weight", "hnorm.weight", "emb.tok_emb.weight", "head.weight", "norm.weight"]
ERNIE = [
    *("model.mtp_emb_norm.0.weight", "model.mtp_hidden_norm.0.weight", "model.mtp_linear_proj.0.weight"),
    *under("model.mtp_block.0.", BLOCK),
]
NEMOTRON = [
    *under("mtp.layers.0.", NEXTN, ["norm.weight", "mixer.q_proj.weight", "mixer.o_proj.weight"]),
    *under("mtp.layers.1.", ["norm.weight", "mixer.up_proj.weight", "mixer.down_proj.weight", "final_layernorm.weight"]),
]
LONGCAT = [
    *("model.mtp.embed_tokens.weight", "model.mtp.norm.weight"),
    *under("model.mtp.layers.0.", ["eh_proj.weight", "enorm.m.weight", "hnorm.m.weight"], QKVO, NORMS),
    *under("model.mtp.layers.0.transformer_layer.", MLP),
]
INKLING = under("model.mtp.layers.0.", ["embed_norm.weight", "hidden_norm.weight", "input_proj.weight"], BLOCK)
QWEN4 = [
    *("mtp.fc_embedding.weight", "mtp.fc_hidden.weight", "mtp.pre_fc_norm_embedding.weight", "mtp.pre_fc_norm_hidden.weight"),
    *under("mtp.layers.0.", BLOCK),
]
GEMMA = ["model.embed_tokens.weight", "model.norm.weight", "pre_projection.weight", "post_projection.weight"]
GEMMA_BLOCKS = [name for n in range(4) for name in under(f"model.layers.{n}.", ["self_attn.q_proj.weight", "self_attn.o_proj.weight"], MLP)]
DSPARK = ["mtp.0.main_proj.weight", "mtp.0.markov_head.weight", "mtp.0.confidence_head.weight", *under("mtp.0.", BLOCK)]
TEXT = {"model_type": "qwen3_5_text", "hidden_size": 16, "num_hidden_layers": N, "mtp_num_hidden_layers": 1}

ROWS = (
    block_row("deepseek_v3", extra=("shared_head.norm.weight", "shared_head.head.weight", "embed_tokens.weight")),
    block_row("deepseek_v32", extra=("self_attn.indexer.wk.weight", "self_attn.indexer.weights_proj.weight")),
    block_row("glm_moe_dsa"),
    Row("deepseek_v4", under("mtp.0.", DEEPSEEK_V4, BLOCK), "mtp", "nextn-split", {"num_nextn_predict_layers": 1}),
    Row("deepseek_v41", DSPARK, "mtp", "dspark", {"num_nextn_predict_layers": 0, "dspark_block_size": 5}, kind="dspark"),
    block_row("pangu_ultra_moe"),
    Row(
        "mimo",
        under("model.mtp_layers.0.", TOKEN_HIDDEN, BLOCK),
        "mtp_layers",
        "token-hidden",
        {"architectures": ["MiMoForCausalLM"], "model_type": "qwen2", "num_nextn_predict_layers": 1},
    ),
    Row(
        "mimo_v2",
        [name for n in range(3) for name in under(f"model.mtp.layers.{n}.", NEXTN, BLOCK, ["final_layernorm.weight"])],
        "mtp",
        "nextn",
        {"architectures": ["MiMoV2FlashForCausalLM"]},
        layers=3,
    ),
    block_row("glm4_moe", extra=("shared_head.norm.weight", "shared_head.head.weight", "embed_tokens.weight")),
    block_row("glm4_moe_lite"),
    block_row("glm_ocr", prefix="model.language_model."),
    block_row("glm5_next", prefix="model.language_model."),
    Row("ernie4_5_moe", ERNIE, "flat", "mtp-flat", {"num_nextn_predict_layers": 1}),
    Row("nemotron_h", NEMOTRON, "mtp", "nextn", {"num_nextn_predict_layers": 1}),
    pre_fc_row("qwen3_next", None),
    pre_fc_row("qwen3_5", None, text_config=TEXT),
    pre_fc_row("intern_s2_preview", None, text_config=TEXT),
    pre_fc_row("interns2_mobius", None, text_config={**TEXT, "mtp_num_experts": 4}),
    Row("qwen4_exp", QWEN4, "mtp", "pre-fc-split", {"mtp_num_hidden_layers": 1}),
    block_row("bailing_hybrid", extra=("final_layernorm.weight",)),
    pre_fc_row("exaone_moe", "num_nextn_predict_layers"),
    pre_fc_row("exaone4_5", "num_nextn_predict_layers"),
    Row("longcat_flash", LONGCAT, "mtp", "nextn", {"num_layers": N, "num_hidden_layers": None}),
    Row(
        "step3p5",
        [name for n in (N, N + 1, N + 2) for name in under(f"model.layers.{n}.", NEXTN, ["shared_head.output.weight"], BLOCK)],
        "block",
        "nextn",
        {"num_nextn_predict_layers": 3},
        layers=3,
    ),
    block_row("hy_v3", extra=("final_layernorm.weight",)),
    Row(
        "hy_v4",
        under("model.mtp_layers.0.", NEXTN, BLOCK, ["final_layernorm.weight"]),
        "mtp_layers",
        "nextn",
        {"num_nextn_predict_layers": 2},
    ),
    Row("inkling", INKLING, "mtp", "embed-hidden", {"model_type": "inkling_mm_model", "mtp_config": {"num_nextn_predict_layers": 1}}),
    Row("minimax_m3", under("model.mtp.layers.0.", NEXTN, BLOCK), "mtp", "nextn", {"model_type": "minimax_m3_vl", "num_mtp_modules": 1}),
    block_row("kimi_k3", prefix="language_model.model.", text_config={"num_nextn_predict_layers": 1}),
    Row(
        "dots3_note",
        ["model.mtp.embed_tokens.weight", *under(f"model.layers.{N}.", NEXTN, BLOCK)],
        "block",
        "nextn",
        {"num_nextn_predict_layers": 1},
    ),
    Row("gemma4_assistant", [*GEMMA, *GEMMA_BLOCKS], "root", "pre-post", {"backbone_hidden_size": 16}, alone=True),
    Row("eagle3", ["fc.weight", "d2t", "norm.weight", *under("midlayer.", BLOCK)], "root", "eagle3", alone=True, kind="eagle3"),
    Row("eagle", ["fc.weight", "embed_tokens.weight", *under("layers.0.", BLOCK)], "root", "eagle", alone=True, kind="eagle"),
    Row(
        "mistral_large3_eagle",
        ["fc.weight", *under("layers.0.", BLOCK)],
        "root",
        "eagle",
        {"architectures": ["EagleMistralLarge3ForCausalLM"]},
        alone=True,
        kind="eagle",
    ),
    Row("dflash", ["fc.weight", "hidden_norm.weight", *under("layers.0.", BLOCK)], "root", "dflash", alone=True, kind="dflash"),
    Row(
        "dspark",
        ["main_proj.weight", "markov_head.weight", "confidence_head.weight", *under("layers.0.", BLOCK)],
        "root",
        "dspark",
        alone=True,
        kind="dspark",
    ),
    Row(
        "medusa",
        ["0.0.linear.weight", "0.1.weight", "1.0.linear.weight", "1.1.weight"],
        "root",
        "medusa",
        alone=True,
        kind="medusa",
        layers=2,
    ),
    Row(
        "mlp_speculator",
        ["speculator.emb.0.weight", "speculator.proj.0.weight"],
        "root",
        "mlp-speculator",
        {"n_predict": 1},
        alone=True,
        kind="mlp_speculator",
    ),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.family)
def test_a_head_is_found_by_its_tensors(row: Row, make) -> None:
    config = make.config(**{"model_type": row.family, **row.config})
    trunk = {} if row.alone else make.trunk(N, prefix=row.trunk)
    inspection = inspect_checkpoint(str(make.folder(trunk | make.named(*row.names), config)))
    assert (inspection.verdict, inspection.reason if inspection.verdict != "present" else "") == ("present", "")
    head = inspection.heads[0]
    assert (inspection.family, head.kind, head.scope, head.join, head.layers, head.own_file) == (
        row.family,
        row.kind,
        row.scope,
        row.join,
        row.layers,
        row.alone,
    )
    assert head.missing == ()


def test_every_family_of_the_table_has_a_checkpoint_here() -> None:
    assert {row.family for row in ROWS} == {family.name for family in TABLE}


@pytest.mark.parametrize(
    "row", [row for row in ROWS if not row.alone and row.config.get("num_nextn_predict_layers") != 0], ids=lambda row: row.family
)
def test_the_same_model_without_those_tensors_has_no_head(row: Row, make) -> None:
    config = make.config(**{"model_type": row.family, **row.config})
    inspection = inspect_checkpoint(str(make.folder(make.trunk(N, prefix=row.trunk), config)))
    assert inspection.heads == ()
    assert inspection.verdict in ("absent", "contradiction")


@pytest.mark.parametrize("row", [row for row in ROWS if not row.alone and row.kind == "mtp"], ids=lambda row: row.family)
def test_a_head_is_found_without_any_config(row: Row, make) -> None:
    inspection = inspect_checkpoint(str(make.folder(make.trunk(N, prefix=row.trunk) | make.named(*row.names))))
    assert [head.join for head in inspection.heads] == [row.join]
    assert inspection.verdict == "present"


DRAFTERS = {
    "qwen3_5_mtp": ("qwen3_5", ["fc", "pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm"], "layers.0.", "pre-fc"),
    "qwen4_exp_mtp": (
        "qwen4_exp",
        ["fc_embedding", "fc_hidden", "pre_fc_norm_embedding", "pre_fc_norm_hidden"],
        "layers.0.",
        "pre-fc-split",
    ),
    "deepseek_v4_mtp": ("deepseek_v4", ["enorm", "hnorm", "e_proj", "h_proj", "norm"], "decoder.", "nextn-split"),
    "glm4_moe_lite_mtp": ("glm4_moe_lite", ["model.enorm", "model.hnorm", "model.eh_proj", "lm_head"], "model.mtp_block.", "nextn"),
    "glm_moe_dsa_mtp": ("glm_moe_dsa", ["mtp.enorm", "mtp.hnorm", "mtp.eh_proj", "mtp.shared_head_norm"], "mtp.", "nextn"),
    "glm5_next_mtp": ("glm5_next", ["enorm", "hnorm", "eh_proj", "shared_head_norm"], "mtp_block.", "nextn"),
    "hy_v4_mtp": ("hy_v4", ["enorm", "hnorm", "eh_proj", "norm"], "decoder.", "nextn"),
    "inkling_mtp": ("inkling", ["layers.0.embed_norm", "layers.0.hidden_norm", "layers.0.input_proj", "norm"], "layers.0.", "embed-hidden"),
}


@pytest.mark.parametrize(("drafter", "expected"), DRAFTERS.items(), ids=DRAFTERS)
def test_a_drafter_split_off_by_mlx_vlm_is_found(drafter: str, expected: tuple[str, list[str], str, str], make) -> None:
    family, tops, prefix, join = expected
    names = [*(f"{top}.weight" for top in tops), *under(prefix, BLOCK)]
    config = {"model_type": drafter, "block_size": 3, "text_config": {**TEXT, "model_type": family, "num_nextn_predict_layers": 1}}
    inspection = inspect_checkpoint(str(make.folder(make.named(*names), config, metadata={"format": "mlx"})))
    head = inspection.heads[0]
    assert (inspection.verdict, inspection.family, head.join, head.scope, head.missing) == ("present", family, join, "root", ())
    assert [advice.engine for advice in inspection.advice if advice.support == "yes" and advice.engine in ("vllm", "mlx-vlm")] == [
        "mlx-vlm"
    ]


def test_a_nemotron_drafter_is_one_layer_of_two_mixers(make) -> None:
    names = [name.removeprefix("mtp.") for name in NEMOTRON]
    inspection = inspect_checkpoint(str(make.folder(make.named(*names), {"model_type": "nemotron_h_mtp", "text_config": {}})))
    assert (inspection.verdict, inspection.heads[0].layers, inspection.heads[0].own_file) == ("present", 1, True)
