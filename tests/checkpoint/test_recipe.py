"""Quantised checkpoints: how many weights, in how many bits, and what the recipe did to the head."""

from __future__ import annotations

import pytest

from pytest_mtp.checkpoint.recipe import LeftOut
from pytest_mtp.checkpoint.verdict import inspect_checkpoint

KEY = {"model_type": "qwen3_5", "mtp_num_hidden_layers": 1}
WORDS = ("q", "k", "v", "o")


def head(make, *, dtype: str = "BF16"):
    join = make.named("mtp.fc.weight", "mtp.pre_fc_norm_embedding.weight", "mtp.pre_fc_norm_hidden.weight")
    return join | make.block("mtp.layers.0.", dtype=dtype)


def packed(make, tensors, *, bits: int = 4, style: str = "mlx"):
    """The same modules as a quantiser would store them."""
    result = {}
    for name, (_, shape) in tensors.items():
        module = name.removesuffix(".weight")
        if len(shape) == 1 or "embed" in name or "lm_head" in name:
            result[name] = ("BF16", shape)
        elif style == "mlx":
            result |= {
                name: ("U32", (shape[0], shape[1] * bits // 32)),
                f"{module}.scales": ("F16", (shape[0], shape[1] // 8)),
                f"{module}.biases": ("F16", (shape[0], shape[1] // 8)),
            }
        elif style == "compressed":
            result |= {
                f"{module}.weight_packed": ("I32", (shape[0], shape[1] * bits // 32)),
                f"{module}.weight_scale": ("F16", (shape[0], shape[1] // 8)),
                f"{module}.weight_shape": ("I64", (2,)),
            }
        else:
            result |= {name: ("F8_E4M3", shape), f"{module}.weight_scale_inv": ("F32", (1, 1))}
    return result


def remarks(inspection, where: str) -> list[str]:
    return [finding.title for finding in inspection.findings if finding.where == where]


@pytest.mark.parametrize("style", ["mlx", "compressed", "fp8"])
def test_weights_are_counted_unpacked(make, style: str) -> None:
    plain = inspect_checkpoint(str(make.folder(make.trunk() | head(make), make.config(**KEY), name="plain")))
    recipe = {
        "mlx": {"quantization": {"bits": 8, "group_size": 8}},
        "compressed": {"quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"g": {"weights": {"num_bits": 8}}}}},
        "fp8": {"quantization_config": {"quant_method": "fp8"}},
    }[style]
    tensors = packed(make, make.trunk() | head(make), bits=8, style=style)
    inspection = inspect_checkpoint(str(make.folder(tensors, make.config(**KEY, **recipe), name=style)))
    assert inspection.verdict == "present"
    assert inspection.weights.parameters == plain.weights.parameters
    assert (inspection.heads[0].parameters, inspection.heads[0].bits_per_weight) == (plain.heads[0].parameters, 8)
    assert inspection.weights.total_bytes < plain.weights.total_bytes


def test_the_bits_of_mlx_modules_are_read_from_their_own_entries(make) -> None:
    recipe = {"bits": 4, "group_size": 8, "mtp.fc": {"bits": 8, "group_size": 8}}
    tensors = {**make.trunk(), **packed(make, head(make)), "mtp.fc.weight": ("U32", (16, 8)), "mtp.fc.scales": ("F16", (16, 4))}
    inspection = inspect_checkpoint(str(make.folder(tensors, make.config(**KEY, quantization=recipe))))
    assert set(inspection.heads[0].storage) == {"8-bit", "4-bit", "BF16"}


@pytest.mark.parametrize(("bits", "risk"), [(4, True), (8, False)], ids=["4-bit", "8-bit"])
def test_a_head_packed_as_hard_as_its_body_is_a_risk(make, bits: int, risk: bool) -> None:
    tensors = packed(make, make.trunk() | head(make), bits=bits)
    inspection = inspect_checkpoint(str(make.folder(tensors, make.config(**KEY, quantization={"bits": bits, "group_size": 8}))))
    assert (inspection.verdict, bool(remarks(inspection, "precision"))) == ("present", risk)


RECIPE = {"quant_method": "compressed-tensors", "config_groups": {"g": {"weights": {"num_bits": 4}}}}
ONE_BY_ONE = [f"mtp.layers.0.self_attn.{word}_proj" for word in WORDS] + [
    f"mtp.layers.0.mlp.{word}_proj" for word in ("gate", "up", "down")
]
IGNORES = {
    "nothing listed": (["lm_head"], "7 matrices of the head are not quantised, and the recipe does not list them as left out:"),
    "some listed": (
        ONE_BY_ONE[:4],
        "3 matrices of the head are not quantised, and the recipe does not list them as left out, though it lists 4",
    ),
    "one by one": (ONE_BY_ONE, "the recipe lists the head's 7 unquantised matrices one by one"),
    "a pattern": (["re:^mtp.*"], None),
    "a glob": (["mtp.*"], None),
}


@pytest.mark.parametrize(("ignore", "words"), IGNORES.values(), ids=IGNORES)
def test_a_head_that_the_recipe_left_alone_must_be_listed(make, ignore: list[str], words: str | None) -> None:
    tensors = packed(make, make.trunk(), style="compressed") | head(make)
    inspection = inspect_checkpoint(str(make.folder(tensors, make.config(**KEY, quantization_config={**RECIPE, "ignore": ignore}))))
    said = remarks(inspection, "recipe")
    assert inspection.verdict == "present"
    assert said == [] if words is None else words in said[0]


def test_an_unquantised_model_has_nothing_to_list(make) -> None:
    inspection = inspect_checkpoint(str(make.folder(make.trunk() | head(make), make.config(**KEY))))
    assert inspection.findings == ()


@pytest.mark.parametrize(
    ("entry", "covered"),
    [
        ("mtp", True),
        ("mtp.layers.0", True),
        ("self_attn", True),
        ("re:.*mtp.*", True),
        ("*q_proj", True),
        ("mt", False),
        ("re:^model", False),
        ("lm_head", False),
    ],
)
def test_a_recipe_covers_by_name_part_glob_and_pattern(entry: str, covered: bool) -> None:
    assert LeftOut({"ignore": [entry]}).covers("mtp.layers.0.self_attn.q_proj") is covered


def test_a_strangers_regular_expression_is_never_run() -> None:
    """This one would take for ever."""
    assert LeftOut({"ignore": ["re:(a+)+$"]}).covers("a" * 60 + "b") is False
