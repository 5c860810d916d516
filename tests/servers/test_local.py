"""What is loaded: the process behind a port, with real processes."""

from __future__ import annotations

import dataclasses
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from pytest_mtp.core.facts import Endpoint, ProcessFacts, ServerFacts, SpecDecode
from pytest_mtp.core.protocols import Client
from pytest_mtp.selftest.server import FakeServer
from pytest_mtp.servers import listening, local
from pytest_mtp.servers.command_line import hints, masked
from pytest_mtp.servers.engines import registry
from pytest_mtp.servers.engines.fake import Fake
from pytest_mtp.servers.engines.generic import Generic
from pytest_mtp.servers.launch import launch
from pytest_mtp.servers.local import FORWARDERS, process_behind

LISTENER = """
import os, socket, sys, time
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
s = socket.socket(family, socket.SOCK_STREAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
s.bind((sys.argv[1], int(sys.argv[2])))
s.listen()
if "forks" in sys.argv:
    if os.fork():
        s.close()
print(s.getsockname()[1] if s.fileno() >= 0 else 0, flush=True)
time.sleep(600)
"""
WRAPPER = "import subprocess, sys; sys.exit(subprocess.run([sys.executable, *sys.argv[1:]]).returncode)"


@dataclass(frozen=True)
class Words(Fake):
    """Understands every command line that holds a word of its own."""

    word: str = "--engine-of-test"

    def read_command(self, command: Sequence[str], environ: Mapping[str, str]) -> ProcessFacts | None:
        if self.word not in command:
            return None
        model = command[command.index(self.word) + 1]
        return ProcessFacts(pid=0, started_at=0.0, command=(), model_path=model, served_names=(environ.get("SERVED", "?"),))


def facts_at(root: str, **details: object) -> ServerFacts:
    return ServerFacts(endpoint=Endpoint(root=root, api_root=f"{root}/v1", model="m"), engine="fake", model="m", details=details)


Start = Callable[..., tuple[subprocess.Popen[str], int]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """A process that listens, and the port that it says."""
    with ExitStack() as ending:

        def begin(*words: str, host: str = "127.0.0.1", port: int = 0, program: str = LISTENER) -> tuple[subprocess.Popen[str], int]:
            script = tmp_path / "serve.py"
            script.write_text(program)
            child = subprocess.Popen(
                [sys.executable, str(script), host, str(port), *words],
                stdout=subprocess.PIPE,
                text=True,
                cwd=tmp_path,
                env={**os.environ, "SERVED": "by-name"},
            )
            ending.callback(_end, child)
            assert child.stdout is not None
            return child, int(child.stdout.readline())

        yield begin


def _end(child: subprocess.Popen[str]) -> None:
    for process in [*psutil.Process(child.pid).children(recursive=True), psutil.Process(child.pid)]:
        process.kill()
    child.communicate()


def test_a_launched_fake_is_found_with_its_flags(tmp_path: Path) -> None:
    server = launch("fake", run_dir=tmp_path, params={"depth": 2, "workers": 1}, timeout_s=30)
    try:
        process = server.facts.process
        assert process is not None
        assert process.pid == server.facts.pid
        assert os.getpid() in process.parents
        assert process.served_names == (server.facts.model,)
        assert process.speculation == SpecDecode(method="mtp", depth=2, evidence=("command line: --speculation on",))
        assert process.sequences == 1
        assert abs(process.started_at - psutil.Process(process.pid).create_time()) < 1
    finally:
        server.stop()


class Untold(Fake):
    """Tells nothing of how many it runs at once, as vLLM does."""

    def facts(self, client: Client, facts: ServerFacts) -> ServerFacts:
        return dataclasses.replace(super().facts(client, facts), sequences=None, concurrency=4)


@pytest.mark.parametrize(("workers", "sent"), [(1, 1), (64, 4)])
def test_no_more_is_sent_at_once_than_the_command_line_lets_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int, sent: int
) -> None:
    monkeypatch.setitem(registry._ENGINES, "fake", Untold())
    server = launch("fake", run_dir=tmp_path, params={"workers": workers}, timeout_s=30)
    server.stop()
    assert server.facts.concurrency == sent


def test_paths_are_made_absolute_against_the_folder_of_the_process_and_links_are_followed(start: Start, tmp_path: Path) -> None:
    (tmp_path / "v2").mkdir()
    weights = tmp_path / "v2" / "model.safetensors"
    weights.write_bytes(b"x")
    os.utime(weights, (1000, 1000))
    (tmp_path / "current").symlink_to("v2")
    _, port = start("--engine-of-test", "current")
    seen = process_behind(facts_at(f"http://127.0.0.1:{port}", model_path="v2"), Words())
    assert seen.process is not None
    assert seen.process.model_path == str(tmp_path / "current")
    assert seen.process.real_paths == {str(tmp_path / "current"): str(tmp_path / "v2"), "v2": str(tmp_path / "v2")}
    assert seen.process.newest_file == str(tmp_path / "current")  # the link is younger than the weights
    assert seen.process.newest_at == (tmp_path / "current").lstat().st_mtime
    assert seen.process.served_names == ("by-name",)


