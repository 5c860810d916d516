"""Start and stop servers again and again, then end them at random moments with SIGKILL: orphans, ports, logs.

    python benchmarks/launching.py [--cycles 20] [--kills 6] [--json] PROFILE ...

Profiles: those whose engine has a lane here (llamacpp, mlx-lm, mlx-vlm, transformers, vllm), demo and fake. Each start waits
for a real token and for the probes of a session; each stop for the last process. Of the kills one third each hits the
server, its leash, and a process that launched it (a script of its own). What is counted as lost: a process that still runs
after a stop, or 10 s longer after a kill than the grace of its profile (orphan), a port on which somebody still listens then,
or a start that another program's port cost (clash), and a log that is missing or empty after a start that had come up (log).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil

from pytest_mtp.core.errors import MtpError
from pytest_mtp.core.record import Json
from pytest_mtp.profiles.load import load_profile
from pytest_mtp.servers.demo.assemble import assemble
from pytest_mtp.servers.demo.hf import hf_folder
from pytest_mtp.servers.launch import launch, launch_names, launch_profile
from pytest_mtp.servers.launched import LaunchedServer
from pytest_mtp.servers.listening import listeners
from pytest_mtp.servers.process import GRACE_S, LEASH_NAME

LANES = Path(__file__).parents[1] / "lanes"
MARK = "LAUNCHING_BENCHMARK"
PATIENCE_S = 10.0
KNOWN = ("fake", "demo", "llamacpp", "mlx-lm", "mlx-vlm", "transformers", "vllm")


@dataclass(kw_only=True)
class Tally:
    """What came of one profile."""

    profile: str
    starts: int = 0
    failed: list[str] = field(default_factory=list)
    start_s: list[float] = field(default_factory=list)
    stop_s: list[float] = field(default_factory=list)
    kills: int = 0
    killed_before_ready: int = 0
    orphans: int = 0
    clashes: int = 0
    logs_lost: int = 0

    @property
    def sound(self) -> bool:
        return not (self.failed or self.orphans or self.clashes or self.logs_lost)


def interpreter(lane: str) -> str:
    done = subprocess.run([sys.executable, str(LANES / "environment.py"), lane], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def checkpoint(folder: Path, script: str, *words: str) -> Path:
    if not folder.exists():
        subprocess.run([sys.executable, str(LANES / "checkpoints" / f"{script}.py"), str(folder), *words], check=True)
    return folder


def params_of(name: str, folder: Path) -> dict[str, Json]:
    """The small models of the lanes, speculation on where the engine has it."""
    if name in launch_names():
        return {}
    if name == "llamacpp":
        return {"model": str(assemble()), "n_ctx": 2048}
    if name == "mlx-vlm":
        return {"model": str(checkpoint(folder / "qwen", "tiny_qwen35_mtp", "exact")), "python": interpreter(name)}
    if name == "mlx-lm":
        pair = checkpoint(folder / "pair", "tiny_llama_pair")
        return {"model": str(pair / "target"), "drafter": str(pair / "draft"), "python": interpreter(name)}
    if name == "transformers":
        return {"model": str(checkpoint(folder / "glm", "tiny_glm4moe_mtp", "exact")), "python": interpreter(name), "device": "cpu"}
    os.environ.update(VLLM_TARGET_DEVICE="cpu", VLLM_CPU_KVCACHE_SPACE="1", HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1")
    return {
        "model": str(hf_folder()), "python": interpreter(name), "dtype": "float32", "enforce_eager": True, "max_model_len": 1024,
        "max_num_seqs": 2,
    }  # fmt: skip


def start(name: str, params: dict[str, Json], logs: Path) -> LaunchedServer:
    if name in launch_names():
        return launch(name, run_dir=logs, params=params, timeout_s=300)
    return launch_profile(load_profile(name), run_dir=logs, params=params, timeout_s=300)


def grace_of(name: str) -> float:
    """What the leash gives a server whose launcher was killed."""
    if name in launch_names():
        return GRACE_S
    profile = load_profile(name)
    return profile.stop_grace_s * len(profile.stop_signals)


def family() -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            same = process.environ().get(MARK) == os.environ[MARK]
            if same and process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE:
                yield process


def wait_for_nobody(grace_s: float = 0) -> int:
    deadline = time.monotonic() + grace_s + PATIENCE_S
    while left := list(family()):
        if time.monotonic() > deadline:
            for process in left:
                with contextlib.suppress(psutil.Error):
                    process.kill()
            return len(left)
        time.sleep(0.05)
    return 0


def cycle(name: str, params: dict[str, Json], logs: Path, tally: Tally) -> None:
    began = time.monotonic()
    tally.starts += 1
    try:
        server = start(name, params, logs)
    except MtpError as error:
        tally.failed.append(str(error).splitlines()[0])
        tally.orphans += wait_for_nobody()
        return
    up = time.monotonic()
    tally.start_s.append(up - began)
    port, log = int(server.facts.endpoint.root.rpartition(":")[2]), Path(str(server.facts.details["log"]))
    tally.clashes += not log.name.endswith("-1.log")
    server.stop()
    tally.stop_s.append(time.monotonic() - up)
    tally.orphans += wait_for_nobody()
    tally.clashes += bool(listeners(("127.0.0.1",), port).sockets)
    tally.logs_lost += not log.exists() or (name != "fake" and not log.stat().st_size)


def kill_part(victim: str, delay: float) -> None:
    """The server, or its leash, `delay` seconds from now or as soon as it is there."""
    time.sleep(delay)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for process in family():
            with contextlib.suppress(psutil.Error):
                leash = LEASH_NAME in process.cmdline()
                parent = process.parent()
                child = not leash and parent is not None and LEASH_NAME in parent.cmdline()
                if (leash and victim == "leash") or (child and victim == "server"):
                    process.kill()
                    return
        time.sleep(0.01)


def kill(params: dict[str, Json], logs: Path, tally: Tally, *, victim: str, delay: float) -> None:
    name = tally.profile
    tally.kills += 1
    if victim == "launcher":
        words = [sys.executable, __file__, "--hold", name, json.dumps(params), str(logs)]
        launcher = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert launcher.stdout is not None
        launcher.stdout.readline()
        time.sleep(delay)
        launcher.send_signal(signal.SIGKILL)
        up = "up" in launcher.communicate()[0]
        tally.killed_before_ready += not up
    else:
        killer = threading.Thread(target=kill_part, args=(victim, delay))
        killer.start()
        try:
            server = start(name, params, logs)
            up = True
        except MtpError:
            up = False
        killer.join()
        tally.killed_before_ready += not up
        if up:
            assert server.ended_within(60), "it outlived its kill"
            server.stop()
    tally.orphans += wait_for_nobody(grace_of(name))
    files = list(logs.glob("*.log"))
    tally.logs_lost += up and (not files or (name != "fake" and not any(file.stat().st_size for file in files)))


def hold(name: str, params: str, logs: str) -> None:
    print("go", flush=True)
    start(name, json.loads(params), Path(logs))
    print("up", flush=True)
    time.sleep(600)


def measured(name: str, folder: Path, cycles: int, kills: int, say: Callable[[str], None]) -> Tally:
    tally, dice = Tally(profile=name), random.Random(f"{name} 4")
    params = params_of(name, folder)
    for number in range(cycles):
        cycle(name, params, folder / f"{name}-{number}", tally)
        say(f"{name}: start and stop {number + 1} of {cycles}")
    usual = statistics.median(tally.start_s) if tally.start_s else 1.0
    for number in range(kills):
        victim = ("server", "leash", "launcher")[number % 3]
        kill(params, folder / f"{name}-kill-{number}", tally, victim=victim, delay=dice.uniform(0, 2 * usual))
        say(f"{name}: kill {number + 1} of {kills} ({victim})")
    return tally


def row(tally: Tally) -> str:
    start_s = f"{statistics.median(tally.start_s):.2f} | {max(tally.start_s):.2f}" if tally.start_s else "- | -"
    stop_s = f"{statistics.median(tally.stop_s):.2f}" if tally.stop_s else "-"
    kills = f"{tally.kills} ({tally.killed_before_ready} before it was ready)"
    return (
        f"| {tally.profile} | {tally.starts} | {len(tally.failed)} | {start_s} | {stop_s} | {kills} | {tally.orphans} "
        f"| {tally.clashes} | {tally.logs_lost} |"
    )


def main() -> None:
    if sys.argv[1:2] == ["--hold"]:
        hold(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profiles", nargs="+", choices=KNOWN, metavar="PROFILE")
    parser.add_argument("--cycles", type=int, default=20)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ[MARK] = str(os.getpid())
    with tempfile.TemporaryDirectory(prefix="mtp-launching-") as folder:
        tallies = []
        for name in options.profiles:
            tallies.append(
                measured(name, Path(folder), options.cycles, options.kills, lambda words: print(words, file=sys.stderr, flush=True))
            )
            for problem in tallies[-1].failed:
                print(f"{name}: {problem}", file=sys.stderr)
    if options.json:
        print(json.dumps([{**asdict(tally), "sound": tally.sound} for tally in tallies]))
    else:
        print("| profile | starts | failed | start s, median | max | stop s | kills | orphans | clashes | logs lost |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
        print("\n".join(map(row, tallies)))
    sys.exit(not all(tally.sound for tally in tallies))


if __name__ == "__main__":
    main()
