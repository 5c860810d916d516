"""One ask and what became of it: the unit of evidence, one JSON line on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.record import Record
from pytest_mtp.core.reply import Reply

FaultKind = Literal[
    "connect",  # no TCP connection, DNS, refused
    "tls",
    "timeout",
    "reset",  # the connection ended before the answer did
    "auth",  # 401, 403
    "not_found",  # 404: wrong path or wrong model name
    "refused",  # another 4xx: the server understood and declined
    "busy",  # 429, 503
    "server_error",  # other 5xx
    "malformed",  # 200 with a body or stream that is not the protocol
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkStamp(Record):
    """One server-sent event: `at_ns` on the monotonic clock when its bytes were read; counts of what it carried.

    `characters` is the text and argument characters in it, never a number of tokens; `token_count` comes from token
    ids, logprobs or continuous usage where the server offers one of them, else None.
    """

    at_ns: int
    characters: int
    token_count: int | None = None
    kind: Literal["role", "content", "reasoning", "tool", "finish", "usage", "empty"] = "content"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline(Record):
    """Monotonic stamps (`time.perf_counter_ns`) of the attempt that answered."""

    sent_ns: int
    headers_ns: int | None = None
    done_ns: int | None = None
    chunks: tuple[ChunkStamp, ...] = ()

    @property
    def total_s(self) -> float | None:
        """From the request's first byte to the last byte of the answer, in seconds."""
        return None if self.done_ns is None else (self.done_ns - self.sent_ns) / 1e9

    @property
    def ttft_s(self) -> float | None:
        """Time to the first event that carries generated characters (content, reasoning or a call), in seconds."""
        for chunk in self.chunks:
            if chunk.characters:
                return (chunk.at_ns - self.sent_ns) / 1e9
        return None

    @property
    def decode_s(self) -> float | None:
        """From the first to the last event that carries characters, in seconds; None below two of them."""
        stamps = [chunk.at_ns for chunk in self.chunks if chunk.characters]
        return (stamps[-1] - stamps[0]) / 1e9 if len(stamps) > 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault(Record):
    """Why there is no reply. `body` is an excerpt of what came instead; `code` a finding code (INFRA.* or PROTO.*)."""

    kind: FaultKind
    code: str
    message: str
    status: int | None = None
    body: str = ""
    headers: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt(Record):
    """One try; `fault` None is the one that answered. `waited_s` is the pause before it."""

    duration_s: float
    waited_s: float = 0.0
    fault: Fault | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange(Record):
    """Exactly one of `reply` and `fault` is set. `url` and `model` are what was really used; no key is in here."""

    ask: Ask
    url: str
    model: str
    reply: Reply | None = None
    fault: Fault | None = None
    timeline: Timeline
    attempts: tuple[Attempt, ...] = ()

    def __post_init__(self) -> None:
        """Refuse an exchange that says both or neither."""
        if (self.reply is None) == (self.fault is None):
            raise ValueError("an Exchange holds a reply or a fault, not both and not neither")
