"""Config, index, headers and tensors that cannot all be true."""

from __future__ import annotations

import json

import pytest

from pytest_mtp.checkpoint.verdict import inspect_checkpoint

ONE = {"num_nextn_predict_layers": 1}


def wrong(inspection) -> list[str]:
    return [finding.where for finding in inspection.findings if finding.severity == "critical"]


def notes(inspection) -> list[str]:
    return [finding.where for finding in inspection.findings if finding.severity == "note"]


def test_a_promised_head_without_tensors(make) -> None:
    inspection = inspect_checkpoint(str(make.folder(make.trunk(), make.config(**ONE))))
    assert (inspection.verdict, wrong(inspection)) == ("contradiction", ["config"])
    assert "promises 1 MTP layer (num_nextn_predict_layers)" in inspection.reason


def test_a_recipe_that_dropped_the_head_is_named(make) -> None:
    config = make.config(**ONE, quantization_config={"quant_method": "awq", "bits": 4})
    finding = inspect_checkpoint(str(make.folder(make.trunk(), config))).findings[0]
    assert "Quantised by awq" in finding.hint


@pytest.mark.parametrize("key", [{}, {"num_nextn_predict_layers": 0}], ids=["no key", "zero"])
def test_a_head_that_the_config_does_not_promise(make, key) -> None:
    inspection = inspect_checkpoint(str(make.folder(make.trunk() | make.nextn(), make.config(**key))))
    assert (inspection.verdict, wrong(inspection)) == ("contradiction", ["config"])


def test_a_promise_under_a_key_that_the_engines_of_the_family_do_not_read(make) -> None:
    config = make.config(model_type="qwen3_5", **ONE)
    head = make.named("mtp.fc.weight", "mtp.pre_fc_norm_embedding.weight", "mtp.pre_fc_norm_hidden.weight") | make.block("mtp.layers.0.")
    inspection = inspect_checkpoint(str(make.folder(make.trunk() | head, config)))
    assert (inspection.verdict, wrong(inspection)) == ("contradiction", ["config"])
    assert "read mtp_num_hidden_layers" in inspection.reason


def test_the_founding_case_is_present(make) -> None:
    """A search for num_nextn_predict_layers finds nothing here, and the head was there all along."""
    config = make.config(model_type="qwen3_5_moe", text_config={"model_type": "qwen3_5_moe_text", "mtp_num_hidden_layers": 1})
    head = make.named("mtp.fc.weight", "mtp.pre_fc_norm_embedding.weight", "mtp.pre_fc_norm_hidden.weight", "mtp.norm.weight")
    inspection = inspect_checkpoint(str(make.folder(make.trunk(experts=4) | head | make.block("mtp.layers.0.", experts=4), config)))
    assert (inspection.verdict, inspection.heads[0].depth) == ("present", 1)


@pytest.mark.parametrize("lost", ["enorm", "hnorm", "eh_proj", "self_attn.k_proj", "mlp.down_proj"])
def test_a_module_missing_in_the_head(make, lost: str) -> None:
    head = make.nextn()
    del head[f"model.layers.3.{lost}.weight"]
    inspection = inspect_checkpoint(str(make.folder(make.trunk() | head, make.config(**ONE))))
    assert (inspection.verdict, wrong(inspection)) == ("contradiction", ["partial"])
    assert inspection.heads[0].missing == (f"model.layers.3.{lost}",)


def test_a_head_whose_whole_block_is_missing(make) -> None:
    head = {name: spec for name, spec in make.nextn().items() if "self_attn" not in name and "mlp" not in name}
    inspection = inspect_checkpoint(str(make.folder(make.trunk() | head, make.config(**ONE))))
    assert inspection.heads[0].missing == ("model.layers.3 (attention)", "model.layers.3 (feed-forward)")


def test_experts_missing_in_the_head(make) -> None:
    head = make.nextn() | make.block("model.layers.3.", experts=3)
    head = {name: spec for name, spec in head.items() if ".mlp." not in name or "experts" in name}
    inspection = inspect_checkpoint(str(make.folder(make.trunk(experts=4) | head, make.config(**ONE))))
    assert inspection.heads[0].missing == ("model.layers.3 (3 of 4 experts)",)


