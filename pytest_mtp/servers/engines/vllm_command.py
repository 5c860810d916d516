"""What the command line of a vLLM server says of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from pytest_mtp.core.facts import ProcessFacts, SpecDecode
from pytest_mtp.servers.engines.document import mapping, text
from pytest_mtp.servers.engines.vllm_config import speculation_of

_MODULE = "vllm.entrypoints.openai.api_server"
_COMMAND = "vllm.entrypoints.cli.main"
_SHORT = {"-sc": "--speculative-config", "-dp": "--data-parallel-size"}
_SPECULATIVE = {  # the last two are of old releases
    "--spec-method": "method",
    "--spec-model": "model",
    "--spec-tokens": "num_speculative_tokens",
    "--speculative-model": "model",
    "--num-speculative-tokens": "num_speculative_tokens",
}
_LISTS = frozenset({"--served-model-name", "--lora-modules", "--middleware", "--api-key", "--cudagraph-capture-sizes"})
_SWITCHES = ("--enable-", "--disable-", "--no-", "--enforce-eager", "--trust-remote-code", "--async-scheduling")


def read_vllm_command(words: Sequence[str]) -> ProcessFacts | None:
    """None where it is no vLLM server. What stands in a file of options (`--config`) is not known."""
    arguments = _after_program(list(words))
    if arguments is None:
        return None
    options, model = _parsed(arguments)
    draft = _speculative(options)
    drafter, path = text(draft.get("model")), _last(options, "--model") or model or _stray(options)
    width, engines = _number(_last(options, "--max-num-seqs")), _number(_last(options, "--data-parallel-size")) or 1
    unknown = "--config" in options and not draft
    said = (
        SpecDecode(evidence=("the command line names a file of options",)) if unknown else speculation_of(draft, where="the command line")
    )
    return ProcessFacts(
        pid=0,
        started_at=0.0,
        command=(),
        model_path=path,
        drafter_path=None if drafter == path else drafter,
        served_names=tuple(options.get("--served-model-name", ())) or ((path,) if path else ()),
        speculation=said,
        sequences=width * engines if width else None,
    )


def _after_program(command: Sequence[str]) -> Sequence[str] | None:
    """The words after `vllm serve` or the module; an interpreter may stand before either."""
    for place, word in enumerate(command[:4]):
        rest = command[place + 1 :]
        if rest and word == "-m" and rest[0] == _MODULE:
            return rest[1:]
        if rest[:1] == ["serve"] and (word == _COMMAND or PurePath(word).name == "vllm"):
            return rest[1:]
    return None


def _parsed(words: Sequence[str]) -> tuple[Mapping[str, Sequence[str]], str | None]:
    """Options with their values, and the first word where it is no option: the model."""
    options: dict[str, list[str]] = {}
    model = words[0] if words and not words[0].startswith("-") else None
    current: list[str] | None = None
    for word in words:
        if not word.startswith("-") or _is_number(word):
            if current is not None:
                current.append(word)
            continue
        name, equals, value = word.partition("=")
        current = options.setdefault(_named(name), [])
        current += [value] if equals else []
    return options, model


def _stray(options: Mapping[str, Sequence[str]]) -> str | None:
    """A value too many behind an option: the model, which may stand anywhere."""
    for name, values in options.items():
        takes = 0 if name.startswith(_SWITCHES) else 1
        if name not in _LISTS and len(values) > takes:
            return values[takes]
    return None


def _named(option: str) -> str:
    """Its long name with hyphens; keys after a dot are JSON's own."""
    head, dot, key = option.partition(".")
    return f"{_SHORT.get(head, head.replace('_', '-'))}{dot}{key}"


def _speculative(options: Mapping[str, Sequence[str]]) -> Mapping[str, object]:
    """One configuration out of JSON, dotted keys and single options."""
    config: dict[str, object] = {}
    try:
        config.update(mapping(json.loads(_last(options, "--speculative-config") or "{}")))
    except (ValueError, RecursionError):
        config["unreadable"] = True
    for name, values in options.items():
        key = name.removeprefix("--speculative-config.") if name.startswith("--speculative-config.") else _SPECULATIVE.get(name)
        if key and values:
            config[key] = number if (number := _number(values[-1])) is not None else values[-1]
    return config


def _last(options: Mapping[str, Sequence[str]], name: str) -> str | None:
    values = options.get(name)
    return values[-1] if values else None


def _number(word: str | None) -> int | None:
    return int(word) if word and word.isascii() and word.isdigit() else None


def _is_number(word: str) -> bool:
    return word[1:].replace(".", "", 1).isdigit()
