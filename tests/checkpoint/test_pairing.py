"""A drafter of its own against the target that it should draft for."""

from __future__ import annotations

import json

import pytest

from pytest_mtp.checkpoint.errors import CheckpointError
from pytest_mtp.checkpoint.opened import open_checkpoint
from pytest_mtp.checkpoint.tokenizer import vocabulary
from pytest_mtp.checkpoint.verdict import inspect_checkpoint

TEXT = {"model_type": "qwen3_5_text", "hidden_size": 16, "vocab_size": 40, "rope_theta": 1e6, "mtp_num_hidden_layers": 1}
VOCAB = [f"t{number}" for number in range(40)]


def tokenizer(words: list[str], *, added: tuple[str, ...] = ()) -> str:
    vocab = {word: number for number, word in enumerate(words)}
    extra = [{"id": len(words) + number, "content": word, "special": True} for number, word in enumerate(added)]
    merges = [["t", str(number)] for number in range(30)]
    return json.dumps({"version": "1.0", "added_tokens": extra, "model": {"type": "BPE", "vocab": vocab, "merges": merges}})


def drafter(make, *, bits: int | None = None, words: list[str] | None = None, **text):
    names = [f"{word}.weight" for word in ("fc", "pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm")]
    tensors = make.named(*names) | make.block("layers.0.")
    config = {"model_type": "qwen3_5_mtp", "block_size": 3, "text_config": {**TEXT, **text}}
    if bits:
        config["quantization"] = {"bits": bits, "group_size": 8}
        for name, (_, shape) in list(tensors.items()):
            if len(shape) == 2:
                tensors[name] = ("U32", (shape[0], shape[1] * bits // 32))
                tensors[name.replace(".weight", ".scales")] = ("F16", (shape[0], shape[1] // 8))
    folder = make.folder(tensors, config, name="drafter", metadata={"format": "mlx"})
    (folder / "tokenizer.json").write_text(tokenizer(words or VOCAB))
    return folder


def target(make, *, dtype: str = "BF16", words: list[str] | None = None, **text):
    config = {"model_type": "qwen3_5", "text_config": {**TEXT, "num_hidden_layers": 3, **text}}
    folder = make.folder(make.trunk(dtype=dtype), config, name="target")
    (folder / "tokenizer.json").write_text(tokenizer(words or VOCAB))
    return folder


def paired(mine, theirs) -> dict[str, str]:
    inspection = inspect_checkpoint(str(mine), target=str(theirs))
    assert inspection.pairing is not None
    assert inspection.verdict == "present", "a pair that does not fit leaves the drafter what it is"
    return {one.what: one.fit for one in inspection.pairing.compared}


def test_a_drafter_made_for_its_target_fits(make) -> None:
    inspection = inspect_checkpoint(str(drafter(make)), target=str(target(make)))
    assert inspection.pairing.fits
    assert not inspection.critical
    assert {one.fit for one in inspection.pairing.compared} == {"fits"}


@pytest.mark.parametrize(
    ("change", "what"), [({"hidden_size": 32}, "hidden size"), ({"vocab_size": 41}, "vocabulary size")], ids=["hidden size", "vocabulary"]
)
def test_another_size_does_not_fit(make, change: dict[str, int], what: str) -> None:
    inspection = inspect_checkpoint(str(drafter(make)), target=str(target(make, **change)))
    assert not inspection.pairing.fits
    assert [finding.title.partition(":")[0] for finding in inspection.findings if finding.severity == "critical"] == [what]


def test_another_tokenizer_of_the_same_size_does_not_fit(make) -> None:
    assert paired(drafter(make), target(make, words=VOCAB[::-1]))["tokenizer"] == "differs"


def test_another_rope_is_a_risk(make) -> None:
    assert paired(drafter(make), target(make, rope_theta=1e4))["rope theta"] == "risk"


def test_another_model_type_is_a_risk_unless_the_families_share_a_drafter(make) -> None:
    llama = make.folder(make.trunk(), make.config(model_type="llama"), name="llama")
    assert paired(drafter(make), llama)["model type"] == "risk"
    config = {"model_type": "qwen3_next", "num_hidden_layers": 3, "hidden_size": 16}
    assert paired(drafter(make), make.folder(make.trunk(), config, name="next"))["model type"] == "fits"


PRECISIONS = [(8, "F8_E4M3", "fits"), (4, "F8_E4M3", "risk"), (4, "BF16", "risk"), (None, "BF16", "fits")]


@pytest.mark.parametrize(("bits", "body", "fit"), PRECISIONS)
def test_a_drafter_packed_as_hard_as_its_body_is_a_risk(make, bits: int | None, body: str, fit: str) -> None:
    assert paired(drafter(make, bits=bits), target(make, dtype=body))["bits a weight"] == fit


def test_what_is_not_said_is_unknown_and_no_obstacle(make) -> None:
    mine, theirs = drafter(make), target(make)
    (mine / "tokenizer.json").unlink()
    (theirs / "config.json").write_text("{}")
    fits = paired(mine, theirs)
    assert (fits["tokenizer"], fits["vocabulary size"], fits["hidden size"]) == ("unknown", "unknown", "unknown")


def test_a_model_with_a_trunk_is_no_drafter(make) -> None:
    config = make.config(num_nextn_predict_layers=1)
    with pytest.raises(CheckpointError, match="holds a trunk of its own"):
        inspect_checkpoint(str(make.folder(make.trunk() | make.nextn(), config)), target=str(target(make)))


def test_gemmas_assistant_is_held_against_its_backbone(make) -> None:
    config = {"model_type": "gemma4_assistant", "backbone_hidden_size": 64, "text_config": {"hidden_size": 16, "vocab_size": 40}}
    folder = make.folder(make.named("pre_projection.weight", "post_projection.weight") | make.block("model.layers.0."), config)
    assert paired(folder, target(make, hidden_size=64))["hidden size"] == "fits"


def test_the_vocabulary_of_a_gguf_file_is_that_of_its_tokenizer_json(make) -> None:
    gguf = open_checkpoint(str(make.gguf(make.gguf_trunk())))
    folder = target(make)
    assert vocabulary(gguf).digest == vocabulary(open_checkpoint(str(folder))).digest
    (folder / "tokenizer.json").write_text(tokenizer(VOCAB[:38], added=("t38", "t39")))
    assert vocabulary(gguf).digest == vocabulary(open_checkpoint(str(folder))).digest


@pytest.mark.parametrize(
    "text", ["", "[]", '{"model":{"vocab":{"a":"b"}}}', '{"model":{"vocab":{"a":99999999999}}}', '{"model":' + "[" * 99_999], ids=range(5)
)
def test_a_broken_tokenizer_is_one_clear_error(make, text: str) -> None:
    mine, theirs = drafter(make), target(make)
    (theirs / "tokenizer.json").write_text(text)
    with pytest.raises(CheckpointError, match=r"tokenizer\.json: "):
        inspect_checkpoint(str(mine), target=str(theirs))