def test_a_head_of_another_design_is_not_called_torn(make) -> None:
    """Fused q, k and v in the head beside single ones in the trunk: other names, nothing missing."""
    head = {name: spec for name, spec in make.nextn().items() if not any(f".{word}_proj." in name for word in "qkv")}
    head |= make.named("model.layers.3.self_attn.qkv_proj.weight")
    assert inspect_checkpoint(str(make.folder(make.trunk() | head, make.config(**ONE)))).verdict == "present"


def test_fewer_layers_than_promised(make) -> None:
    inspection = inspect_checkpoint(str(make.folder(make.trunk() | make.nextn(), make.config(num_nextn_predict_layers=3))))
    assert (inspection.verdict, wrong(inspection)) == ("contradiction", ["partial"])


def test_more_layers_than_promised_is_a_remark(make) -> None:
    inspection = inspect_checkpoint(str(make.folder(make.trunk() | make.nextn() | make.nextn(4), make.config(**ONE))))
    assert (inspection.verdict, notes(inspection)) == ("present", ["config"])


def test_tensors_renamed_away_from_what_the_engine_looks_for(make) -> None:
    config = make.config(model_type="qwen2", architectures=["MiMoForCausalLM"], **ONE)
    words = ("token_layernorm", "hidden_layernorm", "input_proj")
    head = make.named(*(f"mtp.layers.0.{word}.weight" for word in words)) | make.block("mtp.layers.0.")
    inspection = inspect_checkpoint(str(make.folder(make.trunk() | head, config)))
    assert (inspection.verdict, wrong(inspection)) == ("contradiction", ["layout"])


def test_a_projection_of_another_width(make) -> None:
    head = make.nextn() | {"model.layers.3.eh_proj.weight": ("BF16", (8, 16))}
    inspection = inspect_checkpoint(str(make.folder(make.trunk() | head, make.config(**ONE))))
    assert (inspection.verdict, wrong(inspection)) == ("contradiction", ["shape"])


def test_blocks_beyond_the_last_layer_that_join_nothing(make) -> None:
    inspection = inspect_checkpoint(str(make.folder(make.trunk(4), make.config(model_type="llama"))))
    assert (inspection.verdict, inspection.heads[0].kind) == ("contradiction", "unknown")
    assert "beyond the 3 layers" in inspection.reason


def test_an_unknown_head_is_seen_by_its_shape(make) -> None:
    head = {
        "predictor.0.merge.weight": ("BF16", (16, 32)),
        "predictor.0.left_ln.weight": ("BF16", (16,)),
        "predictor.0.right_ln.weight": ("BF16", (16,)),
    } | make.block("predictor.0.body.")
    inspection = inspect_checkpoint(str(make.folder(make.trunk() | head, make.config(model_type="novel"))))
    assert (inspection.verdict, inspection.heads[0].where, inspection.heads[0].tensors) == ("contradiction", "predictor.0", 12)


@pytest.mark.parametrize("place", ["vision_tower.blocks.0.", "multi_modal_projector.", "model.visual.merger."])
def test_a_projector_of_another_modality_is_no_head(make, place: str) -> None:
    other = {f"{place}merge.weight": ("BF16", (16, 32)), f"{place}a.weight": ("BF16", (16,)), f"{place}b.weight": ("BF16", (16,))}
    inspection = inspect_checkpoint(str(make.folder(make.trunk() | other, make.config(model_type="novel"))))
    assert (inspection.verdict, inspection.heads) == ("absent", ())


def test_a_shard_of_the_index_that_is_not_on_disk(make) -> None:
    folder = make.folder(make.trunk() | make.nextn(), make.config(**ONE), shards=4)
    (folder / "model-00004-of-00004.safetensors").unlink()
    inspection = inspect_checkpoint(str(folder))
    assert (inspection.verdict, wrong(inspection)) == ("contradiction", ["shard"])
    assert "model-00004-of-00004.safetensors does not exist" in inspection.reason
    assert inspection.heads[0].layers == 1, "the index still tells where the head would be"


