"""A server in memory: checks see only the Protocols, so nothing here listens anywhere."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

from pytest_mtp.core.ask import Ask
from pytest_mtp.core.exchange import Exchange, Timeline
from pytest_mtp.core.facts import Acceptance, Control, Counters, Endpoint, ServerFacts, SpecDecode
from pytest_mtp.core.protocols import Fetched
from pytest_mtp.core.reply import Reply, Usage
from pytest_mtp.core.weights import Weights

Answer = Callable[[Ask], Reply]


def reply(text: str, **more: object) -> Reply:
    usage = Usage(prompt_tokens=5, completion_tokens=4, total_tokens=9)
    return Reply.from_dict({"content": text, "finish_reason": "stop", "usage": usage.to_dict(), **more})


class MemoryServer:
    """Client, engine, lease and server in one. `answer` maps an ask to a reply; `readings` are the counters, in order."""

    name = "memory"
    weights: Weights | None = None

    def __init__(self, answer: Answer, readings: Sequence[Acceptance] = (), speculation: SpecDecode | None = None) -> None:
        self.answer, self.readings, self.asked = answer, list(readings), list[Ask]()
        self.facts = ServerFacts(
            endpoint=Endpoint(root="http://memory", api_root="http://memory/v1", model="m"),
            engine="memory",
            model="m",
            speculation=speculation or SpecDecode(),
        )
        self.client = self.engine = self.server = self.lease = self

    def ask(self, ask: Ask) -> Exchange:
        self.asked.append(ask)
        return Exchange(ask=ask, url="http://memory/v1", model="m", reply=self.answer(ask), timeline=Timeline(sent_ns=0, done_ns=10**9))

    ask_alone = ask

    def ask_many(self, asks: Sequence[Ask]) -> list[Exchange]:
        return [self.ask(each) for each in asks]

    burst = ask_many

    def progress(self, words: str) -> None:
        assert words

    def again(self) -> bool:
        return True

    def control(self) -> Control:
        return Control(prompts=1, repeats=1, disagree_text=0, disagree_graded=0)

    def fetch(self, path: str) -> Fetched:
        return Fetched(status=404, text=path)

    def close(self) -> None:
        """Nothing to close."""

    def alive(self) -> bool:
        return True

    def log_tail(self, lines: int = 20) -> str:
        assert lines > 0
        return ""

    def identify(self, client: object, models: Mapping[str, object]) -> Sequence[str]:
        return (f"{client}{models}",)

    def facts_of(self) -> ServerFacts:
        return self.facts

    def counters(self, client: object) -> Counters | None:
        assert client is self
        return Counters(acceptance=self.readings.pop(0)) if self.readings else None

    def acceptance_of(self, reply: Reply) -> Acceptance | None:
        timings = reply.extras.get("timings")
        if not isinstance(timings, Mapping):
            return None
        return Acceptance.from_dict({"drafted": timings["draft_n"], "accepted": timings["draft_n_accepted"], "source": "timings"})

    def continuation(self, ask: Ask, prefix: str) -> Ask | None:
        return Ask(messages=(*ask.messages, {"role": "assistant", "content": prefix}), sampling=ask.sampling)

    @contextlib.contextmanager
    def shared(self) -> Iterator[None]:
        yield

    exclusive = shared


@pytest.fixture
def memory() -> Callable[..., MemoryServer]:
    return MemoryServer