def test_a_name_on_a_hub_stays_a_name(start: Start) -> None:
    _, port = start("--engine-of-test", "someone/model-7b")
    process = process_behind(facts_at(f"http://localhost:{port}"), Words()).process
    assert process is not None
    assert process.model_path == "someone/model-7b"
    assert process.real_paths == {}
    assert process.newest_at is None


def test_a_worker_that_holds_the_socket_leads_to_the_process_above_it(start: Start) -> None:
    parent, port = start("--engine-of-test", "org/m", "forks")
    if port == 0:  # the parent spoke first
        assert parent.stdout is not None
        port = int(parent.stdout.readline())
    seen = process_behind(facts_at(f"http://127.0.0.1:{port}"), Words())
    assert seen.process is not None
    assert seen.process.model_path == "org/m"


def test_a_server_below_a_wrapper_that_does_not_listen(start: Start, tmp_path: Path) -> None:
    (tmp_path / "inner.py").write_text(LISTENER)
    wrapped = subprocess.Popen(
        [sys.executable, "-c", WRAPPER, str(tmp_path / "inner.py"), "127.0.0.1", "0", "--engine-of-test", "org/m"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert wrapped.stdout is not None
        port = int(wrapped.stdout.readline())
        process = process_behind(facts_at(f"http://127.0.0.1:{port}"), Words()).process
        assert process is not None
        assert process.pid != wrapped.pid
        assert wrapped.pid in process.parents
    finally:
        _end(wrapped)


def test_a_program_that_listens_and_starts_the_server_below_it(start: Start) -> None:
    below = LISTENER.replace("time.sleep(600)", "import subprocess; subprocess.run(['sleep', '600', '0', '0'], executable='/bin/sleep')")
    _, port = start(program=below)

    class Sleeps(Words):
        def read_command(self, command: Sequence[str], environ: Mapping[str, str]) -> ProcessFacts | None:
            named = command[0] == "sleep" and "SERVED" in environ
            return ProcessFacts(pid=0, started_at=0.0, command=(), model_path="org/m") if named else None

    deadline = time.monotonic() + 10
    while (seen := process_behind(facts_at(f"http://127.0.0.1:{port}"), Sleeps())).process is None or not seen.process.model_path:
        assert time.monotonic() < deadline, seen
    assert seen.process.command == ("sleep", "600", "0", "0")
    assert "the server that it started is" in seen.evidence[0]


def test_a_forwarder_is_named_and_is_not_the_server(start: Start, tmp_path: Path) -> None:
    script = tmp_path / "docker-proxy"
    script.write_text(LISTENER)
    proxy = subprocess.Popen([sys.executable, str(script), "127.0.0.1", "0"], stdout=subprocess.PIPE, text=True)
    try:
        assert proxy.stdout is not None
        seen = process_behind(facts_at(f"http://127.0.0.1:{int(proxy.stdout.readline())}"), Words())
    finally:
        _end(proxy)
    assert seen.process is None
    (line,) = seen.evidence
    assert f"held by docker-proxy ({proxy.pid})" in line


@pytest.mark.parametrize("title", ["nginx:", "envoy", "ssh", "com.docker.backend", "docker-proxy", "litellm", "kubectl", "socat"])
def test_known_forwarders(title: str) -> None:
    assert FORWARDERS.fullmatch(title)


@pytest.mark.parametrize("title", ["vllm", "sshfs-llm", "llama-server", "ollama", "python3", "nginx-llm"])
def test_servers_are_no_forwarders(title: str) -> None:
    assert not FORWARDERS.fullmatch(title)


def test_an_unknown_program_gives_its_command_line_and_hints_but_no_facts(start: Start) -> None:
    child, port = start("--model", "/m/x.gguf", "--api-key", "k-e-y-1", "--draft-max=3")
    seen = process_behind(facts_at(f"http://127.0.0.1:{port}"), Generic())
    assert seen.process is not None
    assert seen.process.pid == child.pid
    assert seen.process.model_path is None
    assert "k-e-y-1" not in " ".join((*seen.process.command, *seen.evidence))
    assert "process: its command line seems to name the model: --model /m/x.gguf" in seen.evidence
    assert "process: its command line seems to speak of speculation: --draft-max 3" in seen.evidence


def test_loopback_of_ipv6(start: Start) -> None:
    child, port = start(host="::1")
    seen = process_behind(facts_at(f"http://[::1]:{port}"), Generic())
    assert seen.process is not None
    assert seen.process.pid == child.pid
    assert process_behind(facts_at(f"http://127.0.0.1:{port}"), Generic()).process is None
    by_name = process_behind(facts_at(f"http://localhost:{port}"), Generic())
    assert by_name.process is not None


def test_who_listens_on_all_addresses_is_found_by_each_and_after_who_listens_on_one(start: Start) -> None:
    everywhere, port = start(host="::")
    assert listening.listeners(("127.0.0.1",), port).pids == (everywhere.pid,)
    alone, _ = start(host="127.0.0.1", port=port)
    assert listening.listeners(("127.0.0.1",), port).pids == (alone.pid,)
    assert listening.listeners(("::1",), port).pids == (everywhere.pid,)


def test_two_servers_that_share_a_port_are_told(start: Start) -> None:
    _, port = start("--engine-of-test", "org/a")
    start("--engine-of-test", "org/b", port=port)
    seen = process_behind(facts_at(f"http://127.0.0.1:{port}"), Words())
    assert "2 servers share port" in seen.evidence[0]
    assert len(seen.rivals) == 2


def test_a_port_that_nobody_holds_and_another_machine() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))  # bound and not listening
        seen = process_behind(facts_at(f"http://127.0.0.1:{probe.getsockname()[1]}"), Generic())
    assert seen.process is None
    assert "nobody on this machine listens" in seen.evidence[0]
    assert process_behind(facts_at("http://192.0.2.1:80"), Generic()) == local.Seen()


