"""The engines by name, and which one a server is."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_mtp.core.errors import UsageError, nearest
from pytest_mtp.core.facts import ServerFacts
from pytest_mtp.core.protocols import Client, Engine
from pytest_mtp.core.reply import Reply
from pytest_mtp.servers.engines.fake import Fake
from pytest_mtp.servers.engines.generic import Generic
from pytest_mtp.servers.engines.llamacpp import LlamaCpp
from pytest_mtp.servers.engines.lmstudio import LMStudio
from pytest_mtp.servers.engines.mlx_lm import MlxLm
from pytest_mtp.servers.engines.mlx_vlm import MlxVlm
from pytest_mtp.servers.engines.ollama import Ollama
from pytest_mtp.servers.engines.sglang import SGLang
from pytest_mtp.servers.engines.tensorrt_llm import TensorRtLlm
from pytest_mtp.servers.engines.transformers import Transformers
from pytest_mtp.servers.engines.vllm import Vllm

_KNOWN = (Fake(), LlamaCpp(), Vllm(), SGLang(), TensorRtLlm(), MlxVlm(), MlxLm(), Transformers(), LMStudio(), Ollama())
_ENGINES: dict[str, Engine] = {engine.name: engine for engine in _KNOWN}


def register(engine: Engine) -> None:
    """Add an adapter, or put another in the place of one with the same name; it is asked before the generic one."""
    _ENGINES[engine.name] = engine


def engine_names() -> tuple[str, ...]:
    """All names, `generic` last."""
    return (*_ENGINES, "generic")


def identify(client: Client, models: Mapping[str, object], first: Reply | None = None) -> tuple[Engine, tuple[str, ...]]:
    """The first engine that gives reasons for itself, with them: by a reply that is there already, else by its pages."""
    for engine in _ENGINES.values():
        if first and (reasons := tuple(engine.recognise(first))):
            return engine, reasons
    for engine in _ENGINES.values():
        if reasons := tuple(engine.identify(client, models)):
            return engine, reasons
    generic = Generic()
    return generic, tuple(generic.identify(client, models))


def engine_of(facts: ServerFacts) -> Engine:
    """The adapter for a server whose facts are known, with what they say of its dialect."""
    if facts.engine == "generic":
        return Generic().bound(facts)
    if facts.engine not in _ENGINES:
        raise UsageError(f"no adapter for engine {facts.engine!r}{nearest(facts.engine, engine_names())}")
    return _ENGINES[facts.engine].bound(facts)
