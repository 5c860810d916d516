"""The words of `llama-server`, with the field of `xllamacpp.CommonParams` that each of them sets.

One table for two readers: our own child takes these words and no others, and what a running server's command line says is
read by them, other words left aside.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_mtp.core.errors import UsageError, nearest

Kind = Literal["text", "whole", "number", "on", "off", "names", "kinds", "rates"]
Value = str | int | float | bool | tuple[str, ...] | tuple[float, ...]

SPECULATION_KINDS = (
    "none",
    "draft-simple",
    "draft-eagle3",
    "draft-mtp",
    "draft-dflash",
    "draft-dspark",
    "ngram-simple",
    "ngram-map-k",
    "ngram-map-k4v",
    "ngram-mod",
    "ngram-cache",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """`field` is dotted below CommonParams, `environ` the variable that llama-server reads instead of the word."""

    words: tuple[str, ...]
    field: str
    kind: Kind = "text"
    environ: str = ""


def _option(words: str, field: str, kind: Kind = "text", environ: str = "") -> Option:
    return Option(words=tuple(words.split()), field=field, kind=kind, environ=f"LLAMA_ARG_{environ}" if environ else "")


def _ngrams(name: str) -> Iterator[Option]:
    for word in ("size-n", "size-m", "min-hits"):
        yield _option(f"--spec-ngram-{name}-{word}", f"speculative.ngram_{name.replace('-', '_')}.{word.replace('-', '_')}", "whole")


OPTIONS = (
    _option("--model -m", "model.path", environ="MODEL"),
    _option("--port", "port", "whole", "PORT"),
    _option("--host", "hostnames", "names", "HOST"),
    _option("--alias -a", "model_alias", "names", "ALIAS"),
    _option("--ctx-size -c", "n_ctx", "whole", "CTX_SIZE"),
    _option("--parallel -np", "n_parallel", "whole", "N_PARALLEL"),
    _option("--threads -t", "cpuparams.n_threads", "whole", "THREADS"),
    _option("--threads-batch -tb", "cpuparams_batch.n_threads", "whole"),
    _option("--batch-size -b", "n_batch", "whole", "BATCH"),
    _option("--ubatch-size -ub", "n_ubatch", "whole", "UBATCH"),
    _option("--n-gpu-layers --gpu-layers -ngl", "n_gpu_layers", "whole", "N_GPU_LAYERS"),
    _option("--n-predict --predict -n", "n_predict", "whole", "N_PREDICT"),
    _option("--seed -s", "sampling.seed", "whole"),
    _option("--metrics", "endpoint_metrics", "on", "ENDPOINT_METRICS"),
    _option("--props", "endpoint_props", "on", "ENDPOINT_PROPS"),
    _option("--slots", "endpoint_slots", "on", "ENDPOINT_SLOTS"),
    _option("--no-slots", "endpoint_slots", "off"),
    _option("--jinja", "use_jinja", "on", "JINJA"),
    _option("--no-jinja", "use_jinja", "off"),
    _option("--chat-template", "chat_template", environ="CHAT_TEMPLATE"),
    _option("--chat-template-file", "chat_template_file", environ="CHAT_TEMPLATE_FILE"),
    _option("--warmup", "warmup", "on"),
    _option("--no-warmup", "warmup", "off"),
    _option("--ui --webui", "ui", "on"),
    _option("--no-ui --no-webui", "ui", "off"),
    _option("--cache-prompt", "cache_prompt", "on", "CACHE_PROMPT"),
    _option("--no-cache-prompt", "cache_prompt", "off"),
    _option("--cont-batching -cb", "cont_batching", "on", "CONT_BATCHING"),
    _option("--no-cont-batching -nocb", "cont_batching", "off"),
    _option("--log-verbosity --verbosity -lv", "verbosity", "whole", "LOG_VERBOSITY"),
    _option("--spec-type", "speculative.types", "kinds", "SPEC_TYPE"),
    _option("--spec-draft-model --model-draft -md", "speculative.draft.mparams.path", environ="SPEC_DRAFT_MODEL"),
    _option("--spec-draft-n-max", "speculative.draft.n_max", "whole", "SPEC_DRAFT_N_MAX"),
    _option("--spec-draft-n-min", "speculative.draft.n_min", "whole", "SPEC_DRAFT_N_MIN"),
    _option("--spec-draft-p-min --draft-p-min", "speculative.draft.p_min", "number", "SPEC_DRAFT_P_MIN"),
    _option("--spec-draft-p-split --draft-p-split", "speculative.draft.p_split", "number", "SPEC_DRAFT_P_SPLIT"),
    _option(
        "--spec-draft-ngl --n-gpu-layers-draft --gpu-layers-draft -ngld",
        "speculative.draft.n_gpu_layers",
        "whole",
        "N_GPU_LAYERS_DRAFT",
    ),
    _option("--spec-ngram-mod-n-match", "speculative.ngram_mod.n_match", "whole"),
    _option("--spec-ngram-mod-n-min", "speculative.ngram_mod.n_min", "whole"),
    _option("--spec-ngram-mod-n-max", "speculative.ngram_mod.n_max", "whole"),
    *(option for name in ("simple", "map-k", "map-k4v") for option in _ngrams(name)),
    _option("--spec-synth-rates", "speculative.synth_rates", "rates"),
    _option("--spec-synth-len", "speculative.synth_len", "number"),
)

_BY_WORD = {word: option for option in OPTIONS for word in option.words}
_REMOVED = {
    **dict.fromkeys(("--draft", "--draft-n", "--draft-max"), "--spec-draft-n-max"),
    **dict.fromkeys(("--draft-min", "--draft-n-min"), "--spec-draft-n-min"),
}
_YES = frozenset({"1", "true", "on", "enabled"})


def of_our_own(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """What our child takes beside them: the program to run in its place, and the words left with those of `--extra` split.

    Raise UsageError for a word without its value.
    """
    rest, taken = list(words), dict[str, str]()
    for word in ("--program", "--extra"):
        while word in rest:
            place = rest.index(word)
            if place + 1 == len(rest):
                raise UsageError(f"option {word} needs a value")
            taken[word] = rest[place + 1]
            del rest[place : place + 2]
    try:
        return taken.get("--program"), [*rest, *shlex.split(taken.get("--extra", ""))]
    except ValueError as error:  # an open quote
        raise UsageError(f"option --extra: {taken['--extra']!r} cannot be split into words: {error}") from None


def parsed(words: Sequence[str]) -> dict[str, Value]:
    """Values by field. Raise UsageError for the first word that is unknown, removed, incomplete or of the wrong kind."""
    values: dict[str, Value] = {}
    for word, option, given in _pairs(words):
        if option is None and word in _REMOVED:
            raise UsageError(f"llama.cpp removed {word}; use {_REMOVED[word]}")
        if option is None:
            raise UsageError(
                f"unknown option {word!r}{nearest(word, _BY_WORD)}; the options are those of llama-server that are needed here"
            )
        if given is None:
            raise UsageError(f"option {word} needs a value")
        _put(values, option, _value(word, option, given))
    return values


def told(words: Sequence[str], environ: Mapping[str, str]) -> dict[str, Value]:
    """The same for the command line of a server that runs already: what is not in the table, or is no value, is left aside."""
    values: dict[str, Value] = {}
    for known in OPTIONS:
        if known.environ and known.environ in environ:
            _put_readable(values, known, known.environ, environ[known.environ])
    seen: set[str] = set()
    for word, option, given in _pairs(words):
        if option is None or given is None:
            continue
        if option.field not in seen:  # words come before the environment
            values.pop(option.field, None)
            seen.add(option.field)
        _put_readable(values, option, word, given)
    return values


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, Option | None, str | None]]:
    """Each word with its option and its value, in either spelling; llama-server takes `_` for `-` in long words."""
    rest = iter(words)
    for raw in rest:
        name, equals, inline = raw.partition("=")
        word = name.replace("_", "-") if name.startswith("--") else raw
        option = _BY_WORD.get(word)
        if option is None:
            yield word, None, None
        elif option.kind in ("on", "off"):
            yield word, option, inline if equals else "on"
        else:
            yield word, option, inline if equals else next(rest, None)


def _put_readable(values: dict[str, Value], option: Option, word: str, given: str) -> None:
    try:
        value = _value(word, option, given)
    except UsageError:
        return
    _put(values, option, value)


def _put(values: dict[str, Value], option: Option, value: Value) -> None:
    """Names add up, everything else is as its last word says."""
    before = values.get(option.field)
    if option.kind == "names" and isinstance(before, tuple) and isinstance(value, tuple):
        values[option.field] = tuple(str(name) for name in (*before, *value))
    else:
        values[option.field] = value


def _value(word: str, option: Option, given: str) -> Value:
    parts = tuple(part.strip() for part in given.split(",") if part.strip())
    match option.kind:
        case "on" | "off":
            return (given.lower() in _YES) == (option.kind == "on")
        case "whole":
            return int(_number(word, given, whole=True))
        case "number":
            return _number(word, given)
        case "rates":
            rates = tuple(_number(word, part) for part in parts)
            if not rates or not all(0 <= rate <= 1 for rate in rates):
                raise UsageError(f"option {word}: expected rates from 0 to 1 with commas between, got {given!r}")
            return rates
        case "kinds":
            for part in parts:
                if part not in SPECULATION_KINDS:
                    raise UsageError(
                        f"option {word}: unknown kind {part!r}{nearest(part, SPECULATION_KINDS)}; known: {', '.join(SPECULATION_KINDS)}"
                    )
            return parts
        case "names":
            return parts
        case _:
            return given


def _number(word: str, given: str, *, whole: bool = False) -> float:
    try:
        return int(given) if whole else float(given)
    except ValueError:
        raise UsageError(f"option {word}: expected a {'whole ' if whole else ''}number, got {given!r}") from None