def test_an_index_that_names_tensors_which_no_file_has(make) -> None:
    folder = make.folder(make.trunk() | make.nextn(), make.config(**ONE), shards=2)
    weight_map = make.read_index(folder)
    make.write_index(folder, weight_map | {"model.layers.9.enorm.weight": "model-00001-of-00002.safetensors"})
    inspection = inspect_checkpoint(str(folder))
    assert wrong(inspection) == ["index"]
    assert "lists 1 tensors that are not in the file it names: model.layers.9.enorm.weight" in inspection.reason


def test_a_head_in_a_file_that_the_index_does_not_list(make) -> None:
    folder = make.folder(make.trunk(), make.config(**ONE), shards=2)
    make.save(folder / "mtp.safetensors", make.nextn())
    inspection = inspect_checkpoint(str(folder))
    assert (inspection.verdict, wrong(inspection)) == ("contradiction", ["index"])
    assert inspection.heads[0].files == ("mtp.safetensors",)


def test_a_head_in_a_sidecar_that_the_index_lists_is_present_with_a_warning(make) -> None:
    folder = make.folder(make.trunk(), make.config(**ONE), shards=2)
    make.save(folder / "mtp.safetensors", make.nextn())
    make.write_index(folder, make.read_index(folder) | dict.fromkeys(make.nextn(), "mtp.safetensors"))
    inspection = inspect_checkpoint(str(folder))
    assert (inspection.verdict, notes(inspection)) == ("present", ["index"])


def test_an_index_that_only_leaves_out_a_tensor_of_the_trunk_is_no_alarm(make) -> None:
    folder = make.folder(make.trunk() | make.nextn(), make.config(**ONE), shards=2)
    weight_map = make.read_index(folder)
    del weight_map["lm_head.weight"]
    make.write_index(folder, weight_map)
    assert inspect_checkpoint(str(folder)).verdict == "present"


def test_shards_without_an_index(make) -> None:
    folder = make.folder(make.trunk() | make.nextn(), make.config(**ONE), shards=3, index=False)
    inspection = inspect_checkpoint(str(folder))
    assert (inspection.verdict, inspection.files, notes(inspection)) == ("present", 3, ["index"])
    (folder / "model-00001-of-00003.safetensors").unlink()
    assert wrong(inspect_checkpoint(str(folder))) == ["shard"]


def test_a_stale_file_with_the_same_tensors_is_a_remark(make) -> None:
    folder = make.folder(make.trunk() | make.nextn(), make.config(**ONE), shards=2)
    make.save(folder / "model.safetensors", make.trunk())
    inspection = inspect_checkpoint(str(folder))
    assert (inspection.verdict, notes(inspection)) == ("present", ["index"])
    assert (
        inspection.weights.parameters
        == inspect_checkpoint(str(make.folder(make.trunk() | make.nextn(), make.config(**ONE), name="other"))).weights.parameters
    )


def test_one_broken_shard_of_many_is_named_and_the_rest_is_judged(make) -> None:
    folder = make.folder(make.trunk() | make.nextn(), make.config(**ONE), shards=3)
    first = folder / "model-00001-of-00003.safetensors"
    first.write_bytes(first.read_bytes()[:-10])
    inspection = inspect_checkpoint(str(folder))
    assert wrong(inspection) == ["shard"]
    assert "is cut short" in inspection.reason
    assert inspection.heads[0].layers == 1


def test_keys_that_only_speak_of_mtp_are_a_remark(make) -> None:
    inspection = inspect_checkpoint(str(make.folder(make.trunk(), make.config(model_type="llama", mtp_loss_scaling_factor=0.1))))
    assert (inspection.verdict, notes(inspection)) == ("absent", ["config"])


@pytest.mark.parametrize("value", [True, -1, "1", 1.0, None, [1], {"a": 1}, 1 << 70], ids=repr)
def test_a_depth_of_the_wrong_type_promises_nothing(make, value) -> None:
    inspection = inspect_checkpoint(str(make.folder(make.trunk(), make.config(num_nextn_predict_layers=value))))
    assert inspection.verdict == "absent"


def test_a_real_config_with_infinity_is_read(make) -> None:
    folder = make.folder(make.trunk() | make.nextn())
    text = json.dumps(make.config(**ONE))[:-1] + ', "time_step_limit": [0.0, Infinity]}'
    (folder / "config.json").write_text(text)
    assert inspect_checkpoint(str(folder)).verdict == "present"