def test_a_server_in_our_own_process_is_no_process_of_its_own() -> None:
    with FakeServer() as fake:
        seen = process_behind(facts_at(fake.url), Fake())
    assert seen == local.Seen(evidence=("process: it runs inside this process",))


def test_a_hidden_process_is_said(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    _, port = start()
    monkeypatch.setattr(listening, "_holders", lambda _inodes: ())
    seen = process_behind(facts_at(f"http://127.0.0.1:{port}"), Generic())
    assert seen.process is None
    assert "is hidden" in seen.evidence[0]


def test_where_the_kernel_shows_no_table_psutil_is_asked(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    child, port = start()
    monkeypatch.setattr(listening, "_TABLES", False)
    assert listening.listeners(("127.0.0.1",), port).pids == (child.pid,)

    def denied(**_: object) -> None:
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil, "net_connections", denied)
    assert listening.listeners(("127.0.0.1",), port).pids == (child.pid,)


def test_files_of_a_container_are_not_taken_for_ours(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.gguf").write_bytes(b"x")
    _, port = start("--engine-of-test", "m.gguf")
    monkeypatch.setattr(local, "_in_other_files", lambda _process: True)
    seen = process_behind(facts_at(f"http://127.0.0.1:{port}"), Words())
    assert seen.process is not None
    assert (seen.process.model_path, seen.process.newest_at, seen.process.real_paths) == ("m.gguf", None, {})
    assert "sees other files" in seen.evidence[0]


def test_whatever_the_system_refuses_nothing_is_raised(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    _, port = start("--engine-of-test", "org/m")
    for name in ("cmdline", "environ", "cwd", "parents", "children", "create_time"):
        with monkeypatch.context() as patch:

            def refuse(*_: object, **__: object) -> None:
                raise psutil.AccessDenied

            patch.setattr(psutil.Process, name, refuse)
            seen = process_behind(facts_at(f"http://127.0.0.1:{port}"), Words())
            assert seen.process is not None or seen.evidence, name


def test_processes_that_end_while_they_are_looked_for(start: Start) -> None:
    children = [start("--engine-of-test", "org/m") for _ in range(3)]
    threads = [threading.Thread(target=child.kill) for child, _ in children]
    for thread, (_, port) in zip(threads, children, strict=True):
        thread.start()
        assert isinstance(process_behind(facts_at(f"http://127.0.0.1:{port}"), Words()), local.Seen)
        thread.join()


@pytest.mark.parametrize(
    ("command", "secret"),
    [
        (["serve", "--api-key", "abc123"], "abc123"),
        (["serve", "--api-key", "abc123", "def456", "--port", "1"], "def456"),
        (["serve", "--api-key=abc123"], "abc123"),
        (["serve", "--hf-token", "abc123"], "abc123"),
        (["env", "OPENAI_API_KEY=abc123", "serve"], "abc123"),
        (["curl", "-H", "Authorization: Bearer abc123def"], "abc123def"),
        (["serve", "--upstream", "https://user:abc123@host/v1"], "abc123"),
        (["serve", "--config", '{"api_key": "abc123", "x": 1}'], "abc123"),
        (["serve", "https://host/v1?token=abc123"], "abc123"),
        (["serve", "--extra", "sk-abcdefgh123"], "sk-abcdefgh123"),
        (["bash", "-c", "HF_TOKEN=abc123 vllm serve m"], "abc123"),
    ],
)
def test_secrets_are_masked(command: Sequence[str], secret: str) -> None:
    assert secret not in " ".join(masked(command))


def test_what_is_no_secret_stays() -> None:
    command = (
        *("vllm", "serve", "/m/x", "--max-num-batched-tokens", "8192", "--max_tokens", "5", "--tokenizer", "/m/t", "--port", "8000"),
        *("--speculative-token-map", "/m/map.pt", "--speculative-config", '{"method": "mtp", "num_speculative_tokens": 3}'),
        *("--ssl-keyfile", "/k.pem", "-m", "/m/y.gguf", "author=me"),
    )
    assert masked(command) == command


def test_hints_do_not_take_a_python_module_for_a_model() -> None:
    assert hints(("/usr/bin/python3", "-m", "my_server", "-m", "/m/y.gguf")) == ("its command line seems to name the model: -m /m/y.gguf",)
